"""The stages for symbolic divisors, on laws of quotients and on what is nearly one, held against samples of points."""

from __future__ import annotations

import json
from random import Random
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.nonlinear import products
from hloproof.engines.nonlinear.polynomial import Poly, add, multiply, negate, number, variable
from hloproof.engines.structural import symbolic_digits
from hloproof.fuzz.engines.judge_checks import DIVISIONS
from hloproof.fuzz.engines.three_valued import Point, read
from hloproof.fuzz.target import Failure
from hloproof.logic.formula import FALSE, TRUE, And, Comparator, Compare, Formula, Or, conj, eq, le, lt, ne
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import from_json, to_json
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, maximum, postorder
from hloproof.models.expressions.interval import Interval

SAMPLES: Final = 100
RLIMIT: Final = 1_000_000
"""Far more than these laws take."""
LAWS_OF_PRODUCTS: Final = 0.1
"""In this part of the examples a law is given to the stage of products, which costs most."""

x, y, k, j, e = (Var(name) for name in "xykje")
NAMES: Final = ("x", "y", "k", "j", "e")
_positive = conj(lt(0, k), lt(0, j))
_not_zero = And((ne(k, 0), And((ne(j, 0),))))


def symbolic(draw: Random) -> None:
    """Raises Failure where a law is not proved, or what is not one is."""
    lhs, rhs, given = _law(draw)
    off = draw.choice((0, 0, 0, 1, -1))
    hypothesis = draw.choice((given, given, _not_zero, TRUE) if given != FALSE else (_positive, _not_zero))
    comparator: Comparator = draw.choice(("==", "==", "<="))
    conclusion: Formula = Compare(comparator, lhs, rhs + off if off else rhs)
    if draw.random() < 0.3:
        conclusion = And((conclusion, le(x, x)))
    obligation = Obligation(tuple((name, None) for name in NAMES), conclusion, hypothesis)
    _digits(obligation, draw, hypothesis is given and (not off or (off > 0 and comparator == "<=")))
    for other in (Or((conclusion,)), le(maximum(x // k, y), y), le(x.ceildiv(k), y)):
        try:
            symbolic_digits.take_apart(Obligation(obligation.variables, other, hypothesis))
        except NotExpressible:
            continue
        raise Failure("solvers: symbolic digits of what has none", repr(other))
    if draw.random() < LAWS_OF_PRODUCTS:
        _products(draw)
    if draw.random() < LAWS_OF_PRODUCTS:
        _bounded(draw)
    if draw.random() < LAWS_OF_PRODUCTS:
        _contradictions(draw)


def _law(draw: Random) -> tuple[Expr, Expr, Formula]:
    """Two sides that are the same where the hypothesis holds, by steps that do not ask how large a digit is."""
    c, f = draw.choice((1, 2, 3)), draw.choice((1, 2, -1, -3))
    always = [
        (x % k + k * (x // k), x),
        ((x * k + y) // k, x + y // k),
        ((x * k) // k, x),
        ((x * k) % k, Const(0)),
        ((x // k) * (k * j) + x % k * j, x * j),
        ((x * k + y) % k, y % k),
        ((x * j) // (j * k), (j * x) // (k * j)),
        ((x * (c * 2) * k + y) // (k * 2), x * c + y // (k * 2)),
        ((x * f + y + k) // k, (y + x * f) // k + 1),
        (x // k + x // k, x // k * 2),
        ((x * k * j + y * k) // (j * k), x + (y * k) // (k * j)),
        ((x + k * f) * (y - j) + x // j * 0 + y % k, x * y - x * j + k * f * y - k * j * f + y % k),
        ((x * 3 * k + y) // (k * 2), (y + k * x * 3) // (k * 2)),
        ((x + 6) // 3, x // 3 + 2),
        ((x + 5) // 3, (x + 5) // 3),
    ]
    where_positive = [
        ((x // k) // j, x // (k * j)),
        ((x + k * f) // k // j, (x // k + f) // j),
        ((x // k + j * c) // j, x // (k * j) + c),
        (x // 2 // k // j, x // (k * 2 * j)),
    ]
    if draw.random() < 0.1:  # no law: never given, so never owed
        return (*draw.choice([(x // k, y // k), (x // k, x // j), (x % k, y % k), (x // k, x // k // j)]), FALSE)
    if draw.random() < 0.3:
        return (*draw.choice(where_positive), _positive)
    return (*draw.choice(always), draw.choice((_positive, _not_zero)))


def _digits(obligation: Obligation, draw: Random, owed: bool) -> None:
    try:
        left, goals = symbolic_digits.take_apart(obligation)
    except NotExpressible as error:
        raise Failure("solvers: symbolic digits are not taken apart", json.dumps(to_json(obligation))) from error
    plain = [_readable(o) for o in (left, *goals)]
    points = [_point(draw, [name for name, _ in plain[0].variables]) for _ in range(SAMPLES)]
    given, stated = read(obligation.hypothesis), read(obligation.conclusion)
    points = [p for p in points if given(p) is True]
    failing = [o for o in plain if not all(map(read(o.conclusion), points))]
    products_of_sums = [t for t in _nodes(obligation.conclusion) if t.op == "*" and _is_sum(t.lhs) and _is_sum(t.rhs)]
    if products_of_sums and not any(_says_something(o) for o in goals):
        raise Failure("solvers: products of polynomials are taken for granted", json.dumps(to_json(obligation)))
    if failing and owed:
        raise Failure("solvers: a law of symbolic digits is lost", json.dumps(to_json(failing[0])))
    if not failing and not all(map(stated, points)):
        raise Failure("solvers: symbolic digits prove what is not so", json.dumps(to_json(obligation)))
    asked: list[Obligation] = []
    refused = draw.choice((left, *goals))

    def ask(goal: Obligation) -> Point | None:
        asked.append(goal)
        return None

    symbolic_digits.find_counterexample(obligation, ask)
    if any(o not in asked for o in (left, *goals)):
        raise Failure("solvers: symbolic digits are taken for granted", json.dumps(to_json(obligation)))
    try:
        symbolic_digits.find_counterexample(obligation, lambda goal: {} if goal == refused else None)
    except GaveUp:
        return
    raise Failure("solvers: symbolic digits do not mind a step that fails", json.dumps(to_json(refused)))


def _says_something(goal: Obligation) -> bool:
    """An identity of polynomials whose sides are not one."""
    stated = goal.conclusion
    return goal.label == "an identity of polynomials" and isinstance(stated, Compare) and stated.lhs is not stated.rhs


def _is_sum(term: Expr) -> bool:
    return isinstance(term, Binary) and term.op == "+"


def _nodes(f: Formula) -> list[Binary]:
    match f:
        case Compare(_, lhs, rhs):
            return [t for side in (lhs, rhs) for t in postorder(side) if isinstance(t, Binary)]
        case And(parts):
            return [t for p in parts for t in _nodes(p)]
    return []


def _readable(obligation: Obligation) -> Obligation:
    """With names of quotients that Python can read."""
    return from_json(json.loads(json.dumps(to_json(obligation)).replace("q'", "quotient")))


def _point(draw: Random, names: list[str]) -> Point:
    return {name: draw.randint(-7, 9) if name in ("x", "y") else draw.randint(-3, 4) for name in names}


def _products(draw: Random) -> None:
    """Laws that need products of inequalities, and nearly laws."""
    below = (le(0, e), lt(e, k))
    known: list[tuple[Formula, tuple[Formula, ...]]] = [
        (le(0, x % k), (lt(0, k),)),
        (lt(x % k, k), (lt(0, k),)),
        (eq((x * k + e) // k, x), below),
        (le(x // k * k, x), (ne(k, 0), lt(0, k))),
        (And((le(0, x // k), le(x // k, x))), (le(0, x), lt(0, k))),
        (lt(k, x % k), (lt(k, 0),)),
    ]
    conclusion, hypothesis = draw.choice(known)
    kept = hypothesis if draw.random() < 0.6 else hypothesis[1:]
    obligation = Obligation(tuple((name, None) for name in NAMES), conclusion, And(kept))
    try:
        products.find_counterexample(obligation, RLIMIT)
    except GaveUp as error:
        if kept == hypothesis:
            raise Failure("solvers: a law of products is not proved", json.dumps(to_json(obligation))) from error
        return
    given, stated = read(obligation.hypothesis), read(conclusion)
    for _ in range(SAMPLES):
        point = _point(draw, list(NAMES))
        if given(point) is True and stated(point) is not True:
            raise Failure("solvers: products prove what is not so", json.dumps(to_json(obligation)))


def _bounded(draw: Random) -> None:
    """What the bounds of variables say, and what a divisor that may be zero spoils."""
    low = draw.randint(-4, 4)
    high = low + draw.randint(0, 4)
    names: tuple[tuple[str, Interval | None], ...] = (("x", Interval(low, high)), ("k", None))
    divided = Binary(draw.choice(DIVISIONS), x, draw.choice((k, k, Const(3), Const(0))))
    cases: list[tuple[Formula, bool]] = [
        (le(low, x), True),
        (le(x, high), True),
        (lt(x, high), False),
        (lt(low, x), False),
        (lt(x, high + 1), True),
        (eq(divided, divided), isinstance(divided.rhs, Const) and divided.rhs.value != 0),
    ]
    conclusion, holds = draw.choice(cases)
    odd = draw.random() < 0.1
    obligation = Obligation((*names, ("q!0", None)) if odd else names, conclusion)
    try:
        products.find_counterexample(obligation, RLIMIT)
    except GaveUp as error:
        if holds and not odd:
            raise Failure("solvers: products do not prove a bound", json.dumps(to_json(obligation))) from error
        return
    if odd or not holds:
        raise Failure("solvers: products prove what is not so", json.dumps(to_json(obligation)))


def _contradictions(draw: Random) -> None:
    """Polynomial inequalities that contradict one another, by one more step than the last each, and such as do not."""
    from hloproof.engines.nonlinear.encode_z3 import context, contradictory

    a, b, c = (variable(name) for name in "abc")
    s = draw.randint(-3, 3)

    def plus(p: Poly, constant: int) -> Poly:
        return add(p, number(constant))

    equal = add(multiply(a, b), c, -1)
    triple = multiply(multiply(a, b), c)
    above = [plus(v, -1) for v in (a, b, c)]
    positive = [plus(multiply(v, number(3)), -1) for v in (a, b)]
    cases: list[tuple[list[Poly], bool]] = [
        ([a, number(-1)], True),
        ([number(1), number(0), a], False),
        ([plus(a, -s), plus(negate(a), s - 1)], True),
        ([plus(a, -s), plus(negate(a), s)], False),
        ([plus(add(a, a), -1), plus(negate(add(a, a)), 1)], True),
        ([*above[:2], negate(multiply(a, b))], True),
        ([a, b, negate(multiply(a, b))], False),
        ([*positive, negate(multiply(a, b))], True),
        ([equal, negate(equal), plus(multiply(equal, b), -1)], True),
        ([equal, negate(equal), plus(negate(multiply(equal, a)), -1)], True),
        ([equal, negate(equal), multiply(equal, b)], False),
        ([*above, negate(triple)], True),
        ([a, b, c, negate(triple)], False),
        ([a, b, c, plus(negate(triple), -1)], True),
        ([plus(a, s), *(plus(a, 9 + n) for n in range(45)), plus(negate(a), -s - 1)], True),
    ]
    facts, holds = draw.choice(cases)
    draw.shuffle(facts)
    found = contradictory(facts, RLIMIT, context())
    if found is not holds:
        raise Failure("solvers: contradictory polynomials" + ("" if found else " are not seen"), str(facts))
