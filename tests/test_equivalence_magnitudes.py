"""What constants alone overflow to is no real number and does not cancel; what a bound says is held does."""

from __future__ import annotations

import pytest
from red_pairs import entry, proved, unproved

FUNCTIONS = (
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
    "scaled { a = f32[] parameter(0)\n b = f32[] parameter(1)\n k = f32[] constant(1e-20)\n c = f32[] multiply(a, k)\n "
    "d = f32[] multiply(b, k)\n ROOT r = f32[] add(c, d)\n}\n"
    "partly { a = f32[] parameter(0)\n b = f32[] parameter(1)\n k = f32[] constant(1e-20)\n d = f32[] multiply(b, k)\n "
    "ROOT r = f32[] add(a, d)\n}\n"
    "product { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] multiply(a, b)\n}\n"
    "largest { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"
    "square { a = f32[] parameter(0)\n ROOT r = f32[] multiply(a, a)\n}\n"
    "opposite { a = f32[] parameter(0)\n ROOT r = f32[] negate(a)\n}\n"
    "branched { a = f32[] parameter(0)\n z = f32[] constant(0)\n p = pred[] compare(a, z), direction=GT\n "
    "ROOT r = f32[] conditional(p, a, a), true_computation=square, false_computation=opposite\n}\n"
    "below { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT\n}\n"
)
BIG, SMALL = "c = f32[2] constant({3e38, 2e38}); ", "c = f32[2] constant({3, 2}); "
SQUARED = "; e = f32[2] multiply(g, g)"
ROWS = {
    "of two numbers": ("g = f32[2] copy(c)" + SQUARED, True),
    "negated": ("g = f32[2] negate(c)" + SQUARED, True),
    "turned": ("g = f32[2] reverse(c), dimensions={0}" + SQUARED, True),
    "rounded": ("g = f32[2] floor(c)" + SQUARED, True),
    "chosen": ("p = pred[2] constant({1, 0}); g = f32[2] select(p, c, c)" + SQUARED, True),
    "bounded from below": (
        "n = f32[] constant(-inf); b = f32[2] broadcast(n), dimensions={}; g = f32[2] maximum(c, b)" + SQUARED, True,
    ),
    "gathered": (
        "i = s32[2] constant({1, 0}); g = f32[2] gather(c, i), offset_dims={}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}" + SQUARED, True,
    ),
    "written over": ("i = s32[] constant(0); g = f32[2] dynamic-update-slice(c, c, i)" + SQUARED, True),
    "sorted": ("g = f32[2] sort(c), dimensions={0}, to_apply=below" + SQUARED, False),
    "mapped": ("e = f32[2] map(c), dimensions={0}, to_apply=square", False),
    "mapped by branches": ("e = f32[2] map(c), dimensions={0}, to_apply=branched", False),
    "divided": ("k = f32[] constant(1e-5); b = f32[2] broadcast(k), dimensions={}; e = f32[2] divide(c, b)", True),
    "added": ("e = f32[2] add(c, c)", True),
    "subtracted": ("m = f32[2] negate(c); e = f32[2] subtract(c, m)", True),
    "of a function": ("g = f32[2] cbrt(c); e = f32[2] exponential(g)", False),
    "summed": (
        "n = f32[] constant(0); s = f32[] reduce(c, n), dimensions={0}, to_apply=sum; "
        "e = f32[2] broadcast(s), dimensions={}", False,
    ),
    "the largest": (
        "n = f32[] constant(-inf); s = f32[] reduce(c, n), dimensions={0}, to_apply=largest; "
        "e0 = f32[] multiply(s, s); e = f32[2] broadcast(e0), dimensions={}", False,
    ),
}  # fmt: skip
SPREAD = "k = f32[] constant({}); b = f32[2] broadcast(k), dimensions={{}}"
COSINES = "c = f32[2] constant({0, 0.001}); g = f32[2] cosine(c)"
ZEROS = entry("z = f32[] constant(0)", "ROOT r = f32[2] broadcast(z), dimensions={}")


def cancelled(lines: str, kind: str = "f32") -> str:
    return entry(*lines.split("; "), f"ROOT r = {kind}[2] subtract(e, e)", before=FUNCTIONS)


