"""The rules that the simplifier applies, made ready for matching, and the constants that rules compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import gcd, lcm

from hloproof.models.expressions.expr import Binary, Var
from hloproof.models.rules.rule import Condition, ExpressionRule, Rule
from hloproof.models.rules.text import project_rules
from hloproof.models.simplifier.match import (
    ConstPattern,
    NodePattern,
    Pattern,
    PatternPart,
    SumPattern,
    compile_pattern,
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rule made ready for matching. `early` conditions are decided once the right operand has matched."""

    rule: ExpressionRule
    pattern: Pattern
    divisor: str
    """The metavariable that is the whole right operand and stands for a constant; '' where there is none."""
    early: tuple[Condition, ...]


@cache
def compiled_rules() -> tuple[Mapping[str, tuple[Compiled, ...]], tuple[Compiled, ...], tuple[Compiled, ...]]:
    """Rules by the operator at the root of their left side; rules of sums; rules of any expression."""
    by_operator: dict[str, list[Compiled]] = {}
    sums: list[Compiled] = []
    bare: list[Compiled] = []
    for rule in (*project_rules("division"), *project_rules("order"), *project_rules("sums")):
        compiled = compile_rule(rule)
        if isinstance(rule.lhs, Var):  # type: ignore[union-attr]
            bare.append(compiled)
        elif isinstance(compiled.pattern, NodePattern):
            by_operator.setdefault(compiled.pattern.op, []).append(compiled)
        else:
            sums.append(compiled)
    return {op: tuple(rules) for op, rules in by_operator.items()}, tuple(sums), tuple(bare)


def compile_rule(rule: Rule) -> Compiled:
    """A rule about expressions, ready to be matched. Raises ValueError where its left side is a product, which no
    pattern matches."""
    assert isinstance(rule, ExpressionRule), rule.name
    pattern = compile_pattern(rule.lhs, rule, set())
    if isinstance(rule.lhs, Binary) and rule.lhs.op == "*" and isinstance(pattern, SumPattern) is False:
        raise ValueError(f"rule {rule.name}: a product of expressions cannot be matched")
    early: tuple[Condition, ...] = ()
    if isinstance(rule.lhs, Binary):
        first = rule.lhs.rhs.free
        constants = {n for n in first if rule.sort(n) == "constant"}
        early = tuple(c for c in rule.conditions if (c.lhs.free | c.rhs.free) <= constants)
    divisor = ""
    if isinstance(pattern, NodePattern) and isinstance(pattern.rhs, ConstPattern) and isinstance(pattern.rhs.expr, Var):
        divisor = pattern.rhs.expr.name
    return Compiled(rule, pattern, divisor, early)


@cache
def first_operators(parts: tuple[PatternPart, ...]) -> frozenset[str]:
    """The operators that an atom may have to match the first of these parts, which is a node."""
    first = parts[0].factor
    assert isinstance(first, NodePattern)
    return frozenset((first.op,))


def compute(function: str, arguments: list[int | None]) -> int | None:
    """A constant as `compute` of a rule defines it; None where it has no value."""
    if any(a is None for a in arguments):
        return None
    match function, arguments:
        case "value", [int() as v]:
            return v
        case "gcd", [int() as a, int() as b]:
            return gcd(a, b)
        case "lcm", [int() as a, int() as b]:
            return lcm(a, b)
        case "inverse", [int() as a, int() as b]:
            try:
                return pow(a, -1, b)
            except ValueError:
                return None
    raise ValueError(f"no such function: {function}")


def compare(op: str, x: int, y: int) -> bool:
    """Whether x op y; op is one of `==`, `!=`, `<=`, `<`."""
    match op:
        case "==":
            return x == y
        case "!=":
            return x != y
        case "<=":
            return x <= y
    return x < y
