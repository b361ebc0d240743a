"""Maps that were proved equal and are not, or told apart and are equal; each beside its twin."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spec_texts import check_maps_text

from hloproof.claims.maps import rewrite as rewriting
from hloproof.claims.maps.dedup import deduplicate
from hloproof.claims.maps.defined_readings import owed_readings
from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.maps.simplified import simplified
from hloproof.claims.statements.relation import Piece
from hloproof.engines.door import HOW, How
from hloproof.engines.portfolio import prove
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import RuntimeVariable
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.specs.maps import DIRECTIONS, EQUALITIES, WORDS, Equality, parse_map_specs
from hloproof.results.verdict import ClaimResult, Found, Verdict


def checked(text: str, how: How = HOW) -> ClaimResult:
    (found,) = check_maps_text(f"map a\n{text}", "x.map", how)
    return found


# --- one equality ------------------------------------------------------------------------------------------------

S = "domain: d0 in [0, 3], s0 in [0, 3]"
SHIFT = (
    f"(d0)[s0]{{{{rt0}}}} -> ({{}}), {S}, rt0 in [0, 9]\nruntime variables:\nrt0: parameter(1); (d0)[s0] -> ({{}}), {S}"
)
TWO = (
    "(d0){rt0, rt1} -> (%s), domain: d0 in [0, 3], rt0 in [0, 9], rt1 in [0, %s]\nruntime variables:\n"
    "rt0: parameter(1); (d0) -> (%s), domain: d0 in [0, 3]\nrt1: parameter(1); (d0) -> (%s), domain: d0 in [0, 3]"
)
ONE = "(d0) -> ({}), domain: d0 in [0, 3]"
UNNAMED = "(d0)[s0]{rt0} -> (%s), domain: d0 in [0, 3], s0 in [0, 3], rt0 in [0, %s]"

SAME: list[tuple[str, str, Equality, str]] = [
    # A value read at s0 is another value at 3 - s0: 0, 5, 0, 0 tell them apart.
    (SHIFT.format("rt0 + s0", "s0"), SHIFT.format("rt0 + 3 - s0", "s0"), "relational", "refuted"),
    (SHIFT.format("rt0 + s0", "s0"), SHIFT.format("rt0 + 3 - s0", "3 - s0"), "relational", "proved"),
    (SHIFT.format("rt0 + s0", "d0"), SHIFT.format("rt0 + 3 - s0", "d0"), "relational", "proved"),
    (SHIFT.format("rt0 + s0", "s0"), SHIFT.format("rt0 + s0", "3 - s0"), "relational", "refuted"),
    (SHIFT.format("rt0", "s0"), SHIFT.format("rt0", "3 - s0"), "relational", "proved"),
    (SHIFT.format("rt0", "s0"), SHIFT.format("rt0", "s0 mod 2"), "relational", "refuted"),
    # Two variables that read one element are one value, each cut to its own interval.
    (TWO % ("rt0 - rt1", 9, "d0", "d0"), TWO % ("0", 9, "d0", "d0"), "pointwise", "proved"),
    (TWO % ("rt0 - rt1", 9, "d0", "3 - d0"), TWO % ("0", 9, "d0", "d0"), "pointwise", "refuted"),
    (TWO % ("rt0 - rt1", 9, "d0", "(d0 * 2 + 1) floordiv 2"), TWO % ("0", 9, "d0", "d0"), "pointwise", "proved"),
    (TWO % ("rt0 - rt1", 9, "d0", "d0"), ONE.format("0"), "relational", "proved"),
    (TWO % ("rt0 - rt1", 5, "d0", "d0"), ONE.format("0"), "relational", "refuted"),
    (TWO % ("min(rt0, 5) - rt1", 5, "d0", "d0"), ONE.format("0"), "relational", "proved"),
    (TWO % ("min(rt0, 5) - rt1", 5, "d0", "d0"), TWO % ("0", 5, "d0", "d0"), "pointwise", "proved"),
    # By what they read, not by place; by place where nothing is said.
    (TWO % ("rt0", 9, "d0", "3 - d0"), TWO % ("rt1", 9, "3 - d0", "d0"), "pointwise", "proved"),
    (TWO % ("rt0", 9, "d0", "3 - d0"), TWO % ("rt0", 9, "3 - d0", "d0"), "pointwise", "refuted"),
    (UNNAMED % ("rt0 + s0", 5), UNNAMED % ("rt0 + 3 - s0", 5), "relational", "proved"),
    (UNNAMED % ("rt0 + s0", 5), UNNAMED % ("rt0 + s0 + 1", 5), "relational", "refuted"),
    (UNNAMED % ("s0", 5), UNNAMED % ("s0", 4), "pointwise", "refuted"),
    (UNNAMED % ("rt0 + s0", 5), UNNAMED % ("rt0 + s0", 4), "relational", "refuted"),
    # Domains: a large one is tried at random before anything is stated.
    (
        "(d0) -> (d0), domain: d0 in [0, 99999999], d0 mod 3 in [0, 1]",
        "(d0) -> (d0), domain: d0 in [0, 99999999]",
        "relational",
        "refuted",
    ),
    (
        "(d0) -> (d0), domain: d0 in [0, 99999999], d0 mod 3 in [0, 2]",
        "(d0) -> (d0), domain: d0 in [0, 99999999]",
        "relational",
        "proved",
    ),
]


@pytest.mark.parametrize(("before", "after", "mode", "verdict"), SAME)
def test_one_equality_of_maps(before: str, after: str, mode: Equality, verdict: str) -> None:
    one, two = parse_map(before), parse_map(after)
    for a, b in ((one, two), (two, one)):
        found = rewrite(a, b, mode)
        assert found.verdict.value == verdict, found
    if mode == "relational" and all(v.provider for m in (one, two) for v in m.runtime):
        assert (len(deduplicate([one, two]).kept) == 1) is (verdict == "proved")


def test_the_same_map_over_itself_is_proved() -> None:
    for before, after, mode, _ in SAME:
        for text in (before, after):
            assert rewrite(parse_map(text), parse_map(text), mode).verdict is Verdict.PROVED


def test_a_wrong_statement_of_containment_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A membership that forgets the constraints of the other map: every engine would prove it."""
    whole = Piece.membership

    def planted(self: Piece, *arguments: object) -> object:
        from dataclasses import replace

        return whole(replace(self, constraints=()), *arguments)  # type: ignore[arg-type]

    before = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 9]")
    after = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 9], s0 mod 4 in [0, 2]")
    assert rewrite(before, after, "relational").verdict is Verdict.REFUTED
    monkeypatch.setattr(Piece, "membership", planted)
    assert rewrite(before, after, "relational").verdict in ("unknown", "refuted")


