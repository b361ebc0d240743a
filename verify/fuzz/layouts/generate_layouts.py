"""Shapes with tiled layouts, as text."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Writer, from_choices

TYPES: Final = ("f32", "bf16", "s8", "pred", "s4", "u4", "u2", "s1", "f4e2m1fn", "c128")
CHOICES: Final = 60
"""A shape takes no more."""


def layout_texts() -> st.SearchStrategy[str]:
    return from_choices(_shape, CHOICES)


def _shape(w: Writer) -> str:
    """Rank 0 to 4, up to three tiles of up to four entries, ragged ones and combining ones among them; parts; now and
    then no layout, a dimension without bound, a sparse one, or a cut where none can be."""
    dims = [w.one_of((1, 2, 3, 4, 5, 7, 9, 1, 0)) for _ in range(w.number(0, 4))]
    if len(dims) > 1 and w.chance(3):
        dims = [max(2, min(d, 5)) for d in dims[:3]]
    rank = range(len(dims))
    order = list(rank)[::-1] if w.chance(4) else w.shuffled(rank)
    kind, properties = w.one_of(TYPES[:4]), ""
    tiles = [_tile(w) for _ in range(w.number(0, 3))]
    if tiles:
        properties += "T" + "".join(f"({','.join(t)})" for t in tiles)
    if w.chance(4):
        properties += f"L({w.one_of((2, 8, 100))})"
    if w.chance(4):
        kind = w.one_of(TYPES)
        properties += w.one_of(("E(4)", "E(4)", "E(1)", "E(16)", ""))
    if w.chance(10):
        properties += "S(5)"
    properties += _splits(w, [dims[d] for d in reversed(order)])
    sizes = list(map(str, dims))
    if dims and w.chance(8):
        k = w.one_of(rank)
        sizes[k] = w.one_of(("?", f"<={dims[k]}"))
    if dims and w.chance(10):
        properties += f"D({','.join(w.one_of('DDCS') for _ in rank)})"
    text = ",".join(map(str, order)) + (f":{properties}" if properties else "")
    layout = "" if not properties and w.chance(2) else f"{{{text}}}"
    return f"{kind}[{','.join(sizes)}]{layout}"


def _splits(w: Writer, sizes: list[int]) -> str:
    """The parts of some of the dimensions, most major first; several of them are split, or one twice."""
    often, properties = w.one_of((8, 8, 1)), ""
    for k, size in enumerate(sizes):
        if size > 1 and w.chance(often):
            places = w.shuffled(range(1, size), w.number(0, 3))
            if w.chance(10):  # where none can be
                places.append(w.one_of((0, size, places[-1] if places else size + 1)))
                properties += f"({k}:{','.join(map(str, places))})"
                continue
            properties += f"({k}:{','.join(map(str, sorted(places)))})"
            if w.chance(10):
                properties += f"({k}:1)"
    return f"SC{properties}" if properties else ""


def _tile(w: Writer) -> list[str]:
    """Entries of a tile, the last of them a size."""
    entries = [w.one_of(("2", "1", "2", "3", "4", "8", "*")) for _ in range(w.number(1, 4))]
    return [*entries[:-1], "2" if entries[-1] == "*" else entries[-1]]
