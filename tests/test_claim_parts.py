"""What each claim of an operation owes, part by part: what fails for one reason alone is refuted, or not modelled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from spec_texts import check_maps_text
from test_false_proofs_maps import CHOSEN

from hloproof.claims.operations.bijective import bijective_parts
from hloproof.claims.operations.converse import converse_parts
from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.loop import _agree
from hloproof.claims.statements.relation import piece_of
from hloproof.claims.statements.statement import Part
from hloproof.definitions.definition import Definition
from hloproof.engines.portfolio import prove
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import eq
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Var
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.text import parse_map


def said(parts: Sequence[Part]) -> str:
    return "proved" if all(prove(p.obligation).verdict == "proved" for p in parts) else "refuted"


def about(operand: str, result: str) -> Subject:
    module = parse_module(f"HloModule m\nENTRY e {{\n  p = {operand} parameter(0)\n  ROOT r = {operand} copy(p)\n}}\n")
    op = Operation.of(module.entry.root, module.entry)
    shapes = [parse_shape(text) for text in (result, operand)]
    assert isinstance(shapes[0], ArrayShape) and isinstance(shapes[1], ArrayShape)
    return Subject(op, 0, 0, shapes[0], shapes[1], "output-to-input")


def moved(text: str) -> OperandMaps:
    return OperandMaps(0, "moves", (parse_map(text),))


FOUR, FIVE = "f32[4]", "f32[5]"
THERE = "(d0) -> (d0), domain: d0 in [0, 3]"
ROUND = [
    (FOUR, FOUR, "(d0) -> (3 - d0), domain: d0 in [0, 3]", "(d0) -> (3 - d0), domain: d0 in [0, 3]", "proved"),
    (FOUR, FOUR, "(d0) -> (3 - d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]", "refuted"),
    # Defined on a part of the array, by its box or by a constraint, there or on the way back.
    (FOUR, FOUR, THERE.replace("3", "2"), THERE, "refuted"),
    (FOUR, FOUR, f"{THERE}, d0 + 0 in [0, 2]", THERE, "refuted"),
    (FOUR, FOUR, "(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [1, 3]", "refuted"),
    # Of another shape, though it comes back.
    (FOUR, FOUR, THERE.replace("(d0), ", "(d0, 7), "), THERE, "refuted"),
    # One to one, and not onto.
    (FIVE, FOUR, "(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (min(d0, 3)), domain: d0 in [0, 4]", "refuted"),
]  # fmt: skip


@pytest.mark.parametrize(("operand", "result", "there", "back", "verdict"), ROUND)
def test_one_to_one_and_onto_is_there_and_back(operand: str, result: str, there: str, back: str, verdict: str) -> None:
    assert said(bijective_parts(about(operand, result), moved(there), moved(back))) == verdict


def test_bounds_are_held_against_bounds() -> None:
    subject, m = about(FOUR, FOUR), parse_map("(d0) -> (d0), domain: d0 in [0, 3]")
    exact, bound = Definition("reads", (4,), (4,), eq(Var("d0"), Var("x0"))), Definition("bound", (4,), (4,), eq(0, 0))
    reads, bounds = OperandMaps(0, "reads", (m,)), OperandMaps(0, "bound", (m,))
    assert said(definition_parts(subject, reads, exact)) == "proved"
    assert said(converse_parts(subject, reads, reads, exact)) == "proved"
    for maps, definition in ((bounds, exact), (reads, bound)):
        with pytest.raises(NotModelled):
            definition_parts(subject, maps, definition)
    for forth, back in ((reads, bounds), (bounds, reads)):
        with pytest.raises(NotModelled):
            converse_parts(subject, forth, back, exact)


SHAPES = ["f32[2]", "f32[3]", "s32[2]", "f32[2,1]", "(f32[2])", "(f32[2], f32[2])", "token[]", "f32[]", "((f32[2]))"]


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_what_a_loop_carries_has_one_shape(one: str, other: str) -> None:
    part = _agree("it", parse_shape(one), parse_shape(other))
    assert said([part]) == ("proved" if one == other else "refuted")


SCALED = [
    # Each scale serves two elements, so it is read twice.
    ("[s0] -> (d0, s0 floordiv 2)", "s0 in [0, 3]", "proved"),
    ("[s0, s1] -> (d0, s0)", "s0 in [0, 1], s1 in [0, 1]", "proved"),
    ("[s0] -> (d0, s0)", "s0 in [0, 1]", "unknown"),
    ("[s0, s1] -> (d0, s0)", "s0 in [0, 1], s1 in [0, 2]", "unknown"),
    ("[s0, s1] -> (d0, s0)", "s0 in [0, 1], s1 in [0, 0]", "unknown"),
    ("[s0, s1] -> (d0, s0)", "s0 in [0, 1], s1 in [0, 3]", "refuted"),
    ("[s0, s1] -> (d0, s0)", "s0 in [0, 1], s1 in [0, 1], s0 + s1 in [0, 1]", "refuted"),
    ("[s0] -> (d0, s0 floordiv 3)", "s0 in [0, 3]", "refuted"),
    ("[s0] -> (d0, s0 floordiv 2)", "s0 in [0, 3], s0 + 0 in [1, 3]", "refuted"),
    ("[s0] -> (d0, s0 floordiv 2)", "s0 in [0, 2]", "unknown"),
    ("[s0] -> (d0, s0 mod 2)", "s0 in [0, 3]", "unknown"),
    ("[s0, s1] -> (d0, s0 floordiv 2)", "s0 in [0, 3], s1 in [0, 1]", "unknown"),
]
ONE_BLOCK = [
    ("[s0] -> (d0, 0)", "s0 in [0, 3]", "proved"),
    ("[s0] -> (d0, 0)", "s0 in [0, 2]", "unknown"),
    (" -> (d0, 0)", "d0 + 0 in [0, 1]", "unknown"),
]


@pytest.mark.parametrize(
    ("blocks", "said", "domain", "verdict"), [*((2, *row) for row in SCALED), *((1, *row) for row in ONE_BLOCK)]
)
def test_an_element_is_read_as_often_as_the_operation_reads_it(
    blocks: int, said: str, domain: str, verdict: str
) -> None:
    text = (
        "map a\n  hlo\n    p0 = f32[2,4] parameter(0)\n    p1 = f32[4,3] parameter(1)\n"
        f"    p2 = f32[2,{blocks}] parameter(2)\n    p3 = f32[2,3] parameter(3)\n    ROOT r = f32[2,3] "
        "scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        f"  output-to-input 2 (d0, d1){said}, domain: d0 in [0, 1], d1 in [0, 2], {domain}\n"
    )
    (found,) = check_maps_text(text, "x.map")
    assert found.verdict.value == verdict


RUN_TIME = [
    ("operand(0)", "d0", "proved"),
    ("operand(0)", "d0 + 1", "refuted"),  # p[4]
    ("operand(0)", "d0 - 1", "refuted"),
    ("operand(3)", "d0", "refuted"),  # there are three
]


@pytest.mark.parametrize(("provider", "index", "verdict"), RUN_TIME)
def test_what_is_read_at_run_time_is_there(provider: str, index: str, verdict: str) -> None:
    text = (
        CHOSEN.replace("RESULT", "(s0 + rt0) mod 4")
        .replace("INDEX", index)
        .replace("rt0: operand(0)", f"rt0: {provider}")
    )
    (found,) = check_maps_text(f"map a\n{text}", "x.map")
    assert found.verdict.value == verdict


def test_who_reads_the_own_device_reads_no_other() -> None:
    text = (
        "map a\n  hlo\n    HloModule m, replica_count={}\n    ENTRY e {{\n    p = f32[4] parameter(0)\n"
        "    ROOT r = f32[4] copy(p)\n    }}\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]{}\n"
    )
    other = "\n      replica id:\n      (d0) -> (0), domain: d0 in [0, 3]"
    for devices, more, verdict in ((1, "", "proved"), (2, "", "proved"), (2, other, "refuted"), (1, other, "unknown")):
        (found,) = check_maps_text(text.format(devices, more), "x.map")
        assert found.verdict.value == verdict


def test_a_map_without_points_has_no_pairs() -> None:
    """A range variable that nothing mentions may have any value, where it has one."""
    for upper, inside in ((3, True), (2, False)):
        m = parse_map(f"(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [3, {upper}]")
        piece = piece_of(m, 0, "output-to-input", ())
        for solving in (True, False):
            assert holds(piece.membership([Const(1)], [Const(1)], None, solving), {}) is inside


CHAINED = """    f {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = f32[] parameter(2)
      u = f32[] parameter(3)
      v = f32[] parameter(4)
      w = f32[] parameter(5)
      ab = f32[] add(a, b)
      bc = f32[] add(b, c)
      cw = f32[] add(c, w)
      ROOT r = (f32[], f32[], f32[]) tuple(ab, bc, cw)
    }
    ENTRY e {
      x = f32[4] parameter(0)
      y = f32[4] parameter(1)
      z = f32[4] parameter(2)
      i = s32[3,1] parameter(3)
      p = f32[3] parameter(4)
      q = f32[3] parameter(5)
      r = f32[3] parameter(6)
      ROOT s = (f32[4], f32[4], f32[4]) scatter(x, y, z, i, p, q, r), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
    }
"""


@pytest.mark.parametrize(("operand", "verdict"), [(4, "proved"), (6, "refuted")])
def test_what_a_scatter_combines_reaches_an_array_by_way_of_others(operand: int, verdict: str) -> None:
    """The third update of the first array adds the second one, which has the third, which has the first update's."""
    text = f"map s\n  hlo\n    HloModule m\n{CHAINED}  output 0\n  output-to-input {operand} nothing\n"
    (found,) = check_maps_text(text, "s.map")
    assert found.verdict.value == verdict
