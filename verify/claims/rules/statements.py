"""What a rule says, as statements about integers.

An expression has no value where a divisor in it is zero. A rule speaks of points where its left side has a value; there
its right side must have one. Constraints without such divisors come first, and one of them that is false is enough:
`x in [1, 5], 7 mod x in [0, 1]` has a value at every point, since at 0 the first is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Final

from hloproof.logic.formula import Compare, conj
from hloproof.logic.obligation import FLOOR, Obligation, RoundingSemantics
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, postorder, rebuild, substitute
from hloproof.models.rules.rule import Bounded, Condition, ConstraintRule, ExpressionRule, Rule, VariableRule

NEVER: Final = Condition("==", Const(0), Const(1))
"""What holds nowhere: the goal where there is nothing to show."""
_NO_VALUE: Final = "the variable has no value"


@dataclass(frozen=True)
class RuleStatement:
    """One thing to show: under `given`, each of `goals` is defined and holds, one after the other. The divisors in
    `given` may be assumed to differ from zero."""

    given: tuple[Condition, ...]
    goals: tuple[Condition, ...]
    what: str
    """A whole sentence, without its full stop."""
    fails: str = ""
    """What is so at a point where it does not hold, in the same way."""
    exists: bool = False
    """It says that there is some value, and its goals are about the one that a hint names. Where they fail the hint is
    wrong, and there may be another value."""


def statements_of(rule: Rule) -> tuple[RuleStatement, ...]:
    """What a rule says, as statements about integers."""
    match rule:
        case ExpressionRule():
            given = (*rule.conditions, *defined(rule.lhs))
            goals = (*defined(rule.rhs), Condition("==", rule.lhs, rule.rhs))
            return (RuleStatement(given, goals, "both sides are equal", "the sides differ"),)
        case ConstraintRule():
            left, right = _inside(rule.before), _inside(rule.after)
            before, after = _defined_bounds(rule.before), _defined_bounds(rule.after)
            given = (*rule.conditions, *before)
            if rule.never:
                return (RuleStatement((*given, *left), (NEVER,), "there are no points", "there is a point"),)
            total = _total(rule.after)
            return (
                *(s for at in valued(rule) for s in _right_side_defined((*rule.conditions, *at, *total), after)),
                RuleStatement((*given, *left), (*after, *right), "no point is lost", "a point is lost"),
                *_nothing_added((*rule.conditions, *after, *right), rule.before),
            )
        case VariableRule():
            return _variable_statements(rule)


def valued(rule: Rule) -> tuple[tuple[Condition, ...], ...]:
    """Where the left side has a value: where one of these holds. Of a rule about variables, where the variable's
    interval has one: what else is asked is asked at what that holds."""
    match rule:
        case ExpressionRule():
            return (defined(rule.lhs),)
        case ConstraintRule():
            # Where all of it has a value, and where a false constraint gives it one.
            before = _defined_bounds(rule.before)
            return (before, *_false_at(_total(rule.before))) if before else ((),)
        case VariableRule():
            return (_defined_bounds(rule.before[:1]),)


def _variable_statements(rule: VariableRule) -> tuple[RuleStatement, ...]:
    # That the other constraints have a value at every image is more than the rule needs, whose left side may have none:
    # who fails there refutes nothing yet.
    (at,) = valued(rule)
    conditions = (*rule.conditions, *at)
    left = (*_defined_bounds(rule.before), *_inside(rule.before))
    if rule.image is None:
        value = next((e for n, e in rule.witness if n == rule.variable), None)
        if value is None:
            return (RuleStatement(conditions, (NEVER,), "the variable has a value", _NO_VALUE, exists=True),)
        there = tuple(_at(c, rule.variable, value) for c in left)
        return (RuleStatement(conditions, there, "the variable has a value", _NO_VALUE, exists=True),)
    right = _inside(rule.after)
    back = next((e for n, e in rule.witness if n == rule.fresh), Var(rule.fresh))
    taken = {n for n, _ in rule.sorts} | {n for n, _ in rule.witness}
    other = Var(next(n for k in count() if (n := f"{rule.fresh}_other{k or ''}") not in taken))
    image_of_other = substitute(rule.image, {rule.fresh: other})
    owed = (*_defined_bounds(rule.after), *defined(rule.image))
    return (
        *_right_side_defined((*conditions, *_total(rule.after)), owed),
        RuleStatement(
            (*conditions, *right),
            tuple(_at(c, rule.variable, rule.image) for c in left),
            "every image is a value of the variable",
            "an image is no value of the variable",
        ),
        RuleStatement(
            (*rule.conditions, *left),
            (
                *(_at(c, rule.fresh, back) for c in right),
                Condition("==", substitute(rule.image, {rule.fresh: back}), Var(rule.variable)),
            ),
            "every value of the variable is an image",
            "a value of the variable is no image",
            exists=True,
        ),
        RuleStatement(
            (
                *conditions,
                *right,
                *(_at(c, rule.fresh, other) for c in right),
                Condition("==", rule.image, image_of_other),
            ),
            (Condition("==", Var(rule.fresh), other),),
            "no value is an image twice",
            "a value is an image twice",
        ),
    )


def _at(c: Condition, name: str, value: Expr) -> Condition:
    return Condition(c.op, substitute(c.lhs, {name: value}), substitute(c.rhs, {name: value}))


def _right_side_defined(given: tuple[Condition, ...], owed: tuple[Condition, ...]) -> tuple[RuleStatement, ...]:
    return (RuleStatement(given, owed, "the right side has a value", "the right side has no value"),) if owed else ()


def _nothing_added(right: tuple[Condition, ...], before: Sequence[Bounded]) -> Iterator[RuleStatement]:
    """Where the right side holds, the left one does. Its constraints that always have a value are asked of every point:
    where they do not hold, a point is added whether or not the others have a value."""
    total, owed = _total(before), _defined_bounds(before)
    others = _inside([b for b in before if _defined_bounds([b])])
    for given, goals in ((right, total), ((*owed, *right, *total), others)):
        if goals:
            yield RuleStatement(given, goals, "no point is added", "a point is added")


def _false_at(total: Sequence[Condition]) -> Iterator[tuple[Condition, ...]]:
    """For each of these comparisons, that it is false."""
    return ((Condition("<", c.rhs, c.lhs),) for c in total)


def _defined_bounds(bounded: Sequence[Bounded]) -> tuple[Condition, ...]:
    return tuple(d for b in bounded for e in b.terms for d in defined(e))


def _total(bounded: Sequence[Bounded]) -> tuple[Condition, ...]:
    """The constraints that have a value at every point."""
    return _inside([b for b in bounded if not _defined_bounds([b])])


def _inside(bounded: Sequence[Bounded]) -> tuple[Condition, ...]:
    return tuple(c for b in bounded for c in (Condition("<=", b.lower, b.expr), Condition("<=", b.expr, b.upper)))


def defined(e: Expr) -> tuple[Condition, ...]:
    """No divisor in the expression is zero."""
    return tuple(
        Condition("!=", node.rhs, Const(0))
        for node in postorder(e)
        if isinstance(node, Binary)
        and node.op in ("floordiv", "ceildiv", "mod")
        and not (isinstance(node.rhs, Const) and node.rhs.value)
    )


def obligation_of(
    given: Sequence[Condition], goal: Condition, reading: RoundingSemantics = FLOOR, label: str = ""
) -> Obligation:
    """That a condition follows and has a value, for all integers, as engines are asked."""
    names = names_of(RuleStatement(tuple(given), (goal,), ""))
    hypothesis = conj(*(Compare(g.op, g.lhs, g.rhs) for g in given))
    return Obligation(tuple((n, None) for n in names), Compare(goal.op, goal.lhs, goal.rhs), hypothesis, label, reading)


def names_of(s: RuleStatement) -> list[str]:
    """The variables of a statement, in the order in which they come first."""
    seen: dict[str, None] = {}
    for c in (*s.given, *s.goals):
        for e in (c.lhs, c.rhs):
            for node in postorder(e):
                if isinstance(node, Var):
                    seen[node.name] = None
    return list(seen)


def sign_cases(rule: Rule, s: RuleStatement) -> list[RuleStatement]:
    """Under the reading with nonnegative remainders, a statement for each choice of signs of the divisors of `mod`: for
    a negative divisor d, `x mod d` is `x mod (-d)` by floor. Under other readings the statement as it is."""
    if rule.mod != "nonnegative" or rule.division != "floor":
        return [s]
    assumed, divisors = _mod_divisors(s.given), _mod_divisors((*s.given, *s.goals))
    if any(isinstance(n, Binary) and n.op == "mod" for d in divisors for n in postorder(d)):
        return [RuleStatement((), (NEVER,), f"{s.what} (a divisor with mod in it)", s.fails)]
    cases: list[RuleStatement] = []
    # A divisor of the goals alone may be zero, as far as is known: that has to be shown not to be.
    for signs in product(*((1, -1) if d in assumed else (1, -1, 0) for d in divisors)):
        negative = {d for d, sign in zip(divisors, signs, strict=True) if sign < 0}
        given = [_with_sign(d, sign) for d, sign in zip(divisors, signs, strict=True)]
        turned = [
            tuple(Condition(c.op, _turned(c.lhs, negative), _turned(c.rhs, negative)) for c in part)
            for part in (s.given, s.goals)
        ]
        cases.append(RuleStatement((*given, *turned[0]), turned[1], s.what, s.fails))
    return cases


def _mod_divisors(conditions: Sequence[Condition]) -> list[Expr]:
    """What is not constant and stands to the right of a `mod`."""
    return list(
        dict.fromkeys(
            node.rhs
            for c in conditions
            for e in (c.lhs, c.rhs)
            for node in postorder(e)
            if isinstance(node, Binary) and node.op == "mod" and not isinstance(node.rhs, Const)
        )
    )


def _with_sign(d: Expr, sign: int) -> Condition:
    if sign == 0:
        return Condition("==", d, Const(0))
    return Condition("<", Const(0), d) if sign > 0 else Condition("<", d, Const(0))


def _turned(e: Expr, negative: set[Expr]) -> Expr:
    def node(op: Operator, lhs: Expr, rhs: Expr) -> Expr:
        if op == "mod" and (rhs in negative or (isinstance(rhs, Const) and rhs.value < 0)):
            rhs = Const(-rhs.value) if isinstance(rhs, Const) else Binary("*", rhs, Const(-1))
        return Binary(op, lhs, rhs)

    return rebuild(e, lambda leaf: leaf, node)
