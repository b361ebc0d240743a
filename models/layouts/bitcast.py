"""Bitcasts: which elements share bits in memory; and, without tiles, as reshape and transposes.

The decompositions are for dense shapes: no tiles, no split dimensions, no padding. Element types do not matter there,
element counts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.memory_size import element_bits
from hloproof.models.layouts.physical import default_layout, layout_of, part_count, physical_dimensions, physical_order
from hloproof.models.layouts.tiling import index_map, position_expression
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, boxed, rng


def same_bits_map(source: ArrayShape, target: ArrayShape) -> IndexingMap:
    """From each element of `source` to the elements of `target` at the same bits of memory, by the positions of both
    layouts; elements that fall on padding are outside of the domain. A range variable counts the elements of `target`
    in a wider one of `source`.

    Raises NotModelled for split dimensions, and for element sizes of which neither divides the other.
    """
    bits = element_bits(source), element_bits(target)
    if max(bits) % min(bits):
        raise NotModelled(f"a bitcast between elements of {bits[0]} and {bits[1]} bits")
    if part_count(source) > 1:
        raise NotModelled("a bitcast of an array that is split over memories")
    way_back = index_map(target)
    if not source.elements or not target.elements:
        nothing = Constraint(Const(0), Interval.of_size(0))
        return IndexingMap(boxed(source.dimensions), (Const(0),) * target.rank, constraints=(nothing,))
    place = position_expression(source)
    ranges: tuple[Variable, ...] = ()
    if bits[0] > bits[1]:
        ranges = (Variable(Interval.of_size(bits[0] // bits[1])),)
        # The low bits of a wide element come first in memory, so the range variable counts from them.
        place = place * (bits[0] // bits[1]) + rng(0)
    elif bits[0] < bits[1]:
        place = place // (bits[1] // bits[0])
    at = {"d0": place}
    constraints = [Constraint(substitute(c.expr, at), c.interval) for c in way_back.constraints]
    return IndexingMap(
        boxed(source.dimensions),
        tuple(substitute(e, at) for e in way_back.results),
        ranges,
        # Two layouts may need different amounts of memory: an element that lies behind the end of the other one meets
        # nothing.
        constraints=(Constraint(place, way_back.dims[0].interval), *constraints),
    )


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Transpose by `first` to `flattened`, reshape to `reshaped`, transpose by `second` to the result.

    `permutation[k]` is the operand dimension that becomes dimension k, as HLO's transpose has it. All intermediate
    shapes are row-major; every step keeps every element at its place in memory.
    """

    first: tuple[int, ...]
    flattened: ArrayShape
    reshaped: ArrayShape
    second: tuple[int, ...]


def is_decomposable(operand: ArrayShape, result: ArrayShape) -> bool:
    """Dense, and of equal element counts."""
    return _is_dense(operand) and _is_dense(result) and operand.elements == result.elements


def decompose(operand: ArrayShape, result: ArrayShape) -> Decomposition:
    """The operand's dimensions into the order of memory; the reshape; the order of memory into the result's dimensions.

    Raises NotModelled where `is_decomposable` is false.
    """
    if not is_decomposable(operand, result):
        raise NotModelled("a bitcast between different element counts, or with tiles, as reshape and transposes")
    order = physical_order(result)
    return Decomposition(
        physical_order(operand),
        _row_major(operand),
        _row_major(result),
        tuple(order.index(i) for i in range(result.rank)),
    )


def _row_major(shape: ArrayShape) -> ArrayShape:
    """The same memory with the dimensions in its order."""
    layout = replace(layout_of(shape), minor_to_major=default_layout(shape.rank).minor_to_major)
    return ArrayShape(shape.element_type, physical_dimensions(shape), (), layout)


def _is_dense(shape: ArrayShape) -> bool:
    layout = layout_of(shape)
    return not (layout.tiles or layout.split_configs or layout.tail_padding or shape.is_dynamic)


def transpose_of_bitcast(operand: ArrayShape, result: ArrayShape) -> tuple[int, ...] | None:
    """The permutation by which a transpose of the operand is the bitcast to the result; None where it is none.

    Dimensions correspond by their place in memory, so the sizes there have to agree.
    """
    if not (_is_dense(operand) and _is_dense(result)) or physical_dimensions(operand) != physical_dimensions(result):
        return None
    at = dict(zip(physical_order(result), physical_order(operand), strict=True))
    return tuple(at[i] for i in range(result.rank))


def reshape_is_bitcast(operand: ArrayShape, result: ArrayShape) -> bool:
    """A row-major reshape of the operand's logical index keeps every element at its place in memory.

    Both index spaces fall apart into the smallest runs of dimensions with equal element counts. Inside a run the order
    of memory has to be the logical one, without a gap, and the runs have to lie in memory in the same order.
    """
    if not is_decomposable(operand, result):
        return False
    if not operand.elements:
        return True
    groups = common_factors(operand.dimensions, result.dimensions)
    here = _group_order(operand, [g for g, _ in groups])
    return here is not None and here == _group_order(result, [g for _, g in groups])


def aligned_layout(operand: ArrayShape, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """The order, most minor first, in which a row-major reshape of the operand to `sizes` is a bitcast; None where no
    order makes it one. Dimensions of size 1 become the most minor ones."""
    if not _is_dense(operand) or not operand.elements or operand.elements != prod(sizes):
        return None
    groups = common_factors(operand.dimensions, sizes)
    order = _group_order(operand, [g for g, _ in groups])
    if order is None:
        return None
    major_first = [i for g in order for i in groups[g][1]] + [i for i, n in enumerate(sizes) if n == 1]
    return tuple(reversed(major_first))


def _group_order(shape: ArrayShape, groups: Sequence[tuple[int, ...]]) -> list[int] | None:
    """The runs in the order of memory; None where one is out of order or has a gap. Dimensions of size 1 lie
    anywhere."""
    group_of = {i: g for g, dims in enumerate(groups) for i in dims}
    order = [i for i in physical_order(shape) if shape.dimensions[i] != 1]
    out: list[int] = []
    last = -1
    for i in order:
        if out and out[-1] == group_of[i]:
            if i < last:
                return None
        elif group_of[i] in out:
            return None
        else:
            out.append(group_of[i])
        last = i
    return out


def common_factors(one: Sequence[int], two: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The smallest runs of dimensions of equal element count, as dimension numbers of both. Sizes of 1 are left out;
    the element counts are equal and not zero."""
    left, right = [[i for i, n in enumerate(sizes) if n != 1] for sizes in (one, two)]
    out: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    i = j = 0
    while i < len(left):
        a, b = i + 1, j + 1
        while (have := prod(one[k] for k in left[i:a])) != (want := prod(two[k] for k in right[j:b])):
            a, b = (a + 1, b) if have < want else (a, b + 1)
        out.append((tuple(left[i:a]), tuple(right[j:b])))
        i, j = a, b
    return out
