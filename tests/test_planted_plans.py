"""Plans with one thing wrong are refuted, and their sound twins proved: `planted_plans.py`."""

from __future__ import annotations

import pytest
from planted_plans import PLANTED, Planted

from hloproof.pipeline.memory_plans import check_plan


@pytest.mark.parametrize("case", PLANTED, ids=[p.what for p in PLANTED])
def test_what_is_wrong_in_a_plan_is_refuted_and_its_twin_is_not(case: Planted) -> None:
    wrong, right = (str(check_plan(case.hlo, plan).verdict) for plan in case.plans)
    assert (wrong, right) == (case.comes_to, case.twin)