def test_a_wrong_statement_of_points_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "constraint_formulas", lambda m: ())
    before = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    after = parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [0, 2]")
    assert rewrite(before, after).verdict in ("unknown", "refuted")


# --- what has no value -------------------------------------------------------------------------------------------

DEFINED = [
    ("(d0) -> (7 floordiv d0), domain: d0 in [0, 9], d0 in [1, 5]", "proved"),
    ("(d0) -> (7 floordiv d0), domain: d0 in [0, 9], d0 + 0 in [1, 5]", "proved"),
    ("(d0) -> (7 floordiv d0), domain: d0 in [0, 9]", "undefined"),
    ("(d0) -> (d0 mod (d0 mod 3)), domain: d0 in [0, 9]", "undefined"),
    ("(d0) -> (d0 mod (d0 mod 3)), domain: d0 in [0, 9], d0 mod 3 in [1, 2]", "proved"),
    ("(d0) -> (d0 mod 0 + d0), domain: d0 in [0, 9]", "undefined"),
    ("(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [0, 6]", "undefined"),
    ("(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [0, 6], d0 + 0 in [1, 9]", "proved"),
    ("(d0) -> (d0), domain: d0 in [0, 9], 7 mod (d0 - 20) in [-50, 7]", "proved"),
    ("(d0) -> (1 mod (7 mod (d0 + 1))), domain: d0 in [0, 9]", "undefined"),
]


@pytest.mark.parametrize(("text", "verdict"), DEFINED)
def test_definedness_is_owed(text: str, verdict: str) -> None:
    m = parse_map(text)
    modes: tuple[Equality, ...] = ("pointwise", "relational")
    for mode in modes:
        try:
            found = rewrite(m, m, mode).verdict.value
        except InputError as error:
            assert "division by zero" in error.message
            found = "undefined"
        assert found == verdict, mode
    try:
        found = simplified(m).found.verdict.value
    except InputError as error:
        assert "division by zero" in error.message
        found = "undefined"
    assert found == verdict
    spec = checked(f"  map {text}\n  becomes {text}\n").verdict
    assert spec is (Verdict.PROVED if verdict == "proved" else Verdict.REFUTED)


def test_what_comes_after_may_not_lose_its_value() -> None:
    before = "(d0) -> (d0), domain: d0 in [0, 9]"
    for after in (
        "(d0) -> (d0 + 0 * (1 mod d0)), domain: d0 in [0, 9]",
        "(d0) -> (d0), domain: d0 in [0, 9], 0 * (1 mod d0) in [0, 0]",
    ):
        assert rewrite(parse_map(before), parse_map(after)).verdict is Verdict.REFUTED
        assert rewrite(parse_map(before), parse_map(after), "relational").verdict is Verdict.REFUTED
    fine = "(d0) -> (d0 + 0 * (1 mod (d0 + 1))), domain: d0 in [0, 9]"
    assert rewrite(parse_map(before), parse_map(fine)).verdict is Verdict.PROVED


def test_claimed_maps_have_values() -> None:
    hlo = "  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[4] copy(p)\n"
    claim = "  output-to-input 0 (d0) -> (d0 + 0 * (1 mod {})), domain: d0 in [0, 3]\n"
    assert checked(hlo + claim.format("(d0 + 1)")).verdict is Verdict.PROVED
    assert checked(hlo + claim.format("d0")).verdict is Verdict.REFUTED
    assert checked(hlo + "  follow\n" + claim.format("(d0 + 1)")).verdict is Verdict.PROVED
    assert checked(hlo + "  follow\n" + claim.format("d0")).verdict is Verdict.REFUTED


# --- what is read has a value ------------------------------------------------------------------------------------

READ = (
    "(d0){{rt0}} -> ({}), domain: d0 in [0, 9], rt0 in [0, 9]{}\nruntime variables:\n"
    "rt0: parameter(1); (d0){} -> ({}), domain: {}"
)
BY_WAY = (
    "(d0){{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]{}\nruntime variables:\n"
    "rt0: parameter(1); (d0){{a}} -> (a), domain: d0 in [0, 9], a in [0, 9]{}; "
    "reading {{a = parameter(2); (d0) -> (d0), domain: {}}}"
)
VALUES = [
    (READ.format("rt0", "", "", "d0", "d0 in [0, 9]"), True),
    (READ.format("rt0", "", "", "d0", "d0 in [0, 3]"), False),
    (READ.format("rt0", ", d0 + 0 in [0, 3]", "", "d0", "d0 in [0, 3]"), True),
    (READ.format("rt0", ", d0 + 0 in [0, 4]", "", "d0", "d0 in [0, 3]"), False),
    (READ.format("rt0", ", d0 mod 2 in [0, 0]", "", "d0", "d0 in [0, 9], d0 mod 2 in [0, 0]"), True),
    (READ.format("rt0", ", d0 mod 2 in [0, 0]", "", "d0", "d0 in [0, 9], d0 mod 4 in [0, 0]"), False),
    # A constraint on what is read does not say where it is read.
    (READ.format("rt0", ", rt0 + d0 in [0, 3]", "", "d0", "d0 in [0, 3]"), False),
    # What no result and no constraint asks for is not asked.
    (READ.format("d0", "", "", "d0", "d0 in [0, 3]"), True),
    # What is read by way of another reading.
    (BY_WAY.format("", "", "d0 in [0, 9]"), True),
    (BY_WAY.format("", "", "d0 in [0, 3]"), False),
    (BY_WAY.format(", d0 + 0 in [0, 3]", "", "d0 in [0, 3]"), True),
    (BY_WAY.format("", ", a + d0 in [0, 9]", "d0 in [0, 9]"), False),
    (BY_WAY.format("", ", a + d0 in [0, 18]", "d0 in [0, 9]"), True),
]


