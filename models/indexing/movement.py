"""Operations that move elements by rule: broadcast, transpose, reverse, slice, concatenate, pad."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.remembered import remembered
from hloproof.models.indexing.box import (
    RangeVariables,
    bounds,
    divided,
    dynamic_dimensions,
    narrowed,
    one,
    plus,
    sizes,
    times,
    within,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, boxed, dim, rng


def broadcast_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Operand dimension i follows output dimension `dimensions[i]`, which has its size."""
    to = _broadcast_dimensions(op)
    m = IndexingMap(boxed(bounds(op.shape)), tuple(dim(i) for i in to))
    return (one(0, "moves", m),)


def broadcast_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Output dimensions that are not in `dimensions` are range variables."""
    to = _broadcast_dimensions(op)
    ranges = RangeVariables()
    results = tuple(dim(to.index(j)) if j in to else ranges.new(n) for j, n in enumerate(bounds(op.shape)))
    return (one(0, "moves", IndexingMap(boxed(bounds(op.operands[0])), results, ranges.done())),)


def _broadcast_dimensions(op: Operation) -> tuple[int, ...]:
    """Where the operand's dimensions go. Raises NotModelled where one would be stretched, which means nothing."""
    to, operand, out = op.attributes.integers("dimensions"), bounds(op.operands[0]), bounds(op.shape)
    if len(to) != len(operand) or any(out[j] != n for j, n in zip(to, operand, strict=True)):
        raise NotModelled(f"broadcast of {operand} into {out} along {to}")
    return to


def transpose_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Output dimension i is operand dimension `dimensions[i]`."""
    permutation = op.attributes.integers("dimensions")
    results = tuple(dim(permutation.index(j)) for j in range(len(permutation)))
    return (one(0, "moves", IndexingMap(boxed(bounds(op.shape)), results)),)


def transpose_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    permutation = op.attributes.integers("dimensions")
    results = tuple(dim(i) for i in permutation)
    return (one(0, "moves", IndexingMap(boxed(bounds(op.operands[0])), results)),)


def reverse_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Index i of a reversed dimension of n elements is n - 1 - i of the operand."""
    return (one(0, "moves", _reversal(op, bounds(op.shape))),)


def reverse_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    return (one(0, "moves", _reversal(op, bounds(op.operands[0]))),)


def _reversal(op: Operation, box: Sequence[int]) -> IndexingMap:
    turned = op.attributes.integers("dimensions")
    if dynamic_dimensions(op.shape).intersection(turned):
        raise NotModelled("reverse along a dynamic dimension")
    return IndexingMap(boxed(box), tuple(plus(-dim(i), n - 1) if i in turned else dim(i) for i, n in enumerate(box)))


def slice_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Output index i is operand index start + i * stride."""
    results = tuple(plus(times(dim(i), c.stride), c.start) for i, c in enumerate(_cuts(op)))
    return (one(0, "moves", IndexingMap(boxed(bounds(op.shape)), results)),)


def slice_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Only elements between start and limit that the stride hits go anywhere."""
    start, cuts = bounds(op.operands[0]), _cuts(op)
    kept: dict[int, Interval] = {}
    results: list[Expr] = []
    constraints: list[Constraint] = []
    for i, (c, n) in enumerate(zip(cuts, bounds(op.shape), strict=True)):
        kept[i] = Interval(c.start, c.start + (n - 1) * c.stride)
        shifted = plus(dim(i), -c.start)
        results.append(divided(shifted, c.stride))
        if c.stride > 1:
            constraints.append(within(shifted % c.stride, 0, 0))
    m = IndexingMap(narrowed(start, kept), tuple(results), constraints=tuple(constraints))
    return (one(0, "moves", m),)


def _cuts(op: Operation) -> tuple[SliceDimension, ...]:
    cuts, box = op.attributes.get("slice"), bounds(op.operands[0])
    found = tuple(c for c in cuts if isinstance(c, SliceDimension)) if isinstance(cuts, tuple) else ()
    if len(found) != len(box):
        raise NotModelled("slice without one entry per dimension")
    for i in dynamic_dimensions(op.operands[0]):
        if found[i] != SliceDimension(0, box[i], 1):
            raise NotModelled("slice that cuts a dynamic dimension")
    return found


