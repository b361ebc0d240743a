"""The claims of one layout, judged: sub-goals first, the claim itself where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from verify.claim import Verdict
from verify.layout_claims import LayoutClaim
from verify.obligation import Obligation, Outcome

Prove = Callable[[Obligation], Outcome]


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict. `ms` is the time of the engines, `goals` how many obligations were asked."""

    claim: str
    statement: str
    verdict: Verdict
    engines: tuple[str, ...]
    ms: float
    goals: int
    counterexample: str | None = None
    reason: str | None = None


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
    outcomes: list[Outcome] = []
    failed: tuple[Obligation, Outcome] | None = None
    for obligation in claim.steps:
        outcomes.append(prove(obligation))
        if outcomes[-1].verdict != "proved":
            failed = (obligation, outcomes[-1])
            break
    decisive = outcomes[-1] if outcomes else None
    if failed is not None and claim.direct is not None and failed[0] != claim.direct:
        decisive = prove(claim.direct)
        outcomes.append(decisive)
    verdict = Verdict(decisive.verdict) if decisive is not None else Verdict.UNKNOWN
    reason = decisive.reason or None if decisive is not None else "no sub-goals"
    if failed is not None and claim.direct is None and verdict is Verdict.REFUTED:
        verdict, reason = Verdict.UNKNOWN, f"the sub-goal `{failed[0].label}` does not hold"
    return JudgedClaim(
        claim.name, claim.statement, verdict, tuple(sorted({e for o in outcomes for e in o.engines})),
        sum(o.ms for o in outcomes), len(outcomes),
        claim.describe(dict(decisive.model)) if decisive is not None and verdict is Verdict.REFUTED else None,
        reason if verdict is not Verdict.PROVED else None,
    )  # fmt: skip
