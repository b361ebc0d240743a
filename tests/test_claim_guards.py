"""What single conditions of the claims about maps stand for: each wrong input is rejected by one of them alone, and has
its sound twin. Definitions are made by hand where no operation has one that would tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from spec_texts import check_maps_text

from hloproof.claims.operations import owed as table
from hloproof.claims.operations.composed import _pair
from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.in_bounds import in_bounds_parts
from hloproof.claims.operations.owed import OwedClaim
from hloproof.claims.operations.partition import _in_a_row, _Source, partition_parts
from hloproof.claims.operations.plain_definition import plain_converse, plain_definition
from hloproof.claims.statements.relation import Piece, piece_of
from hloproof.claims.statements.statement import Part
from hloproof.claims.statements.witness import asked
from hloproof.definitions.definition import Definition
from hloproof.engines.portfolio import prove
from hloproof.logic.formula import Formula, conj, eq
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction
from hloproof.models.maps.text import parse_map
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

D0, X0, W0 = Var("d0"), Var("x0"), Var("w0")


def about(result: int, operand: int, direction: Direction = "output-to-input") -> Subject:
    module = parse_module("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] copy(p)\n}\n")
    op = Operation.of(module.entry.root, module.entry)
    return Subject(op, 0, 0, ArrayShape("f32", (result,)), ArrayShape("f32", (operand,)), direction)


def reading(
    result: int, operand: int, predicate: Formula, iterated: Interval | None = None, group_size: int = 0
) -> Definition:
    iteration = () if iterated is None else (("w0", iterated),)
    return Definition("reads", (result,), (operand,), predicate, iteration, group_size=group_size)


def said(parts: Sequence[Part]) -> str:
    found = {asked(p, prove).verdict for p in parts}
    return next((v for v in ("internal", "refuted", "unknown") if v in found), "proved")


def plainly(obligations: Sequence[Obligation]) -> str:
    return "proved" if {prove(o).verdict for o in obligations} <= {"proved"} else "refuted"


def judged(text: str, definition: Definition) -> str:
    subject = about(definition.output_sizes[0], definition.operand_sizes[0])
    return said(definition_parts(subject, OperandMaps(0, "reads", (parse_map(text),)), definition))


@pytest.mark.parametrize(("upper", "what"), [(2, "proved"), (3, "refuted")])
def test_what_is_solved_for_lies_in_its_interval(upper: int, what: str) -> None:
    """Of the definition w0 is x0 - d0, and no more than 2."""
    definition = reading(4, 9, eq(X0, D0 + W0), Interval(0, 2))
    assert judged(f"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, {upper}]", definition) == what


@pytest.mark.parametrize(("upper", "what"), [(3, "proved"), (2, "refuted")])
def test_blocks_of_which_the_last_is_cut_are_counted(upper: int, what: str) -> None:
    """Element 1 is read by w0 = 2 and 3, or by 2 alone, and by the map twice."""
    definition = reading(4, 2, eq(X0, W0 // 2), Interval(0, upper))
    assert judged("(d0)[s0, s1] -> (s0), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1]", definition) == what


@pytest.mark.parametrize(("upper", "what"), [(0, "proved"), (1, "refuted")])
def test_what_is_said_to_be_determined_is_asked(upper: int, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second value of s0 each element is read twice as often; whoever solves says that there is none."""
    monkeypatch.setattr(Piece, "determined", lambda self, target=None: {"s0": Const(0)})
    definition = reading(4, 2, eq(X0, W0 // 2), Interval(0, 3))
    text = f"(d0)[s0, s1] -> (s1 floordiv 2), domain: d0 in [0, 3], s0 in [0, {upper}], s1 in [0, 3]"
    assert judged(text, definition) == what


def test_what_is_read_more_often_than_the_map_can_is_not_counted() -> None:
    text = "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]"
    once, twice = reading(4, 2, eq(X0, W0), Interval(0, 1)), reading(4, 2, eq(X0, W0 // 2), Interval(0, 3))
    assert judged(text, once) == "proved"
    with pytest.raises(NotModelled, match="how often"):
        judged(text, twice)


def test_two_points_of_one_map_are_both_in_its_domain() -> None:
    """Nothing is solved for: s0 + s1 is even only where they are equal, and told apart by their sum only there."""
    box = "domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 3]"
    even = reading(4, 7, eq(X0, W0 * 2), Interval(0, 3))
    assert judged(f"(d0)[s0, s1] -> (s0 + s1), {box}, s0 - s1 in [0, 0]", even) == "proved"
    assert judged(f"(d0)[s0, s1] -> (s0 + s1), {box}, s0 - s1 in [-2, 0], (s0 + s1) mod 2 in [0, 0]", even) == "refuted"


@pytest.mark.parametrize(("position", "what"), [("s0 + s1", "proved"), ("(s0 + s1) mod 2", "refuted")])
def test_elements_of_two_devices_are_two(position: str, what: str) -> None:
    box = "domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1]"
    text = f"(d0)[s0, s1] -> (d0), {box}, s0 - s1 in [0, 0]\nreplica id:\n(d0)[s0, s1] -> ({position}), {box}"
    meant = eq(Var("q") % 2, 0) if what == "proved" else eq(Var("q"), 0)
    assert judged(text, reading(4, 4, conj(eq(X0, D0), meant), group_size=3)) == what


def owed_by(
    operand: int, text: str, tables: Sequence[object] = (), claim: str = "in-bounds", unknown: str = ""
) -> OwedClaim:
    """A claim about maps from an output of four elements, composed as it is said here."""
    maps = tuple(map(parse_map, text.split("\n\n"))) if text else ()
    given = OperandMaps(0, "moves", maps, unknown=unknown, tables=tuple((t,) for t in tables))
    subjects = [about(4, operand), about(4, operand, "input-to-output")]
    subjects = [replace(s, op=replace(s.op, replicas=4)) for s in subjects]
    found = _pair(subjects[0].op, subjects, lambda direction, number: {(0, ()): given}, 64)
    return next(c for c in found if c.claim == claim)


def test_one_map_into_arrays_of_two_sizes_is_two_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_KNOWN", {})
    text = "(d0) -> (d0 + 4), domain: d0 in [0, 3]"
    assert [plainly(owed_by(n, text).obligations()) for n in (8, 7, 8)] == ["proved", "refuted", "proved"]


def test_composed_results_lie_in_their_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_KNOWN", {})
    for lower, what in ((0, "proved"), (-1, "refuted")):
        assert plainly(owed_by(4, f"(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [{lower}, 3]").obligations()) == what


def test_maps_through_other_groups_are_another_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two devices of one table are two; positions in two tables are not compared."""
    monkeypatch.setattr(table, "_KNOWN", {})
    text = "\n\n".join(
        f"(d0) -> (d0), domain: d0 in [0, 3]\nreplica id:\n(d0) -> ({n}), domain: d0 in [0, 3]" for n in (0, 1)
    )
    assert plainly(owed_by(4, text, "aa", "dedup").obligations()) == "proved"
    with pytest.raises(NotModelled, match="different groups"):
        owed_by(4, text, "ab", "dedup").obligations()


def test_what_is_not_known_on_the_way_owes_what_is_not_known() -> None:
    assert owed_by(4, "").obligations() == ()  # nothing is read
    with pytest.raises(NotModelled, match="shuffle"):
        owed_by(4, "", unknown="shuffle").obligations()


def supplied(*texts: str) -> list[Part]:
    maps = OperandMaps(0, "moves", tuple(map(parse_map, texts)))
    subject = about(8, 4)
    return partition_parts(subject.op, subject.output_shape, [maps], reading(8, 4, eq(X0, X0)))


@pytest.mark.parametrize(("last", "what"), [(3, "proved"), (4, "refuted"), (5, "refuted")])
def test_neighbours_that_touch_overlap(last: int, what: str) -> None:
    boxes = [f"(d0) -> (0), domain: d0 in [{lower}, {upper}]" for lower, upper in ((0, last), (4, 7))]
    first, second = (_Source(n, piece_of(parse_map(t), n, "output-to-input", ())) for n, t in enumerate(boxes))
    assert said(_in_a_row([first, second], 0)) == what
    assert said(supplied(*boxes)) == what
    assert said(_in_a_row([second, first], 0)) == "refuted"


def test_a_map_that_leaves_a_choice_says_not_where_an_element_comes_from() -> None:
    assert said(supplied("(d0) -> (d0 floordiv 2), domain: d0 in [0, 7]")) == "proved"
    with pytest.raises(NotModelled, match="no single element"):
        supplied("(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 3]")


FUSED = """HloModule m
f {
  q = f32[4] parameter(0)
  ROOT n = f32[4] OPCODE(q)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=f
}
"""


@pytest.mark.parametrize(("opcode", "what"), [("negate", "proved"), ("shuffle", "unknown")])
def test_a_fusion_of_what_is_not_known_is_not_known(opcode: str, what: str) -> None:
    options = Options(selection=Selection(only=("in-bounds",), instructions=("r",)))
    report = check_hlo(FUSED.replace("OPCODE", opcode), options)
    assert {r.verdict.value for r in report.records()} == {what}


@pytest.mark.parametrize(("divisor", "stated"), [("2", True), ("d0 + 1", False)])
def test_second_statements_divide_by_numbers_alone(divisor: str, stated: bool) -> None:
    maps = OperandMaps(0, "reads", (parse_map(f"(d0) -> (d0 floordiv ({divisor})), domain: d0 in [0, 3]"),))
    same = OperandMaps(0, "reads", (parse_map("(d0) -> (d0), domain: d0 in [0, 3]"),))
    definition, subject = reading(4, 4, eq(X0, D0 // 2)), about(4, 4)
    if stated:
        assert plainly(plain_definition(subject, maps, definition)) == "proved"
        assert plain_converse(subject, maps, same, definition) and plain_converse(subject, same, maps, definition)
        return
    with pytest.raises(NotModelled, match="divisor"):
        plain_definition(subject, maps, definition)
    for forth, back in ((maps, same), (same, maps)):
        with pytest.raises(NotModelled, match="divisor"):
            plain_converse(subject, forth, back, definition)


def on_devices(position: str, more: str = "") -> OperandMaps:
    box = "domain: d0 in [0, 3], s0 in [0, 2]"
    text = f"(d0)[s0] -> (d0), {box}\nreplica id:\n(d0)[s0] -> ({position}), {more or box}"
    return OperandMaps(0, "reads", (parse_map(text),))


@pytest.mark.parametrize(
    ("maps", "what"),
    [
        (on_devices("s0"), "proved"),
        # Never the last device; only some points of the map, by the interval or a constraint of its device.
        (on_devices("min(s0, 1)"), "refuted"),
        (on_devices("s0", "domain: d0 in [0, 3], s0 in [0, 1]"), "refuted"),
        (on_devices("s0", "domain: d0 in [0, 3], s0 in [0, 2], s0 + 0 in [0, 1]"), "refuted"),
    ],
)
def test_second_statements_ask_which_device_is_read(maps: OperandMaps, what: str) -> None:
    definition = replace(reading(4, 4, eq(X0, D0), group_size=3), multiplicity=False)
    assert plainly(plain_definition(about(4, 4), maps, definition)) == what


def test_second_statements_do_not_count_what_is_read_several_times() -> None:
    """What is read twice by the definition is not to be read once by the map."""
    once: Expr = W0
    maps = OperandMaps(0, "reads", (parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]"),))
    assert plainly(plain_definition(about(4, 2), maps, reading(4, 2, eq(X0, once), Interval(0, 1)))) == "proved"
    with pytest.raises(NotModelled, match="how often"):
        plain_definition(about(4, 2), maps, reading(4, 2, eq(X0, once // 2), Interval(0, 3)))


@pytest.mark.parametrize(("position", "what"), [("s0", "proved"), ("s0 + 1", "refuted"), ("s0 - 1", "refuted")])
def test_a_device_that_is_read_is_one_of_the_group(position: str, what: str) -> None:
    assert said(in_bounds_parts(about(4, 4), on_devices(position), 3)) == what


PADDED = """map a
  hlo
    ENTRY e {
      p = f32[4] parameter(0)
      n = f32[4] negate(p)
      z = f32[] constant(0)
      q = f32[8] pad(p, z), padding=0_4
      ROOT r = BEFORE
    }
  hlo-after
    ENTRY e {
      p = f32[4] parameter(0)
      z = f32[] constant(0)
      n = f32[4] negate(p)
      q = f32[8] pad(n, z), padding=0_4
      ROOT r = AFTER
    }
"""


def compared(before: str, after: str) -> str:
    """Two modules with these roots."""
    return PADDED.replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("f32[4] negate(n)", "f32[4] copy(n)", "proved"),
        ("f32[8] negate(q)", "f32[8] copy(q)", "proved"),
        ("f32[4] negate(n)", "f32[8] copy(q)", "refuted"),
        ("(f32[4], f32[8]) tuple(n, q)", "(f32[8], f32[4]) tuple(q, n)", "refuted"),
        ("f32[4] iota(), iota_dimension=0", "f32[8] iota(), iota_dimension=0", "refuted"),
        ("f32[0] iota(), iota_dimension=0", "f32[0,3] iota(), iota_dimension=0", "refuted"),
        ("f32[4] negate(n)", "token[] after-all()", "refuted"),
    ],
)
def test_modules_that_give_arrays_of_other_sizes_are_not_alike(before: str, after: str, what: str) -> None:
    """Where what one of them alone has reads nothing, the maps are the same."""
    (found,) = check_maps_text(compared(before, after), "x.map")
    assert found.verdict.value == what
