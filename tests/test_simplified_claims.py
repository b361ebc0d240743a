"""What a simplification on the way through a fusion owes: proved when right, refuted when planted wrong."""

from __future__ import annotations

import re

import pytest

from hloproof.claims.maps.points_apart import pointwise_difference
from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.maps.simplified import simplified
from hloproof.claims.operations.simplified import same_points
from hloproof.engines.portfolio import prove
from hloproof.models.errors import InputError
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.maps.variables import remove_unused_symbols
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
        (THREE.replace("(rt1)", "(rt2)") + LIST + read("b", 1), THREE.replace("(rt1)", "(rt2)") + LIST + read("b", 1)),
    ],
)
def test_a_variable_without_a_provider_stays_in_its_place(before: str, after: str) -> None:
    """Nothing else says which value it is: what came behind one that was left out was refuted."""
    result = simplified(parse_map(before), remove_unused=True)
    assert print_map(result.map) == print_map(parse_map(after))
    assert result.found.verdict is Verdict.PROVED


INSIDE = "; (d0){rt0, rt1} -> (rt1), domain: d0 in [0, 1], rt0 in [0, 1], rt1 in [0, 1]"
"""Of the two variables that are read by the second alone says which element is read."""


@pytest.mark.parametrize(
    "inside", [INSIDE, f"{INSIDE}; reading {{rt0 = a}}", f"{INSIDE}; reading {{rt0 = a, rt1 = c{INSIDE}}}"]
)
def test_a_variable_that_is_read_by_one_without_a_provider_stays_in_its_place(inside: str) -> None:
    """The other's place begins with its own: what stood behind one that was left out was refuted."""
    before = f"{TWO}{LIST}{read('a', 0)}\nrt1: b{inside}"
    result = simplified(parse_map(before), remove_unused=True)
    assert print_map(result.map) == print_map(parse_map(before))
    assert result.found.verdict is Verdict.PROVED


def test_a_variable_that_is_read_by_others_with_providers_is_known_by_these() -> None:
    known = f"{INSIDE}; reading {{rt0 = a, rt1 = c{INSIDE}; reading {{rt0 = a, rt1 = c}}}}"
    for before in (f"{THREE.replace('(rt1)', '(rt2)')}{LIST}\nrt2: b{known}", f"{TWO}{LIST}\nrt1: b{known}"):
        result = simplified(parse_map(before), remove_unused=True)
        assert print_map(result.map) == print_map(parse_map(f"{ONE}{LIST}\nrt0: b{known}"))
        assert result.found.verdict is Verdict.PROVED


def test_what_a_constraint_on_steps_mentions_stays() -> None:
    box = "domain: d0 in [0, 1], s0 in [0, 1]"
    before = f"(d0)[s0] -> (d0), {box}\nreplica id:\n(d0)[s0] -> (0), {box}, d0 - s0 in [0, 0]"
    result = simplified(parse_map(before), remove_unused=True)
    assert len(result.map.ranges) == 1
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "inside",
    [
        "(d0)[s0] -> (s0), {}",
        "(d0)[s0] -> (d0), {}; replica id: (d0)[s0] -> (s0), {}",
        "(d0)[s0]{{rt0}} -> (rt0), {}, rt0 in [0, 1]; reading {{rt0 = c; (d0)[s0] -> (s0), {}}}",
        "(d0)[s0]{{rt0}} -> (rt0), {}, rt0 in [0, 1]; reading {{rt0 = c; (d0)[s0] -> (d0), {}}}",
    ],
)
def test_range_variables_that_what_is_read_mentions_stay(inside: str) -> None:
    """Also those of what is read in turn, and of the device that reads; what nothing mentions goes from all maps."""

    def through(ranges: str) -> str:
        box = "domain: d0 in [0, 1], " + ", ".join(f"{s} in [0, 1]" for s in ranges.split(", "))
        maps = f"(d0)[s0]{{rt0}} -> (rt0), {box}, rt0 in [0, 2]{LIST}\nrt0: a; {inside.format(box, box)}"
        return maps.replace("[s0]", f"[{ranges}]")

    mentioned = inside.count("s0") > inside.count("[s0]")
    result = simplified(parse_map(through("s0, s1")), remove_unused=True)
    alone = print_map(parse_map(through("s0")))
    if mentioned:
        assert print_map(result.map) == alone
    else:
        assert print_map(result.map) == alone.replace("[s0]", "").replace(", s0 in [0, 1]", "")
        assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize("position", ["rt1", "d0"])
