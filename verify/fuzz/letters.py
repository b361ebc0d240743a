"""Expressions and comparisons written with letters, which are replaced by what is drawn for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from hloproof.logic.formula import Comparator, Compare
from hloproof.models.expressions.evaluate import apply_operator
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, rebuild
from hloproof.models.expressions.text import parse_expr

_SIGN: Final = re.compile(r" (==|!=|<=|<) ")
_parsed = cache(parse_expr)


def filled(text: str, at: Mapping[str, Expr]) -> Expr:
    """The expression with its letters replaced; what is constant is computed."""

    def node(op: Operator, lhs: Expr, rhs: Expr) -> Expr:
        if isinstance(lhs, Const) and isinstance(rhs, Const):
            return Const(apply_operator(op, lhs.value, rhs.value))
        return Binary(op, lhs, rhs)

    return rebuild(_parsed(text), lambda e: at[e.name] if isinstance(e, Var) else e, node)


def compared(text: str, at: Mapping[str, Expr]) -> Compare:
    """A comparison, such as `f / a <= f`, with its letters replaced."""
    lhs, sign, rhs = _SIGN.split(text)
    return Compare(cast(Comparator, sign), filled(lhs, at), filled(rhs, at))


def number_of(text: str, at: Mapping[str, Expr]) -> int:
    """The value of an expression whose letters are constants."""
    found = filled(text, at)
    assert isinstance(found, Const)
    return found.value
