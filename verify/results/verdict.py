"""What users see: verdicts, kinds of claim, and the result of one claim about one thing."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Found:
    """What was found about one thing that is claimed: a verdict, by whom, and what shows it or stands in its way."""

    verdict: Verdict
    engines: tuple[str, ...] = ()
    counterexample: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Related:
    """Another place in the same file that a finding is about, such as one side of a rewrite."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class ClaimResult:
    """One claim about one instruction, rule, map, layout or spec, with its verdict.

    `line` and `column` count from 1 in `file`; 0 where there is no text. `ms` is wall time in milliseconds.
    """

    id: str
    kind: str
    file: str
    module: str
    line: int
    column: int
    instruction: str
    claim: str
    verdict: Verdict
    engines: tuple[str, ...] = ()
    ms: float = field(default=0.0, compare=False)
    counterexample: str | None = None
    reason: str | None = None
    assumptions: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
