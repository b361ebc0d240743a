"""Small random obligations: every operator, undefined divisions, empty domains, nested and negated quantifiers."""

from __future__ import annotations

import random

from hloproof.logic.formula import And, Comparator, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import OPERATORS, Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval

COMPARATORS: tuple[Comparator, ...] = ("==", "!=", "<=", "<")
DIVISORS = (-7, -3, -2, -1, 1, 2, 3, 4, 5, 8)


def expression(r: random.Random, names: list[str], depth: int, symbolic: bool) -> Expr:
    """`symbolic` allows products of variables and variables as divisors, which may be zero."""
    if depth == 0 or r.random() < 0.2:
        return Var(r.choice(names)) if r.random() < 0.75 else Const(r.randint(-7, 7))
    op = r.choice(OPERATORS)
    left = expression(r, names, depth - 1, symbolic)
    right: Expr
    if op in ("floordiv", "ceildiv", "mod"):
        right = Const(0 if r.random() < 0.02 else r.choice(DIVISORS))
        if symbolic and r.random() < 0.3:
            right = expression(r, names, 0, symbolic)
    elif op == "*" and not symbolic:
        right = Const(r.randint(-5, 5))
    else:
        right = expression(r, names, depth - 1, symbolic)
    return Binary(op, left, right)


def formula(r: random.Random, names: list[str], depth: int, symbolic: bool, quantified: int = 0) -> Formula:
    kind = r.random()
    if depth == 0 or kind < 0.35:
        right = expression(r, names, r.choice([0, 1]), symbolic)
        return Compare(r.choice(COMPARATORS), expression(r, names, 2, symbolic), right)
    if kind < 0.65:
        parts = tuple(formula(r, names, depth - 1, symbolic, quantified) for _ in range(r.randint(0, 3)))
        return And(parts) if kind < 0.5 else Or(parts)
    if kind < 0.8:
        return Not(formula(r, names, depth - 1, symbolic, quantified))
    name = f"w{quantified}" if r.random() < 0.8 else r.choice(names)  # sometimes it shadows
    lower = r.randint(-3, 2)
    inner = formula(r, [*names, name], depth - 1, symbolic, quantified + 1)
    return Exists(((name, Interval(lower, lower + r.randint(-1, 4))),), inner)


def obligation(seed: int, symbolic: bool = False) -> Obligation:
    r = random.Random(seed)
    variables: list[tuple[str, Interval | None]] = []
    for i in range(r.randint(1, 3)):
        lower = r.randint(-5, 3)
        variables.append((f"v{i}", Interval(lower, lower + r.randint(-1 if r.random() < 0.1 else 0, 9))))
    names = [v for v, _ in variables]
    hypothesis = formula(r, names, r.randint(1, 3), symbolic)
    return Obligation(tuple(variables), formula(r, names, r.randint(0, 2), symbolic), hypothesis)
