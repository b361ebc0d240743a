"""Specs of layouts: what somebody says of the memory of a shape. The grammar is in specs/README.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map
from hloproof.models.specs.entries import Entry, Expectation, folded_text, number_of, parse_entries, read_expectation

NUMBERS: Final = ("padded", "padding", "element-bits", "data-bytes", "bytes", "xla-bytes", "parts")
"""Clauses that say one number."""
SIZES: Final = ("physical", "tiled")
"""Clauses that say sizes, most major first."""
WORDS: Final = frozenset(
    {
        "shape",
        *NUMBERS,
        *SIZES,
        "position",
        "positions",
        "bit",
        "at",
        "formula",
        "same",
        "bitcast",
        "expect",
        "from",
        "note",
    }
)
SILENT: Final = frozenset({"shape", "expect", "from", "note"})
"""Clauses that say nothing of a layout that could be wrong."""
_PLACE: Final = re.compile(r"\[([\d\s,]*)\]\s*=\s*(\d+)")
_AT: Final = re.compile(r"(\d+)\s*=\s*(?:\[([\d\s,]*)\]|(padding))")


@dataclass(frozen=True)
class LayoutSpec:
    """One entry. `shape` is absent where its text is wrong, which `expect error` asks for; `problem` says how."""

    name: str
    line: int
    column: int
    shape: ArrayShape | None
    problem: InputError | None = None
    numbers: tuple[tuple[str, int], ...] = ()
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    positions: tuple[tuple[tuple[int, ...], int], ...] = ()
    table: tuple[int, ...] | None = None
    """The positions of all elements, row-major by logical index."""
    bits: tuple[tuple[tuple[int, ...], int], ...] = ()
    at: tuple[tuple[int, tuple[int, ...] | None], ...] = ()
    """Position, and the index of the element there; None says that it is padding."""
    formula: IndexingMap | None = None
    same: tuple[ArrayShape, ...] = ()
    """Shapes whose layouts are said to put every element at the same position."""
    bitcasts: tuple[ArrayShape, ...] = ()
    expect: Expectation = "proved"
    source: str = ""
    note: str = ""
    said: tuple[str, ...] = ()
    """The words of the entry that say something, in its order: each has to be judged."""


def parse_layouts(text: str, file: str = "") -> tuple[LayoutSpec, ...]:
    """The specs of a file. Raises InputError; a wrong shape is one unless the entry expects it."""
    return tuple(_spec(e) for e in parse_entries(text, "layout", WORDS, file))


def _spec(entry: Entry) -> LayoutSpec:
    expect = read_expectation(entry.one("expect"))
    shape_clause = entry.one("shape")
    if shape_clause is None:
        raise entry.error("a layout has a clause `shape`")
    shape, problem = None, None
    try:
        shape = shape_clause.read(_array)
    except InputError as error:
        if expect != "error":
            raise
        problem = error
    table = entry.one("positions")
    formula = entry.one("formula")
    return LayoutSpec(
        entry.name,
        entry.line,
        entry.column,
        shape,
        problem,
        tuple((w, c.read(number_of)) for w in NUMBERS if (c := entry.one(w)) is not None),
        tuple((w, c.read(_sizes)) for w in SIZES if (c := entry.one(w)) is not None),
        tuple(c.read(_place) for c in entry.all("position")),
        None if table is None else table.read(_table),
        tuple(c.read(_place) for c in entry.all("bit")),
        tuple(c.read(_held) for c in entry.all("at")),
        None if formula is None else formula.read(parse_map),
        tuple(c.read(_array) for c in entry.all("same")),
        tuple(c.read(_array) for c in entry.all("bitcast")),
        expect,
        folded_text(entry.one("from")),
        folded_text(entry.one("note")),
        tuple(c.word for c in entry.clauses if c.word not in SILENT),
    )


def _array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    if not isinstance(shape, ArrayShape):
        raise ValueError("expected an array, such as f32[3,5]{1,0:T(2,2)}")
    return shape


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(number_of(e) for e in text.split(",")) if text.strip() else ()


def _sizes(text: str) -> tuple[int, ...]:
    if not (text.startswith("[") and text.endswith("]")):
        raise ValueError("expected sizes such as [2,3]")
    return _numbers(text[1:-1])


def _place(text: str) -> tuple[tuple[int, ...], int]:
    m = _PLACE.fullmatch(text)
    if m is None:
        raise ValueError("expected an index and a number, such as [2,3] = 17")
    return _numbers(m[1]), number_of(m[2])


def _held(text: str) -> tuple[int, tuple[int, ...] | None]:
    m = _AT.fullmatch(text)
    if m is None:
        raise ValueError("expected a position and what lies there, such as 17 = [2,3] or 9 = padding")
    return number_of(m[1]), None if m[3] else _numbers(m[2])


def _table(text: str) -> tuple[int, ...]:
    return tuple(number_of(e) for e in text.split())
