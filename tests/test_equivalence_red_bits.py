"""Bits of NaNs: read as integers they are numbers like others, and the executable reading knows one NaN only."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.identities import apply
from hloproof.equivalence.kernel import NAN_BITS
from hloproof.equivalence.terms import App, Elem
from hloproof.models.hlo.parser import parse_module
from hloproof.queries.equivalence import compare, one_module


def through_f32(*integers: int) -> str:
    """Integers as floats and back."""
    written = ",".join(map(str, integers))
    return one(
        "s32[2]", f"c = s32[2] constant({{{written}}})", "f = f32[2] bitcast-convert(c)", "ROOT r = s32[2] " + BITS
    )


def bits_of(number: str) -> str:
    return one("s32[2]", f"f = f32[2] constant({{{number}, 1}})", "ROOT r = s32[2] " + BITS)


def integers(*numbers: int) -> str:
    return one("s32[2]", f"ROOT r = s32[2] constant({{{','.join(map(str, numbers))}}})")


def below(number: str) -> str:
    """Where a parameter lies below a number in total order."""
    return one(
        "f32[2]",
        f"c = f32[2] constant({{{number}, 1}})",
        "ROOT r = pred[2] compare(p, c), direction=LT, type=TOTALORDER",
    )


def of_integers(*lines: str, before: str = "") -> str:
    """Of floats that are made from the bits of two NaNs, in `f`; the larger one first."""
    return entry(
        "p = s32[2] parameter(0)",
        f"c = s32[2] constant({{{QUIET + 2}, {QUIET + 1}}})",
        "f = f32[2] bitcast-convert(c)",
        *lines,
        before=before,
    )


QUIET = 0x7FC00000
ONE = 0x3F800000
SUM = "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b)\n}\n"
BY_BITS = (
    "less { i = s32[] parameter(0)\n j = s32[] parameter(1)\n a = f32[] bitcast-convert(i)\n"
    " b = f32[] bitcast-convert(j)\n ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n"
)
PLACED = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
BITS = "bitcast-convert(f)"

PAIRS = {
    "bits of a NaN are not those of the plain one": (through_f32(-4194303, 1), integers(QUIET, 1)),
    "bits of two NaNs": (through_f32(-4194303, 1), through_f32(-4194302, 1)),
    "a NaN with a sign": (bits_of("nan"), bits_of("-nan")),
    "a NaN with a sign, as a number": (bits_of("-nan"), integers(QUIET, ONE)),
    "NaNs with payloads": (bits_of("nan(0x400001)"), bits_of("nan(0x400002)")),
    "the order of NaNs": (below("nan"), below("-nan")),
    "the bits of a quotient that is none": (
        one(
            "s32[2]",
            "z = f32[] constant(0)",
            "q = f32[] divide(z, z)",
            "f = f32[2] broadcast(q), dimensions={}",
            "ROOT r = s32[2] " + BITS,
        ),
        integers(QUIET, QUIET),
    ),
    "bits that are counted": (
        one(
            "s32[2]",
            "i = s32[2] iota(), iota_dimension=0",
            f"c = s32[] constant({QUIET + 1})",
            "b = s32[2] broadcast(c), dimensions={}",
            "s = s32[2] add(i, b)",
            "f = f32[2] bitcast-convert(s)",
            "ROOT r = s32[2] " + BITS,
        ),
        integers(QUIET, QUIET),
    ),
    "the order of two NaNs by their bits": (
        of_integers(
            "t = f32[2] reverse(f), dimensions={0}", "ROOT r = pred[2] compare(f, t), direction=EQ, type=TOTALORDER"
        ),
        one("s32[2]", "ROOT r = pred[2] constant({true, true})"),
    ),
    "a NaN with a payload in another type": (
        of_integers("b = bf16[2] convert(f)", "ROOT r = u16[2] bitcast-convert(b)"),
        one("s32[2]", "ROOT r = u16[2] constant({32704, 32704})"),
    ),
    "the sum of the bits of NaNs": (
        of_integers(
            "b = s32[2] bitcast-convert(f)",
            "z = s32[] constant(0)",
            "ROOT r = s32[] reduce(b, z), dimensions={0}, to_apply=add",
            before=SUM,
        ),
        one("s32[2]", f"ROOT r = s32[] constant({2 * QUIET - 2**32})"),
    ),
    "integers in the order of NaNs": (
        of_integers("ROOT r = s32[2] sort(c), dimensions={0}, is_stable=true, to_apply=less", before=BY_BITS),
        integers(QUIET + 2, QUIET + 1),
    ),
    "the bits of a scattered sum that is none": (
        entry(
            "p = s32[2] parameter(0)",
            "c = f32[2] constant({inf, 1})",
            "i = s32[1] constant({0})",
            "u = f32[] constant(-inf)",
            "f = f32[2] scatter(c, i, u), update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add",
            "ROOT r = s32[2] " + BITS,
            before=PLACED,
        ),
        integers(QUIET, ONE),
    ),
    "a complex number with two NaNs": tuple(
        one("f32[]", f"c = c64[] constant(({number}, 1))", "f = f32[] real(c)", "ROOT r = s32[] " + BITS)
        for number in ("nan", "-nan")
    ),
}


@pytest.mark.parametrize(("before", "after"), PAIRS.values(), ids=PAIRS)
def test_a_pair_that_differs_is_not_proved(before: str, after: str) -> None:
    unproved(before, after, "rounding")


def test_only_bits_go_through_another_type() -> None:
    """A float is the integer that it is converted from, and has other bits."""
    x = Elem(Graph().node("parameter", "s32", (), (), 0), ())
    for op, found in (("convert", None), ("bitcast-convert", (x, "exact"))):
        read = App("bitcast-convert", "s32", (App(op, "f32", (x,)),))
        assert apply("bits through another type", read, lambda t: t) == found


def there_and_back(whole: str, number: str) -> tuple[str, str]:
    return (
        one(f"{whole}[4]", f"f = {number}[4] bitcast-convert(p)", f"ROOT r = {whole}[4] {BITS}"),
        one(f"{whole}[4]", f"ROOT r = {whole}[4] copy(p)"),
    )


SOUND = {
    "bits of a NaN": (through_f32(-4194303, 1), integers(-4194303, 1)),
    "bits of a number": (through_f32(ONE, 1), integers(ONE, 1)),
    "the plain NaN": (bits_of("nan"), integers(QUIET, ONE)),
    "a NaN with a sign, twice": (bits_of("-nan"), bits_of("-nan")),
    **{f"{a} as {b} and back": there_and_back(a, b) for a, b in (("s32", "f32"), ("u16", "bf16"), ("s8", "f8e5m2"))},
}


@pytest.mark.parametrize(("before", "after"), SOUND.values(), ids=SOUND)
def test_a_pair_beside_them_is_proved(before: str, after: str) -> None:
    proved(before, after, "exact")


def sign_turned(through: bool) -> str:
    """Integers with their highest bit turned over, by the negation of floats or by a mask; `through` says which."""
    if through:
        return one("s32[4]", "g = f32[4] bitcast-convert(p)", "f = f32[4] negate(g)", "ROOT r = s32[4] " + BITS)
    return one(
        "s32[4]",
        "c = s32[] constant(-2147483648)",
        "b = s32[4] broadcast(c), dimensions={}",
        "ROOT r = s32[4] xor(p, b)",
    )


def parted(through: bool) -> str:
    """Integers, or the integers of both of their halves read as floats."""
    lines = ("f = f16[4,2] bitcast-convert(p)", "ROOT r = s32[4] " + BITS)
    return one("s32[4]", *(lines if through else ("ROOT r = s32[4] copy(p)",)))


def of_two(*lines: str, read: str = BITS, kind: str = "s32[4]") -> str:
    """What is read of `f`, which is made of two arrays of floats."""
    parameters = (f"{n} = f32[4] parameter({k})" for k, n in enumerate("xy"))
    return entry(*parameters, *lines, f"ROOT r = {kind} {read}", before=BY_ORDER + MAXIMUM)


BY_ORDER = (
    "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n "
    "ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n"
)
MAXIMUM = "most { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"
MINUS_ONE = ("c = f32[] constant(-1)", "o = f32[4] broadcast(c), dimensions={}", "f = f32[4] multiply(x, o)")
OPPOSITE = ("p = f32[4] multiply(x, y)", "f = f32[4] negate(p)")
FACTOR = ("n = f32[4] negate(x)", "f = f32[4] multiply(n, y)")
SORTED = "sort(f), dimensions={0}, to_apply=less"
LEAST = "l = f32[] constant(-inf)"
DOT_SPREAD = "f = f32[4] broadcast(d), dimensions={}"
SPREAD = "f = f32[4] broadcast(m), dimensions={}"
OPEN_NANS = {
    "times minus one": (of_two(*MINUS_ONE), of_two("f = f32[4] negate(x)")),
    "the sign of a product": (of_two(*FACTOR), of_two(*OPPOSITE)),
    "the sign of a product that is sorted": (
        of_two(*FACTOR, read=SORTED, kind="f32[4]"),
        of_two(*OPPOSITE, read=SORTED, kind="f32[4]"),
    ),
    "what is quiet": (of_two("w = f64[4] convert(x)", "f = f32[4] convert(w)"), of_two("f = f32[4] copy(x)")),
    "the first of two": (of_two("f = f32[4] add(x, y)"), of_two("f = f32[4] add(y, x)")),
    "the first factor of two": tuple(
        of_two(f"d = f32[] dot({factors}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}", DOT_SPREAD)
        for factors in ("x, y", "y, x")
    ),
    "the first of many": (
        of_two(LEAST, "m = f32[] reduce(x, l), dimensions={0}, to_apply=most", SPREAD),
        of_two(
            LEAST,
            "t = f32[2,2] reshape(x)",
            "h = f32[2] reduce(t, l), dimensions={0}, to_apply=most",
            "m = f32[] reduce(h, l), dimensions={0}, to_apply=most",
            SPREAD,
        ),
    ),
}
KEPT_NANS = {
    "negated twice": (of_two("n = f32[4] negate(x)", "f = f32[4] negate(n)"), of_two("f = f32[4] copy(x)")),
    "numbers": (of_two(*FACTOR, read="sign(f)", kind="f32[4]"), of_two(*OPPOSITE, read="sign(f)", kind="f32[4]")),
}


@pytest.mark.parametrize(("before", "after"), OPEN_NANS.values(), ids=OPEN_NANS)
def test_the_bits_of_a_nan_are_left_open_by_arithmetic(before: str, after: str) -> None:
    """They are the processor's, or the compiler's: told, and not of the tier exact."""
    unproved(before, after, "exact")
    answer = decide(parse_module(before), parse_module(after), "real", 5.0)
    assert answer.verdict == "proved" and (NAN_BITS, "real") in answer.axioms


@pytest.mark.parametrize(("before", "after"), KEPT_NANS.values(), ids=KEPT_NANS)
def test_signs_that_are_turned_twice_and_numbers_are_exact(before: str, after: str) -> None:
    proved(before, after, "exact")


NOT_REFUTED = {
    "the sign of a NaN": (sign_turned(True), sign_turned(False)),
    "NaNs of two halves": (parted(True), parted(False)),
    "a NaN with a sign": (bits_of("-nan"), integers(-4194304, ONE)),
}


@pytest.mark.parametrize(("before", "after"), NOT_REFUTED.values(), ids=NOT_REFUTED)
def test_the_bits_of_a_nan_refute_nothing(before: str, after: str) -> None:
    """The machine keeps them; the executable reading gives those of the plain NaN."""
    answer = compare(one_module(before), one_module(after), "exact", 5.0)
    assert answer.verdict == "unknown" and "the bits of a NaN" in answer.reason


def test_bits_of_numbers_refute() -> None:
    kept = one("f32[4]", "f = f32[4] copy(p)", "ROOT r = s32[4] " + BITS)
    turned = one("f32[4]", "f = f32[4] negate(p)", "ROOT r = s32[4] " + BITS)
    assert compare(one_module(kept), one_module(turned), "exact", 5.0).verdict == "refuted"
