"""Elements of tensors whose sizes are symbols, as terms.

Trusted: proofs are about these terms. `unfold` of an operation stands in operations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hloproof.logic.formula import And, Compare, Formula, Not, Or, conj, disj, free_variables, le, replace_variables
from hloproof.models.expressions.expr import Const, Expr, substitute


@dataclass(frozen=True, slots=True)
class Elem:
    """The element of a declared tensor at an index within its sizes."""

    tensor: str
    at: tuple[Expr, ...]
    pred: bool = False


@dataclass(frozen=True, slots=True)
class Num:
    """An integer that a tensor of numbers holds: a constant, or an index (iota)."""

    value: Expr


@dataclass(frozen=True, slots=True)
class App:
    """An elementwise operation; `key` holds its attributes."""

    op: str
    args: tuple[Term, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Cond:
    """`then` where the formula holds, else `other`."""

    test: Formula
    then: Term
    other: Term


@dataclass(frozen=True, slots=True)
class Fold:
    """`op` over all values of the variables, each from 0 to its size (excluded); `init` is None for op's identity."""

    op: str
    variables: tuple[tuple[str, Expr], ...]
    body: Term
    init: Term | None = None


Term = Elem | Num | App | Cond | Fold


def replaced(term: Term, values: Mapping[str, Expr]) -> Term:
    """The term with expressions for variables; variables of folds are never among them."""
    match term:
        case Elem(tensor, at, pred):
            return Elem(tensor, tuple(substitute(e, values) for e in at), pred)
        case Num(value):
            return Num(substitute(value, values))
        case App(op, args, key):
            return App(op, tuple(replaced(a, values) for a in args), key)
        case Cond(test, then, other):
            return Cond(replace_variables(test, values), replaced(then, values), replaced(other, values))
        case Fold(op, variables, body, init):
            assert not any(name in values for name, _ in variables)
            sizes = tuple((name, substitute(size, values)) for name, size in variables)
            return Fold(op, sizes, replaced(body, values), None if init is None else replaced(init, values))


@dataclass(frozen=True, slots=True)
class Tidy:
    """Rewrites terms: `value` changes expressions and keeps their values, `bound` keeps where they are at least 0,
    and `root` where they are 0."""

    value: Callable[[Expr], Expr]
    bound: Callable[[Expr], Expr]
    root: Callable[[Expr], Expr]

    def term(self, term: Term) -> Term:
        """The term with every expression outside of folds changed."""
        match term:
            case Elem(tensor, at, pred):
                return Elem(tensor, tuple(map(self.value, at)), pred)
            case Num(value):
                return Num(self.value(value))
            case App(op, args, key):
                return App(op, tuple(map(self.term, args)), key)
            case Cond(test, then, other):
                return Cond(self.formula(test), self.term(then), self.term(other))
            case Fold():
                return term

    def formula(self, formula: Formula) -> Formula:
        match formula:
            case Compare("<=", lhs, rhs):
                return le(0, self.bound(self.value(rhs - lhs)))
            case Compare("<", lhs, rhs):
                return le(0, self.bound(self.value(rhs - lhs - 1)))
            case Compare("==", lhs, Const(0)):
                return Compare("==", self.root(self.value(lhs)), Const(0))
            case Compare(op, lhs, rhs):
                return Compare(op, self.value(lhs), self.value(rhs))
            case Not(part):
                return Not(self.formula(part))
            case And(parts):
                return conj(*map(self.formula, parts))
            case Or(parts):
                return disj(*map(self.formula, parts))
        return formula


def variables_of(term: Term) -> frozenset[str]:
    """Names of all integer variables in the term, those of folds included."""
    match term:
        case Elem(_, at, _):
            return frozenset().union(*(e.free for e in at))
        case Num(value):
            return value.free
        case App(_, args, _):
            return frozenset().union(*(variables_of(a) for a in args))
        case Cond(test, then, other):
            return free_variables(test) | variables_of(then) | variables_of(other)
        case Fold(_, variables, body, init):
            inside = frozenset(name for name, _ in variables).union(*(size.free for _, size in variables))
            return inside | variables_of(body) | (variables_of(init) if init is not None else frozenset())
