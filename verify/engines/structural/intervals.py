"""Interval arithmetic as a proof with sub-goals, one per node, which an engine proves.

Every node of a term gets bounds from its arguments' bounds. What makes the whole a proof is not this arithmetic but the
sub-goals: for all values of the arguments within their bounds, the value of the node lies within its own; and for all
values of both sides within theirs, the comparison holds. A wrong bound is a sub-goal that the engine refutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.formula import And, Compare, Formula, conj, le
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

Bounds = tuple[int | None, int | None]
"""Lower and upper bound, inclusive; None where there is none."""

Ask = Callable[[Obligation], dict[str, int] | None]
"""An engine: a counterexample of a sub-goal, or None when it is proved."""


def find_counterexample(obligation: Obligation, ask: Ask) -> None:
    """None when the bounds of the variables alone prove the conclusion, a conjunction of comparisons.

    Raises GaveUp when they do not, or when a sub-goal is not proved. Never finds counterexamples.
    """
    box = bounds_of_variables(obligation)
    atoms = _atoms(obligation.conclusion)
    goals: dict[Obligation, None] = {}
    for atom in atoms:
        at = {**ranges(atom.lhs, box), **ranges(atom.rhs, box)}
        for e, bounds in at.items():
            if isinstance(e, Binary):
                goals[_node_goal(e, at[e.lhs], at[e.rhs], bounds)] = None
        sides = (("a", _interval(at[atom.lhs])), ("b", _interval(at[atom.rhs])))
        goals[Obligation(sides, Compare(atom.op, Var("a"), Var("b")), label="the comparison within bounds")] = None
    for goal in goals:
        if ask(goal) is not None:
            raise GaveUp("the bounds of the variables alone do not prove it")


def bounds_of_variables(obligation: Obligation) -> dict[str, Bounds]:
    """Lower and upper bound of each variable, both included; None for a side without one."""
    return {n: (None, None) if i is None else (i.lower, i.upper) for n, i in obligation.variables}


def ranges(root: Expr, box: Mapping[str, Bounds]) -> dict[Expr, Bounds]:
    """Bounds of every node of `root` where variables lie within `box`; (None, None) where nothing is known."""
    at: dict[Expr, Bounds] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            at[e] = (e.value, e.value)
        elif isinstance(e, Var):
            at[e] = box.get(e.name, (None, None))
        elif isinstance(e, Binary):
            at[e] = _range(e.op, at[e.lhs], at[e.rhs])
    return at


def _range(op: str, x: Bounds, y: Bounds) -> Bounds:
    (x0, x1), (y0, y1) = x, y
    if op == "+":
        return (None if x0 is None or y0 is None else x0 + y0, None if x1 is None or y1 is None else x1 + y1)
    if op == "min":
        ends = [e for e in (x1, y1) if e is not None]
        return (None if x0 is None or y0 is None else min(x0, y0), min(ends) if ends else None)
    if op == "max":
        ends = [e for e in (x0, y0) if e is not None]
        return (max(ends) if ends else None, None if x1 is None or y1 is None else max(x1, y1))
    if op == "mod":
        if y0 is not None and y0 > 0:
            if x0 is not None and x1 is not None and y1 == y0 and x0 // y0 == x1 // y0:
                return x0 % y0, x1 % y0
            return 0, None if y1 is None else y1 - 1
        return None, None
    if x0 is None or x1 is None or y0 is None or y1 is None:
        return None, None
    if op != "*" and min(y0, y1) <= 0 <= max(y0, y1):  # the bounds of what has no values are the wrong way round
        return None, None
    corners = [_value(op, a, b) for a, b in product((x0, x1), (y0, y1))]
    return min(corners), max(corners)


def _value(op: str, a: int, b: int) -> int:
    return a * b if op == "*" else a // b if op == "floordiv" else -(-a // b)


def _interval(bounds: Bounds) -> Interval:
    if bounds[0] is None or bounds[1] is None:
        raise GaveUp("a term without bounds")
    return Interval(bounds[0], bounds[1])


def _node_goal(e: Binary, x: Bounds, y: Bounds, bounds: Bounds) -> Obligation:
    """For all arguments within their bounds, the node's value is within its own."""
    value: Expr = Binary(e.op, Var("a"), e.rhs if isinstance(e.rhs, Const) else Var("b"))
    found = _interval(bounds)
    inside = conj(le(found.lower, value), le(value, found.upper))
    return Obligation((("a", _interval(x)), ("b", _interval(y))), inside, label=f"bounds of {e.op}")


def _atoms(f: Formula) -> list[Compare]:
    if isinstance(f, Compare):
        return [f]
    if isinstance(f, And):
        return [a for part in f.parts for a in _atoms(part)]
    raise NotExpressible("not a conjunction of comparisons")
