"""Where two runtime variables read one element they hold one value, wherever a map is asked for one; where they read
two, or by what nobody names, they may hold two."""

from __future__ import annotations

import pytest
from claimed_in_modules import checked

import hloproof
from hloproof.claims.maps.dedup import deduplicate
from hloproof.claims.maps.defined import UndefinedMap
from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.statements.one_value import values_that_meet
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Var
from hloproof.models.maps.text import parse_map, print_map

ROW = "domain: d0 in [0, 3]"
BOX = "domain: d0 in [0, 3], d1 in [0, 3]"
VALUES = "rt0 in [0, 7], rt1 in [0, 7]"


def divided(one: str, other: str, dims: str = "d0", box: str = ROW) -> str:
    """A map with a value where both are not told to be one less than the other."""
    read = f"\nruntime variables:\nrt0: {one}\nrt1: {other}" if one else ""
    return f"({dims}){{rt0, rt1}} -> (7 / (1 + rt0 - rt1)), {box}, {VALUES}{read}"


def by(inner: str, provider: str = "q") -> str:
    """What is read of p where `inner` of another provider says."""
    named = f"; reading {{a = {provider}; (d0) -> ({inner}), {ROW}}}" if inner else ""
    return f"p; (d0){{a}} -> (a), {ROW}, a in [0, 3]{named}"


ONE = [
    divided(f"p; (d0) -> (d0), {ROW}", f"p; (d0) -> (d0), {ROW}"),
    divided(f"p; (d0) -> (d0 + 1), {ROW}", f"p; (d0) -> ((d0 * 2 + 2) / 2), {ROW}"),
    divided(f"p; (d0, d1) -> (d0, d1), {BOX}", f"p; (d0, d1) -> (d0 + d1 - d1, d1), {BOX}", "d0, d1", BOX),
    divided(by("d0"), by("d0")),
    divided(by("d0"), by("d0 * 2 / 2").replace("-> (a)", "-> (a + 0)")),
    divided(f"p; (d0) -> (6 / (d0 + 1)), {ROW}", f"p; (d0) -> (6 / (d0 + 1) + 0), {ROW}"),
]
TWO = {
    "of nobody": divided("", ""),
    "of two providers": divided(f"p; (d0) -> (d0), {ROW}", f"q; (d0) -> (d0), {ROW}"),
    "at one coordinate only": divided(
        f"p; (d0, d1) -> (d0, d1), {BOX}", f"p; (d0, d1) -> (d0, 0), {BOX}", "d0, d1", BOX
    ),
    "at the other only": divided(f"p; (d0, d1) -> (d0, d1), {BOX}", f"p; (d0, d1) -> (0, d1), {BOX}", "d0, d1", BOX),
    "of more coordinates": divided(f"p; (d0) -> (d0), {ROW}", f"p; (d0) -> (d0, 0), {ROW}"),
    "on another device": divided(f"p; (d0) -> (d0), {ROW}", f"p; (d0) -> (d0), {ROW}; replica id: (d0) -> (1), {ROW}"),
    "where a reading says, and at a number": divided(by("d0"), f"p; (d0) -> (0), {ROW}"),
    "where two readings say": divided(by("d0"), by("0")),
    "where readings of two say": divided(by("d0"), by("d0", "r")),
    "where nobody says": divided(by(""), by("")),
    "where nobody says, and somebody": divided(by(""), by("d0")),
}


@pytest.mark.parametrize("text", ONE)
def test_what_one_value_makes_defined_is_defined(text: str) -> None:
    assert rewrite(parse_map(text), parse_map(text)).verdict.value == "proved"


@pytest.mark.parametrize("text", TWO.values(), ids=TWO)
def test_what_two_values_make_undefined_is_not(text: str) -> None:
    with pytest.raises(UndefinedMap, match="1 \\+ rt0 - rt1 is 0 at "):
        rewrite(parse_map(text), parse_map(text))


@pytest.mark.parametrize("text", [*ONE, *TWO.values()])
def test_what_is_read_is_printed_as_it_is_read(text: str) -> None:
    assert parse_map(print_map(parse_map(text))) == parse_map(text)


