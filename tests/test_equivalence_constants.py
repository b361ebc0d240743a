"""Constants as compilers have them: how they are read, and what of them is computed for granted. The pairs were held
against XLA on CPUs."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.literal import LiteralError, parse_literal

NEGATIVE_ZERO = "-0 is negative zero, as XLA writes it, and not 0, as it reads it"
START = "what a reduction begins with is used once, and for each place on padding"
LARGER = "larger { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
MOST = "most { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] maximum(a, b)\n}\n"


def told(before: str, after: str) -> set[str]:
    """What a proof of the tier exact rests on."""
    found = decide(parse_module(before), parse_module(after), "exact", 5.0)
    assert found.verdict == "proved", found.reason
    return {name for name, _ in found.axioms}


def constant(kind: str, text: str) -> str:
    return entry(f"ROOT r = {kind} constant({text})")


@pytest.mark.parametrize(
    ("kind", "text", "plain"),
    [
        ("f32[]", "-0", "-0.0"),
        ("f64[2]", "{1, -0}", "{1, -0.0}"),
        ("bf16[]", "-00", "-0.0"),
        ("c64[]", "(-0, 1)", "(-0.0, 1)"),
        ("f8e5m2[1]", "{ -0 }", "{-0.0}"),
    ],
)
def test_a_zero_that_two_programs_read_otherwise_is_told(kind: str, text: str, plain: str) -> None:
    """XLA prints negative zero so, and reads it as 0."""
    assert told(constant(kind, text), constant(kind, plain)) == {NEGATIVE_ZERO}
    unproved(constant(kind, text), constant(kind, plain.replace("-0.0", "0")), "exact")
    assert told(constant(kind, plain), constant(kind, plain)) == set()


@pytest.mark.parametrize(("kind", "text"), [("s32[]", "-0"), ("f32[]", "1e-0"), ("f32[]", "-0.5"), ("f32[]", "-0e1")])
def test_of_other_zeros_nothing_is_told(kind: str, text: str) -> None:
    assert told(constant(kind, text), constant(kind, text)) == set()


@pytest.mark.parametrize(
    ("kind", "text", "held", "other"),
    [
        ("f64", "9223372036854775808", "-9.2233720368547758e+18", "9.2233720368547758e+18"),
        ("f32", "18446744073709551615", "-1", "1.8446744e+19"),
        ("f64", "9223372036854775808.0", "9.2233720368547758e+18", "-9.2233720368547758e+18"),
        ("f64", "9223372036854775807", "9.2233720368547758e+18", "-9.2233720368547758e+18"),
    ],
)
def test_an_integer_of_64_bits_wraps_round(kind: str, text: str, held: str, other: str) -> None:
    """What is written without a point is read as such, and then as a float."""
    proved(constant(f"{kind}[]", text), constant(f"{kind}[]", held), "exact")
    unproved(constant(f"{kind}[]", text), constant(f"{kind}[]", other), "exact")


@pytest.mark.parametrize("text", ["18446744073709551616", "-9223372036854775809"])
def test_a_larger_integer_is_an_error(text: str) -> None:
    with pytest.raises(LiteralError, match="no integer of 64 bits"):
        parse_literal(text, ArrayShape("f64", ()))
    assert parse_literal(text + ".0", ArrayShape("f64", ())) == float(text)


@pytest.mark.parametrize(
    ("kind", "byte", "other"),
    [("f8e5m2", 126, 125), ("f8e4m3", 124, 121), ("f8e3m4", 120, 113), ("f8e4m3fn", 127, 126)],
)
def test_a_nan_of_8_bits_is_the_quiet_one(kind: str, byte: int, other: int) -> None:
    bits = entry(f"c = {kind}[] constant(nan)", "ROOT r = u8[] bitcast-convert(c)")
    proved(bits, constant("u8[]", str(byte)), "exact")
    unproved(bits, constant("u8[]", str(other)), "exact")


@pytest.mark.parametrize(
    ("source", "target", "word", "bits", "sound"),
    [
        ("f16", "f8e5m2", "u8", "126", False),
        ("f16", "f8e5m2", "u8", "127", False),
        ("f32", "f16", "u16", "32256", False),
    ],
)
def test_a_nan_that_is_made_narrow_has_bits_of_its_own(
    source: str, target: str, word: str, bits: str, sound: bool
) -> None:
    made = entry(f"c = {source}[] constant(nan)", f"d = {target}[] convert(c)", f"ROOT r = {word}[] bitcast-convert(d)")
    (proved if sound else unproved)(made, constant(f"{word}[]", bits), "exact")


SUBNORMAL = {
    "a product": (["c = f32[] constant(1e-30)", "d = f32[] constant(1e-10)", "ROOT r = f32[] multiply(c, d)"],
                  "f32[]", "1e-40"),
    "a comparison": (["c = f32[] constant(1e-40)", "d = f32[] constant(0)",
                      "ROOT r = pred[] compare(c, d), direction=GT"], "pred[]", "true"),
    "the larger of two": (["c = bf16[] constant(1e-40)", "d = bf16[] constant(0)", "ROOT r = bf16[] maximum(c, d)"],
                          "bf16[]", "1e-40"),
    "wider": (["c = f32[] constant(1.40129846432481707e-45)", "ROOT r = f64[] convert(c)"],
              "f64[]", "1.40129846432481707e-45"),
    "narrower": (["c = f64[] constant(1e-40)", "ROOT r = f32[] convert(c)"], "f32[]", "1e-40"),
    "whether it is anything": (["c = f64[] constant(1e-310)", "ROOT r = pred[] convert(c)"], "pred[]", "true"),
    "f8e8m0fnu": (["c = f8e8m0fnu[] constant(1.17549435e-38)", "d = f8e8m0fnu[] constant(0.5)",
                   "ROOT r = f8e8m0fnu[] multiply(c, d)"], "f8e8m0fnu[]", "5.87747175e-39"),
    "the root of 15.5 by way of 16 bits": (["c = f8e3m4[] constant(15.5)", "ROOT r = f8e3m4[] sqrt(c)"],
                                           "f8e3m4[]", "3.875"),
    "a whole number into f8e8m0fnu": (["c = s32[] constant(25165823)", "ROOT r = f8e8m0fnu[] convert(c)"],
                                      "f8e8m0fnu[]", "16777216"),
    "how many bits of four": (["c = s4[] constant(-8)", "ROOT r = s4[] popcnt(c)"], "s4[]", "1"),
    "another sign": (["c = f32[] constant(1e-40)", "ROOT r = f32[] negate(c)"], "f32[]", "-1e-40"),
    "the largest of several": (["c = f32[2] constant({1e-40, 0})", "i = f32[] constant(-inf)",
                                "ROOT r = f32[] reduce(c, i), dimensions={0}, to_apply=larger"], "f32[]", "1e-40"),
    "the largest of what was computed": (["c = f32[2] constant({1e-30, 0})", "d = f32[2] constant({1e-10, 1})",
                                          "e = f32[2] multiply(c, d)", "i = f32[] constant(-inf)",
                                          "ROOT r = f32[] reduce(e, i), dimensions={0}, to_apply=larger"],
                                         "f32[]", "1e-40"),
}  # fmt: skip


@pytest.mark.parametrize("name", SUBNORMAL)
def test_what_processors_compute_otherwise_than_compilers_is_not_computed(name: str) -> None:
    """XLA takes subnormal numbers for 0 where it runs, and not where it folds constants."""
    lines, kind, held = SUBNORMAL[name]
    unproved(entry(*lines, before=LARGER), constant(kind, held), "exact")


NORMAL = {
    "a product": (["c = f32[] constant(1e-20)", "d = f32[] constant(0.5)", "ROOT r = f32[] multiply(c, d)"],
                  "f32[]", "5e-21"),
    "a subnormal number of f16, computed in f32": (["c = f16[] constant(6e-08)", "d = f16[] constant(0)",
                                                    "ROOT r = f16[] maximum(c, d)"], "f16[]", "6e-08"),
    "the largest of several": (["c = s32[2] constant({1, 0})", "i = s32[] constant(-5)",
                                "ROOT r = s32[] reduce(c, i), dimensions={0}, to_apply=most"], "s32[]", "1"),
    "a root": (["c = f32[] constant(2.25)", "ROOT r = f32[] sqrt(c)"], "f32[]", "1.5"),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMAL)
def test_what_all_compute_alike_is_computed(name: str) -> None:
    lines, kind, held = NORMAL[name]
    proved(entry(*lines, before=MOST), constant(kind, held), "exact")


def test_what_a_reduction_of_constants_over_nothing_begins_with_is_not_used() -> None:
    """XLA leaves it out."""
    lines = ["c = s32[2] constant({1, 9})", "i = s32[] constant(5)"]
    nothing = entry(*lines, "ROOT r = s32[2] reduce(c, i), dimensions={}, to_apply=most", before=MOST)
    unproved(nothing, constant("s32[2]", "{5, 9}"), "exact")
    all_of_it = entry(*lines, "ROOT r = s32[] reduce(c, i), dimensions={0}, to_apply=most", before=MOST)
    proved(all_of_it, constant("s32[]", "9"), "exact")


def _begun(start: str, line: str, result: str = "f32[4]") -> str:
    return entry(
        "x = f32[4] parameter(0)", f"c = f32[] constant({start})", *line.format(result).split("; "), before=ADD
    )


OVER_NOTHING = "ROOT r = {} reduce(x, c), dimensions={{}}, to_apply=add"
OVER_ONE = "y = f32[4,1] reshape(x); ROOT r = {} reduce(y, c), dimensions={{1}}, to_apply=add"
WINDOW = "ROOT r = {} reduce-window(x, c), window={{size=1}}, to_apply=add"
PADDED = "ROOT r = {} reduce-window(x, c), window={{size=3 pad=1_1}}, to_apply=add"
APART = "p = f32[6] pad(x, c), padding=1_1; ROOT r = {} reduce-window(p, c), window={{size=3}}, to_apply=add"


@pytest.mark.parametrize(
    ("start", "one", "other", "shows"),
    [
        ("5", OVER_NOTHING, WINDOW, True),
        ("0", OVER_NOTHING, WINDOW, True),  # 0 + -0.0
        ("-0.0", OVER_NOTHING, WINDOW, False),
        ("5", OVER_NOTHING, OVER_ONE, False),  # left out of both
        ("5", PADDED, APART, True),
        ("0", PADDED, APART, False),
    ],
)
def test_how_often_a_start_is_used_is_told_where_it_shows(start: str, one: str, other: str, shows: bool) -> None:
    """XLA leaves it out where nothing is folded with anything, and on padding."""
    assert told(_begun(start, one), _begun(start, other)) == ({START} if shows else set())


def test_bytes_that_are_read_together_are_no_element_each() -> None:
    made = entry(
        "c = u8[2,4] constant({{1, 0, 0, 0}, {2, 0, 0, 0}})",
        "d = s32[2] bitcast-convert(c)",
        "i = s32[] constant(0)",
        "ROOT r = s32[] reduce(d, i), dimensions={0}, to_apply=most",
        before=MOST,
    )
    unproved(made, constant("s32[]", "1"), "exact")


def test_a_type_without_zero_counts_from_no_zero() -> None:
    made = entry("i = f8e8m0fnu[1] iota(), iota_dimension=0", "ROOT r = u8[1] bitcast-convert(i)")
    unproved(made, constant("u8[1]", "{255}"), "exact")


def test_a_complex_product_over_nothing_does_not_show_its_start() -> None:
    """Infinities times 1 + 0i."""
    lines = ("x = c64[4] parameter(0)", "c = c64[] constant((1, 0))")
    times = "times { a = c64[] parameter(0)\n b = c64[] parameter(1)\n ROOT r = c64[] multiply(a, b)\n}\n"
    nothing = entry(*lines, "ROOT r = c64[4] reduce(x, c), dimensions={}, to_apply=times", before=times)
    window = entry(*lines, "ROOT r = c64[4] reduce-window(x, c), window={size=1}, to_apply=times", before=times)
    assert told(nothing, window) == {START}


SAME_WINDOW = (
    "p = f32[6] pad(x, c), padding=1_1; w = f32[6] reduce-window(p, c), window={{size=3 pad=1_1}}, to_apply=add; "
    "ROOT r = {} slice(w), slice={{[1:5]}}"
)
MIDDLE = "p = f32[6] pad(x, c), padding=1_1; ROOT r = {} reduce-window(p, c), window={{size=3 pad=1_1}}, to_apply=add"
TURNED = "p = f32[6] pad(x, c), padding=2_0; ROOT r = {} reduce-window(p, c), window={{size=3 pad=0_2}}, to_apply=add"


def test_windows_are_alike_where_window_and_operand_are() -> None:
    assert told(_begun("5", PADDED), _begun("5", SAME_WINDOW)) == {START}
    assert told(_begun("5", MIDDLE, "f32[6]"), _begun("5", TURNED, "f32[6]")) == {START}
    copied = "y = f32[4] copy(x); z = f32[4] negate(y); u = f32[4] negate(z); " + PADDED.replace("(x,", "(u,")
    assert START not in told(_begun("5", PADDED), _begun("5", copied))


@pytest.mark.parametrize(
    ("kind", "text", "read", "plain"),
    [
        ("f8e4m3fn[]", "-inf", "r = u8[] bitcast-convert(c)", "127"),
        ("f8e5m2fnuz[]", "inf", "r = u8[] bitcast-convert(c)", "128"),
        ("f8e8m0fnu[]", "8e-39", "r = u8[] bitcast-convert(c)", "0"),
        ("f8e8m0fnu[2]", "{1, 8e-39}", "r = u8[2] bitcast-convert(c)", "{127, 0}"),
        ("s32[3]", "7", "r = s32[3] copy(c)", "{7, 7, 7}"),
    ],
)
def test_a_constant_that_xla_reads_otherwise_is_no_number(kind: str, text: str, read: str, plain: str) -> None:
    """A sign of its own, the next scale, zeros behind the first element of all."""
    made = entry(f"c = {kind} constant({text})", f"ROOT {read}")
    unproved(made, constant(read.split()[2], plain), "exact")
    proved(made, made, "exact")


@pytest.mark.parametrize(
    ("kind", "text", "read", "plain"),
    [
        ("f8e4m3[]", "-inf", "r = u8[] bitcast-convert(c)", "248"),
        ("f8e8m0fnu[]", "3", "r = u8[] bitcast-convert(c)", "129"),
        ("s32[1]", "7", "r = s32[1] copy(c)", "{7}"),
        ("c64[]", "(inf, 1.5)", "r = c64[] copy(c)", "(inf, 1.5)"),
    ],
)
def test_a_constant_that_is_read_as_it_is_written_is_a_number(kind: str, text: str, read: str, plain: str) -> None:
    proved(entry(f"c = {kind} constant({text})", f"ROOT {read}"), constant(read.split()[2], plain), "exact")


@pytest.mark.parametrize(
    ("kind", "text", "made", "result", "sound"),
    [
        ("f32", "-0.0", "sign(c)", "-0.0", False),  # 0 where it is folded
        ("f32", "-0.0", "sign(c)", "0.0", False),
        ("f32", "0.0", "sign(c)", "0.0", False),
        ("s32", "-3", "sign(c)", "-1", True),
        ("f32", "-0.0", "negate(c)", "0.0", True),
        ("s8", "-127", "count-leading-zeros(c)", "0", False),
        ("s8", "3", "count-leading-zeros(c)", "6", False),
        ("u8", "129", "not(c)", "126", True),
        ("f8e3m4", "2.5", "round-nearest-even(c)", "2.0", False),
        ("f8e4m3", "2.5", "round-nearest-afz(c)", "3.0", False),
        ("f16", "2.5", "floor(c)", "2.0", True),
    ],
)
def test_what_folds_otherwise_than_it_runs_is_not_computed(
    kind: str, text: str, made: str, result: str, sound: bool
) -> None:
    computed = entry(f"c = {kind}[] constant({text})", f"ROOT r = {kind}[] {made}")
    (proved if sound else unproved)(computed, constant(f"{kind}[]", result), "exact")


def test_bounds_of_a_predicate_that_cross_are_not_computed() -> None:
    names = ("low", "x", "high")
    for kind, bounds, result, sound in (
        ("pred", ("true", "true", "false"), "false", False),
        ("u8", ("1", "1", "0"), "0", True),
    ):
        lines = [f"{name} = {kind}[] constant({b})" for name, b in zip(names, bounds, strict=True)]
        made = entry(*lines, f"ROOT r = {kind}[] clamp(low, x, high)")
        (proved if sound else unproved)(made, constant(f"{kind}[]", result), "exact")


@pytest.mark.parametrize(
    ("x", "y", "direction", "result", "sound"),
    [
        ("-0.0", "0.0", "LT", "true", False),
        ("0.0", "-0.0", "NE", "true", False),
        ("0.0", "0.0", "LE", "true", True),
        ("-0.0", "1.0", "LT", "true", True),
        ("-inf", "-0.0", "LT", "true", True),
        ("0.0", "nan", "LE", "true", False),
    ],
)
def test_a_total_order_of_constants_hangs_on_no_sign_of_a_zero(
    x: str, y: str, direction: str, result: str, sound: bool
) -> None:
    """XLA takes both zeros for one where it folds such a comparison, and for two where it runs it."""
    made = entry(
        f"x = f32[] constant({x})",
        f"y = f32[] constant({y})",
        f"ROOT r = pred[] compare(x, y), direction={direction}, type=TOTALORDER",
    )
    (proved if sound else unproved)(made, constant("pred[]", result), "exact")


@pytest.mark.parametrize(("least", "sound"), [("nan", False), ("-inf", True)])
def test_a_total_order_of_arrays_of_constants_hangs_on_no_nan(least: str, sound: bool) -> None:
    made = entry(
        f"x = f32[2] constant({{{least}, 1}})",
        "y = f32[2] constant({2, 3})",
        "ROOT r = pred[2] compare(x, y), direction=GT, type=TOTALORDER",
    )
    (proved if sound else unproved)(made, constant("pred[2]", f"{{{'false' if sound else 'true'}, false}}"), "exact")


@pytest.mark.parametrize(
    ("kind", "start", "taken", "sound"),
    [
        ("u8", "200", "3", False),
        ("u64", "9223372036854775808", "3", False),
        ("u8", "100", "3", True),
        ("s8", "-2", "1", True),
    ],
)
def test_a_constant_start_is_not_read_as_a_negative_one(kind: str, start: str, taken: str, sound: bool) -> None:
    """Where XLA folds, 200 of 8 bits lies before the array."""
    made = entry(
        "c = f32[3] constant({1, 2, 3})",
        f"i = {kind}[] constant({start})",
        "ROOT r = f32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}",
    )
    (proved if sound else unproved)(made, constant("f32[1]", f"{{{taken}}}"), "exact")


@pytest.mark.parametrize(("kind", "sound"), [("u8", False), ("s8", True)])
def test_a_start_that_is_computed_from_constants_is_none_either(kind: str, sound: bool) -> None:
    made = entry(
        "c = f32[3] constant({1, 2, 3})",
        f"i = {kind}[2] constant({{100, 50}})",
        f"h = {kind}[2] add(i, i)",
        f"s = {kind}[1] slice(h), slice={{[0:1]}}",
        f"j = {kind}[] reshape(s)",
        "ROOT r = f32[1] dynamic-slice(c, j), dynamic_slice_sizes={1}",
    )
    (proved if sound else unproved)(made, constant("f32[1]", "{1}" if sound else "{3}"), "exact")


def test_a_start_that_is_given_is_read_by_its_type() -> None:
    def made(*starts: str) -> str:
        return entry(
            "p = f32[3] parameter(0)",
            "i = u8[] parameter(1)",
            *starts,
            "ROOT r = f32[1] dynamic-slice(p, j), dynamic_slice_sizes={1}",
        )

    least = made("m = u8[] constant(2)", "j = u8[] minimum(i, m)")
    proved(made("j = u8[] copy(i)"), least, "exact")
    unproved(made("j = u8[] copy(i)"), least.replace("constant(2)", "constant(1)"), "exact")


LESS = (
    "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n two = f32[] constant(2)\n zero = f32[] constant(0)\n"
    " none = f32[] divide(zero, zero)\n above = pred[] compare(a, two), direction=GT\n"
    " beyond = pred[] compare(b, two), direction=GT\n x = f32[] select(above, none, a)\n"
    " y = f32[] select(beyond, none, b)\n ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER\n}\n"
)


def test_a_sort_of_constants_is_not_computed() -> None:
    """The NaN of a processor has either sign."""
    given = "c = f32[2] constant({3, 1})"
    made = entry(given, "ROOT r = f32[2] sort(c), dimensions={0}, is_stable=true, to_apply=less", before=LESS)
    unproved(made, constant("f32[2]", "{1, 3}"), "exact")
    proved(made, made, "exact")


@pytest.mark.parametrize(("last", "sound"), [(3, True), (4, False)])
def test_constants_are_counted_only_where_all_of_them_are(last: int, sound: bool) -> None:
    made = one("s32[4]", f"i = s32[4] constant({{0, 1, 2, {last}}})", "ROOT r = s32[4] add(p, i)")
    counted = one("s32[4]", "i = s32[4] iota(), iota_dimension=0", "ROOT r = s32[4] add(p, i)")
    (proved if sound else unproved)(made, counted, "exact")
