"""A layout as data that a page draws by tiles: where each tile begins, and how every tile is arranged inside.

All first tiles of a layout are arranged alike, so that arrays of any size fit into little data. That is checked here
against the positions of elements before it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.physical import part_count
from hloproof.models.layouts.tiling import position_of
from hloproof.report.layout_svg import DrawnSlice, choose_slice, first_tile

_MOST_TILES: Final = 600
_MOST_ACROSS: Final = 24
_MOST_CELLS: Final = 8192
"""Cells of one tile."""
_STRIP: Final = 512
"""The most columns of a row that stand together where a layout has no tiles."""
_CHECKED: Final = 1 << 15
"""Elements whose positions are compared one by one; beyond, the first and the last of every tile."""


def tiles_of(shape: ArrayShape, marks: Sequence[Sequence[int]] = ()) -> dict[str, Any] | None:
    """The picture as data; None where the layout has no picture of this form. `marks` are elements to point at.

    Of a shape of more than two dimensions it is the slice of the two most minor ones, at the first mark, else at 0.
    """
    try:
        return _tiles_of(shape, [m for m in marks if _inside(shape, m)])
    except NotModelled:
        return None


def _inside(shape: ArrayShape, index: Sequence[int]) -> bool:
    return len(index) == shape.rank and all(0 <= e < n for e, n in zip(index, shape.dimensions, strict=True))


def _tiles_of(shape: ArrayShape, marks: Sequence[Sequence[int]]) -> dict[str, Any] | None:
    if part_count(shape) > 1 or not shape.elements:
        return None
    chosen = choose_slice(shape, marks[0] if marks else ())
    high, wide = first_tile(shape)
    rows, columns = (1 if k is None else shape.dimensions[k] for k in (chosen.row, chosen.column))
    if (high, wide) == (1, 1):
        high, wide = 1, max(n for n in range(1, min(_STRIP, columns) + 1) if columns % n == 0)
    if high * wide > _MOST_CELLS:
        return None
    counts = -(-rows // high), -(-columns // wide)
    across = min(counts[1], _MOST_ACROSS)
    down = min(counts[0], max(1, _MOST_TILES // across))
    whole = _with_sizes(shape, chosen, (counts[0] * high, counts[1] * wide))

    def position(of: ArrayShape, i: int, j: int) -> int:
        return position_of(
            of, [i if k == chosen.row else j if k == chosen.column else e for k, e in enumerate(chosen.at)]
        )

    inner = [[position(whole, i, j) - position(whole, 0, 0) for j in range(wide)] for i in range(high)]
    if sorted(cell for line in inner for cell in line) != list(range(high * wide)):
        return None  # a tile's cells do not lie together
    base = [[position(whole, a * high, b * wide) for b in range(across)] for a in range(down)]
    for a in range(down):
        for b in range(across):
            here = [(i, j) for i in range(min(high, rows - a * high)) for j in range(min(wide, columns - b * wide))]
            for i, j in here if rows * columns <= _CHECKED else (here[0], here[-1]):
                if base[a][b] + inner[i][j] != position(shape, a * high + i, b * wide + j):
                    return None
    return {
        "caption": _caption(shape, chosen, (high, wide), (down, across), counts),
        "rows": rows,
        "columns": columns,
        "tile": [high, wide],
        "base": base,
        "inner": inner,
        "marks": [[0 if k is None else m[k] for k in (chosen.row, chosen.column)] for m in marks],
    }


def _with_sizes(shape: ArrayShape, chosen: DrawnSlice, sizes: tuple[int, int]) -> ArrayShape:
    """The shape grown to whole tiles, so that padding has positions too."""
    given = dict(zip((chosen.row, chosen.column), sizes, strict=True))
    return replace(shape, dimensions=tuple(given.get(k, n) for k, n in enumerate(shape.dimensions)))


def _caption(
    shape: ArrayShape, chosen: DrawnSlice, tile: tuple[int, int], shown: tuple[int, int], counts: tuple[int, int]
) -> str:
    at = f" at {list(chosen.at)}" if shape.rank > 2 else ""
    down = "" if chosen.row is None else f"d{chosen.row} down, "
    across = "" if chosen.column is None else f"d{chosen.column} across, "
    cut = "" if shown == counts else f"; the first {shown[0]} by {shown[1]} of {counts[0]} by {counts[1]} tiles"
    return (
        f"{print_shape(shape)}{at}: {down}{across}in tiles of {tile[0]} by {tile[1]}{cut}. Choose a tile to see inside."
    )
