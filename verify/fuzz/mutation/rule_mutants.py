"""Planted errors in rewrite rules: one condition, or one place of a right side, changed; the prover must not prove it.

A changed rule that is proved all the same is a right rule: the condition asks for more than the proof needs, or the
other right side is equal. Such a change counts as equivalent, since an engine has proved it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final, cast

from hloproof.fuzz.mutation.sites import WORDS, Site
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, to_text
from hloproof.models.rules.rule import (
    Bounded,
    Comparator,
    Condition,
    ConstraintRule,
    ExpressionRule,
    Rule,
    VariableRule,
)
from hloproof.models.rules.text import parse_rules, rules_folder
from hloproof.results.verdict import Verdict

_OTHERS: Final[dict[str, str]] = WORDS | {"==": "!=", "!=": "==", "+": "*", "*": "+"}


def rule_files() -> tuple[str, ...]:
    """The files of the rules that the simplifier applies, as sites name them."""
    return tuple(f"specs/rules/{path.name}" for path in sorted(rules_folder().glob("*.rules")))


@cache
def _changed(file: str) -> tuple[tuple[Rule, str, Rule], ...]:
    """(rule, what is changed, changed rule) for every site of a file."""
    text = (rules_folder() / file.rpartition("/")[2]).read_text(encoding="utf-8")
    return tuple((rule, change, other) for rule in parse_rules(text, file) for change, other in changes(rule))


def rule_sites(file: str) -> list[Site]:
    """All sites of a file of rules."""
    return [
        Site(file, n, rule.line, rule.name, change, (rule.line, rule.line), (rule.line, rule.line), str(rule), 1)
        for n, (rule, change, _) in enumerate(_changed(file))
    ]


def judged(site: Site) -> Verdict:
    """The verdict on the changed rule."""
    from hloproof.claims.rules.claims import judge

    return judge(_changed(site.file)[site.number][2], needed=False).verdict


def changes(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Every rule that differs in one condition or in one place of its right side, with what is changed."""
    for k, c in enumerate(rule.conditions):
        before, after = rule.conditions[:k], rule.conditions[k + 1 :]
        yield f"{c} is left out", replace(rule, conditions=(*before, *after))
        for change, other in _conditions(c):
            yield f"{c}: {change}", replace(rule, conditions=(*before, other, *after))
    match rule:
        case ExpressionRule():
            for change, e in _expressions(rule.rhs):
                yield f"right side: {change}", replace(rule, rhs=e)
        case ConstraintRule():
            for change, bounds in _bounds(rule.after):
                yield f"right side: {change}", replace(rule, after=bounds)
        case VariableRule():
            for change, bounds in _bounds(rule.after):
                yield f"right side: {change}", replace(rule, after=bounds)
            if rule.image is not None:
                for change, e in _expressions(rule.image):
                    yield f"image: {change}", replace(rule, image=e)


def _conditions(c: Condition) -> Iterator[tuple[str, Condition]]:
    other = cast(Comparator, _OTHERS[c.op])
    yield f"{c.op} becomes {other}", replace(c, op=other)
    for change, e in _expressions(c.lhs):
        yield change, replace(c, lhs=e)
    for change, e in _expressions(c.rhs):
        yield change, replace(c, rhs=e)


def _bounds(bounds: tuple[Bounded, ...]) -> Iterator[tuple[str, tuple[Bounded, ...]]]:
    for k, b in enumerate(bounds):
        before, after = bounds[:k], bounds[k + 1 :]
        yield f"{b} is left out", (*before, *after)
        for name in ("expr", "lower", "upper"):
            for change, e in _expressions(getattr(b, name)):
                yield f"{b}: {change}", (*before, replace(b, **{name: e}), *after)


def _expressions(e: Expr) -> Iterator[tuple[str, Expr]]:
    """Every expression with one operator or constant changed. Sides of rules are shallow."""
    if isinstance(e, Const):
        yield f"{e.value} becomes {e.value + 1}", Const(e.value + 1)
    if isinstance(e, Binary):
        other = cast(Operator, _OTHERS[e.op])
        yield f"{e.op} of {to_text(e)} becomes {other}", Binary(other, e.lhs, e.rhs)
        for change, part in _expressions(e.lhs):
            yield change, Binary(e.op, part, e.rhs)
        for change, part in _expressions(e.rhs):
            yield change, Binary(e.op, e.lhs, part)
