"""Parts of terms that equality takes apart: pieces of folds, conditions and where they change, lone variables.

Trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hloproof.logic.formula import Formula, atoms, le, lt
from hloproof.models.expressions.expr import Expr, Var
from hloproof.tensor_rules.digits import SizePolynomial, expression, polynomial
from hloproof.tensor_rules.scalar_operations import KNOWN
from hloproof.tensor_rules.terms import App, Cond, Fold, Term, replaced


@dataclass(frozen=True)
class FoldPiece:
    """A fold's part: the body for all values of the variables. For sums `factors` are multiplied, times `scale`."""

    variables: tuple[tuple[str, Expr], ...]
    factors: tuple[Term, ...]
    scale: int = 1


def ranges(variables: Sequence[tuple[str, Expr]]) -> tuple[Formula, ...]:
    """0 <= v < size for each."""
    return tuple(f for name, size in variables for f in (le(0, Var(name)), lt(Var(name), size)))


def replaced_all(term: Term, values: Mapping[str, Expr]) -> Term:
    """The term with values for variables; the same object where there are none."""
    return replaced(term, values) if values else term


def scaled(p: FoldPiece, by: int) -> FoldPiece:
    """The piece so many times."""
    return FoldPiece(p.variables, p.factors, p.scale * by)


def condition(term: Term) -> Cond | None:
    """The first condition outside of folds."""
    if isinstance(term, Cond):
        return term
    if isinstance(term, App):
        return next((found for a in term.args if (found := condition(a)) is not None), None)
    return None


def chosen(term: Term, test: Formula, holds: bool) -> Term:
    """The term where the test comes out so."""
    if isinstance(term, Cond):
        if term.test == test:
            return chosen(term.then if holds else term.other, test, holds)
        return Cond(term.test, chosen(term.then, test, holds), chosen(term.other, test, holds))
    if isinstance(term, App):
        return App(term.op, tuple(chosen(a, test, holds) for a in term.args), term.key)
    return term


def alone(p: SizePolynomial) -> list[str]:
    """Variables that the polynomial has in one monomial only, by themselves, once or minus once."""
    names = [m[0][1].name for m, c in p.items() if len(m) == 1 and abs(c) == 1 and isinstance(m[0][1], Var)]
    return [n for n in names if sum(any(n in f.free for _, f in m) for m in p) == 1]


def thresholds(test: Formula, name: str) -> Iterator[Expr]:
    """Places n such that a comparison in the test comes out alike for all values of the variable on one side of n."""
    for atom in atoms(test):
        difference = polynomial(atom.lhs - atom.rhs)
        mine = ((name, Var(name)),)
        rest = {m: c for m, c in difference.items() if m != mine}
        if abs(difference.get(mine, 0)) != 1 or any(name in f.free for m in rest for _, f in m):
            continue
        sign = difference[mine]
        # sign * v + rest op 0: v = -sign * rest is where it changes, one further where equality still holds below.
        place = expression({m: -sign * c for m, c in rest.items()})
        yield place + 1 if (sign > 0) == (atom.op == "<=") else place


def shifted_by(term: Term, name: str, by: Expr) -> Term:
    """The term with `name + by` for the variable."""
    return replaced(term, {name: Var(name) + by})


def holds_fold(term: Term, op: str) -> bool:
    """Whether the term is a fold by `op`, or an arithmetic combination that holds one."""
    if isinstance(term, Fold):
        return term.op == op
    inside = {"add", "subtract", "multiply", "negate"} if op == "add" else {op}
    return isinstance(term, App) and term.op in inside and any(holds_fold(a, op) for a in term.args)


def is_known(term: Term) -> bool:
    """Whether it is an operation of which something is known."""
    return isinstance(term, App) and term.op in KNOWN
