"""What maps read at run time, and on which device: when two readings are one value, and what nobody follows.

Made-up contents tell most wrong maps apart before anything is stated. What is read by way of another reading or on
another device is not tried at all, and large domains nearly never: here the statements alone decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from hloproof.claims.maps import dedup as deduplicating
from hloproof.claims.maps import rewrite as rewriting
from hloproof.claims.maps.dedup import deduplicate
from hloproof.claims.maps.equality import same_relation, stated_twice
from hloproof.claims.maps.own_place import comparable, with_own_place
from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.maps.two_readings import under_both
from hloproof.claims.statements.one_value import one_value
from hloproof.claims.statements.relation import piece_of
from hloproof.engines.door import How
from hloproof.engines.portfolio import prove
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import FALSE, TRUE, conj
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.errors import InputError
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import READER, IndexingMap, RuntimeVariable, rt
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.specs.maps import Equality
from hloproof.results.verdict import Found, Verdict

BOX = "domain: d0 in [0, 3], s0 in [0, 3]"


def over(results: str, *read: RuntimeVariable, domain: str = BOX) -> IndexingMap:
    """A map over d0, s0 and these readings, rt0 the first."""
    names = ", ".join(f"rt{k}" for k in range(len(read)))
    own = "".join(f", rt{k} in [{v.interval.lower}, {v.interval.upper}]" for k, v in enumerate(read))
    return replace(parse_map(f"(d0)[s0]{{{names}}} -> ({results}), {domain}{own}"), runtime=tuple(read))


def on(steps: str, m: IndexingMap) -> IndexingMap:
    """The map, on the device at a position; steps with a domain of their own, or those of the box."""
    return replace(
        m, replica=parse_map(f"(d0)[s0] -> {steps}" if "domain" in steps else f"(d0)[s0] -> ({steps}), {BOX}")
    )


def at(
    index: str, provider: str = "P", low: int = 0, high: int = 9, device: str = "", by: Sequence[RuntimeVariable] = ()
) -> RuntimeVariable:
    """`provider[index]` cut to [low, high], on another device where one is named; the index may be `by` others."""
    found = over(index, *by)
    return RuntimeVariable(Interval(low, high), provider=provider, index=on(device, found) if device else found)


Q = (at("d0", "Q"),)
"""What an index is taken from: no contents are tried where it is."""
NOWHERE = RuntimeVariable(Interval(0, 9))
"""Nothing says what it reads."""
APART = (at("rt0", high=3, by=Q), at("rt0 + 0 * s0", low=5, by=Q))
"""The same element, cut to [0, 3] and to [5, 9]."""
MEETING = (at("rt0", high=3, by=Q), at("rt0 + 0 * s0", low=2, by=Q))
"""The same element, cut to [0, 3] and to [2, 9]."""
OF_TWO = (at("rt0", by=Q), at("rt0", "R", by=Q))
ELSEWHERE = (at("d0", device="1"), at("d0", device="0"))
BOTH = (at("d0"), at("d0", device="0"))
SHIFTED = (at("s0"), at("rt0", by=(at("s0", "Q"),)))
MODES: tuple[Equality, ...] = ("pointwise", "relational")
NO, YES, OPEN = "refuted", "proved", "unknown"

READ: list[tuple[str, IndexingMap, IndexingMap, str, str, bool]] = [
    ("an element and that of another device", over("rt0", *BOTH), over("rt1", *BOTH), OPEN, OPEN, False),
    ("those of two devices",
        over("rt0", *ELSEWHERE), over("rt1", *ELSEWHERE), OPEN, OPEN, False),
    ("one device, written in two ways",
        over("rt0", at("d0", device="d0 mod 2")), over("rt0", at("d0", device="d0 - (d0 floordiv 2) * 2")),
        OPEN, OPEN, False),
    ("one device", over("rt0", at("d0", device="1")), over("rt0 + 0 * d0", at("d0", device="1")), YES, YES, True),
    ("an index cut in two ways", over("rt0", at("rt0", by=[at("d0", "Q", high=3)])), over("rt0", at("rt0", by=Q)),
        NO, NO, False),
    ("an index cut in one way", over("rt0", at("rt0", by=Q)), over("rt0 + 0", at("rt0", by=Q)), YES, YES, True),
    ("a shift by what is read by way of another", over("rt0 + s0", SHIFTED[1]), over("rt0 + 3 - s0", SHIFTED[1]),
        NO, OPEN, False),
    ("two cuts that do not meet: one is at its end",
        over("(rt0 - 3) * (rt1 - 5)", *APART), over("0 * rt0 * rt1", *APART), YES, OPEN, True),
    ("... the lower", over("rt0", *APART), over("3 + 0 * rt1", *APART), NO, NO, False),
    ("... the higher", over("rt1", *APART), over("5 + 0 * rt0", *APART), NO, NO, False),
    ("two cuts agree where both let through",
        over("max(rt0, 2)", *MEETING), over("min(rt1, 3)", *MEETING), YES, OPEN, True),
    ("... not below", over("rt0", *MEETING), over("min(rt1, 3)", *MEETING), NO, NO, False),
    ("... not above", over("rt1", *MEETING), over("min(rt1, 3) + 0 * rt0", *MEETING), NO, NO, False),
    ("two providers", over("rt0", *OF_TWO), over("rt1", *OF_TWO), NO, NO, False),
    ("unnamed at two places", over("rt0", at("rt0", by=[NOWHERE]), at("rt0", by=[NOWHERE])),
        over("rt1", at("rt0", by=[NOWHERE]), at("rt0", by=[NOWHERE])), NO, NO, False),
    ("two that shift, one by way of another", over("rt0 + rt1", *SHIFTED), over("rt1 + rt0", *SHIFTED[::-1]),
        YES, OPEN, False),
    ("cuts of what shifts", over("rt0 + s0", at("s0", high=50)), over("rt0 + s0", at("s0", high=60)), NO, NO, False),
    ("cuts of what shifts, where they cancel",
        over("rt0 - rt1", at("s0", high=50), at("3 - s0", high=50)),
        over("rt0 - rt1", at("s0", high=60), at("3 - s0", high=60)), NO, OPEN, False),
    ("what shifts, turned", over("rt0", at("s0")), over("rt0", at("3 - s0")), NO, YES, True),
    ("what shifts, turned, beside an element of another device",
        over("rt0 + rt1", at("s0"), at("d0", device="0")), over("rt0 + rt1", at("3 - s0"), at("d0", device="0")),
        OPEN, YES, True),
    ("... and beside that of one more",
        over("rt0 + rt1", at("s0"), at("d0", device="0")), over("rt0 + rt1", at("3 - s0"), at("d0", device="1")),
        OPEN, OPEN, False),
    ("what shifts on another device", over("rt0", at("s0", device="0")), over("rt0", at("3 - s0")), OPEN, OPEN, False),
    ("what shifts by way of another, turned",
        over("rt0", SHIFTED[1]), over("rt0", at("rt0", by=[at("3 - s0", "Q")])), NO, OPEN, False),
    ("one element of the devices that a shift goes through",
        over("rt0 + s0", at("d0", device="s0")), over("rt0 + 3 - s0", at("d0", device="s0")), NO, OPEN, False),
    ("by way of another device, told in two ways",
        over("rt0", at("rt0", by=[at("d0", "Q", device="d0 / 1")])),
        over("rt0", at("rt0", by=[at("d0", "Q", device="d0")])),
        OPEN, OPEN, False),
    ("... behind one that is here",
        over("rt0", at("rt0", by=[at("rt0", "R", by=[at("d0", "Q", device="d0 / 1")])])),
        over("rt0", at("rt0", by=[at("rt0", "R", by=[at("d0", "Q", device="d0")])])),
        OPEN, OPEN, False),
    ("... in one way", over("rt0", at("rt0", by=[at("d0", "Q", device="d0")])),
        over("rt0 + 0", at("rt0", by=[at("d0", "Q", device="d0")])), YES, YES, True),
    ("... which differ whatever is read", over("rt0", at("rt0", by=[at("d0", "Q", device="d0")])),
        over("rt0 + 1", at("rt0", by=[at("d0", "Q", device="d0")])), NO, NO, False),
    ("what shifts, and one of that", over("rt0", at("d0")), over("rt0", at("s0")), NO, NO, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "pointwise", "relational", "alike"), [r[1:] for r in READ], ids=[r[0] for r in READ]
)
def test_two_readings_are_one_value_or_nobody_knows(
    one: IndexingMap, two: IndexingMap, pointwise: str, relational: str, alike: bool
) -> None:
    for before, after in ((one, two), (two, one)):
        assert rewrite(before, after, "pointwise").verdict.value == pointwise
        assert rewrite(before, after, "relational").verdict.value == relational
    found = deduplicate([one, two])
    assert (len(found.kept) == 1) is (alike and relational == YES)
    assert not found.apart or relational == NO


def test_two_cuts_of_one_value_are_known_exactly() -> None:
    """Of values cut into two intervals that overlap, touch, lie in each other or are apart: whether they may be one."""
    intervals = [Interval(low, high) for low in range(5) for high in range(low, 5)]
    for one, two in product(intervals, intervals):
        found = {(min(max(x, one.lower), one.upper), min(max(x, two.lower), two.upper)) for x in range(-1, 6)}
        said = one_value("a", "b", one, two)
        for a, b in product(range(one.lower, one.upper + 1), range(two.lower, two.upper + 1)):
            assert holds(said, {"a": a, "b": b}) is ((a, b) in found), (one, two, a, b)


TOUCHING = (
    "(d0){rt0, rt1} -> (RESULT), domain: d0 in [0, 3], rt0 in [0, 5], rt1 in [5, 10]\nruntime variables:\n"
    "rt0: parameter(1); (d0) -> (d0), domain: d0 in [0, 3]\n"
    "rt1: parameter(1); (d0) -> (max(d0, 0)), domain: d0 in [0, 3]"
)


@pytest.mark.parametrize(("result", "holds_always"), [("min(rt0 - rt1 + 5, 0)", True), ("min(rt0 - rt1, 0)", False)])
def test_one_value_cut_into_intervals_that_touch(result: str, holds_always: bool) -> None:
    """Whatever is read, one of the two is 5; that they were 0 and 6 was told as a difference."""
    one, two = (parse_map(TOUCHING.replace("RESULT", r)) for r in (result, "0 * rt0 + 0 * rt1"))
    for mode in ("pointwise", "relational"):
        assert rewrite(one, two, mode).verdict.value == (YES if holds_always else NO)


PROVIDED = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, HIGH]MORE\nruntime variables:\n"


@pytest.mark.parametrize("provider", ["?0", "?", "??0"])
def test_whatever_a_provider_is_called_it_is_read_and_cut(provider: str) -> None:
    """As the names are that stand for no provider: an interval is no domain for it."""
    read = f"{PROVIDED}rt0: {provider}; (d0) -> (d0), domain: d0 in [0, 3]"
    wide, narrow = read.replace("HIGH", "5").replace("MORE", ", rt0 + 0 in [0, 3]"), read.replace("HIGH", "3")
    one, two = parse_map(wide), parse_map(narrow.replace("MORE", ""))
    for mode in ("pointwise", "relational"):
        assert rewrite(one, two, mode).verdict is Verdict.REFUTED
        assert rewrite(one, one, mode).verdict is Verdict.PROVED
    nothing = [parse_map(m.partition("\n")[0].replace("MORE", "")) for m in (wide, narrow)]
    assert rewrite(nothing[0], nothing[1], "pointwise").verdict is Verdict.PROVED


@pytest.mark.parametrize(("high", "verdict"), [(5, YES), (6, NO)])
def test_a_value_that_one_map_alone_mentions_lies_in_the_intervals_of_both(high: int, verdict: str) -> None:
    """Without a provider it is one value: where the map before does not mention it, it lies in its interval there."""
    before = parse_map(f"(d0){{rt0}} -> (d0), domain: d0 in [0, 3], rt0 in [1, {high}]")
    after = parse_map("(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [1, 6], rt0 + 0 in [1, 5]")
    assert rewrite(before, after, "relational").verdict.value == verdict
    assert rewrite(after, before, "relational").verdict.value == verdict


def test_maps_of_a_side_are_taken_together() -> None:
    """That of d0 lies in that of all of them: reading by reading, whichever of the two sides shifts."""
    fixed, all_of_them = over("rt0", at("d0")), over("rt0", at("s0"))
    assert same_relation([fixed, all_of_them], [all_of_them], prove).verdict is Verdict.PROVED
    assert same_relation([all_of_them], [fixed, all_of_them], prove).verdict is Verdict.PROVED
    assert same_relation([fixed, all_of_them], [fixed], prove).verdict is Verdict.REFUTED


WIDE = "domain: d0 in [0, 99999999], s0 in [0, 9]"
RARE = "d0 mod 1000003 in [5, 5]"
DOMAINS = [
    # Differences that no few points show.
    (f"{WIDE}, {RARE}", f"{WIDE}, d0 mod 1000003 in [5, 6]"),
    (f"{WIDE}, {RARE}", f"{WIDE.replace('s0 in [0, 9]', 's0 in [0, 8]')}, {RARE}"),
    (f"{WIDE}, {RARE}", f"{WIDE.replace('d0 in [0, 99', 'd0 in [6, 99')}, {RARE}"),
]


def test_the_second_statement_is_about_both_maps() -> None:
    """Where everything is proved of the first statement, the second still tells maps apart that no few points do."""
    one, two = (parse_map(f"(d0)[s0] -> (d0, s0), {d}") for d in DOMAINS[0])
    for maps, verdict in (((one, two), Verdict.INTERNAL), ((one, replace(one, results=one.results)), Verdict.PROVED)):
        found = same_relation(maps[:1], maps[1:], lambda _: Outcome("proved", ("isl",)), again=prove)
        assert found.verdict is verdict


@pytest.mark.parametrize(("one", "two"), DOMAINS)
def test_domains_are_compared_wherever_they_differ(one: str, two: str) -> None:
    for before, after in ((one, two), (two, one)):
        for results in ("d0, s0", "0, 0 * d0 + s0"):
            a, b = (parse_map(f"(d0)[s0] -> ({results}), {d}") for d in (before, after))
            assert rewrite(a, b, "pointwise").verdict is Verdict.REFUTED
            assert rewrite(a, a, "pointwise").verdict is Verdict.PROVED
            assert len(deduplicate([a, b]).kept) == 2


PLACES = [
    ("0", "0", YES),
    ("0", "1", NO),
    ("d0 mod 2", "d0 - (d0 floordiv 2) * 2", YES),
    # The way to the device has a domain of its own: the map speaks where both do.
    ("0", f"(0), {BOX}, d0 + s0 in [0, 5]", NO),
    ("0", f"(0), {BOX}, d0 + s0 in [0, 6]", YES),
    ("0", "(0), domain: d0 in [0, 3], s0 in [0, 2]", NO),
    ("0", "(0), domain: d0 in [1, 3], s0 in [0, 3]", NO),
    ("0", "(0), domain: d0 in [-1, 5], s0 in [0, 8]", YES),
]


@pytest.mark.parametrize(("one", "two", "verdict"), PLACES)
def test_devices_are_compared_with_the_elements(one: str, two: str, verdict: str) -> None:
    a, b = (on(steps, over("d0 + s0")) for steps in (one, two))
    for before, after in ((a, b), (b, a)):
        assert rewrite(before, after, "pointwise").verdict.value == verdict
        assert rewrite(before, after, "relational").verdict.value == verdict


@pytest.mark.parametrize("steps", [row[1] for row in PLACES])
def test_a_map_speaks_where_the_way_to_its_device_does(steps: str) -> None:
    m = on(steps, over("d0 + s0"))
    assert m.replica is not None
    inside = conj(*piece_of(m, 0, "output-to-input", ()).constraint_formulas)
    for d, s in product(range(4), range(4)):
        at = {"d0": d, "s0": s}
        there = all(at[n] in i for n, i in m.replica.intervals())
        there = there and all(evaluate(c.expr, at) in c.interval for c in m.replica.constraints)
        assert holds(inside, at) is there


def test_who_passes_no_device_is_not_compared_with_who_does() -> None:
    plain = over("d0 + s0")
    for a, b in ((plain, on("0", plain)), (on("0", plain), plain), (on("0", plain), on("0, 0", plain))):
        for mode in MODES:
            with pytest.raises(InputError, match="steps between devices"):
                rewrite(a, b, mode)
        assert same_relation([a], [b], prove).verdict is Verdict.UNKNOWN


UNDEFINED = [
    over("rt0", at("7 floordiv d0")),
    over("rt0", at("rt0", by=[at("7 mod s0", "Q")])),
    on("7 mod d0", over("d0 + s0")),
    on(f"(0), {BOX}, 7 mod d0 in [0, 6]", over("d0 + s0")),
]


@pytest.mark.parametrize("m", UNDEFINED)
def test_what_is_read_and_where_has_a_value(m: IndexingMap) -> None:
    for mode in MODES:
        with pytest.raises(InputError, match="division by zero"):
            rewrite(m, m, mode)


def test_remainders_of_the_way_to_a_device_are_read_in_two_ways() -> None:
    """`-3` as a divisor: by the formula 2 mod -3 is -1, and XLA's evaluator makes it 2."""
    one, two = (on(steps, over("d0 + s0")) for steps in ("d0 mod -3 + 4", "0 - (0 - d0) mod 3 + 4"))
    assert rewrite(one, two).verdict is Verdict.UNKNOWN