def test_what_is_left_out_of_a_map_is_left_out_of_its_steps_between_devices(position: str) -> None:
    """A runtime variable stayed in them, and what followed it had another number there than in the map."""
    variables = "(d0){rt0, rt1} -> (%s), domain: d0 in [0, 1], rt0 in [0, 2], rt1 in [0, 1]"
    before = f"{variables % 'd0'}{LIST}{read('a', 0)}\nrt1: reader\nreplica id:\n{variables % position}"
    result = simplified(parse_map(before), remove_unused=True)
    box = "(d0){rt0} -> (%s), domain: d0 in [0, 1], rt0 in [0, 1]"
    after = f"{box % 'd0'}{LIST}\nrt0: reader\nreplica id:\n{box % 'rt0'}"
    if position == "d0":
        after = "(d0) -> (d0), domain: d0 in [0, 1]\nreplica id:\n(d0) -> (d0), domain: d0 in [0, 1]"
    assert print_map(result.map) == print_map(parse_map(after))
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "text",
    [
        "(d0)[s0] -> (0), domain: d0 in [0, 3], s0 in [0, 1], d0 - s0 * 2 in [0, 0]",
        "(d0)[s0, s1] -> (d0), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1], d0 + s0 + s1 in [1, 2]",
    ],
)
def test_a_constraint_on_a_dim_stays_with_what_it_mentions(text: str) -> None:
    result = simplified(parse_map(text), remove_unused=True)
    assert len(result.map.ranges) == text.count("s") // 3
    assert result.found.verdict is Verdict.PROVED


def test_steps_between_devices_are_rescaled_with_the_map() -> None:
    box = "domain: d0 in [0, 1], s0 in [0, 3]"
    before = f"(d0)[s0] -> (d0), {box}, s0 mod 2 in [1, 1]\nreplica id:\n(d0)[s0] -> (s0), {box}"
    result = simplified(parse_map(before), rescale=True)
    assert result.map.replica is not None
    assert print_map(result.map.replica) == "(d0)[s0] -> (s0 * 2 + 1), domain: d0 in [0, 1], s0 in [0, 1]"
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize("steps", ["s0 in [0, 3], s0 * 2 in [1, 6]", "s0 in [1, 3]", "s0 in [0, 3]"])
def test_where_steps_between_devices_lead_nowhere_nothing_is_divided(steps: str) -> None:
    """Simplified, what they ask is a narrower interval, which was not looked at: a right result was refuted."""
    text = "(d0)[s0] -> (d0 / s0), domain: d0 in [0, 7], s0 in [0, 3]\n"
    text += "replica id: (d0)[s0] -> (s0), domain: d0 in [0, 7], {}"
    before, after = parse_map(text.format("s0 in [0, 3], s0 in [1, 9]")), parse_map(text.format(steps))
    if steps == "s0 in [0, 3]":
        assert rewrite(before, after).verdict is Verdict.REFUTED
        with pytest.raises(InputError, match="division by zero possible: s0 is 0"):
            simplified(after)
        return
    assert rewrite(before, after).verdict is rewrite(after, before).verdict is Verdict.PROVED
    result = simplified(after)
    assert result.map == parse_map(text.format("s0 in [1, 3]")) and result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(("said", "names"), [("", ("rt0", "rt1")), (LIST + read("a", 0) + read("b", 1), ("a", "b"))])
def test_a_point_at_which_two_maps_differ_tells_of_each_value_what_it_is(said: str, names: tuple[str, str]) -> None:
    told = pointwise_difference(parse_map(TWO.replace("(rt1)", "(rt0)") + said), parse_map(TWO + said))
    assert told is not None
    values = dict(re.findall(r"(\w+)(?:\[\d\])? = (\d)", told))
    assert f": before gives ({values[names[0]]}), after gives ({values[names[1]]})" in told


def test_what_is_read_at_such_a_point_is_told_with_all_of_its_place() -> None:
    box = "domain: d0 in [0, 1]"
    one = f"(d0){{rt0}} -> (rt0), {box}, rt0 in [0, 2]{LIST}\nrt0: a; (d0) -> (d0, d0 + 5), {box}"
    told = pointwise_difference(parse_map(one), parse_map(one.replace("-> (rt0)", "-> (rt0 + 1)")))
    assert re.fullmatch(r"d0 = (\d), a\[\1, (5|6)\] = (\d): before gives \(\3\), after gives \(\d\)", told or "")


def test_counterexamples_are_told() -> None:
    before, after = parse_map(CASES[3][0]), parse_map(CASES[3][1])
    told = [
        p.describe(dict(outcome.model))
        for p in same_points(before, after)
        if (outcome := prove(p.obligation)).verdict == "refuted"
    ]
    assert any("and now gives" in text for text in told)


