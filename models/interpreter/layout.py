"""Writing a tensor into memory by its layout, and reading it back.

Memory is a dictionary from place to element: the number of the memory (0 unless a dimension is split over several) and
the linear position in it, in elements; places that no element has are padding. The position of an element is found
dimension by dimension: the physical index lists the logical one most major first, each tile splits the last dimensions
into (which tile, where in the tile), and the position in the resulting box is row-major.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.value import Element, flat_index, indices, strides

MemoryPlace = tuple[int, int]
"""Which memory, and the position in it."""
Memory = dict[MemoryPlace, Element]


def position(shape: ArrayShape, index: Sequence[int]) -> int:
    """Where in its memory the element with this logical index lies, in elements. Without a layout: row-major."""
    digits, sizes = physical(shape, index)
    return flat_index(digits, strides(sizes))


def place(shape: ArrayShape, index: Sequence[int]) -> MemoryPlace:
    """The memory that holds the element, and its position there."""
    memory = 0
    digits, _ = _most_major_first(shape, index)
    for k, digit in enumerate(digits):
        cuts = _cuts(shape, k)
        if cuts:
            memory = memory * (len(cuts) + 1) + sum(1 for cut in cuts if cut <= digit)
    return memory, position(shape, index)


def _most_major_first(shape: ArrayShape, index: Sequence[int]) -> tuple[list[int], list[int]]:
    layout = shape.layout
    if layout is None or len(layout.minor_to_major) != shape.rank:
        return list(index), list(shape.dimensions)
    order = tuple(reversed(layout.minor_to_major))
    return [index[d] for d in order], [shape.dimensions[d] for d in order]


def _cuts(shape: ArrayShape, k: int) -> tuple[int, ...]:
    """Where the k-th physical dimension, counted from the most major one, is cut; () where it is whole."""
    for split in () if shape.layout is None else shape.layout.split_configs:
        if split.dimension == k:
            return split.split_indices
    return ()


def physical(shape: ArrayShape, index: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The physical index in its memory after tiling and the sizes of the box it lies in. Every part of a dimension that
    is cut takes the space of the longest."""
    layout = shape.layout
    digits, sizes = _most_major_first(shape, index)
    for k, size in enumerate(sizes):
        cuts = _cuts(shape, k)
        if cuts:
            starts = [0, *(cut for cut in cuts if cut <= digits[k])]
            digits[k] -= starts[-1]
            edges = [0, *cuts, size]
            sizes[k] = max(b - a for a, b in pairwise(edges))
    for tile in () if layout is None else layout.tiles:
        digits, sizes = _tiled(digits, sizes, tile.dimensions)
    return tuple(digits), tuple(sizes)


def _tiled(digits: list[int], sizes: list[int], tile: Sequence[int]) -> tuple[list[int], list[int]]:
    # A combined dimension has no size of its own: it is multiplied into the next more minor one first.
    if tile[-1] == -1:
        raise NotModelled("a tile whose most minor dimension is combined away")
    rank = len(tile)
    digits = [0] * (rank - len(digits)) + digits
    sizes = [1] * (rank - len(sizes)) + sizes
    keep = len(digits) - rank
    bounds: list[int] = []
    tail_digits: list[int] = []
    tail_sizes: list[int] = []
    carried_digit, carried_size = 0, 1
    for digit, size, bound in zip(digits[keep:], sizes[keep:], tile, strict=True):
        digit, size = carried_digit * size + digit, carried_size * size
        if bound == -1:
            carried_digit, carried_size = digit, size
            continue
        carried_digit, carried_size = 0, 1
        bounds.append(bound)
        tail_digits.append(digit)
        tail_sizes.append(size)
    outer = [d // t for d, t in zip(tail_digits, bounds, strict=True)]
    inner = [d % t for d, t in zip(tail_digits, bounds, strict=True)]
    outer_sizes = [-(-n // t) for n, t in zip(tail_sizes, bounds, strict=True)]
    return digits[:keep] + outer + inner, sizes[:keep] + outer_sizes + bounds


def padded_size(shape: ArrayShape) -> int:
    """Positions that the tensor takes, padding included, rounded up to the layout's tail padding."""
    _, sizes = physical(shape, shape.dimensions)  # the box is the same for every index
    size = prod(sizes)
    tail = 1 if shape.layout is None else max(1, shape.layout.tail_padding)
    return -(-size // tail) * tail


def write_memory(shape: ArrayShape, data: Sequence[Element]) -> Memory:
    """Each element at its place."""
    return {place(shape, index): value for index, value in zip(indices(shape.dimensions), data, strict=True)}


def read_memory(shape: ArrayShape, memory: Memory) -> list[Element] | None:
    """The tensor of this shape that the memory holds, row-major; None where it would read padding."""
    places = [place(shape, index) for index in indices(shape.dimensions)]
    if any(p not in memory for p in places):
        return None
    return [memory[p] for p in places]
