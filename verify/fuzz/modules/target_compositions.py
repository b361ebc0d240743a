"""Target `compositions`: composed maps in both directions, of calls, tuples and loops too, against what a run reads.

Apart from target `modules`, which asks for every claim of a module and would be half as fast with this.
"""

from __future__ import annotations

from hypothesis import strategies as st

from hloproof.fuzz.modules.generate_calls import STRUCTURE, structures
from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.modules.oracle_composed import examine_composed
from hloproof.fuzz.target import Target
from hloproof.models.hlo.parser import parse_module


def cases() -> st.SearchStrategy[str]:
    return st.one_of(movement_modules(), movement_modules(), structures())


def examine(text: str) -> tuple[str, ...]:
    module = parse_module(text)
    covered = examine_composed(module, len(text))
    return (STRUCTURE, *covered) if module.name == STRUCTURE else covered


TARGET = Target(
    "compositions",
    "composed maps in both directions, through calls, tuples and loops, against what is read",
    cases,
    examine,
    ".hlo",
)
