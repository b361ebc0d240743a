"""Definitions against execution and against direct readings of the operations: every pair of elements is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from direct_reads import DEVICES, DIRECT, Read
from test_indexing_counted import CASES, _counted_operands, _inputs, _module, executed

from hloproof.definitions import IN_TUPLES, TABLE, define
from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import arrays_of
from hloproof.logic.evaluate import holds
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape

Index = tuple[int, ...]


def boxes(sizes: Sequence[int]) -> Iterator[Index]:
    return product(*(range(n) for n in sizes))


def held(definition: Definition, values: dict[str, int], inputs: Sequence[Any]) -> dict[str, int]:
    """The values of r0.. at a pair."""
    out = {}
    for k, read in enumerate(definition.runtime):
        element = inputs[read.operand]
        for e in read.index:
            element = element[evaluate(e, values)]
        low, high = read.interval.lower, read.interval.upper
        out[f"r{k}"] = min(max(int(element), low), high) if read.clamped else int(element)
    return out


def times(definition: Definition, d: Index, x: Index, inputs: Sequence[Any] = (), more: Mapping[str, int] = {}) -> int:
    """How often the definition says that d reads x."""
    values = {f"d{i}": v for i, v in enumerate(d)} | {f"x{j}": v for j, v in enumerate(x)} | dict(more)
    values |= held(definition, values, inputs)
    found = 0
    for w in product(*(range(i.lower, i.upper + 1) for _, i in definition.iteration)):
        walked = {name: v for (name, _), v in zip(definition.iteration, w, strict=True)}
        found += holds(definition.predicate, values | walked)
    return found


@pytest.mark.parametrize("name", CASES)
def test_definition_is_what_is_executed(name: str) -> None:
    module = _module(*CASES[name])
    op = Operation.of(module.entry.root, module.entry)
    for seed in range(3 if "s32" in CASES[name][0] else 1):
        for output, (_, out) in enumerate(arrays_of(op.shape)):
            for operand in _counted_operands(op):
                into = op.operands[operand]
                assert isinstance(into, ArrayShape)
                definition = define(op, output, operand)
                inputs = _inputs(op, operand, seed)
                expected = executed(module, op, operand, output, seed)
                for d in boxes(out.dimensions):
                    for x in boxes(into.dimensions):
                        n = times(definition, d, x, inputs)
                        if op.opcode == "convolution" and operand == 1:
                            assert n >= (expected[d, x] > 0), (d, x)  # padded positions are multiplied by zeros
                        else:
                            assert n == expected[d, x], (operand, d, x)


@pytest.mark.parametrize("name", DIRECT)
def test_definition_is_what_a_direct_reading_finds(name: str) -> None:
    text, direct = DIRECT[name]
    module = parse_module(text)
    op = Operation.of(module.entry.root, module.entry, replicas=DEVICES)
    for output, (_, out) in enumerate(arrays_of(op.shape)):
        expected: dict[Index, set[Read]] = direct(op, output)
        for operand, shape in enumerate(op.operands):
            for position, into in arrays_of(shape):
                definition = define(op, output, operand, position)
                for d in boxes(out.dimensions):
                    for x in boxes(into.dimensions):
                        read = (operand, *position, x) in expected[d]
                        assert (times(definition, d, x) > 0) == read, (operand, d, x)


GROUP = 2
COLLECTIVES = {
    "all-reduce": ("f32[4,2]", "f32[4,2] all-reduce(p0), replica_groups={{0,2},{3,1}}, to_apply=add"),
    "all-gather": ("f32[2,3]", "f32[2,6] all-gather(p0), replica_groups={{0,2},{3,1}}, dimensions={1}"),
    "reduce-scatter": (
        "f32[4,2]",
        "f32[2,2] reduce-scatter(p0), replica_groups={{0,2},{3,1}}, dimensions={0}, to_apply=add",
    ),
    "all-to-all": ("f32[4,2]", "f32[4,2] all-to-all(p0), replica_groups={{0,2},{3,1}}, dimensions={0}"),
    "collective-broadcast": ("f32[3]", "f32[3] collective-broadcast(p0), replica_groups={{0,2},{3,1}}"),
}


def sent(opcode: str, d: Index, p: int) -> set[tuple[int, Index]]:
    """(position of the device read, its element) for the element d of the reader at position p."""
    match opcode:
        case "all-reduce":
            return {(q, d) for q in range(GROUP)}
        case "all-gather":
            return {(d[1] // 3, (d[0], d[1] % 3))}
        case "reduce-scatter":
            return {(q, (d[0] + 2 * p, d[1])) for q in range(GROUP)}
        case "all-to-all":  # what device q sends to p is its block p; p puts it at block q
            return {(d[0] // 2, (2 * p + d[0] % 2, d[1]))}
        case _:
            return {(0, d)}


@pytest.mark.parametrize("opcode", COLLECTIVES)
def test_collectives_read_the_right_device(opcode: str) -> None:
    module = _module(*COLLECTIVES[opcode])
    op = Operation.of(module.entry.root, module.entry, replicas=4)
    definition = define(op, 0, 0)
    assert definition.group_size == GROUP
    for d in boxes(definition.output_sizes):
        for p in range(GROUP):
            expected = sent(opcode, d, p)
            for x in boxes(definition.operand_sizes):
                for q in range(GROUP):
                    assert times(definition, d, x, more={"p": p, "q": q}) == ((q, x) in expected), (d, p, x, q)


def test_a_permute_reads_its_source_or_nothing() -> None:
    module = _module("f32[2]", "f32[2] collective-permute(p0), source_target_pairs={{0,1},{3,0}}")
    op = Operation.of(module.entry.root, module.entry, replicas=4)
    definition = define(op, 0, 0)
    found = {(q, p) for q in range(4) for p in range(4) if times(definition, (1,), (1,), more={"p": p, "q": q})}
    assert found == {(0, 1), (3, 0)}


@pytest.mark.parametrize(
    ("operands", "root", "reason"),
    [
        ("f32[4]", "f32[4] no-such-opcode(p0)", "no-such-opcode"),
        ("f32[<=4,2]", "f32[<=8] reshape(p0)", "dynamic"),
        ("f32[4]", "f32[4] all-reduce(p0), replica_groups={{0,1},{2}}, to_apply=add", "different sizes"),
    ],
)
def test_what_is_not_modelled_says_so(operands: str, root: str, reason: str) -> None:
    try:
        module = _module(operands, root)
    except Exception:
        pytest.skip("refused by the reader already")
    op = Operation.of(module.entry.root, module.entry, replicas=3)
    with pytest.raises(NotModelled, match=reason):
        define(op, 0, 0)


def test_every_opcode_with_maps_has_a_definition() -> None:
    from hloproof.models.indexing.table import opcodes

    bodies = {"async-done", "async-start", "async-update", "call", "conditional", "fusion", "while"}
    without_operands = {"constant", "create-token", "iota", "parameter", "partition-id", "replica-id"}
    without_operands |= {"rng-get-and-update-state"}
    assert opcodes() - bodies - without_operands <= set(TABLE) | set(IN_TUPLES)
    assert not set(TABLE) & set(IN_TUPLES)
