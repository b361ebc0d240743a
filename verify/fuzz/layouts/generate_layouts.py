"""Strategies for shapes with tiled layouts, as text."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

TYPES: Final = ("f32", "bf16", "s8", "pred", "s4", "u4", "u2", "s1", "f4e2m1fn", "c128")


@st.composite
def layout_texts(draw: Draw) -> str:
    """Rank 0 to 4, up to three tiles of up to four entries, ragged ones and combining ones among them; parts; now and
    then no layout, a dimension without bound, a sparse one, or a cut where none can be."""
    dims = draw(st.lists(st.sampled_from((0, 1, 1, 2, 3, 4, 5, 7, 9)), max_size=4))
    if len(dims) > 1 and draw(st.integers(0, 2)) == 0:
        dims = [max(2, min(d, 5)) for d in dims[:3]]
    order = draw(st.permutations(range(len(dims))))
    if draw(st.integers(0, 3)) == 0:
        order = list(range(len(dims)))[::-1]
    kind, properties = draw(st.sampled_from(TYPES[:4])), ""
    tiles = draw(st.lists(_tile(), max_size=3))
    if tiles:
        properties += "T" + "".join(f"({','.join(t)})" for t in tiles)
    if draw(st.integers(0, 3)) == 0:
        properties += f"L({draw(st.sampled_from((2, 8, 100)))})"
    if draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(TYPES))
        properties += draw(st.sampled_from(("E(4)", "E(4)", "E(1)", "E(16)", "")))
    if draw(st.integers(0, 9)) == 0:
        properties += "S(5)"
    properties += draw(_splits([dims[d] for d in reversed(order)]))
    sizes = list(map(str, dims))
    if dims and draw(st.integers(0, 7)) == 0:
        k = draw(st.integers(0, len(dims) - 1))
        sizes[k] = draw(st.sampled_from(("?", f"<={dims[k]}")))
    if dims and draw(st.integers(0, 9)) == 0:
        levels = draw(st.lists(st.sampled_from(("D", "D", "C", "S")), min_size=len(dims), max_size=len(dims)))
        properties += f"D({','.join(levels)})"
    text = ",".join(map(str, order)) + (f":{properties}" if properties else "")
    layout = "" if not properties and draw(st.booleans()) else f"{{{text}}}"
    return f"{kind}[{','.join(sizes)}]{layout}"


@st.composite
def _splits(draw: Draw, sizes: list[int]) -> str:
    """The parts of some of the dimensions, most major first; several of them are split, or one twice."""
    often = draw(st.sampled_from((7, 7, 0)))
    properties = ""
    for k, size in enumerate(sizes):
        if size > 1 and draw(st.integers(0, often)) == 0:
            places = draw(st.lists(st.integers(1, size - 1), max_size=3, unique=True))
            if draw(st.integers(0, 9)) == 0:
                places.append(draw(st.sampled_from((0, size, places[-1] if places else size + 1))))
                properties += f"({k}:{','.join(map(str, places))})"
                continue
            properties += f"({k}:{','.join(map(str, sorted(places)))})"
            if draw(st.integers(0, 9)) == 0:
                properties += f"({k}:1)"
    return f"SC{properties}" if properties else ""


@st.composite
def _tile(draw: Draw) -> list[str]:
    entries: list[str] = draw(st.lists(st.sampled_from(("1", "2", "2", "3", "4", "8", "*")), min_size=1, max_size=4))
    if entries[-1] == "*":
        entries[-1] = "2"
    return entries