def giving_up(_: Obligation) -> Outcome:
    return Outcome("unknown", (), reason="late")


def test_engines_that_give_up_prove_nothing() -> None:
    empty = parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3], d0 + s0 in [9, 10]")
    sides = (over("d0 + s0"), over("s0 + d0")), (over("rt0", at("s0")), over("rt0", at("3 - s0")))
    never = parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [3, 2]")
    for one, two in (*sides, (empty, never)):
        assert same_relation([one], [two], prove).verdict is Verdict.PROVED
        assert same_relation([one], [two], giving_up).verdict is Verdict.UNKNOWN


def test_what_is_not_shown_to_be_empty_or_the_same_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = parse_map(f"(d0)[s0] -> (d0), {BOX}, d0 + s0 in [9, 10]")
    maps = [over("d0 + s0"), over("s0 + d0"), empty]
    assert deduplicate(maps).kept == (0,)
    monkeypatch.setattr(deduplicating, "prove_one", lambda obligation, how: giving_up(obligation))
    assert deduplicate(maps).kept == (0, 1, 2)


def test_what_nobody_names_is_not_the_same() -> None:
    plain = parse_map(f"(d0)[s0]{{rt0}} -> (rt0), {BOX}, rt0 in [0, 9]")
    found = deduplicate([plain, replace(plain, results=(plain.results[0] + 0 * plain.results[0],))])
    assert found.kept == (0, 1) and "nothing says what it reads" in found.undecided[0][2]


