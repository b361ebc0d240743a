"""A naive reading of layouts: memory as a row of cells, looked at one by one.

Nothing is computed with strides. A box of cells is a function from its coordinates to what lies there; a tile makes
a box of another one by asking which cell of it comes at which place; memory is the last box, read off in row-major
order. Sizes in bits follow from the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from hloproof.models.hlo.shape import COMBINE, ELEMENT_BITS, ArrayShape, Index

Cell = Index | None
"""The logical index of the element that lies there; None for padding."""


@dataclass(frozen=True)
class Box:
    """Cells by coordinates, most major first."""

    sizes: Index
    at: Callable[[Index], Cell]


def is_modelled(shape: ArrayShape) -> bool:
    """Every element has one place that the shape alone tells: bounded, dense, cut where the cuts increase inside of
    the dimension, and every tile ends with a size."""
    if -1 in shape.dimensions:
        return False
    if shape.layout is None:
        return True
    for tile in shape.layout.tiles:
        if not tile.dimensions or tile.dimensions[-1] == COMBINE:
            return False
    for split in shape.layout.split_configs:
        size = shape.dimensions[order_of(shape)[split.dimension]]
        places = [0, *split.split_indices, size]
        if places != sorted(set(places)):
            return False
    return all(level[0] == "D" for level in shape.layout.level_types)


def order_of(shape: ArrayShape) -> list[int]:
    """The dimension numbers, most major first."""
    named = [] if shape.layout is None else list(shape.layout.minor_to_major)
    return named[::-1] if named else list(range(shape.rank))


def pieces(shape: ArrayShape) -> list[list[range]]:
    """The coordinates that the parts of each dimension hold, most major dimension first."""
    out: list[list[range]] = []
    for k, d in enumerate(order_of(shape)):
        splits = () if shape.layout is None else shape.layout.split_configs
        cuts = next((list(s.split_indices) for s in splits if s.dimension == k), [])
        starts, ends = [0, *cuts], [*cuts, shape.dimensions[d]]
        out.append([range(a, b) for a, b in zip(starts, ends, strict=True)])
    return out


def boxes(shape: ArrayShape) -> list[Box]:
    """The box of each part before tiles: as large for all as the longest part of every dimension."""
    order, cut = order_of(shape), pieces(shape)
    sizes = tuple(max(len(piece) for piece in own) for own in cut)
    out: list[Box] = []
    for chosen in product(*cut):

        def at(place: Index, chosen: tuple[range, ...] = chosen) -> Cell:
            if any(i >= len(piece) for i, piece in zip(place, chosen, strict=True)):
                return None
            held = dict(zip(order, (piece[i] for i, piece in zip(place, chosen, strict=True)), strict=True))
            return tuple(held[d] for d in range(shape.rank))

        out.append(Box(sizes, at))
    return out


def tiled(box: Box, tile: Sequence[int]) -> Box:
    """The box of tile counts and tile sizes. Entries `*` belong to the next size to their right."""
    added = max(0, len(tile) - len(box.sizes))
    inner = (1,) * added + box.sizes
    front = inner[: len(inner) - len(tile)]
    groups: list[list[Index]] = []
    """Per size of the tile the coordinates of the dimensions that it covers, in row-major order."""
    gathered: list[int] = []
    for size, entry in zip(inner[len(front) :], tile, strict=True):
        gathered.append(size)
        if entry != COMBINE:
            groups.append(list(product(*map(range, gathered))))
            gathered = []
    lengths = [entry for entry in tile if entry != COMBINE]
    counts = tuple(len(range(0, len(group), n)) for group, n in zip(groups, lengths, strict=True))

    def at(place: Index) -> Cell:
        which = place[len(front) : len(front) + len(lengths)]
        within = place[len(front) + len(lengths) :]
        found = place[: len(front)]
        for group, n, tile_number, offset in zip(groups, lengths, which, within, strict=True):
            here = list(range(len(group)))[tile_number * n :][:n]
            if offset >= len(here):
                return None
            found += group[here[offset]]
        return box.at(found[added:])

    return Box((*front, *counts, *lengths), at)


def final_boxes(shape: ArrayShape) -> list[Box]:
    """The box of each part after all tiles."""
    out = boxes(shape)
    for tile in () if shape.layout is None else shape.layout.tiles:
        out = [tiled(box, tile.dimensions) for box in out]
    return out


def cell(box: Box, place: int) -> Cell:
    """What lies at a place of the box, counted in row-major order."""
    coordinates: list[int] = []
    for n in reversed(box.sizes):
        place, i = divmod(place, n)
        coordinates.insert(0, i)
    return None if place else box.at(tuple(coordinates))


def memory(shape: ArrayShape) -> list[list[Cell]]:
    """The cells of each part, in order, with the padding that `L(n)` adds at the end."""
    out: list[list[Cell]] = []
    multiple = 0 if shape.layout is None else shape.layout.tail_padding
    for box in final_boxes(shape):
        cells = [box.at(place) for place in product(*map(range, box.sizes))]
        while multiple and len(cells) % multiple:
            cells.append(None)
        out.append(cells)
    return out


def bits_of(shape: ArrayShape) -> int:
    """Bits that one element takes."""
    if shape.layout is not None and shape.layout.element_bits:
        return shape.layout.element_bits
    return {1: 8, 2: 8, 4: 8}.get(ELEMENT_BITS[shape.element_type], ELEMENT_BITS[shape.element_type])


def is_too_narrow(shape: ArrayShape) -> bool:
    """Whether `E(n)` gives an element fewer bits than its values have."""
    least = 1 if shape.element_type == "pred" else ELEMENT_BITS[shape.element_type]
    return bits_of(shape) < least


def bytes_for(elements: int, shape: ArrayShape) -> int:
    """Whole bytes for so many elements side by side."""
    return len(range(0, elements * bits_of(shape), 8))


def xla_bytes(shape: ArrayShape) -> int | None:
    """What ArraySize says: without tiles the elements alone; with tiles the longest parts, each rounded up to whole
    sizes of the first tile, then `L(n)`; None where that tile combines dimensions."""
    if shape.layout is None or not shape.layout.tiles:
        return bytes_for(shape.elements, shape)
    tile = list(shape.layout.tiles[0].dimensions)
    if COMBINE in tile:
        return None
    sizes = [max(len(piece) for piece in own) for own in pieces(shape)]
    rank = max(len(tile), len(sizes))
    sizes, tile = [1] * (rank - len(sizes)) + sizes, [1] * (rank - len(tile)) + tile
    count = 1
    for size, n in zip(sizes, tile, strict=True):
        count *= len(range(0, size, n)) * n
    multiple = shape.layout.tail_padding or 1
    return bytes_for(len(range(0, count, multiple)) * multiple, shape)


def corners(shape: ArrayShape) -> list[Index]:
    """Indices that the shape does not have: one coordinate too large or negative, one too few, one too many."""
    inside = [0] * shape.rank
    out = [tuple(inside[1:])] if shape.rank else []
    out.append((*inside, 0))
    for d, n in enumerate(shape.dimensions):
        for wrong in (n, -1):
            out.append(tuple(wrong if k == d else 0 for k in range(shape.rank)))
    return out
