"""How quotients and remainders round, where a rule is read otherwise than as usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Rounding = Literal["floor", "trunc", "euclidean"]


@dataclass(frozen=True, slots=True)
class RoundingSemantics:
    """How quotients and remainders round. floor: to minus infinity; trunc: to zero; euclidean: the remainder is never
    negative, whatever the divisor's sign."""

    division: Rounding = "floor"
    mod: Rounding = "floor"


FLOOR: Final = RoundingSemantics()
