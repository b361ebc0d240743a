"""Where an update in place writes and reads is followed to what the fusion is given, in modules and in plans."""

from __future__ import annotations

import pytest
from memory_cases import judged, roomy_plan

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection
from hloproof.results.verdict import Verdict

MODULE = """HloModule m, is_scheduled=true

%fused (p: f32[8], i: s32[], j: s32[]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  %i = s32[] parameter(1)
  %j = s32[] parameter(2)
  %two = s32[] constant(2)
{starts}
  %s = f32[3]{{0}} dynamic-slice(%p, %read), dynamic_slice_sizes={{3}}
  %n = f32[3]{{0}} negate(%s)
  ROOT %u = f32[8]{{0}} dynamic-update-slice(%p, %n, %write)
}}

ENTRY %main (x: f32[8], a: s32[], b: s32[]) -> f32[8] {{
  %x = f32[8]{{0}} parameter(0)
  %a = s32[] parameter(1)
  %b = s32[] parameter(2)
  %low = s32[] constant(0)
  %high = s32[] constant(4)
  %k = s32[] custom-call(%a), custom_call_target="number"
  %c = f32[8]{{0}} copy(%x)
  ROOT %f = f32[8]{{0}} fusion(%c, {given}), kind=kLoop, calls=%fused
}}
"""
SAME = "  %read = s32[] add(%i, %two)\n  %write = s32[] add(%j, %two)"
NEXT = "  %read = s32[] add(%i, %two)\n  %write = s32[] copy(%j)"
TWICE = "  %read = s32[] multiply(%i, %two)\n  %write = s32[] copy(%j)"
PRODUCT = "  %read = s32[] multiply(%i, %j)\n  %write = s32[] copy(%i)"
STARTS = [
    # the starts in the fusion, what it is given, what is said of the module and of the plan
    (SAME, "%a, %a", Verdict.PROVED, Verdict.PROVED),
    (SAME, "%a, %b", Verdict.REFUTED, Verdict.REFUTED),
    (SAME, "%low, %low", Verdict.PROVED, Verdict.PROVED),
    (SAME, "%low, %high", Verdict.PROVED, Verdict.PROVED),
    (NEXT, "%low, %low", Verdict.REFUTED, Verdict.REFUTED),
    (NEXT, "%a, %a", Verdict.REFUTED, Verdict.REFUTED),
    (NEXT, "%low, %high", Verdict.REFUTED, Verdict.REFUTED),
    (TWICE, "%a, %a", Verdict.REFUTED, Verdict.REFUTED),
    (TWICE, "%low, %low", Verdict.PROVED, Verdict.PROVED),
    (PRODUCT, "%a, %b", Verdict.REFUTED, Verdict.REFUTED),
    (PRODUCT, "%a, %low", Verdict.REFUTED, Verdict.REFUTED),
    (PRODUCT, "%a, %k", Verdict.UNKNOWN, Verdict.UNKNOWN),
    # what a call computes may never come up
    (SAME, "%k, %k", Verdict.PROVED, Verdict.PROVED),
    (NEXT, "%k, %k", Verdict.UNKNOWN, Verdict.UNKNOWN),
]


@pytest.mark.parametrize(("starts", "given", "in_module", "in_plan"), STARTS)
def test_starts_are_those_that_the_fusion_is_given(
    starts: str, given: str, in_module: Verdict, in_plan: Verdict
) -> None:
    hlo = MODULE.format(starts=starts, given=given)
    options = Options(selection=Selection(only=("hazard-in-place",)))
    said = [r.verdict for r in check_hlo(hlo, options).records() if r.claim == "hazard-in-place"]
    assert said == [in_module]
    plan = roomy_plan(hlo, (("f", "c"),))
    assert [r.verdict for r in judged(hlo, plan) if r.claim == "plan-in-place"] == [in_plan]


