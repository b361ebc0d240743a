"""Runtime variables that read one element hold one value, each cut to its own interval."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from hloproof.logic.formula import Formula, disj, eq, ne
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, maximum, minimum, postorder, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable


def one_value(name: str, other: str, interval: Interval, others: Interval) -> Formula:
    """Both are one value, clamped into two intervals."""
    if interval == others:
        return eq(Var(name), Var(other))
    # What is known of the one value is only what both clamps let through: inside the common part they agree; apart, the
    # lower one is at its upper bound or the higher one at its lower.
    common = interval.intersect(others)
    # Cut to a part of one value, both would agree whatever they are: intervals that touch are apart.
    if common.count < 2:
        (low, below), (high, above) = sorted([(name, interval), (other, others)], key=lambda x: x[1].lower)
        return disj(eq(Var(low), below.upper), eq(Var(high), above.lower))
    cut = [minimum(maximum(Var(n), common.lower), common.upper) for n in (name, other)]
    return eq(cut[0], cut[1])


def reads_unnamed(m: IndexingMap) -> bool:
    """Some runtime variable, or one that it is read by, does not say what it reads."""
    return any(v.provider is None or (v.index is not None and reads_unnamed(v.index)) for v in m.runtime)


def values_that_meet(m: IndexingMap, into: Mapping[str, Expr] | None = None) -> tuple[Formula, ...]:
    """For two runtime variables rt0.. of a map that read one provider: different elements, or one value. `into` says
    what the dims and range variables are called.

    Nothing is said of elements that other readings name, or of those of other devices, but where both are written
    alike and say what names them; nor of elements over other variables than those of the map, or that a division by
    what may be zero names. Each formula holds for all contents.
    """
    own = {n for n, _ in m.intervals()}
    out: list[Formula] = []
    for (k, v), (n, w) in combinations(enumerate(m.runtime), 2):
        if v.provider is None or v.provider != w.provider:
            continue
        apart: list[Formula] = []
        if v.index != w.index:
            one, other = _element(v), _element(w)
            if one is None or other is None or len(one) != len(other):
                continue
            if any(not e.free <= own for e in (*one, *other)):
                continue
            apart = [ne(substitute(a, into or {}), substitute(b, into or {})) for a, b in zip(one, other, strict=True)]
        elif v.index is not None and reads_unnamed(v.index):
            continue
        out.append(disj(*apart, one_value(f"rt{k}", f"rt{n}", v.interval, w.interval)))
    return tuple(out)


def _element(v: RuntimeVariable) -> tuple[Expr, ...] | None:
    """The coordinates of what is read, over dims and range variables; None where that is not all there is to it."""
    if v.index is None:
        return ()
    if v.index.runtime or v.index.replica is not None or any(map(_may_be_undefined, v.index.results)):
        return None
    return v.index.results


def _may_be_undefined(e: Expr) -> bool:
    return any(
        isinstance(n, Binary)
        and n.op in ("floordiv", "ceildiv", "mod")
        and not (isinstance(n.rhs, Const) and n.rhs.value)
        for n in postorder(e)
    )
