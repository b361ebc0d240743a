"""Shapes and layouts: what is read, how it is printed, and what is refused where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hloproof.models.errors import InputError
from hloproof.models.hlo.shape import (
    ELEMENT_BITS,
    ArrayShape,
    BufferShape,
    Layout,
    Shape,
    SplitConfig,
    Tile,
    TokenShape,
    TupleShape,
)
from hloproof.models.hlo.text.shapes import parse_shape, print_shape

READ = [
    ("f32[]", ArrayShape("f32")),
    ("F32[3,5]{1,0:T(2,2)}", ArrayShape("f32", (3, 5), layout=Layout((1, 0), (Tile((2, 2)),)))),
    ("f32[3,5]{1,0:t(2,2)}", ArrayShape("f32", (3, 5), layout=Layout((1, 0), (Tile((2, 2)),)))),
    ("f32[ 1, 2]{0, 1 }", ArrayShape("f32", (1, 2), layout=Layout((0, 1)))),
    ("u32[]{:S(2)}", ArrayShape("u32", layout=Layout((), memory_space=2))),
    ("f32[]{:T(128)}", ArrayShape("f32", layout=Layout((), (Tile((128,)),)))),
    ("s4[8]{0:E(4)}", ArrayShape("s4", (8,), layout=Layout((0,), element_bits=4))),
    (
        "bf16[9,8,7]{2,1,0:T(2,*,128)(2,1)}",
        ArrayShape("bf16", (9, 8, 7), layout=Layout((2, 1, 0), (Tile((2, -1, 128)), Tile((2, 1))))),
    ),
    ("f32[4,<=9]", ArrayShape("f32", (4, 9), (False, True))),
    ("f32[?,9]", ArrayShape("f32", (-1, 9), (True, False))),
    (
        "pred[9,8]{1,0:S(3)SC(0:4)(1:2,5)}",
        ArrayShape(
            "pred",
            (9, 8),
            layout=Layout((1, 0), memory_space=3, split_configs=(SplitConfig(0, (4,)), SplitConfig(1, (2, 5)))),
        ),
    ),
    (
        "f32[9,8]{1,0:T(8,8)L(16)#(u32)*(u16)M(1024)}",
        ArrayShape(
            "f32",
            (9, 8),
            layout=Layout((1, 0), (Tile((8, 8)),), 16, index_type="u32", pointer_type="u16", dynamic_prefix_bytes=1024),
        ),
    ),
    (
        "(f32[2], (s32[], token[]), /*index=5*/())",
        TupleShape((ArrayShape("f32", (2,)), TupleShape((ArrayShape("s32"), TokenShape())), TupleShape())),
    ),
    ("b(f32[4]{0})", BufferShape(ArrayShape("f32", (4,), layout=Layout((0,))))),
]


@pytest.mark.parametrize(("text", "shape"), READ)
def test_read_and_print(text: str, shape: Shape) -> None:
    assert parse_shape(text) == shape
    assert parse_shape(print_shape(shape)) == shape


REFUSED = [
    ("g32[]", 1, "unknown element type"),
    ("f32[2", 6, "expected ','"),
    ("f32[-2]", 5, "not negative"),
    ("f32[99999999999999999999]", 5, "64 bits"),
    ("f32[4294967296,4294967296]", 1, "64 bits"),
    ("f32[2]{1}", 8, "no permutation"),
    ("f32[2,2]{0,0}", 10, "no permutation"),
    ("f32[2,2]{}", 10, "no permutation"),
    ("f32[9,8,7]{1:T(2,*,128)}", 12, "no permutation"),
    ("f32[2,2]{1,0,2}", 10, "no permutation"),
    ("f32[8,8]{1,0:T(2,-2)}", 18, "at least 1"),
    ("f32[8,8]{1,0:T(2,0)}", 18, "at least 1"),
    ("f32[8,8]{1,0:T(2,*)}", 16, "cannot be '*'"),
    ("f32[8,8]{1,0:T(2,2)()}", 21, "at least one dimension"),
    ("f32[8,8]{1,0:T(2)T(2)}", 18, "given twice"),
    ("f32[8,8]{1,0:Q(2)}", 14, "unknown layout property"),
    ("f32[8,8]{1,0:D(X,C)}", 16, "level type"),
    ("f32[8,8]{1,0:T(8,8)P(f32[8])}", 20, "dense array"),
    ("f32[8]{0:SC(1:2)}", 13, "split dimension"),
    ("b()", 3, "expected a shape"),
    ("b(s32[], f32[])", 8, "')'"),
    ("(f32[2]", 1, "never closed"),
    ("(" * 500 + ")" * 500, 102, "nested deeper"),
    ("f32[2] x", 8, "end of the shape"),
]


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_refused_with_a_place(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_shape(text)
    assert (raised.value.line, raised.value.column) == (1, column)
    assert message in raised.value.message
    assert raised.value.render().endswith("^")


def layouts(rank: int) -> st.SearchStrategy[Layout]:
    tiles = st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=3).map(lambda t: Tile(tuple(t))), max_size=3)
    return st.builds(
        Layout,
        st.permutations(range(rank)).map(tuple),
        tiles.map(tuple),
        st.integers(0, 9),
        st.integers(0, 8),
        st.integers(0, 5),
    )


arrays = st.lists(st.integers(0, 40), max_size=4).flatmap(
    lambda sizes: st.builds(
        ArrayShape,
        st.sampled_from(sorted(ELEMENT_BITS)),
        st.just(tuple(sizes)),
        st.just(()),
        st.none() | layouts(len(sizes)),
    )
)
shapes = st.recursive(
    arrays | st.just(TokenShape()) | arrays.map(BufferShape),
    lambda inner: st.lists(inner, max_size=3).map(lambda s: TupleShape(tuple(s))),
    max_leaves=6,
)


@given(shapes)
def test_printing_and_reading_are_inverse(shape: Shape) -> None:
    assert parse_shape(print_shape(shape)) == shape