@pytest.mark.parametrize("mode", [hloproof.equal, hloproof.included])
def test_what_is_never_asked_may_be_read_over_other_variables(mode) -> None:  # type: ignore[no-untyped-def]
    """It owes nothing, and of what it would hold nothing is said."""
    beside = f"(d0){{{{rt0, rt1}}}} -> ({{}}), {ROW}, {VALUES}\nruntime variables:\n" + (
        f"rt0: p; (d0, d1) -> (d1), {BOX}\nrt1: p; (d0) -> (d0), {ROW}"
    )
    found = mode(beside.format("7 / (d0 + 1)"), beside.format("7 / (1 + d0)"))
    assert found.verdict.value in ("proved", "unknown")
    same = rewrite(parse_map(beside.format("d0 * 2 / 2")), parse_map(beside.format("d0")))
    assert same.verdict.value in ("proved", "unknown")


CANCELLED = (
    "{0} 0 (d0){{rt0, rt1}} -> ({1}), domain: d0 in [0, 5], rt0 in [0, 4], rt1 in [0, 4]{2}\n    runtime variables:\n"
    "    rt0: {3}; (d0) -> (d0), domain: d0 in [0, 5]\n    rt1: {3}; (d0) -> ({4}), domain: d0 in [0, 5]"
)
COPY = "p = s32[6] parameter(0)\nROOT r = s32[6] copy(p)"


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("direction", ["output-to-input", "input-to-output"])
@pytest.mark.parametrize(
    ("result", "more", "element", "verdict"),
    [
        ("d0 + rt0 - rt1", "", "d0", "proved"),
        ("d0", ", rt0 - rt1 in [0, 0]", "d0", "proved"),
        ("d0 + rt0 - rt1 + 1", "", "d0", "refuted"),
        ("d0", ", rt0 - rt1 in [1, 4]", "d0", "unknown"),
        ("d0 + rt0 - rt1", "", "5 - d0", "refuted"),
    ],
)
def test_what_an_operation_does_not_read_is_one_value_at_one_element(
    result: str, more: str, element: str, verdict: str, direction: str, follow: bool
) -> None:
    provider = "parameter(0)" if follow else "operand(0)"
    claim = CANCELLED.format(direction, result, more, provider, element)
    found = checked(COPY, *(["follow"] if follow else []), claim).verdict.value
    # Followed, a map without points is told from one that has some; what a map does not give for a value that is read
    # beside the operation, another may give.
    assert found == ("refuted" if follow and verdict == "unknown" else verdict)


def test_an_element_over_other_variables_is_not_modelled() -> None:
    claim = CANCELLED.format("output-to-input", "d0", "", "operand(0)", "d0").replace(
        "rt1: operand(0); (d0) -> (d0), domain: d0 in [0, 5]",
        "rt1: operand(0); (d0, x) -> (x), domain: d0 in [0, 5], x in [0, 3]",
    )
    found = checked(COPY, claim).found
    assert found.verdict.value == "unknown" and "other dims or range variables" in (found.reason or "")


@pytest.mark.parametrize(("first", "second"), [("d0", "5 - d0"), ("(d0 * 2) floordiv 2", "d0"), ("0", "d0")])
@pytest.mark.parametrize("direction", ["output-to-input", "input-to-output"])
def test_a_map_that_meets_itself_stays_in_bounds(first: str, second: str, direction: str) -> None:
    """What is read is asked over the variables of the map, in both directions."""
    claim = CANCELLED.format(direction, "d0", "", "operand(0)", second).replace(
        "-> (d0), domain: d0 in [0, 5]\n    rt1", f"-> ({first}), domain: d0 in [0, 5]\n    rt1"
    )
    assert checked(COPY, claim).verdict.value == "proved"


ELSEWHERE = f"(d0){{a}} -> (), {ROW}, a in [0, 1]; replica id: (d0){{a}} -> (a), {ROW}, a in [0, 1]"


def cancelled(provider: str, index: str) -> str:
    read = f"\nruntime variables:\nrt0: {provider}; {index}\nrt1: {provider}; {index}"
    return f"(d0){{rt0, rt1}} -> (d0 + rt0 - rt1), {ROW}, rt0 in [0, 1], rt1 in [0, 1]{read}"


