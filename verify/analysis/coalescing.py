"""Coalescing: how far apart in memory neighbouring output elements read.

For each output dimension, most minor in memory first, the distance between the operand positions that an output element
and its next neighbour read, in elements of the operand's physical layout. A distance holds within aligned blocks; it is
proved, or what was seen is only what was seen at a few places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from models.errors import NotModelled
from models.expr import Expr, Var, substitute
from models.hlo.shape import ArrayShape
from models.indexing_map import IndexingMap
from models.interpreter.expression import UndefinedValue, evaluate
from models.interval import Interval
from models.physical import part_count, physical_order
from models.tiling import position_expression
from models.witness import find_point
from verify.budget import DEFAULT, Budget
from verify.formula import conj, eq, le, within
from verify.obligation import Obligation
from verify.portfolio import prove

_LOOKED_AT: Final = 4096
"""Steps along a dimension that are tried to find the block in which the distance is constant."""


@dataclass(frozen=True)
class Stride:
    """One output dimension of `size`: next neighbours inside aligned blocks of `block` read `distance` elements apart.

    0: the same element; 1: contiguous. `verdict` is proved or unknown; `block` is `size` where it holds along the whole
    dimension. With `distance` None there is no constant distance (proved: a pair of neighbours was found that differs);
    with `block` 0 no two neighbours lie in the map's domain.
    """

    dimension: int
    size: int
    distance: int | None
    block: int
    verdict: str
    engines: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        if not self.block:
            return "no two neighbours read through this map"
        if self.distance is None:
            return "no constant distance"
        what = {0: "the same element", 1: "contiguous"}.get(self.distance, f"{self.distance} elements apart")
        return what if self.block >= self.size else f"{what} in blocks of {self.block}"


def strides(m: IndexingMap, output: ArrayShape, operand: ArrayShape, budget: Budget = DEFAULT) -> tuple[Stride, ...]:
    """The distances along every output dimension of two elements or more, the most minor in memory first.

    Range and runtime variables keep their values from one neighbour to the next. Raises NotModelled for operands that
    are split over memories.
    """
    if part_count(operand) > 1:
        raise NotModelled("an operand that is split over memories")
    position = substitute(position_expression(operand), {f"d{i}": e for i, e in enumerate(m.results)})
    order = [i for i in reversed(physical_order(output)) if output.dimensions[i] > 1]
    return tuple(_stride(m, position, i, output.dimensions[i], budget) for i in order)


def _stride(m: IndexingMap, position: Expr, i: int, size: int, budget: Budget) -> Stride:
    name = f"d{i}"
    corner = _point_with_neighbour(m, name)
    if corner is None:
        return Stride(i, size, None, 0, "proved")
    seen = _differences(m, position, name, corner) if corner != "unknown" else []
    if not seen:
        return Stride(i, size, None, 1, "unknown")
    distance = seen[0][1]
    block = size
    for at, difference in seen:
        if difference != distance:
            block = at + 1
            break
    outcome = prove(_obligation(m, position, name, distance, block, size), budget)
    if outcome.verdict == "refuted":
        return Stride(i, size, None, 1, "proved", outcome.engines)
    return Stride(i, size, distance, block, outcome.verdict, outcome.engines)


def _differences(m: IndexingMap, position: Expr, name: str, corner: dict[str, int]) -> list[tuple[int, int]]:
    """(index, distance to the next) along one dimension through `corner`, where both points lie in the domain."""
    intervals = dict(m.intervals())
    here = intervals[name]
    found: list[tuple[int, int]] = []
    before: int | None = None
    for value in range(here.lower, min(here.upper, here.lower + _LOOKED_AT) + 1):
        at = corner | {name: value}
        try:
            inside = all(evaluate(c.expr, at) in c.interval for c in m.constraints)
            now = evaluate(position, at) if inside else None
        except UndefinedValue:
            now = None
        if now is not None and before is not None:
            found.append((value - 1, now - before))
        before = now
    return found


def _point_with_neighbour(m: IndexingMap, name: str) -> dict[str, int] | Literal["unknown"] | None:
    """A point of the domain whose next neighbour along a dimension lies in the domain too; None where there is none."""
    intervals = dict(m.intervals())
    intervals[name] = Interval(intervals[name].lower, intervals[name].upper - 1)
    step = {name: Var(name) + 1}
    both = [(e, c.interval) for c in m.constraints for e in (c.expr, substitute(c.expr, step))]
    return find_point(intervals, both)


def _obligation(m: IndexingMap, position: Expr, name: str, distance: int, block: int, size: int) -> Obligation:
    step = {name: Var(name) + 1}
    there = [within(substitute(c.expr, step), c.interval) for c in m.constraints]
    here = [within(c.expr, c.interval) for c in m.constraints]
    intervals = dict(m.intervals())
    upper = Interval(intervals[name].lower, intervals[name].upper - 1)
    variables = tuple((n, upper if n == name else i) for n, i in intervals.items())
    inside = [] if block >= size else [le(Var(name) % block, block - 2)]
    return Obligation(
        variables, eq(substitute(position, step), position + distance), conj(*here, *there, *inside),
        label=f"neighbours along {name} read {distance} elements apart",
    )
