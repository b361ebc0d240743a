"""Obligations with symbolic divisors by polynomial inequalities and their products (`prove.py`).

It proves or gives up; it finds no counterexamples. Divisors of the conclusion are proved to differ from zero first,
innermost first, since `prove.implies` takes it for granted.
"""

from __future__ import annotations

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.formula import And, Compare, Formula
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.rules.rule import Condition


def find_counterexample(obligation: Obligation, rlimit: int) -> None:
    """None when the obligation is proved. Raises NotExpressible where it is not a conjunction of comparisons that
    follows from one, GaveUp where it is not shown."""
    from hloproof.engines.nonlinear.prove import implies

    if any("!" in name for name, _ in obligation.variables):  # so are its quotients called
        raise NotExpressible("a variable with the name of a quotient")
    hypotheses = _conditions(obligation.hypothesis)
    for name, interval in obligation.variables:
        if interval is not None:
            hypotheses += _within(name, interval.lower, interval.upper)
    goals = _conditions(obligation.conclusion)
    given = set(hypotheses)
    for divisor in _divisors(goals):
        goals.insert(0, Condition("!=", divisor, Const(0)))
    for goal in goals:
        if goal not in given and not implies(hypotheses, goal, rlimit, obligation.rounding):
            raise GaveUp("products of inequalities do not show it")


def _conditions(f: Formula) -> list[Condition]:
    if isinstance(f, Compare):
        return [Condition(f.op, f.lhs, f.rhs)]
    if isinstance(f, And):
        return [c for part in f.parts for c in _conditions(part)]
    raise NotExpressible("not a conjunction of comparisons")


def _within(name: str, lower: int, upper: int) -> list[Condition]:
    return [Condition("<=", Const(lower), Var(name)), Condition("<=", Var(name), Const(upper))]


def _divisors(goals: list[Condition]) -> list[Expr]:
    """Every divisor of the goals that may be zero, outermost first."""
    found: dict[Expr, None] = {}
    for goal in goals:
        for root in (goal.lhs, goal.rhs):
            for e in postorder(root):
                if isinstance(e, Binary) and e.op in ("floordiv", "ceildiv", "mod"):
                    if isinstance(e.rhs, Const) and e.rhs.value == 0:
                        raise NotExpressible("a division by the constant zero")
                    if not isinstance(e.rhs, Const):
                        found.setdefault(e.rhs)
    return list(reversed(found))
