"""One obligation through the engines, in order, until one answers.

Every refutation is replayed by logic/evaluate.py before it is returned. A counterexample that does not replay, or two
engines of `cross` with different answers, is an error of this tool: the outcome is `internal` and a file with the
obligation and the answers is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Final

from hloproof.engines.budget import DEFAULT, Budget
from hloproof.engines.gave_up import GaveUp, OutOfMemory
from hloproof.engines.independence import independent
from hloproof.engines.procedures import Countermodel, asked
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.obligation import FLOOR, Obligation, Outcome
from hloproof.models.stages import checkpoint

ORDER: Final = (
    "identical",
    "isl briefly",
    "digits",
    "z3 briefly",
    "products",
    "symbolic digits",
    "isl",
    "z3",
    "intervals",
    "enumeration",
)
"""The order by default. What isl cannot decide briefly is for digits and Z3, then for isl at length."""

BRIEFLY: Final = ("identical", "isl briefly")
"""The stages that are tried where the rest is left to a process that can be killed."""

FIRST: Final = ("isl", "z3 briefly", "symbolic digits", "z3", "enumeration")
"""Which engine is first under `cross`."""

_BESIDE_Z3: Final = (
    "enumeration",
    "products",
    "z3 on SMT-LIB briefly",
    "cvc5",
    "symbolic digits on SMT-LIB",
    "z3 on SMT-LIB",
    "cvc5 at length",
)

_CANDIDATES: Final = {
    "isl": ("z3 quickly", "digits for z3", "z3 briefly", "z3", "enumeration", "cvc5", "z3 on SMT-LIB"),
    "z3": _BESIDE_Z3,
    "z3 briefly": _BESIDE_Z3,
    "symbolic digits": _BESIDE_Z3,
    "enumeration": ("cvc5", "z3 on SMT-LIB"),
}

SECOND: Final = {
    first: tuple(name for name in names if independent(first, name)) for first, names in _CANDIDATES.items()
}
"""By which engine was first, those that share no encoder with it, in the order in which they are asked."""

_SAME: Final = {
    "isl briefly": "isl",
    "products at length": "products",
    "z3 quickly": "z3",
    "z3 briefly": "z3",
    "z3 on SMT-LIB briefly": "z3 on SMT-LIB",
    "cvc5 at length": "cvc5",
}
"""Stages that report under another's name."""


