"""The range of an expression, from the ranges of its variables.

All bounds are inclusive. A range is sound at every point where the expression is defined (where no divisor is zero);
it is exact for single operators, remainders by a divisor of more than one value apart, and may be wider when a variable
occurs more than once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

_NOTHING: Final = Interval(0, -1)


def range_of(root: Expr, intervals: Mapping[str, Interval], known: Mapping[Expr, Interval] | None = None) -> Interval:
    """An interval that holds every value of `root` when its variables are in `intervals`.

    `known` gives ranges of whole subexpressions, for instance from constraints; they are intersected with what the
    operators yield. Raises KeyError for a variable without an interval. The result is empty when some interval is, or
    when ranges contradict each other: then there are no points.
    """
    done: dict[Expr, Interval] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            r = Interval(e.value, e.value)
        elif isinstance(e, Var):
            r = intervals[e.name]
        else:
            assert isinstance(e, Binary)
            r = combine(e.op, done[e.lhs], done[e.rhs])
        if known and e in known:
            r = r.intersect(known[e])
        done[e] = r
    return done[root]


def combine(op: str, x: Interval, y: Interval) -> Interval:
    """The range of `x op y`. Points with a divisor of zero count for nothing."""
    if x.is_empty or y.is_empty:
        return _NOTHING
    a, b, c, d = x.lower, x.upper, y.lower, y.upper
    match op:
        case "+":
            return Interval(a + c, b + d)
        case "*":
            return times(x, y)
        case "min":
            return Interval(min(a, c), min(b, d))
        case "max":
            return Interval(max(a, c), max(b, d))
        case "floordiv":
            return _floordiv(x, y)
        case "ceildiv":
            r = _floordiv(Interval(-b, -a), y)
            return Interval(-r.upper, -r.lower)
        case "mod":
            return _mod(x, y)
    raise ValueError(f"no such operator: {op}")


def times(x: Interval, y: Interval) -> Interval:
    """All products of a value of x and one of y; neither interval is empty."""
    corners = (x.lower * y.lower, x.lower * y.upper, x.upper * y.lower, x.upper * y.upper)
    return Interval(min(corners), max(corners))


def _floordiv(x: Interval, y: Interval) -> Interval:
    """The quotient is monotone in each argument while the divisor keeps its sign, so corners are extreme."""
    result = _NOTHING
    for part in (Interval(max(y.lower, 1), y.upper), Interval(y.lower, min(y.upper, -1))):
        if not part.is_empty:
            corners = [n // d for n in (x.lower, x.upper) for d in (part.lower, part.upper)]
            result = result.hull(Interval(min(corners), max(corners)))
    return result


def _mod(x: Interval, y: Interval) -> Interval:
    """Exact for one divisor. Of several, the positive ones leave no more than the largest less one and no more than x,
    and all of x where it is smaller than each of them; the negative ones leave no less than the least plus one."""
    if y.is_point and y.lower:
        m = y.lower
        if x.lower // m == x.upper // m:  # No wrap between the ends.
            return Interval(x.lower % m, x.upper % m)
        return Interval(0, m - 1) if m > 0 else Interval(m + 1, 0)
    result = _NOTHING
    if y.upper > 0:
        below = x.lower >= 0 and x.upper < y.lower
        result = x if below else Interval(0, min(y.upper - 1, x.upper) if x.lower >= 0 else y.upper - 1)
    if y.lower < 0:
        result = result.hull(Interval(y.lower + 1, 0))
    return result
