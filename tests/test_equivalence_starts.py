"""Starts of slices that are computed: clamps meet and sums are written out where they cannot leave the type; where they
can, nothing is proved."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict


def sliced(kind: str, start: str) -> Module:
    """Two elements of ten, from the start `k`."""
    constants = "".join(f" c{n} = {kind}[] constant({n})\n" for n in (0, 1, 2, 6, 7, 8))
    return parse_module(
        f"HloModule m\nENTRY e {{\n x = f32[10] parameter(0)\n i = {kind}[] parameter(1)\n j = {kind}[] parameter(2)\n"
        f"{constants}{start}\n"
        " ROOT r = f32[2] dynamic-slice(x, k), dynamic_slice_sizes={2}\n}\n"
    )


PROVED = {
    "a bound from above, unsigned": ("u32", " k = u32[] minimum(i, c8)", " k = u32[] add(i, c0)"),
    "both bounds": ("s32", " k = s32[] clamp(c0, i, c8)", " k = s32[] add(i, c0)"),
    "bounds one after another": (
        "s32",
        " l = s32[] maximum(i, c0)\n k = s32[] minimum(l, c8)",
        " h = s32[] minimum(c8, i)\n k = s32[] maximum(c0, h)",
    ),
    "a looser bound": ("s32", " l = s32[] clamp(c0, i, c8)\n k = s32[] minimum(l, c8)", " k = s32[] minimum(i, c8)"),
    "a sum that stays inside": (
        "s32",
        " a = s32[] clamp(c0, i, c6)\n b = s32[] clamp(c0, j, c2)\n k = s32[] add(a, b)",
        " b = s32[] clamp(c0, j, c2)\n a = s32[] clamp(c0, i, c6)\n n = s32[] subtract(b, c1)\n m = s32[] add(a, c1)\n"
        " k = s32[] add(n, m)",
    ),
    "a wider type": ("s8", " k = s32[] convert(i)", " k = s8[] add(i, c0)"),
    "an unsigned number in a wider signed type": ("u8", " k = s32[] convert(i)", " k = u8[] add(i, c0)"),
    "a multiple that stays inside": (
        "s32",
        " a = s32[] clamp(c0, i, c2)\n k = s32[] multiply(a, c2)",
        " a = s32[] clamp(c0, i, c2)\n k = s32[] add(a, a)",
    ),
}
DIFFERENT = {
    "a sum that wraps around": ("s32", " k = s32[] add(i, c1)", " m = s32[] minimum(i, c7)\n k = s32[] add(m, c1)"),
    "a sum that wraps around, unsigned": (
        "u32",
        " k = u32[] add(i, c1)",
        " m = u32[] minimum(i, c7)\n k = u32[] add(m, c1)",
    ),
    "a difference below zero, unsigned": (
        "u32",
        " k = u32[] subtract(i, c1)",
        " m = u32[] maximum(i, c1)\n k = u32[] subtract(m, c1)",
    ),
    "a multiple that wraps around": ("s32", " k = s32[] multiply(i, c2)", " m = s32[] clamp(c0, i, c6)\n"
        " k = s32[] multiply(m, c2)"),
    "a negation of the smallest number": (
        "s8",
        " n = s8[] negate(i)\n k = s8[] negate(n)",
        " a = s8[] maximum(i, c1)\n k = s8[] add(a, c0)",
    ),
    "a narrower type": ("s32", " k = s8[] convert(i)", " k = s32[] add(i, c0)"),
    "an unsigned type for a signed one": ("s32", " k = u32[] convert(i)", " k = s32[] add(i, c0)"),
    "a signed type for an unsigned one": ("u32", " k = s32[] convert(i)", " k = u32[] add(i, c0)"),
    "a bound too tight": ("s32", " k = s32[] clamp(c0, i, c7)", " k = s32[] add(i, c0)"),
    "a bound from below": ("s32", " k = s32[] maximum(i, c1)", " k = s32[] add(i, c0)"),
    "bounds that cross": ("s32", " l = s32[] maximum(i, c7)\n k = s32[] minimum(l, c6)", " k = s32[] minimum(i, c6)"),
    "a sum of starts that were not clamped": (
        "s32",
        " k = s32[] add(i, j)",
        " a = s32[] clamp(c0, i, c6)\n b = s32[] clamp(c0, j, c2)\n k = s32[] add(a, b)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVED)
def test_starts_that_are_equal_after_clamping_are_proved(name: str) -> None:
    kind, before, after = PROVED[name]
    result = decide(sliced(kind, before), sliced(kind, after), "exact")
    assert result.verdict is Verdict.PROVED, result.reason


@pytest.mark.parametrize("name", DIFFERENT)
def test_starts_that_differ_somewhere_are_not_proved(name: str) -> None:
    kind, before, after = DIFFERENT[name]
    assert decide(sliced(kind, before), sliced(kind, after)).verdict is Verdict.UNKNOWN
