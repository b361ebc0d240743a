"""The value of an integer expression, by definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder


class UndefinedValue(ZeroDivisionError):
    """A divisor is zero at this point."""


def apply_operator(op: str, x: int, y: int) -> int:
    """x op y on mathematical integers. Raises UndefinedValue on division by zero."""
    match op:
        case "+":
            return x + y
        case "*":
            return x * y
        case "min":
            return x if x < y else y
        case "max":
            return x if x > y else y
        case _ if y == 0:
            raise UndefinedValue(f"{x} {op} 0")
        case "floordiv":
            return x // y
        case "ceildiv":
            return -(-x // y)
        case "mod":
            return x - y * (x // y)
    raise ValueError(f"no such operator: {op}")


def evaluate(root: Expr, values: Mapping[str, int], apply: Callable[[str, int, int], int] = apply_operator) -> int:
    """The value of `root` where variables have `values`; `apply` says what operators mean.

    Raises UndefinedValue on division by zero and KeyError for a variable without a value.
    """
    done: dict[Expr, int] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            done[e] = e.value
        elif isinstance(e, Var):
            done[e] = values[e.name]
        elif isinstance(e, Binary):
            done[e] = apply(e.op, done[e.lhs], done[e.rhs])
    return done[root]