def concatenate_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Each operand has its own stretch of the concatenated dimension."""
    axis, begins = _concatenated(op)
    out, found = bounds(op.shape), []
    for n, (begin, end) in enumerate(pairwise(begins)):
        kept = {axis: Interval(begin, end - 1)}
        results = tuple(plus(dim(i), -begin) if i == axis else dim(i) for i in range(len(out)))
        found.append(one(n, "moves", IndexingMap(narrowed(out, kept), results)))
    return tuple(found)


def concatenate_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    axis, begins = _concatenated(op)
    box, before = bounds(op.operands[operand]), begins[operand]
    results = tuple(plus(dim(i), before) if i == axis else dim(i) for i in range(len(box)))
    return (one(0, "moves", IndexingMap(boxed(box), results)),)


@remembered
def _concatenated(op: Operation) -> tuple[int, tuple[int, ...]]:
    """The dimension along which operands follow each other, where each begins along it, and where the last ends.

    Raises NotModelled where the size of one is dynamic.
    """
    (axis,) = op.attributes.integers("dimensions")
    if any(axis in dynamic_dimensions(s) for s in op.operands):
        raise NotModelled("concatenate along a dynamic dimension")
    return axis, (0, *accumulate(bounds(s)[axis] for s in op.operands))


def pad_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Operand element i lies at low + i * (interior + 1) where that is inside the output; the rest is the pad value.

    Negative low or high crop, holes of the interior padding too. The pad value's maps are disjoint and cover exactly
    what the operand does not.
    """
    out = sizes(op.shape)
    kept: dict[int, Interval] = {}
    results: list[Expr] = []
    holes: list[Constraint] = []
    for i, (p, elements) in enumerate(zip(_padding(op), _inside(op), strict=True)):
        step, offset = p.interior + 1, plus(dim(i), -p.low)
        kept[i] = _places(p, elements)
        results.append(divided(offset, step))
        if step > 1:
            holes.append(within(offset % step, 0, 0))
    data = IndexingMap(narrowed(out, kept), tuple(results), constraints=tuple(holes))
    value = tuple(IndexingMap(d, (), constraints=c) for d, c in padding_regions(op))
    return one(0, "moves", data), OperandMaps(1, "moves", value)


def pad_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Elements that negative edges crop away go nowhere; the pad value goes to every place that is left."""
    if operand == 1:
        maps = tuple(_as_ranges(d, c) for d, c in padding_regions(op))
        return (OperandMaps(0, "moves", maps),)
    results = tuple(plus(times(dim(i), p.interior + 1), p.low) for i, p in enumerate(_padding(op)))
    kept = dict(enumerate(_inside(op)))
    return (one(0, "moves", IndexingMap(narrowed(sizes(op.operands[0]), kept), results)),)


def _inside(op: Operation) -> tuple[Interval, ...]:
    """Dimension by dimension, the operand's indices whose places lie inside the output."""
    return tuple(
        Interval(max(0, -(p.low // (p.interior + 1))), min(n - 1, (size - 1 - p.low) // (p.interior + 1)))
        for p, n, size in zip(_padding(op), sizes(op.operands[0]), sizes(op.shape), strict=True)
    )


def _places(p: PaddingDimension, elements: Interval) -> Interval:
    """From the first to the last place of these elements in the output; empty where there are none."""
    step = p.interior + 1
    return Interval(p.low + elements.lower * step, p.low + elements.upper * step)


def padding_regions(op: Operation) -> list[tuple[tuple[Variable, ...], tuple[Constraint, ...]]]:
    """The places of the output that hold the pad value, as disjoint boxes with stride constraints.

    Places are told apart by their first dimension that is not at an operand element: left of all elements, right of
    all, or in a hole between two. Boxes that are empty are left out.
    """
    out = sizes(op.shape)
    found: list[tuple[tuple[Variable, ...], tuple[Constraint, ...]]] = []
    kept: dict[int, Interval] = {}
    earlier: list[Constraint] = []
    for i, (p, elements) in enumerate(zip(_padding(op), _inside(op), strict=True)):
        step, offset, stretch = p.interior + 1, plus(dim(i), -p.low), _places(p, elements)
        everything = Interval.of_size(out[i])
        cases: list[tuple[Interval, tuple[Constraint, ...]]] = []
        if elements.is_empty:
            cases.append((everything, ()))
        else:
            cases.append((Interval(everything.lower, stretch.lower - 1), ()))
            cases.append((Interval(stretch.upper + 1, everything.upper), ()))
        if elements.count > 1 and step > 1:
            cases.append((stretch, (within(offset % step, 1, step - 1),)))
        for interval, constraints in cases:
            box = narrowed(out, {**kept, i: interval})
            if not any(v.interval.is_empty for v in box):
                found.append((box, (*earlier, *constraints)))
        kept[i] = stretch
        if step > 1:
            earlier.append(within(offset % step, 0, 0))
    return found


def _padding(op: Operation) -> tuple[PaddingDimension, ...]:
    padding = op.attributes.get("padding")
    found = tuple(p for p in padding if isinstance(p, PaddingDimension)) if isinstance(padding, tuple) else ()
    if len(found) != len(sizes(op.operands[0])):
        raise NotModelled("pad without one entry per dimension")
    return found


def _as_ranges(box: tuple[Variable, ...], constraints: tuple[Constraint, ...]) -> IndexingMap:
    """() -> every place of the box: its dims as range variables."""
    names = {f"d{i}": rng(i) for i in range(len(box))}
    moved = tuple(Constraint(substitute(c.expr, names), c.interval) for c in constraints)
    return IndexingMap((), tuple(rng(i) for i in range(len(box))), box, constraints=moved)
