"""The picture of a tiled layout: the array with the linear index in every cell, and the memory it becomes.

Left, the array, padded to whole tiles: each first tile has a colour, inner tiles are outlined, padding is blank. Right
(below, for wide arrays), the memory row by row, a tile to a row, in the same colours. Numbers are linear indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.physical import part_count, physical_order
from hloproof.models.layouts.tiling import position_of, stages, tile_index

CELL_HEIGHT = 26
MARGIN = 20
GAP = 56
TITLE = 44
CAPTION = 26
FONT = "font-family='ui-sans-serif, Helvetica, Arial, sans-serif'"
COLOURS = ("#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#fee391", "#bcbddc", "#ccebc5", "#fbb4ae")
"""Fills of the first tiles, in turn; light, so that black numbers are readable on all of them."""
INNER = "#c62828"
"""The outline of inner tiles."""
WIDEST = 40
"""Columns of a row of memory, and of array and memory side by side."""
LIMIT = 4096
"""More cells than this are no picture."""


class SliceTooLarge(ValueError):
    """The slice has too many cells for a picture."""


@dataclass(frozen=True, slots=True)
class DrawnSlice:
    """Two logical dimensions, row and column as memory has them (the minor one across), and an index for the others."""

    row: int | None
    column: int | None
    at: tuple[int, ...]


def choose_slice(shape: ArrayShape, at: Sequence[int] = ()) -> DrawnSlice:
    """The two most minor dimensions, at the index `at` (0 where it is too short) of all dimensions."""
    order = physical_order(shape)
    index = tuple(at) + (0,) * (shape.rank - len(at))
    return DrawnSlice(order[-2] if len(order) > 1 else None, order[-1] if order else None, index)


def draw(shape: ArrayShape, at: Sequence[int] = ()) -> str:
    """The SVG text. `at` chooses the slice of a shape of more than two dimensions.

    A large slice is cut off at whole tiles. Raises SliceTooLarge for a tile that is too large itself, NotModelled for
    split dimensions, ValueError for `at` outside of the shape.
    """
    if part_count(shape) > 1:
        raise NotModelled("a picture of an array that is split over memories")
    if not shape.elements:
        raise NotModelled("a picture of an array without elements")
    chosen = choose_slice(shape, at)
    if len(at) > shape.rank or any(not 0 <= e < n for e, n in zip(at, shape.dimensions, strict=False)):
        raise ValueError(f"the slice at {list(at)} is outside of {list(shape.dimensions)}")
    first = first_tile(shape)
    wanted = _size(shape, chosen.row), _size(shape, chosen.column)
    rows, columns = _corner(wanted, first)
    height, width = _whole(rows, first[0]), _whole(columns, first[1])
    indices = {(i, j): _index(chosen, i, j) for i in range(rows) for j in range(columns)}
    places = {at: position_of(shape, index) for at, index in indices.items()}
    tiles = {at: _tile_number(shape, index) for at, index in indices.items()}
    picture = _Picture(shape, places, tiles, (height, width), first)
    return "\n".join(picture.lines(_title(shape, chosen), _caption(chosen, wanted, (rows, columns)))) + "\n"


def _size(shape: ArrayShape, dimension: int | None) -> int:
    return 1 if dimension is None else shape.dimensions[dimension]


def _corner(wanted: tuple[int, int], first: tuple[int, int]) -> tuple[int, int]:
    """How many rows and columns are drawn: all, or whole tiles of the corner up to the limit of cells."""
    if first[0] * first[1] > LIMIT:
        raise SliceTooLarge(f"a tile of {first[0]} by {first[1]} is too large for a picture of at most {LIMIT} cells")
    rows, columns = wanted
    if _whole(rows, first[0]) * _whole(columns, first[1]) <= LIMIT:
        return wanted
    columns = min(columns, max(1, (LIMIT // min(rows, 4 * first[0])) // first[1]) * first[1], max(first[1], 128))
    rows = min(rows, max(1, LIMIT // _whole(columns, first[1]) // first[0]) * first[0])
    return rows, columns


def _index(chosen: DrawnSlice, i: int, j: int) -> tuple[int, ...]:
    return tuple(i if k == chosen.row else j if k == chosen.column else e for k, e in enumerate(chosen.at))


def _title(shape: ArrayShape, chosen: DrawnSlice) -> str:
    if shape.rank <= 2:
        return print_shape(shape)
    at = ", ".join(":" if k in (chosen.row, chosen.column) else str(e) for k, e in enumerate(chosen.at))
    return f"{print_shape(shape)} at [{at}]"


def _caption(chosen: DrawnSlice, wanted: tuple[int, int], drawn: tuple[int, int]) -> str:
    if chosen.column is None:
        return "the element"
    down = "" if chosen.row is None else f"d{chosen.row} down, "
    clipped = "" if drawn == wanted else f" (the first {drawn[0]} of {wanted[0]} by {drawn[1]} of {wanted[1]})"
    return f"array, {down}d{chosen.column} across{clipped}"


def _tile_number(shape: ArrayShape, index: tuple[int, ...]) -> int:
    """Which first tile holds an element, counted row-major over the slice's dimensions; without tiles, its row."""
    physical = tuple(index[i] for i in physical_order(shape))
    found = stages(shape)
    if not found:
        return physical[-2] if len(physical) > 1 else 0
    s = found[0]
    counts = tile_index(physical, s, 0)[s.untiled : s.untiled + len(s.counts)]
    return counts[-1] + s.counts[-1] * counts[-2] if len(counts) > 1 else counts[-1]


