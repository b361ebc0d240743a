"""The encoders on small things that every example can afford: laws that isl's settles outright, connectives at a point,
and for Z3's divisors that may be zero, under quantifiers too.
"""

from __future__ import annotations

import json
from typing import Final

from hloproof.engines.gave_up import GaveUp
from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.generate_obligations import law
from hloproof.fuzz.engines.reading import DIVISIONS, Point, read
from hloproof.fuzz.target import Failure
from hloproof.logic.formula import FALSE, TRUE, And, Comparator, Compare, Exists, Formula, Not, Or, eq, le, ne
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import to_json
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval

OPERATIONS: Final = 1_000_000
POINTS: Final = 4

u, v, w, z, k = (Var(name) for name in "uvwzk")


def encoders(draw: Writer) -> None:
    """Raises Failure where a law takes a step, or a point is misjudged."""
    from hloproof.engines.isl.encode import find_counterexample
    from hloproof.engines.z3.encode import find_counterexample_quickly

    stated = law(draw, outright=True)
    try:
        settled = find_counterexample(stated, 0) is None
    except GaveUp:
        settled = False
    if not settled:
        raise Failure("solvers: isl's encoder does not settle a law of quotients", json.dumps(to_json(stated)))
    f = _connected(draw)
    hypothesis, conclusion = draw.one_of(((f, FALSE), (TRUE, f), (Not(f), FALSE), (TRUE, Not(f))))
    for _ in range(POINTS):
        at, expected = _at_a_point({"u": draw.number(-1, 2), "v": draw.number(-1, 2)}, conclusion, hypothesis)
        if find_counterexample(at, OPERATIONS) != expected:
            raise Failure("solvers: isl's encoder misjudges a point", json.dumps(to_json(at)))
    point = {"u": draw.number(-5, 5), "v": draw.number(-2, 2), "k": draw.one_of((1, 2, 3, 0, 0, -1, -2, -3))}
    f = _divided(draw, point)
    hypothesis, conclusion = draw.one_of(((f, FALSE), (TRUE, f)))
    at, expected = _at_a_point(point, conclusion, hypothesis, idle=True)
    try:
        found = find_counterexample_quickly(at, OPERATIONS)
    except GaveUp:
        return
    if found is not None:
        found.pop("idle")
    if found != expected:
        raise Failure("solvers: Z3's encoder misjudges a point", json.dumps(to_json(at)))


def _at_a_point(
    point: Point, conclusion: Formula, hypothesis: Formula, idle: bool = False
) -> tuple[Obligation, Point | None]:
    """The obligation at a single point, and its counterexample, by reading."""
    variables = tuple((name, Interval.point(value)) for name, value in point.items())
    at = Obligation((*variables, ("idle", None)) if idle else variables, conclusion, hypothesis)
    return at, point if read(hypothesis)(point) is True and read(conclusion)(point) is not True else None


def _divided(draw: Writer, point: Point) -> Formula:
    """Quotients by what varies, near to what they are, or quantifiers inside one another."""
    divisor: Expr = draw.one_of((k, k, k + 1, Const(draw.one_of((2, 0, -1, -3)))))
    operator: Operator = draw.one_of(DIVISIONS)
    quotient = Binary(operator, u * draw.one_of((1, 3, -2)), divisor)
    try:
        near = evaluate(quotient, point) + draw.one_of((0, 0, 1, -1))
    except UndefinedValue:
        near = 0
    beside = Const(near) if not draw.chance(3) else Binary(quotient.op, quotient.lhs, k * k + 1)
    comparator: Comparator = draw.one_of(("==", "!=", "<=", "<"))
    atom = Compare(comparator, quotient, beside)
    reach = (Interval(0, 1), Interval(0, 2))
    inner = Exists((("z", draw.one_of(reach)),), eq(z, w + draw.one_of((0, 0, 1))))
    everywhere = Not(Exists((("w", draw.one_of(reach)),), Not(inner)))
    found: Formula = draw.one_of((atom, atom, Not(atom), And((atom, le(u, v))), Or((atom, le(u, v))), everywhere))
    return found


def _connected(draw: Writer) -> Formula:
    """Connectives of two to five atoms, some of them true, false or undefined."""

    def atom() -> Formula:
        x, other, c = draw.one_of((u, v)), draw.one_of((u, v)), draw.number(-1, 2)
        atoms = (eq(x, c), eq(x, c), ne(x, c), ne(other, c), le(x, c), eq(0, 1), eq(0, 0))
        ends = (le(c, maximum(u, v)), le(minimum(u, v), c), le(maximum(u, v) + x, c), le(c, minimum(u, v + 1)))
        found: Formula = draw.one_of((*atoms, *ends, eq(Const(c) // 0, 0), eq(x // 0, c)))
        return found

    pair, apart, more = Or((atom(), atom())), And((atom(), atom())), atom()
    found: Formula = draw.one_of(
        (
            Or((And((ne(u, 0), ne(v, draw.number(0, 1)))), more)),
            And((pair, more)),
            Or((apart, more)),
            Or((And((pair, atom())), more)),
            And((Or((apart, more)), pair)),
            Or((And((pair, eq(0, 1))), more)),
            And((Or((And((pair, Or((atom(), atom())))), atom())), more)),
        )
    )
    return found
