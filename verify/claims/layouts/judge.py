"""The claims of one layout, judged: sub-goals first, the claim itself where they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hloproof.claims.layouts.claims import LayoutClaim
from hloproof.engines.door import Prove
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import careful
from hloproof.models.expressions.interval import Interval
from hloproof.results.verdict import Found, Verdict


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim and what was found; `goals` is how many obligations were asked."""

    claim: LayoutClaim
    found: Found
    goals: int


def judge(claims: Iterable[LayoutClaim], prove: Prove) -> tuple[JudgedClaim, ...]:
    """The verdicts; equal obligations are proved once, and their time counts once."""
    known: dict[Obligation, Outcome] = {}

    def ask(obligation: Obligation) -> Outcome:
        if obligation in known:
            return replace(known[obligation], ms=0.0)
        known[obligation] = prove(obligation)
        return known[obligation]

    return tuple(judge_one(c, ask) for c in claims)


def judge_one(claim: LayoutClaim, prove: Prove) -> JudgedClaim:
    """Proved when all sub-goals are. Else the direct obligation decides; a refuted sub-goal alone refutes nothing."""
    prove = careful(prove)
    outcomes: list[Outcome] = []
    failed: tuple[Obligation, Outcome] | None = None
    for obligation in claim.steps:
        outcomes.append(prove(obligation))
        if outcomes[-1].verdict != "proved":
            failed = (obligation, outcomes[-1])
            break
    decisive = outcomes[-1] if outcomes else None
    # Sub-goals are sufficient and need not be necessary: a layout may be one to one although a step of the
    # decomposition is not. So the claim itself is asked before anything is called refuted.
    if failed is not None and claim.direct is not None and failed[0] != claim.direct:
        decisive = prove(claim.direct)
        outcomes.append(decisive)
    verdict = Verdict(decisive.verdict) if decisive is not None else Verdict.UNKNOWN
    reason = decisive.reason or None if decisive is not None else "no sub-goals"
    if failed is not None and claim.direct is None and verdict is Verdict.REFUTED:
        verdict, reason = Verdict.UNKNOWN, f"the sub-goal `{failed[0].label}` does not hold"
    # The direct obligation leaves out what the sub-goals had to show besides.
    if failed is not None and verdict is Verdict.PROVED and not claim.complete:
        verdict, reason = Verdict.UNKNOWN, f"the sub-goal `{failed[0].label}` does not hold"
    counterexample = None
    if verdict is Verdict.REFUTED and decisive is not None and claim.direct is not None:
        decisive = first_counterexample(claim.direct, decisive, prove)
        counterexample = claim.describe(dict(decisive.model))
    found = Found(
        verdict,
        tuple(sorted({e for o in outcomes for e in o.engines})),
        counterexample,
        reason if verdict is not Verdict.PROVED else None,
        claim=claim.name,
        ms=sum(o.ms for o in outcomes),
    )
    return JudgedClaim(claim, found, len(outcomes))


def named(judged: Iterable[JudgedClaim]) -> Iterator[Found]:
    """What was found of each claim, the counterexamples with the name of the claim before them."""
    for j in judged:
        told = j.found.counterexample
        yield replace(j.found, counterexample=told and f"{j.claim.name}: {told}")


def first_counterexample(obligation: Obligation, refuted: Outcome, prove: Prove) -> Outcome:
    """The counterexample that is smallest in the order of the variables, found by halving each interval in turn. Where
    an engine gives up on the way, the best one so far."""
    best, prove = refuted, careful(prove)
    variables = list(obligation.variables)
    for i, (name, interval) in enumerate(variables):
        if interval is None:
            return best
        lower, found = interval.lower, dict(best.model)[name]
        while lower < found:
            middle = (lower + found) // 2
            variables[i] = (name, Interval(lower, middle))
            outcome = prove(replace(obligation, variables=tuple(variables)))
            if outcome.verdict == "refuted":
                best, found = outcome, dict(outcome.model)[name]
            elif outcome.verdict == "proved":
                lower = middle + 1
            else:
                return best
        variables[i] = (name, Interval.point(found))
    return best
