"""Target `maps`: what the simplifier, the composition, the parser and the printer do to maps, point by point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.maps import composition_readings
from hloproof.fuzz.maps.generate_maps import BETWEEN, map_texts
from hloproof.fuzz.target import Failure, Target
from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, postorder
from hloproof.models.hlo.shape import Index
from hloproof.models.interpreter.maps import points, relation
from hloproof.models.maps.indexing_map import IndexingMap, compose
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.simplifier.simplify import simplify

MOST_POINTS: Final = 20_000
POINTS_FOR_RANGES: Final = 150


def box(m: IndexingMap) -> int:
    """Points of the box of dims and range variables."""
    size = 1
    for _, interval in m.intervals():
        size *= interval.count
    return size


def dims_of(m: IndexingMap) -> Iterator[Index]:
    return product(*(range(v.interval.lower, v.interval.upper + 1) for v in m.dims))


def examine(text: str) -> tuple[str, ...]:
    if text.startswith(composition_readings.PREFIX):
        return composition_readings.examine(text)
    parts = [parse_map(part) for part in text.split(BETWEEN)]
    for m in parts:
        again = parse_map(print_map(m))
        if again != m:
            raise Failure("maps: printing and parsing changes a map", f"{print_map(m)} becomes {print_map(again)}")
    if len(parts) == 2 and len(parts[0].results) != len(parts[1].dims):
        return ("does not compose",)  # an empty map prints without its variables
    if any(m.runtime or _may_divide_by_zero(m) for m in parts):
        return ("values are read, or a divisor may be zero",)
    if any(box(m) > MOST_POINTS for m in parts):
        return ("too large",)
    if len(parts) == 2:
        return _composed(parts[0], parts[1])
    return _simplified(parts[0], "maps: simplified")


def _may_divide_by_zero(m: IndexingMap) -> bool:
    """A divisor is not a constant, or zero."""
    roots = (*m.results, *(c.expr for c in m.constraints))
    return any(
        isinstance(e, Binary)
        and e.op in ("floordiv", "ceildiv", "mod")
        and (not isinstance(e.rhs, Const) or e.rhs.value == 0)
        for root in roots
        for e in postorder(root)
    )


def cases() -> st.SearchStrategy[str]:
    compositions = st.integers(0, 10**9).map(lambda n: f"{composition_readings.PREFIX}{n}")
    return st.one_of(map_texts(), map_texts(), compositions)


def _ranges(m: IndexingMap) -> None:
    """Every part of every expression lies in the range that is computed for it, at every point that is tried."""
    intervals = dict(m.intervals())
    if any(i.is_empty for i in intervals.values()):
        return
    parts = {e for root in (*m.results, *(c.expr for c in m.constraints)) for e in postorder(root)}
    stated = {e: range_of(e, intervals) for e in parts}
    box_points = product(*(sorted({i.lower, i.upper, *range(i.lower, i.upper + 1)}) for i in intervals.values()))
    for values in islice(box_points, POINTS_FOR_RANGES):
        at = dict(zip(intervals, values, strict=True))
        for e, interval in stated.items():
            try:
                value = evaluate(e, at)
            except UndefinedValue:
                continue
            if value not in interval:
                found = f"{e!r} is {value} at {at}, not in {interval}"
                raise Failure("maps: a value outside the computed range", found)


def _simplified(m: IndexingMap, what: str) -> tuple[str, ...]:
    """The same points with the same results; where the map is defined everywhere, its simplified form is."""
    _ranges(m)
    result = simplify(m)
    after = result.map
    if len(after.dims) != len(m.dims) or len(after.ranges) != len(m.ranges):
        raise Failure(f"{what}: other variables", print_map(after))
    for dims in dims_of(m):
        try:
            before = set(points(m, dims))
        except UndefinedValue:
            continue
        try:
            found = set(points(after, dims))
        except UndefinedValue as error:
            raise Failure(f"{what}: undefined at a point", f"{dims}: {print_map(after)}") from error
        if found != before:
            there = sorted(before ^ found)[0]
            raise Failure(f"{what}: other points", f"at {dims}, {there}: {print_map(after)}")
    for dims in dims_of(after):
        inside = all(d in v.interval for d, v in zip(dims, m.dims, strict=True))
        if not inside and set(points(after, dims)):
            raise Failure(f"{what}: points outside the domain", f"{dims}: {print_map(after)}")
    if simplify(after).map != after:
        raise Failure(
            "maps: simplifying again changes the map", f"{print_map(after)}, {print_map(simplify(after).map)}"
        )
    return ("simplify", *(f"rule {s.rule}" for s in result.derivation if isinstance(getattr(s, "rule", None), str)))


def _composed(first: IndexingMap, second: IndexingMap) -> tuple[str, ...]:
    """A pair of dims and results of the composition stands for one point of each map, the consumer's first."""
    composed = compose(first, second)
    if box(composed) > MOST_POINTS * 4:
        return ("too large",)
    expected: Counter[tuple[Index, Index]] = Counter()
    for (dims, between), count in relation(first).items():
        if all(i in v.interval for i, v in zip(between, second.dims, strict=True)):
            for _, results, _ in points(second, between):
                expected[dims, results] += count
    if relation(composed) != expected:
        raise Failure("maps: composition differs", print_map(composed))
    _simplified(composed, "maps: simplified composition")
    return ("compose",)


TARGET = Target(
    "maps", "the simplifier keeps the meaning of maps; composition; printing and parsing", cases, examine, ".map"
)
