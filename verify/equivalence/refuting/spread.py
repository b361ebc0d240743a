"""Where two results differ by more than rounding may explain: each is given as samples with different roundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isinf, isnan
from typing import Final

from hloproof.models.interpreter.compact.classed import common, firsts_of, lifted
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Array, Classed, Element, Value


@dataclass(frozen=True)
class Leaf:
    """An array of a result: on which device, and at which position of the tuple."""

    device: int
    position: tuple[int, ...]
    array: Array
    firsts: tuple[Sequence[int], ...] = ()
    """Where `array` has one element for each part of a larger array: the first index of each part, per dimension."""

    def index(self, flat: int) -> tuple[int, ...]:
        """The index of an element, in the larger array if there is one."""
        out = []
        for n in reversed(self.array.sizes):
            out.append(flat % n)
            flat //= n
        found = tuple(reversed(out))
        return tuple(f[k] for f, k in zip(self.firsts, found, strict=True)) if self.firsts else found


def leaves_of(runs: Sequence[Sequence[Value]]) -> list[list[Leaf]]:
    """The arrays of a result per device, in order, for each of several runs; arrays in parts by the same ones."""
    found = [[leaf for device, value in enumerate(results) for leaf in _arrays(value, device, ())] for results in runs]
    out: list[list[Leaf]] = [[] for _ in runs]
    for same in zip(*found, strict=True):
        arrays = [x for _, _, x in same]
        device, position, _ = same[0]
        if all(isinstance(x, Array) for x in arrays):
            for row, x in zip(out, arrays, strict=True):
                if isinstance(x, Array):
                    row.append(Leaf(device, position, x))
            continue
        classed = [lifted(x) for x in arrays]
        classes, columns = common(classed)
        firsts = tuple(firsts_of(c) for c in classes)
        sizes = tuple(len(f) for f in firsts)
        for row, x, data in zip(out, classed, columns, strict=True):
            row.append(Leaf(device, position, Array(x.element_type, sizes, data), firsts))
    return out


def _arrays(
    value: Value, device: int, position: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...], Array | Classed]]:
    if isinstance(value, (Array, Classed)):
        yield device, position, value
    elif isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from _arrays(v, device, (*position, k))


@dataclass(frozen=True)
class Margin:
    """A difference of floats counts when it is larger than the spread of the samples this many times, than this share
    of the two values, and than this share of the largest value of the array."""

    times_the_spread: float
    of_the_value: float
    of_the_largest: float


NARROW: Final = Margin(4.0, 2e-3, 2e-5)
"""Where another reading shows a difference too."""
WIDE: Final = Margin(50.0, 5e-2, 1e-3)
"""Where these samples are all there is."""


def differing(
    kind: str, before: Sequence[Sequence[Element]], after: Sequence[Sequence[Element]], margin: Margin = NARROW
) -> Iterator[int]:
    """The elements of one array at which the samples of `before` lie away from those of `after`.

    Integers and predicates: all samples of a side agree, and the sides do not. Floats: apart by the
    margin, or infinite in every sample of one side and in none of the other.
    """
    exact = kind not in FLOATS and kind not in types.COMPLEX
    largest = 0.0
    if not exact:
        largest = max((abs(v) for v in (*before[0], *after[0]) if isfinite(abs(v))), default=0.0)
    for k, (b, a) in enumerate(zip(before[0], after[0], strict=True)):
        if b == a:
            continue
        ours, theirs = [s[k] for s in before], [s[k] for s in after]
        if exact:
            if all(v == b for v in ours) and all(v == a for v in theirs):
                yield k
        elif kind in types.COMPLEX:
            parts = (
                ([v.real for v in ours], [v.real for v in theirs]),
                ([v.imag for v in ours], [v.imag for v in theirs]),
            )
            if any(_apart(x, y, largest, margin) for x, y in parts):
                yield k
        elif _apart(ours, theirs, largest, margin):
            yield k


def _apart(before: Sequence[float], after: Sequence[float], largest: float, margin: Margin) -> bool:
    if any(isnan(v) for v in (*before, *after)):
        return False
    low_b, high_b, low_a, high_a = min(before), max(before), min(after), max(after)
    if isinf(low_b) or isinf(high_b) or isinf(low_a) or isinf(high_a):
        # An infinity that is no overflow: every sample of one side has it, and none of the other.
        sides = ((before, after), (after, before))
        return any(isinf(x[0]) and all(v == x[0] for v in x) and all(v != x[0] for v in y) for x, y in sides)
    gap = max(low_b - high_a, low_a - high_b)
    spread = (high_b - low_b) + (high_a - low_a)
    size = max(abs(low_b), abs(high_b), abs(low_a), abs(high_a))
    return gap > max(margin.times_the_spread * spread, margin.of_the_value * size, margin.of_the_largest * largest)
