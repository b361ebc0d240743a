"""Is one indexing map as good as another: equal at every point, or the same relation.

Pointwise, where the variables agree: the domains are the same set and the results are equal at every point of it.
Relational, otherwise or by request: the same pairs of dims and results, range variables quantified away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from hloproof.engines.door import HOW, How, prove_one
from hloproof.logic.formula import FALSE, Exists, Formula, conj, eq, ne, within
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.errors import InputError
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder, substitute, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable
from hloproof.models.maps.text import print_map
from hloproof.results.verdict import Verdict

Equality = Literal["pointwise", "relational"]


@dataclass(frozen=True)
class Rewritten:
    """The verdict on `before = after`, which equality it is about, and at which values it fails."""

    verdict: Verdict
    equality: Equality
    counterexample: str | None = None
    reason: str | None = None
    engines: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Goal:
    obligation: Obligation
    what: Literal["results", "lost", "added", "relation lost", "relation added"]


def rewrite(before: IndexingMap, after: IndexingMap, mode: Equality | None = None, how: How = HOW) -> Rewritten:
    """Proves or refutes that `after` may stand where `before` does.

    `mode` None means pointwise where the maps have the same numbers of dims, range and runtime variables, relational
    otherwise. Raises InputError when the maps cannot be compared (dims or results differ in number) or a
    divisor of `before` is zero at some point of its domain.
    """
    if before.is_trivially_empty or after.is_trivially_empty:
        return _both_empty(before, after, mode or "pointwise", how)
    _comparable(before, after)
    _defined(before, how)
    counts = [(len(m.dims), len(m.ranges), len(m.runtime)) for m in (before, after)]
    equality: Equality = mode or ("pointwise" if counts[0] == counts[1] else "relational")
    if mode == "pointwise" and counts[0] != counts[1]:
        raise InputError("pointwise equality needs maps with the same numbers of variables", 1, 1)
    if equality == "relational":
        # Elements and devices are read together: one relation, not two.
        before, after = _needed_runtime(_with_devices(before)), _needed_runtime(_with_devices(after))
        if len(before.results) != len(after.results):
            raise InputError("the maps cannot be compared: they take different numbers of steps between devices", 1, 1)
    aligned = _aligned(before, after)
    if aligned is None:
        return Rewritten(
            Verdict.UNKNOWN, equality, reason="the runtime variables read different elements, or their number differs"
        )
    result = _prove(before, aligned, equality, how)
    if result.verdict is Verdict.PROVED and _clamped_otherwise(before, aligned):
        reason = "a value read at run time is clamped into other bounds, and the domains are the same"
        return Rewritten(Verdict.UNKNOWN, equality, reason=reason)
    if result.verdict is Verdict.PROVED and before.replica and after.replica:
        return rewrite(before.replica, after.replica, mode, how)
    return result


def _both_empty(before: IndexingMap, after: IndexingMap, equality: Equality, how: How) -> Rewritten:
    """All empty maps are one: where one map has no points, the other must have none, whatever its variables."""
    other = after if before.is_trivially_empty else before
    if other.is_trivially_empty:
        return Rewritten(Verdict.PROVED, equality)
    outcome = prove_one(Obligation(tuple(other.intervals()), FALSE, domain_formula(other), "no points"), how)
    if outcome.verdict != "refuted":
        return Rewritten(Verdict(outcome.verdict), equality, reason=outcome.reason or None, engines=outcome.engines)
    goal = _Goal(Obligation((), FALSE), "added" if other is after else "lost")
    return Rewritten(Verdict.REFUTED, equality, _describe(goal, outcome, before, after), engines=outcome.engines)


def _comparable(before: IndexingMap, after: IndexingMap) -> None:
    for what, x, y in (
        ("dims", len(before.dims), len(after.dims)),
        ("results", len(before.results), len(after.results)),
        ("replica maps", before.replica is not None, after.replica is not None),
    ):
        if x != y:
            raise InputError(f"the maps cannot be compared: before has {int(x)} {what}, after has {int(y)}", 1, 1)


def _defined(m: IndexingMap, how: How) -> None:
    divisors: dict[Expr, None] = {}
    for e in (*m.results, *(c.expr for c in m.constraints)):
        for node in postorder(e):
            if isinstance(node, Binary) and node.op in ("floordiv", "ceildiv", "mod"):
                divisors[node.rhs] = None
    for d in divisors:
        if isinstance(d, Const):
            if not d.value:
                raise InputError(f"division by zero: a divisor in {print_map(m)[:80]} is 0", 1, 1)
            continue
        if any(isinstance(n, Binary) and n.op in ("floordiv", "ceildiv", "mod") for n in postorder(d)):
            continue  # Its own divisors come first; a zero shows up as a counterexample.
        box = conj(*(within(Var(n), i) for n, i in m.intervals()))
        outcome = prove_one(Obligation(tuple(m.intervals()), ne(d, 0), box), how)
        if outcome.verdict == "refuted":
            at = ", ".join(f"{n} = {v}" for n, v in outcome.model)
            raise InputError(f"division by zero possible: {to_text(d)} is 0 at {at}", 1, 1)


def _with_devices(m: IndexingMap) -> IndexingMap:
    """The map with the positions of devices as further results."""
    if m.replica is None:
        return m
    own = dict(m.intervals())
    bounds = tuple(Constraint(Var(n), i) for n, i in m.replica.intervals() if n in own and not i.contains(own[n]))
    return replace(
        m,
        results=(*m.results, *m.replica.results),
        constraints=(*m.constraints, *m.replica.constraints, *bounds),
        replica=None,
    )


def _clamped_otherwise(before: IndexingMap, after: IndexingMap) -> bool:
    """The interval of a runtime variable with a provider is what its value is clamped into, which no domain shows."""
    pairs = zip(before.runtime, after.runtime, strict=True)
    return any(v.provider is not None and v.interval != w.interval for v, w in pairs)


def _needed_runtime(m: IndexingMap) -> IndexingMap:
    """Without the runtime variables that neither results nor constraints mention."""
    used = frozenset[str]().union(*(e.free for e in m.results), *(c.expr.free for c in m.constraints))
    kept = [k for k in range(len(m.runtime)) if f"rt{k}" in used or m.runtime[k].interval.is_empty]
    if len(kept) == len(m.runtime):
        return m
    moved = {f"rt{k}": Var(f"rt{new}") for new, k in enumerate(kept)}
    return replace(
        m,
        runtime=tuple(m.runtime[k] for k in kept),
        results=tuple(substitute(e, moved) for e in m.results),
        constraints=tuple(replace(c, expr=substitute(c.expr, moved)) for c in m.constraints),
    )


def _aligned(before: IndexingMap, after: IndexingMap) -> IndexingMap | None:
    """`after` with its runtime variables in the order of those of `before`, matched by provider and element; those that
    name no provider are matched by position."""
    if len(before.runtime) != len(after.runtime):
        return None
    order: list[int] = []
    for k, v in enumerate(before.runtime):
        candidates = [j for j, w in enumerate(after.runtime) if j not in order and _same_read(v, w)]
        if not candidates:
            return None
        order.append(k if k in candidates else candidates[0])
    if order == list(range(len(order))):
        return after
    moved = {f"rt{j}": Var(f"rt{k}") for k, j in enumerate(order)}
    return replace(
        after,
        runtime=tuple(after.runtime[j] for j in order),
        results=tuple(substitute(e, moved) for e in after.results),
        constraints=tuple(replace(c, expr=substitute(c.expr, moved)) for c in after.constraints),
    )


def _same_read(v: RuntimeVariable, w: RuntimeVariable) -> bool:
    if v.provider is None or w.provider is None:
        return v.provider == w.provider
    if v.provider != w.provider or (v.index is None) != (w.index is None):
        return False
    if v.index is None or w.index is None or v.index == w.index:
        return True
    if (len(v.index.dims), len(v.index.ranges)) != (len(w.index.dims), len(w.index.ranges)):
        return False
    if len(v.index.results) != len(w.index.results):
        return False
    return rewrite(v.index, w.index, "pointwise").verdict is Verdict.PROVED


def _prove(before: IndexingMap, after: IndexingMap, equality: Equality, how: How) -> Rewritten:
    engines: list[str] = []
    unknown: str | None = None
    goals = _pointwise(before, after) if equality == "pointwise" else _relational(before, after)
    for goal, outcome in _decided(goals, how):
        engines += [e for e in outcome.engines if e not in engines]
        if outcome.verdict == "refuted":
            text = _describe(goal, outcome, before, after)
            return Rewritten(Verdict.REFUTED, equality, text, engines=tuple(engines))
        if outcome.verdict == "unknown":
            unknown = unknown or outcome.reason
        elif outcome.verdict != "proved":
            return Rewritten(Verdict.INTERNAL, equality, reason=outcome.reason, engines=tuple(engines))
    if unknown is not None:
        return Rewritten(Verdict.UNKNOWN, equality, reason=unknown, engines=tuple(engines))
    return Rewritten(Verdict.PROVED, equality, engines=tuple(engines))


def size(m: IndexingMap) -> int:
    """How many different operators the map has."""
    seen: set[Expr] = set()
    for root in (*m.results, *(c.expr for c in m.constraints)):
        seen.update(e for e in postorder(root) if isinstance(e, Binary))
    return len(seen)


def _decided(goals: Sequence[_Goal], how: How) -> Iterator[tuple[_Goal, Outcome]]:
    """The goals with their outcomes, one after the other: the first that fails ends it."""
    for goal in goals:
        yield goal, prove_one(goal.obligation, how)


def domain_formula(m: IndexingMap) -> Formula:
    """The intervals of all variables, and the constraints."""
    return conj(*(within(Var(n), i) for n, i in m.intervals()), *(within(c.expr, c.interval) for c in m.constraints))


def _domain(m: IndexingMap) -> tuple[object, ...]:
    return (tuple(m.intervals()), frozenset(m.constraints))


def _pointwise(before: IndexingMap, after: IndexingMap) -> Sequence[_Goal]:
    own = dict(after.intervals())
    # A box around both domains: outside it neither has points.
    variables: tuple[tuple[str, Interval | None], ...] = tuple((n, i.hull(own[n])) for n, i in before.intervals())
    inside, inside_after = domain_formula(before), domain_formula(after)
    goals: list[_Goal] = []
    if _domain(before) != _domain(after):
        goals.append(_Goal(Obligation(variables, inside_after, inside, "no point is lost"), "lost"))
        goals.append(_Goal(Obligation(variables, inside, inside_after, "no point is added"), "added"))
    for k, (x, y) in enumerate(zip(before.results, after.results, strict=True)):
        if x is not y:
            goals.append(_Goal(Obligation(variables, eq(x, y), inside, f"result {k} is equal"), "results"))
    return goals


def _relational(before: IndexingMap, after: IndexingMap) -> Sequence[_Goal]:
    return [
        _Goal(_contained(before, after, "every pair of before is one of after"), "relation lost"),
        _Goal(_contained(after, before, "every pair of after is one of before"), "relation added"),
    ]


_PRIME: Final = "_other"


def _contained(one: IndexingMap, other: IndexingMap, label: str) -> Obligation:
    """Each point of `one` has a point of `other` with the same dims and results."""
    renamed: dict[str, Expr] = {f"s{j}": Var(f"s{j}{_PRIME}") for j in range(len(other.ranges))}
    body = conj(
        *(within(Var(f"d{i}"), v.interval) for i, v in enumerate(other.dims)),
        *(within(Var(f"rt{k}"), v.interval) for k, v in enumerate(other.runtime)),
        *(within(substitute(c.expr, renamed), c.interval) for c in other.constraints),
        *(eq(substitute(y, renamed), x) for x, y in zip(one.results, other.results, strict=True)),
    )
    bound = tuple((f"s{j}{_PRIME}", v.interval) for j, v in enumerate(other.ranges))
    hypothesis = conj(*(within(c.expr, c.interval) for c in one.constraints))
    return Obligation(tuple(one.intervals()), Exists(bound, body) if bound else body, hypothesis, label)


def _describe(goal: _Goal, outcome: Outcome, before: IndexingMap, after: IndexingMap) -> str:
    values = dict(outcome.model)
    m = after if goal.what in ("added", "relation added") else before
    names = m.display_names()
    at = ", ".join(f"{names.get(n, n)} = {v}" for n, v in outcome.model) or "the only point"
    match goal.what:
        case "lost":
            return f"{at}: in the domain of before, not in that of after"
        case "added":
            return f"{at}: in the domain of after, not in that of before"
        case "results":
            return f"{at}: before gives {_results(before, values)}, after gives {_results(after, values)}"
        case "relation lost":
            return f"{at}: before gives {_results(before, values)}, which after does not give at these dims"
        case _:
            return f"{at}: after gives {_results(after, values)}, which before does not give at these dims"


def _results(m: IndexingMap, values: dict[str, int]) -> str:
    out: list[str] = []
    for e in m.results:
        try:
            out.append(str(evaluate(e, values)))
        except UndefinedValue:
            out.append("undefined")
    return f"({', '.join(out)})"
