"""Strategies for expressions and indexing maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable
from hloproof.models.maps.text import print_map

divisors = st.sampled_from((1, 2, 2, 3, 3, 4, 5, 6, 8, 12, -1, -2, -3))
factors = st.sampled_from((-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 12))
small = st.integers(-9, 12)
BETWEEN: Final = "\n//compose\n"
"""What stands between the two maps of a case that composes them."""


@st.composite
def expressions(draw: Draw, names: Sequence[str], depth: int = 3, by: st.SearchStrategy[Expr] | None = None) -> Expr:
    """Sums, products with constants, quotients and remainders, min and max. Divisors are constants that are not zero,
    or drawn from `by`."""
    if depth == 0 or not names or draw(st.integers(0, 4)) == 0:
        return Var(draw(st.sampled_from(tuple(names)))) if names and draw(st.integers(0, 3)) else Const(draw(small))
    left: Expr = draw(expressions(names, depth - 1, by))
    op = draw(st.sampled_from(("+", "+", "*", "floordiv", "floordiv", "mod", "mod", "ceildiv", "min", "max")))
    if op == "*":
        return left * Const(draw(factors))
    if op in ("floordiv", "mod", "ceildiv"):
        return Binary(op, left, Const(draw(divisors)) if by is None else draw(by))
    return Binary(op, left, draw(expressions(names, depth - 1, by)))


@st.composite
def intervals(draw: Draw, widest: int = 9) -> Interval:
    """Mostly [0, n]; sometimes a point, negative, or empty."""
    low = draw(st.sampled_from((0, 0, 0, 1, 2, -3)))
    return Interval(low, low + draw(st.integers(-1 if draw(st.integers(0, 9)) == 0 else 0, widest)))


@st.composite
def maps(draw: Draw, dims: int | None = None, widest: int = 9) -> IndexingMap:
    dim_count = draw(st.integers(0, 3)) if dims is None else dims
    range_count = draw(st.integers(0, 2))
    names = [f"d{k}" for k in range(dim_count)] + [f"s{k}" for k in range(range_count)]
    constraints = tuple(
        Constraint(draw(expressions(names, 2)), draw(intervals(6)))
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2))))
    )
    return IndexingMap(
        tuple(Variable(draw(intervals(widest))) for _ in range(dim_count)),
        tuple(draw(st.lists(expressions(names), min_size=0, max_size=3))),
        tuple(Variable(draw(intervals(min(widest, 6)))) for _ in range(range_count)),
        constraints=tuple(c for c in constraints if c.expr.free),
    )


@st.composite
def map_texts(draw: Draw) -> str:
    """One map, or two that compose."""
    first = draw(maps())
    if draw(st.integers(0, 2)):
        return print_map(first)
    return print_map(first) + BETWEEN + print_map(draw(maps(dims=len(first.results), widest=5)))
