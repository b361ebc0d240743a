"""Is one indexing map as good as another: equal at every point, or the same relation.

Pointwise, where the variables agree: the domains are the same set and the results are equal at every point of it.
Relational, otherwise or by request: the same pairs of dims and results, range variables quantified away, as
`equality` says it. Either way a runtime variable is what a provider holds at an element: two that read one element hold
one value, and each is cut to its own interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from hloproof.claims.maps.defined import UndefinedMap, constraint_formulas
from hloproof.claims.maps.defined_readings import owed_values
from hloproof.claims.maps.equality import labelled, one_domain, same_relation, stated_twice
from hloproof.claims.maps.plain_inclusion import plain_inclusion
from hloproof.claims.maps.points_apart import pointwise_difference
from hloproof.claims.maps.shared_readings import Readings
from hloproof.claims.maps.two_readings import under_both, with_remainders_from_zero
from hloproof.claims.statements.held_values import never_negative
from hloproof.claims.statements.witness import asked
from hloproof.engines.door import HOW, How, Prove, prove_one
from hloproof.logic.formula import Formula, conj, eq, replace_variables, within
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import careful
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Expr, Var, postorder, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, with_devices
from hloproof.models.specs.maps import Equality
from hloproof.results.verdict import Found, Verdict


def equality_of(before: IndexingMap, after: IndexingMap, mode: Equality | None = None) -> Equality:
    """Which equality two maps are compared by: `mode` where one is given, else pointwise where the maps have the same
    numbers of dims, range and runtime variables, and relational otherwise, or where both are empty by their intervals.
    """
    same = (len(before.dims), len(before.ranges), len(before.runtime)) == (
        len(after.dims),
        len(after.ranges),
        len(after.runtime),
    )
    empty = before.is_trivially_empty or after.is_trivially_empty
    return mode or ("pointwise" if same or empty else "relational")


def rewrite(before: IndexingMap, after: IndexingMap, mode: Equality | None = None, how: How = HOW) -> Found:
    """Proves or refutes that `after` may stand where `before` does.

    `mode` None means pointwise where the maps have the same numbers of dims, range and runtime variables, relational
    otherwise. Raises InputError when the maps cannot be compared (dims or
    results differ in number) or a divisor of `before` is zero at some point of its domain. Remainders by negative
    numbers are read in both ways.
    """
    return judged_in_both_readings(lambda maps: _rewritten(*maps, mode, how), before, after)


def judged_in_both_readings(
    judge: Callable[[tuple[IndexingMap, IndexingMap]], Found], one: IndexingMap, two: IndexingMap
) -> Found:
    """What is found of two maps, however remainders by negative numbers are read. Unknown where it is not modelled, and
    where they differ for contents that are not those of a constant."""
    one, two = never_negative(one), never_negative(two)
    other = with_remainders_from_zero(one), with_remainders_from_zero(two)
    try:
        found = under_both(judge, (one, two), other)
    except NotModelled as error:
        return Found(Verdict.UNKNOWN, reason=f"not modelled: {error}")
    reads_constants = any(p.startswith("constant(") for m in (one, two) for p in providers_of(m))
    if found.verdict is Verdict.REFUTED and reads_constants:
        return Found(Verdict.UNKNOWN, reason="the maps differ for some contents of what is a constant")
    return found


def providers_of(m: IndexingMap) -> Iterator[str]:
    """What the runtime variables read, and what they are read by."""
    for v in m.runtime:
        yield v.provider or "a variable without a provider"
        if v.index is not None:
            yield from providers_of(v.index)


def _rewritten(before: IndexingMap, after: IndexingMap, mode: Equality | None, how: How) -> Found:
    ask = careful(partial(prove_one, how=how))
    again = second_prover(how)
    empty = before.is_trivially_empty or after.is_trivially_empty
    equality = "relational" if empty else equality_of(before, after, mode)
    if not empty:
        require_comparable(before, after)
        if mode == "pointwise" and equality_of(before, after) != "pointwise":
            raise InputError("pointwise equality needs maps with the same numbers of variables", 1, 1)
    undefined = _undefined(before, after, ask)
    if undefined is not None:
        return undefined
    if equality == "relational":
        return same_relation((before,), (after,), ask, again=again)
    return _pointwise(before, after, ask, again)


def second_prover(how: How) -> Prove | None:
    """Who is asked for a second statement of what is proved: one engine, under `cross` only."""
    return partial(prove_one, how=replace(how, cross=False)) if how.cross else None


def require_comparable(before: IndexingMap, after: IndexingMap) -> None:
    """Raises InputError for maps of different numbers of dims, results or steps between devices."""
    for what, x, y in (
        ("dims", len(before.dims), len(after.dims)),
        ("results", len(before.results), len(after.results)),
        ("steps between devices", _steps(before), _steps(after)),
    ):
        if x != y:
            raise InputError(f"the maps cannot be compared: before has {x} {what}, after has {y}", 1, 1)


def _steps(m: IndexingMap) -> int:
    return 0 if m.replica is None else len(m.replica.results)


def _undefined(before: IndexingMap, after: IndexingMap, ask: Prove) -> Found | None:
    """What is to be said where a map has no value somewhere, or is not shown to have one everywhere; else None."""
    for m, name in ((before, "before"), (after, "after")):
        # What has no points by its intervals owes nothing. Where the other side is such a map, a constraint without a
        # value would else pass for one that is false.
        for part in () if m.is_trivially_empty else owed_values(m):
            outcome = asked(part, ask)
            if outcome.verdict == "refuted":
                told = part.describe(dict(outcome.model))
                # The map that is given owes nothing to anybody: without values it is an input error, and only what it
                # becomes can be wrong.
                if m is before:
                    raise UndefinedMap(told, 1, 1)
                return Found(Verdict.REFUTED, outcome.engines, f"{name}: {told}")
            if outcome.verdict != "proved":
                return Found(Verdict(outcome.verdict), outcome.engines, reason=outcome.reason)
    return None


def size(m: IndexingMap) -> int:
    """How many different operators the map has."""
    seen: set[Expr] = set()
    for root in (*m.results, *(c.expr for c in m.constraints)):
        seen.update(e for e in postorder(root) if isinstance(e, Binary))
    return len(seen)


# --- pointwise ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Goal:
    obligation: Obligation
    what: Literal["results", "lost", "added"]


@dataclass(frozen=True)
class _Read:
    """A map over dims, range variables and what is read, each reading under one name in both maps."""

    variables: tuple[tuple[str, Interval], ...]
    results: tuple[Expr, ...]
    inside: Formula
    domain: object
    """What decides the domain, to be compared by text."""


def _pointwise(before: IndexingMap, after: IndexingMap, ask: Prove, again: Prove | None) -> Found:
    first, second = one_domain([labelled(with_devices(m)) for m in (before, after)])
    readings = Readings()
    own = [[readings.name_of(v, _same_names(m)) for v in m.runtime] for m in (first, second)]
    witness = pointwise_difference(first, second)
    if witness is not None:
        return Found(Verdict.REFUTED, ("evaluation",), witness)
    hulls = dict(readings.hulls())
    one, two = (_read(m, names, hulls) for m, names in zip((first, second), own, strict=True))
    goals = _goals(one, two, readings)
    engines: dict[str, None] = {}
    unknown: Outcome | None = None
    for goal in goals:
        outcome = ask(goal.obligation)
        engines |= dict.fromkeys(outcome.engines)
        if outcome.verdict == "refuted":
            # Two readings may meet on another device in a way that the obligation did not know; then the model may be
            # of contents that cannot be.
            if readings.elsewhere:
                reason = "values of other devices are read, and where two readings meet is not followed"
                return Found(Verdict.UNKNOWN, reason=reason)
            told = _told(goal, dict(outcome.model), one, two, before, readings)
            return Found(Verdict.REFUTED, tuple(engines), told)
        if outcome.verdict != "proved":
            unknown = unknown or outcome
            if outcome.verdict != "unknown":
                return Found(Verdict.INTERNAL, tuple(engines), reason=outcome.reason)
    if unknown is not None:
        return Found(Verdict.UNKNOWN, tuple(engines), reason=unknown.reason)
    if again is not None and first != second:
        stated = [plain_inclusion(a, (b,), quantified=False) for a, b in ((first, second), (second, first))]
        return stated_twice(Found(Verdict.PROVED, tuple(engines)), stated, again)
    return Found(Verdict.PROVED, tuple(engines))


def _same_names(m: IndexingMap) -> dict[str, Expr]:
    return {n: Var(n) for n, _ in m.intervals() if not n.startswith("rt")}


def _read(m: IndexingMap, names: list[str], hulls: dict[str, Interval]) -> _Read:
    values = {
        f"rt{k}": Readings.clamped(name, v.interval, hulls[name])
        for k, (name, v) in enumerate(zip(names, m.runtime, strict=True))
    }
    own = tuple((n, i) for n, i in m.intervals() if not n.startswith("rt"))
    inside = conj(*(within(Var(n), i) for n, i in own), *(replace_variables(f, values) for f in constraint_formulas(m)))
    constraints = frozenset((substitute(c.expr, values), c.interval) for c in m.constraints)
    return _Read(own, tuple(substitute(e, values) for e in m.results), inside, (own, constraints))


def _goals(one: _Read, two: _Read, readings: Readings) -> Iterator[_Goal]:
    own = dict(two.variables)
    # A box around both domains: outside it neither has points.
    variables: tuple[tuple[str, Interval | None], ...] = (
        *((n, i.hull(own[n])) for n, i in one.variables),
        *readings.hulls(),
    )
    met = readings.meetings()
    if one.domain != two.domain:
        yield _Goal(Obligation(variables, two.inside, conj(one.inside, *met), "no point is lost"), "lost")
        yield _Goal(Obligation(variables, one.inside, conj(two.inside, *met), "no point is added"), "added")
    for k, (x, y) in enumerate(zip(one.results, two.results, strict=True)):
        if x is not y:
            yield _Goal(Obligation(variables, eq(x, y), conj(one.inside, *met), f"result {k} is equal"), "results")


def _told(goal: _Goal, values: dict[str, int], one: _Read, two: _Read, before: IndexingMap, readings: Readings) -> str:
    names = before.display_names()
    spelled = {**names, **readings.told(values, names)}
    at = ", ".join(f"{spelled.get(n, n)} = {v}" for n, v in values.items()) or "the only point"
    match goal.what:
        case "lost":
            return f"{at}: in the domain of before, not in that of after"
        case "added":
            return f"{at}: in the domain of after, not in that of before"
        case "results":
            return f"{at}: before gives {_results(one, values)}, after gives {_results(two, values)}"


def _results(m: _Read, values: dict[str, int]) -> str:
    out: list[str] = []
    for e in m.results:
        try:
            out.append(str(evaluate(e, values)))
        except UndefinedValue:
            out.append("undefined")
    return f"({', '.join(out)})"
