"""Tiled layouts: positions by the formula, by pad, reshape and transpose, and back."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.shape import ArrayShape, Layout, SplitConfig, Tile
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.interpreter.layout import position as interpreted_position
from hloproof.models.layouts.memory_size import (
    bit_offset,
    data_bytes,
    element_bits,
    padded_elements,
    padding_elements,
    padding_share,
    transfer_bytes,
    upstream_bytes,
)
from hloproof.models.layouts.pad_reshape_transpose import memory, movements
from hloproof.models.layouts.physical import max_split_size, part_count, part_of, physical_dimensions
from hloproof.models.layouts.tiling import expanded_dimensions, index_map, index_of, position_map, position_of, stages
from hloproof.models.maps.indexing_map import IndexingMap


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def indices(shape: ArrayShape) -> product[tuple[int, ...]]:
    return product(*map(range, shape.dimensions))


# Every number by hand from linear_index((e floordiv t, e mod t), (ceil(d / t), t)).
FIGURE_1 = [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20]]
FIGURE_2 = [
    [0, 2, 4, 6, 8, 10, 12, 14],
    [1, 3, 5, 7, 9, 11, 13, 15],
    [16, 18, 20, 22, 24, 26, 28, 30],
    [17, 19, 21, 23, 25, 27, 29, 31],
]


@pytest.mark.parametrize(
    ("text", "figure", "padded"), [("F32[3,5]{1,0:T(2,2)}", FIGURE_1, 24), ("bf16[4,8]{1,0:T(2,4)(2,1)}", FIGURE_2, 32)]
)
def test_the_two_figures(text: str, figure: list[list[int]], padded: int) -> None:
    shape = array(text)
    assert [[position_of(shape, (i, j)) for j in range(len(row))] for i, row in enumerate(figure)] == figure
    assert padded_elements(shape) == padded
    held = {q: (i, j) for i, row in enumerate(figure) for j, q in enumerate(row)}
    assert memory(shape) == [held.get(q) for q in range(padded)]


@pytest.mark.parametrize(
    ("text", "index", "position"),
    [
        ("f32[3,5]{1,0:T(2,2)}", (2, 3), 17),
        ("f32[8]{0:T(2,2)}", (5,), 9),  # ones in front of a rank below the tile's
        ("f32[3]{0:T(8,128)}", (2,), 2),
        ("bf16[2048]{0:T(1024)(128)(2,1)}", (128,), 1),
        ("bf16[2048]{0:T(1024)(128)(2,1)}", (1,), 2),
        ("u32[]{:T(128)}", (), 0),
        ("f32[4,6]{0,1}", (1, 2), 9),
        ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", (1, 6, 7, 10, 9), (55 * 37 + 36) * 6 + 4),
        ("f32[5,7]{1,0:T(2,2)(2,2,2,2,2)}", (0, 0), 0),
    ],
)
def test_positions(text: str, index: tuple[int, ...], position: int) -> None:
    shape = array(text)
    assert position_of(shape, index) == position
    assert index_of(shape, position) == index


def test_combined_dimensions_of_the_document() -> None:
    """f32[2,7,8,11,10] with (*,*,2,*,3) is f32[112,110] with (2,3)."""
    combined = array("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")
    plain = array("f32[112,110]{1,0:T(2,3)}")
    assert stages(combined)[0].joined == (112, 110)
    assert expanded_dimensions(combined) == expanded_dimensions(plain) == (56, 37, 2, 3)
    draw = Random(3)
    for _ in range(200):
        a, b, c, d, e = (draw.randrange(n) for n in combined.dimensions)
        assert position_of(combined, (a, b, c, d, e)) == position_of(plain, (a * 56 + b * 8 + c, d * 10 + e))


def random_shape(draw: Random) -> ArrayShape:
    rank = draw.randint(0, 4)
    order = list(range(rank))
    draw.shuffle(order)
    tiles = []
    for _ in range(draw.randint(0, 3)):
        entries = [draw.choice([-1, 1, 2, 3, 4]) for _ in range(draw.randint(1, 4))]
        entries[-1] = abs(entries[-1])
        tiles.append(Tile(tuple(entries)))
    layout = Layout(tuple(order), tuple(tiles), tail_padding=draw.choice([0, 0, 7]))
    return ArrayShape("f32", tuple(draw.randint(0 if draw.random() < 0.05 else 1, 6) for _ in range(rank)), (), layout)


def test_both_readings_and_both_directions_agree() -> None:
    draw = Random(20)
    for _ in range(100):
        shape = random_shape(draw)
        held = memory(shape)
        assert len(held) == padded_elements(shape)
        assert sum(index is None for index in held) == padding_elements(shape)
        forth, back = position_map(shape), index_map(shape)
        for position, index in enumerate(held):
            assert index_of(shape, position) == index, shape
            assert _applied(back, (position,)) == index, shape
            if index is not None:
                assert position_of(shape, index) == position, shape
                assert _applied(forth, index) == (position,), shape


def test_the_interpreter_reads_layouts_alike() -> None:
    """A third reading, written apart from both."""
    draw = Random(21)
    for _ in range(60):
        shape = random_shape(draw)
        for index in indices(shape):
            assert interpreted_position(shape, index) == position_of(shape, index), (shape, index)


def _applied(m: IndexingMap, point: tuple[int, ...]) -> tuple[int, ...] | None:
    """The results of a map at a point; None outside of its domain."""
    values = {f"d{i}": v for i, v in enumerate(point)}
    if any(v not in d.interval for v, d in zip(point, m.dims, strict=True)):
        return None
    if any(evaluate(c.expr, values) not in c.interval for c in m.constraints):
        return None
    return tuple(evaluate(e, values) for e in m.results)


def test_split_dimensions_are_counted_in_the_order_of_memory() -> None:
    shape = array("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}")
    assert [max_split_size(shape, k) for k in range(3)] == [150, 90, 70]
    assert padded_elements(shape) == 945_000
    assert part_count(shape) == 6


@pytest.mark.parametrize("tiles", ["", "T(4,2)"])
def test_split_positions_are_one_to_one_and_have_a_way_back(tiles: str) -> None:
    shape = array(f"f32[6,8,9]{{0,1,2:{tiles}SC(0:3)(1:4,6)}}")
    seen = {(part_of(shape, i), position_of(shape, i)): i for i in indices(shape)}
    assert len(seen) == shape.elements
    m = position_map(shape)
    assert all(_applied(m, i) == place for place, i in seen.items())
    for part in range(part_count(shape)):
        for position in range(padded_elements(shape)):
            assert index_of(shape, position, part) == seen.get((part, position))


@pytest.mark.parametrize(
    ("text", "padded", "bits", "moved", "upstream"),
    [
        ("f32[3,5]{1,0:T(2,2)}", 24, 32, 96, 96),
        ("f32[10,20]", 200, 32, 800, 800),
        ("s4[7]", 7, 8, 7, 7),
        ("s4[7]{0:E(4)}", 7, 4, 4, 4),
        ("s4[0,64,128]{2,1,0:E(4)}", 0, 4, 0, 0),
        ("pred[9]{0:T(8)}", 16, 8, 16, 16),
        ("f32[8]{0:T(2,2)L(100)}", 100, 32, 400, 400),
        ("f32[8]{0:L(100)}", 100, 32, 400, 32),  # upstream leaves L(n) out without tiles
        ("f32[5,7]{1,0:T(2,2)(3,1)}", 72, 32, 288, 192),  # upstream looks at the first tile alone
        ("f32[4,6]{1,0:T(*,4)}", 24, 32, 96, None),
        ("u32[]{:T(128)}", 128, 32, 512, 512),
        ("c128[2]", 2, 128, 32, 32),
    ],
)
def test_sizes(text: str, padded: int, bits: int, moved: int, upstream: int | None) -> None:
    shape = array(text)
    assert (padded_elements(shape), element_bits(shape), transfer_bytes(shape)) == (padded, bits, moved)
    assert upstream_bytes(shape) == upstream


def test_padding_share_and_bits() -> None:
    shape = array("s4[3,5]{1,0:T(2,2)E(4)}")
    assert padding_elements(shape) == 9
    assert padding_share(shape) == Fraction(9, 24)
    assert bit_offset(shape, (2, 3)) == 68
    assert data_bytes(shape) == 8
    assert padding_share(array("f32[0]")) == 0


def test_physical_dimensions_are_most_major_first() -> None:
    assert physical_dimensions(array("f32[2,3,5]{1,0,2}")) == (5, 2, 3)
    assert physical_dimensions(array("f32[2,3,5]")) == (2, 3, 5)


def test_the_second_reading_states_its_steps() -> None:
    kinds = [(m.kind, m.after) for m in movements(array("f32[3,5]{1,0:T(2,2)}"))]
    assert kinds == [("transpose", (3, 5)), ("pad", (4, 6)), ("reshape", (2, 2, 3, 2)), ("transpose", (2, 3, 2, 2))]


def test_what_has_no_positions_says_so() -> None:
    with pytest.raises(NotModelled, match="unbounded"):
        padded_elements(array("f32[?,3]"))
    with pytest.raises(NotModelled, match="unbounded"):
        movements(array("f32[?]"))
    with pytest.raises(NotModelled, match="sparse"):
        padded_elements(array("f32[8,8]{1,0:D(D,C)}"))
    with pytest.raises(NotModelled, match="split"):
        movements(array("f32[8]{0:SC(0:3)}"))
    with pytest.raises(NotModelled, match="split indices"):
        padded_elements(ArrayShape("f32", (8,), (), Layout((0,), split_configs=(SplitConfig(0, (5, 3)),))))
    with pytest.raises(ValueError, match="outside"):
        position_of(array("f32[3,5]"), (3, 0))
    with pytest.raises(ValueError, match="outside"):
        position_of(array("f32[3,5]"), (0, -1))
