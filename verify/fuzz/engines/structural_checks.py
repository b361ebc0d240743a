"""The structural stages held against readings of what they promise: digits, intervals, normal forms.

Each check is on the obligation of the example and on others made from it.
"""

from __future__ import annotations

import json
from itertools import islice, product
from math import prod
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.structural import intervals, mixed_radix
from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.generate_obligations import DIGITS
from hloproof.fuzz.engines.judge_checks import least_and_greatest
from hloproof.fuzz.engines.law_tables import DIGIT_LAWS
from hloproof.fuzz.engines.normal_form_checks import normal_forms
from hloproof.fuzz.engines.reading import (
    DIVISIONS,
    Point,
    comparisons,
    conjuncts,
    is_defined,
    points,
    read,
    size_of,
    terms,
    work,
)
from hloproof.fuzz.letters import compared
from hloproof.fuzz.target import Failure
from hloproof.logic import normal_form
from hloproof.logic.formula import Compare, Exists, eq
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import to_json
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

MOST_POINTS: Final = 150
"""At so many points, spread over the domain, terms are compared."""

MOST_READ: Final = 40
"""The sub-goals of terms that may have more values are not read."""

Range = tuple[int | None, int | None]


def structure(obligation: Obligation, w: Writer) -> None:
    """Raises Failure where a stage says what is not so, or does not see what it promises to."""
    normal_forms(obligation, w)
    _digits(obligation)
    for o in _digit_laws(w):
        _digits(o)
    for o in (obligation, _opened(obligation)):
        _intervals(o)


# digits


def _digits(obligation: Obligation) -> None:
    """The steps hold, and where they hold what is left says the same; digit chains are taken apart whole."""
    try:
        left, goal = mixed_radix.take_apart(obligation)
    except NotExpressible as error:
        if obligation.label == DIGITS or (_has_towers(obligation) and "no digits" in str(error)):
            raise Failure("solvers: digits are not taken apart", str(error)) from error
        return
    if _has_towers(left):
        raise Failure("solvers: quotients of quotients are left", json.dumps(to_json(left)))
    _by_subgoals(obligation, goal)
    sides = [
        e
        for c in comparisons(goal.conclusion, inside=False)
        for e in (c.lhs, c.rhs)
        if e is c.lhs or e not in postorder(c.lhs)
    ]
    divided = [e for e in sides if isinstance(e, Binary) and e.op in DIVISIONS]
    if any(not isinstance(e.rhs, Const) or e.rhs.value <= 0 for e in divided):
        raise Failure("solvers: a step of the digits on what is no digit", json.dumps(to_json(goal)))
    terms = [e for c in comparisons(left.conclusion, inside=False) for side in (c.lhs, c.rhs) for e in postorder(side)]
    owed = obligation.label == DIGITS and not normal_form.identical(left)
    if owed and any(isinstance(e, Binary) and e.op in DIVISIONS for e in terms):
        raise Failure("solvers: digits are not taken apart to the end", json.dumps(to_json(left)))
    steps = read(goal.conclusion)
    defined = all(is_defined(e) for c in comparisons(goal.conclusion, inside=False) for e in (c.lhs, c.rhs))
    sound = True
    for point in _some_points(goal):
        found = steps(point)
        sound = sound and found is True
        if found is False and defined:
            raise Failure("solvers: a step of the digits does not hold", f"{point}, {json.dumps(to_json(goal))}")
    if not sound or (work(obligation.conclusion) + work(obligation.hypothesis)) > MOST_POINTS:
        return
    pairs = ((obligation.hypothesis, left.hypothesis), (obligation.conclusion, left.conclusion))
    readings = [(read(before), read(after)) for before, after in pairs]
    for point in _some_points(obligation):
        if any(before(point) is not after(point) for before, after in readings):
            raise Failure("solvers: digits change the meaning", f"{point}, {json.dumps(to_json(left))}")


