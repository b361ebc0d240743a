"""Every point of an indexing map, by plain enumeration: what the tests compare maps with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap

Read = Callable[[str, tuple[int, ...]], int]
"""What a provider holds at an index."""
Pair = tuple[tuple[int, ...], tuple[int, ...]]


def points(m: IndexingMap, read: Read | None = None) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(dims, results) once for every point of the domain; runtime variables hold what `read` says, clamped."""
    boxes = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
    for values in product(*boxes):
        at = {f"d{i}": v for i, v in enumerate(values[: len(m.dims)])}
        at |= {f"s{j}": v for j, v in enumerate(values[len(m.dims) :])}
        for k, v in enumerate(m.runtime):
            at[f"rt{k}"] = _held(v, at, read)
        if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
            yield tuple(values[: len(m.dims)]), tuple(evaluate(e, at) for e in m.results)


def _held(v: Any, at: dict[str, int], read: Read | None) -> int:
    assert read is not None and v.index is not None and v.provider is not None
    inner = {name: value for name, value in at.items() if not name.startswith("rt")}
    for k, w in enumerate(v.index.runtime):
        inner[f"rt{k}"] = _held(w, at, read)
    held: int = read(v.provider, tuple(evaluate(e, inner) for e in v.index.results))
    interval: Interval = v.interval
    return min(max(held, interval.lower), interval.upper)


def counted(maps: Sequence[IndexingMap], read: Read | None = None) -> Counter[Pair]:
    """How often each (dims, results) pair occurs in the union of the maps."""
    found: Counter[Pair] = Counter()
    for m in maps:
        found.update(points(m, read))
    return found
