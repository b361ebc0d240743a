"""The value of an expression under a reading of division: the judge of rules and of their counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Final

from hloproof.logic.obligation import FLOOR, Rounding, RoundingSemantics
from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator
from hloproof.models.expressions.evaluate import evaluate as evaluate_by
from hloproof.models.expressions.expr import Expr, postorder
from hloproof.models.expressions.python_text import compiled, python_term
from hloproof.models.rules.rule import RuleBase

_SMALL: Final = 60
_LONG: Final = 5_000


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
        return evaluate_by(root, values, partial(_rounded, reading))
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
    text = python_term(root, "v[{!r}]".format)
    if len(text) > _LONG:  # Shared parts are written out each time.
        return None
    return compiled(["def value(v):", f"    return {text}"])


def _rounded(reading: RoundingSemantics, op: str, x: int, y: int) -> int:
    match op:
        case "floordiv":
            return quotient(x, y, reading.division)
        case "ceildiv":
            return -quotient(-x, y, "floor")
        case "mod":
            return x - y * quotient(x, y, reading.mod)
    return apply_operator(op, x, y)
