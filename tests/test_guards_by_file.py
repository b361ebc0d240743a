"""Small modules and memory plans, one file each, of which a guard that is left out would tell another verdict.

Most were found by taking such a guard away and looking for what notices; the rest were once judged wrongly. What is not
named in the tables is proved.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.pipeline.memory_plans import check_files
from hloproof.results.verdict import Verdict

DATA = Path(__file__).parent / "data" / "guards"
PLANS = DATA / "plans"

MODULES: dict[str, dict[str, str]] = {
    "alias_to_another_part": {"async-alias": "refuted"},
    "call_that_writes_by_alias": {"hazard-operand": "refuted"},
    "context_bound_later": {},
    "groups_by_channel": {},
    "host_channel_of_two_shapes": {"async-channel": "refuted"},
    "host_channel_of_two_shapes.sound": {},
    "loop_start_in_flight": {"hazard-output": "refuted"},
    "loop_start_of_a_compiled_module": {"hazard-overwrite": "refuted"},
    "loop_start_of_a_compiled_module.sound": {},
    "loop_that_exchanges_two": {"hazard-operand": "unknown"},
    "loop_that_leaves_one_value": {},
    "loop_that_shifts_three": {"hazard-operand": "unknown"},
    "negative_operand": {"async-alias": "refuted"},
    "operands_of_another_shape": {"async-shape": "refuted"},
    "permutation_between_two": {"collective-deadlock": "unknown"},
    "results_of_another_shape": {"async-shape": "refuted"},
    "root_before_the_end": {},
    "send_and_recv_in_a_tuple": {},
    "send_that_is_not_handed_back": {"async-chain": "refuted", "async-channel": "refuted"},
    "update_binds_two": {"hazard-operand": "refuted"},
    "update_binds_two.sound": {},
}
OF_PLANS: dict[str, dict[str, str]] = {
    "alias_to_nowhere": {"plan-in-place": "unknown", "plan-alias": "refuted"},
    "alias_with_a_slice": {},
    "both_in_flight": {"plan-interference": "refuted"},
    "constraints_at_run_time": {"plan-in-place": "refuted"},
    "first_state_of_a_loop": {"plan-interference": "refuted"},
    "numbers_that_may_not_come_up": {"plan-in-place": "unknown"},
    "one_part_given_away": {"plan-constant": "refuted"},
    "scatter_over_its_indices": {"plan-in-place": "refuted"},
    "two_maps_of_one_reading": {"plan-in-place": "refuted"},
    "two_maps_of_one_reading.sound": {},
}


def told(found: Iterable[tuple[str, Verdict]]) -> dict[str, str]:
    """By claim what is not proved."""
    return {claim: verdict.value for claim, verdict in found if verdict is not Verdict.PROVED}


@pytest.mark.parametrize("name", MODULES)
def test_what_is_asked_of_a_module(name: str) -> None:
    module = parse_module((DATA / f"{name}.hlo").read_text())
    judged = judge(module, lambda _claim: True, lambda _name: False)
    assert told((j.claim, j.found.verdict) for j in judged) == MODULES[name]


@pytest.mark.parametrize("name", OF_PLANS)
def test_what_is_asked_of_a_plan(name: str) -> None:
    found = check_files(str(PLANS / name / "module.hlo"), str(PLANS / name / "assignment.txt"))
    assert not found.problems
    assert told((r.claim, r.verdict) for r in found.records()) == OF_PLANS[name]


def test_every_file_is_looked_at() -> None:
    assert {p.stem for p in DATA.glob("*.hlo")} == MODULES.keys()
    assert {p.name for p in PLANS.iterdir()} == OF_PLANS.keys()