def test_a_refuted_plan_names_the_arguments() -> None:
    hlo = MODULE.format(starts=NEXT, given="%a, %a")
    (said,) = (r.counterexample for r in judged(hlo, roomy_plan(hlo, (("f", "c"),))) if r.claim == "plan-in-place")
    assert said is not None and "(where a is " in said


LEAST = "  %two_more = s32[] constant(2)\n  %read = s32[] copy(%i)\n  %write = s32[] minimum(%i, %two_more)"
COUNTED = """
%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[8]{0}) parameter(0)
  %a = s32[] get-tuple-element(%t), index=0
  %x = f32[8]{0} get-tuple-element(%t), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%a, %one)
  %f = f32[8]{0} fusion(%x, %a, %a), kind=kLoop, calls=%fused
  ROOT %r = (s32[], f32[8]{0}) tuple(%next, %f)
}

%cond (c: (s32[], f32[8])) -> pred[] {
  %c = (s32[], f32[8]{0}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %three = s32[] constant(3)
  ROOT %less = pred[] compare(%k, %three), direction=LT
}

ENTRY %main (x0: f32[8]) -> (s32[], f32[8]) {
  %x0 = f32[8]{0} parameter(0)
  %low = s32[] constant(0)
  %start = s32[] copy(%low)
  %c0 = f32[8]{0} copy(%x0)
  %init = (s32[], f32[8]{0}) tuple(%start, %c0)
  ROOT %loop = (s32[], f32[8]{0}) while(%init), condition=%cond, body=%body
}
"""
CALLED = """
%callee (x: f32[8], a: s32[]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %a = s32[] parameter(1)
  ROOT %f = f32[8]{0} fusion(%x, %a, %a), kind=kLoop, calls=%fused
}

ENTRY %main (x0: f32[8]) -> f32[8] {
  %x0 = f32[8]{0} parameter(0)
  %one = s32[] constant(1)
  %c = f32[8]{0} copy(%x0)
  ROOT %r = f32[8]{0} call(%c, %one), to_apply=%callee
}
"""
TAKEN = """
ENTRY %main (x0: f32[8], b: s32[], t: (s32[], s32[])) -> f32[8] {
  %x0 = f32[8]{0} parameter(0)
  %b = s32[] parameter(1)
  %t = (s32[], s32[]) parameter(2)
  %low = s32[] constant({LOW})
  %made = (s32[], s32[]) tuple(%low, %b)
  %call = (s32[], s32[]) custom-call(%b), custom_call_target="numbers"
  %first = s32[] get-tuple-element({FROM}), index=0
  %second = s32[] get-tuple-element({FROM}), index={NEXT}
  %c = f32[8]{0} copy(%x0)
  ROOT %f = f32[8]{0} fusion(%c, %first, %second), kind=kLoop, calls=%fused
}
"""


def _taken(source: str, second: int, low: int = 0) -> str:
    return TAKEN.replace("{FROM}", source).replace("{NEXT}", str(second)).replace("{LOW}", str(low))


_LOOP_LINE = next(line for line in COUNTED.split("\n") if " while(" in line)
TO_FOUR = COUNTED.replace("constant(3)", "constant(4)")
# what another loop with the same body is given, what may never run, what may never come up
TWO_LOOPS = TO_FOUR.replace(_LOOP_LINE, _LOOP_LINE.replace("ROOT %loop", "%once") + "\n" + _LOOP_LINE).replace(
    "while(%init)", "while(%once)"
)
TWO_LOOPS = TWO_LOOPS.replace("while(%once)", "while(%init)", 1)
BRANCH = (
    TO_FOUR.replace("ENTRY %main (x0: f32[8])", "%branch (x0: f32[8])")
    + """
%other (x1: f32[8]) -> (s32[], f32[8]) {
  %x1 = f32[8]{0} parameter(0)
  %none = s32[] constant(0)
  ROOT %made = (s32[], f32[8]{0}) tuple(%none, %x1)
}

ENTRY %main (x2: f32[8], b: s32[]) -> (s32[], f32[8]) {
  %x2 = f32[8]{0} parameter(0)
  %b = s32[] parameter(1)
  ROOT %r = (s32[], f32[8]{0}) conditional(%b, %x2, %x2), branch_computations={%branch, %other}
}
"""
)
BESIDE = COUNTED.replace("fusion(%x, %a, %a)", "fusion(%x, %a, %k)", 1).replace(
    "  %next =", '  %k = s32[] custom-call(%a), custom_call_target="number"\n  %next ='
)

