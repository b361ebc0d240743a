"""Sizes and places as polynomials, with the operators that element rules are written in.

Trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.models.expressions.expr import Const, Expr, lift, maximum, minimum
from hloproof.tensor_rules.digits import quotient, remainder

ZERO: Final = Const(0)
ONE: Final = Const(1)


def plus(a: Expr, b: Expr | int) -> Expr:
    """a + b, folded for constants and for 0."""
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value)
    return b if a is ZERO else a if b is ZERO else a + b


def minus(a: Expr, b: Expr | int) -> Expr:
    """a - b, folded for constants, for 0 and for equal operands."""
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value - b.value)
    return a if b is ZERO else ZERO if a is b else a - b


def times(a: Expr, b: Expr | int) -> Expr:
    """a * b, folded for constants, for 0 and for 1."""
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value)
    if a is ZERO or b is ZERO:
        return ZERO
    return b if a is ONE else a if b is ONE else a * b


def clamped(start: Expr, most: Expr) -> Expr:
    """A start as HLO takes it."""
    return maximum(0, minimum(start, most))


@dataclass(frozen=True, slots=True)
class Sym:
    """An expression with operators that leave out what changes nothing. Divisors are at least 1."""

    e: Expr

    def __add__(self, other: Sym | int) -> Sym:
        return Sym(plus(self.e, _plain(other)))

    def __sub__(self, other: Sym | int) -> Sym:
        return Sym(minus(self.e, _plain(other)))

    def __rsub__(self, other: int) -> Sym:
        return Sym(minus(Const(other), self.e))

    def __mul__(self, other: Sym | int) -> Sym:
        return Sym(times(self.e, _plain(other)))

    def __floordiv__(self, other: Sym | int) -> Sym:
        return Sym(quotient(self.e, _plain(other)))

    def __mod__(self, other: Sym | int) -> Sym:
        return Sym(remainder(self.e, _plain(other)))


def _plain(value: Sym | int) -> Expr:
    return value.e if isinstance(value, Sym) else lift(value)


def syms(values: tuple[Expr, ...] | list[Expr]) -> tuple[Sym, ...]:
    """Expressions as the numbers that `elements` computes with."""
    return tuple(map(Sym, values))
