"""The benchmark's columns agree, so its times are of the same answers."""

from __future__ import annotations

import pytest
from benchmarks.baselines import COLUMNS, plain_isl, this_tool
from benchmarks.hard_set import hard_set
from benchmarks.run import decide_all, percentile
from benchmarks.whole_modules import module_text

from hloproof.engines.instances import parameters
from hloproof.logic.obligation import Obligation
from hloproof.models.hlo.parser import parse_module

LINEAR = [o for o in hard_set() if not parameters(o)]


@pytest.mark.parametrize("obligation", LINEAR[::2], ids=lambda o: o.label)
def test_plain_isl_agrees_on_the_hard_set(obligation: Obligation) -> None:
    assert this_tool(obligation) == plain_isl(obligation)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_answers_or_is_killed(column: str) -> None:
    obligations = [o for o in LINEAR if o.label in ("nest of depth 2", "nest of depth 2, wrong divisor")]
    found = decide_all(COLUMNS[column], obligations, 2.0)
    for (verdict, ms), expected in zip(found, ("proved", "refuted"), strict=True):
        assert verdict in (expected, "unknown")
        assert 0 < ms <= 4000


def test_what_never_answers_is_killed_and_the_next_one_is_tried() -> None:
    def forever(obligation: Obligation) -> str:
        while obligation.label == LINEAR[0].label:
            pass
        return "proved"

    assert [v for v, _ in decide_all(forever, LINEAR[:2], 0.1)] == ["unknown", "proved"]


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2), (0.99, 4), (0.25, 1)])
def test_percentiles_are_of_the_values(share: float, expected: float) -> None:
    assert percentile([4, 2, 1, 3], share) == expected


def test_generated_modules_parse() -> None:
    module = parse_module(module_text(1000))
    assert 1000 <= sum(len(c.instructions) for c in module.computations) <= 1020
