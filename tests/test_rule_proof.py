"""The prover for symbolic divisors says yes only where it is true."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.claims.rules.instances import meets
from hloproof.engines.nonlinear.prove import implies
from hloproof.logic.obligation import RoundingSemantics
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.rules.rule import Condition

RLIMIT = 300_000
NAMES = ("a", "x", "y")


def _joined(sub: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    ops = st.sampled_from(["+", "+", "*", "floordiv", "mod", "min"])
    return st.builds(Binary, ops, sub, sub)


TERMS = st.recursive(
    st.one_of(st.sampled_from([Var(n) for n in NAMES]), st.builds(Const, st.integers(-2, 3))), _joined, max_leaves=4
)
CONDITIONS = st.builds(Condition, st.sampled_from(["==", "!=", "<=", "<"]), TERMS, TERMS)
READINGS = st.sampled_from(
    [RoundingSemantics(), RoundingSemantics("euclidean", "euclidean"), RoundingSemantics("trunc", "trunc")]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CONDITIONS, max_size=2), CONDITIONS, READINGS)
def test_what_is_shown_holds_at_every_small_point(
    given_: list[Condition], goal: Condition, reading: RoundingSemantics
) -> None:
    if not implies(given_, goal, RLIMIT, reading):
        return
    for point in itertools.product(range(-4, 5), repeat=len(NAMES)):
        values = dict(zip(NAMES, point, strict=True))
        # Divisors of the goal may be taken to differ from zero: where the goal has no value, nothing was shown.
        difference = goal.lhs - goal.rhs
        if meets((*given_, Condition("==", difference, difference)), values, reading):
            assert meets((goal,), values, reading), values


def _c(text: str) -> Condition:
    from hloproof.models.rules.text import parse_rules

    (rule,) = parse_rules(f"rule c x => y when {text}".replace("rule c ", "rule c\n"))
    return rule.conditions[0]


@pytest.mark.parametrize(
    ("given_", "goal", "shown"),
    [
        (["a > 0", "b > 0"], "(x floordiv a) floordiv b == x floordiv (a * b)", True),
        (["a > 0", "b < 0"], "(x floordiv a) floordiv b == x floordiv (a * b)", False),
        (["a > 0", "b > 0"], "(x floordiv a) floordiv b == x floordiv (a + b)", False),
        (["a != 0"], "(a * x) floordiv a == x", True),
        ([], "(a * x) floordiv a == y", False),
        (["x == a * y", "a > 0", "y > 0"], "x > 0", True),
        (["x == a * y", "a > 0"], "x > 0", False),
        (["x < y", "y < x"], "x == 7", True),
        (["x == 2"], "x * x <= 2", False),
        (["x == 2"], "x * x <= 4", True),
        (["x == y + 1", "y == 2"], "x * x * y <= 6", False),
        (["x == y + 1", "y == 2"], "x * x * y <= 18", True),
    ],
)
def test_statements(given_: list[str], goal: str, shown: bool) -> None:
    assert implies([_c(t) for t in given_], _c(goal), RLIMIT * 10) is shown


@settings(max_examples=150, deadline=None)
@given(TERMS, st.tuples(*[st.integers(-7, 7)] * 3))
def test_what_python_computes_is_what_is_defined(e: Expr, at: tuple[int, int, int]) -> None:
    from hloproof.claims.rules.rounding import evaluate as by_rules
    from hloproof.models.expressions.evaluate import evaluate
    from hloproof.models.expressions.python_text import function_of

    values = dict(zip(NAMES, at, strict=True))
    results: list[int | str] = []
    ways: tuple[Callable[[], int], ...] = (
        lambda: evaluate(e, values),
        lambda: by_rules(e, values, RoundingSemantics()),
        lambda: function_of([e], NAMES)(*at)[0],
    )
    for run in ways:
        try:
            results.append(run())
        except ZeroDivisionError:
            results.append("undefined")
    assert results[0] == results[1] == results[2]
