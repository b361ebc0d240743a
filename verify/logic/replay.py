"""No refutation without a witness: what an engine gave is computed again by whoever takes its word.

The engines' own door replays what it hands out (`engines/portfolio.py`), and an error there is one of this tool. This
is for the claims: whatever prover answers them, a point that is none is no refutation of anything.
"""

from __future__ import annotations

from collections.abc import Callable

from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.obligation import FLOOR, Obligation, Outcome

DISAGREE = "internal disagreement"
"""What the reason of an unknown begins with where a solver and the evaluator do not say the same."""


def replayed(obligation: Obligation, outcome: Outcome) -> Outcome:
    """The outcome; where it is a refutation whose point does not make the hypothesis true and the conclusion not, as
    the evaluator computes them, an unknown that says so."""
    if outcome.verdict != "refuted":
        return outcome
    try:
        if obligation.rounding == FLOOR and is_counterexample(obligation, dict(outcome.model)):
            return outcome
        doubt = f"{DISAGREE}: the counterexample of {' and '.join(outcome.engines) or 'a solver'} does not replay"
    except (TooManySteps, KeyError):
        doubt = "a counterexample that could not be replayed"
    at = ", ".join(f"{n} = {v}" for n, v in outcome.model) or "the only point"
    return Outcome("unknown", reason=f"{obligation.label or 'an obligation'}: {doubt} ({at})", ms=outcome.ms)


def careful(prove: Callable[[Obligation], Outcome]) -> Callable[[Obligation], Outcome]:
    """The same prover, whose refutations are replayed."""
    return lambda obligation: replayed(obligation, prove(obligation))
