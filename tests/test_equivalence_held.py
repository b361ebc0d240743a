"""What element types hold: contractions into types that hold less, constants that are too large, one bit of eight."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module

OVER = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
FUNCTIONS = "".join(
    f"{name} {{ a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT r = {kind}[] add(a, b)\n}}\n"
    for name, kind in (("sum_f32", "f32"), ("sum_pred", "pred"), ("sum_s32", "s32"), ("sum_bf16", "bf16"))
)


def contracted(given: str, to: str, size: int, more: str = "") -> tuple[str, str]:
    """A dot, and the sum of products of its factors in the type of the sum."""
    lines = (f"x = {given}[{size}] parameter(0)", f"y = {given}[{size}] parameter(1)")
    none = "false" if to == "pred" else "0"
    return entry(*lines, f"ROOT r = {to}[] dot(x, y), {OVER}{more}", before=FUNCTIONS), entry(
        *lines,
        f"u = {to}[{size}] convert(x)",
        f"v = {to}[{size}] convert(y)",
        f"m = {to}[{size}] multiply(u, v)",
        f"n = {to}[] constant({none})",
        f"ROOT r = {to}[] reduce(m, n), dimensions={{0}}, to_apply=sum_{to}",
        before=FUNCTIONS,
    )


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("given", "to"), [("c64", "f32"), ("f32", "pred"), ("s32", "pred"), ("f32", "s32")])
def test_a_contraction_that_loses_parts_is_no_sum_of_what_is_left(given: str, to: str, size: int) -> None:
    """(1 + i) * (1 - i) is 2, and 1 * 1 is 1; 0.5 * 2 - 1 * 1 is zero, and true * true or true * true is true."""
    unproved(*contracted(given, to, size), "rounding")


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("given", "to"), [("bf16", "f32"), ("pred", "pred"), ("s8", "s32")])
def test_one_into_a_type_that_holds_all_is_one(given: str, to: str, size: int) -> None:
    proved(*contracted(given, to, size), "real" if to != "pred" else "rounding")


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    ("given", "to", "more"),
    [
        ("f32", "bf16", ""),
        ("f32", "f32", ", algorithm=dot_bf16_bf16_f32"),
        ("f32", "f32", ", operand_precision={high,high}"),
    ],
)
def test_factors_that_are_rounded_are_so_over_one_point_too(given: str, to: str, more: str, size: int) -> None:
    before, after = contracted(given, to, size, more)
    unproved(before, after, "real")
    proved(before, after, "rounding")


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("given", "sound"), [("c64", False), ("bf16", True)])
def test_a_convolution_that_loses_parts_is_no_sum_of_what_is_left(given: str, size: int, sound: bool) -> None:
    """As a dot."""
    lines = (f"x = {given}[1,{size},1] parameter(0)", f"w = {given}[{size},1,1] parameter(1)")
    window = f"window={{size={size}}}, dim_labels=b0f_0io->b0f"
    made = entry(*lines, f"ROOT r = f32[1,1,1] convolution(x, w), {window}")
    after = entry(
        *lines,
        f"u = f32[1,{size},1] convert(x)",
        f"v = f32[{size},1,1] convert(w)",
        f"p = f32[{size}] reshape(u)",
        f"q = f32[{size}] reshape(v)",
        f"m = f32[{size}] multiply(p, q)",
        "n = f32[] constant(0)",
        "s = f32[] reduce(m, n), dimensions={0}, to_apply=sum_f32",
        "ROOT r = f32[1,1,1] reshape(s)",
        before=FUNCTIONS,
    )
    (proved if sound else unproved)(made, after, "real" if sound else "rounding")


SINES = ("w = f32[4] sine(k)", "d = f32[4] subtract(p, w)", "ROOT r = f32[4] add(d, w)")
ALL = "broadcast(c), dimensions={}"
EACH = "broadcast(o), dimensions={}"
IN_F8 = "k = f32[4] convert(i)"
MADE = {
    "a number that is too large": (f"c = f8e4m3fn[] convert(o); i = f8e4m3fn[4] {ALL}; {IN_F8}", "1000", "416"),
    "a sum that is too large": (
        f"b = f16[] convert(o); c = f16[] add(b, b); i = f16[4] {ALL}; {IN_F8}", "40000", "20000",
    ),
    "one of several": (
        f"c = f32[4] {EACH}; s = f32[4] iota(), iota_dimension=0; t = f32[4] add(c, s); i = TYPE[4] convert(t); "
        + IN_F8,
        "f8e4m3fn", "f16",
    ),
    "a product without bounds": (
        f"m = f32[] multiply(o, o); n = f32[] add(m, o); c = f32[] negate(n); j = f32[4] {ALL}; k = f32[4] add(p, j)",
        "1e30", "1e10",
    ),
    "what counts beyond the type": (
        "t = TYPE[2000] iota(), iota_dimension=0; i = TYPE[4] slice(t), slice={[1990:1994]}; " + IN_F8,
        "f8e4m3fn", "f16",
    ),
    "a type without zero": (
        "t = TYPE[4] iota(), iota_dimension=0; i = TYPE[4] copy(t); " + IN_F8, "f8e8m0fnu", "f8e4m3fn",
    ),
    "a quotient of zeros": (f"c = f32[] divide(o, o); k = f32[4] {ALL}", "0", "3"),
    "a root of a negative number": (f"c = f32[] sqrt(o); k = f32[4] {ALL}", "-4", "4"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "wrong", "right"), MADE.values(), ids=MADE)
def test_what_is_computed_from_constants_has_a_value_where_the_type_holds_it(
    lines: str, wrong: str, right: str
) -> None:
    """Otherwise the sines are none, and p less them and with them again is none."""

    def module(held: str) -> str:
        kind, number = (held, "1000") if held.startswith("f") else ("", held)
        made = (line.strip().replace("TYPE", kind) for line in lines.split(";"))
        return one("f32[4]", f"o = f32[] constant({number})", *made, *SINES)

    copy = one("f32[4]", "ROOT r = f32[4] copy(p)")
    unproved(copy, module(wrong), "real")
    proved(copy, module(right), "real")


def test_a_constant_cancels_where_its_type_holds_it() -> None:
    lines = ("k = f8e4m3fn[] convert(c)", "d = f8e4m3fn[] subtract(p, k)", "ROOT r = f8e4m3fn[] add(d, k)")
    copy = one("f8e4m3fn[]", "ROOT r = f8e4m3fn[] copy(p)")
    unproved(copy, one("f8e4m3fn[]", "c = f32[] constant(1000)", *lines), "real")
    proved(copy, one("f8e4m3fn[]", "c = f32[] constant(416)", *lines), "real")


def test_a_predicate_keeps_one_bit_of_eight() -> None:
    there_and_back = one("u8[4]", "b = pred[4] bitcast(p)", "ROOT r = u8[4] bitcast(b)")
    unproved(one("u8[4]", "ROOT r = u8[4] copy(p)"), there_and_back, "rounding")
    proved(
        one("u8[4]", "ROOT r = u8[4] copy(p)"),
        one("u8[4]", "b = s8[4] bitcast(p)", "ROOT r = u8[4] bitcast(b)"),
        "exact",
    )


MIXED = (
    "a = s16[] bitcast-convert({0})",
    "o = s16[] constant(0)",
    "m = s16[] constant(32767)",
    "an = pred[] compare(a, o), direction=LT",
    "at = s16[] xor(m, a)",
    "as = s16[] select(an, at, a)",
    "b = s16[] bitcast-convert(q)",
    "bn = pred[] compare(b, o), direction=LT",
    "bt = s16[] xor(m, b)",
    "bs = s16[] select(bn, bt, b)",
    "ROOT r = pred[] compare(as, bs), direction=LT",
)


@pytest.mark.parametrize(("other", "orders"), [("f16", True), ("bf16", False)])
def test_bits_of_two_types_are_in_no_order_of_numbers(other: str, orders: bool) -> None:
    """1 in bf16 lies above 3 in f16 by their bits."""
    lines = ("p = f16[] parameter(0)", f"q = {other}[] parameter(1)", "z = f16[] constant(0)", "f = f16[] add(p, z)")
    before, after = (entry(*lines, *(line.format(of) for line in MIXED)) for of in ("p", "f"))
    found = decide(parse_module(before), parse_module(after), "real", 5.0).verdict
    assert (found == "proved") is orders


MIDDLES = {
    "s64 to bf16": ("s64[] constant(1157425104234217473)", "s64[] constant(1155173304420532224)", "bf16"),
    "f64 to bf16": ("f64[] constant(1.0039062500001)", "f64[] constant(1.004)", "bf16"),
    "f64 to f16": ("f64[] constant(1.0004882812500003)", "f64[] constant(1.0005)", "f16"),
}
HELD = {"s64 to bf16": ("1152921504606846976", "1161928703861587968"), "f64 to bf16": ("1", "1.0078125"),
        "f64 to f16": ("1", "1.0009765625")}  # fmt: skip


@pytest.mark.parametrize("name", MIDDLES)
def test_a_constant_that_is_rounded_otherwise_on_the_way_through_f32_is_none(name: str) -> None:
    """Just above the middle between two neighbours: XLA rounds down where it runs, up where it folds constants. What is
    nearer to one of them is that one."""
    middle, near, kind = MIDDLES[name]

    def made(constant: str) -> str:
        return entry(f"c = {constant}", f"ROOT r = {kind}[] convert(c)")

    for held in HELD[name]:
        unproved(made(middle), entry(f"ROOT r = {kind}[] constant({held})"), "exact")
    nearest = HELD[name][0] if name.startswith("s64") else HELD[name][1]
    proved(made(near), entry(f"ROOT r = {kind}[] constant({nearest})"), "exact")


@pytest.mark.parametrize(("kind", "held", "other"), [("f16", "1", "1.0009765625"), ("f8e5m2", "1", "1.25")])
def test_a_decimal_is_rounded_as_xla_reads_it(kind: str, held: str, other: str) -> None:
    """Into f16 by way of f32, into types of 8 bits at once."""
    middle = {"f16": "1.0004882812500003", "f8e5m2": "1.1250000000001"}[kind]
    text = entry(f"ROOT r = {kind}[] constant({middle})")
    right, wrong = (held, other) if kind == "f16" else (other, held)
    proved(text, entry(f"ROOT r = {kind}[] constant({right})"), "exact")
    unproved(text, entry(f"ROOT r = {kind}[] constant({wrong})"), "exact")


@pytest.mark.parametrize(("kind", "bound", "sound"), [("f8e4m3fn", "nan", False), ("f8e5m2", "-inf", True)])
def test_a_bound_that_never_binds_is_a_number(kind: str, bound: str, sound: bool) -> None:
    """A type without infinities holds NaN in the place of its lowest number."""
    bounded = one(f"{kind}[]", f"b = {kind}[] constant({bound})", f"ROOT r = {kind}[] maximum(p, b)")
    (proved if sound else unproved)(bounded, one(f"{kind}[]", f"ROOT r = {kind}[] copy(p)"), "exact")


@pytest.mark.parametrize(("place", "sound"), [(16842753, False), (16842752 + 40000, True)])
def test_a_counted_number_in_the_middle_is_none(place: int, sound: bool) -> None:
    """Just above the middle between 2^24 and its neighbour in bf16, and well above it."""
    counted = entry(
        "i = bf16[17000000] iota(), iota_dimension=0",
        f"s = bf16[1] slice(i), slice={{[{place}:{place + 1}]}}",
        "ROOT r = bf16[] reshape(s)",
    )
    (proved if sound else unproved)(counted, entry("ROOT r = bf16[] constant(16908288)"), "exact")
    unproved(counted, entry("ROOT r = bf16[] constant(16777216)"), "exact")


READS = {
    "chosen": ("f32", "ROOT r = f32[3,2] select(b, p, q)", "ROOT r = f32[3,2] copy(p)"),
    "counted": ("f32", "ROOT r = s32[3,2] convert(b)", "ROOT r = s32[3,2] broadcast(n), dimensions={}"),
    "turned": (
        "f32", "t = pred[3,2] not(b); ROOT r = s32[3,2] convert(t)", "ROOT r = s32[3,2] broadcast(o), dimensions={}",
    ),
}  # fmt: skip


def test_bits_through_a_predicate_that_lies_elsewhere_are_not_those_of_before() -> None:
    moved = ("b = {0}[3,2] bitcast(p)", "ROOT r = u8[2,3] bitcast(b)")
    copy = one("u8[2,3]", "ROOT r = u8[2,3] copy(p)")
    unproved(copy, one("u8[2,3]", *(line.format("pred") for line in moved)), "rounding")
    proved(copy, one("u8[2,3]", *(line.format("s8") for line in moved)), "exact")


@pytest.mark.parametrize("name", READS)
def test_a_byte_that_is_neither_0_nor_1_is_no_predicate(name: str) -> None:
    """It was true where it chose, and false where it was converted: of one that says 2 both were proved."""
    kind, read, wrong = READS[name]
    lines = (f"p = {kind}[3,2] parameter(0)", f"q = {kind}[3,2] parameter(1)", "n = s32[] constant(0)",
             "o = s32[] constant(1)")  # fmt: skip

    def made(byte: int, of: str = "u8") -> str:
        rows = f"{{{{{byte},{byte},{byte}}},{{{byte},{byte},{byte}}}}}"
        constant = f"c = {of}[2,3] constant({rows})"
        return entry(*lines, constant, "b = pred[3,2] bitcast(c)", *(part.strip() for part in read.split(";")))

    unproved(made(2), entry(*lines, wrong), "exact")
    # The bits of one that says 0 or 1 are not computed, either; but they are those of a predicate.
    proved(made({"chosen": 1}.get(name, 0), "pred"), entry(*lines, wrong), "exact")


NARROWED = "w = f32[4] convert(p)"


@pytest.mark.parametrize(("to", "sound"), [("u8", False), ("s16", True)])
def test_a_float_between_integers_saturates_where_an_integer_wraps(to: str, sound: bool) -> None:
    """-1 in s8 becomes 255 in u8, and by way of f32 0."""
    through = one("s8[4]", NARROWED, f"ROOT r = {to}[4] convert(w)")
    (proved if sound else unproved)(through, one("s8[4]", f"ROOT r = {to}[4] convert(p)"), "exact")


@pytest.mark.parametrize(("factor", "sound"), [("-2", False), ("2", True)])
def test_a_counted_zero_times_a_negative_number_is_negative(factor: str, sound: bool) -> None:
    lines = ("f = f32[4] iota(), iota_dimension=0", f"c = f32[] constant({factor})")
    floats = entry(*lines, "b = f32[4] broadcast(c), dimensions={}", "ROOT r = f32[4] multiply(f, b)")
    whole = entry(
        "i = s32[4] iota(), iota_dimension=0",
        f"c = s32[] constant({factor})",
        "b = s32[4] broadcast(c), dimensions={}",
        "m = s32[4] multiply(i, b)",
        "ROOT r = f32[4] convert(m)",
    )
    (proved if sound else unproved)(floats, whole, "exact")


@pytest.mark.parametrize(
    ("lines", "sound"),
    [
        (("c = f32[] constant(1000)", "e = f32[] exponential(c)"), False),
        (("c = f32[] constant(1)", "e = f32[] cosine(c)"), True),
        (("c = f32[] constant(3e38)", "e = f32[] multiply(c, c)"), False),
        (("c = f32[] constant(3e8)", "e = f32[] multiply(c, c)"), True),
        (("c = f16[2] constant({7, 1})", "d = f32[2] convert(c)", "s = f32[1] slice(d), slice={[0:1]}",
          "e = f32[] reshape(s)"), True),
        (("c = f32[2] constant({3e38, 3e38})",
          "e = f32[] dot(c, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}"), False),
    ],
)  # fmt: skip
def test_what_constants_alone_overflow_to_does_not_cancel(lines: tuple[str, ...], sound: bool) -> None:
    """Over real numbers infinity less infinity is none."""
    made = entry(*lines, "ROOT r = f32[] subtract(e, e)")
    (proved if sound else unproved)(entry("ROOT r = f32[] constant(0)"), made, "real")
