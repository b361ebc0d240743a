"""The value of an expression under a reading of division: the judge of rules and of their counterexamples."""

from __future__ import annotations

from collections.abc import Mapping

from models.expr import Binary, Const, Expr, Var, postorder
from models.interpreter.expression import UndefinedValue, apply_operator
from models.rules import RuleBase
from verify.rule_proof import Reading, Rounding


def reading_of(rule: RuleBase) -> Reading:
    """The reading that a rule asks for."""
    return Reading(rule.division, "euclidean" if rule.mod == "nonnegative" else rule.division)


def quotient(x: int, d: int, rounding: Rounding) -> int:
    """x divided by d. Raises UndefinedValue for d = 0."""
    if d == 0:
        raise UndefinedValue(f"{x} divided by 0")
    match rounding:
        case "floor":
            return x // d
        case "trunc":
            return abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1)
        case "euclidean":
            return x // d if d > 0 else -(x // -d)


def evaluate(root: Expr, values: Mapping[str, int], reading: Reading) -> int:
    """The value of `root`. Raises UndefinedValue on division by zero, KeyError for a variable without a value."""
    done: dict[Expr, int] = {}
    for e in postorder(root):
        match e:
            case Const(v):
                done[e] = v
            case Var(name):
                done[e] = values[name]
            case Binary("floordiv", lhs, rhs):
                done[e] = quotient(done[lhs], done[rhs], reading.division)
            case Binary("ceildiv", lhs, rhs):
                done[e] = -quotient(-done[lhs], done[rhs], reading.division)
            case Binary("mod", lhs, rhs):
                x, d = done[lhs], done[rhs]
                done[e] = x - d * quotient(x, d, reading.mod)
            case Binary(op, lhs, rhs):
                done[e] = apply_operator(op, done[lhs], done[rhs])
    return done[root]