@pytest.mark.parametrize(
    ("provider", "index"), [("reader", ELSEWHERE), ("p", ELSEWHERE), ("p", f"(d0){{a}} -> (a), {ROW}, a in [0, 3]")]
)
def test_what_is_read_where_nobody_says_may_be_two_values(provider: str, index: str) -> None:
    same, one = f"(d0) -> (d0), {ROW}", cancelled(provider, index)
    assert {hloproof.included(*pair).verdict.value for pair in ((one, same), (same, one))} == {"unknown"}
    found = deduplicate([parse_map(t) for t in (one, same)], devices=2)
    assert found.kept == (0, 1) and not found.same and found.undecided


def test_nor_is_one_of_two_that_say_it() -> None:
    """One of the maps alone reads by what nobody names."""
    one = cancelled("p", f"(d0){{a}} -> (a), {ROW}, a in [0, 3]")
    two = cancelled("p", f"(d0){{a}} -> (a), {ROW}, a in [0, 3]; reading {{a = q; (d0) -> (d0), {ROW}}}")
    assert hloproof.included(one, two).verdict.value == hloproof.included(two, one).verdict.value == "unknown"


GUARDED = (
    "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [1, 9], 7 / (d0 - d1) in [1, 7]",
    "(d0, d1) -> (7 / d0), domain: d0 in [0, 9], d1 in [0, 9], d0 mod (d1 + 1) in [1, 9]",
    "(d0) -> (7 / d0), domain: d0 in [0, 9], d0 mod (d0 + 1) in [1, 9]",
    "(d0) -> (7 / d0), domain: d0 in [0, 9], 20 / d0 in [2, 20], d0 in [1, 9]",
)


@pytest.mark.parametrize("text", GUARDED)
def test_what_gives_a_constraint_its_value_is_not_left_out(text: str) -> None:
    """A constraint that divides has its value by another one, which follows from it: `simplify` dropped that one, and
    its own result was refuted."""
    assert hloproof.simplify(text).verdict.value == "proved"
    assert rewrite(parse_map(text), parse_map(text)).verdict.value == "proved"


def test_steps_to_another_device_are_said_once() -> None:
    read = f"(d0){{rt0}} -> (rt0), {ROW}, rt0 in [0, 7]\nruntime variables:\nrt0: p; (d0) -> (d0), {ROW}"
    step = f"; replica id: (d0) -> ({{}}), {ROW}"
    assert parse_map(read + step.format(0)).runtime[0].index is not None
    with pytest.raises(InputError, match="found 'replica'"):
        parse_map(read + step.format(0) + step.format(1))


@pytest.mark.parametrize("names", ["b, d0", "rt0, d0", "rt1, d1", "b_, b"])
def test_names_of_a_map_inside_are_no_names_of_the_map_around(names: str) -> None:
    text = (
        f"({names}){{r}} -> (r), domain: "
        + "".join(f"{n} in [0, 3], " for n in names.split(", "))
        + (
            "r in [0, 3]\nruntime variables:\nr: p; (x, y){b, rt1} -> (b + rt1), domain: x in [0, 3], y in [0, 3], "
            "b in [0, 3], rt1 in [0, 0]; reading {b = q; (x, y) -> (x), domain: x in [0, 3], y in [0, 3], "
            "rt1 = q; (x, y) -> (y), domain: x in [0, 3], y in [0, 3]}"
        )
    )
    m = parse_map(text)
    again = parse_map(print_map(m))
    assert print_map(again) == print_map(m)
    index = again.runtime[0].index
    assert index is not None and [v.index.results[0] for v in index.runtime if v.index] == [Var("d0"), Var("d1")]


def test_nothing_stands_alone() -> None:
    whole = "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 5]"
    for both in (
        ("output-to-input 0 nothing", whole),
        (whole, "output-to-input 0 nothing"),
        ("output-to-input 0 nothing",) * 2,
    ):
        with pytest.raises(InputError, match="`nothing` is all that is said of output-to-input 0"):
            checked(COPY, *both)


def one_operation(lines: str, map_: str, *read: str, more: str = "") -> str:
    """The verdict of a map of the root, whose variables rt0.. read these elements."""
    dims = f"domain: d0 in [0, {1 if 's32[2]' in lines else 5}]"
    values = "".join(f", rt{k} in [0, 4]" for k in range(len(read)))
    named = "".join(f"\n    rt{k}: {r}, {dims}" for k, r in enumerate(read))
    claims = [
        f"output-to-input 0 (d0){{{', '.join(f'rt{k}' for k in range(len(read)))}}} -> ({map_}), {dims}{values}{also}"
        f"\n    runtime variables:{named}"
        for also in more.split("|")
    ]
    return checked(lines, *claims).verdict.value


