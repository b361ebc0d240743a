"""Where an element lies in memory: tiled layouts by the formula.

Physical dimensions are the logical ones in reverse minor-to-major order, most major first. Each tile applies to a
suffix of the dimensions so far and replaces them by tile counts followed by the tile's own sizes:

    linear_index((e floordiv t, e mod t), (ceil(d / t), t))

A tile longer than the dimensions so far meets leading dimensions of size 1. Its entry `*` multiplies the dimension
into the next more minor one before the tile applies. The definition is that of XLA's document on tiled layouts; what it
leaves open follows XLA's own tests (leading ones, scalars).

Functions take an array shape; a shape without layout has the default one, row-major and without tiles. Indices may be
integers or expressions. All raise NotModelled for unbounded dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import COMBINE, ArrayShape, Tile
from hloproof.models.layouts.physical import (
    join_parts,
    layout_of,
    offset_expressions,
    offset_in_part,
    part_count,
    part_dimensions,
    part_expression,
    physical_order,
)
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, boxed, dim

_Index = TypeVar("_Index", int, Expr)


@dataclass(frozen=True, slots=True)
class TileStage:
    """One tile at work. All sizes are most major first.

    `before` are the dimensions that the tile meets, `leading` ones among them were prepended, `groups` says which of
    them each tiled dimension joins (one, or several where the tile combines), `joined` is `before` after combining,
    `untiled` of its dimensions stay in front, and `counts` tiles of `sizes` elements cover the others.
    """

    before: tuple[int, ...]
    leading: int
    groups: tuple[tuple[int, ...], ...]
    joined: tuple[int, ...]
    untiled: int
    counts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def after(self) -> tuple[int, ...]:
        """The dimensions that the next tile meets."""
        return (*self.joined[: self.untiled], *self.counts, *self.sizes)


def stage(before: tuple[int, ...], tile: Tile) -> TileStage:
    """How `tile` meets dimensions of these sizes."""
    entries = tile.dimensions
    if not entries or entries[-1] == COMBINE:
        raise NotModelled("a tile whose most minor entry is * has nothing to combine into")
    # XLA's own tests apply tiles of two dimensions to vectors and scalars: they count as having leading dimensions of
    # one.
    leading = max(0, len(entries) - len(before))
    dims = (1,) * leading + before
    first = len(dims) - len(entries)
    groups: list[tuple[int, ...]] = []
    group: tuple[int, ...] = ()
    for i, entry in enumerate(entries, first):
        group = (*group, i)
        if entry != COMBINE:
            groups.append(group)
            group = ()
    sizes = tuple(entry for entry in entries if entry != COMBINE)
    joined = dims[:first] + tuple(prod(dims[i] for i in g) for g in groups)
    # Rounded up: the last tile of a dimension may hold padding, and takes its whole space.
    counts = tuple(-(-n // t) for n, t in zip(joined[first:], sizes, strict=True))
    return TileStage(dims, leading, tuple(groups), joined, first, counts, sizes)


def stages(shape: ArrayShape) -> tuple[TileStage, ...]:
    """One stage per tile, in the order in which they apply."""
    return stages_of(part_dimensions(shape), layout_of(shape).tiles)


def stages_of(dims: tuple[int, ...], tiles: Sequence[Tile]) -> tuple[TileStage, ...]:
    """The same over physical dimensions given as sizes."""
    out: list[TileStage] = []
    for tile in tiles:
        out.append(stage(dims, tile))
        dims = out[-1].after
    return tuple(out)


def expanded_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The dimensions of memory after all tiles: tile counts and tile sizes, most major first."""
    found = stages(shape)
    return found[-1].after if found else part_dimensions(shape)


def linear_index(index: Sequence[_Index], sizes: Sequence[int], zero: _Index) -> _Index:
    """The row-major position, `sum(e_i * product of the sizes behind i)`; `zero` is the empty sum."""
    total: _Index | None = None
    stride = 1
    for e, n in zip(reversed(index), reversed(sizes), strict=True):
        term = e if stride == 1 else e * stride
        total = term if total is None else term + total
        stride *= n
    return zero if total is None else total


def tile_index(index: tuple[_Index, ...], s: TileStage, zero: _Index) -> tuple[_Index, ...]:
    """The index after one tile: `(e floordiv t, e mod t)` for the tiled dimensions, the others in front."""
    full = (zero,) * s.leading + index
    joined = tuple(linear_index([full[i] for i in g], [s.before[i] for i in g], zero) for g in s.groups)
    return full[: s.untiled] + divided(joined, s.sizes) + remainders(joined, s.sizes)


