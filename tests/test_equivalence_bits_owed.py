"""What an operation reads the bits of is owed bit for bit at every tier: equal real numbers are not enough."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.equivalence.bits_read import ZEROS
from hloproof.models.hlo.parser import parse_module

ZERO = ("n = f32[] constant(0)", "z = f32[4] broadcast(n), dimensions={}")
ORDERS = "order { a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
TOTAL = ORDERS + " ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n"
LOWEST_BITS = (
    ORDERS + " o = s32[] constant(1)\n x = s32[] bitcast-convert(a)\n y = s32[] bitcast-convert(b)\n"
    " v = s32[] and(x, o)\n w = s32[] and(y, o)\n ROOT r = pred[] compare(v, w), direction=LT\n}\n"
)
TURNED = (
    ORDERS + " z = s32[] constant(0)\n m = s32[] constant(2147483647)\n"
    " x = s32[] bitcast-convert(a)\n nx = pred[] compare(x, z), direction=LT\n tx = s32[] xor(m, x)\n"
    " sx = s32[] select(nx, tx, x)\n y = s32[] bitcast-convert(b)\n ny = pred[] compare(y, z), direction=LT\n"
    " ty = s32[] xor(y, m)\n sy = s32[] select(ny, ty, y)\n ROOT r = pred[] compare(sx, sy), direction=LT\n}\n"
)


def plus_zero(*lines: str, kind: str = "f32[4]") -> tuple[str, str]:
    """What is done with f, which is p; and with p + 0, which is 0 where p is -0.0."""
    return one(kind, *ZERO, f"f = {kind} copy(p)", *lines), one(kind, *ZERO, f"f = {kind} add(p, z)", *lines)


def regrouped(*lines: str) -> tuple[str, str]:
    """With (p * q) * s, and with p * (q * s)."""
    given = ("p = f32[4] parameter(0)", "q = f32[4] parameter(1)", "s = f32[4] parameter(2)")
    return (
        entry(*given, "a = f32[4] multiply(p, q)", "f = f32[4] multiply(a, s)", *lines),
        entry(*given, "a = f32[4] multiply(q, s)", "f = f32[4] multiply(p, a)", *lines),
    )


def placed(order: str) -> tuple[str, str]:
    """The places of f, sorted."""
    lines = (
        "i = s32[4] iota(), iota_dimension=0",
        "t = (f32[4], s32[4]) sort(f, i), dimensions={0}, is_stable=true, to_apply=order",
        "ROOT r = s32[4] get-tuple-element(t), index=1",
    )
    before, after = plus_zero(*lines)
    return before.replace("ENTRY", order + "ENTRY"), after.replace("ENTRY", order + "ENTRY")


BITS = {
    "a sum with zero": plus_zero("ROOT r = s32[4] bitcast-convert(f)"),
    "a sum with zero, in place": plus_zero("ROOT r = s32[4] bitcast(f)"),
    "a product": regrouped("ROOT r = s32[4] bitcast-convert(f)"),
    "halves": plus_zero("ROOT r = u16[4,2] bitcast-convert(f)"),
    "bytes in place": plus_zero("ROOT r = u8[16] bitcast(f)"),
    "a mask of the bits": plus_zero(
        "i = s32[4] bitcast-convert(f)",
        "m = s32[] constant(-2147483648)",
        "b = s32[4] broadcast(m), dimensions={}",
        "ROOT r = s32[4] and(i, b)",
    ),
    "a test of the bits": plus_zero(
        "i = s32[4] bitcast-convert(f)",
        "m = s32[] constant(0)",
        "b = s32[4] broadcast(m), dimensions={}",
        "c = pred[4] compare(i, b), direction=EQ",
        "ROOT r = f32[4] select(c, f, p)",
    ),
    "an index": plus_zero(
        "s = f32[1] slice(f), slice={[0:1]}",
        "i = s32[1] bitcast-convert(s)",
        "j = s32[] reshape(i)",
        "ROOT r = f32[1] dynamic-slice(p, j), dynamic_slice_sizes={1}",
    ),
    "a sort by the lowest bit": placed(LOWEST_BITS),
}


@pytest.mark.parametrize(("before", "after"), BITS.values(), ids=BITS)
def test_bits_of_numbers_that_are_equal_over_the_reals_only_are_not_proved(before: str, after: str) -> None:
    unproved(before, after, "rounding")


NUMBERS = {
    "the sum alone": plus_zero("ROOT r = f32[4] negate(f)"),
    "the product alone": regrouped("ROOT r = f32[4] negate(f)"),
    "a number in another type": regrouped("ROOT r = s32[4] convert(f)"),
}


@pytest.mark.parametrize(("before", "after"), NUMBERS.values(), ids=NUMBERS)
def test_the_numbers_beside_them_are_proved(before: str, after: str) -> None:
    proved(before, after, "real")


def test_bits_that_follow_exactly_are_proved_beside_reals_that_do_not() -> None:
    """One result takes a law of the reals, the other one's bits take none."""
    before, after = plus_zero(
        "g = f32[4] copy(p)", "i = s32[4] bitcast-convert(g)", "ROOT t = (f32[4], s32[4]) tuple(f, i)"
    )
    proved(before, after, "real")
    unproved(before, after.replace("copy(p)", "add(p, z)"), "real")


ORDERED = {
    "a comparison": plus_zero("ROOT r = pred[4] compare(f, z), direction=LT, type=TOTALORDER"),
    "a sort": placed(TOTAL),
    "a sort that writes the order out": placed(TURNED),
}


@pytest.mark.parametrize(("before", "after"), ORDERED.values(), ids=ORDERED)
def test_a_total_order_over_the_reals_takes_both_zeros_for_one_and_says_so(before: str, after: str) -> None:
    unproved(before, after, "exact")
    found = decide(parse_module(before), parse_module(after), "real", 5.0)
    assert found.verdict == "proved" and (ZEROS, "real") in found.axioms
    same = decide(parse_module(before), parse_module(before), "rounding", 5.0)
    assert same.verdict == "proved" and not same.axioms
