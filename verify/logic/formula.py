"""Formulas over integer expressions: what obligations and definitions are written in.

Terms are expressions of `models`; variables are named. Formulas are inert data. Division by a term that is zero makes
the atom that holds it undefined; whoever states an obligation with symbolic divisors states that they are not zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hloproof.models.expressions.expr import Comparator, Const, Expr, Var, lift, substitute
from hloproof.models.expressions.interval import Interval


@dataclass(frozen=True, slots=True)
class Compare:
    """`lhs op rhs` over the integers."""

    op: Comparator
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class And:
    """All hold; with no parts, true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """One holds; with no parts, false."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its part does not."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Exists:
    """Some values of the variables, each in its interval, make the part true."""

    variables: tuple[tuple[str, Interval], ...]
    part: Formula


Formula = Compare | And | Or | Not | Exists

TRUE = And()
FALSE = Or()


def eq(lhs: Expr | int, rhs: Expr | int) -> Formula:
    """lhs == rhs; integers become constants."""
    return Compare("==", lift(lhs), lift(rhs))


def ne(lhs: Expr | int, rhs: Expr | int) -> Formula:
    """lhs != rhs; integers become constants."""
    return Compare("!=", lift(lhs), lift(rhs))


def le(lhs: Expr | int, rhs: Expr | int) -> Formula:
    """lhs <= rhs; integers become constants."""
    return Compare("<=", lift(lhs), lift(rhs))


def lt(lhs: Expr | int, rhs: Expr | int) -> Formula:
    """lhs < rhs; integers become constants."""
    return Compare("<", lift(lhs), lift(rhs))


def within(e: Expr | int, interval: Interval) -> Formula:
    """lower <= e <= upper."""
    return And((le(interval.lower, e), le(e, interval.upper)))


def conj(*parts: Formula) -> Formula:
    """Conjunction; nested conjunctions are flattened."""
    flat: list[Formula] = []
    for p in parts:
        flat.extend(p.parts if isinstance(p, And) else (p,))
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction, also of conjunctions inside it; anything else is its own part."""
    if isinstance(formula, And):
        return tuple(piece for p in formula.parts for piece in conjuncts(p))
    return (formula,)


def disj(*parts: Formula) -> Formula:
    """Disjunction; nested disjunctions are flattened."""
    flat: list[Formula] = []
    for p in parts:
        flat.extend(p.parts if isinstance(p, Or) else (p,))
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Comparator",
    "Compare",
    "Const",
    "Exists",
    "Formula",
    "Not",
    "Or",
    "Var",
    "conj",
    "conjuncts",
    "disj",
    "eq",
    "le",
    "lt",
    "ne",
    "within",
]


def atoms(formula: Formula) -> Iterator[Compare]:
    """Every comparison in the formula, from left to right."""
    match formula:
        case Compare():
            yield formula
        case And(parts) | Or(parts):
            for p in parts:
                yield from atoms(p)
        case Not(part) | Exists(_, part):
            yield from atoms(part)


def free_variables(formula: Formula) -> frozenset[str]:
    """The names that occur free."""
    match formula:
        case Compare(_, lhs, rhs):
            return lhs.free | rhs.free
        case And(parts) | Or(parts):
            return frozenset().union(*(free_variables(p) for p in parts))
        case Not(part):
            return free_variables(part)
        case Exists(variables, part):
            return free_variables(part) - {name for name, _ in variables}


def replace_variables(formula: Formula, values: Mapping[str, Expr]) -> Formula:
    """Terms for free variables, all at once.

    Raises ValueError where a term holds a variable that a quantifier around its place binds.
    """
    if not values:
        return formula
    match formula:
        case Compare(op, lhs, rhs):
            return Compare(op, substitute(lhs, values), substitute(rhs, values))
        case And(parts):
            return And(tuple(replace_variables(p, values) for p in parts))
        case Or(parts):
            return Or(tuple(replace_variables(p, values) for p in parts))
        case Not(part):
            return Not(replace_variables(part, values))
        case Exists(variables, part):
            bound = {name for name, _ in variables}
            inner = {name: e for name, e in values.items() if name not in bound}
            if any(e.free & bound for name, e in inner.items() if name in free_variables(part)):
                raise ValueError("a substituted term would be captured by a quantifier")
            return Exists(variables, replace_variables(part, inner))
