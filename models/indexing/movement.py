"""Operations that move elements by rule: broadcast, transpose, reverse, slice, concatenate, pad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.remembered import remembered
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    bounds,
    divided,
    dynamic_dimensions,
    narrowed,
    one,
    plus,
    times,
    total,
    within,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.indexing.run_time_sizes import RunTimeSizes, below, require_dynamic, stretch, with_sizes_used
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, boxed, dim, rng


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
    """Output dimension i has the index of operand dimension `dimensions[i]`."""
    permutation = op.attributes.integers("dimensions")
    results = tuple(dim(i) for i in permutation)
    return (one(0, "moves", IndexingMap(boxed(bounds(op.operands[0])), results)),)


def reverse_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Index i of a reversed dimension of n elements is n - 1 - i of the operand."""
    return (one(0, "moves", _reversal(op, bounds(op.shape))),)


def reverse_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Index i of a reversed dimension of n goes to n - 1 - i."""
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
        # Up to the last element that is taken, which may lie before the limit.
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
    """Each operand has its own stretch of the concatenated dimension, which begins where the ones before it end."""
    axis, begins = _concatenated(op)
    out, found = bounds(op.shape), []
    first_dynamic = _first_dynamic(op, axis)
    for n, (begin, end) in enumerate(pairwise(begins)):
        # Up to the first operand of dynamic size every place is known; behind it they depend on sizes at run time.
        if n < first_dynamic:
            kept = {axis: Interval(begin, end - 1)}
            results = tuple(plus(dim(i), -begin) if i == axis else dim(i) for i in range(len(out)))
            found.append(one(n, "moves", IndexingMap(narrowed(out, kept), results)))
            continue
        held, own = RunTimeSizes(op, out), end - begin
        before = _before(op, held, axis, n)
        place = dim(axis) - before if before != Const(0) else dim(axis)
        size = held.of(n, axis)
        constraints = [] if n == first_dynamic else [within(place, 0, own - 1)]
        if not isinstance(size, Const):
            constraints.append(below(place, size, own))
        kept = {axis: Interval(begins[min(n, first_dynamic)], end - 1)}
        results = tuple(place if i == axis else dim(i) for i in range(len(out)))
        m = IndexingMap(narrowed(out, kept), results, runtime=held.done(), constraints=tuple(constraints))
        found.append(one(n, "moves", m))
    return tuple(found)


def concatenate_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The index plus the sizes of the operands before it, as they are at run time."""
    axis, _ = _concatenated(op)
    box = bounds(op.operands[operand])
    held = RunTimeSizes(op, box)
    place = total([dim(axis), _before(op, held, axis, operand)])
    size = held.of(operand, axis)
    constraints = () if isinstance(size, Const) else (below(dim(axis), size, box[axis]),)
    results = tuple(place if i == axis else dim(i) for i in range(len(box)))
    return (one(0, "moves", IndexingMap(boxed(box), results, runtime=held.done(), constraints=constraints)),)


def _before(op: Operation, held: RunTimeSizes, axis: int, operand: int) -> Expr:
    """How many places the operands before this one take."""
    found = [held.of(k, axis) for k in range(operand)]
    fixed = sum(e.value for e in found if isinstance(e, Const))
    return total([*(e for e in found if not isinstance(e, Const)), Const(fixed)])


@remembered
def _concatenated(op: Operation) -> tuple[int, tuple[int, ...]]:
    """The dimension along which operands follow each other, where each begins along it when all have the size of their
    bound, and where the last ends. Raises NotModelled where the size of one is dynamic and that of the result is not.
    """
    (axis,) = op.attributes.integers("dimensions")
    if _first_dynamic(op, axis) < len(op.operands):
        require_dynamic(op, axis)
    return axis, (0, *accumulate(bounds(s)[axis] for s in op.operands))


