"""A point of a domain, or the knowledge that there is none: an exact search within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.stages import checkpoint


def find_point(
    intervals: Mapping[str, Interval], constraints: Sequence[tuple[Expr, Interval]], budget: int = 2_000
) -> dict[str, int] | Literal["unknown"] | None:
    """Values of all variables that meet all constraints; None when there are none; "unknown" when `budget` boxes have
    been tried. Boxes are halved along their narrowest undecided variable and dropped where a range misses a constraint.
    """
    if any(i.is_empty for i in intervals.values()):
        return None
    lows = {name: i.lower for name, i in intervals.items()}
    used = sorted({name for e, _ in constraints for name in e.free})
    boxes = [{name: intervals[name] for name in used}]
    while boxes:
        checkpoint()
        box = boxes.pop()
        budget -= 1
        if budget < 0:
            return "unknown"
        undecided: set[str] = set()
        for e, interval in constraints:
            r = range_of(e, box)
            if r.is_empty or r.intersect(interval).is_empty:
                break
            if not interval.contains(r):
                undecided |= {name for name in e.free if not box[name].is_point}
        else:
            for point in _corners(box):
                if _meets(point, constraints):
                    return {**lows, **point}
            if not undecided:
                continue  # A division by zero at the only point.
            name = min(sorted(undecided), key=lambda n: box[n].count)
            middle = (box[name].lower + box[name].upper) // 2
            boxes.append({**box, name: Interval(middle + 1, box[name].upper)})
            boxes.append({**box, name: Interval(box[name].lower, middle)})
    return None


def _corners(box: Mapping[str, Interval]) -> tuple[dict[str, int], ...]:
    return (
        {n: i.lower for n, i in box.items()},
        {n: i.upper for n, i in box.items()},
        {n: (i.lower + i.upper) // 2 for n, i in box.items()},
    )


def _meets(point: Mapping[str, int], constraints: Sequence[tuple[Expr, Interval]]) -> bool:
    try:
        return all(evaluate(e, point) in interval for e, interval in constraints)
    except UndefinedValue:
        return False