def test_positions_are_compared_in_the_groups_of_one_table() -> None:
    """Beside them the reader's own place, which is no position of anything else that is read."""
    plain = over("d0", RuntimeVariable(Interval(0, 3)))
    one, two = on("0", plain), on("1", plain)
    assert comparable([one, two], ["a", "a"], 4) == [[0, 1]]
    assert comparable([one, two], ["a", "b"], 4) == [[0], [1]]
    assert comparable([plain, one], ["", "a"], 4) == [[0, 1]]
    assert comparable([plain, one, two], ["", "a", "b"], 4) == [[0], [1], [2]]
    assert comparable([one, on("0, 0", plain)], ["a", "a"], 4) == [[0], [1]]
    placed, _ = with_own_place([plain, one], 4)
    assert placed.replica is not None and len(placed.runtime) == 2
    assert (placed.runtime[1].provider, placed.replica.results) == (READER, (rt(1),))
    reading = replace(plain, runtime=(RuntimeVariable(Interval(0, 3), provider=READER),))
    placed, _ = with_own_place([reading, one], 4)
    assert placed.replica is not None and (placed.runtime, placed.replica.results) == (reading.runtime, (rt(0),))
    # One that is cut to fewer devices is the place of these alone.
    narrow = replace(plain, runtime=(RuntimeVariable(Interval(0, 1), provider=READER),))
    placed, _ = with_own_place([narrow, one], 4)
    assert placed.replica is not None and placed.replica.results == (rt(1),)
    assert placed.runtime == (*narrow.runtime, *reading.runtime)
    # An element of what is called so is another thing.
    other = replace(plain, runtime=(at("d0", READER),))
    placed, _ = with_own_place([other, one], 4)
    assert placed.replica is not None and len(placed.runtime) == 2 and placed.replica.results == (rt(1),)


