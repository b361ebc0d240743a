"""A thousand concrete instances of an obligation with symbolic parameters, by isl and by evaluation.

Parameters are the variables that isl cannot treat as such: they divide or are multiplied by what is not constant. An
instance fixes them; isl decides it for all values of the other variables, and evaluation looks at one point of it.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, substitute
from hloproof.models.expressions.interval import Interval

INSTANCES: Final = 1000
REACH: Final = 12
"""Parameters without bounds are drawn from [-REACH, 4 * REACH], the small ones more often."""


def parameters(obligation: Obligation) -> frozenset[str]:
    """The variables that make the obligation nonlinear."""
    found: set[str] = set()
    pending: list[Formula] = [obligation.hypothesis, obligation.conclusion]
    while pending:
        match pending.pop():
            case And(parts) | Or(parts):
                pending += parts
            case Not(part) | Exists(_, part):
                pending.append(part)
            case Compare(_, lhs, rhs):
                for e in (*postorder(lhs), *postorder(rhs)):
                    found |= _fixed_by(e)
    return frozenset(found)


def _fixed_by(e: Expr) -> frozenset[str]:
    if isinstance(e, Binary):
        if e.op in ("floordiv", "ceildiv", "mod"):
            return e.rhs.free
        if e.op == "*" and e.lhs.free and e.rhs.free:
            return min(e.lhs.free, e.rhs.free, key=lambda names: (len(names), sorted(names)))
    return frozenset()


def find_counterexample(obligation: Obligation, max_operations: int) -> dict[str, int] | None:
    """A counterexample among the instances, or None when there is none among them (which proves nothing).

    Raises NotExpressible when isl decides none of the instances.
    """
    from hloproof.engines.isl import encode as encode_isl

    if any(i is not None and i.is_empty for _, i in obligation.variables):
        return None
    draw = random.Random(0)
    chosen = parameters(obligation) & {name for name, _ in obligation.variables}
    decided = 0
    seen: set[tuple[int, ...]] = set()
    for _ in range(INSTANCES):
        values = {n: _draw(draw, i) for n, i in obligation.variables if n in chosen}
        point = {n: values.get(n, _draw(draw, i)) for n, i in obligation.variables}
        try:
            if is_counterexample(obligation, point):
                return point
        except TooManySteps:
            pass
        if tuple(values.values()) in seen:
            continue
        seen.add(tuple(values.values()))
        try:
            found = encode_isl.find_counterexample(_fix(obligation, values), max_operations)
        except GaveUp:
            continue
        decided += 1
        if found is not None:
            return {**found, **values}
    if not decided:
        raise NotExpressible("isl decides no instance")
    return None


def _draw(r: random.Random, interval: Interval | None) -> int:
    reach = interval or Interval(-REACH, 4 * REACH)
    lower, upper = reach.lower, reach.upper
    if r.random() < 0.5:  # near zero, where divisions are lively, as far as the interval goes
        lower, upper = max(lower, -3), min(upper, 7)
        if lower > upper:
            lower, upper = reach.lower, reach.upper
    return r.randint(lower, upper) if lower <= upper else lower


def _fix(obligation: Obligation, values: dict[str, int]) -> Obligation:
    """The obligation with parameters replaced by numbers."""
    constants: dict[str, Expr] = {n: Const(v) for n, v in values.items()}

    def fixed(f: Formula, into: dict[str, Expr]) -> Formula:
        match f:
            case Compare(op, lhs, rhs):
                return Compare(op, substitute(lhs, into), substitute(rhs, into))
            case And(parts):
                return And(tuple(fixed(p, into) for p in parts))
            case Or(parts):
                return Or(tuple(fixed(p, into) for p in parts))
            case Not(part):
                return Not(fixed(part, into))
            case Exists(variables, part):
                hidden = {n for n, _ in variables}
                return Exists(variables, fixed(part, {n: e for n, e in into.items() if n not in hidden}))

    return replace(
        obligation,
        variables=tuple((n, Interval.point(values[n]) if n in values else i) for n, i in obligation.variables),
        hypothesis=fixed(obligation.hypothesis, constants),
        conclusion=fixed(obligation.conclusion, constants),
    )
