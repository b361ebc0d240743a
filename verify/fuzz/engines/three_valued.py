"""Formulas read by definition: at a point, by trying every value of what is quantified.

Python does the arithmetic. An atom that divides by zero is neither true nor false, a conjunction or disjunction is
neither where its other parts do not settle it, and an `Exists` is the disjunction over its points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any, Final

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.python_text import python_term

Point = dict[str, int]
Reading = Callable[[Point], bool | None]
"""True, false, or None where it is neither."""

_SCOPE: Final[dict[str, Any]] = {"min": min, "max": max}


def read(f: Formula) -> Reading:
    """The formula as a function of a point."""
    match f:
        case Compare(op, lhs, rhs):
            return _comparison(f"{python_term(lhs)} {op} {python_term(rhs)}")
        case Not(part):
            inner = read(part)
            return lambda point: None if (found := inner(point)) is None else not found
        case And(parts):
            return _joined([read(p) for p in parts], False)
        case Or(parts):
            return _joined([read(p) for p in parts], True)
        case Exists(variables, part):
            return _quantified(
                [name for name, _ in variables], [range(i.lower, i.upper + 1) for _, i in variables], read(part)
            )


def _comparison(text: str) -> Reading:
    code = compile(text, "<comparison>", "eval")

    def at(point: Point) -> bool | None:
        try:
            return bool(eval(code, _SCOPE, point))
        except ZeroDivisionError:
            return None

    return at


def _joined(parts: list[Reading], settles: bool) -> Reading:
    def at(point: Point) -> bool | None:
        found = [part(point) for part in parts]
        return settles if settles in found else None if None in found else not settles

    return at


def _quantified(names: list[str], axes: list[range], part: Reading) -> Reading:
    def at(point: Point) -> bool | None:
        found = {part({**point, **dict(zip(names, values, strict=True))}) for values in product(*axes)}
        return True if True in found else None if None in found else False

    return at


def work(f: Formula) -> int:
    """How many comparisons a reading makes at a point, at most."""
    match f:
        case Compare():
            return 1
        case Not(part):
            return work(part)
        case And(parts) | Or(parts):
            return sum(map(work, parts))
        case Exists(variables, part):
            return prod(i.count for _, i in variables) * max(1, work(part))


def points(obligation: Obligation) -> Iterator[Point]:
    """The points of the domain's box, which has bounds, in lexicographic order."""
    names = [name for name, _ in obligation.variables]
    axes = [range(i.lower, i.upper + 1) for _, i in obligation.variables if i is not None]
    return (dict(zip(names, values, strict=True)) for values in product(*axes))


def size_of(obligation: Obligation) -> int | None:
    """How many points the domain's box has; None where it has no bounds."""
    intervals = [i for _, i in obligation.variables]
    return None if None in intervals else prod(i.count for i in intervals if i is not None)