def first_tile(shape: ArrayShape) -> tuple[int, int]:
    """The first tile over the two most minor dimensions, where it does not combine them; (1, 1) without tiles."""
    found = stages(shape)
    if not found:
        return 1, 1
    s = found[0]
    if any(len(g) > 1 for g in s.groups[-2:]):
        return 1, 1
    return (s.sizes[-2] if len(s.sizes) > 1 else 1), s.sizes[-1]


def _inner_tile(shape: ArrayShape, first: tuple[int, int]) -> tuple[int, int] | None:
    """The second tile, where it divides the inside of the first."""
    found = stages(shape)
    if len(found) < 2 or first == (1, 1) or len(found[1].sizes) > len(found[0].sizes):
        return None
    sizes = found[1].sizes
    return (sizes[-2] if len(sizes) > 1 else 1), sizes[-1]


def _whole(n: int, t: int) -> int:
    return -(-n // t) * t


class _Picture:
    def __init__(
        self,
        shape: ArrayShape,
        places: dict[tuple[int, int], int],
        tiles: dict[tuple[int, int], int],
        size: tuple[int, int],
        first: tuple[int, int],
    ) -> None:
        self.shape, self.places, self.tiles, self.size, self.first = shape, places, tiles, size, first
        self.inner = _inner_tile(shape, first)
        self.cell_width = max(26, 9 * len(str(max(places.values()))) + 10)
        self.of_place = {q: at for at, q in places.items()}
        self.memory = self._memory_rows()

    def _memory_rows(self) -> list[list[int]]:
        """The positions of memory that the slice touches, with the padding between them: a first tile to a row, or to
        several where it is long; without tiles, a row of the array to a row."""
        found = stages(self.shape)
        block = prod(found[0].sizes) if found else self.size[1]
        wide = block if block <= WIDEST else next(n for n in range(WIDEST, 0, -1) if block % n == 0)
        blocks = sorted({q // block for q in self.of_place})
        starts = [b * block + k for b in blocks for k in range(0, block, wide)]
        return [list(range(start, start + wide)) for start in starts]

    def lines(self, title: str, caption: str) -> Iterator[str]:
        columns = max(len(r) for r in self.memory)
        beside = self.size[1] + columns <= WIDEST
        array_width, array_height = self.size[1] * self.cell_width, self.size[0] * CELL_HEIGHT
        left = MARGIN
        top = TITLE + CAPTION
        memory_left = left + max(array_width, 7 * len(caption)) + GAP if beside else left
        memory_top = top if beside else top + array_height + GAP
        width = max(left + array_width, memory_left + max(columns * self.cell_width, 110)) + MARGIN
        width = max(width, MARGIN * 2 + 10 * len(title))
        height = max(top + array_height, memory_top + len(self.memory) * CELL_HEIGHT) + MARGIN
        yield (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
            f"height='{height}' role='img'>"
        )
        yield f"<title>{escape(title)}</title>"
        yield f"<rect width='{width}' height='{height}' fill='#ffffff'/>"
        yield _text(MARGIN, 26, title, 16, "start", "bold")
        yield _text(left, top - 8, caption, 12, "start")
        yield from self._array(left, top)
        yield _text(memory_left, memory_top - 8, "memory, in order", 12, "start")
        yield from self._memory(memory_left, memory_top)
        yield "</svg>"

    def _array(self, left: int, top: int) -> Iterator[str]:
        for i in range(self.size[0]):
            for j in range(self.size[1]):
                place = self.places.get((i, j))
                yield from self._cell(left + j * self.cell_width, top + i * CELL_HEIGHT, (i, j), place)
        if self.inner is not None:
            yield from self._outlines(left, top, self.inner, INNER, 2)
        if self.first != (1, 1):
            yield from self._outlines(left, top, self.first, "#222222", 2 if self.inner is None else 3)

    def _cell(self, x: int, y: int, at: tuple[int, int] | None, place: int | None) -> Iterator[str]:
        fill = "#ffffff" if place is None or at is None else COLOURS[self.tiles[at] % len(COLOURS)]
        yield (
            f"<rect x='{x}' y='{y}' width='{self.cell_width}' height='{CELL_HEIGHT}' fill='{fill}' stroke='#9a9a9a' "
            "stroke-width='0.6'/>"
        )
        if place is not None:
            yield _text(x + self.cell_width / 2, y + CELL_HEIGHT / 2 + 4.5, str(place), 13, "middle")

    def _outlines(self, left: int, top: int, tile: tuple[int, int], colour: str, thick: int) -> Iterator[str]:
        inset = 2.5 if colour == INNER else 0
        for i in range(0, self.size[0], tile[0]):
            for j in range(0, self.size[1], tile[1]):
                x, y = left + j * self.cell_width + inset, top + i * CELL_HEIGHT + inset
                wide = min(tile[1], self.size[1] - j) * self.cell_width - 2 * inset
                high = min(tile[0], self.size[0] - i) * CELL_HEIGHT - 2 * inset
                yield (
                    f"<rect x='{x}' y='{y}' width='{wide}' height='{high}' fill='none' stroke='{colour}' "
                    f"stroke-width='{thick}'/>"
                )

    def _memory(self, left: int, top: int) -> Iterator[str]:
        for r, row in enumerate(self.memory):
            for c, q in enumerate(row):
                at = self.of_place.get(q)
                held = q if at is not None else None
                x, y = left + c * self.cell_width, top + r * CELL_HEIGHT
                yield from self._cell(x, y, at, held)
        whole = prod(self.first)
        if self.inner is not None and whole > 1:
            step = prod(self.inner)
            for r, row in enumerate(self.memory):
                for c in range(0, len(row), step):
                    yield (
                        f"<rect x='{left + c * self.cell_width + 2.5}' y='{top + r * CELL_HEIGHT + 2.5}' "
                        f"width='{step * self.cell_width - 5}' height='{CELL_HEIGHT - 5}' fill='none' "
                        f"stroke='{INNER}' stroke-width='2'/>"
                    )


def _text(x: float, y: float, text: str, size: int, anchor: str, weight: str = "normal") -> str:
    return (
        f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{size}' font-weight='{weight}' text-anchor='{anchor}' "
        f"fill='#111111'>{escape(text)}</text>"
    )