@pytest.mark.parametrize(("text", "fine"), VALUES)
def test_readings_have_values_where_they_are_asked(text: str, fine: bool) -> None:
    m = parse_map(text)
    modes: tuple[Equality, ...] = ("pointwise", "relational")
    for mode in modes:
        if fine:
            assert rewrite(m, m, mode).verdict is Verdict.PROVED
        else:
            with pytest.raises(InputError, match="rt0 reads nothing at d0 = "):
                rewrite(m, m, mode)
    for how in (HOW, How(cross=True)):
        lines = text.replace("\n", "\n      ")
        found = checked(f"  map {lines}\n  becomes {lines}\n", how)
        assert found.verdict is (Verdict.PROVED if fine else Verdict.REFUTED)


BOX = (
    "(d0, d1)[s0]{{rt0}} -> (rt0 + s0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 9], rt0 in [0, 9]\n"
    "runtime variables:\nrt0: parameter(1); (d0, d1)[s0]{} -> ({}), domain: {}"
)
WHOLE = "d0 in [0, 9], d1 in [0, 9], s0 in [0, 9]"
INNER = "{} = parameter({}); (d0, d1)[s0] -> (d0), domain: {}"
NARROW = WHOLE.replace("s0 in [0, 9]", "s0 in [0, 8]")
BOXES = [
    (BOX.format("", "d0", WHOLE), True),
    (BOX.format("", "d0", WHOLE.replace("d0 in [0, 9]", "d0 in [1, 9]")), False),
    (BOX.format("", "d0", WHOLE.replace("d1 in [0, 9]", "d1 in [0, 3]")), False),
    (BOX.format("", "d0", NARROW), False),
    *(
        (
            BOX.format(
                "{a, b}",
                "a + b",
                f"{WHOLE}, a in [0, 9], b in [{low}, 9]; "
                f"reading {{{INNER.format('a', 2, one)}, {INNER.format('b', 3, two)}}}",
            ),
            fine,
        )
        for one, two, low, fine in (
            (WHOLE, WHOLE, 0, True),
            (NARROW, WHOLE, 0, False),
            (WHOLE, NARROW, 0, False),
            (WHOLE, WHOLE, 10, False),  # no value at all lies between 10 and 9
        )
    ),
]


@pytest.mark.parametrize(("text", "fine"), BOXES)
def test_readings_have_values_over_every_variable(text: str, fine: bool) -> None:
    m = parse_map(text)
    if fine:
        assert rewrite(m, m, "pointwise").verdict is Verdict.PROVED
    else:
        with pytest.raises(InputError, match="rt0 reads nothing at"):
            rewrite(m, m, "pointwise")


STEPPED = """(d0)[s0]{{rt0}} -> (d0), domain: d0 in [0, 1], s0 in [0, 3], rt0 in [0, 2]
runtime variables: rt0: parameter(1); (d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, {last}]
replica id: (d0)[s0]{{rt0}} -> (s0), domain: d0 in [0, 1], {asks}"""


@pytest.mark.parametrize(
    ("asks", "last", "fine"),
    [
        ("s0 in [0, 3], rt0 in [0, 2]", 2, True),  # nothing asks for it
        ("s0 in [0, 3], rt0 in [0, 1]", 2, False),
        ("s0 in [0, 3], rt0 in [0, 1]", 3, True),
        ("s0 in [0, 3], rt0 in [0, 2], rt0 mod 2 in [0, 0]", 2, False),
        ("s0 in [0, 3], rt0 in [0, 2], rt0 mod 2 in [0, 0]", 3, True),
        # Asked only where the steps lead somewhere.
        ("s0 in [0, 2], rt0 in [0, 1]", 2, True),
        ("s0 in [0, 3], rt0 in [0, 1], s0 + d0 in [0, 2]", 2, True),
        ("s0 in [0, 3], rt0 in [0, 1], s0 + d0 in [0, 3]", 2, False),
    ],
)
def test_what_steps_between_devices_ask_of_a_reading_has_a_value(asks: str, last: int, fine: bool) -> None:
    """Only their results were looked at: a map that reads nothing was proved to be one that reads something."""
    one, two = (parse_map(STEPPED.format(asks=asks, last=n)) for n in (3, last))
    for mode in ("pointwise", "relational"):
        found = rewrite(one, two, mode)
        assert found.verdict is (Verdict.PROVED if fine else Verdict.REFUTED)
        assert fine or "after: rt0 reads nothing at" in (found.counterexample or "")


READ_ELSEWHERE = """(d0){{rt0}} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 9]
runtime variables: rt0: a; (d0){{rt0}} -> (d0), domain: d0 in [0, 2], rt0 in [1, {held}]; \
replica id: (d0){{rt0}} -> (rt0), domain: d0 in [0, 2], rt0 in {box}; \
reading {{rt0 = b; (d0) -> (d0), domain: d0 in [0, 2]}}"""


@pytest.mark.parametrize(
    ("box", "held", "fine"),
    [("[0, 9]", 3, True), ("[1, 3]", 3, True), ("[2, 3]", 3, False), ("[1, 2]", 3, False), ("[1, 2]", 2, True)],
)
def test_what_steps_to_a_reading_ask_of_another_has_a_value(box: str, held: int, fine: bool) -> None:
    """The narrower interval was taken for one that the value is cut to, as that of the reading's own map is."""
    text = READ_ELSEWHERE.format(box=box, held=held)
    one, two = parse_map(READ_ELSEWHERE.format(box=f"[1, {held}]", held=held)), parse_map(text)
    for mode in ("pointwise", "relational"):
        found = rewrite(one, two, mode)
        assert found.verdict is (Verdict.PROVED if fine else Verdict.REFUTED)
        assert fine or "after: rt0 reads nothing at" in (found.counterexample or "")


@pytest.mark.parametrize("index", ["(d0, d1) -> (d0)", "(d0, d1)[s0, s1] -> (s0)", "(d0, d1, d2)[s0] -> (d0)"])
def test_a_reading_over_other_variables_is_unknown(index: str) -> None:
    names = [n for n in ("d0", "d1", "d2", "s0", "s1") if n in index]
    domain = ", ".join(f"{n} in [0, 9]" for n in names)
    text = BOX.format("", "X", WHOLE).split("parameter(1)")[0] + f"parameter(1); {index}, domain: {domain}"
    if index == "(d0, d1) -> (d0)":  # range variables may be left out where none is used
        assert rewrite(parse_map(text), parse_map(text), "pointwise").verdict is Verdict.PROVED
        return
    lines = text.replace("\n", "\n      ")
    assert checked(f"  map {lines}\n  becomes {lines}\n").verdict is Verdict.UNKNOWN


