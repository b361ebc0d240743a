"""Small domains, point by point, with the evaluator."""

from __future__ import annotations

from itertools import product
from math import prod

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.obligation import Obligation


def size(obligation: Obligation) -> int | None:
    """How many points the domain's box has; None when it is unbounded."""
    counts = [None if interval is None else interval.count for _, interval in obligation.variables]
    return None if None in counts else prod(c for c in counts if c is not None)


def find_counterexample(obligation: Obligation, points: int) -> dict[str, int] | None:
    """The first point, in lexicographic order, at which the obligation fails, or None after trying all.

    Raises NotExpressible when the box has more than `points` points, GaveUp when a search under `Exists` is too long.
    """
    count = size(obligation)
    if count is None or count > points:
        raise NotExpressible(f"the domain has more than {points} points")
    if not count:  # beside an empty axis another one may be endless
        return None
    names = [name for name, _ in obligation.variables]
    axes = [range(i.lower, i.upper + 1) for _, i in obligation.variables if i is not None]
    for values in product(*axes):
        point = dict(zip(names, values, strict=True))
        try:
            if is_counterexample(obligation, point):
                return point
        except TooManySteps as error:
            raise GaveUp(str(error)) from error
    return None
