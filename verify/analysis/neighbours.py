"""Two points of one map side by side: what they have in common, and what may differ.

Range variables keep their values. A runtime variable keeps its value where what it reads does not move with the point;
elsewhere the second point has a value of its own, which is the same where both read the same element.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloproof.logic.formula import Formula, disj, eq, ne, within
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable


@dataclass(frozen=True)
class TwoPoints:
    """A point of a map's domain, given by the map's variables, and a second one, given by `there`."""

    variables: tuple[tuple[str, Interval], ...]
    there: Mapping[str, Expr]
    hypotheses: tuple[Formula, ...]
    """Both lie in the domain; what is read at one element is one value."""
    shifting: frozenset[str]
    """Runtime variables that may hold another value at the second point."""


def two_points(
    m: IndexingMap, there: Mapping[str, Expr], intervals: Mapping[str, Interval], here: Mapping[str, Expr] | None = None
) -> TwoPoints:
    """The points of `m` and those whose variables `there` replaces; with `here`, the first ones are replaced too.

    `intervals` are those of the variables that the points are given by, instead of the map's own where these are
    replaced. Intervals of the map's own variables that are replaced become hypotheses.
    """
    here = here or {}
    moved = frozenset(there)
    second = dict(there)
    variables = {n: i for n, i in m.intervals() if n not in here} | dict(intervals)
    hypotheses: list[Formula] = []
    shifting: set[str] = set()
    for k, v in enumerate(m.runtime):
        if stays(v, moved):
            continue
        name, other = f"rt{k}", f"vt{k}"
        shifting.add(name)
        second[name] = Var(other)
        variables[other] = v.interval
        if v.index is not None and not v.index.runtime and v.index.replica is None:
            apart = [ne(substitute(e, here), substitute(e, second)) for e in v.index.results]
            hypotheses.append(disj(*apart, eq(Var(name), Var(other))))
    own = dict(m.intervals())
    for place in (here, second):
        hypotheses += [within(e, own[n]) for n, e in place.items() if n in own and not isinstance(e, Var)]
        hypotheses += [within(substitute(c.expr, place), c.interval) for c in m.constraints]
    return TwoPoints(tuple(variables.items()), second, tuple(hypotheses), frozenset(shifting))


def stays(v: RuntimeVariable, moved: frozenset[str]) -> bool:
    """What the runtime variable reads is the same element while only the variables `moved` change."""
    if v.index is None:
        return False
    parts = v.index.results if v.index.replica is None else (*v.index.results, *v.index.replica.results)
    return all(e.free.isdisjoint(moved) for e in parts) and all(stays(inner, moved) for inner in v.index.runtime)
