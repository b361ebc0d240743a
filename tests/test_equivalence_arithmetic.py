"""Arithmetic on floats that passes rewrite, each with a neighbour that is not proved."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module

DOT = "dot({x}, {w}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
"""A product of x[6,16] and w[16,8]."""


def proved(before: tuple[str, ...], after: tuple[str, ...], tier: str = "rounding") -> bool:
    texts = ("HloModule m\n\nENTRY e {\n" + "\n".join(f"  {line}" for line in t) + "\n}\n" for t in (before, after))
    one, two = map(parse_module, texts)
    return decide(one, two, tier=tier).verdict.value == "proved"  # type: ignore[arg-type]


def narrow(type_: str, result: str) -> tuple[str, ...]:
    return (
        f"x = {type_}[6,16] parameter(0)",
        f"w = {type_}[16,8] parameter(1)",
        f"d = {type_}[6,8] {DOT.format(x='x', w='w')}",
        f"ROOT r = {result}[6,8] convert(d)",
    )


def wide(type_: str, result: str) -> tuple[str, ...]:
    return (
        f"x = {type_}[6,16] parameter(0)",
        f"w = {type_}[16,8] parameter(1)",
        f"xx = {result}[6,16] convert(x)",
        f"ww = {result}[16,8] convert(w)",
        f"ROOT d = {result}[6,8] {DOT.format(x='xx', w='ww')}",
    )


def test_a_contraction_of_narrow_floats_may_be_left_in_f32() -> None:
    assert proved(narrow("bf16", "f32"), wide("bf16", "f32"))


@pytest.mark.parametrize(("type_", "result", "tier"), [("bf16", "f32", "real"), ("s8", "s32", "rounding")])
def test_no_other_contraction_is(type_: str, result: str, tier: str) -> None:
    """Real arithmetic rounds nowhere, and narrow integers wrap round."""
    assert not proved(narrow(type_, result), wide(type_, result), tier)


def loop_of_differences(after: bool, other: bool = False) -> tuple[str, ...]:
    """(b - 1) * 1 + 0 beside b + -1, where b is written in two ways: only below the subtraction they meet."""
    last = "ROOT r = f32[4] add(m, zb)" if not after else "ROOT r = f32[4] add(b, nb)"
    bits = "k = u32[4] add(u, v)" if not after else f"k = u32[4] {'subtract' if other else 'add'}(v, u)"
    return (
        "u = u32[4] parameter(0)",
        "v = u32[4] parameter(1)",
        bits,
        "b = f32[4] bitcast-convert(k)",
        "o = f32[] constant(1)",
        "ob = f32[4] broadcast(o), dimensions={}",
        "nb = f32[4] negate(ob)",
        "s = f32[4] subtract(b, ob)",
        "m = f32[4] multiply(s, ob)",
        "z = f32[] constant(0)",
        "zb = f32[4] broadcast(z), dimensions={}",
        last,
    )


def test_arithmetic_is_read_until_its_atoms_meet() -> None:
    assert proved(loop_of_differences(False), loop_of_differences(True))
    assert not proved(loop_of_differences(False), loop_of_differences(True, other=True))
