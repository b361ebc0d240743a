"""Elements of tensors whose sizes are symbols, as terms.

Trusted: proofs are about these terms. `unfold` of an operation stands in operations.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloproof.logic.formula import Formula, free_variables, replace_variables
from hloproof.models.expressions.expr import Expr, substitute


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
