"""What follows from constants alone is not lost where a proof of the weaker tiers leaves a rounding out, regroups
factors or chooses another type: not as elements of a tensor whose others are given either. Beside each pair stands the
same one with a constant that every type in it holds."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from red_pairs import ADD, BOTH, LARGER, TIMES, entry, proved, unproved

from hloproof.equivalence.computed_identities import has_no_reciprocal
from hloproof.equivalence.constant_parts import LOST, MASKED, Magnitude, after, anything
from hloproof.equivalence.literals import PARSED
from hloproof.equivalence.terms import from_value
from hloproof.models.interpreter.semantics.element_type import rounded
from hloproof.models.interpreter.semantics.small_float import smallest_normal

ADD_F16 = ADD.replace("f32", "f16").replace("add {", "add_f16 {")
LATER = "later { a = f32[] parameter(0)\n ROOT b = f32[] parameter(1)\n}\n"
GIVEN = ("p = f32[2] parameter(0)", "c = f32[2] constant({C, C})")
INTO = {
    "concatenated": (*GIVEN, "v = f32[4] concatenate(c, p), dimensions={0}"),
    "padded": ("p = f32[2] parameter(0)", "c = f32[] constant(C)", "v = f32[4] pad(p, c), padding=1_1"),
    "where an index says": (
        "p = f32[4] parameter(0)",
        "c = f32[] constant(C)",
        "b = f32[4] broadcast(c), dimensions={}",
        "i = s32[4] iota(), iota_dimension=0",
        "k = s32[] constant(2)",
        "kb = s32[4] broadcast(k), dimensions={}",
        "g = pred[4] compare(i, kb), direction=LT",
        "v = f32[4] select(g, b, p)",
    ),
    "where an input says": (
        "g = pred[4] parameter(0)",
        "c = f32[] constant(C)",
        "d = f32[4] constant({C, C, C, C})",
        "b = f32[4] broadcast(c), dimensions={}",
        "v = f32[4] select(g, b, d)",
    ),
    "written at a start": (
        "p = f32[4] parameter(0)",
        "n = s32[] parameter(1)",
        "c = f32[2] constant({C, C})",
        "v = f32[4] dynamic-update-slice(p, c, n)",
    ),
    "scattered": (
        "p = f32[4] parameter(0)",
        "c = f32[2] constant({C, C})",
        "k = s32[2,1] constant({{0}, {1}})",
        "v = f32[4] scatter(p, k, c), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=later",
    ),
    "looked up": (
        "n = s32[] parameter(0)",
        "c = f32[6] constant({C, C, C, C, C, C})",
        "v = f32[4] dynamic-slice(c, n), dynamic_slice_sizes={4}",
    ),
    "between two bounds": ("p = f32[4] parameter(0)", "c = f32[] constant(C)", "v = f32[4] clamp(c, p, c)"),
    "sorted": (
        *GIVEN,
        "u = f32[4] concatenate(c, p), dimensions={0}",
        "v = f32[4] sort(u), dimensions={0}, to_apply=less",
    ),
    "of a branch": (
        "p = f32[4] parameter(0)",
        "n = s32[] parameter(1)",
        "v = f32[4] conditional(n, p, p), branch_computations={same, branch}",
    ),
    "of a call": (*GIVEN, "u = f32[4] concatenate(c, p), dimensions={0}", "v = f32[4] call(u), to_apply=same"),
}
"""Arrays `v` some elements of which are a constant."""
THROUGH = ("h = f16[4] convert(v)", "w = f32[4] convert(h)")
USED = {
    "added": "f32[4] add(V, V)",
    "negated": "f32[4] negate(V)",
    "summed": "f32[] reduce(V, z), dimensions={0}, to_apply=add",
    "contracted": "f32[] dot(V, V), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "as it is": "f32[4] copy(V)",
}
LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT\n}\n"
BRANCH = (
    "branch { a = f32[4] parameter(0)\n c = f32[] constant(CONSTANT)\n ROOT b = f32[4] broadcast(c), dimensions={}\n}\n"
)
SQUARE = "square { a = f32[] parameter(0)\n ROOT b = f32[] multiply(a, a)\n}\n"
CALLED = (
    TIMES
    + LARGER
    + ADD
    + ADD_F16
    + LATER
    + LESS
    + BRANCH
    + SQUARE
    + BOTH
    + "same { a = f32[4] parameter(0)\n ROOT b = f32[4] copy(a)\n}\n"
)


def in_half(into: str, used: str, constant: str) -> tuple[str, str]:
    """The array is used as it is, and by way of f16."""
    called = CALLED.replace("CONSTANT", constant)
    given = [line.replace("C", constant) for line in (*INTO[into], "z = f32[] constant(0)")]
    last = f"ROOT r = {USED[used]}"
    return (
        entry(*given, last.replace("V", "v"), before=called),
        entry(*given, *THROUGH, last.replace("V", "w"), before=called),
    )


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("into", INTO)
def test_a_constant_beside_what_is_given_is_not_lost_on_the_way(into: str, used: str) -> None:
    straight, through = in_half(into, used, "1e-9")
    unproved(straight, through, "rounding")
    unproved(through, straight, "rounding")
    unproved(*in_half(into, used, "1e6"), "rounding")
    straight, through = in_half(into, used, "0.5")
    proved(straight, through, "rounding")
    proved(through, straight, "rounding")


V: tuple[str, ...] = ("p = f32[2] parameter(0)", "v = f32[2] constant({C, 1})", "w = f32[2] constant({C, 2})")
IOTA: tuple[str, ...] = ("p = f32[3] parameter(0)", "i = f32[3] iota(), iota_dimension=0", "c = f32[] constant(C)")
IOTA += ("k = f32[3] broadcast(c), dimensions={}",)
ROWS: tuple[str, ...] = (
    "q = f16[1,2] parameter(0)",
    "c = f16[1,2] constant({{C, C}})",
    "m = f16[2,2] concatenate(c, q), dimensions={0}",
)
ROWS += ("o = f16[2] constant({C, C})",)
DOT = "dot(m, o), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LONG: tuple[str, ...] = (
    "p = f32[3] parameter(0)",
    "q = f32[2] parameter(1)",
    "c = f32[] constant(C)",
    "v = f32[3] pad(q, c), padding=1_0",
)
INNER = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
REGROUPED: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str, str]] = {
    "factors in another order": (
        V,
        ("a = f32[2] multiply(p, v)", "ROOT r = f32[2] multiply(a, w)"),
        ("a = f32[2] multiply(v, w)", "ROOT r = f32[2] multiply(p, a)"),
        "real",
        "1e-30",
    ),
    "divided by a square": (
        V,
        ("s = f32[2] multiply(v, v)", "a = f32[2] divide(p, s)", "ROOT r = f32[2] multiply(a, v)"),
        ("ROOT r = f32[2] divide(p, v)",),
        "real",
        "1e-30",
    ),
    "multiplied and divided": (
        V,
        ("a = f32[2] multiply(v, w)", "b = f32[2] divide(a, w)", "ROOT r = f32[2] add(p, b)"),
        ("ROOT r = f32[2] add(p, v)",),
        "real",
        "1e-30",
    ),
    "an iota that is scaled": (
        IOTA,
        (
            "a = f32[3] multiply(i, k)",
            "b = f32[3] multiply(a, k)",
            "d = f32[3] divide(b, k)",
            "e = f32[3] divide(d, k)",
            "ROOT r = f32[3] add(e, p)",
        ),
        ("ROOT r = f32[3] add(i, p)",),
        "real",
        "1e-30",
    ),
    "a table that is looked up": (
        (
            "p = f32[1] parameter(1)",
            "n = s32[] parameter(0)",
            "t = f32[4] constant({C, 2, C, 4})",
            "d = f32[1] dynamic-slice(t, n), dynamic_slice_sizes={1}",
        ),
        ("a = f32[1] multiply(p, d)", "ROOT r = f32[1] multiply(a, d)"),
        ("a = f32[1] multiply(d, d)", "ROOT r = f32[1] multiply(p, a)"),
        "real",
        "1e-30",
    ),
    "rows that f16 loses": (
        ROWS,
        (f"d = f16[2] {DOT}", "ROOT r = f32[2] convert(d)"),
        (f"ROOT r = f32[2] {DOT}",),
        "rounding",
        "6e-5",
    ),
    "factors that the type of the sum loses": (
        LONG,
        (f"ROOT r = f16[] dot(p, v), {INNER}",),
        (
            "a = f16[3] convert(p)",
            "b = f16[3] convert(v)",
            "m = f16[3] multiply(a, b)",
            "z = f16[] constant(0)",
            "ROOT r = f16[] reduce(m, z), dimensions={0}, to_apply=add_f16",
        ),
        "rounding",
        "1e-9",
    ),
    "factors that an algorithm loses": (
        LONG,
        (f"ROOT r = f32[] dot(p, v), {INNER}, algorithm=dot_f16_f16_f32",),
        (f"ROOT r = f32[] dot(p, v), {INNER}",),
        "rounding",
        "1e-9",
    ),
    "products of rows, in two orders": (
        (
            "q = f32[1,2,2] parameter(0)",
            "c = f32[1,2,2] constant({{{C, C}, {2, 2}}})",
            "m = f32[2,2,2] concatenate(c, q), dimensions={0}",
            "o = f32[] constant(1)",
        ),
        ("ROOT r = f32[2] reduce(m, o), dimensions={1,2}, to_apply=times",),
        (
            "a = f32[2,2] reduce(m, o), dimensions={1}, to_apply=times",
            "ROOT r = f32[2] reduce(a, o), dimensions={1}, to_apply=times",
        ),
        "real",
        "1e-25",
    ),
    "the largest of a row": (
        (
            "q = f32[1,2] parameter(0)",
            "c = f32[1,2] constant({{C, C}})",
            "m = f32[2,2] concatenate(c, q), dimensions={0}",
            "i = f32[] constant(-inf)",
        ),
        (
            "s = f32[2] reduce(m, i), dimensions={1}, to_apply=larger",
            "h = f16[2] convert(s)",
            "w = f32[2] convert(h)",
            "ROOT r = f32[2] negate(w)",
        ),
        ("s = f32[2] reduce(m, i), dimensions={1}, to_apply=larger", "ROOT r = f32[2] negate(s)"),
        "rounding",
        "1e-9",
    ),
    "the largest of a window": (
        (*GIVEN, "u = f32[4] concatenate(c, p), dimensions={0}", "i = f32[] constant(-inf)"),
        (
            "s = f32[4] reduce-window(u, i), window={size=2 pad=1_0}, to_apply=larger",
            "h = f16[4] convert(s)",
            "w = f32[4] convert(h)",
            "ROOT r = f32[4] negate(w)",
        ),
        ("s = f32[4] reduce-window(u, i), window={size=2 pad=1_0}, to_apply=larger", "ROOT r = f32[4] negate(s)"),
        "rounding",
        "1e-9",
    ),
    "products that an algorithm loses": (
        (*GIVEN, "u = f32[4] concatenate(c, p), dimensions={0}", "m = f32[4,1] reshape(u)"),
        ("ROOT r = f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={1}, algorithm=dot_f16_f16_f16",),
        ("ROOT r = f32[4,4] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={1}",),
        "rounding",
        "2e-4",
    ),
    "sums of squares": (
        (
            "q = f32[4,3] parameter(0)",
            "c = f32[4,3] constant({{C, C, C}, {1, 1, 1}, {C, C, C}, {1, 1, 1}})",
            "z = f32[] constant(0)",
        ),
        (
            "s = f32[4,3] multiply(c, c)",
            "m = f32[4,3] multiply(s, q)",
            "ROOT r = f32[4] reduce(m, z), dimensions={1}, to_apply=add",
        ),
        (
            "s = f32[4,3] multiply(q, c)",
            "m = f32[4,3] multiply(s, c)",
            "ROOT r = f32[4] reduce(m, z), dimensions={1}, to_apply=add",
        ),
        "real",
        "1e-30",
    ),
    "a row of constants that is summed": (
        (
            "q = f32[1,2] parameter(0)",
            "c = f32[1,2] constant({{C, C}})",
            "m = f32[2,2] concatenate(c, q), dimensions={0}",
            "z = f32[] constant(0)",
        ),
        (
            "s = f32[2] reduce(m, z), dimensions={1}, to_apply=add",
            "h = f16[2] convert(s)",
            "ROOT r = f32[2] convert(h)",
        ),
        ("ROOT s = f32[2] reduce(m, z), dimensions={1}, to_apply=add",),
        "rounding",
        "1e-9",
    ),
    "an array by way of another type, to a third": (
        ("c = f32[2] constant({C, C})",),
        ("n = f16[2] convert(c)", "ROOT r = f64[2] convert(n)"),
        ("ROOT r = f64[2] convert(c)",),
        "rounding",
        "1e-9",
    ),
}
"""What both are given, one, the other, the tier, and a constant that is lost."""


@pytest.mark.parametrize("what", REGROUPED)
def test_a_product_of_constants_is_not_lost(what: str) -> None:
    called = CALLED.replace("CONSTANT", "1")
    given, one, other, tier, lost = REGROUPED[what]
    for constant, asked in ((lost, unproved), ("0.5", proved)):
        pair = [entry(*(x.replace("C", constant) for x in (*given, *lines)), before=called) for lines in (one, other)]
        asked(pair[0], pair[1], tier)
        asked(pair[1], pair[0], tier)


def test_what_types_that_nobody_names_make_of_constants_is_not_known() -> None:
    for algorithm, asked in (("dot_any_f8_any_f8_f32", unproved), ("dot_f32_f32_f32", proved)):
        root = f"ROOT r = f32[] dot(p, v), {INNER}"
        pair = [
            entry(*(x.replace("C", "0.5") for x in (*LONG, line))) for line in (root, f"{root}, algorithm={algorithm}")
        ]
        asked(pair[0], pair[1], "rounding")
        asked(pair[1], pair[0], "rounding")


MADE_SMALLER = {
    "by a function": ("u = f32[4] map(v), dimensions={0}, to_apply=square", "2e-4"),
    "by complex numbers": ("a = c64[4] complex(v, v)", "b = c64[4] multiply(a, a)", "u = f32[4] imag(b)", "2e-4"),
    "by a power": ("n = f32[4] constant({2, 2, 2, 2})", "u = f32[4] power(v, n)", "2e-4"),
    "by an angle": ("l = f32[4] constant({5e4, 5e4, 5e4, 5e4})", "u = f32[4] atan2(v, l)", "0.5"),
    "with its place": (
        "i = s32[4] iota(), iota_dimension=0",
        "z = f32[] constant(0)",
        "k = s32[] constant(0)",
        "a = f32[1,4] reshape(v)",
        "b = s32[1,4] reshape(i)",
        "t = (f32[4], s32[4]) reduce(a, b, z, k), dimensions={0}, to_apply=both",
        "u = f32[4] get-tuple-element(t), index=0",
        "1e-9",
    ),
    "by a sum of windows": (
        "z = f32[] constant(0)",
        "a = f32[4] multiply(v, v)",
        "u = f32[4] reduce-window(a, z), window={size=1}, to_apply=add",
        "2e-4",
    ),
    "from bits": ("b = u32[4] bitcast-convert(v)", "h = u32[4] multiply(b, b)", "u = f32[4] bitcast-convert(h)", "0.5"),
    "by a branch": (
        "n = s32[] parameter(1)",
        "u = f32[4] conditional(n, v, v), branch_computations={squares, squares}",
        "2e-4",
    ),
}
SQUARES = "squares { a = f32[4] parameter(0)\n ROOT b = f32[4] multiply(a, a)\n}\n"


@pytest.mark.parametrize("what", MADE_SMALLER)
def test_what_is_made_of_constants_by_what_is_not_known_may_be_lost(what: str) -> None:
    """2e-4 is a number of f16, its square is none."""
    *lines, constant = MADE_SMALLER[what]
    given = [line.replace("C", constant) for line in (*INTO["concatenated"], *lines)]
    through = "h16 = f16[4] convert(u)", "w = f32[4] convert(h16)"
    called = CALLED.replace("CONSTANT", "1") + SQUARES
    straight = entry(*given, "ROOT r = f32[4] add(u, u)", before=called)
    unproved(straight, entry(*given, *through, "ROOT r = f32[4] add(w, w)", before=called), "rounding")


def test_of_large_arrays_nothing_is_known() -> None:
    """Their numbers are not looked at."""

    def text(through: bool, kind: str = "f16") -> str:
        numbers = ", ".join(("1e-9", "2e-9")[k % 2] for k in range(PARSED + 2))
        size = f"[{PARSED + 2}]"
        lines = (f"p = f32{size} parameter(0)", f"c = f32{size} constant({{{numbers}}})")
        back = (f"h = {kind}{size} convert(c)", f"w = f32{size} convert(h)")
        last = f"ROOT r = f32{size} multiply(p, {'w' if through else 'c'})"
        return entry(*lines, *(back if through else ()), last)

    unproved(text(False), text(True), "rounding")


def test_a_power_of_e_that_is_zero_is_no_factor_of_a_power() -> None:
    """However large the other one is; zeros where exponents are masked are meant to be there."""

    def text(joined: bool, constant: str) -> str:
        last = ("s = f32[2] add(p, c)", "ROOT r = f32[2] exponential(s)")
        first = ("a = f32[2] exponential(p)", "b = f32[2] exponential(c)", "ROOT r = f32[2] multiply(a, b)")
        return entry("p = f32[2] parameter(0)", f"c = f32[2] constant({{{constant}, 1}})", *(last if joined else first))

    unproved(text(False, "-100"), text(True, "-100"), "real")
    proved(text(False, "-1"), text(True, "-1"), "real")


ATTENTION = (
    "p = f32[4] parameter(0)",
    "i = s32[4] iota(), iota_dimension=0",
    "k = s32[4] constant({2, 2, 2, 2})",
    "g = pred[4] compare(i, k), direction=LT",
    "c = f32[] constant(-1e30)",
    "b = f32[4] broadcast(c), dimensions={}",
    "m = f32[4] select(g, p, b)",
    "e = f32[4] exponential(m)",
    "z = f32[] constant(0)",
    "s = f32[] reduce(e, z), dimensions={0}, to_apply=add",
    "w = f32[4] broadcast(s), dimensions={}",
    "o = f32[4] constant({1, 1, 1, 1})",
)


def test_exponents_that_are_masked_are_lost_to_nobody() -> None:
    """The weights of attention: those left out are zero, and meant to be."""
    quotient = entry(*ATTENTION, "ROOT r = f32[4] divide(e, w)", before=ADD)
    proved(quotient, entry(*ATTENTION, "v = f32[4] divide(o, w)", "ROOT r = f32[4] multiply(e, v)", before=ADD), "real")


@pytest.mark.parametrize(
    "lines",
    [
        ("e = f32[4] exponential(b)",),
        ("n = f32[4] exponential(b)", "e = f32[4] negate(n)"),
        ("n = f32[4] exponential(b)", "k = f32[4] multiply(n, n)", "e = f32[4] abs(k)"),
        ("n = f32[4] exponential(b)", "h = bf16[4] convert(n)", "e = f32[4] convert(h)"),
        (
            "n = f32[2] slice(b), slice={[0:2]}",
            "m = f32[2] exponential(n)",
            "k = f32[4] concatenate(m, t), dimensions={0}",
            "e = f32[4] negate(k)",
        ),
    ],
)
def test_nothing_is_divided_by_a_power_of_e_that_is_zero(lines: tuple[str, ...]) -> None:
    """Where a comparison asks whether the quotient is a number, zero by zero is seen to be none."""

    def text(constant: str, quotient: tuple[str, ...]) -> str:
        given = ("p = f32[4] parameter(0)", "t = f32[2] constant({1, 2})", f"c = f32[] constant({constant})")
        spread = (
            "b = f32[4] broadcast(c), dimensions={}",
            "o = f32[] constant(0)",
            "z = f32[4] broadcast(o), dimensions={}",
        )
        chosen = ("g = pred[4] compare(q, q), direction=EQ", "s = f32[4] select(g, q, z)")
        last = 'ROOT r = f32[4] custom-call(s), custom_call_target="not_known"'
        return entry(*given, *spread, *lines, *quotient, *chosen, last)

    divided, alone = ("l = f32[4] multiply(e, p)", "q = f32[4] divide(l, e)"), ("q = f32[4] copy(p)",)
    unproved(text("-200", divided), text("-200", alone), "rounding")
    proved(text("-2", divided), text("-2", alone), "real")


@pytest.mark.parametrize(
    ("op", "given", "found"),
    [
        ("divide", (None, MASKED), LOST),
        ("power", (MASKED, Magnitude(1, -1, -1)), LOST),
        ("rsqrt", (MASKED,), LOST),
        ("divide", (MASKED, None), None),
        ("divide", (MASKED, Magnitude(1e-30, 1e-30, 1)), MASKED),
        ("add", (MASKED, Magnitude(1, 1, 1)), anything("f32")),
        ("sqrt", (MASKED,), None),
        (
            "multiply",
            (Magnitude(1, 0, 1, masked=True), Magnitude(1e-30, 0, 1e-30)),
            Magnitude(1e-30, -1e-30, 1e-30, masked=True),
        ),
        ("multiply", (Magnitude(0.5, 0, 1, masked=True), Magnitude(1, 0, 2)), Magnitude(0.5, 0, 2, masked=True)),
        ("multiply", (Magnitude(0.5, 0, 1, masked=True), Magnitude(1e-38, 0, 1)), LOST),
    ],
)
def test_powers_of_e_that_are_zero(op: str, given: tuple[Magnitude | None, ...], found: Magnitude | None) -> None:
    assert after(op, "f32", given, ["f32"] * len(given)) == found


def test_zeros_that_a_function_is_applied_to_are_lost_to_nobody() -> None:
    """A mask on what a function makes of an array that is padded."""
    given = (
        "p = f32[2] parameter(0)",
        "q = pred[4] parameter(1)",
        "z = f32[] constant(0)",
        "v = f32[4] pad(p, z), padding=1_1",
        "u = f32[4] map(v), dimensions={0}, to_apply=square",
    )
    called = CALLED.replace("CONSTANT", "1")
    times = entry(*given, "n = f32[4] convert(q)", "ROOT r = f32[4] multiply(u, n)", before=called)
    chosen = ("y = f32[4] broadcast(z), dimensions={}", "ROOT r = f32[4] select(q, u, y)")
    proved(times, entry(*given, *chosen, before=called), "real")


@pytest.mark.parametrize("constant", ["inf", "nan"])
def test_what_is_no_number_is_not_rounded(constant: str) -> None:
    lines = ("p = f32[] parameter(0)", f"c = f32[] constant({constant})")
    through = ("h = f16[] convert(c)", "w = f32[] convert(h)", "ROOT r = f32[] multiply(p, w)")
    unproved(entry(*lines, "ROOT r = f32[] multiply(p, c)"), entry(*lines, *through), "rounding")


def test_a_reciprocal_of_few_digits_is_none() -> None:
    """1 / 64896 lies between two numbers of f16 that are further apart than numbers of its size mostly are."""
    assert smallest_normal("f16") == 2.0**-14 > 1 / 64896

    def text(op: str, constant: float) -> str:
        lines = (f"c = f16[] constant({constant!r})", "b = f16[4] broadcast(c), dimensions={}")
        return entry("p = f16[4] parameter(0)", *lines, f"ROOT r = f16[4] {op}(p, b)")

    unproved(text("divide", 64896.0), text("multiply", 259 * 2.0**-24), "rounding")
    numbers = {"f16": (64896.0, 9.0), "bf16": (3.002e38, 9.0)}
    for kind, (none, some) in numbers.items():
        assert has_no_reciprocal(kind, from_value(kind, none)) and not has_no_reciprocal(kind, from_value(kind, some))
    proved(text("divide", 9.0), text("multiply", float(Fraction(rounded("f16", 1 / 9)))), "rounding")


_AT = (
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
    "to_apply=add"
)
_MADE = {
    # what is made, of constants that f16 does not hold, and of some that it holds
    "what is scattered over": (
        (
            "p = f32[4] parameter(0)",
            "k = f32[4] constant({C, C, C, C})",
            "i = s32[4,1] constant({{0}, {0}, {0}, {0}})",
            f"m = f32[4] scatter(k, i, p), {_AT}",
        ),
        "1e-9",
    ),
    "what is scattered to one place": (
        (
            "p = f32[2] parameter(0)",
            "c = f32[2] constant({0, 0})",
            "z = f32[4] concatenate(c, p), dimensions={0}",
            "k = f32[4] constant({C, C, C, C})",
            "i = s32[4,1] constant({{0}, {0}, {0}, {0}})",
            f"m = f32[4] scatter(z, i, k), {_AT}",
        ),
        "30000",
    ),
    "what a function makes of nothing": (
        ("p = f32[4] parameter(0)", "m = f32[4] map(p), dimensions={0}, to_apply=gives"),
        "1e-9",
    ),
}


@pytest.mark.parametrize("name", _MADE)
def test_what_is_made_through_a_type(name: str) -> None:
    lines, lost = _MADE[name]
    gives = "gives { a = f32[] parameter(0)\n ROOT c = f32[] constant(C)\n}\n"

    def text(through: bool, constant: str) -> str:
        back = ("h = f16[4] convert(m)", "w = f32[4] convert(h)") if through else ("w = f32[4] copy(m)",)
        last = ("q = f32[4] parameter(1)", "ROOT r = f32[4] multiply(w, q)")
        return re.sub(r"\bC\b", constant, entry(*lines, *back, *last, before=ADD + gives))

    unproved(text(True, lost), text(False, lost), "rounding")
    proved(text(True, "2"), text(False, "2"), "rounding")


def test_many_numbers_that_cancel() -> None:
    """1 and -0.99999994 leave a number of 2^-24, as part of a sum of what is given in another row."""

    def text(regrouped: bool) -> str:
        given = (
            "y = f32[2] parameter(0)",
            "c = f32[2] constant({1, -0.99999994})",
            "m0 = f32[4] concatenate(c, y), dimensions={0}",
            "m = f32[2,2] reshape(m0)",
            "z = f32[] constant(0)",
            "w = f32[2] reduce(m, z), dimensions={1}, to_apply=add",
        )
        numbers = [f"{n} = f32[2] constant({{{c}, {c}}})" for n, c in (("a", "1.2e-38"), ("b", "1e38"), ("d", "1.2"))]
        lines = (
            ("s = f32[2] multiply(w, a)", "t = f32[2] multiply(s, b)") if regrouped else ("t = f32[2] multiply(w, d)",)
        )
        return entry(*given, *numbers, *lines, "ROOT r = f32[2] copy(t)", before=ADD)

    unproved(text(True), text(False), "rounding")


def test_of_constants_that_are_not_read_nothing_is_known() -> None:
    count = PARSED + 8
    numbers = ", ".join("1e-9" if k % 2 else "1" for k in range(count))

    def text(through: bool) -> str:
        given = (
            "p = f32[8] parameter(0)",
            f"q = f32[{count + 8}] parameter(1)",
            f"c = f32[{count}] constant({{{numbers}}})",
            f"v = f32[{count + 8}] concatenate(c, p), dimensions={{0}}",
        )
        back = (f"h = f16[{count + 8}] convert(v)", f"w = f32[{count + 8}] convert(h)") if through else ()
        return entry(*given, *back, f"ROOT r = f32[{count + 8}] multiply({'w' if through else 'v'}, q)")

    unproved(text(True), text(False), "rounding")
