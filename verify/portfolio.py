"""One obligation through the engines, in order, until one answers.

Every refutation is replayed by `verify.evaluate` before it is returned. A counterexample that does not replay, or two
engines of `cross` with different answers, is an error of this tool: the outcome is `internal` and a file with the
obligation and the answers is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from verify.budget import DEFAULT, Budget
from verify.engine import GaveUp
from verify.evaluate import TooManySteps, is_counterexample
from verify.obligation import Obligation, Outcome

Answer = dict[str, int] | None
"""A counterexample, or None for: there is none."""

Engine = Callable[[Obligation, Budget], Answer]


def _isl(obligation: Obligation, budget: Budget) -> Answer:
    from verify import encode_isl

    return encode_isl.find_counterexample(obligation, budget.isl_operations)


def _z3(obligation: Obligation, budget: Budget) -> Answer:
    from verify import encode_z3

    return encode_z3.find_counterexample(obligation, budget.z3_rlimit)


def _enumeration(obligation: Obligation, budget: Budget) -> Answer:
    from verify import enumerate_points

    return enumerate_points.find_counterexample(obligation, budget.enumeration_points)


ENGINES: dict[str, Engine] = {"isl": _isl, "z3": _z3, "enumeration": _enumeration}
"""Name to engine, in the order in which they are asked."""


@dataclass
class _Run:
    """One obligation on its way: what was tried, how long it took, what gave up and why."""

    obligation: Obligation
    budget: Budget
    reproductions: Path | None
    stages: list[tuple[str, float]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def ask(self, name: str) -> tuple[bool, Answer]:
        """Whether the engine answered, and its answer."""
        start = perf_counter()
        try:
            return True, ENGINES[name](self.obligation, self.budget)
        except GaveUp as error:
            self.reasons.append(f"{name}: {error}")
            return False, None
        finally:
            self.stages.append((name, (perf_counter() - start) * 1e3))

    def outcome(self, engines: tuple[str, ...], answer: Answer) -> Outcome:
        if answer is None:
            return Outcome("proved", engines, stages=tuple(self.stages))
        model = tuple((name, answer[name]) for name, _ in self.obligation.variables)
        start = perf_counter()
        try:
            replayed = is_counterexample(self.obligation, answer)
        except TooManySteps as error:
            return self.unknown(f"{' and '.join(engines)}: a counterexample that could not be replayed ({error})")
        finally:
            self.stages.append(("replay", (perf_counter() - start) * 1e3))
        if not replayed:
            return self.internal(engines, f"the counterexample {dict(model)} does not replay")
        return Outcome("refuted", engines, model, stages=tuple(self.stages))

    def unknown(self, reason: str) -> Outcome:
        return Outcome("unknown", (), reason=reason, stages=tuple(self.stages))

    def internal(self, engines: tuple[str, ...], reason: str) -> Outcome:
        from verify.reproduction import write

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
        outcome.verdict, outcome.engines, outcome.model, outcome.reason, outcome.final,
        (perf_counter() - start) * 1e3, outcome.stages,
    )  # fmt: skip


def _first(run: _Run) -> Outcome:
    for name in ENGINES:
        answered, answer = run.ask(name)
        if answered:
            return run.outcome((name,), answer)
    return run.unknown("; ".join(run.reasons))


def _crossed(run: _Run) -> Outcome:
    answers: dict[str, Answer] = {}
    for name in ENGINES:
        answered, answer = run.ask(name)
        if answered:
            answers[name] = answer
        if len(answers) == 2:
            break
    if len(answers) < 2:
        found = f"only {next(iter(answers))} answered; " if answers else ""
        return run.unknown(found + "; ".join(run.reasons))
    (_, first), (_, second) = answers.items()
    engines = tuple(answers)
    if (first is None) != (second is None):
        said = ", ".join(f"{n} says {'proved' if a is None else 'refuted'}" for n, a in answers.items())
        return run.internal(engines, f"engines disagree: {said}")
    return run.outcome(engines, first)