def divided(index: Sequence[_Index], sizes: Sequence[int]) -> tuple[_Index, ...]:
    """`e floordiv t`, element by element."""
    return tuple(e // t for e, t in zip(index, sizes, strict=True))


def remainders(index: Sequence[_Index], sizes: Sequence[int]) -> tuple[_Index, ...]:
    """`e mod t`, element by element."""
    return tuple(e % t for e, t in zip(index, sizes, strict=True))


def position_of(shape: ArrayShape, index: Sequence[int]) -> int:
    """The linear position, in elements, of a logical index; with split dimensions, the offset inside its part.

    Raises ValueError for an index outside of the shape.
    """
    if len(index) != shape.rank or any(not 0 <= e < n for e, n in zip(index, shape.dimensions, strict=True)):
        raise ValueError(f"index {tuple(index)} is outside of the shape {shape.dimensions}")
    physical = tuple(index[i] for i in physical_order(shape))
    return _position(offset_in_part(shape, physical), shape, 0)


def position_expression(shape: ArrayShape) -> Expr:
    """The same over d0, d1, ...: the formula as one expression, nothing simplified."""
    return _position(offset_expressions(shape), shape, Const(0))


def _position(physical: tuple[_Index, ...], shape: ArrayShape, zero: _Index) -> _Index:
    for s in stages(shape):
        physical = tile_index(physical, s, zero)
    return linear_index(physical, expanded_dimensions(shape), zero)


def index_of(shape: ArrayShape, position: int, part: int = 0) -> tuple[int, ...] | None:
    """The logical index that lies at a linear position (of a part); None where that is padding.

    Raises ValueError for a negative position. Positions behind the end count as padding.
    """
    if position < 0:
        raise ValueError(f"position {position} is negative")
    if position >= prod(expanded_dimensions(shape)):
        return None
    offset, bounds = _inverse(shape, position)
    if any(e not in interval for e, interval in bounds):
        return None
    physical = join_parts(shape, offset, part)
    return None if physical is None else _logical(physical, shape)


def _logical(physical: Sequence[_Index], shape: ArrayShape) -> tuple[_Index, ...]:
    order = physical_order(shape)
    return tuple(physical[order.index(i)] for i in range(shape.rank))


def _inverse(shape: ArrayShape, position: _Index) -> tuple[tuple[_Index, ...], list[tuple[_Index, Interval]]]:
    """The physical index at a position, and what must hold for it to be an element and not padding."""
    sizes = expanded_dimensions(shape)
    bounds: list[tuple[_Index, Interval]] = []
    index = delinearize(position, sizes)
    for s in reversed(stages(shape)):
        k = s.untiled
        across, inside = index[k : k + len(s.sizes)], index[k + len(s.sizes) :]
        before: list[_Index] = list(index[:k])
        for group, count, rest, t, n in zip(s.groups, across, inside, s.sizes, s.joined[k:], strict=True):
            joined = count * t + rest
            # Where tiles fit exactly no position in them is padding, and a bound that always holds would only burden
            # the engines.
            if n % t:
                bounds.append((joined, Interval.of_size(n)))
            before.extend(delinearize(joined, [s.before[i] for i in group]))
        index = tuple(before[s.leading :])  # a leading coordinate is 0 inside of the bounds of what it joined
    return index, bounds


def delinearize(position: _Index, sizes: Sequence[int]) -> tuple[_Index, ...]:
    """The row-major index at a position: `position floordiv stride mod size`; no `mod` for the most major one."""
    out: list[_Index] = []
    stride = 1
    for i in range(len(sizes) - 1, -1, -1):
        shifted = position if stride == 1 else position // stride
        # Without `mod` in front: positions behind the end must not fold back onto elements.
        out.append(shifted % sizes[i] if i > 0 else shifted)
        stride *= sizes[i]
    return tuple(reversed(out))


def position_map(shape: ArrayShape) -> IndexingMap:
    """(logical index) -> (position); with split dimensions -> (part, offset)."""
    offset = position_expression(shape)
    part = part_expression(shape)
    return IndexingMap(boxed(shape.dimensions), (offset,) if part is None else (part, offset))


def index_map(shape: ArrayShape) -> IndexingMap:
    """(position) -> (logical index), over the positions that hold an element; the others are padding.

    The positions are those before `L(n)` rounds up: what it adds is padding. Raises NotModelled for split dimensions.
    """
    if part_count(shape) > 1:
        raise NotModelled("the way back from a position of an array with split dimensions as an indexing map")
    positions = (Variable(Interval.of_size(prod(expanded_dimensions(shape)))),)
    if not shape.elements:
        return IndexingMap(positions, (dim(0),) * shape.rank)  # never asked: there is no position
    physical, bounds = _inverse(shape, dim(0))
    constraints = tuple(Constraint(e, interval) for e, interval in bounds)
    return IndexingMap(positions, _logical(physical, shape), constraints=constraints)