def test_every_second_statement_has_to_be_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    true, false = Obligation((), TRUE), Obligation((), FALSE)
    proved = Found(Verdict.PROVED, ("isl",))
    assert stated_twice(proved, [true, true], prove).verdict is Verdict.PROVED
    assert stated_twice(proved, [true, false], prove).verdict is Verdict.INTERNAL
    assert stated_twice(proved, [true, None], prove).verdict is Verdict.UNKNOWN
    assert stated_twice(proved, [true], giving_up).verdict is Verdict.UNKNOWN
    one, two = over("d0 + s0"), over("s0 + d0")
    for which in (one, two):
        monkeypatch.setattr(rewriting, "plain_inclusion", lambda m, *_, **__: false if m == which else true)  # noqa: B023
        assert rewrite(one, two, "pointwise", How(cross=True)).verdict is Verdict.INTERNAL
        assert rewrite(one, two, "pointwise").verdict is Verdict.PROVED


@pytest.mark.parametrize("first", [YES, NO])
@pytest.mark.parametrize("second", [YES, NO, OPEN, "internal"])
def test_what_is_read_in_two_ways_is_what_both_say(first: str, second: str) -> None:
    found = under_both(lambda claim: Found(Verdict(claim)), first, second)
    assert found.verdict.value == (first if first == second else second if second not in (YES, NO) else OPEN)