TWICE = "p = s32[6] parameter(0)\nROOT r = s32[6] add(p, p)"
FIXED = "p = s32[6] constant({3,3,3,3,3,3})\nROOT r = s32[6] copy(p)"
SLICED = "p = s32[6] parameter(0)\ni = s32[] parameter(1)\nROOT r = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}"
COPIED = "p = s32[6] parameter(0)\nc = s32[6] copy(p)\nROOT r = s32[6] add(p, c)"
BOTH = "p = s32[6] parameter(0)\nc = s32[6] parameter(1)\nROOT r = s32[6] add(p, c)"
OWN, OWN_AGAIN = "p; (d0) -> (d0)", "operand(1); (d0) -> (d0)"


@pytest.mark.parametrize(
    ("lines", "result", "read", "more", "verdict"),
    [
        # One array under two numbers, and contents that are known: the difference is one of contents that cannot be.
        (TWICE, "d0 + rt0 - rt1", (OWN, OWN), "", "unknown"),
        (TWICE, "d0 + rt0 - rt1", ("operand(0); (d0) -> (d0)", OWN_AGAIN), "", "unknown"),
        (TWICE, "d0 / (1 + rt0 - rt1)", (OWN, OWN), "", "unknown"),
        (FIXED, "d0 + rt0 - 3", (OWN,), "", "unknown"),
        (COPIED, "d0 + rt0 - rt1", ("operand(0); (d0) -> (d0)", OWN_AGAIN), "", "unknown"),
        (BOTH, "d0 + rt0 - rt1", ("operand(0); (d0) -> (d0)", OWN_AGAIN), "", "refuted"),
        # By turns, as what is read beside the operation says.
        (COPY, "d0", (OWN,), ", rt0 * 2 in [0, 5]|, rt0 * 2 in [6, 8]", "unknown"),
        (SLICED, "d0 + rt0", ("i; (d0) -> ()",), ", rt0 * 2 in [0, 5]|, rt0 * 2 in [6, 8]", "proved"),
        (SLICED, "d0 + rt0", ("i; (d0) -> ()",), ", rt0 * 2 in [0, 5]|, rt0 * 2 in [7, 8]", "refuted"),
        # What strays for some contents is refuted.
        (COPY, "d0 + rt0", (OWN,), ", d0 + rt0 in [0, 5]", "refuted"),
        (COPY, "(d0 + rt0 - rt1) mod 6", (OWN, "p; (d0) -> (5 - d0)"), "", "refuted"),
        (COPY, "(d0 + rt0 - rt1) mod 6", (OWN, "p; (d0) -> (d0 * (d0 + 1) / (d0 + 1))"), "", "unknown"),
    ],
)
def test_what_is_read_beside_an_operation_refutes_for_some_contents(
    lines: str, result: str, read: tuple[str, ...], more: str, verdict: str
) -> None:
    assert one_operation(lines, result, *read, more=more) == verdict


def test_the_own_place_is_one_that_there_is() -> None:
    """Asked for its values over places that no device has, a right map was refuted."""
    step = (
        "\n    runtime variables:\n    rt0: reader\n    replica id:\n    (d0){{rt0}} -> (1 - rt0), {0}, rt0 in [0, 5]"
    )
    one, other = ("domain: d0 in [0, 0]", "domain: d0 in [1, 1]")
    claims = [
        f"output-to-input 0 (d0){{rt0}} -> ({result}), {at}, rt0 in [0, 5]" + step.format(at)
        for result, at in (("2 * d0 / (2 - rt0) / (1 + rt0)", one), ("d0", other))
    ]
    swapped = "p = s32[2] parameter(0)\nROOT r = s32[2] collective-permute(p), source_target_pairs={{0,1},{1,0}}"
    assert checked(swapped, *claims, header="HloModule m, replica_count=2").verdict.value == "proved"


@pytest.mark.parametrize("which", ["of nobody", "of two providers", "of more coordinates", "on another device"])
def test_of_values_that_never_meet_nothing_is_said(which: str) -> None:
    assert values_that_meet(parse_map(TWO[which])) == ()
    assert len(values_that_meet(parse_map(ONE[0]))) == 1
