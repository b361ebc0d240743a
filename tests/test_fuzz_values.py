"""Controls of target `ops`: planted errors that show in numbers, in indices or in what a definition says besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("hypothesis")

import hloproof.definitions
from hloproof.definitions.definition import Definition
from hloproof.fuzz.modules import target_recorded
from hloproof.fuzz.operations import oracle_operations
from hloproof.fuzz.operations.generators.builder import one
from hloproof.fuzz.operations.generators.control import without_meaning
from hloproof.fuzz.operations.generators.operations import operation
from hloproof.fuzz.target import Failure
from hloproof.logic.formula import FALSE, TRUE
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.operations import collective, dispatch
from hloproof.models.interpreter.value import Array, Value

PAD = one("pad", "f32[3]", "f32[]", padding="1_1")
SORT = one("sort", "f32[5]", dimensions=[0], to_apply="is_LT")
REDUCE = one("reduce", "f32[4]", "f32[]", dimensions=[0], to_apply="add")
TOPK = one("topk", "f32[5]", k=2, largest=True)
SLICE = one("dynamic-slice", "f32[5]", "s32[]", dynamic_slice_sizes=[2])
BITS = one("bitcast-convert", "f32[2]", result="u8[2,4]")
REDUCE_ALL = one(
    "all-reduce",
    "f32[2]",
    header=", replica_count=2, num_partitions=2",
    channel_id=1,
    replica_groups=[[1, 0]],
    to_apply="add",
)
PERMUTE = one("collective-permute", "f32[2]", header=", replica_count=2", source_target_pairs=[(0, 1)])
GATHER_ALL = one("all-gather", "f32[2]", dimensions=[0], result="f32[6]")
RAGGED = one(
    "ragged-dot",
    *("f32[3,2]", "f32[2,2,2]", "s32[2]"),
    lhs_contracting_dims=[1],
    rhs_contracting_dims=[1],
    lhs_ragged_dims=[0],
    rhs_group_dims=[0],
)
TEXTS = {
    "pad": PAD,
    "sort": SORT,
    "reduce": REDUCE,
    "topk": TOPK,
    "dynamic-slice": SLICE,
    "bitcast-convert": BITS,
    "all-reduce": REDUCE_ALL,
    "all-gather": GATHER_ALL,
    "ragged-dot": RAGGED,
    "collective-permute": PERMUTE,
}


@pytest.mark.parametrize("name", TEXTS)
def test_without_errors_all_hold(name: str) -> None:
    assert oracle_operations.examine(TEXTS[name])


def backwards(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(backwards(v) for v in value)
    assert isinstance(value, Array)
    return Array(value.element_type, value.sizes, value.data[::-1])


def examined_all() -> set[str]:
    return {opcode for line in target_recorded.recorded() for opcode in target_recorded.examine(line)}


def test_the_interpreter_computes_what_the_real_compiler_computed() -> None:
    assert {"sort", "topk", "bitcast-convert", "all-reduce", "scatter", "convolution", "pad"} <= examined_all()


@pytest.mark.parametrize("opcode", ["sort", "topk", "bitcast-convert", "pad"])
def test_another_order_is_noticed(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dispatch.OPERATIONS[opcode]
    monkeypatch.setitem(dispatch.OPERATIONS, opcode, lambda step: backwards(right(step)))
    with pytest.raises(Failure, match=f"another result of {opcode}"):
        examined_all()


def test_other_devices_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collective, "groups", lambda step, opcode, devices: [[d] for d in range(devices.count)])
    with pytest.raises(Failure):
        oracle_operations.examine(REDUCE_ALL)


CHANGES: list[tuple[str, str, Callable[[Definition], Definition], str]] = [
    ("reduce", "initial values are counted", lambda d: replace(d, multiplicity=True), "definition of counts"),
    ("dynamic-slice", "nothing depends on the start", lambda d: replace(d, predicate=FALSE), "a read that is none"),
    ("collective-permute", "a larger group", lambda d: replace(d, group_size=3), "group of another size"),
    ("all-gather", "nothing is assumed", lambda d: replace(d, assumptions=()), "assumptions"),
    ("ragged-dot", "everything is read", lambda d: replace(d, predicate=TRUE), "wider than need be"),
]


@pytest.mark.parametrize(("opcode", "what", "change", "cause"), CHANGES, ids=[f"{c[0]}: {c[1]}" for c in CHANGES])
def test_another_definition_is_noticed(
    opcode: str, what: str, change: Callable[[Definition], Definition], cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hloproof.definitions.TABLE[opcode]

    def wrong(*arguments: Any) -> Definition:
        found = right(*arguments)
        return change(found) if opcode != "dynamic-slice" or arguments[2] else found

    monkeypatch.setitem(hloproof.definitions.TABLE, opcode, wrong)
    with pytest.raises(Failure, match=cause):
        oracle_operations.examine(TEXTS[opcode])


def test_a_run_of_what_has_no_meaning_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = one("bitcast", "f32[2]", result="f32[4]").replace("case", "refused", 1)
    assert oracle_operations.examine(text)
    monkeypatch.setitem(dispatch.OPERATIONS, "bitcast", lambda step: Array("f32", (4,), [2.0] * 4))
    with pytest.raises(Failure, match="has no meaning"):
        oracle_operations.examine(text)


def test_what_has_no_meaning_parses() -> None:
    import hypothesis

    @hypothesis.given(operation(without_meaning))
    @hypothesis.settings(max_examples=20, database=None)
    def each(text: str) -> None:
        assert parse_module(text).name == "refused"
        assert oracle_operations.examine(text)

    each()


def test_every_target_that_mutants_are_tried_on_has_cases() -> None:
    from hloproof.fuzz.mutation.mutants import EXAMPLES
    from hloproof.fuzz.mutation.reach import draw
    from hloproof.fuzz.targets import target

    assert [name for name in EXAMPLES if not draw(target(name), 1, 2)] == []
