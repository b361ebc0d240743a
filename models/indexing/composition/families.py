"""Maps that differ by constants in equal steps, as one map: what the turns of a loop leave behind.

`d0 in [t, t] -> (t + 1, d1)` for t = 0, 1, 2 is `d0 in [0, 2] -> (d0 + 1, d1)`; `(d0) -> (t, d0)` is
`(d0)[s0] -> (s0, d0), s0 in [0, 2]`. The union of the maps stays the same set of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hloproof.models.expressions.expr import Binary, Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.indexing.box import plus, times
from hloproof.models.maps.indexing_map import IndexingMap, Variable, dim, rng

_Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Skeleton:
    """A map without the numbers that its family differs in: dims of one value, and constants added to results."""

    dims: tuple[Variable | None, ...]
    results: tuple[Expr | None, ...]
    rest: IndexingMap


def with_families(maps: Iterable[IndexingMap]) -> tuple[IndexingMap, ...]:
    """The same union in at most as many maps. Maps with runtime variables, constraints or replicas stay as they are."""
    families: dict[_Skeleton, dict[_Numbers, IndexingMap]] = {}
    found: list[IndexingMap] = []
    for m in maps:
        if m.runtime or m.constraints or m.replica is not None:
            found.append(m)
            continue
        skeleton, numbers = _split(m)
        families.setdefault(skeleton, {})[numbers] = m
    for skeleton, members in families.items():
        for run in _runs(sorted(members), len(skeleton.dims)):
            found.append(members[run[0]] if len(run) == 1 else _family(members[run[0]], skeleton, run))
    return tuple(found)


def _split(m: IndexingMap) -> tuple[_Skeleton, _Numbers]:
    dims: list[Variable | None] = []
    results: list[Expr | None] = []
    numbers: list[int] = []
    for v in m.dims:
        single = v.interval.count == 1
        dims.append(None if single else v)
        numbers.append(v.interval.lower if single else 0)
    for e in m.results:
        base, constant = _parts(e)
        results.append(base)
        numbers.append(constant)
    rest = IndexingMap((), (), m.ranges)
    return _Skeleton(tuple(dims), tuple(results), rest), tuple(numbers)


def _parts(e: Expr) -> tuple[Expr | None, int]:
    if isinstance(e, Const):
        return None, e.value
    if isinstance(e, Binary) and e.op == "+" and isinstance(e.rhs, Const):
        return e.lhs, e.rhs.value
    return e, 0


def _runs(members: Sequence[_Numbers], dims: int) -> Iterable[list[_Numbers]]:
    """The members in sequences of equal steps, each of which changes at most one dim, and that by one."""
    left = dict.fromkeys(members)
    steps = dict.fromkeys(tuple(b - a for a, b in zip(one, two, strict=True)) for one, two in pairwise(members))
    usable = [
        step
        for step in steps
        if sorted(abs(n) for n in step[:dims])[:-1] == [0] * (dims - 1)
        and max((abs(n) for n in step[:dims]), default=0) <= 1
    ]
    while left:
        first = next(iter(left))
        best = [first]
        for step in usable:
            run = [first]
            while (following := tuple(a + b for a, b in zip(run[-1], step, strict=True))) in left:
                run.append(following)
            best = max(best, run, key=len)
        for member in best:
            del left[member]
        yield best


def _family(m: IndexingMap, skeleton: _Skeleton, run: Sequence[_Numbers]) -> IndexingMap:
    """All maps of a run; `m` is its first."""
    count, first = len(skeleton.dims), run[0]
    step = [b - a for a, b in zip(run[0], run[1], strict=True)]
    moving = next((i for i in range(count) if step[i]), None)
    if moving is None:
        variable, start, sign = rng(len(m.ranges)), 0, 1
        ranges, dims = (*m.ranges, Variable(Interval.of_size(len(run)))), m.dims
    else:
        ends = sorted((run[0][moving], run[-1][moving]))
        variable, start, sign = dim(moving), first[moving], step[moving]
        interval = Interval(ends[0], ends[1])
        ranges = m.ranges
        dims = tuple(replace(v, interval=interval) if i == moving else v for i, v in enumerate(m.dims))
    results = []
    for base, constant, by in zip(skeleton.results, first[count:], step[count:], strict=True):
        factor = by * sign  # per unit of the variable
        moved = times(variable, factor) if factor else None
        whole = base if moved is None else moved if base is None else base + moved
        constant -= factor * start
        results.append(Const(constant) if whole is None else plus(whole, constant))
    return IndexingMap(dims, tuple(results), ranges)
