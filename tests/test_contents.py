"""A map and a definition side by side at one point, what elements can hold by their type, and what refutes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hloproof.claims.statements.contents import of_positions, strays
from hloproof.claims.statements.held_values import of_types, shapes_in
from hloproof.claims.statements.runtime import match
from hloproof.claims.statements.statement import Part
from hloproof.claims.statements.witness import doubt
from hloproof.definitions.definition import Definition, RuntimeRead
from hloproof.logic.formula import FALSE, TRUE, Formula, eq
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.parser import parse_module
from hloproof.models.maps.indexing_map import Constraint
from hloproof.models.maps.text import parse_map

ONE = parse_map("(d0) -> (d0), domain: d0 in [0, 1]")
OTHER = "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 1]\nruntime variables:\nrt0: reader\n"
SENT = parse_map(f"{OTHER}replica id:\n(d0){{rt0}} -> (1 - rt0), domain: d0 in [0, 3], rt0 in [0, 1], d0 in [0, 2]")


def meaning(predicate: Formula, group: int = 0, runtime: tuple[RuntimeRead, ...] = ()) -> Definition:
    return Definition("moves", (4,), (4,), predicate, runtime=runtime, group_size=group)


def test_a_map_says_nothing_outside_of_its_domain() -> None:
    nothing = meaning(FALSE)
    assert strays(ONE, "output-to-input", nothing, {}, {"d0": 1})
    assert not strays(ONE, "output-to-input", nothing, {}, {"d0": 2})
    assert strays(SENT, "output-to-input", meaning(FALSE, 2), {}, {"d0": 2, "p": 0})
    step = SENT.replica
    assert step is not None
    bounded = replace(SENT, replica=replace(step, constraints=(Constraint(Var("d0"), Interval(0, 1)),)))
    narrow = replace(SENT, replica=replace(step, dims=(replace(step.dims[0], interval=Interval(0, 1)),)))
    for m in (bounded, narrow):
        assert strays(m, "output-to-input", meaning(FALSE, 2), {}, {"d0": 1, "p": 0})
        assert not strays(m, "output-to-input", meaning(FALSE, 2), {}, {"d0": 2, "p": 0})


@pytest.mark.parametrize("place", [0, 1])
def test_who_reads_is_where_the_point_says(place: int) -> None:
    from_other, from_first = (meaning(p, 2) for p in (eq(Var("q"), 1 - Var("p")), eq(Var("p"), 0)))
    at = {"d0": 0, "p": place}
    assert not strays(SENT, "output-to-input", from_other, {}, at)
    assert strays(SENT, "output-to-input", from_first, {}, at) == (place == 1)


def test_contents_that_cannot_be_show_nothing() -> None:
    read = RuntimeRead(1, (Const(0),), Interval(0, 3), held=Interval(0, 255))
    started = meaning(FALSE, runtime=(read,))
    for value, shown in ((0, True), (255, True), (256, False), (-1, False)):
        assert strays(ONE, "output-to-input", started, {(1, False, (0,)): value}, {"d0": 0}) is shown


def test_a_step_keeps_what_it_asks_where_positions_are_put_in() -> None:
    step = SENT.replica
    assert step is not None
    asked = (Constraint(Var("d0"), Interval(0, 1)),)
    narrow = tuple(replace(v, interval=Interval(0, 0)) for v in SENT.runtime)
    wide = tuple(replace(v, interval=Interval(-1, 5)) for v in SENT.runtime)
    cut = replace(SENT, runtime=wide, replica=replace(step, runtime=narrow, constraints=asked))
    found = of_positions(cut, 2)
    assert found.runtime[0].interval == Interval(0, 1)
    assert found.replica is not None
    assert {c.interval for c in found.replica.constraints} == {Interval(0, 1), Interval(0, 0)}


def test_what_a_step_asks_of_a_position_is_asked_of_what_it_is_cut_to() -> None:
    """Cut to 1 and 2, the first place is 1 as well, and the step asks for 1."""
    step = SENT.replica
    assert step is not None
    cut = tuple(replace(v, interval=Interval(1, 2)) for v in SENT.runtime)
    only = tuple(replace(v, interval=Interval(1, 1)) for v in SENT.runtime)
    found = of_positions(replace(SENT, runtime=cut, replica=replace(step, runtime=only)), 4).replica
    assert found is not None
    (asked,) = (c for c in found.constraints if c.interval == Interval(1, 1))
    assert [evaluate(asked.expr, {"rt0": n}) for n in range(4)] == [1, 1, 2, 2]


def test_a_position_is_no_one_value_that_range_variables_choose() -> None:
    text = "(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1]\nruntime variables:\n"
    text += "rt0: operand(0); (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]\nreplica id:\n"
    text += "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 1]"
    with pytest.raises(NotModelled, match="which elements are read"):
        match(parse_map(text), 0, "output-to-input", meaning(TRUE, 2))


MODULE = parse_module(
    """HloModule m
f {
  a = u8[<=300,4] parameter(0)
  k = u8[] parameter(1)
  ROOT j = s8[] convert(k)
}
ENTRY e {
  a = u8[<=300,4] parameter(0)
  k = u8[] parameter(1)
  reader = u8[] add(k, k)
  j = s8[] call(a, k), to_apply=f
  ROOT r = s32[] convert(j)
}
g {
  k = u8[] parameter(0)
  ROOT r = u8[] negate(k)
}
"""
)


def taken(provider: str, index: str = "") -> Interval:
    text = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [-1000, 1000]\nruntime variables:\nrt0: "
    return of_types(parse_map(f"{text}{provider}{index}"), shapes_in(MODULE, MODULE.entry)).runtime[0].interval


@pytest.mark.parametrize(
    ("provider", "index", "low", "high"),
    [
        ("parameter(1)", "", 0, 255),
        ("k", "", 0, 255),
        ("j", "", -128, 127),
        ("f/j", "", -128, 127),
        ("%reader", "", 0, 255),
        ("reader", "", -1000, 1000),
        ("r", "", -1000, 1000),  # one of two: 32 bits, or 8
        ("nobody", "", -1000, 1000),
        ("sizes(parameter(0))", "; (d0) -> (0), domain: d0 in [0, 3]", 0, 300),
        ("sizes(parameter(0))", "; (d0) -> (1), domain: d0 in [0, 3]", 4, 4),
        ("sizes(parameter(0))", "; (d0) -> (d0), domain: d0 in [0, 1]", -1000, 1000),
    ],
)
def test_values_that_a_type_can_hold(provider: str, index: str, low: int, high: int) -> None:
    assert taken(provider, index) == Interval(low, high)


def test_what_says_which_element_is_read_is_of_its_type_too() -> None:
    found = parse_map(
        "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [-9, 9]\nruntime variables:\n"
        "rt0: j; (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [-9, 9]; reading {rt0 = k}"
    )
    index = of_types(found, shapes_in(MODULE, MODULE.entry)).runtime[0].index
    assert index is not None
    assert index.runtime[0].interval == Interval(0, 9)


def test_what_is_not_gone_through_refutes_nothing() -> None:
    never = Obligation((), FALSE, label="never")

    def lost(point: dict[str, int]) -> dict[str, int]:
        raise KeyError("a variable without a value")

    assert doubt(Part(never, lambda _: ""), {}) is None
    assert doubt(Part(never, lambda _: "", never), {}) is None
    assert "not gone through" in (doubt(Part(never, lambda _: "", never, whole=lost), {}) or "")
