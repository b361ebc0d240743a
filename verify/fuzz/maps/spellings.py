"""Expressions drawn at random, and one expression in several spellings: the order of terms and arguments, split
coefficients, signs outside of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable

Box = dict[str, Interval]
Bounds = list[tuple[Expr, Interval]]
"""Constraints: expressions, each with the interval that its values lie in."""

COEFFICIENTS: Final = (1, 1, 1, 2, 2, 3, 4, 5, -1, -1, -2, -3)
_OPERATORS: Final[tuple[Operator, ...]] = ("+", "floordiv", "mod", "+", "*", "floordiv", "mod", "ceildiv", "min", "max")


# --- expressions -------------------------------------------------------------------------------------------------


def times(e: Expr, c: int) -> Expr:
    """e * c, where 1 is left out."""
    return e if c == 1 else Binary("*", e, Const(c))


def total(parts: Sequence[Expr]) -> Expr:
    """The sum of at least one part, from the left."""
    first, *others = parts
    for part in others:
        first = Binary("+", first, part)
    return first


def linear(w: Writer, names: Sequence[str], plain: bool = False) -> Expr:
    """A sum of multiples of the variables and a constant; with `plain` the bare sum."""
    parts = [times(Var(v), 1 if plain else w.one_of(COEFFICIENTS)) for v in names]
    const = 0 if plain else w.one_of((0, 0, 0, 1, 2, -1, -4, 5))
    return total([*parts, Const(const)] if const or not parts else parts)


def expression(
    w: Writer, names: Sequence[str], depth: int, constants: Sequence[int] = (2, 2, 3, 4, 6, -1, -2, -3, 1)
) -> Expr:
    """Any operators, and sums of variables below them; divisors are constants that are not zero."""
    if not depth or not names or w.chance(5):
        return linear(w, w.shuffled(names, 2)) if w.chance(3) or not names else Var(w.one_of(names))
    op: Operator = w.one_of(_OPERATORS)
    left = expression(w, names, depth - 1, constants)
    if op in ("+", "min", "max") or (op == "*" and w.chance(3)):
        return Binary(op, left, expression(w, names, depth - 1, constants))
    return Binary(op, left, Const(w.one_of(constants)))


def values_of(e: Expr, box: Box) -> list[int]:
    """What the expression attains over the box, in order."""
    f = function_of((e,), list(box))
    return sorted({f(*p)[0] for p in points_of(box)})


def within(w: Writer, e: Expr, box: Box) -> Interval:
    """An interval whose ends are values of the expression, seldom all of them."""
    values = values_of(e, box)
    low, high = sorted((w.one_of(values), w.one_of(values)))
    match w.number(0, 3):
        case 0:
            return Interval(values[0] - w.one_of((0, 50)), high)
        case 1:
            return Interval(low, values[-1] + w.one_of((0, 50)))
    return Interval(low, high)


# --- spellings ---------------------------------------------------------------------------------------------------


def terms(e: Expr, factor: int = 1) -> tuple[int, list[tuple[Expr, int]]]:
    """The constant of a sum, and its terms with their coefficients as they are written."""
    match e:
        case Const(value):
            return factor * value, []
        case Binary("+", lhs, rhs):
            (a, x), (b, y) = terms(lhs, factor), terms(rhs, factor)
            return a + b, x + y
        case Binary("*", Const(value), inner) | Binary("*", inner, Const(value)):
            return terms(inner, factor * value)
    return 0, [(e, factor)]


def respelled(w: Writer, e: Expr) -> Expr:
    """The same expression otherwise written."""
    const, found = terms(e)
    parts: list[Expr] = []
    for atom, c in found:
        again = atom
        if isinstance(atom, Binary):
            lhs, rhs = respelled(w, atom.lhs), respelled(w, atom.rhs)
            turned = atom.op in ("min", "max", "*") and w.chance(2)
            again = Binary(atom.op, rhs, lhs) if turned else Binary(atom.op, lhs, rhs)
        if w.chance(7):
            some = w.number(-3, 3)
            parts.append(times(again, some))
            c -= some
        if c:
            parts.append(times(again, c))
    if const or not parts:
        parts.append(Const(const))
    parts = w.shuffled(parts)
    if len(parts) > 2 and w.chance(4):  # brackets
        parts = [parts[0], total(parts[1:])]
    if len(parts) > 1 and w.chance(7):
        parts = [Binary("*", times(parts[0], -1), Const(-1)), *parts[1:]]
    return total(parts)


def all_respelled(w: Writer, bounds: Bounds) -> Bounds:
    """Constraints in another order and spelling."""
    return [(respelled(w, e), i) for e, i in w.shuffled(bounds)]


# --- maps --------------------------------------------------------------------------------------------------------


def map_over(box: Mapping[str, Interval], results: Sequence[Expr], bounds: Bounds | None = None) -> IndexingMap:
    """The map over variables d0, .., s0, .. in these intervals; one that is missing in between has the value 0."""

    def variables(letter: str) -> tuple[Variable, ...]:
        count = max((int(name[1:]) for name in box if name[0] == letter), default=-1) + 1
        return tuple(Variable(box.get(f"{letter}{k}", Interval(0, 0))) for k in range(count))

    constraints = tuple(Constraint(e, i) for e, i in bounds or ())
    return IndexingMap(variables("d"), tuple(results), variables("s"), constraints=constraints)


def points_of(box: Mapping[str, Interval]) -> list[tuple[int, ...]]:
    """Every point of a box whose bounds are included."""
    return list(product(*(range(i.lower, i.upper + 1) for i in box.values())))


def meeting(box: Box, bounds: Bounds) -> list[tuple[int, ...]]:
    """The points of the box that meet the constraints."""
    f = function_of([e for e, _ in bounds], list(box))
    return [p for p in points_of(box) if all(v in i for v, (_, i) in zip(f(*p), bounds, strict=True))]
