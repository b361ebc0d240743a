"""Where operations that move data read each element: guarded index substitution, written once.

Trusted. `equivalence` calls these with linear forms and integers, `tensor_rules` with polynomials: a place `x` of an
index, a size or a start is anything that has `+ - *`, and `// %` by what is at least 1. Rules speak of indices within
the result's sizes, of operations that are well formed; starts come clamped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar


class Offset(Protocol):
    """A place along a dimension."""

    def __add__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __rsub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __floordiv__(self, other: Any, /) -> Self: ...
    def __mod__(self, other: Any, /) -> Self: ...


X = TypeVar("X", bound=Offset)


class Test(NamedTuple, Generic[X]):
    """That `of` is at least 0 (`within`), or that it is 0, where it is no less (`even`)."""

    kind: Literal["within", "even"]
    of: X


class Case(NamedTuple, Generic[X]):
    """Where all tests hold: the element of this operand at this index."""

    tests: tuple[Test[X], ...]
    operand: int
    at: tuple[X, ...]


Cases = tuple[Case[X], ...]
"""The first case whose tests hold; the last has none."""


def within(x: X, size: Any) -> tuple[Test[X], ...]:
    """0 <= x < size."""
    return Test("within", x), Test("within", (size - 1) - x)


def slice_(at: Sequence[X], starts: Sequence[Any], strides: Sequence[Any]) -> Cases[X]:
    """Index x of a dimension is read from start + x * stride."""
    return (Case((), 0, tuple(x * p + s for x, s, p in zip(at, starts, strides, strict=True))),)


def transpose(at: Sequence[X], dims: Sequence[int]) -> Cases[X]:
    """Dimension k of the result is dims[k] of the operand."""
    return (Case((), 0, tuple(at[dims.index(d)] for d in range(len(dims)))),)


def broadcast(at: Sequence[X], dims: Sequence[int]) -> Cases[X]:
    """Dimension k of the operand is dims[k] of the result."""
    return (Case((), 0, tuple(at[d] for d in dims)),)


def reverse(at: Sequence[X], sizes: Sequence[Any], dims: Sequence[int]) -> Cases[X]:
    """Index x of a reversed dimension of n is read from n - 1 - x."""
    turned = ((n - 1) - x if d in dims else x for d, (x, n) in enumerate(zip(at, sizes, strict=True)))
    return (Case((), 0, tuple(turned)),)


def concatenate(at: Sequence[X], dim: int, starts: Sequence[Any]) -> Cases[X]:
    """`starts[k]` is where operand k begins; each runs to where the next begins."""
    out: list[Case[X]] = []
    for k in range(len(starts) - 1, -1, -1):
        x = at[dim] - starts[k]
        out.append(Case((Test("within", x),) if k else (), k, (*at[:dim], x, *at[dim + 1 :])))
    return tuple(out)


def spread(x: X, size: Any, step: Any) -> tuple[X, tuple[Test[X], ...]]:
    """Where place x falls among `size` elements that stand `step` apart, and that it falls on one."""
    return x // step, (*within(x, size * step), Test("even", x % step))


def pad(at: Sequence[X], sizes: Sequence[Any], lows: Sequence[Any], interiors: Sequence[Any]) -> Cases[X]:
    """The operand's element, or operand 1 where there is none. `sizes` are the operand's; `lows` may be negative."""
    source: list[X] = []
    tests: list[Test[X]] = []
    for x, size, low, interior in zip(at, sizes, lows, interiors, strict=True):
        place, inside = spread(x - low, size, interior + 1)
        source.append(place)
        tests += inside
    return Case(tuple(tests), 0, tuple(source)), Case((), 1, ())


def dynamic_slice(at: Sequence[X], starts: Sequence[Any]) -> Cases[X]:
    """`starts` are clamped."""
    return (Case((), 0, tuple(x + s for x, s in zip(at, starts, strict=True))),)


def dynamic_update_slice(
    at: Sequence[X], sizes: Sequence[Any], update: Sequence[Any], starts: Sequence[Any]
) -> Cases[X]:
    """Operand 1, the update, where its window lies, else operand 0. `starts` are clamped."""
    shifted = tuple(x - s for x, s in zip(at, starts, strict=True))
    tests: tuple[Test[X], ...] = ()
    for x, size, own in zip(shifted, sizes, update, strict=True):
        if own != size:
            tests = (*within(x, own), *tests)
    return Case(tests, 1, shifted), Case((), 0, tuple(at))


def row_major(at: Sequence[X], sizes: Sequence[Any], zero: X) -> X:
    """The row-major position of an index."""
    out = zero
    for x, size in zip(at, sizes, strict=True):
        out = out * size + x
    return out


def unravel(position: X, sizes: Sequence[Any]) -> tuple[X, ...]:
    """The index of a row-major position that lies within the sizes, each at least 1."""
    out: list[X] = []
    for size in reversed(sizes[1:]):
        out.append(position % size)
        position = position // size
    return (position, *reversed(out)) if sizes else ()
