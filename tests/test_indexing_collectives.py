"""Maps of collectives against the executable path on four devices: whose elements go into whose, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.semantics.counted import reads, tags
from hloproof.models.maps.indexing_map import READER, IndexingMap

DEVICES = 4
GROUPS = "replica_groups={{0,2},{3,1}}"
_ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"

CASES = {
    "all-gather": ("f32[2,3]", f"f32[4,3] all-gather(p0), {GROUPS}, dimensions={{0}}"),
    "all-gather over all": ("f32[2,3]", "f32[2,12] all-gather(p0), replica_groups={}, dimensions={1}"),
    "all-reduce": ("f32[2,3]", f"f32[2,3] all-reduce(p0), {GROUPS}, to_apply=add"),
    "all-reduce of two": ("f32[2] f32[3]", f"(f32[2], f32[3]) all-reduce(p0, p1), {GROUPS}, to_apply=add"),
    "reduce-scatter": ("f32[4,3]", f"f32[2,3] reduce-scatter(p0), {GROUPS}, dimensions={{0}}, to_apply=add"),
    "all-to-all": ("f32[2,6]", f"f32[2,6] all-to-all(p0), {GROUPS}, dimensions={{1}}"),
    "all-to-all of a tuple": ("f32[3] f32[3]", f"(f32[3], f32[3]) all-to-all(p0, p1), {GROUPS}"),
    "collective-permute": ("f32[3]", "f32[3] collective-permute(p0), source_target_pairs={{0,1},{1,2},{3,0}}"),
    "collective-broadcast": ("f32[3]", f"f32[3] collective-broadcast(p0), {GROUPS}"),
}
_GROUP_OF: dict[int, tuple[int, ...]] = {0: (0, 2), 2: (0, 2), 1: (3, 1), 3: (3, 1)}

Read = tuple[int, tuple[int, ...], int, tuple[int, ...]]
"""Reader, output index, holder, operand index."""


def _module(operands: str, root: str) -> Module:
    lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(operands.split())]
    body = "\n".join([*lines, f"  ROOT r = {root}"])
    return parse_module(f"HloModule m, replica_count={DEVICES}\n\n{_ADD}ENTRY e {{\n{body}\n}}\n")


def _nested(sizes: tuple[int, ...], flat: list[int]) -> Any:
    if not sizes:
        return flat[0]
    step = len(flat) // sizes[0]
    return [_nested(sizes[1:], flat[i * step : (i + 1) * step]) for i in range(sizes[0])]


def _box(shape: Any) -> list[tuple[int, ...]]:
    assert isinstance(shape, ArrayShape)
    return list(product(*(range(n) for n in shape.dimensions)))


def executed(module: Module, operand: int, output: int) -> Counter[Read]:
    """Every read of an operand, by running the module on all devices."""
    shapes = [p.shape for p in module.entry.parameters]
    elements = _box(shapes[operand])
    marks = tags(DEVICES * len(elements))
    given = []
    for device in range(DEVICES):
        own = marks[device * len(elements) : (device + 1) * len(elements)]
        given.append(
            [
                _nested(s.dimensions, own if n == operand else [0] * s.elements)
                for n, s in enumerate(shapes)
                if isinstance(s, ArrayShape)
            ]
        )
    results = run_module(module, given, semantics="counted", replicas=DEVICES)
    parts = list(leaves(module.entry.root.shape))
    found: Counter[Read] = Counter()
    for reader, result in enumerate(results):
        value = result[output] if len(parts) > 1 else result
        for d in _box(parts[output][1]):
            element = value
            for i in d:
                element = element[i]
            counts = reads(int(element), len(marks))
            for k, times in enumerate(counts):
                if times:
                    found[reader, d, k // len(elements), elements[k % len(elements)]] = times
    return found


def claimed(maps: tuple[IndexingMap, ...], groups: dict[int, tuple[int, ...]] | None, reverse: bool) -> Counter[Read]:
    """Every read that the maps tell of; positions become ids by the group table, without one they are ids."""
    found: Counter[Read] = Counter()
    for m, reader in product(maps, range(DEVICES)):
        group = groups[reader] if groups is not None else tuple(range(DEVICES))
        variables = [*m.dims, *m.ranges]
        names = [f"d{i}" for i in range(len(m.dims))] + [f"s{j}" for j in range(len(m.ranges))]
        for values in product(*(range(v.interval.lower, v.interval.upper + 1) for v in variables)):
            at = dict(zip(names, values, strict=True))
            for k, v in enumerate(m.runtime):
                assert v.provider == READER
                at[f"rt{k}"] = group.index(reader)
            if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
                holder = reader if m.replica is None else group[evaluate(m.replica.results[0], at)]
                here, there = values[: len(m.dims)], tuple(evaluate(e, at) for e in m.results)
                found[(reader, there, holder, here) if reverse else (reader, here, holder, there)] += 1
    return found


def _groups(name: str) -> dict[int, tuple[int, ...]] | None:
    return None if name in ("collective-permute", "all-gather over all") else _GROUP_OF


@pytest.mark.parametrize("name", CASES)
def test_collectives_read_whom_they_read(name: str) -> None:
    module = _module(*CASES[name])
    op = Operation.of(module.entry.root, module.entry, replicas=DEVICES)
    for output, operand in product(range(len(list(leaves(op.shape)))), range(len(op.operands))):
        expected = executed(module, operand, output)
        forwards = tuple(m for s in output_to_input(op, output) if s.operand == operand for m in s.maps)
        assert claimed(forwards, _groups(name), False) == expected
        backwards = tuple(m for s in input_to_output(op, operand) if s.operand == output for m in s.maps)
        assert claimed(backwards, _groups(name), True) == expected


@pytest.mark.parametrize("name", ["all-gather", "reduce-scatter", "all-to-all", "collective-permute"])
def test_a_wrong_holder_is_seen(name: str) -> None:
    module = _module(*CASES[name])
    op = Operation.of(module.entry.root, module.entry, replicas=DEVICES)
    (s,) = output_to_input(op)
    m = s.maps[0]
    assert m.replica is not None
    wrong = replace(m, replica=replace(m.replica, results=(Const(0),)))
    assert claimed((wrong, *s.maps[1:]), _groups(name), False) != executed(module, 0, 0)


CHAINS = {
    "gathers": (
        "f32[1,2]",
        [
            f"f32[2,2] all-gather(p0), {GROUPS}, dimensions={{0}}",
            f"f32[2,4] all-gather(x0), {GROUPS}, dimensions={{1}}",
        ],
    ),
    "scatter of a gather": (
        "f32[2,3]",
        [
            f"f32[4,3] all-gather(p0), {GROUPS}, dimensions={{0}}",
            f"f32[2,3] reduce-scatter(x0), {GROUPS}, dimensions={{0}}, to_apply=add",
        ],
    ),
    "exchange twice": (
        "f32[2,4]",
        [
            f"f32[2,4] all-to-all(p0), {GROUPS}, dimensions={{1}}",
            f"f32[2,4] all-to-all(x0), {GROUPS}, dimensions={{0}}",
        ],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_two_collectives_over_the_same_groups_are_composed_exactly(name: str) -> None:
    operand, (first, second) = CHAINS[name]
    lines = [f"  p0 = {operand} parameter(0)", f"  x0 = {first}", f"  ROOT r = {second}"]
    module = parse_module(f"HloModule m, replica_count={DEVICES}\n\n{_ADD}ENTRY e {{\n" + "\n".join(lines) + "\n}\n")
    (s,) = followed_maps(plain_composer(module, DEVICES), module.entry, module.entry.root, "output-to-input")
    assert set(claimed(s.maps, _GROUP_OF, False)) == set(executed(module, 0, 0))


def test_groups_of_different_sizes_are_not_modelled() -> None:
    module = _module("f32[2]", "f32[2] all-reduce(p0), replica_groups={{0,1,2},{3}}, to_apply=add")
    with pytest.raises(NotModelled, match="different sizes"):
        output_to_input(Operation.of(module.entry.root, module.entry, replicas=DEVICES))
