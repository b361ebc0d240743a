"""What a simplification on the way through a fusion owes: proved when right, refuted when planted wrong."""

from __future__ import annotations

import re

import pytest

from hloproof.claims.maps.points_apart import pointwise_difference
from hloproof.claims.maps.simplified import simplified
from hloproof.claims.operations.simplified import same_points
from hloproof.engines.portfolio import prove
from hloproof.models.maps.text import parse_map, print_map
from hloproof.results.verdict import Verdict

BOX = ", domain: d0 in [0, 9], s0 in [0, 3]"
READ = """(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 5]
runtime variables: rt0: parameter({}); (d0) -> ({}), domain: d0 in [0, 2]"""
CUT = """(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, {}], rt0 + 0 in [0, 4]
runtime variables: rt0: parameter(0); (d0) -> (d0), domain: d0 in [0, 2]"""
CASES = [
    ("(d0)[s0] -> ((d0 * 4 + s0) / 4)" + BOX, "(d0)[s0] -> (d0)" + BOX, "proved"),
    (
        "(d0)[s0] -> (d0)" + BOX + ", d0 * 4 + s0 in [0, 19]",
        "(d0)[s0] -> (d0), domain: d0 in [0, 4], s0 in [0, 3]",
        "proved",
    ),
    ("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [3, 4]", "KNOWN EMPTY", "proved"),
    ("(d0)[s0] -> ((d0 * 4 + s0) / 4)" + BOX, "(d0)[s0] -> (d0 + 1)" + BOX, "refuted"),
    ("(d0)[s0] -> (d0)" + BOX, "(d0)[s0] -> (d0), domain: d0 in [0, 8], s0 in [0, 3]", "refuted"),
    ("(d0)[s0] -> (d0)" + BOX + ", d0 + s0 in [0, 9]", "(d0)[s0] -> (d0)" + BOX, "refuted"),
    (
        "(d0) -> (d0), domain: d0 in [0, 9]\nreplica id:\n(d0) -> (d0 / 5), domain: d0 in [0, 9]",
        "(d0) -> (d0), domain: d0 in [0, 9]\nreplica id:\n(d0) -> (0), domain: d0 in [0, 9]",
        "refuted",
    ),
    ("(d0) -> (d0), domain: d0 in [0, 9]", "KNOWN EMPTY", "refuted"),
    ("(d0) -> (d0), domain: d0 in [0, -1]", "(d0) -> (d0), domain: d0 in [0, 9]", "refuted"),
    ("(d0) -> (d0), domain: d0 in [0, 9], d0 + 1 in [5, 2]", "(d0) -> (d0), domain: d0 in [0, 9]", "refuted"),
    ("(d0) -> (d0), domain: d0 in [0, -1]", "KNOWN EMPTY", "proved"),
    (
        "(d0) -> (d0), domain: d0 in [0, 9]\nreplica id:\n(d0) -> (0), domain: d0 in [0, 9]",
        "(d0) -> (d0), domain: d0 in [0, 9]",
        "refuted",
    ),
    (READ.format(0, "d0"), READ.format(1, "d0"), "refuted"),
    (READ.format(0, "d0"), READ.format(0, "d0 * 0"), "refuted"),
    (READ.format(0, "d0"), READ.format(0, "(d0 * 4) / 4"), "proved"),
    (READ.format(0, "d0"), READ.replace("[0, 5]", "[0, 4]").format(0, "d0"), "refuted"),
    (READ.format(0, "d0"), "(d0) -> (d0), domain: d0 in [0, 2]", "refuted"),
    # What is beyond 4 is cut to 5, which the constraint leaves out, or to 4, which it does not.
    (CUT.format(5), CUT.format(4), "refuted"),
    (CUT.format(4), CUT.format(5), "refuted"),
    (CUT.format(4), CUT.format(4).replace("rt0 + 0 in", "rt0 + d0 - d0 in"), "proved"),
]


@pytest.mark.parametrize(("before", "after", "verdict"), CASES)
def test_what_a_simplification_owes(before: str, after: str, verdict: str) -> None:
    verdicts = [prove(p.obligation) for p in same_points(parse_map(before), parse_map(after))]
    assert ("refuted" if any(v.verdict == "refuted" for v in verdicts) else "proved") == verdict
    assert {v.verdict for v in verdicts} <= {"proved", "refuted"}


@pytest.mark.parametrize(
    ("constraint", "after"),
    [
        ("", "(d0) -> (d0), domain: d0 in [0, 1]"),
        (", rt0 + d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 1]"),
        (", rt0 mod 2 in [0, 0]", "(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [0, 2], rt0 mod 2 in [0, 0]"),
        # These become a narrower interval of the variable.
        (", rt0 in [1, 5]", "(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [1, 2]"),
        (", rt0 in [-1, 1]", "(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [0, 1]"),
        (", rt0 * 2 in [2, 3]", "(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [1, 1]"),
    ],
)
def test_what_a_value_read_has_to_meet_is_not_left_out(constraint: str, after: str) -> None:
    result = simplified(
        parse_map("(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [0, 2]" + constraint), remove_unused=True
    )
    assert print_map(result.map) == after
    assert result.found.verdict is Verdict.PROVED


def read(provider: str, number: int) -> str:
    return f"\nrt{number}: {provider}; (d0) -> (d0), domain: d0 in [0, 1]"


THREE = "(d0){rt0, rt1, rt2} -> (rt1), domain: d0 in [0, 1], rt0 in [0, 2], rt1 in [0, 2], rt2 in [0, 2]"
TWO = "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 1], rt0 in [0, 2], rt1 in [0, 2]"
ONE = "(d0){rt0} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 2]"
LIST = "\nruntime variables:"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (THREE, TWO),
        (TWO.replace("(rt1)", "(rt0)"), ONE),
        (TWO.replace("(rt1)", "(d0)"), "(d0) -> (d0), domain: d0 in [0, 1]"),
        (
            TWO.replace("(rt1)", "(d0)") + ", rt1 mod 2 in [0, 0]",
            TWO.replace("(rt1)", "(d0)") + ", rt1 mod 2 in [0, 0]",
        ),
        (TWO + LIST + read("a", 0) + read("b", 1), ONE + LIST + read("b", 0)),
        (TWO + LIST + read("a", 0), TWO + LIST + read("a", 0)),
        (TWO + LIST + read("b", 1), ONE + LIST + read("b", 0)),
    ],
)
def test_a_variable_without_a_provider_stays_in_its_place(before: str, after: str) -> None:
    """Nothing else says which value it is: what came behind one that was left out was refuted."""
    result = simplified(parse_map(before), remove_unused=True)
    assert print_map(result.map) == print_map(parse_map(after))
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(("said", "names"), [("", ("rt0", "rt1")), (LIST + read("a", 0) + read("b", 1), ("a", "b"))])
def test_a_point_at_which_two_maps_differ_tells_of_each_value_what_it_is(said: str, names: tuple[str, str]) -> None:
    told = pointwise_difference(parse_map(TWO.replace("(rt1)", "(rt0)") + said), parse_map(TWO + said))
    assert told is not None
    values = dict(re.findall(r"(\w+)(?:\[\d\])? = (\d)", told))
    assert f": before gives ({values[names[0]]}), after gives ({values[names[1]]})" in told


def test_counterexamples_are_told() -> None:
    before, after = parse_map(CASES[3][0]), parse_map(CASES[3][1])
    told = [
        p.describe(dict(outcome.model))
        for p in same_points(before, after)
        if (outcome := prove(p.obligation)).verdict == "refuted"
    ]
    assert any("and now gives" in text for text in told)
