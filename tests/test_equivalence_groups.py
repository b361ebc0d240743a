"""Convolutions of groups written as sparse ones, by a dilated dimension or by a mask."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.equivalence.answer import Tier
from hloproof.models.hlo.parser import parse_module


def module(*lines: str) -> str:
    return "HloModule m\n\nENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


BATCHES = module(
    "p = f32[2,5,4] parameter(0)",
    "q = f32[2,3,4] parameter(1)",
    "ROOT r = f32[3,2,4] convolution(p, q), window={size=3}, dim_labels=f0b_i0o->0bf, batch_group_count=2",
).replace("f32[3,2,4]", "f32[3,2,4]")


def dilated(dilation: int = 2, window: str = "3x2", pad: str = "0_0x0_0", turned: str = "") -> str:
    """Groups as an output dimension: at each of its places one place of the window is no hole."""
    return module(
        "p = f32[2,5,4] parameter(0)",
        "q = f32[2,3,4] parameter(1)",
        "a = f32[2,5,2,2] reshape(p)",
        "b = f32[2,3,2,2] reshape(q)",
        *([f"c = f32[2,3,2,2] reverse(b), dimensions={{{turned}}}"] if turned else []),
        f"d = f32[3,2,2,2] convolution(a, {'c' if turned else 'b'}), window={{size={window} pad={pad} "
        f"lhs_dilate=1x{dilation}}}, dim_labels=f01b_i01o->0b1f",
        "ROOT r = f32[3,2,4] reshape(d)",
    )


FEATURES = module(
    "p = f32[1,4] parameter(0)",
    "q = f32[2,6] parameter(1)",
    "ROOT r = f32[1,6] convolution(p, q), dim_labels=bf_io->bf, feature_group_count=2",
)


def masked(per_output: int = 3, per_input: int = 2, filler: str = "0", direction: str = "EQ") -> str:
    """All features of the input, under a mask of those of the output's group."""
    return module(
        "p = f32[1,4] parameter(0)",
        "q = f32[2,6] parameter(1)",
        "t = f32[2,2,6] broadcast(q), dimensions={1,2}",
        "u = f32[4,6] reshape(t)",
        "i = s32[4,6] iota(), iota_dimension=0",
        "o = s32[4,6] iota(), iota_dimension=1",
        f"m = s32[] constant({per_input})",
        "k = s32[4,6] broadcast(m), dimensions={}",
        f"n = s32[] constant({per_output})",
        "l = s32[4,6] broadcast(n), dimensions={}",
        "g = s32[4,6] divide(i, k)",
        "h = s32[4,6] divide(o, l)",
        f"s = pred[4,6] compare(g, h), direction={direction}",
        f"z = f32[] constant({filler})",
        "y = f32[4,6] broadcast(z), dimensions={}",
        "w = f32[4,6] select(s, u, y)",
        "ROOT r = f32[1,6] convolution(p, w), dim_labels=bf_io->bf",
    )


def verdict(before: str, after: str, tier: Tier = "rounding") -> str:
    return decide(parse_module(before), parse_module(after), tier).verdict.value


PAIRS = [
    (BATCHES, dilated(), True),
    (BATCHES, dilated(turned="2"), False),  # the groups of the second operand the other way round
    (BATCHES, dilated(pad="0_0x1_-1"), False),
    (BATCHES, dilated(dilation=1, pad="0_0x0_1"), False),  # no holes: groups are summed
    (FEATURES, masked(), True),
    (FEATURES, masked(per_output=2), False),
    (FEATURES, masked(per_input=1), False),
    (FEATURES, masked(filler="1"), False),
    (FEATURES, masked(direction="NE"), False),
]


@pytest.mark.parametrize(("before", "after", "equal"), PAIRS)
def test_groups(before: str, after: str, equal: bool) -> None:
    assert verdict(before, after) == ("proved" if equal else "unknown")


def test_an_infinity_times_a_hole_is_real_arithmetic() -> None:
    assert verdict(BATCHES, dilated()) == "proved"
    assert verdict(BATCHES, dilated(), "exact") == "unknown"
