"""Plans with one thing wrong are refuted, and their sound twins proved: `planted_plans.py`, `planted_layouts.py`,
`planted_rounds.py`,
`planted_clauses.py`, `planted_kernels.py`, `planted_places.py`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from planted_clauses import CLAIMED, CLAUSES, RIGHT, Right
from planted_kernels import KERNELS
from planted_layouts import PLANTED_LAYOUTS
from planted_places import PLACES, TWICE
from planted_plans import PLANTED, Planted, Together, entry, planned
from planted_rounds import ROUNDS

from hloproof.pipeline.memory_plans import check_plan

OF_A_TUPLE = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %z = V exponential(%a)
  %t = (V, V) tuple(%x, %z)
  %s = ((V, V), V, u32[]) custom-call-start(OPS), custom_call_target="f"
  %d = V custom-call-done(%s)
  %y = V negate(%a)
  %p = (V, V) get-tuple-element(%s), index=0
  %g = V get-tuple-element(%p), index=1
  %sum = V add(%g, %y)
  ROOT %o = V add(%sum, %d)"""
)
ALL = [*PLANTED, *PLANTED_LAYOUTS, *ROUNDS, *CLAUSES, *KERNELS, *PLACES]


@pytest.mark.parametrize("case", ALL, ids=[p.what for p in ALL])
def test_what_is_wrong_in_a_plan_is_refuted_and_its_twin_is_not(case: Planted) -> None:
    wrong, right = (str(check_plan(m, p).verdict) for m, p in zip(case.modules, case.plans, strict=True))
    assert (wrong, right) == (case.comes_to, case.twin)


@pytest.mark.parametrize("case", RIGHT, ids=[r.what for r in RIGHT])
def test_right_plans_of_unusual_kinds_are_proved(case: Right) -> None:
    assert str(check_plan(case.hlo, case.plan).verdict) == "proved"


@pytest.mark.parametrize(("claim", "instruction", "says", "hlo", "together", "edit"), [*CLAIMED, *TWICE])
def test_a_claim_answers_for_itself_where_another_refutes_too(
    claim: str, instruction: str, says: str, hlo: str, together: Together, edit: Callable[[str], str]
) -> None:
    records = check_plan(hlo, edit(planned(hlo, together))).records()
    assert says in {str(r.verdict) for r in records if (r.claim, r.instruction) == (claim, instruction)}


def test_a_tuple_is_not_the_parts_that_a_start_carries() -> None:
    """Older text that carries the parts of its only operand: one of them was a value of its own that nobody wrote over,
    and the plan was proved. `check` refutes such a start."""
    plan = planned(OF_A_TUPLE.replace("OPS", "%x, %z"), ())
    assert str(check_plan(OF_A_TUPLE.replace("OPS", "%x, %z"), plan).verdict) == "proved"
    judged = check_plan(OF_A_TUPLE.replace("OPS", "%t"), plan)
    told = {r.reason for r in judged.records() if str(r.verdict) == "unknown"}
    assert str(judged.verdict) == "unknown"
    assert any("s{0,0} would be t, and one is a tuple and the other is none" in (said or "") for said in told)


TWO_STARTS = """HloModule m, is_scheduled=true
w { wp = (()) parameter(0) ROOT wr = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8}) }
ENTRY e {
  p = f32[8] parameter(0)
  n = () tuple()
  t = (()) tuple(n)
  u = (SHAPE) tuple(MADE)
  s1 = (((ONE)), f32[8], u32[]) async-start(GIVEN), calls=w
  d1 = f32[8] async-done(s1)
  s2 = (((TWO)), f32[8], u32[]) async-start(OTHER), calls=w
  d2 = f32[8] async-done(s2)
  ROOT r = f32[8] add(d1, d2) }
"""


@pytest.mark.parametrize("later", [True, False])
def test_a_tuple_is_not_what_one_of_two_starts_hands_on(later: bool) -> None:
    def source(shape: str, made: str) -> str:
        given = {"GIVEN": "t", "OTHER": "u", "ONE": "()", "TWO": shape}
        if not later:
            given = {"GIVEN": "u", "OTHER": "t", "ONE": shape, "TWO": "()"}
        text = TWO_STARTS
        for word, value in {**given, "SHAPE": shape, "MADE": made}.items():
            text = text.replace(word, value)
        return text

    plan = planned(source("()", "n"), ())
    for text, wrong in ((source("()", "n"), False), (source("f32[8]", "p"), True)):
        told = [r.reason or "" for r in check_plan(text, plan).records() if str(r.verdict) == "unknown"]
        assert any("wp{0} would be u{0}, and one is a tuple and the other is none" in t for t in told) is wrong
