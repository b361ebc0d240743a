"""What engines see: a closed formula, and how its quotients round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from hloproof.logic.formula import TRUE, Formula
from hloproof.models.expressions.interval import Interval

Rounding = Literal["floor", "trunc", "euclidean"]


@dataclass(frozen=True, slots=True)
class RoundingSemantics:
    """How quotients and remainders round. floor: to minus infinity; trunc: to zero; euclidean: the remainder is never
    negative, whatever the divisor's sign."""

    division: Rounding = "floor"
    mod: Rounding = "floor"


FLOOR: Final = RoundingSemantics()


@dataclass(frozen=True, slots=True)
class Obligation:
    """For all integers in the intervals (None: all integers) that satisfy the hypothesis, the conclusion holds.

    `label` says for the reader which part of which claim this is; it takes no part in equality. `rounding` is how its
    quotients and remainders are read. Anything but floor is for the engines that say so (`procedures.ROUNDINGS`); the
    others are not asked.
    """

    variables: tuple[tuple[str, Interval | None], ...]
    conclusion: Formula
    hypothesis: Formula = TRUE
    label: str = field(default="", compare=False)
    rounding: RoundingSemantics = FLOOR


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engines said of an obligation.

    A `refuted` outcome carries `model`, values of all the obligation's variables at which the hypothesis holds and the
    conclusion fails, already replayed by evaluation. `unknown` carries the reason. `final` is false for an unknown that
    time or memory caused: another run may do better. `internal`: engines disagree, or a counterexample does not replay;
    the reason names the reproduction file. `stages` is the time in milliseconds that each stage took, in order.
    """

    verdict: Literal["proved", "refuted", "unknown", "internal"]
    engines: tuple[str, ...] = ()
    model: tuple[tuple[str, int], ...] = ()
    reason: str = ""
    final: bool = True
    ms: float = field(default=0.0, compare=False)
    stages: tuple[tuple[str, float], ...] = field(default=(), compare=False)