BY_ANOTHER = """(d0){{rt0}} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 9]
runtime variables: rt0: a; (d0){{q}} -> ({}), domain: d0 in [0, 2], q in [0, 9]; \
replica id: (d0){{q}} -> ({}), domain: d0 in [0, 2], q in [0, 9]; \
reading {{q = b; (d0) -> (d0), domain: d0 in [0, {}]}}"""


@pytest.mark.parametrize(
    ("place", "step", "last", "fine"),
    [("d0", "0", 1, True), ("q", "0", 2, True), ("q", "0", 1, False), ("d0", "q", 2, True), ("d0", "q", 1, False)],
)
def test_what_nothing_is_read_by_owes_no_value(place: str, step: str, last: int, fine: bool) -> None:
    """It was asked of every reading that another one lists, and a map that is the same was refuted."""
    one, two = (parse_map(BY_ANOTHER.format(place, step, n)) for n in (2, last))
    for mode in ("pointwise", "relational"):
        found = rewrite(one, two, mode)
        assert found.verdict is (Verdict.PROVED if fine else Verdict.REFUTED)
        assert fine or "after: rt0 reads nothing at" in (found.counterexample or "")


BY_SOME = """(d0){{rt0}} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 9]
runtime variables: rt0: a; (d0){{q}} -> (d0), domain: d0 in [0, 2], q in [0, 9], d0 + d0 in [0, 4]; \
reading {{q = b; (d0) -> (d0), domain: d0 in [0, {}]}}"""


def test_nor_does_it_where_what_is_read_has_a_domain_of_its_own() -> None:
    one, two = (parse_map(BY_SOME.format(n)) for n in (2, 1))
    assert {rewrite(a, b).verdict for a in (one, two) for b in (one, two)} == {Verdict.PROVED}


@pytest.mark.parametrize("own", ["", ", 0 in [0, 0]"])
@pytest.mark.parametrize(
    ("inner", "verdict"),
    [
        ("() -> (0)", "proved"),
        ("() -> (0); replica id: () -> (0)", "proved"),
        ("() -> (0); replica id: (d0) -> (0), domain: d0 in [0, -1]", "unknown"),
        ("() -> (0); replica id: ()[s0] -> (0), domain: s0 in [0, 0]", "unknown"),
        ("() -> (0); replica id: ()[s0] -> (s0), domain: s0 in [0, 1]", "unknown"),
        ("() -> (0); replica id: (){rt0} -> (0), domain: rt0 in [0, -1]", "unknown"),
        ("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]", "unknown"),
    ],
)
def test_what_is_read_by_what_has_other_variables_is_unknown_at_any_depth(own: str, inner: str, verdict: str) -> None:
    """Where the reading around it has a domain of its own, what it is read by was not looked at, and proved."""
    text = "()[s]{rt0} -> (rt0), domain: s in [0, 1], rt0 in [0, 3]\nruntime variables: rt0: p; "
    text += f"(){{rt0}} -> (rt0), domain: rt0 in [0, 3]{own}; reading {{rt0 = q; {inner}}}"
    assert rewrite(parse_map(text), parse_map(text)).verdict == verdict


def test_nor_is_it_looked_at_less_where_only_a_step_asks_for_it() -> None:
    text = (
        "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 5]\nruntime variables: rt0: q; (d0){a} -> (d0), domain: "
    )
    text += "d0 in [0, 3], a in [0, 5]; replica id: (d0){a} -> (a), domain: d0 in [0, 3], a in [0, 5]; "
    text += "reading {a = p; (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 1]}"
    assert rewrite(parse_map(text), parse_map(text)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("index", ["(d0)[s0] -> (d0 + s0)", "(d0, d1) -> (d1)"])
@pytest.mark.parametrize(("result", "relational"), [("d0", Verdict.PROVED), ("d0 + rt0", Verdict.UNKNOWN)])
def test_what_nobody_uses_may_be_read_over_other_variables(index: str, result: str, relational: Verdict) -> None:
    """It is tried at points of the map, where these have no value: that ended with an internal error."""
    own = ", ".join(f"{n} in [0, 3]" for n in ("d0", "d1", "s0") if n in index)
    text = f"(d0){{rt0}} -> ({result}), domain: d0 in [0, 3], rt0 in [0, 3]\n"
    m = parse_map(f"{text}runtime variables: rt0: a; {index}, domain: {own}")
    assert rewrite(m, m, "pointwise").verdict is Verdict.UNKNOWN
    assert rewrite(m, m, "relational").verdict is relational


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4]", "proved"),
        # What is read on another device is asked in the box of the way there, too.
        ("(d0)[s0] -> (s0), domain: d0 in [0, 8], s0 in [0, 4]", "refuted"),
        ("(d0)[s0] -> (s0), domain: d0 in [1, 10], s0 in [0, 4]", "refuted"),
        ("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]", "refuted"),
        ("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 12]", "refuted"),
        ("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 13]", "proved"),
        # A wider box there widens nothing here.
        ("(d0)[s0] -> (s0), domain: d0 in [0, 20], s0 in [0, 20]", "proved"),
    ],
)
@pytest.mark.parametrize(("upper", "fine"), [(9, True), (5, False)])
def test_what_another_device_holds_is_asked_where_the_way_there_leads(
    steps: str, verdict: str, upper: int, fine: bool
) -> None:
    own = parse_map(f"(d0)[s0] -> (d0), domain: d0 in [0, {upper}], s0 in [0, 4]")
    v = RuntimeVariable(Interval(0, 9), provider="parameter(1)", index=replace(own, replica=parse_map(steps)))
    asked = parse_map("(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 9], s0 in [0, 4], rt0 in [0, 9]")
    found = [prove(part.obligation).verdict for part in owed_readings(replace(asked, runtime=(v,)))]
    assert ("refuted" if "refuted" in found else "proved") == (verdict if fine else "refuted")
    assert set(found) <= {"proved", "refuted"}