@pytest.mark.parametrize("name", ROWS)
def test_what_constants_alone_overflow_to_is_no_number(name: str) -> None:
    """The first of the two, or both, are infinite; of a function and of a fold no bound is told."""
    lines, bounded = ROWS[name]
    unproved(ZEROS, cancelled(BIG + lines), "real")
    (proved if bounded else unproved)(ZEROS, cancelled(SMALL + lines), "real")


def test_a_sum_of_one_number_is_no_number_where_it_overflows() -> None:
    unproved(ZEROS, cancelled("c = f32[2] constant({3e38, 3e38}); " + ROWS["summed"][0]), "real")


CUT_OFF = "k = f32[] constant(0.5); i = s32[] convert(k); j = f32[] convert(i); b = f32[2] broadcast(j), dimensions={}"
COUNTED = (
    "k = s32[] constant({}); b = s32[2] broadcast(k), dimensions={{}}; i = s32[2] iota(), iota_dimension=0; "
    "s = s32[2] add(i, b)"
)


@pytest.mark.parametrize(
    ("lines", "kind", "sound"),
    [
        ("c = f32[2] constant({70000, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({1, 70000}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({-70000, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({65504, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = f32[2] constant({65519, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = f32[2] constant({65520, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({224, 1}); e = f8e4m3fn[2] convert(c)", "f8e4m3fn", True),
        ("c = f32[2] constant({500, 1}); e = f8e4m3fn[2] convert(c)", "f8e4m3fn", False),
        ("c = s32[2] constant({70000, 1}); e = f16[2] convert(c)", "f16", False),
        (f"{COUNTED.format(-60000)}; e = f16[2] convert(s)", "f16", True),
        (f"{COUNTED.format(-70000)}; e = f16[2] convert(s)", "f16", False),
        ("c = s32[2] constant({-9, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = s32[2] constant({-9, 1}); u = u32[2] convert(c); e = f16[2] convert(u)", "f16", False),
        ("c = u32[2] constant({9, 1}); u = u32[2] negate(c); e = f16[2] convert(u)", "f16", False),
        ("c = s32[2] constant({9, 1}); u = s32[2] multiply(c, c); e = f32[2] convert(u)", "f32", True),
        ("c = f64[2] constant({1e200, 1}); e = f64[2] multiply(c, c)", "f64", False),
        ("c = bf16[2] constant({3e38, 1}); e = bf16[2] add(c, c)", "bf16", False),
        ("c = bf16[2] constant({1e38, 1}); e = bf16[2] add(c, c)", "bf16", True),
        (f"c = f32[2] constant({{1e-10, 2e-10}}); {SPREAD.format('1e-39')}; e = f32[2] divide(c, b)", "f32", False),
        (f"c = f32[2] constant({{1e-10, 2e-10}}); {SPREAD.format('1e-37')}; e = f32[2] divide(c, b)", "f32", True),
        (f"c = f32[2] constant({{1, 2}}); {CUT_OFF}; e = f32[2] divide(c, b)", "f32", False),
        (f"{COSINES}; {SPREAD.format('3e38')}; h = f32[2] multiply(g, b); e = f32[2] add(h, h)", "f32", False),
        (f"{COSINES}; {SPREAD.format('3')}; h = f32[2] multiply(g, b); e = f32[2] add(h, h)", "f32", True),
        ("c = f32[2] constant({1, nan}); e = f32[2] multiply(c, c)", "f32", False),
        ("p = f32[2] parameter(0); e = f32[2] multiply(p, p)", "f32", True),
        ("p = f32[2] parameter(0); g = f32[2] exponential(p); e = f32[2] multiply(p, g)", "f32", True),
    ],
)
def test_a_bound_is_rounded_as_the_type_has_it(lines: str, kind: str, sound: bool) -> None:
    zeros = entry(*(p for p in lines.split("; ") if "parameter" in p), f"z = {kind}[] constant(0)",
                  f"ROOT r = {kind}[2] broadcast(z), dimensions={{}}")  # fmt: skip
    (proved if sound else unproved)(zeros, cancelled(lines, kind), "real")


