"""Whether arrays can hold what a point says is read from them.

A point of a statement names a value for each runtime variable of a map. Two of them may read one element, and then no
contents give two values. Which element that is may be read as well; so a few contents are made up, and the point stands
where some of them give it. Nothing is solved for here, and no hypothesis about readings is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import READER, IndexingMap, RuntimeVariable

_TRIED: Final = 32
"""Contents that are made up for one point."""
_ANY: Final = Interval(-(2**64), 2**64)
_OWN_PLACE: Final = (READER, (), ())


def some_contents_give(m: IndexingMap, point: Mapping[str, int]) -> bool:
    """Whether contents are found by which the map reads what the point says, d0.., s0.. and rt0... A variable that the
    point does not name is free."""
    read = [(f"rt{k}", v) for k, v in enumerate(m.runtime) if f"rt{k}" in point]
    return any(_Contents(seed).give(read, point) for seed in range(_TRIED))


class _Contents:
    """One choice of contents: of each element that is read, the numbers that it may still hold."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._held: dict[object, Interval] = {_OWN_PLACE: Interval(0, self._random.randint(0, 7))}

    def give(self, read: list[tuple[str, RuntimeVariable]], point: Mapping[str, int]) -> bool:
        # The own place first: it says which readings are of the reader's own arrays.
        own_first = sorted(read, key=lambda named: named[1].provider != READER)
        try:
            return all(self._holds(self._element(v, point, name), v.interval, point[name]) for name, v in own_first)
        except (KeyError, UndefinedValue):  # over variables that are not the map's, or where nothing is said
            return False

    def _holds(self, element: object, interval: Interval, value: int) -> bool:
        """That the element, cut to the interval, is the value: from now on it is."""
        if value not in interval:
            return False
        lower = _ANY.lower if value == interval.lower else value
        upper = _ANY.upper if value == interval.upper else value
        known = self._held.get(element)
        met = Interval(lower, upper) if known is None else known.intersect(Interval(lower, upper))
        self._held[element] = met
        return not met.is_empty

    def _element(self, v: RuntimeVariable, point: Mapping[str, int], place: str) -> object:
        """What tells the element from others; `place` is where the variable stands, and stands for what no text
        names."""
        if v.provider is None:
            return place
        values = {n: x for n, x in point.items() if not n.startswith("rt")}
        index = v.index or IndexingMap((), ())
        for k, inner in enumerate(index.runtime):
            values[f"rt{k}"] = self._value(inner, values, f"{place}.{k}")
        at = () if v.provider == READER else tuple(evaluate(e, values) for e in index.results)
        passed = () if index.replica is None else tuple(evaluate(e, values) for e in index.replica.results)
        if v.provider != READER and len(passed) == 1 and self._own_place() == passed[0]:
            passed = ()
        return v.provider, at, passed

    def _own_place(self) -> int:
        held = self._held[_OWN_PLACE]
        place = self._random.randint(held.lower, held.upper)
        self._held[_OWN_PLACE] = Interval.point(place)
        return place

    def _value(self, v: RuntimeVariable, values: Mapping[str, int], place: str) -> int:
        """A number that the variable may hold, which its element does from now on."""
        element = self._element(v, values, place)
        held = self._held.get(element, v.interval)
        if v.interval.is_empty:
            raise KeyError(place)
        met = held.intersect(v.interval)
        here = held if met.is_empty else met
        value = self._random.randint(here.lower, here.upper)
        self._held[element] = Interval.point(value)
        return min(max(value, v.interval.lower), v.interval.upper)
