"""Target `ops`: every opcode with a definition is generated; wrong definitions of tuples and scans are found."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from hloproof.definitions import IN_TUPLES, TABLE
from hloproof.definitions import define as right
from hloproof.definitions.definition import Definition
from hloproof.fuzz.chunk import first_failure
from hloproof.fuzz.operations import oracle_operations
from hloproof.fuzz.operations.generators.control import control
from hloproof.fuzz.operations.generators.elementwise import elementwise, scan
from hloproof.fuzz.operations.generators.operations import operation
from hloproof.fuzz.target import Target
from hloproof.fuzz.targets import target
from hloproof.logic.formula import FALSE, TRUE
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module

NOT_RUN_ALONE: Final = {
    "after-all",
    "infeed",
    "outfeed",
    "recv",
    "rng",
    "rng-bit-generator",
    "send-done",
    "set-dimension-size",
}
"""Without data, without one meaning, or another name of what is generated; size of a dimension at run time."""


def test_every_opcode_with_a_definition_is_generated() -> None:
    drawn: set[str] = set()

    def look(text: str) -> tuple[str, ...]:
        found = re.search(r"ROOT r = (?:.*? )??([a-z][a-z0-9-]*)\(", text.split("ENTRY")[1])
        assert found
        drawn.add(found[1])
        return ()

    some = [(target("ops").cases, 2000)] + [(partial(operation, w), n) for w, n in ((control, 200), (elementwise, 900))]
    for cases, count in some:
        first_failure(Target("look", "", cases, look, ""), 1, count)
    assert {*TABLE, *IN_TUPLES} - drawn <= NOT_RUN_ALONE


def everything(op: Operation, output: int, operand: int, position: tuple[int, ...] = ()) -> Definition:
    return replace(right(op, output, operand, position), predicate=TRUE, kind="reads")


def nothing(op: Operation, output: int, operand: int, position: tuple[int, ...] = ()) -> Definition:
    return replace(right(op, output, operand, position), predicate=FALSE)


@pytest.mark.parametrize("wrong", [everything, nothing])
def test_wrong_definitions_are_found(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle_operations, "define", wrong)
    for write in (control, elementwise, scan):
        found = first_failure(replace(target("ops"), cases=partial(operation, write)), 1, 60)
        assert found is not None and "definition" in found.cause


SCAN = """HloModule m

step {
  x = s32[2] parameter(0)
  c = s32[] parameter(1)
  one = s32[] constant(1)
  w = s32[2] broadcast(c), dimensions={}
  y = s32[2] multiply(x, w)
  n = s32[] add(c, one)
  ROOT r = (s32[2], s32[]) tuple(y, n)
}

ENTRY e {
  p = s32[TALL] parameter(0)
  c = s32[] parameter(1)
  ROOT r = (s32[TALL], s32[]) scan(p, c), dimensions={AXIS}, num_carries=1, REVERSEto_apply=step
}
"""


@pytest.mark.parametrize(
    ("sizes", "axis", "reverse", "given", "expected"),
    [
        ("3,2", 0, False, [[1, 2], [3, 4], [5, 6]], ([[10, 20], [33, 44], [60, 72]], 13)),
        ("3,2", 0, True, [[1, 2], [3, 4], [5, 6]], ([[12, 24], [33, 44], [50, 60]], 13)),
        ("2,3", 1, False, [[1, 2, 3], [4, 5, 6]], ([[10, 22, 36], [40, 55, 72]], 13)),
        ("0,2", 0, False, [], ([], 10)),
    ],
)
def test_a_scan_by_hand(sizes: str, axis: int, reverse: bool, given: Any, expected: Any) -> None:
    text = SCAN.replace("TALL", sizes).replace("AXIS", str(axis))
    text = text.replace("REVERSE", "is_reverse=true, " if reverse else "")
    found = run_module(parse_module(text), [given, 10])
    assert found == expected
