"""Plans with one thing wrong are refuted, and their sound twins proved: `planted_plans.py`, `planted_layouts.py`,
`planted_rounds.py`."""

from __future__ import annotations

import pytest
from planted_layouts import PLANTED_LAYOUTS
from planted_plans import PLANTED, Planted
from planted_rounds import ROUNDS

from hloproof.pipeline.memory_plans import check_plan

ALL = [*PLANTED, *PLANTED_LAYOUTS, *ROUNDS]


@pytest.mark.parametrize("case", ALL, ids=[p.what for p in ALL])
def test_what_is_wrong_in_a_plan_is_refuted_and_its_twin_is_not(case: Planted) -> None:
    wrong, right = (str(check_plan(m, p).verdict) for m, p in zip(case.modules, case.plans, strict=True))
    assert (wrong, right) == (case.comes_to, case.twin)
