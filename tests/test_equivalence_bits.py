"""Bits read in another width: parts are counted from the least significant one, in memory as in bitcast-convert."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module


def module(parameter: str, *lines: str) -> str:
    body = "".join(f"  {line}\n" for line in (f"p = {parameter} parameter(0)", *lines))
    return "HloModule m\n\nor { a = u32[] parameter(0)\n b = u32[] parameter(1)\n ROOT r = u32[] or(a, b)\n}\n" + (
        f"ENTRY e {{\n{body}}}\n"
    )


def split(step: int = 8, mask: int = 255, turned: str = "") -> str:
    """The bytes of four numbers by shifts."""
    return module(
        "s32[4]",
        "w = u32[4] bitcast-convert(p)",
        "b = u32[4,4] broadcast(w), dimensions={0}",
        "i = u32[4,4] iota(), iota_dimension=1",
        f"c = u32[] constant({step})",
        "d = u32[4,4] broadcast(c), dimensions={}",
        "m = u32[4,4] multiply(d, i)",
        "s = u32[4,4] shift-right-logical(b, m)",
        f"k = u32[] constant({mask})",
        "l = u32[4,4] broadcast(k), dimensions={}",
        "n = u32[4,4] and(s, l)",
        "o = u8[4,4] convert(n)",
        f"{'ROOT ' * (not turned)}r = s8[4,4] bitcast-convert(o)",
        *([f"ROOT t = s8[4,4] {turned}"] if turned else []),
    )


def joined(step: int = 8, start: int = 0) -> str:
    """Numbers of their bytes by shifts and a disjunction."""
    return module(
        "u8[4,4]",
        "w = u32[4,4] convert(p)",
        "i = u32[4,4] iota(), iota_dimension=1",
        f"c = u32[] constant({step})",
        "d = u32[4,4] broadcast(c), dimensions={}",
        "m = u32[4,4] multiply(d, i)",
        "s = u32[4,4] shift-left(w, m)",
        f"z = u32[] constant({start})",
        "o = u32[4] reduce(s, z), dimensions={1}, to_apply=or",
        "ROOT r = s32[4] bitcast-convert(o)",
    )


PARTS = module("s32[4]", "ROOT r = s8[4,4] bitcast-convert(p)")
WHOLE = module("u8[4,4]", "ROOT r = s32[4] bitcast-convert(p)")
PAIRS = [
    (PARTS, split(), True),
    (WHOLE, joined(), True),
    (PARTS, module("s32[4]", "ROOT r = s8[4,4] bitcast(p)"), True),
    (WHOLE, module("u8[4,4]", "ROOT r = s32[4] bitcast(p)"), True),
    (
        module("s32[2,4]", "b = s8[2,4,4] bitcast-convert(p)", "ROOT r = s8[2,16] reshape(b)"),
        module("s32[2,4]", "ROOT r = s8[2,16] bitcast(p)"),
        True,
    ),
    (
        module("u16[2,4]", "b = u16[2,2,2] reshape(p)", "ROOT r = f32[2,2] bitcast-convert(b)"),
        module("u16[2,4]", "ROOT r = f32[2,2] bitcast(p)"),
        True,
    ),
    (PARTS, split(step=4), False),
    (PARTS, split(mask=127), False),
    (PARTS, split(turned="reverse(r), dimensions={1}"), False),  # most significant first
    (PARTS, split(turned="transpose(r), dimensions={1,0}"), False),
    (WHOLE, joined(step=4), False),
    (WHOLE, joined(start=1), False),
    (
        module("s32[2,4]", "b = s8[2,4,4] bitcast-convert(p)", "ROOT r = s8[2,16] reshape(b)"),
        module("s32[2,4]", "ROOT r = s8[2,16]{0,1} bitcast(p)"),
        False,
    ),
    (
        module("u16[2,4]", "b = u16[2,2,2] reshape(p)", "ROOT r = f32[2,2] bitcast-convert(b)"),
        module("u16[2,4]", "ROOT r = f32[2,2]{0,1} bitcast(p)"),
        False,
    ),
    (
        module("u16[2,4]", "b = u16[2,2,2] reshape(p)", "ROOT r = f32[2,2] bitcast-convert(b)"),
        module(
            "u16[2,4]",
            "a = f16[2,4] bitcast-convert(p)",
            "b = f16[2,2,2] reshape(a)",
            "s = f16[2,2,1] slice(b), slice={[0:2], [0:2], [0:1]}",
            "c = f16[2,2] reshape(s)",
            "ROOT r = f32[2,2] convert(c)",
        ),
        False,
    ),
]


@pytest.mark.parametrize(("before", "after", "equal"), PAIRS)
def test_widths(before: str, after: str, equal: bool) -> None:
    answer = decide(parse_module(before), parse_module(after)).verdict.value
    assert answer == ("proved" if equal else "unknown")
