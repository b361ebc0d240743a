"""That a pair belongs to a map says where all of its variables lie, solved for or not; and a statement without points
stays one when it is made smaller."""

from __future__ import annotations

import pytest

from hloproof.claims.operations import owed as table
from hloproof.claims.operations.definition import Subject
from hloproof.claims.statements.relation import piece_of
from hloproof.claims.statements.statement import Statement
from hloproof.engines.portfolio import prove
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import Formula, eq, le
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.maps.text import parse_map

PIECE = piece_of(
    parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 2]"),
    0,
    "output-to-input",
    [("r0", Interval(0, 5))],
)


@pytest.mark.parametrize("solving", [True, False])
@pytest.mark.parametrize(
    ("source", "target", "read", "belongs"),
    [
        (1, 4, 0, True),
        (1, 6, 5, True),
        (1, 7, 0, False),
        (1, 3, 0, False),
        (4, 16, 0, False),
        (-1, -4, 0, False),
        (1, 4, 6, False),
    ],
    ids=["first", "last", "s0 = 3", "s0 = -1", "d0 = 4", "d0 = -1", "r0 = 6"],
)
def test_a_pair_belongs_to_a_map_where_all_variables_lie_in_their_intervals(
    source: int, target: int, read: int, belongs: bool, solving: bool
) -> None:
    member = PIECE.membership([Const(source)], [Const(target)], None, solving)
    assert holds(member, {"r0": read}, steps=1000) is belongs


X, Y = Var("x"), Var("y")


@pytest.mark.parametrize(
    ("variables", "hypothesis", "verdict"),
    [
        ((("x", Interval(0, 3)), ("y", Interval(0, 9))), eq(X, Y), "proved"),
        ((("x", Interval(0, 4)), ("y", Interval(0, 9))), eq(X, Y), "refuted"),
        ((("x", Interval(0, -1)), ("y", Interval(0, 9))), le(Y, 9), "proved"),
        ((("x", Interval(0, 0)), ("y", Interval(0, 9))), le(Y, 9), "refuted"),
    ],
    ids=["what is removed lies in its interval", "and in no smaller one", "no point", "a point"],
)
def test_a_statement_made_smaller_says_the_same(
    variables: tuple[tuple[str, Interval | None], ...], hypothesis: Formula, verdict: str
) -> None:
    part = Statement(variables, (hypothesis,)).therefore(le(Y, 3), "at most 3", str)
    assert part.plain is not None and prove(part.obligation).verdict == prove(part.plain).verdict == verdict


def test_of_several_sets_of_maps_none_is_chosen() -> None:
    module = parse_module("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] copy(p)\n}\n")
    op, shape = Operation.of(module.entry.root, module.entry), ArrayShape("f32", (4,))
    subject = Subject(op, 0, 0, shape, shape, "output-to-input")
    once, twice = table._Table(op, 64), table._Table(op, 64)
    (maps,) = once.forward(0)
    assert once.maps(subject) == maps
    twice.forward = lambda _: (maps, maps)  # type: ignore[assignment]
    with pytest.raises(NotModelled, match="several sets"):
        twice.maps(subject)