def test_a_way_to_other_devices_over_other_variables_is_not_modelled() -> None:
    own = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    steps = parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]")
    v = RuntimeVariable(Interval(0, 9), provider="parameter(1)", index=replace(own, replica=steps))
    asked = parse_map("(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]")
    with pytest.raises(NotModelled, match="other variables"):
        list(owed_readings(replace(asked, runtime=(v,))))


def test_a_rewrite_may_not_narrow_what_is_read() -> None:
    whole, part, cut = (VALUES[k][0] for k in (0, 1, 2))
    assert rewrite(parse_map(whole), parse_map(part)).verdict is Verdict.REFUTED
    narrowed = READ.format("rt0", ", d0 + 0 in [0, 3]", "", "d0", "d0 in [0, 9]")
    assert rewrite(parse_map(cut), parse_map(narrowed)).verdict is Verdict.PROVED


def test_a_claimed_map_reads_where_the_operation_does() -> None:
    hlo = (
        "  hlo\n    p = f32[8] parameter(0)\n    q = s32[] parameter(1)\n"
        "    ROOT c = f32[2] dynamic-slice(p, q), dynamic_slice_sizes={2}\n"
    )
    claim = (
        "  output-to-input 0 (d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 6]\n"
        "      runtime variables:\n      rt0: {}(1); (d0) -> (), domain: d0 in [0, {}]\n"
    )
    for follow, provider in (("", "operand"), ("  follow\n", "parameter")):
        assert checked(hlo + follow + claim.format(provider, 1)).verdict is Verdict.PROVED
        assert checked(hlo + follow + claim.format(provider, 0)).verdict is Verdict.REFUTED


CHOSEN = (
    "  hlo\n    ge {\n      a = s32[] parameter(0)\n      b = s32[] parameter(1)\n"
    "      ROOT c = pred[] compare(a, b), direction=GE\n    }\n    add {\n      a = s32[] parameter(0)\n"
    "      b = s32[] parameter(1)\n      ROOT c = s32[] add(a, b)\n    }\n    ENTRY e {\n"
    "      p = s32[4] parameter(0)\n      q = s32[1] parameter(1)\n      z = s32[] constant(0)\n"
    "      ROOT r = s32[4] select-and-scatter(p, q, z), window={size=4}, select=ge, scatter=add\n    }\n"
    "  output-to-input 0 (d0)[s0]{rt0} -> (RESULT), domain: d0 in [0, 3], s0 in [0, 3], rt0 in [0, 3]\n"
    "      runtime variables:\n      rt0: operand(0); (d0)[s0] -> (INDEX), domain: d0 in [0, 3], s0 in [0, 3]\n"
)


@pytest.mark.parametrize(
    ("result", "index", "verdict"),
    [
        # Where p holds 0, 3, 2, 1, this reads p[0] alone: one value would lead everywhere, those of four elements not.
        ("(s0 + rt0) mod 4", "s0", "unknown"),
        ("(s0 + rt0) mod 4", "3 - s0", "unknown"),
        ("(s0 + rt0) mod 4", "d0", "proved"),
        ("(s0 + rt0) mod 4", "2", "proved"),
        ("s0", "s0", "proved"),
    ],
)
def test_what_range_variables_choose_is_not_one_value(result: str, index: str, verdict: str) -> None:
    text = CHOSEN.replace("RESULT", result).replace("INDEX", index)
    assert checked(text).verdict.value == verdict
    assert checked(text, How(cross=True)).verdict.value == verdict


def test_variables_without_a_provider_are_told_apart_by_their_place() -> None:
    text = (
        "(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\nruntime variables:\n"
        "rt0: parameter(1); (d0){a, b} -> (%s), domain: d0 in [0, 9], a in [0, 9], b in [0, 9]"
    )
    one, two = (parse_map(text % name) for name in "ab")
    assert rewrite(one, one).verdict is Verdict.PROVED
    assert rewrite(one, two, "pointwise").verdict is Verdict.REFUTED
    assert rewrite(one, two, "relational").verdict in ("unknown", "refuted")


def test_simplifying_twice_changes_nothing() -> None:
    """What one round of proved facts leaves may be what the next one needs."""
    text = "(d0, d1) -> (6 + min(d1*16+d0, min(d0 ceildiv 3, d0+d0))), domain: d0 in [0, 3], d1 in [0, 3]"
    once = simplified(parse_map(text))
    assert print_map(once.map) == "(d0, d1) -> ((d0 + 2) / 3 + 6), domain: d0 in [0, 3], d1 in [0, 3]"
    assert simplified(once.map).map == once.map


def test_an_unknown_simplification_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hloproof.claims.maps import simplified as module
    from hloproof.cli import run
    from hloproof.server.entry_methods import simplify

    def undecided(*_: object) -> Found:
        return Found(Verdict.UNKNOWN, reason="the limit was reached")

    monkeypatch.setattr(module, "rewrite", undecided)
    assert run(["simplify", "(d0) -> (d0), domain: d0 in [0, 3]"]) == 3
    assert "the limit was reached" in capsys.readouterr().err
    assert simplify("(d0) -> (d0), domain: d0 in [0, 3]")["reason"] == "the limit was reached"


# --- modules beside each other -----------------------------------------------------------------------------------

P4 = "    p = f32[4] parameter(0)\n"
SLICES = (
    P4 + "    a = f32[2] slice(p), slice={[0:2]}\n    b = f32[2] slice(p), slice={[%s]}\n"
    "    ROOT c = f32[4] concatenate(a, b), dimensions={0}\n"
)
COPY = P4 + "    ROOT c = f32[4] copy(p)\n"
NEGATE = P4 + "    ROOT c = f32[4] negate(p)\n"
INDEXED = (
    "    p = f32[8] parameter(0)\n    q = s32[2] parameter(1)\n    i = s32[1] slice(q), slice={[%s]}\n"
    "    j = s32[] reshape(i)\n    ROOT c = f32[2] dynamic-slice(p, j), dynamic_slice_sizes={2}\n"
)
DIRECT = (
    "    p = f32[8] parameter(0)\n    q = s32[] parameter(1)\n%s"
    "    ROOT c = f32[2] dynamic-slice(p, %s), dynamic_slice_sizes={2}\n"
)
CUMSUM = (
    "    add {\n      x = f32[] parameter(0)\n      y = f32[] parameter(1)\n      ROOT s = f32[] add(x, y)\n    }\n"
    "    ENTRY e {\n      p = f32[4] parameter(0)\n      z = f32[] constant(0)\n"
    "      ROOT w = f32[4] reduce-window(p, z), window={size=%s pad=%s}, to_apply=add\n    }\n"
)
BY_HAND = (
    "    ENTRY e {\n      p = f32[4] parameter(0)\n      z = f32[] constant(0)\n"
    "      a = f32[4] pad(p, z), padding=%s\n      b = f32[4] add(p, a)\n"
    "      c = f32[4] pad(b, z), padding=%s\n      ROOT r = f32[4] add(b, c)\n    }\n"
)

