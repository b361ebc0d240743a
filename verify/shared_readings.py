"""Several maps over the same dims, with the runtime variables that they share under one name.

Two runtime variables hold the same value where they read the same element of the same provider, each then clamped into
its own interval. A variable whose element depends on a range variable is no single value at a point: a map with one is
called shifting, and is shown equal to another by its text alone. To tell maps apart any contents of the providers will
do, and contents that are the same everywhere make every variable a single value again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.expr import Expr, Var, maximum, minimum, substitute
from models.indexing_map import IndexingMap, RuntimeVariable
from models.interval import Interval
from verify.claims.relation import Direction, Piece, piece_of
from verify.claims.witness import Condition
from verify.formula import Formula, conj, disj, eq, ne


@dataclass(frozen=True)
class Reading:
    """Element `index` of a provider, over the dims; `rest` tells apart what is read through further readings."""

    provider: str
    index: tuple[Expr, ...]
    rest: tuple[object, ...] = ()


@dataclass(frozen=True)
class SharedMaps:
    """The maps as pieces over d0.., the values read under the names in `runtime`."""

    pieces: tuple[Piece, ...]
    runtime: tuple[tuple[str, Interval], ...]
    hypotheses: tuple[Formula, ...]
    """Readings of one provider that meet at an element hold one value."""
    shifting: frozenset[int]
    """Maps that can be compared by their text alone."""
    nested: frozenset[int]
    """Maps with values looked up through other values: where two such readings meet is not followed."""


def shared(
    maps: Sequence[IndexingMap], direction: Direction = "output-to-input", same_everywhere: bool = False
) -> SharedMaps:
    """The maps side by side. Steps between devices count as further results.

    With `same_everywhere` each provider holds one value in all its elements: a difference then is a difference, an
    equality says nothing.
    """
    readings: dict[Reading, str] = {}
    intervals: dict[str, list[Interval]] = {}
    uses: list[list[tuple[str, Interval]]] = []
    shifting, nested = set[int](), set[int]()
    for n, m in enumerate(maps):
        own: list[tuple[str, Interval]] = []
        for k, v in enumerate(m.runtime):
            reading = Reading(v.provider or "", ()) if same_everywhere else _reading(v)
            if reading is None:
                shifting.add(n)
                own.append((f"u{n}_{k}", v.interval))
                continue
            if reading.rest:
                nested.add(n)
            name = readings.setdefault(reading, f"r{len(readings)}")
            intervals.setdefault(name, []).append(v.interval)
            own.append((name, v.interval))
        uses.append(own)
    wide = {name: _hull(found) for name, found in intervals.items() if len(set(found)) > 1}
    pieces = tuple(_piece(m, n, direction, uses[n], wide) for n, m in enumerate(maps))
    runtime = tuple((name, wide.get(name, found[0])) for name, found in intervals.items())
    return SharedMaps(pieces, runtime, _meetings(readings, dict(runtime)), frozenset(shifting), frozenset(nested))


def _reading(v: RuntimeVariable) -> Reading | None:
    if v.index is None:
        return Reading(v.provider or "", ())
    used = frozenset[str]().union(*(e.free for e in v.index.results))
    if any(name.startswith("s") for name in used):
        return None
    rest: list[object] = []
    for inner in v.index.runtime:
        found = _reading(inner)
        if found is None:
            return None
        rest.append((found, inner.interval))
    if v.index.replica is not None:
        rest.append(v.index.replica.results)
    return Reading(v.provider or "", v.index.results, tuple(rest))


def _hull(intervals: Sequence[Interval]) -> Interval:
    out = intervals[0]
    for i in intervals[1:]:
        out = out.hull(i)
    return out


def _piece(
    m: IndexingMap, n: int, direction: Direction, uses: Sequence[tuple[str, Interval]], wide: dict[str, Interval]
) -> Piece:
    steps = () if m.replica is None else m.replica.results
    flat = replace(m, results=(*m.results, *steps), replica=None)
    piece = piece_of(flat, n, direction, [(f"v{k}", v.interval) for k, v in enumerate(m.runtime)], f"_{n}")
    values: dict[str, Expr] = {}
    for k, (name, interval) in enumerate(uses):
        # One element clamped in two ways: both are what that element holds, cut to their own interval.
        held: Expr = Var(name)
        values[f"v{k}"] = minimum(maximum(held, interval.lower), interval.upper) if name in wide else held
    return replace(
        piece,
        runtime=(),
        results=tuple(substitute(e, values) for e in piece.results),
        constraints=tuple(Condition(substitute(c.expr, values), c.interval) for c in piece.constraints),
    )


def _meetings(readings: dict[Reading, str], intervals: dict[str, Interval]) -> tuple[Formula, ...]:
    """For two readings of one provider with one interval: different elements, or the same value."""
    found: list[Formula] = []
    listed = list(readings.items())
    for n, (a, name) in enumerate(listed):
        for b, other in listed[n + 1 :]:
            if a.provider != b.provider or a.rest or b.rest or len(a.index) != len(b.index):
                continue
            if intervals[name] == intervals[other]:
                apart = [ne(x, y) for x, y in zip(a.index, b.index, strict=True) if x is not y]
                found.append(disj(*apart, eq(Var(name), Var(other))))
            else:
                found.append(conj(*_clamped_alike(a, b, name, other, intervals)))
    return tuple(found)


def _clamped_alike(a: Reading, b: Reading, name: str, other: str, intervals: dict[str, Interval]) -> list[Formula]:
    """Where two readings with different intervals meet, both cut to the common interval are equal."""
    common = intervals[name].intersect(intervals[other])
    if common.is_empty:
        return []
    apart = [ne(x, y) for x, y in zip(a.index, b.index, strict=True) if x is not y]
    cut = [minimum(maximum(Var(n), common.lower), common.upper) for n in (name, other)]
    return [disj(*apart, eq(cut[0], cut[1]))]
