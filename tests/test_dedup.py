"""Deduplication of maps: what is one, what is not, and why."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from map_points import counted

from hloproof.claims.maps.compared_maps import ComparedMaps
from hloproof.claims.maps.dedup import MOST_UNDECIDED, Deduplicated, deduplicate
from hloproof.claims.maps.shared_readings import shared
from hloproof.claims.maps.shifting_maps import inclusion_by_readings
from hloproof.claims.statements.statement import Part
from hloproof.engines.portfolio import prove
from hloproof.logic.evaluate import holds
from hloproof.models.expressions.expr import Var
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map


def _run(*texts: str) -> Deduplicated:
    found = deduplicate([parse_map(t) for t in texts], containment=True)
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


NOTHING = (
    "(d0, d1) -> (d0, d1), domain: d0 in [0, -1], d1 in [0, 15]",
    "(d0, d1) -> (d1, d0)" + BOX + ", d0 mod 2 in [0, 0], (d0 + 1) mod 2 in [0, 0]",
    "(d0, d1)[s0] -> (d1, s0)" + BOX + ", s0 in [0, 9999], d0 * 10000 + s0 in [-9, -1]",
)


def test_all_empty_maps_are_one() -> None:
    assert _run(*NOTHING).kept == (0,)
    found = _run(*NOTHING, SAME[0][0], *SAME[0])
    assert found.kept == (3,) and [n for n, _ in found.empty] == [0, 1, 2]
    assert len([p for _, p in found.empty if p is not None]) == 2


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
        "(d0) -> (d0), domain: d0 in [0, 9]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [5, 9]",
        "(d0) -> (3), domain: d0 in [0, 9]",
    )
    assert [(c.map, c.within) for c in found.contained] == [(0, (1, 2)), (3, (1,))]


def reading(results: str, index: str, domain: str = "s0 in [0, 2]", provider: str = "a", held: str = "[0, 5]") -> str:
    """A map whose runtime variable reads an element that may depend on the range variable."""
    box = f"d0 in [0, 3], {domain}"
    return (
        f"(d0)[s0]{{rt0}} -> ({results}), domain: {box}, rt0 in {held}\nruntime variables:\n"
        f"rt0: {provider}; (d0)[s0] -> ({index}), domain: {box}"
    )


def agreeing(one: str, other: str, ranges: str = "s0") -> str:
    """What is read first where it is what is read second: an element each, written as provider and index."""
    box = f"d0 in [0, 3], {', '.join(f'{name} in [0, 3]' for name in ranges.split(', '))}"
    read = "".join(
        f"rt{n}: {provider}; (d0)[{ranges}] -> ({index}), domain: {box}\n"
        for n, (provider, index) in enumerate((one.split(), other.split()))
    )
    own = "rt0 in [0, 5], rt1 in [0, 5], rt0 - rt1 in [0, 0]"
    return f"(d0)[{ranges}]{{rt0, rt1}} -> (rt0), domain: {box}, {own}\nruntime variables:\n{read}"


SAME_READINGS = [
    (agreeing("a s0", "b s0"), agreeing("b s0", "a s0")),
    (agreeing("a s0", "b s1", "s0, s1"), agreeing("b s0", "a s1", "s0, s1")),
    (reading("rt0", "s0"), reading("rt0", "s0")),
    (reading("rt0", "s0"), reading("rt0", "2 - s0")),
    (reading("s0, rt0", "s0"), reading("2 - s0, rt0", "2 - s0")),
    (reading("s0, rt0", "s0"), reading("s0 - 1, rt0", "s0 - 1", "s0 in [1, 3]")),
    (reading("s0, rt0", "s0, d0"), reading("s0 / 2, rt0", "s0 / 2, d0", "s0 in [0, 5]")),
]
OTHER_READINGS = [
    (reading("rt0", "s0"), reading("5 - rt0", "s0")),
    (reading("rt0", "s0"), reading("rt0", "s0 + 1")),
    (reading("rt0", "s0"), reading("rt0", "s0 + d0")),
    (reading("rt0", "s0"), reading("rt0", "s0", provider="b")),
    (reading("rt0", "s0"), reading("rt0", "s0", "s0 in [0, 1]")),
    (reading("rt0", "s0"), reading("rt0", "s0", held="[0, 4]")),
    (reading("rt0", "s0"), reading("rt0", "0")),
    (reading("s0 + 1, rt0", "s0"), reading("s0, rt0", "s0", "s0 in [1, 3]")),  # element y - 1, element y
    (reading("s0, rt0", "s0"), reading("s0, rt0", "2 - s0")),
    (agreeing("a s0", "b 0"), agreeing("b s0", "a 0")),  # elements of two providers at one place
    (agreeing("a s0", "b s0"), agreeing("b s0", "a s1", "s0, s1")),
]


@pytest.mark.parametrize("texts", SAME_READINGS)
def test_elements_found_by_range_variables_are_the_same(texts: tuple[str, str]) -> None:
    found = _run(*texts)
    assert found.kept == (0,) and not found.undecided


@pytest.mark.parametrize("texts", OTHER_READINGS)
def test_elements_found_by_range_variables_are_told_apart(texts: tuple[str, str]) -> None:
    found = _run(*texts)
    assert found.kept == (0, 1) and len(found.apart) == 1 and not found.undecided


def test_a_wrong_inclusion_of_what_is_read_is_refuted() -> None:
    """Planted: maps whose readings differ, said to lie in each other."""
    for texts in OTHER_READINGS[:3]:
        view = ComparedMaps([parse_map(t) for t in texts], (0, 1), shared([parse_map(t) for t in texts]))
        (part,) = inclusion_by_readings(view, 0, (1,))
        assert prove(part.obligation).verdict == "refuted"


def test_a_witness_is_none_of_the_points_beyond_those_that_are_listed() -> None:
    """One relation, which is not shown: what the first points of the other lack, a later one has."""
    box = "s0 in [0, 499]"
    one = reading("s0 / 2, min(rt0, 5)", "s0", box, held="[0, 9]")
    found = _run(one, reading("(499 - s0) / 2, rt0", "499 - s0", box))
    assert found.kept == (0, 1) and not found.apart and len(found.undecided) == 1


def test_what_cannot_be_followed_stays_with_a_reason() -> None:
    text = (
        "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 5]\nruntime variables:\n"
        "rt0: a; (d0)[s0]{rt0} -> (SHIFT rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 5]\n"
    )
    first = parse_map(text.replace("SHIFT ", ""))
    (v,) = first.runtime
    assert v.index is not None
    inner = replace(v.index.runtime[0], provider="b", index=replace(v.index, results=(Var("s0"),), runtime=()))
    one = replace(first, runtime=(replace(v, index=replace(v.index, runtime=(inner,))),))
    shifted = replace(v.index, results=(Var("rt0") + 1,), runtime=(inner,))
    two = replace(first, runtime=(replace(v, index=shifted),))
    found = deduplicate([one, two])
    assert found.kept == (0, 1) and "run time" in found.undecided[0][2]


def test_after_some_pairs_that_nobody_decides_no_more_are_compared() -> None:
    texts = [f"(d0){{rt0}} -> (d0 * {k} + rt0), domain: d0 in [0, 3], rt0 in [0, 5]" for k in range(6)]
    found = deduplicate([parse_map(t) for t in texts])
    late = [reason.startswith("not compared") for _, _, reason in found.undecided]
    assert found.kept == tuple(range(6)) and late == [n >= MOST_UNDECIDED for n in range(15)]


def test_one_element_clamped_in_two_ways() -> None:
    def text(held: str, result: str) -> str:
        return (
            f"(d0){{rt0}} -> ({result}), domain: d0 in [0, 3], rt0 in {held}\nruntime variables:\n"
            "rt0: a; (d0) -> (d0), domain: d0 in [0, 3]"
        )

    assert _run(text("[0, 5]", "min(rt0, 3)"), text("[0, 3]", "rt0")).kept == (0,)
    assert _run(text("[0, 5]", "min(rt0, 3)"), text("[0, 4]", "rt0")).kept == (0, 1)
    # Where the one is cut to 1 from above the other is cut to 4 from below.
    low, high = text("[0, 1]", "0 * rt0"), text("[4, 6]", "max(4 - rt0, 0)")
    assert _run(low, high).kept == (0,)


def test_many_maps_are_told_apart_by_few_points() -> None:
    maps = [f"(d0) -> (d0 * {k} + {k % 7}), domain: d0 in [0, 9]" for k in range(100)]
    found = deduplicate([parse_map(t) for t in (*maps, maps[3], "(d0) -> (d0 + d0 + 2), domain: d0 in [0, 9]")])
    assert found.kept == tuple(range(100)) and not found.undecided
    assert [(s.dropped, s.kept) for s in found.same] == [(100, 3), (101, 2)]
    told = {(a, b) for x in found.apart for a in x.inside for b in x.outside}
    assert all((a, b) in told or (b, a) in told for a in range(100) for b in range(a))
    assert {prove(p.obligation).verdict for p in found.parts()} == {"proved"}


@st.composite
def reading_pairs(draw: st.DrawFn) -> tuple[IndexingMap, IndexingMap]:
    """Two small maps that read one table, the second often a disguise of the first."""

    def one() -> str:
        sums = [f"{draw(st.integers(0, 1))} * d0 + {draw(st.integers(-1, 1))} * s0 + {draw(st.integers(0, 2))}"]
        sums.append(f"{sums[0]} + rt0 * {draw(st.integers(0, 1))}")
        index = f"d0 * {draw(st.integers(0, 1))} + s0 * {draw(st.integers(-1, 1))} + {draw(st.integers(0, 1))}"
        low = draw(st.integers(0, 1))
        box = f"d0 in [0, 2], s0 in [{low}, {low + draw(st.integers(0, 2))}]"
        more = draw(st.sampled_from(["", ", d0 - rt0 in [0, 0]", ", d0 + s0 in [1, 3]"]))
        return (
            f"(d0)[s0]{{rt0}} -> ({draw(st.sampled_from(sums))}), domain: {box}, rt0 in [0, {draw(st.integers(1, 2))}]"
            f"{more}\nruntime variables:\nrt0: a; (d0)[s0] -> ({index}), domain: {box}"
        )

    first = one()
    second = draw(st.sampled_from([first, one()]))
    if draw(st.booleans()):
        second = second.replace("s0 *", "(0 - s0) *") if draw(st.booleans()) else second.replace("d0 - rt0", "rt0 - d0")
    return parse_map(first), parse_map(second)


@settings(max_examples=120, deadline=None)
@given(reading_pairs())
def test_random_readings_are_compared_as_all_contents_say(pair: tuple[IndexingMap, IndexingMap]) -> None:
    found = deduplicate(pair)
    assert all(holds(p.obligation.conclusion, dict(_point(p))) for a in found.apart for p in (a.part,))
    same = len(found.kept) == 1
    for contents in range(60):

        def read(name: str, at: tuple[int, ...], contents: int = contents) -> int:
            return Random(repr((contents, name, at))).randint(-1, 4)

        first, second = ({*counted([m], read)} for m in pair)
        assert not same or first == second
        if first != second:
            break
    else:
        assert same or found.apart or found.undecided


def _point(part: Part) -> list[tuple[str, int]]:
    return [(name, interval.lower) for name, interval in part.obligation.variables if interval is not None]


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

    from hloproof.logic.formula import Not

    return replace(part.obligation, conclusion=Not(part.obligation.conclusion))


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("0, 1", "d0, 0", (0, 1)),
        ("1, 0", "0, d0", (0, 1)),
        ("d0, d0 + 1", "d0 * 2, d0", (0, 1)),
        ("d0 + 1, d0 + 1", "1, d0", (0, 1)),
        ("d0, d0 + 1", "d0 * 2, 1", (0,)),
        ("d0 + 1, d0", "1, 0", (0,)),
    ],
)
def test_elements_are_one_where_all_coordinates_are(one: str, other: str, kept: tuple[int, ...]) -> None:
    read = "(d0){{rt0}} -> (rt0), domain: d0 in [0, 0], rt0 in [0, 5]\nruntime variables:\n"
    read += "rt0: a; (d0) -> ({}), domain: d0 in [0, 0]"
    assert deduplicate([parse_map(read.format(one)), parse_map(read.format(other))], containment=True).kept == kept
