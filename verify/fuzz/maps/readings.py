"""Maps read point by point: every point of the box is tried, and what is read at run time follows from where it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from zlib import crc32

from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.python_text import function_of
from hloproof.models.hlo.shape import Index
from hloproof.models.maps.indexing_map import IndexingMap

Meaning = dict[Index, Index | None]
"""The results at every point of the domain; None where they are not defined."""


def size(m: IndexingMap) -> int:
    """How many points the box of all variables has."""
    return prod(i.count for _, i in m.intervals())


def box_points(m: IndexingMap) -> Iterator[Index]:
    return product(*(range(i.lower, i.upper + 1) for _, i in m.intervals()))


def meaning(m: IndexingMap) -> Meaning:
    """Runtime variables take every value of their intervals."""
    f = function_of([*(c.expr for c in m.constraints), *m.results], [n for n, _ in m.intervals()])
    n = len(m.constraints)
    found: Meaning = {}
    for point in box_points(m):
        try:
            values = f(*point)
        except ZeroDivisionError:
            found[point] = None
            continue
        if all(v in c.interval for v, c in zip(values, m.constraints, strict=False)):
            found[point] = values[n:]
    return found


def leads(m: IndexingMap, device: int, dims: Index) -> Iterator[tuple[Index, Index]]:
    """Results and the devices passed, at every point over these dims; the devices form one group, so that positions
    are devices."""
    if any(x not in v.interval for x, v in zip(dims, m.dims, strict=True)):
        return
    for ranges in product(*(range(v.interval.lower, v.interval.upper + 1) for v in m.ranges)):
        at = _values(m, device, dims, ranges)
        if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
            yield tuple(evaluate(e, at) for e in m.results), _steps(m, at)


def _steps(m: IndexingMap, at: dict[str, int]) -> Index:
    return tuple(evaluate(e, at) for e in m.replica.results) if m.replica is not None else ()


def _values(m: IndexingMap, device: int, dims: Index, ranges: Index) -> dict[str, int]:
    """All variables of the map at a point; what is read is read on the device that its index map leads to."""
    at = {f"d{k}": x for k, x in enumerate(dims)} | {f"s{k}": x for k, x in enumerate(ranges)}
    for k, r in enumerate(m.runtime):
        held = crc32(repr(r.provider).encode())
        if r.index is not None:
            inner = _values(r.index, device, dims, ranges[: len(r.index.ranges)])
            place = tuple(evaluate(e, inner) for e in r.index.results)
            held = crc32(repr((r.provider, place, (device, *_steps(r.index, inner))[-1])).encode())
        at[f"rt{k}"] = max(r.interval.lower, min(held % 11 - 3, r.interval.upper))
    return at
