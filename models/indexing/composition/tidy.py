"""What can be said of a map at sight: constraints that always or never hold, variables that nothing uses.

Unlike the simplifier this rewrites no expression. Every step keeps the relation between dims, runtime variables and
results; dropping an unused range variable changes how often a pair is counted, so it is a step of its own.
"""

from __future__ import annotations

from dataclasses import replace

from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable, rng, rt, used_by_index

_NOWHERE = Interval(0, -1)


def tidied(m: IndexingMap) -> IndexingMap:
    """Constraints on a bare dim or range variable narrow its interval, those that always hold go, equal ones are
    joined; a map without points becomes the empty map of its rank."""
    if m.is_trivially_empty:
        return empty(m)
    intervals = dict(m.intervals())
    pending: dict[Expr, Interval] = {}
    for c in m.constraints:
        e = c.expr
        # The interval of a runtime variable says what its value is cut to, and no constraint may change that.
        if isinstance(e, Var) and not e.name.startswith("rt"):
            narrowed = intervals[e.name].intersect(c.interval)
            if narrowed.is_empty:
                return empty(m)
            intervals[e.name] = narrowed
        else:
            pending[e] = pending[e].intersect(c.interval) if e in pending else c.interval
    kept: list[Constraint] = []
    for e, interval in pending.items():
        possible = range_of(e, intervals)
        if interval.contains(possible):
            continue
        if interval.intersect(possible).is_empty:
            return empty(m)
        kept.append(Constraint(e, interval))
    constraints = tuple(kept)
    if constraints == m.constraints and all(intervals[name] == v.interval for name, v in m.variables()):
        return m
    dims = tuple(_within(v, intervals[f"d{i}"]) for i, v in enumerate(m.dims))
    ranges = tuple(_within(v, intervals[f"s{j}"]) for j, v in enumerate(m.ranges))
    out = IndexingMap(dims, m.results, ranges, m.runtime, constraints)
    return out if m.replica is None else replace(out, replica=replace(out, results=m.replica.results))


def tidied_providers(m: IndexingMap) -> IndexingMap:
    """The map with its runtime variables' index maps tidied."""
    if all(v.index is None or not v.index.constraints for v in m.runtime):
        return m
    runtime = tuple(
        v if v.index is None or not v.index.constraints else replace(v, index=tidied_providers(_alive(v.index)))
        for v in m.runtime
    )
    replica = None if m.replica is None else replace(m.replica, runtime=runtime)
    return replace(m, runtime=runtime, replica=replica)


def _alive(index: IndexingMap) -> IndexingMap:
    """An index map tidied, unless that shows that it is never used: then it stays as it is."""
    found = tidied(index)
    # The empty map would no longer say which element is read, and what reads nothing is undefined, not empty.
    return index if found.is_trivially_empty else used_by_index(found)


def _within(v: Variable, interval: Interval) -> Variable:
    return v if v.interval == interval else replace(v, interval=interval)


def empty(m: IndexingMap) -> IndexingMap:
    """The empty map with as many dims and results as `m`."""
    return (
        IndexingMap(tuple(Variable(_NOWHERE) for _ in m.dims), tuple(Const(0) for _ in m.results))
        if m.dims
        else (IndexingMap((), tuple(Const(0) for _ in m.results), constraints=(Constraint(Const(0), _NOWHERE),)))
    )


def used_variables_only(m: IndexingMap) -> IndexingMap:
    """The map without range and runtime variables that neither its results, its constraints nor its replica part use.

    The relation stays; how often a pair is counted may not.
    """
    if not m.ranges and not m.runtime:
        return m
    used = frozenset[str]().union(*(e.free for e in m.results), *(c.expr.free for c in m.constraints))
    if m.replica is not None:
        used = used.union(*(e.free for e in m.replica.results))
    kept_runtime = [k for k in range(len(m.runtime)) if f"rt{k}" in used]
    for k in kept_runtime:
        index = m.runtime[k].index
        if index is not None and index.ranges:
            used = used | _range_names(index)
    # A variable without values is used by being empty: without it the map would have points.
    kept_ranges = [j for j, v in enumerate(m.ranges) if f"s{j}" in used or v.interval.is_empty]
    if len(kept_ranges) == len(m.ranges) and len(kept_runtime) == len(m.runtime):
        return m
    into: dict[str, Expr] = {f"s{j}": rng(new) for new, j in enumerate(kept_ranges) if new != j}
    into |= {f"rt{k}": rt(new) for new, k in enumerate(kept_runtime) if new != k}
    ranges = tuple(m.ranges[j] for j in kept_ranges)
    out = IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        ranges,
        tuple(_with_ranges(m.runtime[k], ranges, into) for k in kept_runtime),
        tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )
    if m.replica is None:
        return out
    return replace(out, replica=replace(out, results=tuple(substitute(e, into) for e in m.replica.results)))


def with_any_value(m: IndexingMap) -> IndexingMap:
    """The map with range variables in place of its runtime variables: a superset, whatever is read. A replica part is
    not supported."""
    if not m.runtime:
        return m
    count = len(m.ranges)
    into: dict[str, Expr] = {f"rt{k}": rng(count + k) for k in range(len(m.runtime))}
    return IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        (*m.ranges, *(Variable(v.interval) for v in m.runtime)),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )


def _range_names(index: IndexingMap) -> frozenset[str]:
    """The range variables that an index map, or one inside it, uses."""
    results = index.results if index.replica is None else (*index.results, *index.replica.results)
    used = frozenset[str]().union(*(e.free for e in results), *(c.expr.free for c in index.constraints))
    found = frozenset(name for name in used if name.startswith("s"))
    for v in index.runtime:
        if v.index is not None:
            found |= _range_names(v.index)
    return found


def _with_ranges(v: RuntimeVariable, ranges: tuple[Variable, ...], into: dict[str, Expr]) -> RuntimeVariable:
    """The runtime variable over the range variables that are left; its index map has all of them or none."""
    if v.index is None or not v.index.ranges:
        return v
    moved = {name: e for name, e in into.items() if name.startswith("s")}
    index = v.index
    kept = ranges if _range_names(index) else ()
    renamed = IndexingMap(
        index.dims,
        tuple(substitute(e, moved) for e in index.results),
        kept,
        tuple(_with_ranges(inner, ranges, into) for inner in index.runtime),
        tuple(Constraint(substitute(c.expr, moved), c.interval) for c in index.constraints),
    )
    if index.replica is not None:
        steps = tuple(substitute(e, moved) for e in index.replica.results)
        renamed = replace(renamed, replica=replace(renamed, results=steps))
    return replace(v, index=renamed)
