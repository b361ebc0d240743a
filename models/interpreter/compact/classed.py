"""Arrays by classes of indices: to make them, to bring several to the same classes, and to write them out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import copysign, prod
from typing import Any, Final

from hloproof.models.errors import NotModelled
from hloproof.models.interpreter.value import Array, Classed, Element, Value, strides

MOST_PARTS: Final = 1 << 19
"""Arrays with more different parts are given up."""
MOST_WRITTEN_OUT: Final = 1 << 20
"""Arrays with more elements are not written out for an operation that needs every element."""
MOST_INDICES: Final = 1 << 22
"""Dimensions of more indices are given up."""
SMALL: Final = 16
"""Arrays with at most so many elements are plain ones."""

Classes = tuple[int, ...]
"""For each index of a dimension the number of its class, counted by first occurrence."""


def listed(n: int) -> int:
    """A size of a dimension whose indices are listed one by one. Raises NotModelled for one that is too large."""
    if n > MOST_INDICES:
        raise NotModelled(f"a dimension of {n} elements is larger than {MOST_INDICES}")
    return n


@lru_cache(64)
def all_different(n: int) -> Classes:
    """Each index of a dimension of n is a class of its own. Raises NotModelled beyond MOST_INDICES."""
    listed(n)
    return tuple(range(n))


@lru_cache(64)
def all_alike(n: int) -> Classes:
    """All indices of a dimension of n are one class. Raises NotModelled beyond MOST_INDICES."""
    listed(n)
    return (0,) * n


def numbered(keys: Sequence[Hashable]) -> tuple[Classes, list[int]]:
    """Equal keys form a class; and the first index of each class."""
    seen: dict[Hashable, int] = {}
    firsts: list[int] = []
    out: list[int] = []
    for k, key in enumerate(keys):
        number = seen.get(key)
        if number is None:
            number = seen[key] = len(firsts)
            firsts.append(k)
        out.append(number)
    return tuple(out), firsts


def firsts_of(classes: Classes) -> list[int]:
    """The first index of each class."""
    out: list[int] = []
    for k, c in enumerate(classes):
        if c == len(out):
            out.append(k)
    return out


def weights_of(classes: Classes) -> list[int]:
    """How many indices each class has."""
    out = [0] * parts(classes)
    for c in classes:
        out[c] += 1
    return out


def parts(classes: Classes) -> int:
    """How many classes there are; 0 for a dimension without indices."""
    return max(classes) + 1 if classes else 0


def made(kind: str, classes: Sequence[Classes], data: list[Element]) -> Value:
    """An array of these classes; a plain one where it is small."""
    found = Classed(kind, tuple(len(c) for c in classes), tuple(classes), data)
    return written_out(found) if prod(found.sizes) <= SMALL else found


def checked(counts: Sequence[int]) -> Sequence[int]:
    """Numbers of classes that are not too many together."""
    if prod(counts) > MOST_PARTS:
        raise NotModelled(f"an array with more than {MOST_PARTS} different parts")
    return counts


def picked(x: Classed, picks: Sequence[Sequence[int]], order: Sequence[int] | None = None) -> list[Element]:
    """The elements at the given classes of each dimension, the last one of `order` running fastest."""
    checked([len(p) for p in picks])
    steps = strides(x.parts)
    places = [0]
    for d in order if order is not None else range(len(picks)):
        step = steps[d]
        moves = [p * step for p in picks[d]]
        places = [base + move for base in places for move in moves]
    data = x.data
    return [data[k] for k in places]


def whole(x: Classed) -> list[Sequence[int]]:
    """Picks that take every class once."""
    return [range(n) for n in x.parts]


def common(arrays: Sequence[Classed]) -> tuple[list[Classes], list[list[Element]]]:
    """Classes that all of several arrays of the same sizes are constant on, and the elements of each by them."""
    picks: list[list[Sequence[int]]] = [[] for _ in arrays]
    found: list[Classes] = []
    for columns in zip(*(x.classes for x in arrays), strict=True):
        classes, own = common_classes(columns)
        found.append(classes)
        for pick, one in zip(picks, own, strict=True):
            pick.append(one)
    return found, [x.data if p == whole(x) else picked(x, p) for x, p in zip(arrays, picks, strict=True)]


def common_classes(columns: Sequence[Classes]) -> tuple[Classes, list[Sequence[int]]]:
    """The coarsest classes finer than each of these, and for each of them what a new class is in it."""
    first = columns[0]
    if all(c is first or c == first for c in columns):
        return first, [range(parts(first))] * len(columns)
    classes, firsts = numbered(list(zip(*columns, strict=True)))
    return classes, [[c[k] for k in firsts] for c in columns]


def lifted(value: Value) -> Classed:
    """A plain array by its classes: rows that are equal to the letter, along any dimension, are one."""
    if isinstance(value, Classed):
        return value
    if not isinstance(value, Array):
        raise NotModelled("an operand that is not an array")
    data, counts, classes = value.data, list(value.sizes), []
    for d, n in enumerate(value.sizes):
        if n < 2 or len(data) > MOST_WRITTEN_OUT:
            classes.append(all_different(n))
            continue
        inner, outer = prod(counts[d + 1 :]), prod(counts[:d])
        marks = data if inner * outer == 0 or not _signed_zero(data) else [_mark(v) for v in data]
        rows = [tuple(marks[(o * n + k) * inner + j] for o in range(outer) for j in range(inner)) for k in range(n)]
        found, firsts = numbered(rows)
        if len(firsts) < n:
            data = [
                v for o in range(outer) for k in firsts for v in data[(o * n + k) * inner : (o * n + k + 1) * inner]
            ]
            counts[d] = len(firsts)
        classes.append(found)
    return Classed(value.element_type, value.sizes, tuple(classes), data)


def _signed_zero(data: Sequence[Element]) -> bool:
    return any(isinstance(v, (float, complex)) and _mark(v) is not v for v in data)


def _mark(v: Element) -> Any:
    """Something equal for elements that are the same, the sign of zero included."""
    if isinstance(v, complex):
        return (_mark(v.real), _mark(v.imag), "complex")
    return "-0" if isinstance(v, float) and v == 0 and copysign(1.0, v) < 0 else v


def written_out(x: Value) -> Value:
    """The plain array; other values as they are. Raises NotModelled where it would be too large."""
    if isinstance(x, tuple):
        return tuple(written_out(v) for v in x)
    if not isinstance(x, Classed):
        return x
    if prod(x.sizes) > MOST_WRITTEN_OUT:
        raise NotModelled(f"an array of {prod(x.sizes)} elements is not written out")
    return Array(x.element_type, x.sizes, every_element(x))


def every_element(x: Classed) -> list[Element]:
    """In row-major order."""
    steps = strides(x.parts)
    places = [0]
    for classes, step in zip(x.classes, steps, strict=True):
        moves = [c * step for c in classes]
        places = [base + move for base in places for move in moves]
    return [x.data[k] for k in places]
