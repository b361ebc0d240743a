"""What one module promises about its indices beyond the other: where the promise is broken its result is undefined.

Trusted. The reading leaves promises out of what identifies an operation, so those that are new have to be told.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from hloproof.equivalence.answer import Tier
from hloproof.models.hlo.module import Module

PROMISES: Final = ("unique_indices", "indices_are_sorted")


def new_promises(before: Module, after: Module) -> dict[str, Tier]:
    """Names of the promises that `after` makes more often than `before`, as what a proof assumes."""
    more = _promised(after) - _promised(before)
    return {f"promised: {name} of {opcode}": "exact" for opcode, name in more}


def _promised(module: Module) -> Counter[tuple[str, str]]:
    return Counter(
        (i.opcode, name)
        for computation in module.computations
        for i in computation.instructions
        for name in PROMISES
        if i.attributes.flag(name)
    )
