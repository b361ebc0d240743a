"""Strategies for operations that read no operand, for bitcasts without layouts, and for modules that have no meaning,
which the interpreter must refuse: their name says so."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import one, shape, sizes

REFUSED: Final = "refused"

_WITHOUT_MEANING: Final = (
    one("reverse", ["f32[<=2]"], "dimensions={0}"),
    one(
        "ragged-dot",
        ["f32[2,3]", "f32[2,3,3]", "s32[2,2]"],
        "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    ),
    one("bitcast", ["f32[2]"], result="f32[4]"),
    one("all-to-all", ["f32[3]", "f32[3]"], header=", replica_count=3"),
)


def without_meaning() -> st.SearchStrategy[str]:
    """Modules that no run may have a result for."""
    return st.sampled_from(_WITHOUT_MEANING).map(lambda text: text.replace("HloModule case", f"HloModule {REFUSED}"))


@st.composite
def iota(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3))
    axis = draw(st.integers(0, len(dims) - 1))
    kind = draw(st.sampled_from(("s32", "f32", "u8", "c64")))
    return one("iota", [], f"iota_dimension={axis}", result=shape(dims, kind))


@st.composite
def bitcast_of_bits(draw: Draw) -> str:
    """Between types of one width, without layouts."""
    kind, kind_to = draw(st.sampled_from((("f32", "s32"), ("s32", "f32"), ("u8", "s8"), ("f32", "f32"))))
    n, m = draw(sizes(minimum=2, maximum=2))
    return one("bitcast", [shape([n, m], kind)], result=shape([n * m], kind_to))


@st.composite
def get_dimension_size(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3))
    axis = draw(st.integers(0, len(dims) - 1))
    return one("get-dimension-size", [shape(dims)], f"dimensions={{{axis}}}")