PLACE_OF = """(d0){{rt0}} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 3]
runtime variables: rt0: {}; (d0) -> (), domain: d0 in [0, 1]; replica id: (d0) -> ({}), domain: d0 in [0, 1]"""
NAMED = "(d0) -> (3), domain: d0 in [0, 1]"
"""The place of device 3 by its name."""


@pytest.mark.parametrize(
    ("provider", "step", "verdict"),
    [("reader", "3", "unknown"), ("reader", "d0 + 2", "unknown"), ("p", "3", "refuted")],
)
@pytest.mark.parametrize("mode", ["pointwise", "relational"])
def test_the_place_of_another_device_is_no_value_that_it_may_hold(
    provider: str, step: str, verdict: str, mode: Equality
) -> None:
    """What a device finds at its own place follows from which device it is, so that no difference may choose it."""
    one = parse_map(PLACE_OF.format(provider, step))
    two = replace(one, results=parse_map(NAMED).results)
    assert rewrite(one, two, mode).verdict.value == verdict
    assert rewrite(one, one, mode).verdict is Verdict.PROVED
    found = deduplicate([one, two])
    assert (len(found.apart), len(found.undecided)) == ((1, 0) if verdict == "refuted" else (0, 1))
    assert deduplicate([one, replace(one, dims=tuple(replace(d, name="i") for d in one.dims))]).kept == (0,)