AFTER = [
    (SLICES % "2:4", COPY, "proved"),
    (SLICES % "1:3", COPY, "refuted"),
    (SLICES % "2:4", NEGATE, "proved"),
    (NEGATE, P4 + "    ROOT c = f32[4] reverse(p), dimensions={0}\n", "refuted"),
    (CUMSUM % ("4", "3_0"), BY_HAND % ("1_-1", "2_-2"), "proved"),
    (CUMSUM % ("4", "3_0"), BY_HAND % ("1_-1", "3_-3"), "refuted"),
    (CUMSUM % ("3", "2_0"), BY_HAND % ("1_-1", "2_-2"), "refuted"),
    # Indices that are computed are not compared by the name of what computes them.
    (DIRECT % ("", "q"), DIRECT % ("", "q"), "proved"),
    (DIRECT % ("    i = s32[] negate(q)\n", "i"), DIRECT % ("    i = s32[] multiply(q, q)\n", "i"), "unknown"),
    # Every array of a tuple counts.
    (
        P4 + "    a = f32[4] copy(p)\n    ROOT t = (f32[4], f32[4]) tuple(p, a)\n",
        P4 + "    a = f32[4] negate(p)\n    ROOT t = (f32[4], f32[4]) tuple(p, a)\n",
        "proved",
    ),
    (
        P4 + "    a = f32[4] copy(p)\n    ROOT t = (f32[4], f32[4]) tuple(p, a)\n",
        P4 + "    a = f32[4] reverse(p), dimensions={0}\n    ROOT t = (f32[4], f32[4]) tuple(p, a)\n",
        "refuted",
    ),
    (P4 + "    ROOT t = (f32[4], f32[4]) tuple(p, p)\n", P4 + "    ROOT t = (f32[4]) tuple(p)\n", "refuted"),
    (P4 + "    ROOT t = f32[2,2] reshape(p)\n", COPY, "refuted"),
]


@pytest.mark.parametrize(("before", "after", "verdict"), AFTER)
def test_modules_are_compared_by_all_that_they_read(before: str, after: str, verdict: str) -> None:
    for one, two in ((before, after), (after, before)):
        found = checked(f"  hlo\n{one}  hlo-after\n{two}")
        assert found.verdict.value == verdict, (found.counterexample, found.reason)
        if (
            verdict == "refuted"
            and "arrays" not in str(found.counterexample)
            and "coord" not in str(found.counterexample)
        ):
            assert "gives " in str(found.counterexample)


GIVEN = [
    ("f32[8]", "s32[]", "proved"),
    ("bf16[8]", "s32[]", "proved"),
    ("f32[8]", "u32[]", "unknown"),  # -1 is the largest number there
    ("f32[9]", "s32[]", "unknown"),
]


@pytest.mark.parametrize(("array", "index", "verdict"), GIVEN)
def test_modules_that_cannot_be_given_the_same_are_not_compared(array: str, index: str, verdict: str) -> None:
    text = (
        "    p = {} parameter(0)\n    i = {} parameter(1)\n"
        "    d = {} dynamic-slice(p, i), dynamic_slice_sizes={{2}}\n    ROOT r = f32[2] convert(d)\n"
    )
    kind = array.partition("[")[0]
    before, after = text.format("f32[8]", "s32[]", "f32[2]"), text.format(array, index, f"{kind}[2]")
    for one, two in ((before, after), (after, before)):
        assert checked(f"  hlo\n{one}  hlo-after\n{two}").verdict.value == verdict


GROUPS = (
    "    add {\n      x = f32[] parameter(0)\n      y = f32[] parameter(1)\n      ROOT s = f32[] add(x, y)\n    }\n"
    "    ENTRY e {\n      p = f32[4] parameter(0)\n"
    "      ROOT r = f32[8] all-gather(p), dimensions={0}, replica_groups=%s\n    }\n"
)


def test_positions_in_other_groups_are_other_devices() -> None:
    one, two = (f"    HloModule m, replica_count=4\n{GROUPS % g}" for g in ("{{0,1},{2,3}}", "{{0,2},{1,3}}"))
    assert checked(f"  hlo\n{one}  hlo-after\n{one}").verdict is Verdict.PROVED
    assert checked(f"  hlo\n{one}  hlo-after\n{two}").verdict is Verdict.UNKNOWN


def test_arrays_of_one_tuple_parameter_are_told_apart() -> None:
    text = "    p = (f32[4], f32[4]) parameter(0)\n    ROOT g = f32[4] get-tuple-element(p), index=%s\n"
    one, two = text % 0, text % 1
    assert checked(f"  hlo\n{one}  hlo-after\n{one}").verdict is Verdict.PROVED
    assert checked(f"  hlo\n{one}  hlo-after\n{two}").verdict is Verdict.REFUTED


FOLLOWED = [
    # One map or two that say the same.
    ("output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]", "proved"),
    (
        "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 1]\n  output-to-input 0 (d0) -> (d0), domain: d0 in [2, 3]",
        "proved",
    ),
    ("output-to-input 0 (d0) -> (d0), domain: d0 in [0, 2]", "refuted"),
    (
        "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 1]\n"
        "  output-to-input 0 (d0) -> (d0 - 1), domain: d0 in [2, 3]",
        "refuted",
    ),
    ("output-to-input 0 nothing", "refuted"),
    ("output-to-input 0 KNOWN EMPTY", "refuted"),
]


@pytest.mark.parametrize(("claim", "verdict"), FOLLOWED)
def test_what_is_followed_is_compared_as_a_union(claim: str, verdict: str) -> None:
    for module in (SLICES % "2:4", NEGATE):
        assert checked(f"  hlo\n{module}  follow\n  {claim}\n").verdict.value == verdict


