"""Rows of a state turned by one element, from the last to the first: row 79 - i is written in several ways. Along the
one row of what is written back the index is 0, whatever the start is computed from, so positions in it are the same."""

from __future__ import annotations

from hloproof.equivalence import decide, recheck
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

STATES = "s32[], f32[80,8], f32[80,8]"


def rows(place: str) -> Module:
    return parse_module(
        f"HloModule m\n"
        f"body {{\n p = ({STATES}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
        f" x = f32[80,8] get-tuple-element(p), index=1\n y = f32[80,8] get-tuple-element(p), index=2\n"
        f" one = s32[] constant(1)\n zero = s32[] constant(0)\n j = s32[] add(i, one)\n last = s32[] constant(79)\n"
        f" {place}\n"
        f" row = f32[1,8] dynamic-slice(x, at, zero), dynamic_slice_sizes={{1,8}}\n flat = f32[8] reshape(row)\n"
        f" tail = f32[7] slice(flat), slice={{[1:8]}}\n first = f32[1,1] slice(row), slice={{[0:1], [0:1]}}\n"
        f" head = f32[1] reshape(first)\n turned = f32[8] concatenate(tail, head), dimensions={{0}}\n"
        f" new = f32[1,8] reshape(turned)\n out = f32[80,8] dynamic-update-slice(y, new, at, zero)\n"
        f" ROOT t = ({STATES}) tuple(j, x, out)\n}}\n"
        f"cond {{\n p = ({STATES}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(80)\n"
        f" ROOT less = pred[] compare(i, n), direction=LT\n}}\n"
        f"ENTRY e {{\n x = f32[80,8] parameter(0)\n y = f32[80,8] parameter(1)\n zero = s32[] constant(0)\n"
        f" init = ({STATES}) tuple(zero, x, y)\n loop = ({STATES}) while(init), condition=cond, body=body\n"
        f" ROOT r = f32[80,8] get-tuple-element(loop), index=2\n}}\n"
    )


SUBTRACTED = rows("at = s32[] subtract(last, i)")
ADDED = rows("back = s32[] negate(i)\n at = s32[] add(last, back)")
SWAPPED = rows("back = s32[] negate(i)\n at = s32[] add(back, last)")
OTHER_ROW = rows("back = s32[] negate(j)\n at = s32[] add(last, back)")
FORWARDS = rows("at = s32[] copy(i)")


def test_rows_at_a_place_that_is_computed_in_two_ways_are_proved() -> None:
    for after in (ADDED, SWAPPED):
        for one, other in ((SUBTRACTED, after), (after, SUBTRACTED)):
            result = decide(one, other, "exact")
            assert result.verdict is Verdict.PROVED, result
            assert result.certificate is not None
            assert recheck(one, other, result.certificate).verdict is Verdict.PROVED


def test_rows_at_other_places_are_not_proved() -> None:
    proved = decide(SUBTRACTED, ADDED, "exact").certificate
    assert proved is not None
    for after in (OTHER_ROW, FORWARDS):
        assert decide(SUBTRACTED, after, budget_seconds=4).verdict is Verdict.UNKNOWN
        assert recheck(SUBTRACTED, after, proved).verdict is Verdict.UNKNOWN