def test_own_places_still_tell_maps_apart() -> None:
    own = parse_map("(d0){rt0} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 3]\nruntime variables: rt0: reader")
    assert rewrite(own, parse_map(NAMED), "relational").verdict is Verdict.REFUTED
    assert len(deduplicate([own, parse_map(NAMED)]).apart) == 1


def test_nor_by_way_of_a_reading() -> None:
    text = (
        "(d0){rt0} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 3]\nruntime variables: rt0: p; (d0){a} -> (a), domain: "
        "d0 in [0, 1], a in [0, 3]; reading {a = reader; (d0) -> (), domain: d0 in [0, 1]; "
        "replica id: (d0) -> (3), domain: d0 in [0, 1]}"
    )
    one, two = parse_map(text), parse_map(text.replace("(a), domain", "(3), domain"))
    assert rewrite(one, two, "relational").verdict is Verdict.UNKNOWN
    assert not deduplicate([one, two]).apart


@pytest.mark.parametrize(
    ("provider", "verdict"),
    [("reader", "proved"), ("sizes(p); (d0) -> (0), domain: d0 in [0, 3]", "proved"),
     ("p; (d0) -> (0), domain: d0 in [0, 3]", "refuted")],
)  # fmt: skip
@pytest.mark.parametrize(("box", "value"), [("[-2, 0]", "d0 + rt0"), ("[-2, 3]", "d0 + rt0 - max(rt0, 0)")])
def test_places_and_sizes_are_no_negative_numbers(provider: str, verdict: str, box: str, value: str) -> None:
    one = parse_map(f"(d0){{rt0}} -> ({value}), domain: d0 in [0, 3], rt0 in {box}\nruntime variables: rt0: {provider}")
    two = parse_map("(d0) -> (d0), domain: d0 in [0, 3]")
    for x, y in ((one, two), (two, one)):
        assert rewrite(x, y).verdict.value == verdict
    assert rewrite(one, replace(one, results=two.results), "pointwise").verdict.value == verdict
    assert len(deduplicate([one, two]).kept) == (1 if verdict == "proved" else 2)
    # A map of two steps is in a class of its own.
    far = replace(two, replica=replace(two, results=(Var("d0"), Var("d0"))))
    assert len(deduplicate([one, two, far], devices=2).kept) == (2 if verdict == "proved" else 3)


