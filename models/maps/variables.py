"""Operations on the variables of a map: rescaling range variables, leaving out symbols that nothing needs.

Both keep the relation between dims and results. Rescaling is one to one on points; leaving out a range variable changes
how often a result is reached, and is wrong under a sum.
"""

from __future__ import annotations

from dataclasses import replace

from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, rng, rt
from hloproof.models.maps.sample_point import find_point


def rescale_symbols(m: IndexingMap) -> IndexingMap:
    """Replaces each range variable s with a constraint `s mod c in [r, r]` by `s * c + r`, whose interval is as much
    narrower, and drops the constraint; one constraint for each variable, in the order of the map."""
    done: set[str] = set()
    for at in range(len(m.ranges)):
        for c in m.constraints:
            name = f"s{at}"
            match c.expr:
                case Binary("mod", Var(variable), Const(step)) if variable == name and name not in done and step > 0:
                    r = c.interval.lower
                    if c.interval.is_point and 0 <= r < step:
                        done.add(name)
                        m = _rescaled(m, at, step, r, c)
    return m


def _rescaled(m: IndexingMap, at: int, step: int, r: int, dropped: Constraint) -> IndexingMap:
    image = {f"s{at}": rng(at) * step + r}
    m = _substituted(m, image, tuple(c for c in m.constraints if c != dropped))
    return _with_range(m, at, step, r)


def _substituted(m: IndexingMap, image: dict[str, Expr], constraints: tuple[Constraint, ...]) -> IndexingMap:
    def within(inner: IndexingMap | None) -> IndexingMap | None:
        return None if inner is None else _substituted(inner, image, inner.constraints)

    return replace(
        m,
        results=tuple(substitute(e, image) for e in m.results),
        constraints=tuple(Constraint(substitute(c.expr, image), c.interval) for c in constraints),
        runtime=tuple(replace(v, index=within(v.index)) for v in m.runtime),
        replica=within(m.replica),
    )


def _with_range(m: IndexingMap, at: int, step: int, r: int) -> IndexingMap:
    """The map, and the maps that share its range variables, with range variable `at` over all t for which step * t + r
    lies in the interval that it has there: of steps between devices that may be a narrower one."""

    def within(inner: IndexingMap | None) -> IndexingMap | None:
        return None if inner is None or at >= len(inner.ranges) else _with_range(inner, at, step, r)

    old = m.ranges[at].interval
    interval = Interval(-((r - old.lower) // step), (old.upper - r) // step)
    ranges = (*m.ranges[:at], replace(m.ranges[at], interval=interval), *m.ranges[at + 1 :])
    return replace(
        m,
        ranges=ranges,
        runtime=tuple(replace(v, index=within(v.index) or v.index) for v in m.runtime),
        replica=within(m.replica) or m.replica,
    )


def remove_unused_symbols(m: IndexingMap, given: IndexingMap | None = None) -> IndexingMap:
    """Leaves out range and runtime variables that no result, no kept constraint and no kept provider needs.

    A constraint goes when all its variables do, provided that they can meet it; one that mentions a dim or a runtime
    variable stays, and what it mentions with it: some value of a range variable is enough, a value that is read is not
    chosen. So does a runtime variable that has a narrower interval than in `given`, the map before it was simplified,
    and one in front of a variable that names no provider: that one is known by its place alone.
    """
    if m.is_trivially_empty:
        return m
    before = m.runtime if given is None else given.runtime
    narrowed = {f"rt{k}" for k, (x, y) in enumerate(zip(before, m.runtime, strict=True)) if x.interval != y.interval}
    used = _used(m, narrowed)
    symbols = [n for n in m.display_names() if not n.startswith("d")]
    dropped = [n for n in symbols if n not in used]
    if not dropped:
        return m
    intervals = dict(m.intervals())
    loose = [c for c in m.constraints if c.expr.free and not c.expr.free & used]
    if not isinstance(find_point({n: intervals[n] for n in dropped}, [(c.expr, c.interval) for c in loose]), dict):
        return m
    return _without(m, set(dropped), tuple(c for c in m.constraints if c not in loose))


def _used(m: IndexingMap, narrowed: set[str]) -> set[str]:
    used = {f"d{i}" for i in range(len(m.dims))} | narrowed
    used |= {n for c in m.constraints for n in c.expr.free if n.startswith("rt")}
    for e in (*m.results, *(m.replica.results if m.replica else ())):
        used |= e.free
    if m.replica:
        for c in m.replica.constraints:
            used |= c.expr.free
        own = dict(m.intervals())
        used |= {n for n, i in m.replica.intervals() if n in own and not i.contains(own[n])}
    while True:
        more = set(used)
        for c in m.constraints:
            if c.expr.free & used:
                more |= c.expr.free
        for k, v in enumerate(m.runtime):
            if f"rt{k}" in used:
                more |= _ranges_in(v.index)
                if _known_by_place(v):
                    more |= {f"rt{before}" for before in range(k)}
        if more == used:
            return used
        used = more


def _ranges_in(m: IndexingMap | None) -> set[str]:
    """The range variables that a map of what is read mentions, or a map in it. Its runtime variables are its own."""
    if m is None:
        return set()
    found = {n for e in (*m.results, *(c.expr for c in m.constraints)) for n in e.free if n.startswith("s")}
    return found.union(_ranges_in(m.replica), *(_ranges_in(v.index) for v in m.runtime))


def _known_by_place(v: RuntimeVariable) -> bool:
    """The variable names no provider, or a variable in the maps of what it reads does not: its place begins with this
    one's."""
    return v.provider is None or (v.index is not None and any(_known_by_place(r) for r in v.index.runtime))


def _without(m: IndexingMap, dropped: set[str], constraints: tuple[Constraint, ...]) -> IndexingMap:
    ranges = [j for j in range(len(m.ranges)) if f"s{j}" not in dropped]
    runtime = [k for k in range(len(m.runtime)) if f"rt{k}" not in dropped]
    moved: dict[str, Expr] = {f"s{j}": rng(new) for new, j in enumerate(ranges)}
    moved |= {f"rt{k}": rt(new) for new, k in enumerate(runtime)}

    def within(inner: IndexingMap | None) -> IndexingMap | None:
        """A map of what is read, over the same range variables; one without them stays. Its runtime variables are its
        own."""
        if inner is None or len(inner.ranges) != len(m.ranges):
            return inner
        return _without(inner, {n for n in dropped if n.startswith("s")}, inner.constraints)

    def kept(v: RuntimeVariable) -> RuntimeVariable:
        return replace(v, index=within(v.index))

    return replace(
        m,
        ranges=tuple(m.ranges[j] for j in ranges),
        runtime=tuple(kept(m.runtime[k]) for k in runtime),
        results=tuple(substitute(e, moved) for e in m.results),
        constraints=tuple(Constraint(substitute(c.expr, moved), c.interval) for c in constraints),
        # Steps have the variables of the map, though perhaps not all of them.
        replica=None if m.replica is None else _without(m.replica, dropped, m.replica.constraints),
    )
