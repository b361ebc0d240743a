"""Rules tried at a point: numbers for the metavariables, and both sides evaluated by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Literal

from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.rules.rule import Bounded, Condition, ConstraintRule, ExpressionRule, Rule, RuleBase, VariableRule

_Outcome = Literal["inapplicable", "holds", "fails"]
"""inapplicable: a condition is false or the left side is not defined at this point."""

LONGEST = 10_000
"""Values of a variable that are looked at; a longer interval makes the instance inapplicable."""


def try_instance(rule: Rule, values: Mapping[str, int]) -> _Outcome:
    """Whether the rule holds where its metavariables have these values. Raises KeyError for one without a value."""
    try:
        if not _met(rule, values):
            return "inapplicable"
    except UndefinedValue:
        return "inapplicable"
    if isinstance(rule, ExpressionRule):
        return _expression(rule, values)
    if isinstance(rule, ConstraintRule):
        return _constraints(rule, values)
    return _variable(rule, values)


def value_of(rule: RuleBase, root: Expr, values: Mapping[str, int]) -> int:
    """The value of an expression in the rule's reading of division. Raises UndefinedValue on division by zero."""
    return evaluate(root, values, partial(_apply, rule))


def _apply(rule: RuleBase, op: str, x: int, y: int) -> int:
    if y and op in ("floordiv", "mod"):
        if op == "mod" and rule.mod == "nonnegative":
            return x % abs(y)
        if op == "mod" and rule.mod == "floor":
            return x % y
        if rule.division == "trunc":
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return quotient if op == "floordiv" else x - y * quotient
        if rule.division == "euclidean":
            remainder = x % abs(y)
            return remainder if op == "mod" else (x - remainder) // y
    return apply_operator(op, x, y)


def _met(rule: RuleBase, values: Mapping[str, int]) -> bool:
    """Whether all conditions hold. Raises UndefinedValue."""
    return all(_condition(rule, c, values) for c in rule.conditions)


def _condition(rule: RuleBase, c: Condition, values: Mapping[str, int]) -> bool:
    x, y = value_of(rule, c.lhs, values), value_of(rule, c.rhs, values)
    return {"==": x == y, "!=": x != y, "<=": x <= y, "<": x < y}[c.op]


def _inside(rule: RuleBase, b: Bounded, values: Mapping[str, int]) -> bool:
    return value_of(rule, b.lower, values) <= value_of(rule, b.expr, values) <= value_of(rule, b.upper, values)


def _all_inside(rule: RuleBase, bounds: tuple[Bounded, ...], values: Mapping[str, int]) -> bool:
    """Whether all constraints hold. Where one that has a value everywhere is false, the others are not asked; else each
    of them must have a value, in whatever order they stand. Raises UndefinedValue."""
    if not all(_inside(rule, b, values) for b in bounds if not _partial(b)):
        return False
    found = [_inside(rule, b, values) for b in bounds if _partial(b)]
    return all(found)


def _partial(b: Bounded) -> bool:
    return any(
        isinstance(n, Binary)
        and n.op in ("floordiv", "ceildiv", "mod")
        and not (isinstance(n.rhs, Const) and n.rhs.value)
        for e in (b.expr, b.lower, b.upper)
        for n in postorder(e)
    )


def _expression(rule: ExpressionRule, values: Mapping[str, int]) -> _Outcome:
    try:
        left = value_of(rule, rule.lhs, values)
    except UndefinedValue:
        return "inapplicable"
    try:
        return "holds" if value_of(rule, rule.rhs, values) == left else "fails"
    except UndefinedValue:
        return "fails"


def _constraints(rule: ConstraintRule, values: Mapping[str, int]) -> _Outcome:
    try:
        before = _all_inside(rule, rule.before, values)
    except UndefinedValue:
        return "inapplicable"
    try:
        after = not rule.never and _all_inside(rule, rule.after, values)
    except UndefinedValue:
        return "fails"
    return "holds" if before == after else "fails"


def _admitted(rule: RuleBase, name: str, bounds: tuple[Bounded, ...], values: Mapping[str, int]) -> list[int] | None:
    """The values of the variable that the constraints admit; None when nothing bounds it, or too many are to try."""
    own = [b for b in bounds if b.expr == Var(name)]
    if not own:
        return None
    low, high = value_of(rule, own[0].lower, values), value_of(rule, own[0].upper, values)
    if high - low >= LONGEST:
        return None
    return [v for v in range(low, high + 1) if _all_inside(rule, bounds, {**values, name: v})]


def left_out(rule: VariableRule, values: Mapping[str, int]) -> list[int] | None:
    """The values that the left side admits and that are no image; None where that cannot be said, since the rule holds
    or does not apply here, or an interval is too long. A rule that leaves its variable out has one such "value" where
    the left side admits none: [0]. Raises KeyError for a metavariable without a value."""
    try:
        if not _met(rule, values):
            return None
        before, images = _values_and_images(rule, values)
    except UndefinedValue:
        return None
    if before is None or images is None or images == Counter(before):
        return None
    return [0] if rule.image is None else [v for v in before if v not in images]


def _variable(rule: VariableRule, values: Mapping[str, int]) -> _Outcome:
    try:
        before, images = _values_and_images(rule, values)
    except _NoImage:
        return "fails"
    except UndefinedValue:
        return "inapplicable"
    if before is None or images is None:
        return "inapplicable"
    return "holds" if images == Counter(before) else "fails"


class _NoImage(UndefinedValue):
    """The right side has no value where the left one has."""


def _values_and_images(rule: VariableRule, values: Mapping[str, int]) -> tuple[list[int] | None, Counter[int] | None]:
    """The values that the left side admits, and how often each is an image; None for what is not bounded or too long.
    Of a rule that leaves its variable out the images are those values, or one value where there is none, so that the
    two are equal where it holds. Raises UndefinedValue where the left side has no value, _NoImage where only the right
    side has none."""
    before = _admitted(rule, rule.variable, rule.before, values)
    if before is None:
        return None, None
    if rule.image is None:
        return before, Counter(before or [0])
    try:
        after = _admitted(rule, rule.fresh, rule.after, values)
        if after is None:
            return before, None
        return before, Counter(value_of(rule, rule.image, {**values, rule.fresh: t}) for t in after)
    except UndefinedValue as error:
        raise _NoImage from error
