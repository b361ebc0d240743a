"""Plans of our own: compiled programs with what is rare elsewhere, historic bugs written as plans, and random moves of
which a run with memory shows that they are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from benchmarks.memory_plans import large_plan
from memory_cases import CONDITIONAL, GENERIC, PERMUTED, judged, refuted, roomy_plan

from hloproof.memory.plan import Plan
from hloproof.memory.replay import ReplayLimits, replay
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.results.verdict import Verdict

PLANS = sorted((Path(__file__).parent / "data" / "plans").glob("*/module.hlo"))
SLICE = re.compile(r"\(size=(\d+),offset=(\d+)\)")


def test_the_plans_of_the_compiler_are_proved() -> None:
    assert len(PLANS) == 15
    for module in PLANS:
        records = judged(module.read_text(), module.with_name("assignment.txt").read_text())
        assert {r.verdict for r in records} == {Verdict.PROVED}, module.parent.name


HISTORIC = [
    # xla 18ee6857be, d632353005: two results of a conditional in one buffer.
    ("plan-interference", CONDITIONAL, ("if{0}", "if{1}")),
    # xla 81fd8dc289: taken for the operand, the result of a permutation is overwritten while it is still needed.
    ("plan-interference", PERMUTED, ("s{1}", "w")),
    ("plan-interference", GENERIC, ("exchanged", "w")),
    ("plan-interference", GENERIC, ("x", "w")),
    ("plan-in-place", GENERIC, ("exchanged", "x")),
    # The operand may be read until the done, so the result does not lie over it.
    ("plan-in-place", PERMUTED, ("s{1}", "x")),
]


@pytest.mark.parametrize("hlo", [CONDITIONAL, PERMUTED, GENERIC])
def test_a_plan_with_room_for_everything_is_proved(hlo: str) -> None:
    assert refuted(hlo, roomy_plan(hlo)) == {}


@pytest.mark.parametrize(("claim", "hlo", "together"), HISTORIC)
def test_historic_bugs_are_refuted(claim: str, hlo: str, together: tuple[str, ...]) -> None:
    assert claim in refuted(hlo, roomy_plan(hlo, (together,)))


def test_what_a_run_shows_to_be_wrong_is_refuted() -> None:
    """Values are moved to the offsets of others, at random: the run knows nothing of the proof."""
    shown = 0
    for module in PLANS:
        if "loop" in module.parent.name:
            continue
        hlo, lines = module.read_text(), module.with_name("assignment.txt").read_text().split("\n")
        for text in _moved(lines, Random(module.parent.name)):
            try:
                found = replay(Plan(parse_module(hlo), parse_assignment(text)), budget=ReplayLimits(1 << 16, 20_000))
            except NotModelled:
                continue
            if found is not None:
                shown += 1
                assert any(r.verdict is Verdict.REFUTED for r in judged(hlo, text)), (module.parent.name, str(found))
    assert shown >= 8


def _moved(lines: list[str], random: Random) -> Iterator[str]:
    """Plans in which one temporary value has the offset of another."""
    values = {n: m for n, line in enumerate(lines) if (m := SLICE.search(line)) and "temp" in _allocation(lines, n)}
    for _ in range(8 if values else 0):
        moved, target = random.choice(list(values)), random.choice(list(values))
        spoiled = list(lines)
        spoiled[moved] = SLICE.sub(f"(size={values[moved][1]},offset={values[target][2]})", lines[moved])
        yield "\n".join(spoiled)


def _allocation(lines: list[str], n: int) -> str:
    while not lines[n].startswith("allocation"):
        n -= 1
    return lines[n]


def test_a_plan_that_reuses_places_as_soon_as_they_are_free_is_proved_and_not_one_too_soon() -> None:
    hlo, plan = large_plan(200, 16)
    assert refuted(hlo, plan) == {}
    temporary = re.compile(r"v(?!200 )(\d+) @0> \(size=4096,offset=\d+\)")
    sooner = temporary.sub(lambda m: f"v{m[1]} @0> (size=4096,offset={int(m[1]) % 14 * 4096})", plan)
    assert set(refuted(hlo, sooner)) == {"plan-interference"}
