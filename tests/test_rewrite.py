"""Rewrites of indexing maps: which equality is shown, where it fails, and what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hloproof.claims.maps.rewrite import equality_of, rewrite
from hloproof.claims.maps.simplified import simplified
from hloproof.models.errors import InputError
from hloproof.models.maps.text import parse_map, print_map
from hloproof.results.verdict import Verdict

SHARED = Path(__file__).parents[1].parent / "shared"
BOX = "domain: d0 in [0, 11]"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "equality", "says"),
    [
        (f"(d0) -> ((d0 / 2) / 3), {BOX}", f"(d0) -> (d0 / 6), {BOX}", "proved", "pointwise", ""),
        (f"(d0) -> (d0 / 6), {BOX}", f"(d0) -> (d0 / 4), {BOX}", "refuted", "pointwise", "before gives ("),
        (
            f"(d0) -> (d0), {BOX}",
            "(d0) -> (d0), domain: d0 in [0, 12]",
            "refuted",
            "pointwise",
            "d0 = 12: in the domain of after, not in that of before",
        ),
        (
            f"(d0) -> (d0), {BOX}",
            f"(d0) -> (d0), {BOX}, d0 mod 5 in [0, 3]",
            "refuted",
            "pointwise",
            "in the domain of before, not in that of after",
        ),
        (
            f"(d0)[s0] -> (s0), {BOX}, s0 in [0, 3]",
            f"(d0)[s0] -> (3 - s0), {BOX}, s0 in [0, 3]",
            "refuted",
            "pointwise",
            "before gives",
        ),
        (
            f"(d0)[s0] -> (s0), {BOX}, s0 in [0, 3]",
            f"(d0)[s0, s1] -> (s0 * 2 + s1), {BOX}, s0 in [0, 1], s1 in [0, 1]",
            "proved",
            "relational",
            "",
        ),
        (
            f"(d0)[s0] -> (s0), {BOX}, s0 in [0, 3]",
            f"(d0)[s0, s1] -> (s0 * 2 + s1), {BOX}, s0 in [0, 1], s1 in [0, 2]",
            "refuted",
            "relational",
            "after gives (4), which before does not give",
        ),
        (
            "(){r} -> (r), domain: r in [0, 2]",
            "(){r} -> (r + 1), domain: r in [0, 2]",
            "refuted",
            "pointwise",
            "r = 1: before gives (1)",
        ),
        (f"(d0) -> (d0), {BOX}, d0 in [20, 30]", "KNOWN EMPTY", "proved", "pointwise", ""),
        (f"(d0) -> (d0), {BOX}", "KNOWN EMPTY", "refuted", "pointwise", "in the domain of before"),
        (
            f"(d0){{rt0}} -> (d0 + rt0), {BOX}, rt0 in [0, 1]\nruntime variables:\nrt0: parameter(1)",
            f"(d0){{rt0}} -> (rt0 + d0), {BOX}, rt0 in [0, 1]\nruntime variables:\nrt0: parameter(1)",
            "proved",
            "pointwise",
            "",
        ),
        (
            f"(d0){{rt0}} -> (d0 + rt0), {BOX}, rt0 in [0, 1]\nruntime variables:\nrt0: parameter(1)",
            f"(d0){{rt0}} -> (rt0 + d0), {BOX}, rt0 in [0, 1]\nruntime variables:\nrt0: parameter(2)",
            "refuted",
            "pointwise",
            "before gives",
        ),
        (
            f"(d0) -> (d0 mod 5), {BOX}\nreplica id:\n(d0) -> (d0 / 5), {BOX}",
            f"(d0) -> (d0 mod 5), {BOX}\nreplica id:\n(d0) -> (d0 / 6), {BOX}",
            "refuted",
            "pointwise",
            "before gives (",
        ),
    ],
)
def test_verdicts(before: str, after: str, verdict: str, equality: str, says: str) -> None:
    one, two = parse_map(before), parse_map(after)
    found = rewrite(one, two)
    assert (found.verdict, equality_of(one, two)) == (verdict, equality)
    assert says in (found.counterexample or found.reason or "")


def test_relational_by_request() -> None:
    before, after = (f"(d0)[s0] -> ({e}), {BOX}, s0 in [0, 3]" for e in ("s0", "3 - s0"))
    assert rewrite(parse_map(before), parse_map(after), "relational").verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (f"(d0) -> (d0), {BOX}", f"(d0) -> (d0, d0), {BOX}", "1 results"),
        (f"(d0) -> (d0), {BOX}", f"(d0, d1) -> (d0), {BOX}, d1 in [0, 1]", "after has 2"),
        (f"(d0) -> (7 / d0), {BOX}", f"(d0) -> (7 / d0), {BOX}", "division by zero possible: d0 is 0 at d0 = 0"),
        (f"(d0) -> (7 mod 0), {BOX}", f"(d0) -> (0), {BOX}", "division by zero"),
    ],
)
def test_what_cannot_be_compared(before: str, after: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        rewrite(parse_map(before), parse_map(after))
    assert says in raised.value.message


def test_simplified_maps_come_with_their_proof() -> None:
    m = parse_map("(d0)[s0] -> (d0 + s0 / 6), domain: d0 in [0, 3], s0 in [0, 20], s0 mod 6 in [0, 0]")
    plain = simplified(m)
    assert (plain.found.verdict, plain.equality) == (Verdict.PROVED, "pointwise")
    rescaled = simplified(m, rescale=True)
    assert (rescaled.found.verdict, rescaled.equality) == (Verdict.PROVED, "relational")
    assert print_map(rescaled.map) == "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 3]"
    assert [s.rule for s in rescaled.derivation][-1] == "rescaled-symbol" or rescaled.derivation


@pytest.mark.skipif(not SHARED.exists(), reason="the folder of known bugs is not beside the project")
def test_known_wrong_rewrites_are_refuted_and_right_ones_proved() -> None:
    for row in json.loads((SHARED / "bugs" / "known_bugs.json").read_text()):
        for side in row["expressible_as_maps"]:
            domain = ", ".join(f"{n} in [{a}, {b}]" for n, (a, b) in row["variables"].items())
            before, after = (
                parse_map(f"({', '.join(row['variables'])}) -> ({e}), domain: {domain}")
                for e in (row["lhs"], row[side])
            )
            wanted = Verdict.REFUTED if side == "rhs_wrong" else Verdict.PROVED
            assert rewrite(before, after).verdict is wanted, row["id"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "(d0, d1) -> ((d0 * 2 + d1) mod 8), domain: d0 in [0, 20], d1 in [0, 20], d0 + d1 in [0, 3]",
            "(d0, d1) -> (d0 * 2 + d1), domain: d0 in [0, 20], d1 in [0, 20], d0 + d1 in [0, 3]",
        ),
        (
            "(d0) -> (d0 mod 5 + (d0 + 1) / 7), domain: d0 in [0, 11], (d0 * 3) mod 7 in [1, 1]",
            "(d0) -> (0), domain: d0 in [0, 11], (d0 * 3) mod 7 in [1, 1]",
        ),
        (
            "(d0, d1) -> (min(d0 * 3, d1)), domain: d0 in [0, 9], d1 in [0, 40], d1 - d0 * 2 in [9, 99]",
            "(d0, d1) -> (d0 * 3), domain: d0 in [0, 9], d1 in [0, 40], d0 * 2 - d1 in [-99, -9]",
        ),
    ],
)
def test_engines_finish_where_the_rules_stop(before: str, after: str) -> None:
    found = simplified(parse_map(before))
    assert print_map(found.map) == after
    assert found.found.verdict is Verdict.PROVED
    assert any(s.rule == "proved-range" for s in found.derivation)
    assert print_map(simplified(found.map).map) == after


ON = ", domain: d0 in [0, 3], s0 in [0, 1]"


@pytest.mark.parametrize(
    ("element", "device", "verdict"),
    [("s0", "s0", Verdict.PROVED), ("1 - s0", "1 - s0", Verdict.PROVED), ("s0", "1 - s0", Verdict.REFUTED)],
)
def test_elements_and_devices_are_one_relation(element: str, device: str, verdict: Verdict) -> None:
    before = parse_map(f"(d0)[s0] -> (s0){ON}\nreplica id:\n(d0)[s0] -> (s0){ON}")
    after = parse_map(f"(d0)[s0] -> ({element}){ON}\nreplica id:\n(d0)[s0] -> ({device}){ON}")
    assert rewrite(before, after, "relational").verdict is verdict


def test_the_same_domain_with_another_clamp_is_not_the_same_map() -> None:
    text = """(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, {}]{}
runtime variables: rt0: parameter(1); (d0) -> (d0), domain: d0 in [0, 2]"""
    before, after = parse_map(text.format(5, ", rt0 + 0 in [0, 3]")), parse_map(text.format(3, ""))
    assert rewrite(before, before).verdict is Verdict.PROVED
    assert rewrite(before, after).verdict is Verdict.REFUTED
