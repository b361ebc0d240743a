"""A second witness of a rule, which knows no statement: the rule itself, tried at random points of every magnitude.

What the engines prove are statements made from the rule. A wrong statement would be proved by every engine, so the rule
is also evaluated, both sides by definition, by the interpreter of `models`, which shares nothing with the statements,
their cases of signs, or the encoders. Points are drawn from small numbers up to beyond 64 bits, alone and mixed;
constants that conditions or `compute` give are taken from there, so that conditions are met often.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final

from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.interpreter.rules import try_instance, value_of
from hloproof.models.rules.rule import ConstraintRule, ExpressionRule, Rule, VariableRule

_SEED: Final = 7_919
_TRIES: Final = 6_000
_APPLICABLE: Final = 1_500
"""Points at which the rule says something, beyond which no more are tried."""
_MAGNITUDES: Final = (3, 10, 60, 1_000, 10**5, 10**7, 10**12, 2**70)
_NEAR: Final = (3, 8, 25)
"""Variables that a rule binds are listed value by value: their bounds are drawn from small numbers."""


def contradicted(rule: Rule) -> dict[str, int] | None:
    """Values of the metavariables at which the rule does not hold; None where none were found."""
    return next((p for p in islice(_applicable(rule), _APPLICABLE) if try_instance(rule, p) == "fails"), None)


def _applicable(rule: Rule) -> Iterator[dict[str, int]]:
    for point in points(rule, Random(_SEED), _TRIES):
        if try_instance(rule, point) != "inapplicable":
            yield point


def points(rule: Rule, random: Random, tries: int) -> Iterator[dict[str, int]]:
    """Values for all metavariables that the statement does not bind; whether they meet the conditions is not asked."""
    bound = {rule.variable, rule.fresh} if isinstance(rule, VariableRule) else set[str]()
    names = [n for n, _ in rule.sorts if n not in bound]
    literals = sorted({abs(n.value) for e in _terms(rule) for n in postorder(e) if isinstance(n, Const)} | {1})
    for k in range(tries):
        sizes = _NEAR if isinstance(rule, VariableRule) else _MAGNITUDES
        # Every other point has all of its values of one magnitude: sums and quotients are of interest where their parts
        # are alike.
        common = sizes[k % len(sizes)] if k % 2 else 0
        values = {n: _drawn(random, common or random.choice(sizes), literals) for n in names}
        yield _fitted(rule, values, names, random)


def _drawn(random: Random, size: int, literals: list[int]) -> int:
    value = random.randint(-size, size)
    if random.random() < 0.2:  # beside a multiple of a number of the rule, where rounding turns over
        value = value * random.choice(literals) + random.choice((-1, 0, 1))
    return abs(value) if random.random() < 0.3 else value


def _fitted(rule: Rule, values: dict[str, int], names: list[str], random: Random) -> dict[str, int]:
    """The point with what conditions fix: `name == e`, `e mod c == 0` for a name e, and names that must be positive."""
    for c in rule.conditions:
        try:
            match c.op, c.lhs, c.rhs:
                case "==", Var(name), e if name in names and name not in e.free:
                    values[name] = value_of(rule, e, values)
                case "==", e, Var(name) if name in names and name not in e.free:
                    values[name] = value_of(rule, e, values)
                case "==", Binary("mod", Var(name), d), Const(0) if name in names and name not in d.free:
                    values[name] = value_of(rule, d, values) * random.randint(-9, 9)
                case "<=" | "<", e, Var(name) if name in names and name not in e.free:
                    low = value_of(rule, e, values)
                    if values[name] <= low:
                        values[name] = low + 1 + abs(values[name]) % 10 ** random.randint(1, 8)
                case "<=" | "<", Var(name), e if name in names and name not in e.free:
                    high = value_of(rule, e, values)
                    if values[name] >= high:
                        values[name] = (
                            high - 1 - (abs(values[name]) % max(1, abs(high)) if random.random() < 0.7 else 0)
                        )
                case _:
                    pass
        except UndefinedValue:
            pass
    return values


def _terms(rule: Rule) -> list[Expr]:
    terms = [e for c in rule.conditions for e in (c.lhs, c.rhs)]
    match rule:
        case ExpressionRule():
            terms += [rule.lhs, rule.rhs]
        case ConstraintRule() | VariableRule():
            terms += [e for b in (*rule.before, *rule.after) for e in b.terms]
    return terms
