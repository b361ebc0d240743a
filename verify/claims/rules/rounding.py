"""The value of an expression under a reading of division: the judge of rules and of their counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from hloproof.logic.rounding import FLOOR, Rounding, RoundingSemantics
from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.rules.rule import RuleBase

_SMALL: Final = 60
_LONG: Final = 5_000
_PYTHON: Final = {
    "+": "({} + {})",
    "*": "({} * {})",
    "floordiv": "({} // {})",
    "ceildiv": "(-(-{} // {}))",
    "mod": "({} % {})",
    "min": "min({}, {})",
    "max": "max({}, {})",
}


def reading_of(rule: RuleBase) -> RoundingSemantics:
    """The reading that a rule asks for."""
    rounding: dict[str | None, Rounding] = {"nonnegative": "euclidean", "floor": "floor", None: rule.division}
    return RoundingSemantics(rule.division, rounding[rule.mod])


def proof_reading(rule: RuleBase) -> RoundingSemantics:
    """What is left of the reading once the signs of divisors are cases of their own."""
    return RoundingSemantics() if rule.mod == "nonnegative" and rule.division == "floor" else reading_of(rule)


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


def evaluate(root: Expr, values: Mapping[str, int], reading: RoundingSemantics) -> int:
    """The value of `root`. Raises UndefinedValue on division by zero, KeyError for a variable without a value."""
    run = _compiled(root) if reading == FLOOR else None
    if run is None:
        return _walked(root, values, reading)
    try:
        return run(values)
    except ZeroDivisionError as error:
        raise UndefinedValue("divided by 0") from error


@lru_cache(maxsize=4096)
def _compiled(root: Expr) -> Callable[[Mapping[str, int]], int] | None:
    """The expression as a Python function, for the reading that Python shares: `//` and `%` round to minus infinity.
    None for expressions too large to be worth it."""
    if sum(1 for _ in postorder(root)) > _SMALL:
        return None
    text: dict[Expr, str] = {}
    for e in postorder(root):
        match e:
            case Const(v):
                text[e] = f"({v})"
            case Var(name):
                text[e] = f"v[{name!r}]"
            case Binary(op, lhs, rhs):
                text[e] = _PYTHON[op].format(text[lhs], text[rhs])
                if len(text[e]) > _LONG:  # Shared parts are written out each time.
                    return None
    made: Callable[[Mapping[str, int]], int] = eval(f"lambda v: {text[root]}", {"min": min, "max": max})
    return made


def _walked(root: Expr, values: Mapping[str, int], reading: RoundingSemantics) -> int:
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
                done[e] = -quotient(-done[lhs], done[rhs], "floor")
            case Binary("mod", lhs, rhs):
                x, d = done[lhs], done[rhs]
                done[e] = x - d * quotient(x, d, reading.mod)
            case Binary(op, lhs, rhs):
                done[e] = apply_operator(op, done[lhs], done[rhs])
    return done[root]
