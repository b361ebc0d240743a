"""What constants alone overflow to is no real number and does not cancel; what a bound says is held does."""

from __future__ import annotations

import pytest
from red_pairs import entry, proved, unproved

FUNCTIONS = (
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
    "largest { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"
    "square { a = f32[] parameter(0)\n ROOT r = f32[] multiply(a, a)\n}\n"
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


@pytest.mark.parametrize(
    ("lines", "kind", "sound"),
    [
        ("c = f32[2] constant({70000, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({-70000, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({65504, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = f32[2] constant({65519, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = f32[2] constant({65520, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = f32[2] constant({224, 1}); e = f8e4m3fn[2] convert(c)", "f8e4m3fn", True),
        ("c = f32[2] constant({500, 1}); e = f8e4m3fn[2] convert(c)", "f8e4m3fn", False),
        ("c = s32[2] constant({70000, 1}); e = f16[2] convert(c)", "f16", False),
        ("c = s32[2] constant({-9, 1}); e = f16[2] convert(c)", "f16", True),
        ("c = s32[2] constant({-9, 1}); u = u32[2] convert(c); e = f16[2] convert(u)", "f16", False),
        ("c = u32[2] constant({9, 1}); u = u32[2] negate(c); e = f16[2] convert(u)", "f16", False),
        ("c = s32[2] constant({9, 1}); u = s32[2] multiply(c, c); e = f32[2] convert(u)", "f32", True),
        ("c = f64[2] constant({1e200, 1}); e = f64[2] multiply(c, c)", "f64", False),
        ("c = bf16[2] constant({3e38, 1}); e = bf16[2] add(c, c)", "bf16", False),
        ("c = bf16[2] constant({1e38, 1}); e = bf16[2] add(c, c)", "bf16", True),
        ("p = f32[2] parameter(0); e = f32[2] multiply(p, p)", "f32", True),
        ("p = f32[2] parameter(0); g = f32[2] exponential(p); e = f32[2] multiply(p, g)", "f32", True),
    ],
)
def test_a_bound_is_rounded_as_the_type_has_it(lines: str, kind: str, sound: bool) -> None:
    zeros = entry(*(p for p in lines.split("; ") if "parameter" in p), f"z = {kind}[] constant(0)",
                  f"ROOT r = {kind}[2] broadcast(z), dimensions={{}}")  # fmt: skip
    (proved if sound else unproved)(zeros, cancelled(lines, kind), "real")
