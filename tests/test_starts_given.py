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