THIRD = "(d0){rt0, rt1, rt2} -> (rt2), domain: d0 in [0, 1], rt0 in [0, 2], rt1 in [0, 1], rt2 in [0, 1]"
STEPS = "\nreplica id:\n"
PART = "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 1], rt0 in [0, 2], rt1 in [0, 1]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"{THIRD}{LIST}{read('a', 0)}{read('b', 1)}{read('c', 2)}{STEPS}{PART}",
            f"{TWO.replace('rt0 in [0, 2], rt1 in [0, 2]', 'rt0 in [0, 1], rt1 in [0, 1]')}{LIST}{read('b', 0)}"
            f"{read('c', 1)}{STEPS}(d0){{rt0}} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 1]",
        ),
        (
            "(d0)[s0, s1, s2] -> (s2), domain: d0 in [0, 1], s0 in [0, 1], s1 in [0, 1], s2 in [0, 1]"
            f"{STEPS}(d0)[s0, s1] -> (s1), domain: d0 in [0, 1], s0 in [0, 1], s1 in [0, 1]",
            "(d0)[s0, s1] -> (s1), domain: d0 in [0, 1], s0 in [0, 1], s1 in [0, 1]"
            f"{STEPS}(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]",
        ),
    ],
)
def test_steps_between_devices_have_perhaps_not_all_variables_of_the_map(before: str, after: str) -> None:
    """What followed one that was left out had its old number in them, which was another variable of the map."""
    result = simplified(parse_map(before), remove_unused=True)
    assert print_map(result.map) == print_map(parse_map(after))
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("variables", "own", "steps", "stays"),
    [
        ("{rt0}", "rt0 in [0, 2]", "rt0 in [0, 1]", True),
        ("{rt0}", "rt0 in [0, 1]", "rt0 in [0, 2]", False),
        ("[s0]", "s0 in [0, 2]", "s0 in [3, 4]", True),
        ("[s0]", "s0 in [0, 1], s0 mod 2 in [1, 1]", "s0 in [0, 0]", True),
        ("[s0]", "s0 in [0, 1]", "s0 in [0, 1]", False),
    ],
)
def test_a_narrower_interval_of_steps_is_asked_of_the_variable(
    variables: str, own: str, steps: str, stays: bool
) -> None:
    head = f"(d0){variables} -> (d0), domain: d0 in [0, 1], "
    result = simplified(parse_map(head + own + STEPS + head + steps), remove_unused=True)
    assert bool(result.map.ranges or result.map.runtime or result.map.is_trivially_empty) is stays
    assert result.found.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("steps", "after"),
    [("[0, 1]", "[0, 0]"), ("[1, 2]", "[0, 0]"), ("[2, 3]", "[1, 1]"), ("[0, 3]", "[0, 1]"), ("[0, 5]", "[0, 2]")],
)
def test_a_narrower_interval_of_steps_is_rescaled_by_itself(steps: str, after: str) -> None:
    """It was that of the map afterwards, which has more points."""
    head = "(d0)[s0] -> (d0), domain: d0 in [0, 1], "
    before = f"{head}s0 in [0, 3], s0 mod 2 in [1, 1]{STEPS}(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in {steps}"
    result = simplified(parse_map(before), rescale=True)
    assert result.map.replica is not None
    assert str(result.map.ranges[0].interval) == "[0, 1]" and str(result.map.replica.ranges[0].interval) == after
    assert result.found.verdict is Verdict.PROVED


def test_the_map_of_what_is_read_is_rescaled_with_its_map() -> None:
    """Over the old interval it would have no point where the new one begins lower, and nothing would be read there."""
    box = "domain: d0 in [0, 1], s0 in [2, 5]"
    read = f"(d0)[s0]{{rt0}} -> (rt0), {box}, rt0 in [0, 9]; reading {{rt0 = b; (d0)[s0] -> (s0), {box}}}"
    before = f"(d0)[s0]{{rt0}} -> (s0, rt0), {box}, rt0 in [0, 9], s0 mod 2 in [1, 1]{LIST}\nrt0: a; {read}"
    result = simplified(parse_map(before), rescale=True)
    assert print_map(result.map).count("s0 in [1, 2]") == 3
    assert result.found.verdict is Verdict.PROVED


def test_a_variable_that_only_a_constraint_of_what_is_read_mentions_stays_while_it_does() -> None:
    """Left out of the map alone, the map of what is read would speak of a variable that is none of its."""
    before = """(d0)[s0]{rt0} -> (d0 + rt0), domain: d0 in [0, 2], s0 in [0, 3], rt0 in [0, 5]
runtime variables: rt0: parameter(0); (d0)[s0] -> (d0), domain: d0 in [0, 2], s0 in [0, 3], d0 + s0 in [0, 5]"""
    kept = remove_unused_symbols(parse_map(before))
    assert len(kept.ranges) == 1 and kept == parse_map(before)
    assert len(remove_unused_symbols(parse_map(before.replace(", d0 + s0 in [0, 5]", ""))).ranges) == 0
