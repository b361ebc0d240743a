"""How much an obligation may cost. Limits inside the engines are deterministic; seconds and megabytes are enforced
from outside, by killing the worker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits per obligation. The first three are deterministic and part of what an `unknown` is kept for."""

    isl_operations: int = 20_000_000
    z3_rlimit: int = 20_000_000
    enumeration_points: int = 200_000
    seconds: float = 30.0
    """Wall time until the worker is killed."""
    megabytes: int = 2048
    """Address space of a worker beyond which its allocations fail."""

    def deterministic(self) -> str:
        """The limits that decide whether an unknown is final."""
        return f"isl={self.isl_operations},z3={self.z3_rlimit},points={self.enumeration_points}"


DEFAULT = Budget()
