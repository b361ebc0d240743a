"""Target `maps`: what the simplifier, the composition, the reader and the printer do to maps, point by point."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Replayed, Writer, from_choices
from hloproof.fuzz.maps import compositions
from hloproof.fuzz.maps.map_laws import check_map, check_printed
from hloproof.fuzz.maps.readings import size
from hloproof.fuzz.maps.spellings import expression
from hloproof.fuzz.target import Target
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable
from hloproof.models.maps.text import parse_map, print_map

MOST_POINTS: Final = 5_000
_CONSTANTS: Final = (2, 2, 3, 3, 4, 5, 6, 8, 12, 1, -1, -2, -3)
"""What expressions are divided by and multiplied with."""


def examine(text: str) -> tuple[str, ...]:
    if text.startswith(compositions.PREFIX):
        return compositions.examine(text)
    m = parse_map(text)
    check_printed(m, text)
    if size(m) > MOST_POINTS:
        return ("too large",)
    return ("simplify", *(f"rule {step.rule}" for step in check_map(m).steps))


def _interval(w: Writer, widest: int) -> Interval:
    """Mostly [0, n]; sometimes a point, negative, or empty."""
    low = w.one_of((0, 0, 0, 1, 2, -3))
    return Interval(low, low + w.number(-1 if w.chance(10) else 0, widest))


def _case(w: Replayed) -> str:
    """A map over a few variables, with constraints on any expressions; or two maps to compose."""
    if w.chance(2):
        return compositions.PREFIX + w.some(compositions.CHOICES).hex()
    dims, ranges = w.number(0, 3), w.number(0, 2)
    names = [f"d{k}" for k in range(dims)] + [f"s{k}" for k in range(ranges)]
    bounds = [Constraint(expression(w, names, 2, _CONSTANTS), _interval(w, 6)) for _ in range(w.one_of((0, 0, 1, 2)))]
    return print_map(
        IndexingMap(
            tuple(Variable(_interval(w, 9)) for _ in range(dims)),
            tuple(expression(w, names, 3, _CONSTANTS) for _ in range(w.number(0, 3))),
            tuple(Variable(_interval(w, 6)) for _ in range(ranges)),
            constraints=tuple(c for c in bounds if c.expr.free),
        )
    )


def cases() -> st.SearchStrategy[str]:
    return from_choices(_case, compositions.CHOICES)


TARGET = Target(
    "maps", "the simplifier keeps the meaning of maps; composition; printing and parsing", cases, examine, ".map"
)
