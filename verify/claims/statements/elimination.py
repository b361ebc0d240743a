"""Values of unknowns that equations and bounds leave no choice for, as terms.

To show that some value of a range variable makes a statement true, the value is named: `d0 * 2 + s0 == x0` names
`s0 := x0 - d0 * 2`. An unknown is only solved where the conditions leave at most one value, and the term is that value
whenever there is one. So a statement about the witness is true exactly when the statement about some value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hloproof.claims.statements.linear_form import LinearForm, linear_form
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval


@dataclass(frozen=True)
class Membership:
    """`expr in interval`."""

    expr: Expr
    interval: Interval


def solve(unknowns: Mapping[str, Interval], conditions: Iterable[Membership]) -> dict[str, Expr]:
    """Terms for those of the unknowns that the conditions determine, over the other variables.

    Unknowns that cannot be solved are left out, and the terms do not mention them. An unknown that no condition
    mentions is left out too.
    """
    open_names = set(unknowns)
    rows = _rows(conditions)
    solved: dict[str, Expr] = {}
    progress = True
    while open_names and progress:
        progress = False
        for row in rows:
            linear = linear_form(substitute(row.expr, solved))
            found = _solve_row(linear, row.interval, open_names, unknowns)
            if found:
                solved |= found
                open_names -= set(found)
                progress = True
    return solved


def _rows(conditions: Iterable[Membership]) -> list[Membership]:
    """The conditions; `a floordiv c == t` together with `a mod c == m` also says `a == t * c + m`."""
    given = list(conditions)
    remainders: dict[tuple[Expr, int], int] = {}
    for c in given:
        if c.interval.is_point:
            _note_remainder(c.expr, c.interval.lower, remainders)
    rows: list[Membership] = []
    for c in given:
        rows.append(c)
        if c.interval.is_point:
            rows.extend(_undivided(c, remainders))
    return rows


def _note_remainder(e: Expr, value: int, remainders: dict[tuple[Expr, int], int]) -> None:
    if isinstance(e, Binary) and e.op == "mod" and isinstance(e.rhs, Const):
        remainders[e.lhs, e.rhs.value] = value


def _undivided(condition: Membership, remainders: Mapping[tuple[Expr, int], int]) -> Iterable[Membership]:
    linear = linear_form(condition.expr)
    for atom, c in linear.terms.items():
        if c in (1, -1) and isinstance(atom, Binary) and atom.op == "floordiv" and isinstance(atom.rhs, Const):
            divisor = atom.rhs.value
            remainder = remainders.get((atom.lhs, divisor))
            if remainder is not None:
                # c * (a floordiv k) + rest == v, so a == (v - rest) * c * k + m
                rest = linear.without(atom).expression()
                yield Membership(
                    atom.lhs - (condition.interval.lower - rest) * (c * divisor) - remainder, Interval.point(0)
                )


def _solve_row(
    linear: LinearForm, interval: Interval, open_names: set[str], unknowns: Mapping[str, Interval]
) -> dict[str, Expr]:
    unknown: dict[str, int] = {}
    for atom, c in linear.terms.items():
        if isinstance(atom, Var):
            if atom.name in open_names:
                unknown[atom.name] = c
        elif not atom.free.isdisjoint(open_names):
            return {}
    if not unknown or interval.is_empty:
        return {}
    if any(unknowns[n].is_empty for n in unknown):
        return {}
    rest = linear
    for name in unknown:
        rest = rest.without(Var(name))
    return _digits(unknown, rest, interval, unknowns)


def _digits(
    unknown: Mapping[str, int], rest: LinearForm, interval: Interval, unknowns: Mapping[str, Interval]
) -> dict[str, Expr]:
    """Solve `sum c_k u_k + rest in interval` by division, largest |c| first, where each step has one answer.

    After taking out the lowest values, and the highest of unknowns with a negative coefficient, all digits v_k count up
    from zero with weight |c_k|. One digit has one answer when what the smaller ones and the slack add stays below its
    weight.
    """
    slack = interval.upper - interval.lower
    names = sorted(unknown, key=lambda n: abs(unknown[n]), reverse=True)
    # sum |c_k| v_k + t = target with 0 <= t <= slack
    target = LinearForm({}, interval.upper).plus(rest, -1)
    for n in names:
        base = unknowns[n].lower if unknown[n] > 0 else unknowns[n].upper
        target = target.plus(LinearForm({}, unknown[n] * base), -1)
    below = slack
    for n in reversed(names):
        if below >= abs(unknown[n]):
            return {}
        below += abs(unknown[n]) * (unknowns[n].count - 1)
    out: dict[str, Expr] = {}
    remaining = target.expression()
    for n in names:
        weight = abs(unknown[n])
        digit = remaining if weight == 1 else remaining // weight
        out[n] = (digit + unknowns[n].lower) if unknown[n] > 0 else (unknowns[n].upper - digit)
        if n != names[-1]:
            remaining = remaining % weight
        out[n] = _tidy(out[n])
    return out


def _tidy(e: Expr) -> Expr:
    return linear_form(e).expression()


def unmentioned(unknowns: Iterable[str], conditions: Sequence[Membership]) -> list[str]:
    """The unknowns that no condition mentions: if one value of such an unknown will do, all will."""
    free = frozenset[str]().union(*(c.expr.free for c in conditions))
    return [n for n in unknowns if n not in free]
