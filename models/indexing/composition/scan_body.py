"""A scan whose body is at hand: outputs that do not depend on the carries read their own slice only."""

from __future__ import annotations

from dataclasses import replace

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing.box import RangeVariables
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap, dim


def with_body(
    composer: Composer, instruction: Instruction, direction: Direction, number: int, sets: tuple[OperandMaps, ...]
) -> tuple[OperandMaps, ...]:
    """The maps of a scan, narrowed where the body shows that an output slice depends on no carry. The body takes input
    slices, then carries, and gives output slices, then carries. Initial carries keep their maps, then as a bound."""
    body = instruction.attributes.get("to_apply")
    callee = composer.module.by_name.get(body.name) if isinstance(body, ComputationRef) else None
    (axis,) = instruction.attributes.integers("dimensions")
    outputs = [shape for _, shape in leaves(instruction.shape)]
    carries = instruction.attributes.integer("num_carries", 0)
    if callee is None or len(list(leaves(callee.root.shape))) != len(outputs):
        return sets
    inputs, arrays = len(callee.parameters) - carries, len(outputs) - carries
    found = []
    for s in sets:
        output, operand = (number, s.operand) if direction == OUTPUT_TO_INPUT else (s.operand, number)
        narrow = _used(composer, instruction, output, inputs) if output < arrays else None
        if narrow is None:
            found.append(s)
        elif operand >= inputs:
            found.append(replace(s, kind="bound"))
        elif operand not in narrow:
            found.append(replace(s, maps=()))
        else:
            found.append(replace(s, maps=tuple(_own_slice(m, axis) for m in s.maps)))
    return tuple(found)


def _used(composer: Composer, instruction: Instruction, output: int, inputs: int) -> frozenset[int] | None:
    """The inputs that an output slice depends on; None when it may depend on a carry."""
    body = instruction.attributes.get("to_apply")
    assert isinstance(body, ComputationRef)
    try:
        steps = composer.through(composer.module.by_name[body.name], OUTPUT_TO_INPUT, 0, (output,))
    except (NotModelled, ValueError):
        return None
    if any(s.unknown or s.number >= inputs for s in steps):
        return None
    return frozenset(s.number for s in steps)


def _own_slice(m: IndexingMap, axis: int) -> IndexingMap:
    """The map to all of the slice with the own index along the scanned dimension."""
    ranges = RangeVariables()
    extents = [v.interval.count for v in m.ranges] if m.ranges else []
    results, left = [], iter(extents)
    for i, e in enumerate(m.results):
        size = next(left) if any(name.startswith("s") for name in e.free) else 1
        results.append(dim(axis) if i == axis else e if e.free and size == 1 else ranges.new(size))
    return IndexingMap(m.dims, tuple(results), ranges.done())
