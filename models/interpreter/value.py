"""Values at run time: arrays, tuples, tokens, and their public form, nested lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from hloproof.models.hlo.shape import ArrayShape, BufferShape, OpaqueShape, Shape, TokenShape, TupleShape

Element = Any
"""One element: bool for pred, int for the integer types, float, complex; or what another semantics makes of them."""

NestedList = Any
"""An element, or a list of nested lists; tuples of values are Python tuples, a token is None."""


class BadArgument(Exception):
    """A value given from outside does not have the shape that the module asks for."""


@dataclass(frozen=True, slots=True)
class Array:
    """Elements in row-major order: the last index runs fastest. `data` is never changed once an array is built."""

    element_type: str
    sizes: tuple[int, ...]
    data: list[Element]


@dataclass(frozen=True, slots=True)
class Classed:
    """An array whose elements depend on classes of indices only: as large as it may be, and as small as it is varied.

    `classes` has for each dimension the number of the class of every index, counted by first occurrence; `data` has one
    element for each combination of classes, row-major.
    """

    element_type: str
    sizes: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]
    data: list[Element]

    @property
    def parts(self) -> tuple[int, ...]:
        """How many classes each dimension has."""
        return tuple(max(c) + 1 if c else 0 for c in self.classes)


@dataclass(frozen=True, slots=True)
class Token:
    """A token, or an opaque value: it orders effects and holds no data."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """An asynchronous operation that has been started: what it was given, and what it will answer.

    `elements` is what get-tuple-element sees. `operands` grows while operands are bound late.
    """

    computation: str
    operands: tuple[Value, ...]
    result: Value | None = None
    elements: tuple[Value, ...] = field(default=(), compare=False)


Value = Array | Classed | Token | InFlight | tuple["Value", ...]


def arrays(value: Value) -> Iterator[Array]:
    """The arrays of a value, depth first; tokens have none."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays(part)


def strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """How far apart neighbours along each dimension lie in row-major order."""
    out = [1] * len(sizes)
    for i in range(len(sizes) - 2, -1, -1):
        out[i] = out[i + 1] * sizes[i + 1]
    return tuple(out)


def indices(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index vector of a tensor of these sizes, in row-major order; one empty vector for rank 0."""
    return product(*(range(n) for n in sizes))


def flat_index(index: Sequence[int], steps: Sequence[int]) -> int:
    """The position of an element in row-major order."""
    return sum(i * s for i, s in zip(index, steps, strict=True))


def offsets(sizes: Sequence[int], steps: Sequence[int], start: int = 0) -> list[int]:
    """`start + sum(i * step)` for every index vector of these sizes, in row-major order."""
    out = [start]
    for n, step in zip(sizes, steps, strict=True):
        if n == 1:
            continue
        moves = range(0, n * step, step) if step else [0] * n
        out = [base + move for base in out for move in moves]
    return out


def filled(shape: Shape, fill: Element = 0) -> Value:
    """A value of this shape with every element equal to `fill`."""
    match shape:
        case ArrayShape(element_type, dimensions):
            return Array(element_type, dimensions, [fill] * prod(dimensions))
        case TupleShape(elements):
            return tuple(filled(e, fill) for e in elements)
        case BufferShape(inner):
            return filled(inner, fill)
        case TokenShape() | OpaqueShape():
            return Token()


def to_nested(value: Value) -> NestedList:
    """The public form of a value. An operation in flight shows the tuple that it stands for."""
    match value:
        case Array(_, sizes, data):
            return _nest(sizes, data)
        case Classed(_, sizes, classes, data):
            return _spread(sizes, classes, list(data), value.parts)
        case tuple():
            return tuple(to_nested(v) for v in value)
        case InFlight():
            return tuple(to_nested(v) for v in value.elements)
        case Token():
            return None


def _spread(
    sizes: tuple[int, ...], classes: Sequence[tuple[int, ...]], data: list[Element], counts: tuple[int, ...]
) -> NestedList:
    """Nested lists; equal rows are the same list."""
    level: list[Any] = data
    for axis in range(len(sizes) - 1, -1, -1):
        n = counts[axis]
        level = [[level[row * n + c] for c in classes[axis]] for row in range(prod(counts[:axis]))]
    return level[0]


def _nest(sizes: tuple[int, ...], data: list[Element]) -> NestedList:
    if not sizes:
        return data[0]
    level: list[Any] = list(data)
    for axis in range(len(sizes) - 1, 0, -1):
        n, rows = sizes[axis], prod(sizes[:axis])
        level = [level[i * n : (i + 1) * n] for i in range(rows)]
    return level


def flatten(nested: NestedList, sizes: tuple[int, ...], what: str = "the value") -> list[Element]:
    """The elements of nested lists in row-major order. Raises BadArgument when the lists do not have these sizes."""
    level: list[Any] = [nested]
    for axis, n in enumerate(sizes):
        below: list[Any] = []
        for row in level:
            if not isinstance(row, (list, tuple)) or len(row) != n:
                found = f"{len(row)} entries" if isinstance(row, (list, tuple)) else repr(row)
                raise BadArgument(f"{what} has {found} where dimension {axis} of size {n} is expected")
            below.extend(row)
        level = below
    for element in level:
        if isinstance(element, (list, tuple)):
            raise BadArgument(f"{what} is nested deeper than its rank {len(sizes)}")
    return level


def elements(nested: NestedList, sizes: tuple[int, ...], element_type: str, what: str = "the value") -> list[Element]:
    """As `flatten`; a complex number may be written as the pair of its parts."""
    if element_type in ("c64", "c128"):
        inner = nested
        for n in sizes:
            inner = inner[0] if n and isinstance(inner, (list, tuple)) and inner else None
        if isinstance(inner, (list, tuple)):
            parts = flatten(nested, (*sizes, 2), what)
            return [complex(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return flatten(nested, sizes, what)
