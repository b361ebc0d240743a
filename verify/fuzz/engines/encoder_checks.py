"""The encoders on small things that every example can afford: laws that isl's settles outright, connectives at a point,
and for Z3's divisors that may be zero, under quantifiers too.
"""

from __future__ import annotations

import json
from random import Random
from typing import Final

from hloproof.engines.gave_up import GaveUp
from hloproof.fuzz.engines.judge_checks import DIVISIONS
from hloproof.fuzz.engines.three_valued import read
from hloproof.fuzz.target import Failure
from hloproof.logic.formula import FALSE, TRUE, And, Compare, Exists, Formula, Not, Or, eq, le, ne
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import to_json
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval

OPERATIONS: Final = 1_000_000
POINTS: Final = 4

u, v = Var("u"), Var("v")


def encoder(draw: Random) -> None:
    """Raises Failure where a law takes a step, or a point is misjudged."""
    from hloproof.engines.isl.encode import find_counterexample

    law = Obligation((("u", None), ("v", None)), _law(draw))
    try:
        settled = find_counterexample(law, 0) is None
    except GaveUp:
        settled = False
    if not settled:
        raise Failure("solvers: isl's encoder does not settle a law of quotients", json.dumps(to_json(law)))
    f = _connected(draw)
    hypothesis, conclusion = draw.choice(((f, FALSE), (TRUE, f), (Not(f), FALSE), (TRUE, Not(f))))
    given, owed = read(hypothesis), read(conclusion)
    for _ in range(POINTS):
        point = {"u": draw.randint(-1, 2), "v": draw.randint(-1, 2)}
        at = Obligation(tuple((n, Interval.point(c)) for n, c in point.items()), conclusion, hypothesis)
        fails = given(point) is True and owed(point) is not True
        if find_counterexample(at, OPERATIONS) != (point if fails else None):
            raise Failure("solvers: isl's encoder misjudges a point", json.dumps(to_json(at)))


def divided(draw: Random) -> None:
    """Raises Failure where Z3 misjudges a point of quotients by what varies, or of quantifiers inside one another."""
    from hloproof.engines.z3.encode import find_counterexample_quickly

    w, z, k = Var("w"), Var("z"), Var("k")
    divisor: Expr = draw.choice((k, k, k + 1, Const(draw.choice((-3, -1, 0, 2)))))
    point = {"u": draw.randint(-5, 5), "v": draw.randint(-2, 2), "k": draw.choice((-3, -2, -1, 0, 0, 1, 2, 3))}
    quotient = Binary(draw.choice(DIVISIONS), u * draw.choice((1, 3, -2)), divisor)
    try:
        near = evaluate(quotient, point) + draw.choice((-1, 0, 0, 1))
    except UndefinedValue:
        near = 0
    beside = Const(near) if draw.random() < 0.7 else Binary(quotient.op, quotient.lhs, k * k + 1)
    atom = Compare(draw.choice(("==", "!=", "<=", "<")), quotient, beside)
    reach = (Interval(0, 1), Interval(0, 2))
    inner = Exists((("z", draw.choice(reach)),), eq(z, w + draw.choice((0, 0, 1))))
    everywhere = Not(Exists((("w", draw.choice(reach)),), Not(inner)))
    f: Formula = draw.choice((atom, atom, Not(atom), And((atom, le(u, v))), Or((atom, le(u, v))), everywhere))
    hypothesis, conclusion = draw.choice(((f, FALSE), (TRUE, f)))
    variables = tuple((n, Interval.point(c)) for n, c in point.items())
    at = Obligation((*variables, ("idle", None)), conclusion, hypothesis)
    fails = read(hypothesis)(point) is True and read(conclusion)(point) is not True
    try:
        found = find_counterexample_quickly(at, OPERATIONS)
    except GaveUp:
        return
    if found is not None:
        found.pop("idle")
    if found != (point if fails else None):
        raise Failure("solvers: Z3's encoder misjudges a point", json.dumps(to_json(at)))


def _law(draw: Random) -> Formula:
    f: Expr = u * draw.choice((1, 2, 3, -1, -2)) + v * draw.choice((1, 2, 4, 6, -3))
    if draw.random() < 0.5:
        f = f + draw.randint(-7, 7)
    a, b, k = draw.choice((2, 3, 4, 6)), draw.choice((2, 3, 5)), draw.randint(-5, 12)
    return draw.choice(
        (
            eq((f * a + k) // a, f + k // a),
            eq((f * a + k) // (a * b), (f + k // a) // b),
            eq((f // a + k) // b, (f + a * k) // (a * b)),
            eq((f // a + k) // b // 2, (f + a * k) // (a * b * 2)),
        )
    )


def _connected(draw: Random) -> Formula:
    def atom() -> Formula:
        x, other, c = draw.choice((u, v)), draw.choice((u, v)), draw.randint(-1, 2)
        return draw.choice(
            (
                eq(x, c),
                eq(x, c),
                ne(x, c),
                ne(other, c),
                le(x, c),
                le(c, maximum(u, v)),
                le(minimum(u, v), c),
                le(maximum(u, v) + x, c),
                le(c, minimum(u, v + 1)),
                eq(Const(c) // 0, 0),
                eq(x // 0, c),
                eq(0, 1),
                eq(0, 0),
            )
        )

    pair = Or((atom(), atom()))
    apart = And((atom(), atom()))
    return draw.choice(
        (
            Or((And((ne(u, 0), ne(v, draw.randint(0, 1)))), atom())),
            And((pair, atom())),
            Or((apart, atom())),
            Or((And((pair, atom())), atom())),
            And((Or((apart, atom())), pair)),
            Or((And((pair, eq(0, 1))), atom())),
            And((Or((And((pair, Or((atom(), atom())))), atom())), atom())),
        )
    )
