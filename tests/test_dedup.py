"""Deduplication of maps: what is one, what is not, and why."""

from __future__ import annotations

import pytest

from models.map_text import parse_map
from verify.claims.statement import Part
from verify.dedup import Deduplicated, deduplicate
from verify.portfolio import prove


def _run(*texts: str) -> Deduplicated:
    found = deduplicate([parse_map(t) for t in texts])
    assert {prove(p.obligation).verdict for p in found.parts()} <= {"proved"}
    return found


BOX = ", domain: d0 in [0, 7], d1 in [0, 15]"
SAME = [
    ("(d0, d1) -> (d0, d1)" + BOX, "(d0, d1) -> ((d0 * 16 + d1) / 16, (d0 * 16 + d1) mod 16)" + BOX),
    ("(d0, d1)[s0] -> (d0, s0)" + BOX + ", s0 in [0, 9]", "(d0, d1)[s0] -> (d0, 9 - s0)" + BOX + ", s0 in [0, 9]"),
    (
        "(d0, d1)[s0, s1] -> (d0, s0 * 4 + s1)" + BOX + ", s0 in [0, 2], s1 in [0, 3]",
        "(d0, d1)[s0] -> (d0, s0)" + BOX + ", s0 in [0, 11]",
    ),
    ("(d0) -> (d0), domain: d0 in [0, -1]", "(d0) -> (0), domain: d0 in [5, 4]"),
    (
        "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 3], rt0 in [0, 5], rt1 in [0, 6]\nruntime variables:\n"
        "rt0: a; (d0) -> (), domain: d0 in [0, 3]\nrt1: b; (d0) -> (d0), domain: d0 in [0, 3]",
        "(d0){rt0, rt1} -> (d0 + rt1, rt0), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 5]\nruntime variables:\n"
        "rt0: b; (d0) -> (d0), domain: d0 in [0, 3]\nrt1: a; (d0) -> (), domain: d0 in [0, 3]",
    ),
]
APART = [
    ("(d0, d1) -> (d0, d1)" + BOX, "(d0, d1) -> (d0, 15 - d1)" + BOX),
    ("(d0, d1) -> (d0, d1)" + BOX, "(d0, d1) -> (d0, d1)" + BOX.replace("15", "14")),
    ("(d0, d1)[s0] -> (d0, s0)" + BOX + ", s0 in [0, 9]", "(d0, d1)[s0] -> (d0, s0 * 2)" + BOX + ", s0 in [0, 4]"),
    (
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]\nruntime variables:\nrt0: a; (d0) -> (), "
        "domain: d0 in [0, 3]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]\nruntime variables:\nrt0: b; (d0) -> (), "
        "domain: d0 in [0, 3]",
    ),
    (
        "(d0) -> (d0), domain: d0 in [0, 3]\nreplica id:\n(d0) -> (d0 / 2), domain: d0 in [0, 3]",
        "(d0) -> (d0), domain: d0 in [0, 3]\nreplica id:\n(d0) -> (d0 mod 2), domain: d0 in [0, 3]",
    ),
    (  # They differ at one point only, which no sample is likely to meet.
        "(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 999], d1 in [0, 999]",
        "(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 999], d1 in [0, 999], d0 * 1000 + d1 in [0, 999998]",
    ),
]


@pytest.mark.parametrize("texts", SAME)
def test_equal_relations_are_one(texts: tuple[str, str]) -> None:
    found = _run(*texts)
    assert found.kept == (0,) and [(s.dropped, s.kept) for s in found.same] == [(1, 0)]


@pytest.mark.parametrize("texts", APART)
def test_different_relations_stay_with_a_witness(texts: tuple[str, str]) -> None:
    found = _run(*texts)
    assert found.kept == (0, 1) and len(found.apart) == 1 and not found.undecided


def test_containment_in_one_and_in_the_others_together() -> None:
    found = _run(
        "(d0) -> (d0), domain: d0 in [0, 9]", "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [5, 9]", "(d0) -> (3), domain: d0 in [0, 9]",
    )  # fmt: skip
    assert [(c.map, c.within) for c in found.contained] == [(0, (1, 2, 3)), (3, (1,))]


def test_a_value_read_per_range_point_is_shown_equal_by_text_alone() -> None:
    text = (
        "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 5]\nruntime variables:\n"
        "rt0: a; (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 2]"
    )
    assert _run(text, text).kept == (0,)
    other = _run(text, text.replace("-> (rt0)", "-> (5 - rt0)"))
    assert other.kept == (0, 1) and len(other.apart) == 1 and not other.undecided
    unsure = _run(text, text.replace("-> (s0)", "-> (2 - s0)"))
    assert unsure.kept == (0, 1) and "range variables" in unsure.undecided[0][2]


def test_values_looked_up_through_other_values() -> None:
    def text(table: str, shift: int) -> str:
        return (
            f"(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]\nruntime variables:\n"
            f"rt0: {table}; (d0){{rt0}} -> (rt0 + {shift}), domain: d0 in [0, 3], rt0 in [0, 2]"
        )

    found = _run(text("a", 0), text("b", 0))
    assert found.kept == (0, 1) and len(found.apart) == 1


def test_a_wrong_claim_of_equality_is_refuted() -> None:
    """The inclusions that a dropped map owes fail for a map that is not equal."""
    found = deduplicate([parse_map(t) for t in SAME[0]])
    wrong = deduplicate([parse_map(t) for t in (SAME[0][0], APART[0][1])])
    assert all(prove(p.obligation).verdict == "proved" for p in found.parts())
    (apart,) = wrong.apart
    lie = Part(_negated(apart.part), lambda _: "")
    assert prove(lie.obligation).verdict == "refuted"


def _negated(part: Part):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    from verify.formula import Not

    return replace(part.obligation, conclusion=Not(part.obligation.conclusion))
