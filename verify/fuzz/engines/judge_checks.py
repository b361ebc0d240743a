"""The judge of counterexamples, `hloproof.logic.evaluate`, held against readings point by point."""

from __future__ import annotations

from math import prod
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.reading import DIVISIONS, Point, boxes, points, read, size_of
from hloproof.fuzz.target import Failure
from hloproof.logic.evaluate import TooManySteps, bounds, is_counterexample, truth
from hloproof.logic.formula import Compare, Exists, Formula
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import apply_operator
from hloproof.models.expressions.expr import OPERATORS, Binary, Const, Expr, Var

JUDGED: Final = 40
"""About so many points of a domain are given to the judge."""
MOST_BOX: Final = 400
"""A larger box is not read."""


def failing_points(obligation: Obligation) -> list[Point]:
    """The points that fail, by reading; on the way the judge is tried at some of the points."""
    hypothesis, conclusion = read(obligation.hypothesis), read(obligation.conclusion)
    every = max(1, (size_of(obligation) or 0) // JUDGED)
    failing: list[Point] = []
    for n, point in enumerate(points(obligation)):
        given, owed = hypothesis(point), conclusion(point)
        fails = given is True and owed is not True
        if fails:
            failing.append(point)
        if n % every == 0 or (fails and len(failing) == 1):
            _judged(obligation.hypothesis, point, given)
            _judged(obligation.conclusion, point, owed)
            if is_counterexample(obligation, point) is not fails:
                raise Failure("solvers: the judge of counterexamples is wrong", str(point))
    if failing:
        _outside(obligation, failing[0])
    return failing


def _judged(f: Formula, point: Point, reading: bool | None) -> None:
    try:
        found = truth(f, point, boxes(f))
    except TooManySteps as error:
        raise Failure("solvers: the evaluator looks at more boxes than there are", str(point)) from error
    if found is not reading:
        raise Failure("solvers: the evaluator is wrong at a point", f"{point}: {found}, not {reading}")


def _outside(obligation: Obligation, point: Point) -> None:
    """A point beside the domain, or without a value, is no counterexample."""
    for name, interval in obligation.variables:
        beside = [{k: v for k, v in point.items() if k != name}]
        if interval is not None:
            beside += [{**point, name: interval.lower - 1}, {**point, name: interval.upper + 1}]
        if any(is_counterexample(obligation, p) for p in beside):
            raise Failure("solvers: a counterexample outside of the domain", f"{point}, {name}")


def settled_at_once(f: Formula) -> None:
    """Where intervals settle a comparison of one operator with a constant or variable, the evaluator sees it in one
    look: its bounds are those that are attained."""
    match f:
        case Exists(variables, Compare(op, lhs, rhs)) if lhs.free | rhs.free <= dict(variables).keys():
            pass
        case _:
            return
    apart = lhs.free.isdisjoint(rhs.free) and not _is_deep(lhs) and not _is_deep(rhs)
    if not apart or not 0 < prod(i.count for _, i in variables) <= MOST_BOX:
        return
    axes = {name: range(i.lower, i.upper + 1) for name, i in variables}
    sides = [_hull(e, axes) for e in (lhs, rhs)]
    if None in sides:
        return
    (l0, l1), (r0, r1) = (side for side in sides if side is not None)
    always, never = {
        "==": (l0 == l1 == r0 == r1, l1 < r0 or r1 < l0),
        "!=": (l1 < r0 or r1 < l0, l0 == l1 == r0 == r1),
        "<=": (l1 <= r0, r1 < l0),
        "<": (l1 < r0, r1 <= l0),
    }[op]
    if always or never:
        try:
            found = truth(f, {}, 1)
        except TooManySteps as error:
            raise Failure("solvers: the evaluator does not see what intervals settle", f"{sides}") from error
        if found is not always:
            raise Failure("solvers: the evaluator is wrong about a box", f"{sides}: {found}")


def _is_deep(e: Expr) -> bool:
    return isinstance(e, Binary) and (isinstance(e.lhs, Binary) or isinstance(e.rhs, Binary) or e.lhs is e.rhs)


def _hull(e: Expr, axes: dict[str, range]) -> tuple[int, int] | None:
    """Least and greatest value; None where it may divide by zero."""
    if not isinstance(e, Binary):
        values = axes[e.name] if isinstance(e, Var) else [e.value] if isinstance(e, Const) else []
        return min(values), max(values)
    found = [_hull(part, axes) for part in (e.lhs, e.rhs)]
    x, y = (side for side in found if side is not None)
    if e.op in DIVISIONS and y[0] <= 0 <= y[1]:
        return None
    return least_and_greatest(e.op, x, y)


def least_and_greatest(op: str, x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    """What `op` attains over a box; a divisor's bounds do not contain zero."""
    if op == "mod" and y[0] != y[1]:  # not attained; those of a long enough dividend
        return (0, y[1] - 1) if y[0] > 0 else (y[0] + 1, 0)
    attained = [apply_operator(op, a, b) for a in range(x[0], x[1] + 1) for b in range(y[0], y[1] + 1)]
    return min(attained), max(attained)


def attained(w: Writer) -> None:
    """The evaluator's bounds of each operator are those that are attained over some box."""
    x0, y0 = w.number(-9, 9), w.number(-5, 3)
    x, y = (x0, x0 + w.number(0, 5)), (y0, y0 + w.one_of((0, 0, 1, 2, 3)))
    for op in OPERATORS:
        if op in DIVISIONS and y[0] <= 0 <= y[1]:
            y = (y[1] + 1, y[1] + 1 + y[1] - y[0])
        if bounds(op, x, y) != least_and_greatest(op, x, y):
            raise Failure("solvers: the evaluator's bounds are not attained", f"{op}, {x}, {y}: {bounds(op, x, y)}")