def _digit_laws(w: Writer) -> list[Obligation]:
    """One index taken apart by its last digit, one put together again from a quotient and a remainder, quotients of
    quotients; and such as no step is to be taken on."""
    m = w.number(2, 5)
    a, b, at = Var("a"), Var("b"), {letter: Const(w.one_of((1, 2, 3))) for letter in "st"}
    at |= {"k": Const(w.number(2, 4)), "c": Const(w.one_of((1, 2, 3, 7))), "f": Const(w.one_of((1, 2, -3)))}
    given: dict[str, Expr] = {"a": a, "b": b, "m": Const(m), **at, "x": a * w.number(1, 4) + b + w.number(-3, 3)}
    bounded = (("a", w.one_of((None, Interval(-4, 9)))), ("b", Interval(0, m - 1)))
    index = a * m + b
    odd = w.one_of((a // w.one_of((2, 0, -2)) // w.one_of((3, 0, -3)), index // 0, index % 0))
    made = [Obligation(bounded, compared(w.one_of(DIGIT_LAWS), given), label=DIGITS), Obligation(bounded, eq(odd, b))]
    if w.chance(LONG):
        names = [f"c{n}" for n in range(mixed_radix.MOST_TERMS - 1)]
        long: Expr = b
        for name in names:
            long = long + Var(name) * m
        made.append(Obligation((bounded[1], *((name, None) for name in names)), eq(long % m, b), label=DIGITS))
    return made


LONG: Final = 50
"""In one of so many examples an index has as many terms as are taken apart."""


def _has_towers(obligation: Obligation) -> bool:
    """A quotient of a quotient, both by positive constants."""
    for e in terms(obligation.hypothesis, obligation.conclusion):
        match e:
            case Binary("floordiv", Binary("floordiv", _, Const(a)), Const(k)) if min(a, k) > 0:
                return True
    return False


def _by_subgoals(obligation: Obligation, goal: Obligation) -> None:
    """No answer where a sub-goal is refuted; else the answer on what is left."""
    asked: list[Obligation] = []

    def ask(o: Obligation, steps_hold: bool) -> Point | None:
        asked.append(o)
        return {} if o == goal and not steps_hold else None

    if mixed_radix.find_counterexample(obligation, lambda o: ask(o, True)) is not None or len(asked) != 2:
        raise Failure("solvers: digits are not proved where all they ask is", "")
    try:
        mixed_radix.find_counterexample(obligation, lambda o: ask(o, False))
    except GaveUp:
        return
    raise Failure("solvers: digits are taken for granted", "")


def _some_points(obligation: Obligation) -> list[Point]:
    """Points spread over the box; of a variable without bounds or with many values, some values."""
    size = size_of(obligation)
    if size is not None and size <= MOST_POINTS:
        return list(points(obligation))
    if size == 0:
        return []
    axes = [
        (-7, 0, 5) if i is None else sorted({i.lower, min(i.lower + 1, i.upper), (i.lower + i.upper) // 2, i.upper})
        for _, i in obligation.variables
    ]
    names = [name for name, _ in obligation.variables]
    found = [dict(zip(names, values, strict=True)) for values in islice(product(*axes), 4000)]
    return found[:: 1 + len(found) // MOST_POINTS]


# intervals


def _opened(obligation: Obligation) -> Obligation:
    """A quantified conclusion without its quantifier."""
    match obligation.conclusion:
        case Exists(variables, part) if not {n for n, _ in variables} & {n for n, _ in obligation.variables}:
            return Obligation((*obligation.variables, *variables), part)
    return obligation


def _intervals(obligation: Obligation) -> None:
    """Bounds are those that each operator attains on its arguments' bounds, and what they prove is proved."""
    box = intervals.bounds_of_variables(obligation)
    if box != {n: (None, None) if i is None else (i.lower, i.upper) for n, i in obligation.variables}:
        raise Failure("solvers: the bounds of variables", str(box))
    atoms = conjuncts(obligation.conclusion)
    if any(i is not None and i.is_empty for _, i in obligation.variables):
        return
    proved, every = True, list[Range]()
    for atom in atoms:
        if not isinstance(atom, Compare):
            return
        found: dict[Expr, Range] = {}
        for root in (atom.lhs, atom.rhs):
            found |= intervals.ranges(root, box)
            for e in postorder(root):
                expected = _range(e, found, box)
                if expected is None:
                    return
                if found[e] != expected:
                    raise Failure("solvers: bounds of a term", f"{e}: {found[e]}, not {expected}")
        proved = proved and _always(atom.op, found[atom.lhs], found[atom.rhs])
        every += found.values()
    unbounded = any(None in r for r in every)
    if not unbounded and any(_sure(r)[1] - _sure(r)[0] > MOST_READ for r in every):
        return
    try:
        intervals.find_counterexample(obligation, (lambda goal: None) if unbounded else _first_failing)
    except GaveUp as error:
        if proved and not unbounded:
            raise Failure("solvers: intervals do not prove what they show", str(error)) from error
        return
    if unbounded or not proved:
        raise Failure("solvers: intervals prove what they do not show", json.dumps(to_json(obligation)))


def _first_failing(goal: Obligation) -> Point | None:
    holds = read(goal.conclusion)
    return next((p for p in points(goal) if holds(p) is not True), None)


def _range(e: Expr, found: dict[Expr, Range], box: dict[str, Range]) -> Range | None:
    """Bounds of a node by those of its arguments; None where the boxes are too large to say."""
    if isinstance(e, Const):
        return e.value, e.value
    if isinstance(e, Var):
        return box.get(e.name, (None, None))
    assert isinstance(e, Binary)
    x, y = found[e.lhs], found[e.rhs]
    if e.op == "mod":
        if y[0] is None or y[0] <= 0:
            return None, None
        if None in x or y[0] != y[1]:
            return 0, None if y[1] is None else y[1] - 1
    elif e.op in DIVISIONS or e.op == "*":
        if None in x or None in y:
            return None, None
        if e.op != "*" and _sure(y)[0] <= 0 <= _sure(y)[1]:
            return None, None
    if None not in x and None not in y:
        if prod(Interval(*_sure(r)).count for r in (x, y)) > 2000:
            return None
        return least_and_greatest(e.op, _sure(x), _sure(y))
    ends = [
        least_and_greatest(e.op, (a, a), (b, b))[0]
        for a in (-FAR if x[0] is None else x[0], FAR if x[1] is None else x[1])
        for b in (-FAR if y[0] is None else y[0], FAR if y[1] is None else y[1])
    ]
    return tuple(None if abs(end) > FAR // 2 else end for end in (min(ends), max(ends)))  # type: ignore[return-value]


FAR: Final = 2**200


def _sure(r: Range) -> tuple[int, int]:
    assert r[0] is not None and r[1] is not None
    return r[0], r[1]


def _always(op: str, left: Range, right: Range) -> bool:
    (l0, l1), (r0, r1) = ((-FAR if r[0] is None else r[0], FAR if r[1] is None else r[1]) for r in (left, right))
    return {"==": l0 == l1 == r0 == r1, "!=": l1 < r0 or r1 < l0, "<=": l1 <= r0, "<": l1 < r0}[op]
