"""Strategies for maps that read values at run time, and for maps with divisors that may be zero, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from hloproof.fuzz.maps.generate_maps import BETWEEN, divisors, expressions, intervals
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from hloproof.models.maps.text import print_map

Draw = Callable[[st.SearchStrategy[Any]], Any]

_PROVIDERS = ("parameter(0)", "parameter(0)", "parameter(1)", "constant(3)", "some.name")


def _divisors(names: list[str]) -> st.SearchStrategy[Expr]:
    """Constants, zero among them, and sometimes a variable."""
    constants = st.one_of(divisors, divisors, st.just(0)).map(Const)
    return st.one_of(constants, constants, st.sampled_from(names).map(Var)) if names else constants


@st.composite
def runtime_maps(
    draw: Draw, dims: Sequence[Interval] | None = None, most: int = 2, provided: bool = False
) -> IndexingMap:
    """Up to two dims (or those given), one range variable and `most` runtime variables: with a provider and the element
    that is read of it, or without (not so when all are to be `provided`). Divisors of one map in four may be zero."""
    boxes = draw(st.lists(intervals(5), max_size=2)) if dims is None else dims
    own = tuple(Variable(i) for i in boxes)
    ranges = tuple(Variable(draw(intervals(3))) for _ in range(draw(st.integers(0, 1))))
    count = draw(st.integers(0, most)) if dims is not None else draw(st.integers(1, most))
    plain = [f"d{k}" for k in range(len(own))] + [f"s{k}" for k in range(len(ranges))]
    names = plain + [f"rt{k}" for k in range(count)]
    by = _divisors(names) if draw(st.integers(0, 3)) == 0 else None
    runtime = []
    for _ in range(count):
        interval = draw(intervals(5))
        if not provided and draw(st.integers(0, 4)) == 0:
            runtime.append(RuntimeVariable(interval))
            continue
        whole = draw(st.booleans())
        read = tuple(draw(st.lists(expressions(plain if whole else plain[: len(own)], 2), max_size=2)))
        index = IndexingMap(own, read, ranges if whole else ())
        runtime.append(RuntimeVariable(interval, provider=draw(st.sampled_from(_PROVIDERS)), index=index))
    constraints = tuple(
        Constraint(draw(expressions(names, 2, by)), draw(intervals(5)))
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2))))
    )
    results = tuple(draw(st.lists(expressions(names, 3, by), min_size=0 if dims is None else 1, max_size=2)))
    results = tuple(
        e + Var(draw(st.sampled_from(names[len(plain) :]))) if count and draw(st.booleans()) else e for e in results
    )
    return IndexingMap(own, results, ranges, tuple(runtime), tuple(c for c in constraints if c.expr.free))


@st.composite
def runtime_map_texts(draw: Draw) -> str:
    """One map, or two that compose. What the first of two reads has a provider: without one it could not be told
    apart where the second reads at an index that it leads to."""
    if draw(st.integers(0, 1)):
        return print_map(draw(runtime_maps()))
    first = draw(runtime_maps(provided=True))
    boxes = [draw(intervals(5)) for _ in first.results]
    if draw(st.integers(0, 3)):
        # The results of the first map are indices into the second's dims.
        boxes = [Interval.of_size(draw(st.integers(1, 4))) for _ in first.results]
        first = replace(first, results=tuple(e % i.count for e, i in zip(first.results, boxes, strict=True)))
    return print_map(first) + BETWEEN + print_map(draw(runtime_maps(boxes)))
