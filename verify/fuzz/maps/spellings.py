"""One expression in several spellings: the order of terms and arguments, split coefficients, signs outside of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from hloproof.fuzz.drawing import Writer
from hloproof.models.expressions.expr import Binary, Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable

Box = dict[str, Interval]
Bounds = list[tuple[Expr, Interval]]
"""Constraints: expressions, each with the interval that its values lie in."""


def times(e: Expr, c: int) -> Expr:
    """e * c, where 1 is left out."""
    return e if c == 1 else Binary("*", e, Const(c))


def total(parts: Sequence[Expr]) -> Expr:
    """The sum of at least one part, from the left."""
    first, *others = parts
    for part in others:
        first = Binary("+", first, part)
    return first


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
