"""What errors planted by hand changed and no other test noticed, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from hloproof.claims.layouts.claims import ClaimedLayout, LayoutClaim, claims, inside, onto
from hloproof.claims.layouts.contiguity import judged_runs
from hloproof.claims.layouts.formats import format_claims
from hloproof.claims.layouts.judge import judge_one
from hloproof.claims.layouts.owed import layout_parts
from hloproof.claims.layouts.steps import Chain, chain
from hloproof.engines.portfolio import prove
from hloproof.logic.formula import TRUE, Compare, Exists, Formula, Not, conj, disj, eq, lt
from hloproof.logic.normal_form import identical, key, written_the_same
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import parse_expr
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.results.verdict import Verdict

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


def test_names_do_not_run_together_in_the_normal_form() -> None:
    """Before a name stands a `v`: one after the other, these are the same letters."""
    one, other = Var("x"), Var("xvx")
    assert not written_the_same(one // other, other // one)
    both = (("x", None), ("xvx", None))
    assert not identical(Obligation(both, eq(one + other + other, one + one + one + other)))


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
        pairs = product(boxes, repeat=2)
        names = f"x{cases.before}", f"z{cases.before}"
        assert [tuple(dict(o.variables)[n] for n in names) for o in step.one_to_one()] == list(pairs)
        after = [i for o in step.onto() for i in [dict(o.variables)[f"y{cases.after}"]] if i is not None]
        assert [p for i in after for p in range(i.lower, i.upper + 1)] == list(range(step.after[cases.after]))


@pytest.mark.parametrize(
    ("text", "size", "claim"),
    [
        ("f32[4]", 3, inside),  # the last element lies outside
        ("f32[4]{0:T(2)}", 3, inside),
        ("f32[2,2]{1,0:T(1,3)}", 4, onto),  # as many positions as elements, and one of them is padding
    ],
)
def test_the_size_of_the_memory_is_part_of_what_is_claimed(
    text: str, size: int, claim: Callable[[ClaimedLayout, Chain], LayoutClaim]
) -> None:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    right = ClaimedLayout.by_formula(shape)
    for claimed, wanted in ((right, Verdict.PROVED), (replace(right, size=size), Verdict.REFUTED)):
        assert judge_one(claim(claimed, chain(shape)), prove).found.verdict is wanted


def test_an_instruction_owes_every_step_of_every_claim() -> None:
    shape = parse_shape("u8[3,5]{1,0:T(2,2)(2,1)}")
    assert isinstance(shape, ArrayShape)
    every = {o for c in claims(ClaimedLayout.by_formula(shape)) for o in c.steps}
    assert {p.obligation for p in layout_parts(shape)} == every


def test_a_format_owes_each_kind_of_step() -> None:
    shape = parse_shape("f32[?,?,?]{2,1,0:T(*,4)(2,1)}")
    assert isinstance(shape, ArrayShape)
    for claim in format_claims(shape):
        labels = {o.label.split(":")[0] for o in claim.steps}
        assert {"dividing by 4", "dividing by 2", "joining, any size"} <= labels
        assert {"the combined coordinate in both readings", "the combined size in both readings"} <= labels


@pytest.mark.parametrize(("columns", "run"), [(4, 4), (5, 4), (8, 4), (9, 4)])
def test_a_run_ends_where_the_next_index_lies_elsewhere(columns: int, run: int) -> None:
    """In tiles of four columns, the last one or not."""
    shape = parse_shape(f"f32[2,{columns}]{{1,0:T(2,4)}}")
    assert isinstance(shape, ArrayShape)
    (found,) = [r.length for r, _ in judged_runs(shape, prove) if r.dimension == 1]
    assert found == run


TRUE_GOAL, FALSE_GOAL = Obligation((), eq(0, 0)), Obligation((), eq(0, 1))
OPEN_GOAL = Obligation((("open", None),), eq(Var("open"), 0))
JUDGED = [
    ((TRUE_GOAL,), TRUE_GOAL, True, "proved"),
    ((TRUE_GOAL, FALSE_GOAL), TRUE_GOAL, True, "proved"),  # a step of the proof that is not needed
    ((TRUE_GOAL, FALSE_GOAL), TRUE_GOAL, False, "unknown"),  # which showed what the claim itself does not say
    ((TRUE_GOAL, FALSE_GOAL), FALSE_GOAL, True, "refuted"),
    ((TRUE_GOAL, FALSE_GOAL), None, True, "unknown"),  # steps that suffice refute nothing
    ((TRUE_GOAL, OPEN_GOAL), None, True, "unknown"),
    ((OPEN_GOAL, TRUE_GOAL), None, True, "unknown"),
    ((OPEN_GOAL, TRUE_GOAL), OPEN_GOAL, True, "unknown"),
    ((OPEN_GOAL,), TRUE_GOAL, False, "unknown"),
    ((OPEN_GOAL,), FALSE_GOAL, False, "refuted"),
    ((), None, True, "unknown"),
]


@pytest.mark.parametrize(("steps", "direct", "complete", "verdict"), JUDGED)
def test_a_claim_is_what_its_steps_and_itself_come_to(
    steps: tuple[Obligation, ...], direct: Obligation | None, complete: bool, verdict: str
) -> None:
    def ask(obligation: Obligation) -> Outcome:
        return Outcome("unknown", (), reason="late") if obligation == OPEN_GOAL else prove(obligation)

    claim = LayoutClaim("c", "so it is", steps, direct, lambda _: "at no point", complete)
    assert judge_one(claim, ask).found.verdict.value == verdict
