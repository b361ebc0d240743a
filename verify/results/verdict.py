"""The words for what was found, from the engines to the reader, each made of the one before it.

`Outcome` (`logic/obligation.py`) is what engines say of one closed formula; `Found` what follows for one claim, which
may owe many; `ClaimResult` is that at a place in a file, as a report has it. Other rooms put facts of their own beside
a `Found`, and none has a second list of these fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """What is said of a claim: each member says when."""

    PROVED = "proved"
    """Holds at every point; an engine showed it."""
    REFUTED = "refuted"
    """Fails at a point that the evaluator has replayed."""
    UNKNOWN = "unknown"
    """Not shown either way; the reason says which budget ran out or which construct is not modelled."""
    VACUOUS = "vacuous"
    """A rule or hypothesis whose conditions contradict each other: it says nothing."""
    TRIVIAL = "trivial"
    """A rule whose two sides are written the same: it says nothing."""
    INTERNAL = "internal"
    """Engines disagree, or a counterexample does not replay: an error of this tool."""


class Exit(IntEnum):
    """The exit status. When several apply, the order of precedence is INTERNAL, BAD_INPUT, REFUTED, UNKNOWN."""

    OK = 0
    REFUTED = 1
    BAD_INPUT = 2
    UNKNOWN = 3
    INTERNAL = 4
    INTERRUPTED = 130


def family(claim: str) -> str:
    """The part of a claim's name before the first dash."""
    return claim.partition("-")[0]


def not_needed(conditions: Sequence[str]) -> str:
    """The note beside the proof of a rule that has at least one condition too many."""
    name = "condition" if len(conditions) == 1 else "conditions"
    return f"the proof does not need the {name} {'; '.join(conditions)}"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found about one thing that is claimed: a verdict, by whom, and what shows it or stands in its way.

    `reason` is why it is not known, or what a reader should know beside a proof. `ms` is wall time in milliseconds;
    what many instructions share spent it once. Equal findings may have taken different times.
    """

    verdict: Verdict
    engines: tuple[str, ...] = ()
    counterexample: str | None = None
    reason: str | None = None
    assumptions: tuple[str, ...] = ()
    claim: str = ""
    """The name of the claim; empty while whoever asked still has to say it."""
    ms: float = field(default=0.0, compare=False)
    final: bool = True
    """False where another run may decide otherwise: time or memory ran out, or the run was ended."""


@dataclass(frozen=True)
class Related:
    """Another place in the same file that a finding is about, such as one side of a rewrite."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class ClaimResult:
    """What was found about one instruction, rule, map, layout or spec, at its place: one record of a report.

    `line` and `column` count from 1 in `file`; 0 where there is no text.
    """

    id: str
    kind: str
    file: str
    module: str
    line: int
    column: int
    instruction: str
    found: Found
    related: tuple[Related, ...] = ()

    @property
    def claim(self) -> str:
        return self.found.claim

    @property
    def verdict(self) -> Verdict:
        return self.found.verdict

    @property
    def engines(self) -> tuple[str, ...]:
        return self.found.engines

    @property
    def counterexample(self) -> str | None:
        return self.found.counterexample

    @property
    def reason(self) -> str | None:
        return self.found.reason