REVERSED = P4 + "    n = f32[4] negate(p)\n    ROOT r = f32[4] reverse(n), dimensions={0}\n"
PAIR = P4 + "    q = f32[4] parameter(1)\n    ROOT t = (f32[4], f32[4]) tuple(q, p)\n"
FROM_PARAMETERS = [
    (REVERSED, "", "input-to-output 0 (d0) -> (3 - d0), domain: d0 in [0, 3]", "proved"),
    (REVERSED, "", "input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3]", "refuted"),
    (REVERSED, "instruction n", "input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3]", "unknown"),
    (REVERSED, "", "input-to-output 1 (d0) -> (d0), domain: d0 in [0, 3]", "unknown"),
    (PAIR, "output 1", "input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3]", "proved"),
    (PAIR, "output 0", "input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3]", "refuted"),
    (PAIR, "output 1", "input-to-output 0 nothing", "refuted"),
    (PAIR, "output 0", "input-to-output 0 nothing", "proved"),
]


@pytest.mark.parametrize(("module", "more", "claim", "verdict"), FROM_PARAMETERS)
def test_maps_are_followed_from_the_parameter_that_is_named(module: str, more: str, claim: str, verdict: str) -> None:
    assert checked(f"  hlo\n{module}  follow\n  {more or 'note none'}\n  {claim}\n").verdict.value == verdict


# --- every clause ------------------------------------------------------------------------------------------------

HLO = f"  hlo\n{COPY}"
TUPLE = (
    "  hlo\n    p = f32[4] parameter(0)\n    q = f32[4] parameter(1)\n"
    "    r = f32[4] reverse(p), dimensions={0}\n    n = f32[4] negate(r)\n"
    "    ROOT t = (f32[4], f32[4]) tuple(n, q)\n"
)
MAP = "  map (d0) -> (d0 mod 4), domain: d0 in [0, 3]\n"
SILENT = {"hlo", "map", "expect", "from", "note"}
"""Words that say nothing by themselves: what is said is said of them."""
CLAUSES = {
    "hlo-after": (
        HLO + f"  hlo-after\n{COPY}",
        HLO
        + "  hlo-after\n"
        + COPY.replace("copy(p)", "broadcast(k)")
        .replace(P4, P4 + "    k = f32[] constant(1)\n")
        .replace("broadcast(k)", "broadcast(k), dimensions={}"),
    ),
    "instruction": (
        TUPLE + "  instruction n\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
        TUPLE + "  instruction r\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
    ),
    "output": (
        TUPLE + "  follow\n  output 1\n  output-to-input 1 (d0) -> (d0), domain: d0 in [0, 3]\n",
        TUPLE + "  follow\n  output 0\n  output-to-input 1 (d0) -> (d0), domain: d0 in [0, 3]\n",
    ),
    "follow": (
        TUPLE + "  instruction n\n  follow\n  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 3]\n",
        TUPLE + "  instruction n\n  follow\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
    ),
    "output-to-input": (
        HLO + "  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
        HLO + "  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 3]\n",
    ),
    "input-to-output": (
        HLO + "  input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
        HLO + "  input-to-output 0 (d0) -> (3 - d0), domain: d0 in [0, 3]\n",
    ),
    "becomes": (
        MAP + "  becomes (d0) -> (d0), domain: d0 in [0, 3]\n",
        MAP + "  becomes (d0) -> (0), domain: d0 in [0, 3]\n",
    ),
    "equals": (
        MAP + "  equals (d0) -> (d0), domain: d0 in [0, 3]\n",
        MAP + "  equals (d0) -> (d0), domain: d0 in [0, 2]\n",
    ),
    "same-relation": (
        MAP + "  same-relation (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]\n",
        MAP + "  same-relation (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]\n",
    ),
}
"""For each word an entry in which it is right, and one in which it is wrong."""


def test_every_word_of_the_reader_has_a_planted_error() -> None:
    assert set(CLAUSES) == set(WORDS) - SILENT
    assert {*DIRECTIONS, *EQUALITIES} <= set(CLAUSES)


@pytest.mark.parametrize("word", sorted(CLAUSES))
def test_a_wrong_clause_is_refuted_alone_and_beside_right_ones(word: str) -> None:
    right, wrong = CLAUSES[word]
    assert checked(right).verdict is Verdict.PROVED
    assert checked(wrong).verdict is Verdict.REFUTED
    if "  hlo\n" in wrong:
        assert checked(wrong + MAP + "  becomes (d0) -> (d0), domain: d0 in [0, 3]\n").verdict is Verdict.REFUTED
    else:
        assert checked(wrong + CLAUSES["output-to-input"][0]).verdict is Verdict.REFUTED


MISPLACED = [
    (MAP + "  equals (d0) -> (d0), domain: d0 in [0, 3]\n  follow\n", "`follow` is about"),
    (MAP + "  equals (d0) -> (d0), domain: d0 in [0, 3]\n  instruction q\n", "`instruction` is about"),
    (MAP + "  equals (d0) -> (d0), domain: d0 in [0, 3]\n  output 5\n", "`output` is about"),
    (HLO + f"  hlo-after\n{COPY}  instruction q\n", "`instruction` is about"),
    (HLO + f"  hlo-after\n{COPY}  follow\n", "`follow` is about"),
    (HLO + "  output x\n  output-to-input 0 nothing\n", "expected the number of an output"),
]