PLACES = [
    # reads [i, i + 2], writes [min(i, 2), min(i, 2) + 2]: apart or the same for i in [0, 2] and at 5, not at 3
    (LEAST, COUNTED, Verdict.PROVED),  # 0, 1 and 2
    (LEAST, COUNTED.replace("constant(3)", "constant(4)"), Verdict.REFUTED),
    (LEAST, COUNTED.replace("add(%a, %one)", "add(%a, %a)"), Verdict.UNKNOWN),
    (LEAST, TWO_LOOPS, Verdict.UNKNOWN),
    (LEAST, BRANCH, Verdict.UNKNOWN),
    (NEXT, BESIDE, Verdict.UNKNOWN),
    (LEAST, CALLED, Verdict.UNKNOWN),
    (LEAST, _taken("%made", 0), Verdict.PROVED),
    (LEAST, _taken("%made", 0, 3), Verdict.REFUTED),
    (LEAST, _taken("%call", 0), Verdict.UNKNOWN),
    (LEAST, _taken("%t", 0), Verdict.REFUTED),
    (SAME, COUNTED, Verdict.PROVED),
    (SAME, CALLED, Verdict.PROVED),
    (SAME, _taken("%t", 0), Verdict.PROVED),
    (SAME, _taken("%t", 1), Verdict.REFUTED),
    (SAME, _taken("%made", 1), Verdict.REFUTED),
    (SAME, _taken("%call", 0), Verdict.PROVED),
    (SAME, _taken("%call", 1), Verdict.UNKNOWN),
]


@pytest.mark.parametrize(("starts", "rest", "verdict"), PLACES)
def test_only_the_program_may_be_given_anything(starts: str, rest: str, verdict: Verdict) -> None:
    """What a loop counts, a caller hands on or a call gives need not take every value."""
    hlo = MODULE[: MODULE.index("ENTRY")].format(starts=starts) + rest
    options = Options(selection=Selection(only=("hazard-in-place",)))
    assert [r.verdict for r in check_hlo(hlo, options).records() if r.claim == "hazard-in-place"] == [verdict]


GATHERED = """HloModule m, is_scheduled=true

%fused (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  %i = s32[8]{{0}} iota(), iota_dimension=0
  %seven = s32[] constant(7)
  %sevens = s32[8]{{0}} broadcast(%seven), dimensions={{}}
  %j = s32[8]{{0}} {indices}
  %k = s32[8,1]{{1,0}} reshape(%j)
  ROOT %g = f32[8]{{0}} gather(%p, %k), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}},
    index_vector_dim=1, slice_sizes={{1}}
}}

ENTRY %main (x: f32[8]) -> f32[8] {{
  %x = f32[8]{{0}} parameter(0)
  %c = f32[8]{{0}} copy(%x)
  ROOT %f = f32[8]{{0}} fusion(%c), kind=kLoop, calls=%fused
}}
"""


@pytest.mark.parametrize(
    ("indices", "verdict"),
    [
        ("copy(%i)", Verdict.PROVED),
        ("and(%i, %sevens)", Verdict.UNKNOWN),  # the same, and not followed
        ("minimum(%i, %sevens)", Verdict.PROVED),
        ("subtract(%sevens, %i)", Verdict.REFUTED),
    ],
)
def test_no_one_number_stands_for_what_all_steps_read(indices: str, verdict: Verdict) -> None:
    hlo = GATHERED.format(indices=indices)
    assert [r.verdict for r in judged(hlo, roomy_plan(hlo, (("f", "c"),))) if r.claim == "plan-in-place"] == [verdict]
