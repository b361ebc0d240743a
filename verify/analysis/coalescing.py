"""Coalescing: how far apart in memory neighbours read.

Neighbours are two points of a map whose values of one dim are next to each other: output elements along a dimension, or
threads. Their distance is that between the operand positions they read, in elements of the operand's physical layout.
A distance holds within aligned blocks; it is proved, or what was seen is only what was seen at a few places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from random import Random
from typing import Final

from hloproof.analysis.neighbours import TwoPoints, two_points
from hloproof.analysis.requests import any_contents, value_at
from hloproof.engines.door import HOW, How, prove_one
from hloproof.logic.formula import FALSE, conj, eq, le
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.physical import part_count, physical_order
from hloproof.models.layouts.tiling import position_expression
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.sample_point import find_point

_LOOKED_AT: Final = 4096
"""Steps along a dimension that are tried to find the block in which the distance is constant."""

_TRIED: Final = 8
"""Distances that are tried, each in smaller and smaller blocks."""
_SAMPLES: Final = 300
"""Neighbours at random places that are tried."""
_BOXES: Final = 100
"""Parts of the domain that are searched for two neighbours before an engine is asked."""


@dataclass(frozen=True)
class Stride:
    """One dim of `size`: next neighbours inside aligned blocks of `block` read `distance` elements apart.

    0: the same element; 1: contiguous. `verdict` is proved or unknown; `block` is `size` where it holds along the whole
    dimension. With `distance` None there is no constant distance (proved: neighbours were found that differ, in blocks
    of any size), and with `runtime` it depends on what is read at run time (proved where that may be anything); with
    `block` 0 no two neighbours lie in the map's domain.
    """

    dimension: int
    size: int
    distance: int | None
    block: int
    verdict: str
    engines: tuple[str, ...] = ()
    runtime: bool = False

    @property
    def words(self) -> str:
        if not self.block:
            return "no two neighbours read through this map"
        if self.distance is None:
            return "a distance that depends on values read at run time" if self.runtime else "no constant distance"
        what = {0: "the same element", 1: "contiguous"}.get(self.distance, f"{self.distance} elements apart")
        return what if self.block >= self.size else f"{what} in blocks of {self.block}"


def strides(m: IndexingMap, output: ArrayShape, operand: ArrayShape, how: How = HOW) -> tuple[Stride, ...]:
    """The distances along every output dimension of two elements or more, the most minor in memory first.

    Range variables keep their values from one neighbour to the next, and so do runtime variables that read the same
    element for both. Raises NotModelled for operands that are split over memories or lie on several devices.
    """
    order = [i for i in reversed(physical_order(output)) if output.dimensions[i] > 1]
    position = operand_position(m, operand)
    return tuple(stride_along(m, position, i, output.dimensions[i], how) for i in order)


def operand_position(m: IndexingMap, operand: ArrayShape) -> Expr:
    """Where in the operand's memory a map reads, in elements, over the map's variables. Raises NotModelled likewise."""
    if part_count(operand) > 1:
        raise NotModelled("an operand that is split over memories")
    if m.replica is not None and any(n.startswith(("d", "rt")) for e in m.replica.results for n in e.free):
        raise NotModelled("neighbours read from different devices")
    return substitute(position_expression(operand), {f"d{i}": e for i, e in enumerate(m.results)})


def stride_along(m: IndexingMap, position: Expr, i: int, size: int, how: How = HOW) -> Stride:
    """The distance between neighbours along dim number i."""
    name = f"d{i}"
    own = dict(m.intervals())[name]
    both = two_points(m, {name: Var(name) + 1}, {name: Interval(own.lower, own.upper - 1)})
    data = any(n in both.shifting for n in position.free)
    corner = _neighbours(m, both, how)
    if corner is None:
        return Stride(i, size, None, 0, "proved")
    if corner == {}:
        return Stride(i, size, None, 1, "unknown")
    seen = _differences(m, position, name, corner)
    seen.append((corner[name], _apart(position, both, corner)))
    undecided: Stride | None = None
    tried: set[int] = set()
    # Each counterexample is a pair of neighbours more, whose distance may be the one that holds.
    while len(tried) < _TRIED and (untried := [d for d in _candidates(seen) if d not in tried]):
        distance = untried[0]
        tried.add(distance)
        ends = _ends(seen, distance)
        while ends != 1:
            outcome = prove_one(_obligation(both, position, name, distance, ends), how)
            if outcome.verdict != "refuted":
                found = Stride(i, size, distance, ends or size, outcome.verdict, outcome.engines)
                if outcome.verdict == "proved":
                    return found
                undecided = undecided or found
                break
            at = dict(outcome.model)
            seen.append((at[name], _apart(position, both, at)))
            ends = _ends(seen, distance)
    if undecided is not None:
        return undecided
    # In a block of any size some of these neighbours lie, so that no distance is left that nobody has seen.
    none_left = tried.issuperset(_candidates(seen)) and gcd(*(at + 1 for at, _ in seen)) == 1
    # Neighbours were found by what is read at run time, which may be none that can be.
    if not none_left or not any_contents(m):
        return Stride(i, size, None, 1, "unknown", (), data)
    return Stride(i, size, None, 1, "proved", (), data)


def _candidates(seen: Sequence[tuple[int, int]]) -> list[int]:
    """The distances that may hold in aligned blocks, those of the largest blocks first, then the most common ones."""
    count = Counter(d for _, d in seen)
    within: dict[int, int] = {}
    for at, d in seen:
        within[d] = gcd(within.get(d, 0), at + 1)
    # All neighbours that read another distance apart lie at ends of blocks.
    groups = list(within)
    before, after = [0], [0]
    for d in groups:
        before.append(gcd(before[-1], within[d]))
    for d in reversed(groups):
        after.append(gcd(after[-1], within[d]))
    ends = {d: gcd(before[k], after[len(groups) - 1 - k]) for k, d in enumerate(groups)}
    return sorted((d for d in groups if ends[d] != 1), key=lambda d: (ends[d] != 0, -ends[d], -count[d]))


def _ends(seen: Sequence[tuple[int, int]], distance: int) -> int:
    """The size of the largest aligned blocks inside of which only this distance was seen; 0 for any size."""
    return gcd(*(at + 1 for at, d in seen if d != distance))


def _apart(position: Expr, both: TwoPoints, at: Mapping[str, int]) -> int:
    there = {n: evaluate(e, at) for n, e in both.there.items()}
    return evaluate(position, there | {n: v for n, v in at.items() if n not in there}) - evaluate(position, at)


def _differences(m: IndexingMap, position: Expr, name: str, corner: dict[str, int]) -> list[tuple[int, int]]:
    """(index, distance to the next) along one dimension, where both points lie in the domain: through `corner`, then at
    random places."""
    read = value_at(m, position)
    intervals = dict(m.intervals())
    here = intervals[name]
    found: list[tuple[int, int]] = []
    before: int | None = None
    for value in range(here.lower, min(here.upper, here.lower + _LOOKED_AT) + 1):
        now = read(corner | {name: value})
        if now is not None and before is not None:
            found.append((value - 1, now - before))
        before = now
    random = Random(0)
    for _ in range(_SAMPLES if here.upper > here.lower else 0):
        at = {n: random.randint(i.lower, i.upper) for n, i in intervals.items()}
        at[name] = random.randint(here.lower, here.upper - 1)
        first, second = read(at), read(at | {name: at[name] + 1})
        if first is not None and second is not None:
            found.append((at[name], second - first))
    return found


def _neighbours(m: IndexingMap, both: TwoPoints, how: How) -> dict[str, int] | None:
    """Two neighbours in the domain; None where there are none, an empty point where neither is known."""
    constraints = [(e, c.interval) for c in m.constraints for e in (c.expr, substitute(c.expr, both.there))]
    found = find_point(dict(both.variables), constraints, _BOXES)
    if found != "unknown":
        return found
    outcome = prove_one(Obligation(both.variables, FALSE, conj(*both.hypotheses), "no two neighbours are read"), how)
    return None if outcome.verdict == "proved" else dict(outcome.model)


def _obligation(both: TwoPoints, position: Expr, name: str, distance: int, block: int) -> Obligation:
    inside = [le(Var(name) % block, block - 2)] if block else []
    return Obligation(
        both.variables,
        eq(substitute(position, both.there), position + distance),
        conj(*both.hypotheses, *inside),
        label=f"neighbours along {name} read {distance} elements apart",
    )