def _first_dynamic(op: Operation, axis: int) -> int:
    """The first operand whose size along the dimension is known at run time only; the number of operands without."""
    return next((n for n, s in enumerate(op.operands) if axis in dynamic_dimensions(s)), len(op.operands))


def pad_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Operand element i lies at low + i * (interior + 1) where that is inside the output; the rest is the pad value.

    Negative low or high crop, holes of the interior padding too. The pad value's maps are disjoint and cover exactly
    what the operand does not. Where the size of a dimension is dynamic, the high edge follows its last element.
    """
    out = bounds(op.shape)
    held = RunTimeSizes(op, out)
    kept: dict[int, Interval] = {}
    results: list[Expr] = []
    holes: list[Constraint] = []
    for i, (p, elements) in enumerate(zip(_padding(op), _inside(op), strict=True)):
        step, offset = p.interior + 1, plus(dim(i), -p.low)
        kept[i] = _places(p, elements)
        results.append(divided(offset, step))
        if step > 1:
            holes.append(within(offset % step, 0, 0))
        if _moves_along(op, i):
            holes.append(_before_end(op, held, i, dim(i), p.low + min(p.high, 0)))
    data = IndexingMap(narrowed(out, kept), tuple(results), runtime=held.done(), constraints=tuple(holes))
    return one(0, "moves", data), OperandMaps(1, "moves", tuple(padding_maps(op)))


def pad_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Elements that negative edges crop away go nowhere; the pad value goes to every place that is left."""
    if operand == 1:
        return (OperandMaps(0, "moves", tuple(_as_ranges(m) for m in padding_maps(op))),)
    box = bounds(op.operands[0])
    held, constraints = RunTimeSizes(op, box), []
    results = tuple(plus(times(dim(i), p.interior + 1), p.low) for i, p in enumerate(_padding(op)))
    for i, p in enumerate(_padding(op)):
        if _moves_along(op, i):
            constraints.append(_before_end(op, held, i, times(dim(i), p.interior + 1), min(p.high, 0)))
    kept = dict(enumerate(_inside(op)))
    m = IndexingMap(narrowed(box, kept), results, runtime=held.done(), constraints=tuple(constraints))
    return (one(0, "moves", m),)


def _moves_along(op: Operation, i: int) -> bool:
    """The dimension is padded, and its size is dynamic. Raises NotModelled where that of the result is not."""
    if i not in dynamic_dimensions(op.operands[0]) or _padding(op)[i] == PaddingDimension(0, 0, 0):
        return False
    require_dynamic(op, i)
    return True


def _before_end(op: Operation, held: RunTimeSizes, i: int, e: Expr, distance: int) -> Constraint:
    """e < distance + the stretch that the elements of a dynamic dimension take."""
    p, bound = _padding(op)[i], bounds(op.operands[0])[i]
    return within(e - stretch(p, held.of(0, i)), min(0, p.low) - _widest(p, bound), distance - 1)


def _widest(p: PaddingDimension, bound: int) -> int:
    return max(0, bound * (p.interior + 1) - p.interior)


