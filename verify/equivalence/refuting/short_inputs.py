"""Inputs in few parts, for modules of any size: each dimension is cut into a few ranges, and boxes of ranges hold one
number each.

Cuts lie at the ends and at random; dimensions of one size are cut alike, so that operations on several arrays keep the
parts few. Elements that stand alone hold the drawn numbers; boxes hold small ones or zero, so that a sum over a large
dimension does not drown what single elements bring to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from random import Random
from typing import Any, Final

from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.interpreter.compact.classed import SMALL
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Element, NestedList

_WHOLE: Final = 4
"""Dimensions of at most this size are not joined into ranges."""


def starts(n: int, seed: int, few: int = 0) -> list[int]:
    """Where the ranges of a dimension of size `n` begin: first and last elements alone, and one or two in between;
    `few`: of 1, two ranges in all; of 2, two or three."""
    random = Random(f"{seed} cuts {n}")
    if few == 1 and n > 1:
        return [0, 1]
    if few and n > 2:
        middle = random.randrange(1, n)
        return sorted({0, middle, middle + 1} if _WHOLE < n > middle + 1 else {0, middle})
    if n <= _WHOLE:
        return list(range(n))
    middle = random.randrange(2, n - 1)
    cuts = {0, 1, middle, middle + 1, n - 1}
    if n > 64:
        cuts |= {2, random.randrange(2, n - 1)}
    return sorted(c for c in cuts if c < n)


def parts_of(shape: Shape, seed: int, few: int) -> int:
    """How many boxes `short` makes of a value of this shape."""
    if isinstance(shape, TupleShape):
        return sum(parts_of(e, seed, few) for e in shape.elements)
    if isinstance(shape, BufferShape):
        return parts_of(shape.inner, seed, few)
    return prod(len(starts(n, seed, few)) for n in shape.dimensions) if isinstance(shape, ArrayShape) else 0


def short(shape: Shape, drawn: Callable[[str], Iterator[Element]], seed: int, random: Random, few: int) -> NestedList:
    """A value of this shape from numbers of its types, in the form that `hloproof run --inputs` reads."""
    if isinstance(shape, TupleShape):
        return [short(e, drawn, seed, random, few) for e in shape.elements]
    if isinstance(shape, BufferShape):
        return short(shape.inner, drawn, seed, random, few)
    if not isinstance(shape, ArrayShape):
        return None
    rows = [starts(n, seed, few) for n in shape.dimensions]
    lengths = [
        [b - a for a, b in zip(row, [*row[1:], n], strict=True)] for row, n in zip(rows, shape.dimensions, strict=True)
    ]
    sizes = [1]
    for row in lengths:
        sizes = [s * n for s in sizes for n in row]
    inexact = shape.element_type in FLOATS or shape.element_type in types.COMPLEX
    numbers = drawn(shape.element_type)
    flat = [_thinned(next(numbers), n, random) if inexact and n > 1 else next(numbers) for n in sizes]
    values = nested(flat, [len(row) for row in rows])
    if prod(shape.dimensions) <= SMALL and all(len(r) == n for r, n in zip(rows, shape.dimensions, strict=True)):
        return values
    return {"starts": rows, "values": values}


def _thinned(value: Element, count: int, random: Random) -> Element:
    """What each of many equal elements holds in place of the value: so little that together they do not outweigh it."""
    if count > _WHOLE and random.random() < 0.4:
        return [0.0, 0.0] if isinstance(value, list) else 0.0
    scale = 2.0 ** -min(12, count.bit_length() - 1) if count > 16 else 1.0
    return [v * scale for v in value] if isinstance(value, list) else value * scale


def nested(flat: list[Any], sizes: Sequence[int]) -> NestedList:
    """Nested lists of these sizes. No size is 0 but in what has no elements."""
    if 0 in sizes:
        return [nested(flat, sizes[1:]) for _ in range(sizes[0])] if sizes[0] else []
    for n in reversed(sizes):
        flat = [flat[k : k + n] for k in range(0, len(flat), n)]
    return flat[0]