ONES = "o = f16[] constant(1); one = f16[2] broadcast(o), dimensions={}"
HALVES = "sumh { a = f16[] parameter(0)\n b = f16[] parameter(1)\n ROOT r = f16[] add(a, b)\n}\n"
DOT = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
SUM = "n = f32[] constant(0); s = f32[{}] reduce({}, n), dimensions={{{}}}, to_apply=sum"
ROUNDED = ("f32[2]", "e = f32[2] copy(c)", "h = f16[2] convert(c); e = f32[2] convert(h)", "{1e6, 2e6}")
REGROUPED: dict[str, tuple[str, str, str, str]] = {
    "powers of e": (
        "f32[2]", "m = f32[2] negate(c); s = f32[2] add(c, m); e = f32[2] exponential(s)",
        "m = f32[2] negate(c); s = f32[2] exponential(c); t = f32[2] exponential(m); e = f32[2] multiply(s, t)",
        "{1000, 1000}",
    ),
    "one power of e": (
        "f32[2]", "s = f32[2] add(x, c); e = f32[2] exponential(s)",
        "s = f32[2] exponential(x); t = f32[2] exponential(c); e = f32[2] multiply(s, t)", "{1000, 900}",
    ),
    "reciprocal": (
        "f16[2]", "y = f16[2] convert(x); e = f16[2] divide(y, c)",
        f"y = f16[2] convert(x); {ONES}; i = f16[2] divide(one, c); e = f16[2] multiply(y, i)", "{1e-7, 2e-7}",
    ),
    "rounded there and back": ROUNDED,
    "rounded beside a parameter": (
        ROUNDED[0], f"{ROUNDED[1]}; q = f32[2] multiply(e, x)", f"{ROUNDED[2]}; q = f32[2] multiply(e, x)", ROUNDED[3],
    ),
    "dot in another type": (
        "f16[2]", f"f = f32[2] convert(c); e = f32[] dot(f, f), {DOT}",
        f"d = f16[] dot(c, c), {DOT}; e = f32[] convert(d)", "{300, 300}",
    ),
    "factors of another type": (
        "f32[2]", f"e = f16[] dot(c, x), {DOT}",
        "f = f16[2] convert(c); y = f16[2] convert(x); g = f16[2] multiply(f, y); n = f16[] constant(0); "
        "e = f16[] reduce(g, n), dimensions={0}, to_apply=sumh", "{1e6, 1e6}",
    ),
    "sums by rows": (
        "f32[2,2]", SUM.format("2", "c", "0") + "; e = f32[] reduce(s, n), dimensions={0}, to_apply=sum",
        SUM.format("2", "c", "1") + "; e = f32[] reduce(s, n), dimensions={0}, to_apply=sum",
        "{{3e38, 3e38}, {-3e38, -3e38}}",
    ),
    "a sum written out": (
        "f32[3]", "p = f32[1] slice(c), slice={[0:1]}; q = f32[1] slice(c), slice={[1:2]}; r = f32[1] slice(c), "
        "slice={[2:3]}; s = f32[1] add(p, r); t = f32[1] add(s, q); e = f32[] reshape(t)",
        f"{SUM.format('', 'c', '0')}; e = f32[] copy(s)", "{3e38, 2e38, -3e38}",
    ),
    "a factor of a sum": (
        "f32[2]", "y = f32[] constant(0.001); z = f32[] reduce(x, y), dimensions={0}, to_apply=sum; b = f32[2] "
        f"broadcast(z), dimensions={{}}; p = f32[2] multiply(b, c); {SUM.format('', 'p', '0')}; e = f32[] copy(s)",
        "y = f32[] constant(0.001); z = f32[] reduce(x, y), dimensions={0}, to_apply=sum; "
        f"{SUM.format('', 'c', '0')}; e = f32[] multiply(z, s)", "{3e38, 2e38}",
    ),
    "a sum of sums": (
        "f32[2,2]", "b = f32[2,2] broadcast(x), dimensions={0}; p = f32[2,2] multiply(b, c); "
        f"{SUM.format('', 'p', '0,1')}; e = f32[] copy(s)",
        f"{SUM.format('2', 'c', '1')}; p = f32[2] multiply(x, s); e = f32[] reduce(p, n), dimensions={{0}}, "
        "to_apply=sum",
        "{{3e38, 2e38}, {3e38, 1e38}}",
    ),
    "constants beside a parameter": (
        "f32[2]", f"k = f32[4] concatenate(x, c), dimensions={{0}}; {SUM.format('', 'k', '0')}; e = f32[] copy(s)",
        f"{SUM.format('', 'x', '0')}; t = f32[] reduce(c, n), dimensions={{0}}, to_apply=sum; e = f32[] add(s, t)",
        "{3e38, 3e38}",
    ),
    "constants beside a parameter by rows": (
        "f32[2]", f"k = f32[4] concatenate(x, c), dimensions={{0}}; q = f32[2,2] reshape(k); "
        f"{SUM.format('2', 'q', '0')}; e = f32[] reduce(s, n), dimensions={{0}}, to_apply=sum",
        f"k = f32[4] concatenate(x, c), dimensions={{0}}; q = f32[2,2] reshape(k); "
        f"{SUM.format('2', 'q', '1')}; e = f32[] reduce(s, n), dimensions={{0}}, to_apply=sum",
        "{3e38, 3e38}",
    ),
    "constants in windows": (
        "f32[2]", f"k = f32[4] concatenate(x, c), dimensions={{0}}; {SUM.format('', 'k', '0')}; e = f32[] copy(s)",
        "k = f32[4] concatenate(x, c), dimensions={0}; n = f32[] constant(0); s = f32[2] reduce-window(k, n), "
        "window={size=2 stride=2}, to_apply=sum; e = f32[] reduce(s, n), dimensions={0}, to_apply=sum",
        "{3e38, 3e38}",
    ),
    "products beside one of parameters": (
        "f32[2]", f"k = f32[4] concatenate(x, c), dimensions={{0}}; e = f32[] dot(k, k), {DOT}",
        f"s = f32[] dot(x, x), {DOT}; t = f32[] dot(c, c), {DOT}; e = f32[] add(s, t)", "{1.5e19, 1.5e19}",
    ),
    "reciprocal of a number below the smallest": (
        "f32[2]", "e = f32[2] divide(x, c)",
        "o = f32[] constant(1); b = f32[2] broadcast(o), dimensions={}; i = f32[2] divide(b, c); "
        "e = f32[2] multiply(x, i)", "{1e-40, 1}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REGROUPED)
def test_what_constants_alone_overflow_to_is_not_regrouped(name: str) -> None:
    """One side is infinite, the other is not; where parameters stand for the constants both are one real number."""
    shape, before, after, numbers = REGROUPED[name]
    for held, ask in ((f"constant({numbers})", unproved), ("parameter(1)", proved)):
        given = f"x = f32[2] parameter(0); c = {shape} {held}; "
        ask(_rooted(given + before), _rooted(given + after), "rounding")


def _rooted(lines: str) -> str:
    *first, last = lines.split("; ")
    return entry(*first, f"ROOT {last}", before=FUNCTIONS + HALVES)


def test_a_number_that_constants_choose_has_a_reciprocal() -> None:
    """A choice of sums is divided by as images are resized; 1 divided by 1e-40 is infinite."""
    lines = (
        "x = f32[2] parameter(0); c = f32[2,2] constant({{{{1, 2}}, {{4, 5}}}}); n = f32[] constant(0); "
        "s = f32[2] reduce(c, n), dimensions={{1}}, to_apply=sum; t = f32[2] constant({{5, 5}}); "
        "p = pred[2] compare(s, t), direction=LT; k = f32[2] constant({{{0}, {0}}}); "
        "o = f32[2] select(p, s, k); d = f32[2] select(p, {1}); "
    )
    product = "w = f32[2] constant({1, 1}); i = f32[2] divide(w, d); e = f32[2] multiply(x, i)"
    for number, ask in (("1e-40", unproved), ("0.5", proved)):
        for chosen in ("k, s", "s, k", "o, s", "s, o"):
            given = lines.format(number, chosen)
            ask(_rooted(given + "e = f32[2] divide(x, d)"), _rooted(given + product), "real")


COMPUTED = {
    "a product": "k = f32[2] multiply(g, g)",
    "a negated product": "a = f32[2] multiply(g, g); k = f32[2] negate(a)",
    "a conversion": "a = f64[2] constant({1e-40, 1e-40}); k = f32[2] convert(a)",
    "several numbers": "k = f32[2] constant({1, 1e-40})",
    "two arrays": "a = f32[1] constant({1}); b = f32[1] constant({1e-40}); k = f32[2] concatenate(a, b), "
    "dimensions={0}",
    "a function": "k = f32[2] map(g), dimensions={0}, to_apply=square",
    "a function of two": "a = f32[2] constant({1e-40, 1e-40}); b = f32[2] constant({0, 0}); k = f32[2] map(a, b), "
    "dimensions={0}, to_apply=sum",
    "what is added where it belongs": "a = f32[2] constant({0, 0}); b = f32[2] constant({1e-40, 1e-40}); "
    "j = s32[2] constant({0, 1}); k = f32[2] scatter(a, j, b), update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
    "the largest": "a = f32[2,1] constant({{1e-40}, {1e-40}}); k = f32[2] reduce(a, n), dimensions={1}, "
    "to_apply=largest",
    "a product of many": "a = f32[2,2] constant({{1e-20, 1e-20}, {1e-20, 1e-20}}); m = f32[] constant(1); "
    "k = f32[2] reduce(a, m), dimensions={1}, to_apply=product",
    "a sum of what is scaled": "a = f32[2,1] constant({{1e-20}, {1e-20}}); k = f32[2] reduce(a, n), dimensions={1}, "
    "to_apply=scaled",
    "a sum of what is scaled and what is not": "a = f32[2,1] constant({{1e-20}, {1e-20}}); "
    "k = f32[2] reduce(a, n), dimensions={1}, to_apply=partly",
    "a product of choices": "o = f32[2] select(p, s, g); k = f32[2] multiply(o, o)",
}


def test_what_constants_compute_and_choose_has_a_reciprocal() -> None:
    """A number that is chosen was looked at, and not one that is computed first. What is given from outside, and what
    constants sum up to, is taken for a number that has one."""
    lines = (
        "x = f32[2] parameter(0); y = f32[2] parameter(1); c = f32[2,2] constant({{1, 2}, {4, 5}}); "
        "n = f32[] constant(0); s = f32[2] reduce(c, n), dimensions={1}, to_apply=sum; t = f32[2] constant({5, 5}); "
        "p = pred[2] compare(s, t), direction=LT; g = f32[2] constant({1e-20, 1e-20}); "
    )
    product = "w = f32[2] constant({1, 1}); i = f32[2] divide(w, d); e = f32[2] multiply(x, i)"
    given = {"the square of a parameter": "k = f32[2] multiply(y, y)", "a sum": "k = f32[2] copy(s)"}
    for computed in (COMPUTED | given).values():
        whole = f"{lines}{computed}; d = f32[2] select(p, s, k); "
        ask = proved if computed in given.values() else unproved
        ask(_rooted(whole + "e = f32[2] divide(x, d)"), _rooted(whole + product), "real")
    # Of types that are computed in f32 a sum may be subnormal, and 1 divided by it is too large for them.
    whole = f"{lines}{given['a sum']}; d = f32[2] select(p, s, k); "
    narrow = whole.replace("f32", "f16").replace("1e-20", "0.5").replace("=sum", "=sumh")
    quotient, product = (_rooted(narrow + e.replace("f32", "f16")) for e in ("e = f32[2] divide(x, d)", product))
    unproved(quotient, product, "real")


def test_a_function_may_give_more_than_what_it_is_applied_to() -> None:
    """Of one that is not elementwise nothing is known."""
    function = "dotted { a = f32[] parameter(0)\n b = f32[1] reshape(a)\n ROOT r = f32[] dot(b, b), " + DOT + "\n}\n"
    for applied, number, ask in (("dotted", "1e30", unproved), ("square", "1e30", unproved), ("square", "3", proved)):
        lines = (
            "x = f32[2] parameter(0)", f"c = f32[2] constant({{{number}, 1}})",
            f"k = f32[2] map(c), dimensions={{0}}, to_apply={applied}", "u = f32[2] multiply(k, x)",
            "q = f32[2] subtract(u, u)", "ROOT r = f32[2] add(x, q)",
        )  # fmt: skip
        before = entry("x = f32[2] parameter(0)", "ROOT r = f32[2] copy(x)")
        ask(before, entry(*lines, before=FUNCTIONS + function), "real")
