"""The second statement that a map leads to what another leads to, by itself: where it is wrong, and where it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hloproof.claims.maps.plain_inclusion import plain_inclusion
from hloproof.engines.door import prove_one
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable
from hloproof.models.maps.text import parse_map

TEN = "(d0) -> (d0), domain: d0 in [0, 9]"
RANGE = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3]"


def reading(high: int, provider: str = "parameter(1)") -> IndexingMap:
    """What is read at run time, cut to [0, high]."""
    m = parse_map("(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 9]")
    return replace(m, runtime=(RuntimeVariable(Interval(0, high), provider=provider),))


CASES = [
    (parse_map(TEN), parse_map(TEN), "proved"),
    (parse_map(TEN), parse_map(TEN.replace("9", "4")), "refuted"),
    (parse_map(TEN.replace("9", "4")), parse_map(TEN), "proved"),
    (parse_map(RANGE), parse_map(RANGE.replace("3]", "2]")), "refuted"),
    (parse_map(RANGE.replace("3]", "2]")), parse_map(RANGE), "proved"),
    (parse_map(TEN), parse_map(TEN + ", d0 mod 2 in [0, 0]"), "refuted"),
    (reading(5), reading(5), "proved"),
    (reading(5), reading(3), "refuted"),
    (reading(3), reading(5), "refuted"),
    (reading(5), reading(5, "parameter(2)"), "refuted"),
]


@pytest.mark.parametrize(("one", "other", "verdict"), CASES)
def test_the_second_statement(one: IndexingMap, other: IndexingMap, verdict: str) -> None:
    stated = plain_inclusion(one, [other])
    assert stated is not None and prove_one(stated).verdict == verdict


def test_without_quantifiers_the_range_variables_are_the_same() -> None:
    shorter = RANGE.replace("3]", "2]")
    for one, other, verdict in ((RANGE, shorter, "refuted"), (shorter, RANGE, "proved"), (RANGE, RANGE, "proved")):
        stated = plain_inclusion(parse_map(one), [parse_map(other)], quantified=False)
        assert stated is not None and prove_one(stated).verdict == verdict
