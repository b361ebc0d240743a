"""Two maps of the same variables tried at random points, before anything is stated of them.

A point is drawn in the box of the first map, in one that holds both, or beside corners; both maps are evaluated there
by the evaluator of expressions. What is read is made up: one value for each element of each provider.
"""

from __future__ import annotations

from random import Random
from typing import Final

from hloproof.claims.maps.shared_readings import SharedReading, spelled
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Const
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap

_POINTS: Final = 60

_Values = dict[str, int]


def pointwise_difference(before: IndexingMap, after: IndexingMap) -> str | None:
    """Where the domains or the results of two maps with the same variables differ, in words; None where no point of
    some tried shows it. Maps whose runtime variables read by way of others are not tried."""
    if any(v.index is not None and (v.index.runtime or v.index.replica) for m in (before, after) for v in m.runtime):
        return None
    random = Random(0)
    names = before.display_names()
    boxes = [(n, i, i.hull(j)) for (n, i), (_, j) in zip(before.intervals(), after.intervals(), strict=True)]
    boxes = [b for b in boxes if not b[0].startswith("rt")]
    for k in range(_POINTS):
        point = {n: _drawn(random, own if k % 3 else hull, k) for n, own, hull in boxes}
        held: dict[tuple[str, tuple[int, ...]], int] = {}
        try:
            one, two = (_at(m, point, held, random) for m in (before, after))
        except UndefinedValue:
            continue
        if one != two:
            readings = [(f"h{k}", SharedReading(p, tuple(map(Const, e)))) for k, (p, e) in enumerate(held)]
            values = {**point, **dict(zip((name for name, _ in readings), held.values(), strict=True))}
            shown = {**names, **spelled(readings, {}, names)}
            at = ", ".join(f"{shown.get(n, n)} = {v}" for n, v in values.items()) or "the only point"
            if one is None or two is None:
                sides = ("before", "after") if two is None else ("after", "before")
                return f"{at}: in the domain of {sides[0]}, not in that of {sides[1]}"
            return f"{at}: before gives {_tuple(one)}, after gives {_tuple(two)}"
    return None


def _drawn(random: Random, i: Interval, k: int) -> int:
    if k < 4:
        return (i.lower, i.upper)[k % 2] if k < 2 else random.choice((i.lower, i.upper))
    return random.randint(i.lower, i.upper)


def _at(
    m: IndexingMap, point: _Values, held: dict[tuple[str, tuple[int, ...]], int], random: Random
) -> tuple[int, ...] | None:
    """The results at a point of the dims and range variables; None outside of the domain."""
    values = dict(point)
    for k, v in enumerate(m.runtime):
        element = () if v.index is None else tuple(evaluate(e, point) for e in v.index.results)
        key = (v.provider or f"rt{k}", element)
        if key not in held:
            held[key] = random.randint(v.interval.lower, v.interval.upper)
        values[f"rt{k}"] = min(max(held[key], v.interval.lower), v.interval.upper)
    if any(values[n] not in i for n, i in m.intervals()):
        return None
    # Constraints that have a value say first whether the others are asked.
    undefined: UndefinedValue | None = None
    for c in m.constraints:
        try:
            if evaluate(c.expr, values) not in c.interval:
                return None
        except UndefinedValue as error:
            undefined = error
    if undefined is not None:
        raise undefined
    return tuple(evaluate(e, values) for e in m.results)


def _tuple(values: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, values))})"
