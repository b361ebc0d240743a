"""Obligations in processes that can be killed: each has a limit of time and memory (see hloproof.processes).

One whose process is killed, runs out of memory or dies is `unknown`, with the reason and not final.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hloproof.engines.budget import DEFAULT, Budget
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.processes.pool import work_on

OnResult = Callable[[int, Outcome], None]

AHEAD: Final = 8
"""How many obligations are sent to a worker before it has answered the first of them."""


@dataclass(frozen=True)
class Task:
    """What every worker of a run is told first."""

    budget: Budget = DEFAULT
    cross: bool = False
    reproductions: Path | None = None

    @property
    def seconds(self) -> float:
        return self.budget.seconds

    @property
    def megabytes(self) -> int:
        return self.budget.megabytes

    @property
    def late(self) -> str:
        return f"no answer within {self.budget.seconds:g} seconds (--obligation-seconds)"

    def begin(self) -> Callable[[Obligation], Outcome]:
        from hloproof.engines.portfolio import prove

        return lambda obligation: prove(obligation, self.budget, self.cross, self.reproductions)

    def lost(self, asked: Obligation, reason: str) -> Outcome:
        # A process that was killed says nothing about its obligation.
        return Outcome("unknown", reason=reason, final=False)

    def failed(self, asked: Obligation, error: Exception) -> Outcome:
        if isinstance(error, RecursionError):
            return Outcome("unknown", reason="a formula nested too deeply")
        return Outcome("internal", reason=f"the engine failed: {type(error).__name__}: {error}")


def prove_many(
    obligations: Sequence[Obligation],
    jobs: int,
    task: Task,
    on_result: OnResult,
    total_seconds: float | None = None,
    keep: bool = False,
) -> None:
    """Prove all obligations on `jobs` workers (0: one per core) and report each, by its position, as it is decided.

    What `total_seconds` leave undecided is reported as unknown. For the rest see `work_on`.
    """
    work_on(obligations, jobs, task, on_result, total_seconds, keep, AHEAD)