@pytest.mark.parametrize("provider", ["reader", "sizes(p); (d0) -> (0), domain: d0 in [0, 3]"])
@pytest.mark.parametrize(("one", "two", "verdict"), [("-5, -1", "-5, -2", "refuted"), ("-5, -1", "-7, -1", "proved")])
def test_a_place_that_is_cut_to_negative_numbers_is_the_largest_of_them(
    provider: str, one: str, two: str, verdict: str
) -> None:
    text = "(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [{}]\nruntime variables: rt0: " + provider
    maps = parse_map(text.format(one)), parse_map(text.format(two))
    assert rewrite(*maps).verdict.value == rewrite(*maps[::-1]).verdict.value == verdict


@pytest.mark.parametrize(("inner", "verdict"), [("reader", "proved"), ("p", "refuted")])
def test_a_place_that_says_what_is_read_is_no_negative_number(inner: str, verdict: str) -> None:
    text = "(d0){{rt0}} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 7]\nruntime variables: rt0: q; (d0){{a}} -> (a), "
    text += "domain: d0 in [0, 3], a in [{}, 3]; reading {{a = " + inner + "}}"
    maps = parse_map(text.format(-2)), parse_map(text.format(0))
    assert rewrite(*maps).verdict.value == rewrite(*maps[::-1]).verdict.value == verdict


def test_the_places_of_two_devices_are_no_difference_of_maps_of_their_own() -> None:
    """The place of the other of two devices, and 1 less the own."""
    own = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 1]\nruntime variables: rt0: reader"
    other = "(d0){rt0} -> (d0 + 1 - rt0), domain: d0 in [0, 3], rt0 in [0, 1]\nruntime variables: rt0: reader; "
    other += "(d0){a} -> (), domain: d0 in [0, 3], a in [0, 1]; replica id: (d0){a} -> (1 - a), domain: d0 in [0, 3], "
    other += "a in [0, 1]; reading {a = reader}"
    for maps in ((own, other), (other, own)):
        assert not deduplicate([parse_map(m) for m in maps], devices=2).apart


def test_whether_two_readings_of_other_devices_have_a_value_is_not_known() -> None:
    """Both are one element of one device, so that the reading has a point."""
    text = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 9]\nruntime variables: rt0: parameter(1); "
    text += "(d0){a, b} -> (a), domain: d0 in [0, 3], a in [0, 3], b in [0, 3], a - b in [0, 0]; reading {"
    text += ", ".join(
        f"{n} = parameter(2); (d0) -> (0), domain: d0 in [0, 3]; replica id: (d0) -> ({step}), domain: d0 in [0, 3]"
        for n, step in (("a", "d0"), ("b", "2 * d0 - d0"))
    )
    assert rewrite(parse_map(text + "}"), parse_map(text + "}")).verdict is Verdict.UNKNOWN


def test_constants_on_one_side_alone_hold_no_other_contents() -> None:
    one = "(d0) -> (1), domain: d0 in [0, 1]"
    two = "(d0){rt0} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 9]\n"
    two += "runtime variables: rt0: {}; (d0) -> (d0), domain: d0 in [0, 1]"
    for provider, verdict in (("constant({1,1})", "unknown"), ("p", "refuted")):
        maps = parse_map(one), parse_map(two.replace("{}", provider))
        assert rewrite(*maps).verdict.value == rewrite(*maps[::-1]).verdict.value == verdict


