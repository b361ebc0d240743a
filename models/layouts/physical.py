"""Physical dimensions: the logical ones in the order of memory, and the parts of a split dimension.

A shape without layout has the default one: row-major, no tiles. `SC(k:i,j)` splits the k-th physical dimension, counted
from the most major one, at the coordinates i and j: each part lies in a memory of its own, and every part takes the
space of the longest. (XLA's MaxSplitSize and DeleteDimension read the number so.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, minimum
from hloproof.models.hlo.shape import ArrayShape, Layout, SplitConfig
from hloproof.models.maps.indexing_map import dim


def default_layout(rank: int) -> Layout:
    """Row-major: the last dimension is the most minor one."""
    return Layout(tuple(reversed(range(rank))))


def layout_of(shape: ArrayShape) -> Layout:
    """The layout of the shape; the default order where it has none or names none."""
    layout = shape.layout
    if layout is None:
        return default_layout(shape.rank)
    if shape.rank and not layout.minor_to_major:
        return replace(layout, minor_to_major=default_layout(shape.rank).minor_to_major)
    return layout


def physical_order(shape: ArrayShape) -> tuple[int, ...]:
    """The logical dimension numbers, most major first."""
    return tuple(reversed(layout_of(shape).minor_to_major))


def physical_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The sizes in the order of memory, most major first, before tiles and padding.

    Raises NotModelled for unbounded dimensions.
    """
    if any(n < 0 for n in shape.dimensions):
        raise NotModelled("an array with unbounded dimensions has no positions")
    check_dense(shape)
    return tuple(shape.dimensions[i] for i in physical_order(shape))


def check_dense(shape: ArrayShape) -> None:
    """Raises NotModelled for sparse arrays: where an element lies depends on the values."""
    if shape.layout is not None and any(level != "D" for level in shape.layout.level_types):
        raise NotModelled("the positions of a sparse array")


def splits(shape: ArrayShape) -> tuple[SplitConfig | None, ...]:
    """For each physical dimension, most major first, its split.

    Raises NotModelled for split indices that do not increase inside of the dimension.
    """
    found: dict[int, SplitConfig] = {}
    for c in layout_of(shape).split_configs:
        size = shape.dimensions[physical_order(shape)[c.dimension]]
        # Parts without elements, or out of order, would give one element two places.
        if any(a >= b for a, b in pairwise((0, *c.split_indices, size))):
            raise NotModelled(f"split indices {list(c.split_indices)} of a dimension of size {size}")
        found.setdefault(c.dimension, c)
    return tuple(found.get(k) for k in range(shape.rank))


def _part_sizes(c: SplitConfig, size: int) -> tuple[int, ...]:
    return tuple(b - a for a, b in pairwise((0, *c.split_indices, size)))


def max_split_size(shape: ArrayShape, dimension: int) -> int:
    """The longest part of a logical dimension; its size where it is not split."""
    split = splits(shape)[physical_order(shape).index(dimension)]
    size = shape.dimensions[dimension]
    return max(_part_sizes(split, size)) if split else size


def part_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The physical dimensions of one part; those of the array where nothing is split."""
    sizes = physical_dimensions(shape)
    return tuple(max(_part_sizes(c, n)) if c else n for c, n in zip(splits(shape), sizes, strict=True))


def part_count(shape: ArrayShape) -> int:
    """Over how many memories the array is split."""
    return prod(len(c.split_indices) + 1 for c in splits(shape) if c)


def part_of(shape: ArrayShape, index: Sequence[int]) -> int:
    """The number of the part that holds a logical index, row-major over the split dimensions."""
    part = 0
    for i, c in zip(physical_order(shape), splits(shape), strict=True):
        if c is not None:
            part = part * (len(c.split_indices) + 1) + sum(index[i] >= s for s in c.split_indices)
    return part


def offset_in_part(shape: ArrayShape, physical: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of a physical index, each counted from the start of its part."""
    return tuple(
        e - max((s for s in c.split_indices if s <= e), default=0) if c else e
        for e, c in zip(physical, splits(shape), strict=True)
    )


def join_parts(shape: ArrayShape, offset: Sequence[int], part: int) -> tuple[int, ...] | None:
    """The physical index at coordinates of a part; None where a shorter part ends before it."""
    physical = list(offset)
    for k, c in reversed(list(enumerate(splits(shape)))):
        if c is not None:
            bounds = (0, *c.split_indices, shape.dimensions[physical_order(shape)[k]])
            # From the most minor split dimension up, as `part_of` counts them.
            part, p = divmod(part, len(bounds) - 1)
            physical[k] += bounds[p]
            # All parts take the space of the longest one; the end of a shorter one is padding.
            if physical[k] >= bounds[p + 1]:
                return None
    return tuple(physical)


def part_expression(shape: ArrayShape) -> Expr | None:
    """The part number over d0, d1, ...; None where nothing is split."""
    part: Expr | None = None
    for i, c in zip(physical_order(shape), splits(shape), strict=True):
        if c is not None:
            own: Expr = Const(0)
            for s in c.split_indices:
                own = own + _reached(dim(i), s)
            part = own if part is None else part * (len(c.split_indices) + 1) + own
    return part


def offset_expressions(shape: ArrayShape) -> tuple[Expr, ...]:
    """`offset_in_part` over d0, d1, ..., most major first."""
    out: list[Expr] = []
    for i, c in zip(physical_order(shape), splits(shape), strict=True):
        e = dim(i)
        for a, b in pairwise((0, *c.split_indices)) if c else ():
            e = e - _reached(dim(i), b) * (b - a)
        out.append(e)
    return tuple(out)


def _reached(e: Expr, threshold: int) -> Expr:
    """1 where `e >= threshold`, else 0, for e >= 0 and a threshold that is not 0."""
    return minimum(e // threshold, 1)