@dataclass
class _Run:
    """One obligation on its way: what was tried, how long it took, what gave up and why."""

    obligation: Obligation
    budget: Budget
    reproductions: Path | None
    stages: list[tuple[str, float]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    final: bool = True
    """False when memory decided that some engine gave up."""

    def ask(self, name: str) -> tuple[bool, Countermodel]:
        """Whether the engine answered, and its answer."""
        checkpoint()
        start = perf_counter()
        try:
            return True, asked(name, self.obligation, self.budget)
        except GaveUp as error:
            # Limits of work are the same in every run, memory is not: what it decides must not be kept as an answer for
            # these limits.
            self.final = self.final and not isinstance(error, OutOfMemory)
            if name != "identical":
                self.reasons.append(f"{name}: {error}")
            return False, None
        finally:
            self.stages.append((name, (perf_counter() - start) * 1e3))

    def outcome(self, engines: tuple[str, ...], answer: Countermodel) -> Outcome:
        if answer is None:
            return Outcome("proved", engines, stages=tuple(self.stages))
        if self.obligation.rounding != FLOOR:
            return self.unknown(f"{' and '.join(engines)}: a counterexample that is not replayed, by another rounding")
        # By the obligation's own order and names: an encoder may have renamed variables, or made some of its own.
        model = tuple((name, answer[name]) for name, _ in self.obligation.variables)
        start = perf_counter()
        try:
            replayed = is_counterexample(self.obligation, answer)
        # Not replayed is not refuted. It is not internal either: nothing says that the engine was wrong.
        except TooManySteps as error:
            return self.unknown(f"{' and '.join(engines)}: a counterexample that could not be replayed ({error})")
        finally:
            self.stages.append(("replay", (perf_counter() - start) * 1e3))
        if not replayed:
            return self.internal(engines, f"the counterexample {dict(model)} does not replay")
        return Outcome("refuted", engines, model, stages=tuple(self.stages))

    def unknown(self, reason: str) -> Outcome:
        return Outcome("unknown", (), reason=reason, final=self.final, stages=tuple(self.stages))

    def internal(self, engines: tuple[str, ...], reason: str) -> Outcome:
        from hloproof.logic.reproduction import write

        path = write(self.obligation, engines, reason, self.reproductions)
        return Outcome("internal", engines, reason=f"{reason}; reproduction: {path}", stages=tuple(self.stages))


def prove(
    obligation: Obligation, budget: Budget = DEFAULT, cross: bool = False, reproductions: Path | None = None
) -> Outcome:
    """The engines' verdict on `obligation`.

    `cross` asks a second engine that shares no encoder with the first and requires agreement. `reproductions` is the
    folder for reproduction files (default: the working directory).
    """
    start = perf_counter()
    run = _Run(obligation, budget, reproductions)
    outcome = _crossed(run) if cross else _first(run)
    return Outcome(
        outcome.verdict,
        outcome.engines,
        outcome.model,
        outcome.reason,
        outcome.final,
        (perf_counter() - start) * 1e3,
        outcome.stages,
    )


def prove_by(engine: str, obligation: Obligation, budget: Budget, reproductions: Path | None = None) -> Outcome:
    """What one stage says, and no other."""
    start = perf_counter()
    return replace(_first(_Run(obligation, budget, reproductions), (engine,)), ms=(perf_counter() - start) * 1e3)


def prove_briefly(
    obligation: Obligation, budget: Budget = DEFAULT, reproductions: Path | None = None
) -> Outcome | None:
    """What the stages say whose limits always hold, so that they need no process that can be killed; None where they
    give up."""
    start = perf_counter()
    run = _Run(obligation, budget, reproductions)
    outcome = _first(run, BRIEFLY)
    return None if outcome.verdict == "unknown" else replace(outcome, ms=(perf_counter() - start) * 1e3)


def _first(run: _Run, order: tuple[str, ...] = ORDER) -> Outcome:
    for name in order:
        answered, answer = run.ask(name)
        if answered:
            return run.outcome((_SAME.get(name, name),), answer)
    return run.unknown("; ".join(run.reasons))


def _crossed(run: _Run) -> Outcome:
    for name in FIRST:
        answered, answer = run.ask(name)
        if answered:
            break
    else:
        return run.unknown("; ".join(run.reasons))
    answers = {name: answer}
    for other in SECOND[name]:
        answered, answer = run.ask(other)
        if answered:
            answers[other] = answer
            break
    # One answer is no agreement, not even a refutation that replays: under `cross` every verdict has two engines, so
    # that counts of refutations can be trusted in the same way.
    if len(answers) < 2:
        return run.unknown(f"only {name} answered; {'; '.join(run.reasons)}")
    if name not in ("isl", "enumeration") and "enumeration" not in answers:
        # Symbolic: the second engine may share the solver, so instances are tried beside.
        answered, found = run.ask("instances")
        if answered:
            answers["instances"] = found
    if len({a is None for a in answers.values()}) > 1:
        proved = [n for n, a in answers.items() if a is None]
        refuted = [n for n, a in answers.items() if a is not None]
        # The only stage whose None does not mean "holds everywhere".
        if proved == ["instances"]:  # no instance fails, which proves nothing
            del answers["instances"]
        else:
            said = f"{' and '.join(proved)} prove it, {' and '.join(refuted)} refute it"
            return run.internal(tuple(answers), f"engines disagree: {said}")
    return run.outcome(tuple(_SAME.get(n, n) for n in answers), answers[name])