@pytest.mark.parametrize(
    "steps", ["(d1) -> (d1), domain: d1 in [0, 3]", "(d1, d0) -> (d1), domain: d1 in [0, 3], d0 in [0, 3]"]
)
@pytest.mark.parametrize(
    "place",
    [
        "replica id:\n",
        "runtime variables:\nrt0: p; ",
        "runtime variables:\nrt0: p; (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]; replica id: ",
    ],
)
def test_the_variables_of_a_map_inside_stand_in_the_order_of_the_map_around(steps: str, place: str) -> None:
    """They are taken by their places, whatever they are called: `(d1)` was d0."""
    around = "(d0, d1){rt0} -> (d0 + rt0), domain: d0 in [0, 3], d1 in [0, 3], rt0 in [0, 3]\n"
    with pytest.raises(InputError, match="in the order of the map around, not 'd1' here"):
        parse_map(around + place + steps)
    right = steps.replace("(d1, d0)", "(d0, d1)").replace("(d1) -> (d1), domain: d1", "(d0) -> (d0), domain: d0")
    found = parse_map(around + place + right)
    named = parse_map(print_map(found).replace("d0", "x").replace("d1", "y"))
    assert named == found and parse_map(print_map(named)) == found
    bare = replace(named, replica=found.replica, runtime=found.runtime)
    assert print_map(named) == print_map(bare) and "d0" not in print_map(bare)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        # Values that are read, in the steps of a map; range variables; values in the steps of a reading.
        (
            "(d0){a, b} -> (d0), domain: d0 in [0, 3], a in [0, 3], b in [0, 3]\nruntime variables:\na: p, b: q\n"
            "replica id:\n(d0){a, b} -> (a), domain: d0 in [0, 3], a in [0, 3], b in [0, 3]",
            "{b, a} -> (a)",
        ),
        (
            "(d0)[e, f]{a} -> (a), domain: d0 in [0, 3], e in [0, 3], f in [0, 3], a in [0, 3]\nruntime variables:\n"
            "a: p; (d0)[e, f] -> (e), domain: d0 in [0, 3], e in [0, 3], f in [0, 3]",
            "[f, e] -> (e)",
        ),
        (
            "(d0){c} -> (c), domain: d0 in [0, 3], c in [0, 3]\nruntime variables:\nc: p; (d0){a, b} -> (d0), domain: "
            "d0 in [0, 3], a in [0, 3], b in [0, 3]; replica id: (d0){a, b} -> (a), domain: d0 in [0, 3], "
            "a in [0, 3], b in [0, 3]; reading {a = p; (d0) -> (0), domain: d0 in [0, 3], b = reader}",
            "{b, a} -> (a)",
        ),
        # Of a reading in a reading.
        (
            "(d0, d1){a} -> (a), domain: d0 in [0, 3], d1 in [0, 3], a in [0, 3]\nruntime variables:\na: p; "
            "(d0, d1){q} -> (q), domain: d0 in [0, 3], d1 in [0, 3], q in [0, 3]; reading {q = p; "
            "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]}",
            "(d1, d0) -> (d0)",
        ),
        (
            "(d0)[e, f]{a} -> (a), domain: d0 in [0, 3], e in [0, 3], f in [0, 3], a in [0, 3]\nruntime variables:\n"
            "a: p; (d0)[e, f]{q} -> (q), domain: d0 in [0, 3], e in [0, 3], f in [0, 3], q in [0, 3]; reading {q = p; "
            "(d0)[e, f] -> (e), domain: d0 in [0, 3], e in [0, 3], f in [0, 3]}",
            "[f, e] -> (e)",
        ),
        # Of another kind.
        (
            "(i)[j]{a} -> (a), domain: i in [0, 3], j in [0, 3], a in [0, 3]\nruntime variables:\n"
            "a: p; (i)[j] -> (i), domain: i in [0, 3], j in [0, 3]",
            "(j)[i] -> (i)",
        ),
        (
            "(d0)[s0]{a} -> (a), domain: d0 in [0, 3], s0 in [0, 3], a in [0, 3]\nruntime variables:\n"
            "a: p; (d0) -> (d0), domain: d0 in [0, 3]",
            "(s0) -> (s0), domain: s0",
        ),
    ],
)
def test_each_kind_of_variable_stands_in_the_order_of_the_map_around(text: str, wrong: str) -> None:
    assert parse_map(print_map(parse_map(text))) == parse_map(text)
    right = {
        "(d1, d0) -> (d0)": "(d0, d1) -> (d0)",
        "{b, a} -> (a)": "{a, b} -> (a)",
        "[f, e] -> (e)": "[e, f] -> (e)",
        "(j)[i] -> (i)": "(i)[j] -> (i)",
    }
    planted = text.replace(right.get(wrong, "(d0) -> (d0), domain: d0"), wrong)
    assert planted != text
    with pytest.raises(InputError, match="in the order of the map around"):
        parse_map(planted)


@pytest.mark.parametrize(
    "around", ["rt0: @", "rt0: p; (d0){a} -> (a), domain: d0 in [0, 3], a in [0, 3]; reading {a = @}"]
)
def test_a_place_has_no_coordinates(around: str) -> None:
    """It is one number: what is read of it at 0 and at 1 was taken for two."""
    text = f"(d0){{rt0}} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]\nruntime variables:\n{around}"
    for right in ("reader", "reader; (d0) -> (), domain: d0 in [0, 3]", "p; (d0) -> (5), domain: d0 in [0, 3]"):
        parse_map(text.replace("@", right))
    with pytest.raises(InputError, match="no coordinates"):
        parse_map(text.replace("@", "reader; (d0) -> (5), domain: d0 in [0, 3]"))
