"""Every field that is read of a plan is judged: changed alone it breaks the plan, or it stands here why it may be
anything."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

import pytest
from memory_cases import CHAIN, CHAIN_PLAN, LOOP, LOOP_PLAN
from red_pairs import entry

from hloproof.memory.judge import judge
from hloproof.memory.plan import laid_out_alike
from hloproof.models.hlo.opcodes import MODULE_ATTRIBUTES
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.memory.assignment import Allocation, BufferAssignment, Slice, parse_assignment
from hloproof.models.memory.liveness import Liveness
from hloproof.models.memory.values import HloValues
from hloproof.results.verdict import Verdict

_ODD: Final = parse_shape("f32[3,5]{1,0}")

CHANGED: Final[dict[str, tuple[str, str, object]]] = {
    # The field; a value of the plan, whose slice or allocation is changed; what the field is then.
    "Slice.id": ("chain", "x", 4),
    "Slice.instruction": ("chain", "x", "nobody"),
    "Slice.index": ("chain", "x", (0,)),
    "Slice.phi": ("chain", "x", True),
    "Slice.colour": ("chain", "x", 1),
    "Slice.size": ("chain", "x", 127),
    "Slice.offset": ("chain", "y", 64),
    "Slice.shape": ("chain", "x", _ODD),
    "Slice.allocation": ("chain", "x", 0),
    "Allocation.size": ("chain", "y", 255),
    "Allocation.colour": ("chain", "x", 1),
    "Allocation.parameter": ("chain", "a", 1),
    "Allocation.parameter_index": ("chain", "a", (0,)),
    "Allocation.parameter_shape": ("chain", "a", _ODD),
    "Allocation.output_shape": ("chain", "out", _ODD),
    "Allocation.constant": ("chain", "one", False),
    "Allocation.thread_local": ("chain", "x", True),
    "Allocation.maybe_live_out": ("loop", "start", False),
    "Allocation.preallocated_temp": ("chain", "out", True),
}
FREE: Final = {
    "Slice.line": "where it stands in the text",
    "Allocation.line": "where it stands in the text",
    "Allocation.number": "tells allocations apart, no more: two of one number are an error of the text",
    "Allocation.slices": "the values, each of which is judged",
}
_PLANS: Final = {"chain": (CHAIN, CHAIN_PLAN), "loop": (LOOP, LOOP_PLAN)}

READ_OF_THE_HEADER: Final = {"is_scheduled", "input_output_alias", "buffer_donor"}
NOT_OF_MEMORY: Final = {
    "replica_count": "each device has a plan of its own",
    "num_partitions": "each device has a plan of its own",
    "alias_passthrough_params": "what it allows stands in input_output_alias once it is compiled",
    "entry_computation_layout": "that of the entry's own parameters and result, or the text is wrong",
    "execution_threads": "names of threads",
    "frontend_attributes": "for those who compile it",
    "allow_spmd_sharding_propagation_to_parameters": "for those who compile it",
    "allow_spmd_sharding_propagation_to_output": "for those who compile it",
    "use_auto_spmd_partitioning": "for those who compile it",
    "debug_attributes": "where it comes from",
    "origin_recovery_table": "where it comes from",
    "original_value_recovery_table": "where it comes from",
    "stack_frame_index": "where it comes from",
}


def _verdicts(plan: str, assignment: BufferAssignment) -> set[Verdict]:
    return {j.found.verdict for j in judge(parse_module(_PLANS[plan][0]), assignment)}


def _changed(a: BufferAssignment, name: str, field: str, value: object) -> BufferAssignment:
    kind, word = field.split(".")
    target = next(s for s in a.slices if s.instruction == name)
    slices = [replace(s, **{word: value}) if kind == "Slice" and s is target else s for s in a.slices]  # type: ignore[arg-type]
    out = []
    for x in a.allocations:
        new = replace(x, slices=tuple(s for s in slices if s.allocation == x.number))
        if kind == "Allocation" and x.number == target.allocation:
            new = replace(new, **{word: value})  # type: ignore[arg-type]
        out.append(new)
    return BufferAssignment(tuple(out))


def test_every_field_is_judged_or_known_to_be_free() -> None:
    there = {f"{c.__name__}.{f.name}" for c in (Slice, Allocation) for f in fields(c)}
    assert there == CHANGED.keys() | FREE.keys()
    assert not CHANGED.keys() & FREE.keys()


def test_every_attribute_of_the_header_is_read_or_says_nothing_of_memory() -> None:
    assert READ_OF_THE_HEADER | NOT_OF_MEMORY.keys() == MODULE_ATTRIBUTES


@pytest.mark.parametrize("plan", _PLANS)
def test_the_plans_hold_as_they_are(plan: str) -> None:
    assert _verdicts(plan, parse_assignment(_PLANS[plan][1])) == {Verdict.PROVED}


@pytest.mark.parametrize("field", CHANGED)
def test_a_field_that_is_changed_alone_breaks_the_plan(field: str) -> None:
    plan, name, value = CHANGED[field]
    before = parse_assignment(_PLANS[plan][1])
    assert Verdict.REFUTED in _verdicts(plan, _changed(before, name, field, value))


@pytest.mark.parametrize("field", ["Allocation.number"])
def test_numbers_of_allocations_may_be_any(field: str) -> None:
    assert field in FREE
    before = parse_assignment(CHAIN_PLAN)
    other = tuple(
        replace(a, number=a.number + 7, slices=tuple(replace(s, allocation=a.number + 7) for s in a.slices))
        for a in before.allocations
    )
    assert _verdicts("chain", BufferAssignment(other)) == {Verdict.PROVED}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("f32[1,4]{1,0}", "f32[1,4]{0,1}", True),
        ("f32[2,4]{1,0}", "f32[2,4]{0,1}", False),
        ("f32[1,4]{1,0:T(2,4)}", "f32[1,4]{0,1:T(2,4)}", False),
        ("f32[1,4]{1,0:T(2,4)}", "f32[1,4]{1,0:T(2,4)}", True),
        ("f32[1,4]{1,0}", "s32[1,4]{1,0}", False),
    ],
)
def test_a_size_of_one_lies_anywhere_but_in_tiles(one: str, other: str, alike: bool) -> None:
    assert laid_out_alike(parse_shape(one), parse_shape(other)) is alike


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        ('{"is_sync":true}', True),
        ('{"is_sync":false}', False),
        ("{}", False),
        ('{"collective_backend_config":{"is_sync":true}}', True),
        ('{"is_sync":true,"collective_backend_config":{"is_sync":false}}', False),
        ('{"is_sync":false,"collective_backend_config":{"is_sync":true}}', False),
    ],
)
def test_a_start_does_all_the_work_where_nobody_denies_it(said: str, alone: bool) -> None:
    lines = (
        "p = f32[4]{0} parameter(0)",
        "s = (f32[4]{0}, f32[8]{0}) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}, backend_config="
        + said,
        "ROOT r = f32[8]{0} all-gather-done(s)",
    )
    module = parse_module(entry(*lines))
    assert Liveness(module, HloValues(module)).synchronous("s") is alone
