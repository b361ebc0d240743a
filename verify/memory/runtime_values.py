"""Values read at run time in the obligations of updates in place, tried one by one where a plan is to be refuted
whatever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hloproof.logic.formula import atoms, replace_variables
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

MOST_VALUES: Final = 64
"""Values at run time that are tried one by one."""


def fails_whatever_is_read(obligation: Obligation, prove: Callable[[Obligation], Outcome]) -> bool:
    """The obligation fails whatever the values read at run time are: each of a few possible ones is tried."""
    read = [(name, interval) for name, interval in obligation.variables if name.startswith("v")]
    if len(read) != 1:
        return False
    [(name, interval)] = read
    if interval is None or interval.count > MOST_VALUES:
        interval = _clamp_of(obligation, name)
    if interval is None or interval.is_empty or interval.upper - interval.lower >= MOST_VALUES:
        return False
    rest = tuple(v for v in obligation.variables if v[0] != name)
    for value in range(interval.lower, interval.upper + 1):
        fixed = Obligation(
            rest,
            replace_variables(obligation.conclusion, {name: Const(value)}),
            replace_variables(obligation.hypothesis, {name: Const(value)}),
        )
        if prove(fixed).verdict != "refuted":
            return False
    return True


def _clamp_of(obligation: Obligation, name: str) -> Interval | None:
    """The interval that every use clamps a value into, which stands for all other values; None where some use does
    something else with it."""
    found: Interval | None = None
    value = Var(name)
    for atom in (*atoms(obligation.hypothesis), *atoms(obligation.conclusion)):
        for inner in (*postorder(atom.lhs), *postorder(atom.rhs)):
            clamp = _as_clamp(inner, name)
            if clamp is not None:
                known = found or clamp
                found = Interval(min(known.lower, clamp.lower), max(known.upper, clamp.upper))
            elif isinstance(inner, Binary) and value in (inner.lhs, inner.rhs):
                if not (inner.op == "max" and inner.lhs == value and isinstance(inner.rhs, Const)):
                    return None
            elif isinstance(inner, Binary) and any(_is_half(e, value) for e in (inner.lhs, inner.rhs)):
                return None
        if value in (atom.lhs, atom.rhs) or any(_is_half(e, value) for e in (atom.lhs, atom.rhs)):
            return None
    return found


def _is_half(e: Expr, value: Expr) -> bool:
    """max(value, lower), of which only a minimum makes a clamp."""
    return isinstance(e, Binary) and e.op == "max" and e.lhs == value


def _as_clamp(e: Expr, name: str) -> Interval | None:
    """min(max(value, lower), upper)."""
    match e:
        case Binary("min", Binary("max", Var(inner), Const(lower)), Const(upper)) if inner == name:
            return Interval(lower, upper)
    return None
