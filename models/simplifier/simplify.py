"""Simplifies indexing maps by the rules in specs/rules: results and domain, variable by variable the same.

`simplify` keeps the meaning pointwise: the variables stay, the domain stays the same set, the results are equal at
every point. `rescale_symbols` and `remove_unused_symbols` (maps/variables.py) change the variables and promise less.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable, rt
from hloproof.models.maps.sample_point import find_point
from hloproof.models.simplifier.domain import Domain, known_intervals, simplify_domain
from hloproof.models.simplifier.linear import key
from hloproof.models.simplifier.rewriter import Rewriter, RewriteStep
from hloproof.models.stages import checkpoint

_REMEMBERED: Final = 4_096
_NOTHING: Final = Interval(0, -1)


@dataclass(frozen=True)
class Simplified:
    """A simplified map, and by request the steps that led there."""

    map: IndexingMap
    before: IndexingMap

    @cached_property
    def derivation(self) -> tuple[RewriteStep, ...]:
        """The rules that were applied, in order, each with what it was applied to and what came of it."""
        after, steps = _simplified(self.before, explain=True)
        assert after == self.map, "the same input has been simplified in two ways"
        return tuple(steps)


_done: OrderedDict[IndexingMap, IndexingMap] = OrderedDict()
_rewriters: OrderedDict[object, Rewriter] = OrderedDict()


def simplify(m: IndexingMap) -> Simplified:
    """The map, as simple as the rules make it; simplifying it again changes nothing.

    An empty domain, where it is recognised, gives `empty_like(m)`.
    """
    found = _done.get(m)
    if found is None or found.display_names() != m.display_names():
        found = _simplified(m, explain=False)[0]
        _done[m] = found
        if len(_done) > _REMEMBERED:
            _done.popitem(last=False)
    return Simplified(found, m)


def empty_like(m: IndexingMap) -> IndexingMap:
    """The map with the same variables and no points: the one form of all empty maps."""
    nothing: tuple[Constraint, ...] = ()
    if not (m.dims or m.ranges or m.runtime):
        nothing = (Constraint(Const(0), _NOTHING),)
    return IndexingMap(
        dims=tuple(replace(v, interval=_NOTHING) for v in m.dims),
        ranges=tuple(replace(v, interval=_NOTHING) for v in m.ranges),
        runtime=tuple(replace(v, interval=_NOTHING) for v in m.runtime),
        results=tuple(Const(0) for _ in m.results),
        constraints=nothing,
        replica=None,
    )


def simplify_expr(e: Expr, intervals: dict[str, Interval]) -> Expr:
    """An expression, with variables in these intervals."""
    return Rewriter(intervals).simplify(e)


def is_empty(m: IndexingMap) -> bool | None:
    """The domain of the map has no points; None when the search gave up."""
    found = find_point(dict(m.intervals()), [(c.expr, c.interval) for c in m.constraints])
    return None if found == "unknown" else found is None


def _simplified(m: IndexingMap, explain: bool) -> tuple[IndexingMap, list[RewriteStep]]:
    checkpoint()
    if m.is_trivially_empty:
        return empty_like(m), [RewriteStep("no-interval", "an empty interval", "no points")]
    domain = Domain(dict(m.intervals()), {})
    if m.constraints:
        domain = simplify_domain(domain.intervals, [(c.expr, c.interval) for c in m.constraints], explain)
        if domain.constraints:
            domain.empty = find_point(domain.intervals, list(domain.constraints.items())) is None
    if domain.empty:
        return empty_like(m), domain.steps
    knowledge = known_intervals(domain.intervals, domain.constraints) if domain.constraints else domain.intervals
    if knowledge is None:
        return empty_like(m), domain.steps
    rewriter = _rewriter(knowledge, domain.constraints, explain)
    results = tuple(rewriter.simplify(e) for e in m.results)
    steps = domain.steps + (rewriter.steps or [])
    kept = domain.constraints | _narrowed(m, domain)
    after = replace(
        m,
        dims=_with_intervals(m.dims, "d", domain),
        ranges=_with_intervals(m.ranges, "s", domain),
        runtime=tuple(_runtime(v, domain.intervals[f"rt{k}"]) for k, v in enumerate(m.runtime)),
        results=results,
        constraints=tuple(Constraint(e, kept[e]) for e in sorted(kept, key=key)),
        replica=None if m.replica is None else simplify(m.replica).map,
    )
    return after, steps


def _rewriter(knowledge: dict[str, Interval], facts: dict[Expr, Interval], explain: bool) -> Rewriter:
    """Maps over the same domain share one rewriter, and so what it has found."""
    if explain:
        return Rewriter(knowledge, facts, explain=True)
    k = (tuple(knowledge.items()), tuple(facts.items()))
    found = _rewriters.get(k)
    if found is None:
        found = _rewriters[k] = Rewriter(knowledge, facts)
        if len(_rewriters) > 64:
            _rewriters.popitem(last=False)
    return found


def _with_intervals(variables: tuple[Variable, ...], prefix: str, d: Domain) -> tuple[Variable, ...]:
    return tuple(replace(v, interval=d.intervals[f"{prefix}{i}"]) for i, v in enumerate(variables))


def _narrowed(m: IndexingMap, d: Domain) -> dict[Expr, Interval]:
    """What the domain leaves of runtime variables that have a provider, as constraints.

    Their interval says how the value that is read is clamped. A narrower one would clamp otherwise; a constraint says
    that the domain holds only such values.
    """
    return {
        rt(k): d.intervals[f"rt{k}"]
        for k, v in enumerate(m.runtime)
        if v.provider is not None and v.interval != d.intervals[f"rt{k}"]
    }


def _runtime(v: RuntimeVariable, interval: Interval) -> RuntimeVariable:
    index = None if v.index is None else simplify(v.index).map
    return replace(v, interval=interval if v.provider is None else v.interval, index=index)
