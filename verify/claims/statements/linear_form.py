"""Expressions as sums of integer multiples of atoms, for finding witnesses.

An atom is a variable or a term that is no sum and no multiple (`d0 floordiv 3`, `d0 * d1`). What is found with this is
never trusted: witnesses are checked by the obligations that they appear in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, postorder


@dataclass(frozen=True)
class LinearForm:
    """sum of coefficient * atom, plus constant; no coefficient is zero."""

    terms: Mapping[Expr, int]
    constant: int = 0

    def plus(self, other: LinearForm, factor: int = 1) -> LinearForm:
        """self + factor * other."""
        terms = dict(self.terms)
        for atom, c in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * c
        return LinearForm({a: c for a, c in terms.items() if c}, self.constant + factor * other.constant)

    def times(self, factor: int) -> LinearForm:
        return LinearForm({a: c * factor for a, c in self.terms.items()} if factor else {}, self.constant * factor)

    def without(self, atom: Expr) -> LinearForm:
        return LinearForm({a: c for a, c in self.terms.items() if a is not atom}, self.constant)

    def expression(self) -> Expr:
        total: Expr | None = None
        for atom, c in self.terms.items():
            term = atom if c == 1 else atom * c
            total = term if total is None else total + term
        if total is None:
            return Const(self.constant)
        return total + self.constant if self.constant else total


def linear_form(root: Expr) -> LinearForm:
    """`root` as a sum of multiples of atoms."""
    done: dict[Expr, LinearForm] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            done[e] = LinearForm({}, e.value)
        elif isinstance(e, Var):
            done[e] = LinearForm({e: 1})
        elif isinstance(e, Binary):
            done[e] = _join(e, e.op, done[e.lhs], done[e.rhs])
    return done[root]


def _join(e: Expr, op: Operator, lhs: LinearForm, rhs: LinearForm) -> LinearForm:
    if op == "+":
        return lhs.plus(rhs)
    if op == "*" and not rhs.terms:
        return lhs.times(rhs.constant)
    if op == "*" and not lhs.terms:
        return rhs.times(lhs.constant)
    return LinearForm({e: 1})
