"""Strategies for shapes with tiled layouts, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def layout_texts(draw: Draw) -> str:
    """Rank 0 to 4, up to three tiles of up to three entries, ragged ones and combining ones among them."""
    dims = draw(st.lists(st.sampled_from((0, 1, 1, 2, 3, 4, 5, 7, 9)), max_size=4))
    order = draw(st.permutations(range(len(dims))))
    kind, properties = draw(st.sampled_from(("f32", "bf16", "s8", "pred"))), ""
    tiles = draw(st.lists(_tile(), max_size=3))
    if tiles:
        properties += "T" + "".join(f"({','.join(t)})" for t in tiles)
    if draw(st.integers(0, 3)) == 0:
        properties += f"L({draw(st.sampled_from((2, 8, 100)))})"
    if draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(("s4", "u4")))
        properties += "E(4)"
    cut = [k for k, d in enumerate(reversed(order)) if dims[d] > 1 and draw(st.integers(0, 7)) == 0]
    for k in cut:
        size = dims[order[len(dims) - 1 - k]]
        places = draw(st.lists(st.integers(1, size - 1), min_size=1, max_size=2, unique=True))
        properties += f"SC({k}:{','.join(map(str, sorted(places)))})"
    text = ",".join(map(str, order)) + (f":{properties}" if properties else "")
    return f"{kind}[{','.join(map(str, dims))}]{{{text}}}"


@st.composite
def _tile(draw: Draw) -> list[str]:
    entries: list[str] = draw(st.lists(st.sampled_from(("1", "2", "2", "3", "4", "8", "*")), min_size=1, max_size=3))
    if entries[-1] == "*":
        entries[-1] = "2"
    return entries
