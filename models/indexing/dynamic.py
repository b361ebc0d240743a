"""Slices whose place is known at run time only: dynamic-slice and dynamic-update-slice.

The start indices are operands: one scalar per dimension, or, in the older form, one vector with an element per
dimension. Each is clamped so that the slice fits: into [0, size of the dimension - size of the slice].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.box import Builders, bounds, narrowed, one, sizes, to_scalar, whole, within
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable, boxed, dim, rt


def dynamic_slice_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Output index i of a dimension is operand index start + i; the start indices are read too."""
    out, operand = sizes(op.shape), sizes(op.operands[0])
    starts = _starts(op, 1, out, operand, out)
    results = tuple(dim(i) + rt(i) for i in range(len(out)))
    data = IndexingMap(boxed(out), results, runtime=starts)
    return one(0, "moves", data), *_reads_of_starts(op, 1, out)


def dynamic_slice_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An element inside the slice goes to its distance from the start; a start index decides the whole output."""
    out = sizes(op.shape)
    if operand:
        return (one(0, "reads", whole(bounds(op.operands[operand]), out)),)
    box = sizes(op.operands[0])
    results = tuple(dim(i) - rt(i) for i in range(len(box)))
    constraints = tuple(within(e, 0, n - 1) for e, n in zip(results, out, strict=True))
    m = IndexingMap(boxed(box), results, runtime=_starts(op, 1, box, box, out), constraints=constraints)
    return (one(0, "moves", m),)


def dynamic_update_slice_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Inside the window the update, outside the operand. The outside is no single box: its maps are disjoint and
    together with the window they cover the output."""
    out, update = sizes(op.shape), sizes(op.operands[1])
    starts = _starts(op, 2, out, out, update)
    outside = tuple(
        IndexingMap(box, tuple(dim(i) for i in range(len(out))), runtime=starts[:used], constraints=constraints)
        for box, used, constraints in _outside(out, update)
    )
    results = tuple(dim(i) - rt(i) for i in range(len(out)))
    constraints = tuple(within(e, 0, n - 1) for e, n in zip(results, update, strict=True))
    window = IndexingMap(boxed(out), results, runtime=starts, constraints=constraints)
    return OperandMaps(0, "moves", outside), one(1, "moves", window), *_reads_of_starts(op, 2, out)


def dynamic_update_slice_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The operand where it is kept, the update from the clamped start on, each start index to every element."""
    out, update = sizes(op.shape), sizes(op.operands[1])
    if operand == 0:
        starts = _starts(op, 2, out, out, update)
        index = tuple(dim(i) for i in range(len(out)))
        kept = tuple(
            IndexingMap(box, index, runtime=starts[:used], constraints=constraints)
            for box, used, constraints in _outside(out, update)
        )
        return (OperandMaps(0, "moves", kept),)
    if operand == 1:
        placed = tuple(dim(i) + rt(i) for i in range(len(update)))
        m = IndexingMap(boxed(update), placed, runtime=_starts(op, 2, update, out, update))
        return (one(0, "moves", m),)
    return (one(0, "reads", whole(bounds(op.operands[operand]), out)),)


def _starts(
    op: Operation, first: int, box: Sequence[int], of_dims: Sequence[int], window: Sequence[int]
) -> tuple[RuntimeVariable, ...]:
    """One clamped start index per dimension, as seen from a map whose dims range over `box`."""
    vector = len(op.operands) == first + 1 and len(bounds(op.operands[first])) == 1
    found = []
    for i, (n, w) in enumerate(zip(of_dims, window, strict=True)):
        index: tuple[Expr, ...] = (Const(i),) if vector else ()
        provider = first if vector else first + i
        found.append(
            RuntimeVariable(Interval(0, n - w), provider=f"operand({provider})", index=IndexingMap(boxed(box), index))
        )
    return tuple(found)


def _reads_of_starts(op: Operation, first: int, out: Sequence[int]) -> tuple[OperandMaps, ...]:
    return tuple(
        one(n, "reads", whole(out, box) if (box := bounds(op.operands[n])) else to_scalar(out))
        for n in range(first, len(op.operands))
    )


def _outside(
    out: Sequence[int], update: Sequence[int]
) -> list[tuple[tuple[Variable, ...], int, tuple[Constraint, ...]]]:
    """The places that the update leaves alone, as disjoint boxes, told apart by the first dimension in which they miss
    the window: below it or above it. With each box the number of start indices that it needs."""
    found: list[tuple[tuple[Variable, ...], int, tuple[Constraint, ...]]] = []
    if 0 in update:
        # Nothing is written, wherever the window starts.
        return [(boxed(out), 0, ())]
    inside: list[Constraint] = []
    for i, (n, w) in enumerate(zip(out, update, strict=True)):
        distance = dim(i) - rt(i)
        if w < n:
            room, last = n - w, n - 1
            found.append((narrowed(out, {i: Interval(0, room - 1)}), i + 1, (*inside, within(distance, -room, -1))))
            found.append((narrowed(out, {i: Interval(w, last)}), i + 1, (*inside, within(distance, w, last))))
        inside.append(within(distance, 0, w - 1))
    return found


BUILDERS: Final[Mapping[str, Builders]] = {
    "dynamic-slice": Builders(dynamic_slice_output_to_input, dynamic_slice_input_to_output),
    "dynamic-update-slice": Builders(dynamic_update_slice_output_to_input, dynamic_update_slice_input_to_output),
}
"""By opcode, both directions."""
