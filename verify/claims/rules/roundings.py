"""Quotients that round to zero, or by the sign of the divisor, as quotients that round down: case by case.

Where the signs of a dividend and of its divisor are known, x divided by c rounds to zero as |x| by |c| does, with their
signs; a remainder that is never negative is one by |c|. In each case a statement speaks of floor alone, which all
engines read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hloproof.claims.rules.rounding import proof_reading, reading_of
from hloproof.claims.rules.statements import NEVER, RuleStatement, sign_cases
from hloproof.logic.obligation import FLOOR, RoundingSemantics
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, rebuild
from hloproof.models.rules.rule import Condition, Rule

_MOST: Final = 150
"""Statements with more cases are left alone."""
_Signs = Mapping[tuple[str, Expr], int]
"""Of dividends 1 for at least 0, else -1; of divisors 1 or -1."""


class _Unsaid(Exception):
    """The case does not say what sign this has."""

    def __init__(self, role: str, e: Expr) -> None:
        self.role, self.e = role, e


def ways(rule: Rule, s: RuleStatement) -> Iterator[tuple[RoundingSemantics, list[RuleStatement]]]:
    """How a statement may be proved, one way after the other: statements that together say it, and the rounding under
    which they do."""
    reading = proof_reading(rule)
    yield reading, sign_cases(rule, s)
    if reading != FLOOR:
        yield FLOOR, rounding_cases(rule, s)


def rounding_cases(rule: Rule, s: RuleStatement) -> list[RuleStatement]:
    """The statement once for each choice of signs, under floor. All of them together say what it says."""
    reading = reading_of(rule)
    out: list[RuleStatement] = []
    open_cases: list[dict[tuple[str, Expr], int]] = [{}]
    while open_cases:
        signs = open_cases.pop()
        given: list[Condition] | None = None
        try:
            given = [_condition(c, signs, reading) for c in s.given]
            goals = [_condition(c, signs, reading) for c in s.goals]
        except _Unsaid as unsaid:
            at = (unsaid.role, unsaid.e)
            open_cases += [{**signs, at: sign} for sign in (1, -1)]
            if given is None or unsaid.role == "dividend":
                continue
            # A divisor of the goals alone may be zero, as far as is known; nothing is asked about what it divides.
            signs, goals = {**signs, at: 0}, [NEVER]
        of_case = (_said(role, e, sign) for (role, e), sign in signs.items())
        out.append(RuleStatement((*of_case, *given), tuple(goals), s.what, s.fails))
        if len(out) + len(open_cases) > _MOST:
            return [RuleStatement((), (NEVER,), f"{s.what} (too many cases of signs)", s.fails)]
    return out


def _said(role: str, e: Expr, sign: int) -> Condition:
    if sign == 0:
        return Condition("==", e, Const(0))
    if sign < 0:
        return Condition("<", e, Const(0))
    return Condition("<=" if role == "dividend" else "<", Const(0), e)


def _sign(role: str, e: Expr, signs: _Signs) -> int:
    if isinstance(e, Const):
        return 1 if e.value >= 0 else -1
    if (role, e) not in signs:
        raise _Unsaid(role, e)
    return signs[role, e]


def _condition(c: Condition, signs: _Signs, reading: RoundingSemantics) -> Condition:
    return Condition(c.op, _by_floor(c.lhs, signs, reading), _by_floor(c.rhs, signs, reading))


def _by_floor(whole: Expr, signs: _Signs, reading: RoundingSemantics) -> Expr:
    """The expression in this case, with the same value under floor. Raises _Unsaid."""

    def node(op: Operator, x: Expr, d: Expr) -> Expr:
        if op not in ("floordiv", "ceildiv", "mod"):
            return Binary(op, x, d)
        of_divisor = _sign("divisor", d, signs)
        rounding = {"floordiv": reading.division, "mod": reading.mod}.get(op, "floor")
        if rounding == "floor":
            return Binary(op, x, d)
        of_dividend = _sign("dividend", x, signs) if rounding == "trunc" else 1
        found = Binary(op, _times(x, of_dividend), _times(d, of_divisor))
        # A quotient has the product of both signs, a remainder that of the dividend.
        return _times(found, of_dividend * of_divisor if op == "floordiv" else of_dividend)

    return rebuild(whole, lambda leaf: leaf, node)


def _times(e: Expr, sign: int) -> Expr:
    if sign > 0:
        return e
    return Const(-e.value) if isinstance(e, Const) else Binary("*", e, Const(-1))
