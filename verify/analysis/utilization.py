"""Operand utilization: how many of an operand's elements are read, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from models.hlo.shape import ArrayShape
from models.indexing.map_set import OperandMaps
from models.indexing_map import IndexingMap
from models.interpreter.expression import evaluate
from verify.engine import GaveUp, NotExpressible

MOST_POINTS: Final = 20_000
"""Points of the maps' domains up to which elements are counted one by one."""


@dataclass(frozen=True)
class Utilization:
    """How much of an operand one output reads.

    `elements`: different operand elements read, `pairs`: different pairs of output and operand element. Exact where
    `exact`; otherwise upper bounds: what a run reads depends on values that are known at run time only, or the maps
    are a bound themselves. None where they could not be counted, with the reason.
    """

    total: int
    elements: int | None
    pairs: int | None
    exact: bool
    method: str
    reason: str = ""

    @property
    def share(self) -> Fraction | None:
        """Elements read of all elements; None without a count or without elements."""
        return None if self.elements is None or not self.total else Fraction(self.elements, self.total)

    @property
    def reads_per_element(self) -> Fraction | None:
        """Output elements that an element is read by, on average over the elements read."""
        if self.pairs is None or not self.elements:
            return None
        return Fraction(self.pairs, self.elements)


def utilization(maps: OperandMaps, operand: ArrayShape) -> Utilization:
    """Counts what one output reads of one operand, over the union of the maps."""
    total = operand.elements
    if maps.unknown:
        return Utilization(total, None, None, False, "", maps.unknown)
    filled = [m for m in maps.maps if not m.is_trivially_empty]
    exact = maps.kind != "bound" and not any(m.runtime for m in filled)
    if not filled:
        return Utilization(total, 0, 0, maps.kind != "bound", "no maps")
    if sum(prod(i.count for _, i in m.intervals()) for m in filled) <= MOST_POINTS:
        elements, pairs = enumerated(filled)
        return Utilization(total, elements, pairs, exact, "enumeration")
    return _by_isl(filled, total, exact)


def _by_isl(maps: Sequence[IndexingMap], total: int, exact: bool) -> Utilization:
    from verify.count_isl import count_image, count_pairs

    counts: list[int | None] = []
    reasons: list[str] = []
    for count in (count_image, count_pairs):
        try:
            counts.append(count(maps))
        except (GaveUp, NotExpressible) as error:
            counts.append(None)
            reasons.append(str(error))
    return Utilization(total, counts[0], counts[1], exact, "isl", "; ".join(dict.fromkeys(reasons)))


def enumerated(maps: Sequence[IndexingMap]) -> tuple[int, int]:
    """Different elements and different pairs, point by point; runtime variables take all values of their interval."""
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for m in maps:
        variables = list(m.intervals())
        for values in product(*(range(i.lower, i.upper + 1) for _, i in variables)):
            at = dict(zip((name for name, _ in variables), values, strict=True))
            if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
                pairs.add((values[: len(m.dims)], tuple(evaluate(e, at) for e in m.results)))
    return len({x for _, x in pairs}), len(pairs)
