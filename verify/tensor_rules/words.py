"""Terms and formulas for the reader."""

from __future__ import annotations

from hloproof.logic.formula import And, Compare, Formula, Not, Or
from hloproof.models.expressions.expr import to_text
from hloproof.tensor_rules.terms import App, Elem, Fold, Num


def told(term: object) -> str:
    """The term for a reader."""
    match term:
        case Elem(tensor, at):
            return f"{tensor}[{', '.join(map(to_text, at))}]"
        case Num(value):
            return to_text(value)
        case App(op, args):
            return f"{op}({', '.join(map(told, args))})"
        case Fold(op, variables, body):
            return f"{op} over {len(variables)} of {told(body)}"
    return "a case"


def to_words(formula: Formula) -> str:
    """The formula for a reader."""
    match formula:
        case Compare(op, lhs, rhs):
            return f"{to_text(lhs)} {op} {to_text(rhs)}"
        case Not(part):
            return f"not ({to_words(part)})"
        case And(parts):
            return " and ".join(map(to_words, parts))
        case Or(parts):
            return " or ".join(map(to_words, parts))
    return "a condition"
