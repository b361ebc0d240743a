"""What was proved in this process before: outcomes by obligation, verdicts by operation. Emptied by `cache_clear`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from hloproof.logic.obligation import Outcome
from hloproof.models.hlo.module import Operation
from hloproof.results.results import OperationVerdicts


@dataclass(frozen=True, slots=True)
class Remembered:
    """For checks that all have the same options."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By normal form."""
    operations: dict[Operation, OperationVerdicts] = field(default_factory=dict)

    def make_room(self, most: int) -> None:
        """Forgets everything once there is more than that of either."""
        if max(len(self.outcomes), len(self.operations)) > most:
            self.outcomes.clear()
            self.operations.clear()


@cache
def remembered() -> Remembered:
    """The one of this process."""
    return Remembered()
