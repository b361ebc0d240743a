"""Free variables of formulas, and substitution of terms for them."""

from __future__ import annotations

from collections.abc import Mapping

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.models.expressions.expr import Expr, substitute


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
