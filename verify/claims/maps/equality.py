"""One equality of maps: two sets of maps read the same, as relations between dims and results.

What one side leads to from any dims, the maps of the other side together lead to as well, whatever is read at run time.
A runtime variable is a function: what it holds depends on the provider and the element read, so two points of a map may
have two values, and two variables that read one element have one. A variable without a provider has no arguments and
is one value; it is the variable of the same place on the other side.

Each side is tried at random points by the interpreter of maps, with made-up contents of the providers, before anything
is stated: what the engines are given is made from the maps, and a wrong statement would be proved by all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hloproof.claims.maps.compared_maps import STEPS, ComparedMaps
from hloproof.claims.maps.plain_inclusion import plain_inclusion
from hloproof.claims.maps.shared_readings import UNNAMED, reads_other_places, shared
from hloproof.claims.maps.shifting_maps import difference, inclusion_by_readings
from hloproof.claims.statements.held_values import never_negative
from hloproof.claims.statements.statement import Point
from hloproof.engines.door import Prove
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import Not, conj
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import careful
from hloproof.models.expressions.expr import Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, with_devices
from hloproof.results.verdict import Found, Verdict


def same_relation(
    one: Sequence[IndexingMap],
    two: Sequence[IndexingMap],
    prove: Prove,
    names: tuple[str, str] = ("before", "after"),
    again: Prove | None = None,
) -> Found:
    """Whether the maps of both sides, each side taken together, are the same relation. The counterexample names the
    side that its pair belongs to.

    All maps that are not empty by their intervals have the same numbers of dims and of results; steps between devices
    count as further results. Where a side has no other maps, those of the other have no points. `again` is asked for a
    second statement of whatever is proved, which has to be proved as well.
    """
    prove, again = careful(prove), None if again is None else careful(again)
    # All empty maps are one.
    sides = [[m for m in side if not m.is_trivially_empty] for side in (one, two)]
    # Positions in different numbers of steps are not comparable as results.
    steps = {0 if m.replica is None else len(m.replica.results) for side in sides for m in side}
    if len(steps) > 1:
        return Found(Verdict.UNKNOWN, reason="the maps take different numbers of steps between devices")
    maps = one_domain(needed_runtime([labelled(with_devices(never_negative(m))) for side in sides for m in side]))
    here, there = range(len(sides[0])), range(len(sides[0]), len(maps))
    comparison = _Comparison(maps, prove, again)
    engines: dict[str, None] = {}
    unknown: Found | None = None
    # Each map of a side in all of the other together, not map by map: the same pairs may be cut up in another way.
    for inside, outside, (name, other) in ((here, there, names), (there, here, names[::-1])):
        for n in inside:
            found = comparison.lies_in(n, list(outside), name, other)
            engines |= dict.fromkeys(found.engines)
            if found.verdict in (Verdict.REFUTED, Verdict.INTERNAL):
                return found
            if found.verdict is not Verdict.PROVED:
                unknown = unknown or found
    return unknown or Found(Verdict.PROVED, tuple(engines))


def labelled(m: IndexingMap, place: str = "") -> IndexingMap:
    """The map with a provider for each runtime variable that has none, in the maps of what is read as well: its own
    place in the list, behind the place of the variable that is read by it."""
    runtime = tuple(_labelled_one(v, f"{place}{k}") for k, v in enumerate(m.runtime))
    return m if runtime == m.runtime else replace(m, runtime=runtime)


def _labelled_one(v: RuntimeVariable, place: str) -> RuntimeVariable:
    if v.provider is None:
        return replace(v, provider=f"{UNNAMED}{place}", index=None)
    return v if v.index is None else replace(v, index=labelled(v.index, f"{place}."))


def needed_runtime(maps: Sequence[IndexingMap]) -> list[IndexingMap]:
    """Without the runtime variables that neither results nor constraints mention. One that names no provider stays
    where another map mentions it: it is the same value there, and its interval is part of both domains."""
    elsewhere = {m.runtime[k].provider for m in maps for k in _mentioned(m)}
    shared_values = {p for p in elsewhere if (p or "").startswith(UNNAMED)}
    return [_with_runtime(m, _mentioned(m, shared_values)) for m in maps]


def _mentioned(m: IndexingMap, also: Collection[str | None] = ()) -> list[int]:
    """The numbers of the runtime variables that results or constraints mention, or whose provider is one of these."""
    used = frozenset[str]().union(*(e.free for e in m.results), *(c.expr.free for c in m.constraints))
    return [k for k, v in enumerate(m.runtime) if f"rt{k}" in used or v.provider in also]


def _with_runtime(m: IndexingMap, kept: Sequence[int]) -> IndexingMap:
    if len(kept) == len(m.runtime):
        return m
    moved = {f"rt{k}": Var(f"rt{new}") for new, k in enumerate(kept)}
    return replace(
        m,
        runtime=tuple(m.runtime[k] for k in kept),
        results=tuple(substitute(e, moved) for e in m.results),
        constraints=tuple(replace(c, expr=substitute(c.expr, moved)) for c in m.constraints),
    )


def one_domain(maps: Sequence[IndexingMap]) -> list[IndexingMap]:
    """The interval of a variable without a provider is part of the domain, and not what a value is clamped into: where
    two maps have two intervals, both get the hull, and a constraint each."""
    hulls: dict[str | None, Interval] = {}
    for m in maps:
        for v in m.runtime:
            if (v.provider or "").startswith(UNNAMED):
                hulls[v.provider] = v.interval.hull(hulls.get(v.provider, v.interval))
    out: list[IndexingMap] = []
    for m in maps:
        more = tuple(
            Constraint(Var(f"rt{k}"), v.interval)
            for k, v in enumerate(m.runtime)
            if v.provider in hulls and hulls[v.provider] != v.interval
        )
        runtime = tuple(replace(v, interval=hulls.get(v.provider, v.interval)) for v in m.runtime)
        out.append(replace(m, runtime=runtime, constraints=(*m.constraints, *more)) if more else m)
    return out


def stated_twice(found: Found, stated: Sequence[Obligation | None], prove: Prove) -> Found:
    """What was proved, where a second statement of it is proved too; else unknown, and an error of this tool where the
    second is refuted."""
    engines = dict.fromkeys(found.engines)
    for obligation in stated:
        if obligation is None:
            return Found(Verdict.UNKNOWN, reason="there is no second statement of what is read at run time")
        outcome = prove(obligation)
        if outcome.verdict == "refuted":
            reason = f"proved in one statement and refuted in another, at {dict(outcome.model)}"
            return Found(Verdict.INTERNAL, outcome.engines, reason=reason)
        if outcome.verdict != "proved":
            return Found(Verdict(outcome.verdict), reason=f"the second statement: {outcome.reason}")
        engines |= dict.fromkeys(outcome.engines)
    return Found(Verdict.PROVED, tuple(engines))


class _Comparison:
    def __init__(self, maps: Sequence[IndexingMap], prove: Prove, again: Prove | None) -> None:
        self._maps, self._prove, self._again = maps, prove, again
        numbers = range(len(maps))
        self._view = ComparedMaps(maps, numbers, shared(maps))
        self._unsure = set(self._view.shifting.keys() | self._view.elsewhere)
        """Maps whose readings do not follow from the pair, or are those of other devices."""

    def lies_in(self, n: int, others: list[int], name: str, other: str) -> Found:
        """Whether every pair of map n is one of the others."""
        # Written the same, reading the same: nothing has to be asked, and nothing of the simplifier is used.
        if any(self._maps[n] == self._maps[k] for k in others):
            return Found(Verdict.PROVED)
        tried = difference(self._maps[n], [self._maps[k] for k in others])
        if tried is not None:
            return self._apart(tried[0], others, name, other, ("evaluation",))
        # A difference may then come from values that no program can hold; only one that is found where every provider
        # holds one value all over is told.
        unsure = bool(self._unsure & {n, *others})
        if unsure and (found := self._differ_everywhere_the_same(n, others, name, other)) is not None:
            return found
        if self._view.shifting.keys() & {n, *others}:
            parts = inclusion_by_readings(self._view, n, others)
        else:
            parts = (self._view.inclusion(n, others),)
        for part in parts:
            outcome = self._prove(part.obligation)
            if outcome.verdict == "proved":
                found = Found(Verdict.PROVED, outcome.engines)
                stated = plain_inclusion(self._maps[n], [self._maps[k] for k in others])
                return found if self._again is None else stated_twice(found, (stated,), self._again)
            # The point names values of both sides; it is looked at once more with all that they must agree on, before
            # it is shown.
            if outcome.verdict == "refuted" and not unsure:
                return self._replayed(self._view, n, others, outcome, name, other)
            if outcome.verdict not in ("refuted", "unknown"):
                return Found(Verdict.INTERNAL, outcome.engines, reason=outcome.reason)
            if outcome.verdict == "unknown":
                return Found(Verdict.UNKNOWN, reason=outcome.reason)
        reason = (
            "what is read at run time depends on range variables, on other such values or on other devices; "
            "no difference was found either"
        )
        return Found(Verdict.UNKNOWN, reason=reason)

    def _differ_everywhere_the_same(self, n: int, others: list[int], name: str, other: str) -> Found | None:
        """A difference where each provider holds one value in all its elements, which places of devices do not."""
        if any(reads_other_places(self._maps[k]) for k in (n, *others)):
            return None
        numbers = range(len(self._maps))
        view = ComparedMaps(self._maps, numbers, shared(self._maps, same_everywhere=True))
        outcome = self._prove(view.inclusion(n, others).obligation)
        if outcome.verdict != "refuted":
            return None
        found = self._replayed(view, n, others, outcome, name, other)
        return found if found.verdict is Verdict.REFUTED else None

    def _replayed(
        self, view: ComparedMaps, n: int, others: Sequence[int], outcome: Outcome, name: str, other: str
    ) -> Found:
        point = view.whole_point(n, others, dict(outcome.model))
        pair = None if point is None else view.pair(n, point)
        if pair is None or not _is_witness(view, n, others, pair):
            return Found(Verdict.UNKNOWN, reason="a difference was found that is none when it is computed")
        spelled = view.shared.told(pair, self._maps[0].display_names())
        told = {spelled.get(variable, variable): value for variable, value in pair.items()}
        return self._apart(told, others, name, other, outcome.engines)

    def _apart(self, pair: Point, others: Sequence[int], name: str, other: str, engines: tuple[str, ...]) -> Found:
        shown = self._maps[0].display_names()
        results = ", ".join(str(v) for k, v in pair.items() if k[0] == "y" and k[1:].isdigit())
        at = {k: v for k, v in pair.items() if not (k[0] == "y" and k[1:].isdigit())}
        at = {_own_name(k): v for k, v in at.items()}
        gives = f"gives ({results}), which {other} does not give at these dims"
        if not others:
            gives = f"gives ({results}), in the domain of {name}, and {other} is empty"
        told = f"{_spelled(at, shown)}: {name} {gives}"
        return Found(Verdict.REFUTED, engines, told)


def _is_witness(view: ComparedMaps, n: int, others: Sequence[int], pair: Point) -> bool:
    witness = conj(view.member(n), *(Not(view.member(k)) for k in others), *view.meetings)
    try:
        return holds(witness, pair, 20 * STEPS * (1 + len(others)))
    except TooManySteps:
        return False


def _own_name(spelled: str) -> str:
    plain = spelled.removesuffix("[]")
    return f"rt{plain.removeprefix(UNNAMED)}" if plain.startswith(UNNAMED) else plain


def _spelled(point: Point, names: dict[str, str]) -> str:
    return ", ".join(f"{names.get(n, n)} = {v}" for n, v in point.items()) or "the only point"
