"""Tiled layouts read a second way: pad, reshape, transpose.

The document on tiled layouts says of a tile that it equals (1) padding the array up to whole tiles, (2) reshaping
every dimension into (tile count, tile size), and (3) transposing so that the tile sizes become the most minor
dimensions. Here these are steps over arrays, each with its sizes before and after. Nothing here uses the formula of
`hloproof.models.layouts.tiling`.

Split dimensions are not read this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.hlo.shape import COMBINE, ArrayShape, Tile
from hloproof.models.layouts.physical import check_dense

Cell = tuple[int, ...] | None
"""What lies at a position: the logical index of an element, or None for padding."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One step over an array: sizes most major first; `permutation[k]` is the old place of the new dimension k."""

    kind: Literal["transpose", "reshape", "pad"]
    before: tuple[int, ...]
    after: tuple[int, ...]
    permutation: tuple[int, ...] = ()

    def index(self, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where the element at an index of the array before lies in the array after."""
        if self.kind == "transpose":
            return tuple(index[i] for i in self.permutation)
        return tuple(index) if self.kind == "pad" else _unravelled(_ravelled(index, self.before), self.after)

    def array(self, flat: Sequence[Cell]) -> list[Cell]:
        """The array after, row-major, from the array before, row-major."""
        if self.kind == "reshape":
            return list(flat)
        out: list[Cell] = [None] * prod(self.after)
        for i, value in zip(product(*map(range, self.before)), flat, strict=True):
            out[_place([i[k] for k in self.permutation] if self.kind == "transpose" else i, self.after)] = value
        return out


def movements(shape: ArrayShape) -> tuple[Movement, ...]:
    """The steps from the logical array to memory. The last array, row-major, is the memory.

    Raises NotModelled for split and unbounded dimensions.
    """
    layout = shape.layout
    if any(n < 0 for n in shape.dimensions):
        raise NotModelled("an array with unbounded dimensions has no positions")
    check_dense(shape)
    if layout is not None and layout.split_configs:
        raise NotModelled("a layout with split dimensions as pad, reshape and transpose")
    order = tuple(range(shape.rank))
    if layout is not None and layout.minor_to_major:
        order = layout.minor_to_major[::-1]
    dims = tuple(shape.dimensions[i] for i in order)
    steps = [Movement("transpose", shape.dimensions, dims, order)]
    for tile in layout.tiles if layout is not None else ():
        steps.extend(tile_movements(dims, tile))
        dims = steps[-1].after
    return tuple(steps)


def tile_movements(dims: tuple[int, ...], tile: Tile) -> Iterator[Movement]:
    """The steps of one tile over an array of these sizes: reshape (ones in front, combined dimensions), pad, reshape,
    transpose."""
    entries = tile.dimensions
    if not entries or entries[-1] == COMBINE:
        raise NotModelled("a tile whose most minor entry is * has nothing to combine into")
    ones = (1,) * (len(entries) - len(dims)) + dims
    front = len(ones) - len(entries)

    combined: list[int] = list(ones[:front])
    carried = 1
    for size, entry in zip(ones[front:], entries, strict=True):
        carried *= size
        if entry != COMBINE:
            combined.append(carried)
            carried = 1
    sizes = [entry for entry in entries if entry != COMBINE]
    if tuple(combined) != dims:
        yield Movement("reshape", dims, tuple(combined))

    whole = combined[:front] + [n + -n % t for n, t in zip(combined[front:], sizes, strict=True)]
    if whole != combined:
        yield Movement("pad", tuple(combined), tuple(whole))

    cut = list(whole[:front])
    for n, t in zip(whole[front:], sizes, strict=True):
        cut += [n // t, t]
    yield Movement("reshape", tuple(whole), tuple(cut))

    permutation = (*range(front), *range(front, len(cut), 2), *range(front + 1, len(cut), 2))
    yield Movement("transpose", tuple(cut), tuple(cut[i] for i in permutation), permutation)


def memory(shape: ArrayShape) -> list[Cell]:
    """What lies at each position, by carrying out the steps on the array of all indices."""
    flat: list[Cell] = list(product(*map(range, shape.dimensions)))
    for step in movements(shape):
        flat = step.array(flat)
    alignment = shape.layout.tail_padding if shape.layout is not None else 0
    return flat + [None] * (-len(flat) % alignment if alignment else 0)


def _place(index: Sequence[int], sizes: Sequence[int]) -> int:
    place = 0
    for e, n in zip(index, sizes, strict=True):
        place = place * n + e
    return place


def _ravelled(index: Sequence[Expr], sizes: Sequence[int]) -> Expr:
    """The row-major place, nested: `((e0 * n1) + e1) * n2 + e2`."""
    place: Expr = Const(0)
    for k, (e, n) in enumerate(zip(index, sizes, strict=True)):
        place = e if k == 0 else place * n + e
    return place


def _unravelled(place: Expr, sizes: Sequence[int]) -> tuple[Expr, ...]:
    """The row-major index of a place: remainders peeled off from the most minor dimension on."""
    out: list[Expr] = []
    for n in reversed(sizes[1:]):
        out.append(place % n)
        place = place // n
    return (place, *reversed(out)) if sizes else ()
