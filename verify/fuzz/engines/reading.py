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
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.expressions.python_text import python_term

Point = dict[str, int]
Reading = Callable[[Point], bool | None]
"""True, false, or None where it is neither."""

DIVISIONS: Final = ("floordiv", "ceildiv", "mod")
_SCOPE: Final[dict[str, Any]] = {"min": min, "max": max}


def read(f: Formula) -> Reading:
    """The formula as a function of a point."""
    match f:
        case Compare(op, lhs, rhs):
            return _comparison(f"{python_term(lhs)} {op} {python_term(rhs)}")
        case Not(part):
            inner = read(part)
            return lambda point: None if (found := inner(point)) is None else not found
        case And() | Or():
            return _joined([read(p) for p in f.parts], isinstance(f, Or))
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


# --- what a formula is made of -------------------------------------------------------------------------------------


def parts(f: Formula) -> tuple[Formula, ...]:
    """The formulas that it is made of."""
    match f:
        case Compare():
            return ()
        case Not(part) | Exists(_, part):
            return (part,)
        case And(found) | Or(found):
            return found


def comparisons(f: Formula, inside: bool = True) -> list[Compare]:
    """The comparisons of a formula, in order; those under quantifiers if asked for."""
    if isinstance(f, Compare):
        return [f]
    return [] if isinstance(f, Exists) and not inside else [c for p in parts(f) for c in comparisons(p, inside)]


def conjuncts(f: Formula) -> list[Formula]:
    """The parts of nested conjunctions, in order."""
    return [p for part in f.parts for p in conjuncts(part)] if isinstance(f, And) else [f]


def has_exists(f: Formula) -> bool:
    return isinstance(f, Exists) or any(map(has_exists, parts(f)))


def terms(*formulas: Formula) -> list[Expr]:
    """All terms, parts of terms included."""
    return [e for f in formulas for c in comparisons(f) for side in (c.lhs, c.rhs) for e in postorder(side)]


def is_defined(root: Expr) -> bool:
    """No divisor can be zero: all are constants other than that."""
    divisors = [e.rhs for e in postorder(root) if isinstance(e, Binary) and e.op in DIVISIONS]
    return all(isinstance(d, Const) and d.value != 0 for d in divisors)


def work(f: Formula) -> int:
    """How many comparisons a reading makes at a point, at most."""
    inner = sum(map(work, parts(f)))
    return prod(i.count for _, i in f.variables) * max(1, inner) if isinstance(f, Exists) else inner or 1


def boxes(f: Formula) -> int:
    """How many boxes a search can look at that halves them: twice as many as points, under each of them again."""
    inner = sum(map(boxes, parts(f)))
    return 2 * prod(i.count for _, i in f.variables) * (1 + inner) if isinstance(f, Exists) else inner


# --- points --------------------------------------------------------------------------------------------------------


def points(obligation: Obligation) -> Iterator[Point]:
    """The points of the domain's box, which has bounds, in lexicographic order."""
    names = [name for name, _ in obligation.variables]
    axes = [range(i.lower, i.upper + 1) for _, i in obligation.variables if i is not None]
    return (dict(zip(names, values, strict=True)) for values in product(*axes))


def size_of(obligation: Obligation) -> int | None:
    """How many points the domain's box has; None where it has no bounds."""
    intervals = [i for _, i in obligation.variables]
    return None if None in intervals else prod(i.count for i in intervals if i is not None)
