"""Collectives behind collectives, over different groups and with values read on the way, against four devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

import pytest

from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.composition.module_maps import plain_composer
from hloproof.models.indexing.composition.route import Route
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.counted import Counted, reads, tags
from hloproof.models.interpreter.value import Array, flat_index, indices, strides
from hloproof.models.maps.indexing_map import READER, IndexingMap, RuntimeVariable

DEVICES = 4
A, B, C = "{{0,2},{3,1}}", "{{1,0},{2,3}}", "{{2,0,3,1}}"
_ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"

Index = tuple[int, ...]
Read = tuple[int, Index, int, Index]
"""Reader, output index, holder, operand index."""


def _gather(shape: str, operand: str, groups: str, axis: int) -> str:
    return f"{shape} all-gather({operand}), replica_groups={groups}, dimensions={{{axis}}}"


def _scatter(shape: str, operand: str, groups: str, axis: int) -> str:
    return f"{shape} reduce-scatter({operand}), replica_groups={groups}, dimensions={{{axis}}}, to_apply=add"


def _exchange(shape: str, operand: str, groups: str, axis: int) -> str:
    return f"{shape} all-to-all({operand}), replica_groups={groups}, dimensions={{{axis}}}"


def _permute(shape: str, operand: str, pairs: str) -> str:
    return f"{shape} collective-permute({operand}), source_target_pairs={pairs}"


_RING = "{{0,1},{1,2},{2,3},{3,0}}"
_PART = "{{0,2},{2,1},{1,3}}"
_SLICE = "f32[2,4] dynamic-slice({}, p1, p2), dynamic_slice_sizes={{2,4}}"
_LOOKUP = (
    "f32[3,4] gather({}, p3), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
    "index_vector_dim=1, slice_sizes={{1,4}}"
)

CHAINS: dict[str, list[str]] = {
    "scatter behind a gather": [_gather("f32[8,4]", "p0", A, 0), _scatter("f32[4,4]", "x0", B, 0)],
    "gather behind a scatter": [_scatter("f32[2,4]", "p0", A, 0), _gather("f32[4,4]", "x0", B, 0)],
    "scatter behind a scatter": [_scatter("f32[2,4]", "p0", A, 0), _scatter("f32[2,2]", "x0", B, 1)],
    "scatter behind a scatter, same groups": [_scatter("f32[2,4]", "p0", A, 0), _scatter("f32[2,2]", "x0", A, 1)],
    "exchange behind an exchange": [_exchange("f32[4,4]", "p0", A, 0), _exchange("f32[4,4]", "x0", B, 1)],
    "exchange over all behind one over some": [_exchange("f32[4,4]", "p0", B, 0), _exchange("f32[4,4]", "x0", C, 0)],
    "scatter behind a permutation": [_permute("f32[4,4]", "p0", _RING), _scatter("f32[2,4]", "x0", A, 0)],
    "permutation behind a scatter": [_scatter("f32[2,4]", "p0", A, 0), _permute("f32[2,4]", "x0", _RING)],
    "permutation behind a permutation": [_permute("f32[4,4]", "p0", _RING), _permute("f32[4,4]", "x0", _PART)],
    "there and back": [
        _scatter("f32[2,4]", "p0", A, 0),
        _scatter("f32[1,4]", "x0", B, 0),
        _gather("f32[2,4]", "x1", A, 0),
    ],
    "twice and another": [
        _exchange("f32[4,4]", "p0", A, 0),
        _exchange("f32[4,4]", "x0", A, 1),
        _exchange("f32[4,4]", "x1", B, 0),
    ],
    "another and twice": [
        _exchange("f32[4,4]", "p0", B, 1),
        _exchange("f32[4,4]", "x0", A, 1),
        _exchange("f32[4,4]", "x1", A, 0),
    ],
    "a slice, then a gather": [_SLICE.format("p0"), _gather("f32[4,4]", "x0", A, 0)],
    "a gather, then a slice": [_gather("f32[8,4]", "p0", A, 0), _SLICE.format("x0")],
    "a slice between": [_gather("f32[8,4]", "p0", A, 0), _SLICE.format("x0"), _gather("f32[4,4]", "x1", B, 0)],
    "a slice between, same groups": [
        _gather("f32[8,4]", "p0", A, 0),
        _SLICE.format("x0"),
        _gather("f32[4,4]", "x1", A, 0),
    ],
    "a slice between scatters": [
        _scatter("f32[2,4]", "p0", B, 0),
        _SLICE.format("x0"),
        _scatter("f32[1,4]", "x1", A, 0),
    ],
    "rows looked up between": [
        _exchange("f32[4,4]", "p0", A, 0),
        _LOOKUP.format("x0"),
        _scatter("f32[3,2]", "x1", B, 1),
    ],
    "rows looked up behind a permutation": [_permute("f32[4,4]", "p0", _PART), _LOOKUP.format("x0")],
    "permutations that meet on two devices": [
        _permute("f32[4,4]", "p0", "{{2,3},{1,0}}"),
        _permute("f32[4,4]", "x0", "{{1,0},{3,1}}"),
        _permute("f32[4,4]", "x1", "{{3,1},{2,3},{1,0},{0,2}}"),
    ],
    "permutations that meet nowhere": [
        _permute("f32[4,4]", "p0", "{{0,1}}"),
        _permute("f32[4,4]", "x0", "{{0,1},{2,3}}"),
        _exchange("f32[4,4]", "x1", A, 0),
    ],
    "rows looked up, then a permutation": [_LOOKUP.format("p0"), _permute("f32[3,4]", "x0", _PART)],
}
_PARAMETERS = (
    "  p0 = f32[4,4] parameter(0)\n  p1 = s32[] parameter(1)\n  p2 = s32[] parameter(2)\n  p3 = s32[3] parameter(3)\n"
)


def module_of(name: str) -> Module:
    lines = [f"  x{n} = {text}" for n, text in enumerate(CHAINS[name])]
    lines[-1] = lines[-1].replace("  x", "  ROOT x", 1)
    body = _PARAMETERS + "\n".join(lines)
    return parse_module(f"HloModule m, replica_count={DEVICES}\n\n{_ADD}ENTRY e {{\n{body}\n}}\n")


def inside_of_calls(name: str) -> Module:
    """The same chain, its last operations in a computation of their own."""
    lines = [f"  x{n} = {text}" for n, text in enumerate(CHAINS[name])]
    shape = CHAINS[name][0].split(" ")[0]
    inner = _PARAMETERS.replace("p0 = f32[4,4]", f"x0 = {shape}") + "\n".join(lines[1:])
    inner = inner.replace(f"  x{len(lines) - 1} =", f"  ROOT x{len(lines) - 1} =")
    root = CHAINS[name][-1].split(" ")[0]
    return parse_module(
        f"HloModule m, replica_count={DEVICES}\n\n{_ADD}rest {{\n{inner}\n}}\nENTRY e {{\n{_PARAMETERS}{lines[0]}\n"
        f"  ROOT r = {root} call(x0, p1, p2, p3), to_apply=rest\n}}\n"
    )


@dataclass(frozen=True)
class World:
    """What each device holds: `held[device][provider]`."""

    held: Sequence[Mapping[str, Array]]

    @classmethod
    def random(cls, seed: int) -> World:
        random = Random(seed)
        found = []
        for _ in range(DEVICES):
            numbers = {"parameter(1)": (), "parameter(2)": (), "parameter(3)": (3,)}
            found.append(
                {
                    name: Array("s32", sizes, [random.randint(-1, 5) for _ in range(3 if sizes else 1)])
                    for name, sizes in numbers.items()
                }
            )
        return cls(found)


def executed(module: Module, world: World) -> set[Read]:
    (shape, *_) = [p.shape for p in module.entry.parameters]
    assert isinstance(shape, ArrayShape)
    marks = tags(DEVICES * shape.elements, 1)
    given = [
        (Array("f32", shape.dimensions, marks[d * shape.elements : (d + 1) * shape.elements]), *world.held[d].values())
        for d in range(DEVICES)
    ]
    found: set[Read] = set()
    places = list(indices(shape.dimensions))
    for reader, value in enumerate(Machine(module, Counted(union=True), Devices(DEVICES), 0).run(given)):
        assert isinstance(value, Array)
        for out, element in zip(indices(value.sizes), value.data, strict=True):
            for k, times in enumerate(reads(element, len(marks), 1)):
                if times:
                    found.add((reader, out, k // len(places), places[k % len(places)]))
    return found


class Outside(Exception):
    """The point does not belong to the domain."""


def claimed(routes: Sequence[Route], world: World, reverse: bool) -> set[Read]:
    found: set[Read] = set()
    for route, reader in product(routes, range(DEVICES)):
        m = route.map
        boxes = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
        names = [*(f"d{i}" for i in range(len(m.dims))), *(f"s{j}" for j in range(len(m.ranges)))]
        for values in product(*boxes):
            at = dict(zip(names, values, strict=True))
            try:
                holder, there = _at_point(route, at, reader, world)
            except Outside:
                continue
            here = values[: len(m.dims)]
            found.add((reader, there, holder, here) if reverse else (reader, here, holder, there))
    return found


def _at_point(route: Route, at: dict[str, int], reader: int, world: World) -> tuple[int, Index]:
    m, here = route.map, dict(at)
    for k, v in enumerate(m.runtime):
        here[f"rt{k}"] = _held(v, at, reader, route.tables, world)
    if not all(evaluate(c.expr, here) in c.interval for c in m.constraints):
        raise Outside
    steps = [] if m.replica is None else [evaluate(e, here) for e in m.replica.results]
    return _followed(reader, steps, route.tables), tuple(evaluate(e, here) for e in m.results)


def _held(v: RuntimeVariable, at: dict[str, int], reader: int, tables: Sequence[object], world: World) -> int:
    here = {name: value for name, value in at.items() if not name.startswith("rt")}
    index, steps = v.index, list[int]()
    if index is not None:
        for k, w in enumerate(index.runtime):
            here[f"rt{k}"] = _held(w, at, reader, tables, world)
        steps = [] if index.replica is None else [evaluate(e, here) for e in index.replica.results]
    device = _followed(reader, steps, tables)
    if v.provider == READER:
        if len(steps) >= len(tables):
            raise Outside  # there is no table to look the place up in
        place = _group(tables[len(steps)], device).index(device)
        if place not in v.interval:
            raise Outside
        return place
    assert index is not None and v.provider is not None
    x = world.held[device][v.provider]
    held: list[int] = x.data
    where = tuple(evaluate(e, here) for e in index.results)
    if not all(0 <= i < n for i, n in zip(where, x.sizes, strict=True)):
        raise Outside
    return min(max(held[flat_index(where, strides(x.sizes))], v.interval.lower), v.interval.upper)


def _followed(device: int, steps: Sequence[int], tables: Sequence[object]) -> int:
    for position, table in zip(steps, tables, strict=False):
        group = _group(table, device)
        if not 0 <= position < len(group):
            raise Outside
        device = group[position]
    return device


def _group(table: object, device: int) -> tuple[int, ...]:
    if table == "device ids":
        return tuple(range(DEVICES))
    assert isinstance(table, tuple)  # (groups, whether there is a channel, whether ids are global)
    groups: tuple[tuple[int, ...], ...] = table[0]
    return next(g for g in groups if device in g)


def differences(module: Module) -> Iterator[str]:
    composer = plain_composer(module, DEVICES)
    (data, *_), root = module.entry.parameters, module.entry.root
    down = composer.backwards(module.entry, root, ())[data.name, ()]
    up = composer.forwards(module.entry, data, ())[root.name, ()]
    for seed in range(3):
        world = World.random(seed)
        seen = executed(module, world)
        for reached, reverse in ((down, False), (up, True)):
            if reached.unknown:
                yield reached.unknown
            elif claimed(tuple(reached.routes), world, reverse) != seen:
                yield "input to output" if reverse else "output to input"


@pytest.mark.parametrize("inside", [False, True], ids=["", "called"])
@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_collectives_read_whom_they_read(name: str, inside: bool) -> None:
    assert list(differences(inside_of_calls(name) if inside else module_of(name))) == []


def _plant(name: str, wrong: Callable[..., Any]) -> Callable[[Any], None]:
    return lambda patch: patch.setattr(f"hloproof.models.indexing.composition.route.{name}", wrong)


def _other_order(m: IndexingMap, steps: list[Any]) -> IndexingMap:
    return m if m.replica is None else replace(m, replica=replace(m.replica, results=tuple(steps[::-1])))


def _first_member(m: IndexingMap, steps: list[Any]) -> IndexingMap:
    return m if m.replica is None else replace(m, replica=replace(m.replica, results=tuple(Const(0) for _ in steps)))


PLANTED: dict[str, tuple[Callable[[Any], None], list[str]]] = {
    "the reader's own place for that of the device between": (
        _plant("_seen_after", lambda v, m, ahead: v),
        [
            "scatter behind a scatter",
            "exchange behind an exchange",
            "scatter behind a permutation",
            "permutation behind a scatter",
            "a slice between scatters",
        ],
    ),
    "values read by the holder instead of the reader": (
        _plant("_seen_without", lambda v, count: v),
        ["a gather, then a slice", "rows looked up behind a permutation"],
    ),
    "steps in the other order": (
        _plant("_with_steps", _other_order),
        ["gather behind a scatter", "there and back", "a slice between"],
    ),
    "the first of each group": (
        _plant("_with_steps", _first_member),
        ["gather behind a scatter", "exchange behind an exchange"],
    ),
    "positions in the same groups kept both": (
        _plant("_without_step", lambda m, at: m),
        ["scatter behind a scatter, same groups", "twice and another"],
    ),
}


@pytest.mark.parametrize(("planted", "name"), [(p, n) for p, (_, names) in PLANTED.items() for n in names])
def test_planted_errors_are_seen(planted: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[planted][0](monkeypatch)
    assert list(differences(module_of(name))) != []
