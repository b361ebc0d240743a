"""The strategy for an operation that is not run by itself: set-dimension-size."""

from __future__ import annotations

from hypothesis import strategies as st

from hloproof.fuzz.operations.generators.operation_text import Draw, boxes, braces, one, shape


@st.composite
def set_dimension_size(draw: Draw) -> str:
    dims = draw(boxes(minimum=1, maximum=3, most=24))
    axis = draw(st.integers(0, len(dims) - 1))
    result = ",".join(f"<={n}" if d == axis else str(n) for d, n in enumerate(dims))
    return one(f"f32[{result}]", "set-dimension-size", [shape(dims), "s32[]"], f"dimensions={braces([axis])}")
