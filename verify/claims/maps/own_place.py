"""Maps of one set that pass other numbers of devices, made comparable.

A step from device to device is a position in the groups of a table. Maps are compared where their tables are the same,
step by step; a map that passes no device reads its own, whose position in any groups is the reader's own place, so it
can be told from maps of one step. Positions in different tables say nothing of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import READER, IndexingMap, RuntimeVariable, rt

UNLIKE = "the maps pass different groups of devices, whose positions are not compared"


def comparable(maps: Sequence[IndexingMap], tables: Sequence[object], devices: int) -> list[list[int]]:
    """The numbers of the maps in classes inside which they can be compared, once `with_own_place` has been asked."""
    classes: dict[tuple[int, object], list[int]] = {}
    for n, m in enumerate(maps):
        steps = 0 if m.replica is None else len(m.replica.results)
        classes.setdefault((steps, tables[n] if tables and steps else ()), []).append(n)
    own = classes.get((0, ()))
    others = [numbers for (steps, _), numbers in classes.items() if steps == 1]
    if own is not None and len(classes) == 2 and len(others) == 1 and devices > 1:
        return [sorted(own + others[0])]
    return list(classes.values())


def with_own_place(maps: Sequence[IndexingMap], devices: int) -> tuple[IndexingMap, ...]:
    """The maps, all with one step where one of them has one: who passes no device is at the reader's own place."""
    if all(m.replica is None or not m.replica.results for m in maps) or all(m.replica is not None for m in maps):
        return tuple(maps)
    return tuple(m if m.replica is not None else _at_own_place(m, devices) for m in maps)


def _at_own_place(m: IndexingMap, devices: int) -> IndexingMap:
    # One that is narrower than the devices is cut: it is the place of some of them alone.
    reader = RuntimeVariable(Interval.of_size(devices), provider=READER)
    own = next((k for k, v in enumerate(m.runtime) if v == reader), None)
    if own is None:
        own = len(m.runtime)
        m = replace(m, runtime=(*m.runtime, reader))
    return replace(m, replica=replace(m, results=(rt(own),)))