def _inside(op: Operation) -> tuple[Interval, ...]:
    """Dimension by dimension, the operand's indices whose places lie inside the output."""
    return tuple(
        # Negative edges crop: the first element whose place is not below 0 has the number ceil(-low / step).
        Interval(max(0, -(p.low // (p.interior + 1))), min(n - 1, (size - 1 - p.low) // (p.interior + 1)))
        for p, n, size in zip(_padding(op), bounds(op.operands[0]), bounds(op.shape), strict=True)
    )


def _places(p: PaddingDimension, elements: Interval) -> Interval:
    """From the first to the last place of these elements in the output; empty where there are none."""
    step = p.interior + 1
    return Interval(p.low + elements.lower * step, p.low + elements.upper * step)


def padding_maps(op: Operation) -> list[IndexingMap]:
    """From the places of the output that hold the pad value to that value, as disjoint boxes with constraints.

    Places are told apart by their first dimension that is not at an operand element: left of all elements, right of
    all, or in a hole between two. Boxes that are empty are left out.
    """
    out = bounds(op.shape)
    found: list[IndexingMap] = []
    kept: dict[int, Interval] = {}
    earlier: list[Constraint] = []
    held = RunTimeSizes(op, out)
    padding = _padding(op)
    ends = {i: _before_end(op, held, i, dim(i), p.low + p.high) for i, p in enumerate(padding) if _moves_along(op, i)}
    """In each dynamic dimension that the padding moves: the place lies before the end of the result."""
    for i, (p, elements) in enumerate(zip(padding, _inside(op), strict=True)):
        step, offset, reached = p.interior + 1, plus(dim(i), -p.low), _places(p, elements)
        everything = Interval.of_size(out[i])
        later = [c for k, c in ends.items() if k > i]
        cases: list[tuple[Interval, tuple[Constraint, ...]]] = []
        at_elements = [within(offset % step, 0, 0)] if step > 1 else []
        hole = (within(offset % step, 1, step - 1),) if elements.count > 1 and step > 1 else ()
        if elements.is_empty:
            cases.append((everything, (ends[i],) if i in ends else ()))
        elif i in ends:
            on = Interval(reached.lower, everything.upper)
            after = dim(i) - stretch(p, held.of(0, i))
            before_last = _before_end(op, held, i, dim(i), p.low + min(p.high, 0))
            # Left of the first element that there may be; without cropping the result reaches that far for any size.
            cases.append((Interval(everything.lower, reached.lower - 1), (ends[i],) if min(p.low, p.high) < 0 else ()))
            cases.append((on, (within(after, p.low, p.low + p.high - 1),)))
            if step > 1:
                cases.append((on, (within(offset % step, 1, step - 1), before_last)))
            at_elements.append(before_last)
        else:
            cases.append((Interval(everything.lower, reached.lower - 1), ()))
            cases.append((Interval(reached.upper + 1, everything.upper), ()))
            if hole:
                cases.append((reached, hole))
        for interval, constraints in cases:
            box = narrowed(out, {**kept, i: interval})
            every = (*earlier, *constraints, *later)
            if not any(v.interval.is_empty for v in box) and not any(c.interval.is_empty for c in every):
                found.append(with_sizes_used(IndexingMap(box, (), runtime=held.done(), constraints=every)))
        # The next dimension tells apart only places that are at an element in this one, so that no place is told twice.
        kept[i] = reached
        earlier += at_elements
    return found


def _padding(op: Operation) -> tuple[PaddingDimension, ...]:
    padding = op.attributes.get("padding")
    found = tuple(p for p in padding if isinstance(p, PaddingDimension)) if isinstance(padding, tuple) else ()
    if len(found) != len(bounds(op.operands[0])):
        raise NotModelled("pad without one entry per dimension")
    return found


def _as_ranges(m: IndexingMap) -> IndexingMap:
    """() -> every place of the map's domain: its dims as range variables."""
    names = {f"d{i}": rng(i) for i in range(len(m.dims))}
    moved = tuple(Constraint(substitute(c.expr, names), c.interval) for c in m.constraints)
    runtime = tuple(replace(v, index=IndexingMap((), v.index.results if v.index else ())) for v in m.runtime)
    return IndexingMap((), tuple(rng(i) for i in range(len(m.dims))), m.dims, runtime, moved)


BUILDERS: Final[Mapping[str, Builders]] = {
    "broadcast": Builders(broadcast_output_to_input, broadcast_input_to_output),
    "concatenate": Builders(concatenate_output_to_input, concatenate_input_to_output),
    "pad": Builders(pad_output_to_input, pad_input_to_output),
    "reverse": Builders(reverse_output_to_input, reverse_input_to_output),
    "slice": Builders(slice_output_to_input, slice_input_to_output),
    "transpose": Builders(transpose_output_to_input, transpose_input_to_output),
}
"""By opcode, both directions."""
