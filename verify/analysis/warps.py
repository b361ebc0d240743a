"""Warps: from how many sectors of memory the threads that read together read.

A warp reads, for one value of every range variable, what its threads' vectors of output elements need. Counted are the
different sectors of the operand that this touches, at most over all warps. The array is taken to start at a sector.

An upper bound is shown by classes: the places of a warp are split into classes (by their number, or by the row of the
output that they make), the sectors of each class span at most so many, which is proved, and there are so many classes.
What is touched by some warp, found by evaluation, is a lower bound; where both meet, or where all warps were looked at,
the number is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from random import Random
from typing import Final

from hloproof.analysis.coalescing import Stride, operand_position, stride_along
from hloproof.analysis.launch import Launch, first_of_warp, lane_map, request_map, rows
from hloproof.analysis.neighbours import two_points
from hloproof.analysis.requests import Requests, any_contents
from hloproof.engines.budget import Budget
from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import conj, eq, le, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.memory_size import element_bits, padded_elements
from hloproof.models.maps.indexing_map import IndexingMap, compose
from hloproof.models.simplifier.simplify import simplify

FEW_POINTS: Final = 20_000
"""Reads up to which all warps are looked at at once."""
MOST_POINTS: Final = 1_000_000
"""Reads up to which all warps are looked at where nothing else tells the exact number."""
_SAMPLES: Final = 40
_TRIED: Final = 4
_FIRST: Final = Const(0)
_LONGEST: Final = 2_048
"""Warps after which a repetition is looked for."""
_HOW: Final = How(Budget(isl_operations=3_000_000, z3_rlimit=3_000_000, enumeration_points=20_000))


@dataclass(frozen=True)
class Sectors:
    """A warp touches at most `most` sectors, and some warp touches `seen`; `exact` where they are the same number. With
    `seen` 0 no warp was looked at, as what it reads by is computed.

    `best` is the number of sectors that as many elements side by side would take. `method` says how `most` is known:
    "every warp looked at", a number of warps of which all others are shifts by whole sectors (by `engines`), "classes"
    (by `engines`), or "counting" (each place reads from one sector, or the whole operand has no more).
    """

    most: int
    seen: int
    best: int
    method: str
    engines: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        return self.most == self.seen


@dataclass(frozen=True)
class WarpReads:
    """How the threads of a warp read through one map.

    `threads` is the distance between neighbouring threads at one place of their vectors, `vector` that between
    neighbouring places of one thread's vector (None for vectors of one element). `sectors` is None with a `reason`.
    """

    threads: Stride
    vector: Stride | None
    sectors: Sectors | None
    reason: str = ""

    @property
    def contiguous(self) -> int:
        """Aligned groups of so many neighbouring places read elements side by side in memory, which is proved."""
        whole = 1 if self.vector is None else self.vector.size
        alone = 1 if self.vector is None else gcd(_run(self.vector, 1), whole)
        return alone * _run(self.threads, whole) if alone == whole else alone


def _run(s: Stride, distance: int) -> int:
    return s.block if s.distance == distance and s.verdict == "proved" else 1


def warp_reads(m: IndexingMap, launch: Launch, output: ArrayShape, operand: ArrayShape) -> WarpReads:
    """How the warps of a launch that makes `output` read `operand` through the map `m`.

    Raises NotModelled for operands that are split over memories or lie on several devices.
    """
    by_lane = simplify(compose(lane_map(launch, output), m)).map
    position = operand_position(by_lane, operand)
    lane = len(by_lane.dims) - 2
    if by_lane.is_trivially_empty:
        nothing = Stride(lane, launch.warp, None, 0, "proved")
        return WarpReads(nothing, nothing if launch.vector > 1 else None, Sectors(0, 0, 0, "counting"))
    threads = stride_along(by_lane, position, lane, launch.warp, _HOW)
    vector = stride_along(by_lane, position, lane + 1, launch.vector, _HOW) if launch.vector > 1 else None
    try:
        return WarpReads(threads, vector, _sectors(m, launch, output, operand))
    except NotModelled as error:
        return WarpReads(threads, vector, None, str(error))


def _sectors(m: IndexingMap, launch: Launch, output: ArrayShape, operand: ArrayShape) -> Sectors:
    bits = element_bits(operand)
    if launch.sector * 8 % bits:
        raise NotModelled(f"elements of {bits} bits do not fill sectors of {launch.sector} bytes")
    in_sector = launch.sector * 8 // bits
    request = simplify(compose(request_map(launch, output), m)).map
    sector = operand_position(request, operand) // in_sector
    places = min(launch.warp * launch.vector, launch.threads * launch.vector, output.elements)
    best = -(-places // in_sector)
    found = _Search(request, sector, launch.warp * launch.vector, first_of_warp(launch), rows(launch, output))
    whole = -(-padded_elements(operand) // in_sector)
    # What is looked at with made-up contents is reached by no warp where these may not be.
    seen = found.seen if any_contents(request) else 0
    if seen >= min(places, whole):
        return Sectors(min(places, whole), seen, best, "counting")
    if found.can_be_listed and found.total <= FEW_POINTS:
        most = found.look_at_all()
        return Sectors(most, most, best, "every warp looked at")
    bound, engines = next(found.classes(), (places, ()))
    if bound == seen:
        return Sectors(bound, seen, best, "classes", engines)
    if found.can_be_listed:
        most = found.look_at_all()
        return Sectors(most, most, best, "every warp looked at")
    period = found.period()
    if period is not None:
        most = found.look_at_all(period[0])
        return Sectors(most, most, best, f"{period[0]} warps looked at, which the others repeat", period[1])
    if bound < min(places, whole):
        return Sectors(bound, seen, best, "classes", engines)
    return Sectors(min(places, whole), seen, best, "counting")


class _Search:
    """Looks for the warps that touch most sectors, and for classes that bound how many these can be."""

    def __init__(
        self, m: IndexingMap, sector: Expr, places: int, first: Expr = _FIRST, rows: Sequence[int] = ()
    ) -> None:
        self.m, self.sector, self.places, self.rows = m, sector, places, rows
        self.place = len(m.dims) - 1
        self.requests = Requests(m, sector, self.place)
        self.others = [i for n, i in m.intervals() if n != f"d{self.place}" and not n.startswith("rt")]
        self.total = prod(i.count for i in self.others) * m.dims[self.place].interval.count
        self.can_be_listed = not m.runtime and self.total <= MOST_POINTS
        self.number = first + Var(f"d{self.place}")
        self.samples = list(self._samples())
        self.seen = max((len(set(s.values())) for s in self.samples), default=0)

    def _samples(self) -> Iterator[dict[int, int]]:
        """What the places of some warps read: place to sector."""
        random = Random(0)
        names = [n for n, _ in self.m.intervals() if n != f"d{self.place}" and not n.startswith("rt")]
        self.firsts: list[int] = []
        for k in range(_SAMPLES):
            others = [_pick(i, k, random) for i in self.others]
            self.firsts.append(evaluate(self.number, {**dict(zip(names, others, strict=True)), f"d{self.place}": 0}))
            yield self.requests.at(others, k)

    def look_at_all(self, warps: int | None = None) -> int:
        """The most sectors that any warp touches, or any of the first so many."""
        axes = [range(i.lower, i.upper + 1) for i in self.others]
        if warps is not None:
            axes[0] = axes[0][:warps]
        return max((len(set(self.requests.at(values).values())) for values in product(*axes)), default=0)

    def period(self) -> tuple[int, tuple[str, ...]] | None:
        """How many warps come before they repeat, each place reading so many whole sectors further on, and the engines
        that proved it. What the later warps leave out, the earlier ones may read."""
        if self.m.runtime or not self.others:
            return None
        warps, *rest = self.others
        random = Random(0)
        points = [[_pick(i, k, random) for i in rest] for k in range(3)]
        starts = [warps.lower, *(random.randint(warps.lower, warps.upper) for _ in range(2))]
        first = [(w, p, self.requests.at([w, *p])) for w in starts for p in points]
        a_warp = max(1, self.total // warps.count)
        tried = 0
        for n in range(1, min(warps.count, _LONGEST, MOST_POINTS // a_warp + 1)):
            move = self._move(n, first, warps.upper)
            if move is None:
                continue
            outcome = prove_one(self._repeats(n, move), _HOW)
            if outcome.verdict == "proved":
                return n, outcome.engines
            tried += 1
            if tried == _TRIED:
                break
        return None

    def _move(self, n: int, first: Sequence[tuple[int, list[int], dict[int, int]]], last: int) -> int | None:
        """How many sectors further on the warps n later read, if that is the same wherever it is looked at."""
        move: int | None = None
        for warp, point, before in first:
            later = self.requests.at([warp + n, *point]) if warp + n <= last else {}
            for place, sector in later.items():
                here = before.get(place)
                if here is None or move not in (None, sector - here):
                    return None
                move = sector - here
        return move

    def _repeats(self, n: int, move: int) -> Obligation:
        """What the warp n later reads, this one reads `move` sectors before."""
        later = {"d0": Var("d0") + n}
        warps = self.others[0]
        variables = tuple(
            (name, Interval(warps.lower, warps.upper - n) if name == "d0" else i) for name, i in self.m.intervals()
        )
        goals = [within(c.expr, c.interval) for c in self.m.constraints]
        goals.append(eq(substitute(self.sector, later), self.sector + move))
        hypotheses = [within(substitute(c.expr, later), c.interval) for c in self.m.constraints]
        return Obligation(variables, conj(*goals), conj(*hypotheses), f"warps repeat after {n}")

    def classes(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Upper bounds that were proved, the least first, each with the engines. Few are tried."""
        candidates: list[tuple[int, int, int, int]] = []
        for run in _divisors(self.places):
            for count in _divisors(self.places // run):
                span = self._span(lambda _, place, run=run, count=count: place // run % count)  # type: ignore[misc]
                candidates.append((count * span, count, run, span))
        for row in self.rows:
            # So many rows begin or go on among elements that follow each other.
            count = (self.places - 2) // row + 2 if self.places > 1 else 1
            span = self._span(lambda first, place, row=row: (first + place) // row)  # type: ignore[misc]
            candidates.append((count * span, 0, row, span))
        for bound, count, run, span in sorted(c for c in candidates if c[0] < self.places)[:_TRIED]:
            stated = self._obligation(run, count, span) if count else self._in_a_row(run, span)
            outcome = prove_one(stated, _HOW)
            if outcome.verdict == "proved":
                yield bound, outcome.engines

    def _span(self, class_of: Callable[[int, int], int]) -> int:
        """How many sectors follow each other, at most in the samples, from the first to the last of a class."""
        span = 1
        for first, sample in zip(self.firsts, self.samples, strict=True):
            low: dict[int, int] = {}
            high: dict[int, int] = {}
            for place, sector in sample.items():
                c = class_of(first, place)
                low[c] = min(low.get(c, sector), sector)
                high[c] = max(high.get(c, sector), sector)
            span = max([span, *(high[c] - low[c] + 1 for c in low)])
        return span

    def _in_a_row(self, row: int, span: int) -> Obligation:
        """Two places whose elements have the same number floordiv `row` read less than `span` sectors apart."""
        name = f"d{self.place}"
        both = two_points(self.m, {name: Var("p")}, {"p": self.m.dims[self.place].interval})
        apart = substitute(self.sector, both.there) - self.sector
        same = eq(self.number // row, substitute(self.number, both.there) // row)
        label = f"what a warp reads for one row spans {span} sectors"
        return Obligation(both.variables, le(apart, span - 1), conj(same, *both.hypotheses), label)

    def _obligation(self, run: int, count: int, span: int) -> Obligation:
        """Two places p with the same p floordiv run mod count read from sectors that lie less than `span` apart."""
        name = f"d{self.place}"
        again = self.places // (run * count)
        here, there = (((Var(f"a{k}") * count + Var("class")) * run + Var(f"c{k}")) for k in (0, 1))
        intervals = {"class": Interval.of_size(count)}
        for k in (0, 1):
            intervals |= {f"a{k}": Interval.of_size(again), f"c{k}": Interval.of_size(run)}
        both = two_points(self.m, {name: there}, intervals, {name: here})
        apart = substitute(self.sector, both.there) - substitute(self.sector, {name: here})
        return Obligation(
            both.variables,
            le(apart, span - 1),
            conj(*both.hypotheses),
            f"what a class of a warp's places reads spans {span} sectors",
        )


def _divisors(n: int) -> Sequence[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def _pick(i: Interval, k: int, random: Random) -> int:
    match k:
        case 0:
            return i.lower
        case 1:
            return i.upper
        case 2:
            return (i.lower + i.upper) // 2
        case 3:
            return min(i.lower + 1, i.upper)
    return random.randint(i.lower, i.upper)