@pytest.mark.parametrize(("text", "message"), MISPLACED)
def test_a_clause_that_nothing_would_judge_is_an_error(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_map_specs(f"map a\n{text}", "x.map")
    assert message in raised.value.message


# --- remainders by negative numbers ------------------------------------------------------------------------------

NEGATIVE = [
    # The formula gives what has the divisor's sign, XLA's evaluator what is not negative.
    ("d0 mod -3", "d0 mod -3", "proved"),
    ("d0 mod -3 + d0 - d0", "d0 mod -3", "proved"),
    ("d0 mod -3", "d0 mod 3", "unknown"),
    ("d0 mod -3", "d0 - (d0 floordiv -3) * -3", "unknown"),
    ("d0 mod -3", "d0 mod 3 + 1", "refuted"),
    ("d0 mod -3", "d0 mod -4", "refuted"),
    ("d0 + 0 mod -3", "d0", "proved"),
    ("d0 floordiv -3", "(-d0) floordiv 3", "proved"),
    ("d0 floordiv -3", "d0 floordiv 3", "refuted"),
    ("d0 mod (d0 - 20)", "d0", "unknown"),
    ("d0 mod (20 - d0)", "d0", "proved"),
    ("(d0 mod 3) mod -5", "d0 mod 3", "unknown"),
    ("5 mod (d0 mod -3 - 3)", "5 mod (d0 mod -3 - 3)", "proved"),
]


@pytest.mark.parametrize(("before", "after", "verdict"), NEGATIVE)
def test_remainders_by_negative_numbers_are_read_in_both_ways(before: str, after: str, verdict: str) -> None:
    one, two = (f"(d0) -> ({e}), domain: d0 in [0, 9]" for e in (before, after))
    modes: tuple[Equality, ...] = ("pointwise", "relational")
    for mode in modes:
        for a, b in ((one, two), (two, one)):
            assert rewrite(parse_map(a), parse_map(b), mode).verdict.value == verdict
    found = checked(f"  map {one}\n  becomes {two}\n")
    assert found.verdict.value == verdict
    if verdict == "unknown":
        assert "a remainder by a negative number" in str(found.reason)


@pytest.mark.parametrize(("by", "verdict"), [("-3", "unknown"), ("3", "refuted")])
def test_nor_are_those_that_tell_the_device(by: str, verdict: str) -> None:
    """By the formula it is device 0, and XLA's evaluator says 3."""
    told = "(d0) -> (d0), domain: d0 in [2, 2]\nreplica id:\n(d0) -> ({}), domain: d0 in [2, 2]"
    before, after = (parse_map(told.format(e)) for e in (f"d0 mod {by} + 1", "d0 - 2"))
    assert rewrite(before, after).verdict == verdict


NEGATIVE_INSIDE = [
    # a divisor that one reading alone makes negative
    (
        "(d0, d1) -> (d1 mod (5 - 4 * (d0 mod -3))), domain: d0 in [2, 2], d1 in [0, 2]",
        "(d0, d1) -> (d1), domain: d0 in [2, 2], d1 in [0, 2]",
        "proved",
    ),
    # a constraint, which holds nowhere as XLA's evaluator reads it
    (
        "(d0) -> (d0), domain: d0 in [0, 9], d0 mod -3 in [-2, -2]",
        "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 3 in [1, 1]",
        "unknown",
    ),
    # the element that is read
    (
        "(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\nruntime variables:\n"
        "rt0: parameter(1); (d0) -> (d0 - d0 mod -3), domain: d0 in [0, 9]",
        "(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\nruntime variables:\n"
        "rt0: parameter(1); (d0) -> ((d0 floordiv -3) * -3), domain: d0 in [0, 9]",
        "unknown",
    ),
]


@pytest.mark.parametrize(("before", "after", "verdict"), NEGATIVE_INSIDE)
def test_remainders_are_read_in_both_ways_inside_of_divisors_constraints_and_readings(
    before: str, after: str, verdict: str
) -> None:
    for a, b in ((before, after), (after, before)):
        assert rewrite(parse_map(a), parse_map(b), "pointwise").verdict.value == verdict


def test_claims_with_remainders_by_negative_numbers() -> None:
    hlo = "  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[4] reverse(p), dimensions={0}\n"
    claim = "  output-to-input 0 (d0) -> ({}), domain: d0 in [0, 3]\n"
    for follow in ("", "  follow\n"):
        for text, verdict in (
            ("3 - d0 + 0 mod -4", "proved"),
            ("3 - (d0 mod -4)", "unknown"),
            ("d0 + 0 mod -4", "refuted"),
        ):
            assert checked(hlo + follow + claim.format(text)).verdict.value == verdict


def test_what_constants_hold_is_not_made_up() -> None:
    """They are compared as if they could hold anything: what is equal is equal, and what differs may be the same."""
    text = (
        "(d0){rt0} -> (rt0), domain: d0 in [0, 1], rt0 in [0, 9]\nruntime variables:\n"
        "rt0: constant({%s}); (d0) -> (%s), domain: d0 in [0, 1]"
    )
    one, turned = parse_map(text % ("1,2", "d0")), parse_map(text % ("2,1", "1 - d0"))
    assert rewrite(one, one).verdict is Verdict.PROVED
    assert rewrite(one, turned).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("steps", "verdict"), [("(d0)", "proved"), ("(d0, d1)", "unknown")])
def test_steps_between_devices_are_over_the_variables_of_the_map(steps: str, verdict: str) -> None:
    text = "(d0) -> (d0), domain: d0 in [0, 3]\n      replica id:\n      {} -> (d0 mod 2), domain: d0 in [0, 3]{}"
    before = text.format(steps, ", d1 in [0, -1]" if "d1" in steps else "")
    found = checked(f"  map {before}\n  becomes {text.format('(d0)', '')}\n")
    assert found.verdict.value == verdict
    assert simplified(parse_map(before)).found.verdict.value == verdict


@pytest.mark.parametrize("mode", ["becomes", "equals", "same-relation"])
@pytest.mark.parametrize("nothing", ["KNOWN EMPTY", "(d0) -> (d0), domain: d0 in [1, 0]"])
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [-3, -1]", "refuted"),
        ("(d0) -> (d0), domain: d0 in [1, 9], 7 mod d0 in [-3, -1]", "proved"),
        ("(d0) -> (d0), domain: d0 in [0, 9], 7 mod (d0 - d0) in [0, 6]", "refuted"),
        ("(d0) -> (7 mod (d0 - d0)), domain: d0 in [0, 9], 2 * d0 in [3, 3]", "proved"),
        ("(d0) -> (d0), domain: d0 in [0, 9], 2 * d0 in [3, 4]", "refuted"),
    ],
)
def test_beside_an_empty_map_all_is_owed_that_is_owed_elsewhere(
    text: str, verdict: str, nothing: str, mode: str
) -> None:
    """Once proved: a constraint without a value made a map empty where the other was empty by its intervals."""
    for one, two in ((text, nothing), (nothing, text)):
        assert checked(f"  map {one}\n  {mode} {two}\n").verdict.value == verdict
