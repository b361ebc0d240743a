"""The questions that the judges of a rule put to single engines, through the one door.

A rule is judged in a process that can be killed. It asks hundreds of small questions, and its judges know which engine
is good at which; each of them is kept, counted and certified like any other obligation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hloproof.claims.rules.statements import defined, obligation_of
from hloproof.engines.budget import Budget
from hloproof.engines.door import How, prove_one
from hloproof.logic.obligation import Obligation, Outcome, RoundingSemantics
from hloproof.logic.replay import replayed
from hloproof.models.rules.rule import Condition


class WrongEngine(Exception):
    """An engine's counterexample does not hold: an error of this tool, and no verdict on the rule."""


@dataclass(frozen=True)
class RuleQuestions:
    """Asks about one rule, of this name."""

    rule: str
    how: How

    def say(self, engine: str, obligation: Obligation, budget: Budget, certify: bool = True) -> Outcome:
        """What one engine says. `certify` is for what a verdict will rest on; whatever else is asked leaves no
        certificate. Raises WrongEngine."""
        folder = self.how.certify if certify else None
        how = replace(self.how, engine=engine, budget=budget, certify=folder)
        outcome = replayed(obligation, prove_one(obligation, how))
        if outcome.verdict == "internal":
            raise WrongEngine(outcome.reason)
        return outcome

    def verdict(self, engine: str, obligation: Obligation, rlimit: int, certify: bool = True) -> str:
        """Its verdict within a limit of its own for Z3 and cvc5."""
        return self.say(engine, obligation, replace(self.how.budget, z3_rlimit=rlimit), certify).verdict

    def parts(self, given: Sequence[Condition], c: Condition, reading: RoundingSemantics) -> Iterator[Obligation]:
        """What is to be shown of a condition, piece by piece, each under what is known by then: that its divisors are
        not zero, which would else become an assumption as soon as the condition is used, and the condition."""
        known = list(given)
        for part in (*defined(c.lhs), *defined(c.rhs), c):
            if part not in known:
                yield obligation_of(known, part, reading, f"rule {self.rule}: {part}")
                known.append(part)
