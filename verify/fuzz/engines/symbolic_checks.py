"""The stages for symbolic divisors, on laws of quotients and on what is nearly one, held against samples of points."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.nonlinear import products
from hloproof.engines.nonlinear.encode_z3 import context, contradictory
from hloproof.engines.nonlinear.polynomial import Poly, add, multiply, number, variable
from hloproof.engines.structural import symbolic_digits
from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.law_tables import ALWAYS, CONTRADICTIONS, NO_LAWS, PRODUCTS, WHERE_POSITIVE
from hloproof.fuzz.engines.reading import DIVISIONS, Point, comparisons, read, terms
from hloproof.fuzz.letters import compared, filled
from hloproof.fuzz.target import Failure
from hloproof.logic.formula import FALSE, TRUE, And, Comparator, Compare, Formula, Or, conj, eq, le, lt, ne
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import from_json, to_json
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, maximum
from hloproof.models.expressions.interval import Interval

SAMPLES: Final = 100
RLIMIT: Final = 1_000_000
"""Far more than these laws take."""
LAWS_OF_PRODUCTS: Final = 10
"""In one of so many examples a law is given to the stage of products, which costs most."""

x, y, k, j, e = VARIABLES = tuple(Var(name) for name in "xykje")
ANY: Final[tuple[tuple[str, Interval | None], ...]] = tuple((v.name, None) for v in VARIABLES)
_positive: Final = conj(lt(0, k), lt(0, j))
_not_zero: Final = And((ne(k, 0), And((ne(j, 0),))))


def symbolic(w: Writer) -> None:
    """Raises Failure where a law is not proved, or what is not one is."""
    table, given = (WHERE_POSITIVE, _positive) if w.chance(3) else (ALWAYS, w.one_of((_positive, _not_zero)))
    if w.chance(10):
        table, given = NO_LAWS, FALSE  # never given, so never owed
    law = compared(w.one_of(table), _letters(w))
    off = w.one_of((0, 0, 0, 1, -1))
    hypothesis = w.one_of((given, given, _not_zero, TRUE) if given != FALSE else (_positive, _not_zero))
    comparator: Comparator = w.one_of(("==", "==", "<="))
    conclusion: Formula = Compare(comparator, law.lhs, law.rhs + off if off else law.rhs)
    if w.chance(3):
        conclusion = And((conclusion, le(x, x)))
    obligation = Obligation(ANY, conclusion, hypothesis)
    _digits(obligation, w, hypothesis is given and (not off or (off > 0 and comparator == "<=")))
    for other in (Or((conclusion,)), le(maximum(x // k, y), y), le(x.ceildiv(k), y)):
        try:
            symbolic_digits.take_apart(Obligation(obligation.variables, other, hypothesis))
        except NotExpressible:
            continue
        raise Failure("solvers: symbolic digits of what has none", repr(other))
    for check in (_products, _bounds, _contradictions):
        if w.chance(LAWS_OF_PRODUCTS):
            check(w)


def _letters(w: Writer) -> dict[str, Expr]:
    return {v.name: v for v in VARIABLES} | {"c": Const(w.one_of((1, 2, 3))), "f": Const(w.one_of((1, 2, -1, -3)))}


def _digits(obligation: Obligation, w: Writer, owed: bool) -> None:
    """Where all steps hold at the points so does the obligation; every step is asked for, and minded."""
    text = json.dumps(to_json(obligation))
    try:
        left, goals = symbolic_digits.take_apart(obligation)
    except NotExpressible as error:
        raise Failure("solvers: symbolic digits are not taken apart", text) from error
    plain = [_readable(o) for o in (left, *goals)]
    points = [
        p for p in _points(tuple(name for name, _ in plain[0].variables)) if read(obligation.hypothesis)(p) is True
    ]
    failing = [o for o in plain if not all(map(read(o.conclusion), points))]
    products_of_sums = [
        t
        for t in terms(obligation.conclusion)
        if isinstance(t, Binary) and t.op == "*" and _is_sum(t.lhs) and _is_sum(t.rhs)
    ]
    if products_of_sums and not any(_says_something(o) for o in goals):
        raise Failure("solvers: products of polynomials are taken for granted", text)
    if failing and owed:
        raise Failure("solvers: a law of symbolic digits is lost", json.dumps(to_json(failing[0])))
    if not failing and not all(map(read(obligation.conclusion), points)):
        raise Failure("solvers: symbolic digits prove what is not so", text)
    asked: list[Obligation] = []
    refused = w.one_of((left, *goals))
    symbolic_digits.find_counterexample(obligation, asked.append)
    if any(o not in asked for o in (left, *goals)):
        raise Failure("solvers: symbolic digits are taken for granted", text)
    try:
        symbolic_digits.find_counterexample(obligation, lambda goal: {} if goal == refused else None)
    except GaveUp:
        return
    raise Failure("solvers: symbolic digits do not mind a step that fails", json.dumps(to_json(refused)))


def _says_something(goal: Obligation) -> bool:
    """An identity of polynomials whose sides are not one."""
    return goal.label == "an identity of polynomials" and any(c.lhs is not c.rhs for c in comparisons(goal.conclusion))


def _is_sum(term: Expr) -> bool:
    return isinstance(term, Binary) and term.op == "+"


def _readable(obligation: Obligation) -> Obligation:
    """With names of quotients that Python can read."""
    return from_json(json.loads(json.dumps(to_json(obligation)).replace("q'", "quotient")))


@cache
def _points(names: tuple[str, ...]) -> tuple[Point, ...]:
    """The same sample for all laws."""
    random = Random(0)
    values = [(name, (-7, 9) if name in ("x", "y") else (-3, 4)) for name in names]
    return tuple({name: random.randint(*ends) for name, ends in values} for _ in range(SAMPLES))


def _asked(obligation: Obligation, owed: bool | None, what: str) -> None:
    """The stage of products proves what is owed, and nothing that is not so; None: by the points."""
    text = json.dumps(to_json(obligation))
    try:
        products.find_counterexample(obligation, RLIMIT)
    except GaveUp as error:
        if owed:
            raise Failure(f"solvers: {what} is not proved", text) from error
        return
    given, stated = read(obligation.hypothesis), read(obligation.conclusion)
    fails = (given(p) is True and stated(p) is not True for p in _points(tuple("xykje")))
    if owed is False or (owed is None and any(fails)):
        raise Failure("solvers: products prove what is not so", text)


def _products(w: Writer) -> None:
    """Laws that need products of inequalities, and nearly laws."""
    at = _letters(w)
    stated, conditions = w.one_of(PRODUCTS)
    parts = tuple(compared(text, at) for text in stated)
    kept = conditions[w.chance(3) :]
    hypothesis = And(tuple(compared(text, at) for text in kept))
    obligation = Obligation(ANY, parts[0] if len(parts) == 1 else And(parts), hypothesis)
    _asked(obligation, True if kept == conditions else None, "a law of products")


def _bounds(w: Writer) -> None:
    """What the bounds of variables say, and what a divisor that may be zero spoils."""
    low = w.number(-4, 4)
    high = low + w.number(0, 4)
    operator: Operator = w.one_of(DIVISIONS)
    divided = Binary(operator, x, w.one_of((k, k, Const(3), Const(0))))
    cases: tuple[tuple[Formula, bool], ...] = (
        (le(low, x), True),
        (le(x, high), True),
        (lt(x, high), False),
        (lt(low, x), False),
        (lt(x, high + 1), True),
        (eq(divided, divided), isinstance(divided.rhs, Const) and divided.rhs.value != 0),
    )
    conclusion, holds = w.one_of(cases)
    names: tuple[tuple[str, Interval | None], ...] = (("x", Interval(low, high)), ("k", None))
    odd = w.chance(10)
    _asked(Obligation((*names, ("q!0", None)) if odd else names, conclusion), holds and not odd, "a bound")


def _contradictions(w: Writer) -> None:
    """Polynomial inequalities that contradict one another, and such as do not."""
    text, holds = w.one_of(CONTRADICTIONS)
    at = {name: Var(name) for name in "abc"} | {"s": Const(w.number(-3, 3))}
    facts = w.shuffled([_polynomial(filled(part.strip(), at)) for part in text.split(";")])
    found = contradictory(facts, RLIMIT, context())
    if found is not holds:
        raise Failure("solvers: contradictory polynomials" + ("" if found else " are not seen"), str(facts))


def _polynomial(term: Expr) -> Poly:
    match term:
        case Const(value):
            return number(value)
        case Var(name):
            return variable(name)
        case Binary(op, lhs, rhs):
            return (add if op == "+" else multiply)(_polynomial(lhs), _polynomial(rhs))
    raise TypeError(f"no polynomial: {term}")
