"""What errors planted by hand changed and no other test noticed, each by itself."""

from __future__ import annotations

import pytest

from hloproof.claims.layouts.steps import chain
from hloproof.logic.formula import TRUE, Compare, Exists, Formula, Not, conj, disj, eq, lt
from hloproof.logic.normal_form import identical, key, written_the_same
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import parse_expr
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape

NINE = (("d0", Interval(1, 9)), ("d1", Interval(1, 9)))


def turned(op: str) -> tuple[Expr, Expr]:
    if op in ("min", "max"):
        return parse_expr(f"{op}(d0, d1)"), parse_expr(f"{op}(d1, d0)")
    return parse_expr(f"d0 {op} d1"), parse_expr(f"d1 {op} d0")


@pytest.mark.parametrize(
    ("op", "commutes"),
    [("+", True), ("*", True), ("min", True), ("max", True), ("-", False)]
    + [(op, False) for op in ("mod", "floordiv", "ceildiv")],
)
def test_the_normal_form_sorts_what_commutes_and_nothing_else(op: str, commutes: bool) -> None:
    a, b = turned(op)
    assert written_the_same(a, b) is commutes
    assert identical(Obligation(NINE, eq(a, b))) is commutes
    assert (key(Obligation(NINE, eq(a, a))) == key(Obligation(NINE, eq(a, b)))) is commutes


def test_only_what_holds_as_it_is_written_is_identical() -> None:
    a, b = parse_expr("d0 + d1"), parse_expr("d1 + d0")
    for op, holds in (("==", True), ("<=", True), ("<", False), ("!=", False)):
        assert identical(Obligation(NINE, Compare(op, a, b))) is holds  # type: ignore[arg-type]


def _some(name: str, upper: int, part: Formula) -> Formula:
    return Exists(((name, Interval(0, upper)),), part)


V, W, X = Var("v"), Var("w"), Var("d0")
QUANTIFIED = [
    (_some("w", 9, eq(W, X)), _some("v", 9, eq(V, X)), True, "a bound name"),
    (_some("w", 9, eq(W, X)), _some("w", 8, eq(W, X)), False, "an interval"),
    (_some("w", 9, _some("v", 9, eq(V, W))), _some("w", 9, _some("v", 9, eq(V, V))), False, "which is meant"),
    (_some("w", 9, _some("v", 9, lt(V, W))), _some("v", 9, _some("w", 9, lt(V, W))), False, "whose turn it is"),
    (_some("w", 9, _some("v", 9, lt(V, W))), _some("v", 9, _some("w", 9, lt(W, V))), True, "both names"),
    (_some("w", 9, _some("w", 9, eq(W, X))), _some("w", 9, _some("v", 9, eq(V, X))), True, "a hidden one"),
    (conj(_some("w", 9, eq(W, X)), eq(X, 1)), _some("w", 9, conj(eq(W, X), eq(X, 1))), False, "how far it reaches"),
    (Not(_some("w", 9, eq(W, X))), _some("w", 9, Not(eq(W, X))), False, "what is denied"),
    (disj(eq(X, 1), eq(X, 2)), conj(eq(X, 1), eq(X, 2)), False, "how they are joined"),
]


@pytest.mark.parametrize(("one", "two", "same", "why"), QUANTIFIED, ids=[row[3] for row in QUANTIFIED])
def test_obligations_share_a_key_where_they_differ_in_names_alone(
    one: Formula, two: Formula, same: bool, why: str
) -> None:
    assert (key(Obligation(NINE, one)) == key(Obligation(NINE, two))) is same
    assert (key(Obligation(NINE, TRUE, one)) == key(Obligation(NINE, TRUE, two))) is same
    assert key(Obligation(NINE, one, two)) != key(Obligation(NINE, two, one)) or same


def test_the_cases_of_a_split_dimension_are_all_of_it() -> None:
    shape = parse_shape("f32[10,4]{1,0:SC(0:3,7)}")
    assert isinstance(shape, ArrayShape)
    found = [s for s in chain(shape).steps if s.cases is not None]
    assert found
    for step in found:
        cases = step.cases
        assert cases is not None
        boxes = [i for o in step.inside() for i in [dict(o.variables)[f"x{cases.before}"]] if i is not None]
        points = [p for i in boxes for p in range(i.lower, i.upper + 1)]
        assert points == list(range(step.before[cases.before]))
