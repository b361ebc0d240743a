"""What is answered about two modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hloproof.results.verdict import Verdict

Tier = Literal["exact", "real", "rounding"]
TIERS: Final[tuple[Tier, ...]] = ("exact", "real", "rounding")
"""Strongest first: bit for bit, over the real numbers, up to a rounding left out or put in."""


@dataclass(frozen=True)
class Place:
    """An instruction of one of the modules; `line` counts from 1."""

    computation: str
    instruction: str
    opcode: str
    line: int

    def as_json(self) -> dict[str, Any]:
        return {"computation": self.computation, "instruction": self.instruction, "line": self.line}


@dataclass(frozen=True)
class Mismatch:
    """The first pair of terms, from the results down, that was not shown equal; None where a side has no place."""

    before: Place | None
    after: Place | None
    said: str
    """Why, and what would be needed."""

    def as_json(self) -> dict[str, Any]:
        places = [None if p is None else p.as_json() for p in (self.before, self.after)]
        return {"instructions": places, "said": self.said}


@dataclass(frozen=True)
class Certificate:
    """A proof as data that can be written as JSON: see the checker for its form."""

    tier: Tier
    proof: Any


@dataclass(frozen=True)
class Result:
    """`proved`: the checker accepted `certificate`. `unknown`: `reason` and `mismatch` say where matching ended.
    `internal`: the matcher claimed what the checker denies."""

    verdict: Verdict
    reason: str = ""
    axioms: tuple[tuple[str, Tier], ...] = ()
    """The identities beyond movement that the proof uses, each with its tier, sorted by name."""
    certificate: Certificate | None = field(default=None, repr=False)
    mismatch: Mismatch | None = None
