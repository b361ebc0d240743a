"""Target `modules`: modules of movements, of collectives, calls, branches and loops: every claim is proved, or unknown
with a reason. Maps on several devices pass them in every order, which is where names of variables meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.modules.generate_calls import device_modules
from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.target import Failure, Target
from hloproof.logic.obligation import Outcome
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.results.results import OperationVerdicts

_REMEMBERED: Final = 20_000
"""Obligations, or operations, that were judged for modules before: most come again."""


def cases() -> st.SearchStrategy[str]:
    return st.one_of(movement_modules(), movement_modules(), device_modules())


def examine(text: str) -> tuple[str, ...]:
    """Every claim that is owed is proved, or unknown with a reason; also which maps of a call or a loop are one, which
    is told on request."""
    from hloproof.claims.catalogue import families
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options, Selection

    before = remembered()
    before.make_room(_REMEMBERED)
    options = Options(Selection(only=(*families(), "dedup")), jobs=1)
    for record in check_hlo(text, options, before.outcomes, before.operations).records():
        if record.verdict != "proved" and not (record.verdict == "unknown" and record.reason):
            said = record.counterexample or record.reason
            raise Failure(f"modules: {record.claim} is {record.verdict}", f"{record.instruction}: {said}")
    opcodes = dict.fromkeys(i.opcode for c in parse_module(text).computations for i in c.instructions)
    return tuple(opcode for opcode in opcodes if opcode not in ("parameter", "constant"))


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was proved before, for checks that all have the same options."""

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
    """The one of this process. Emptied by `cache_clear`."""
    return Remembered()


TARGET = Target(
    "modules", "random modules, on several devices too: every claim that is owed is proved", cases, examine, ".hlo"
)
