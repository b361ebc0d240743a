"""Target `maps`: maps that read values at run time, point by point, for many contents of what they read.

A provider is a function from index to value. Some functions are constant, one for every value that a clamp lets through
and for values beyond it on both sides; the others are drawn. A value without a provider is any of its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from hloproof.fuzz.target import Failure
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.hlo.shape import Index
from hloproof.models.maps.indexing_map import IndexingMap, compose
from hloproof.models.maps.text import print_map
from hloproof.models.simplifier.simplify import simplify

Contents = Callable[[str, Index], int]
"""The value of a provider at an index."""

DRAWN: Final = 6
BEYOND: Final = 2
MOST_POINTS: Final = 2_000


class Undefined(Exception):
    """A division by zero, or a read at a point where nothing says what is read."""


def contents(maps: list[IndexingMap]) -> Iterator[Contents]:
    """What providers may hold, as far as these maps can tell one from another."""
    if not any(v.provider is not None for m in maps for v in m.runtime):
        yield lambda provider, index: 0
        return
    edges = [v.interval for m in maps for v in m.runtime if not v.interval.is_empty]
    low = min((i.lower for i in edges), default=0) - BEYOND
    high = max((i.upper for i in edges), default=0) + BEYOND

    def constant(value: int) -> Contents:
        return lambda provider, index: value

    def drawn(salt: int) -> Contents:
        return lambda provider, index: low + hash((salt, *provider.encode(), *index)) % (high - low + 1)

    yield from (constant(v) for v in range(low, high + 1))
    yield from (drawn(salt) for salt in range(DRAWN))


def value(root: Expr, at: Callable[[str], int]) -> int:
    """The expression by its definition. Raises Undefined."""
    return _function(root)(at)


@lru_cache(4096)
def _function(root: Expr) -> Callable[[Callable[[str], int]], int]:
    """The definition of each operator, spelled out in Python."""
    spelled: dict[Expr, str] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            spelled[e] = f"({e.value})"
        elif isinstance(e, Var):
            spelled[e] = f"at('{e.name}')"
        elif isinstance(e, Binary):
            spelled[e] = _SPELLED[e.op].format(spelled[e.lhs], spelled[e.rhs])
    made: Callable[[Callable[[str], int]], int] = eval(f"lambda at: {spelled[root]}", {"floor": _floor})
    return made


def _floor(x: int, y: int) -> int:
    if y == 0:
        raise Undefined
    return x // y


_SPELLED: Final = {
    "+": "({0} + {1})",
    "*": "({0} * {1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "floordiv": "floor({0}, {1})",
    "ceildiv": "-floor(-{0}, {1})",
    "mod": "({0} - {1} * floor({0}, {1}))",
}


class Point:
    """One choice of dims and range variables of a map, and of what it reads."""

    def __init__(self, m: IndexingMap, dims: Index, ranges: Index, held: Contents, free: Index) -> None:
        self.m, self.dims, self.ranges, self.held, self.free = m, dims, ranges, held, free
        self._read: dict[int, int] = {}

    def at(self, name: str) -> int:
        if name.startswith("rt"):
            return self.read(int(name[2:]))
        return self.dims[int(name[1:])] if name[0] == "d" else self.ranges[int(name[1:])]

    def read(self, k: int) -> int:
        """The value of a runtime variable, clamped. Raises Undefined where its index map has no such point."""
        if k not in self._read:
            v = self.m.runtime[k]
            if v.provider is None or v.index is None:
                self._read[k] = self.free[k]
            else:
                own = self.ranges if v.index.ranges else ()
                inner = Point(v.index, self.dims, own, self.held, self.free)
                if inner.inside() is not True:
                    raise Undefined
                found = self.held(v.provider, inner.results())
                self._read[k] = max(v.interval.lower, min(found, v.interval.upper))
        return self._read[k]

    def inside(self) -> bool | None:
        """Whether the point lies in the domain; None where that is not defined."""
        m, unsure = self.m, False
        boxes = [*zip(self.dims, m.dims, strict=True), *zip(self.ranges, m.ranges, strict=True)]
        if any(i not in v.interval for i, v in boxes):
            return False
        if any(v.interval.is_empty for v in m.runtime):
            return False
        for c in m.constraints:
            try:
                if value(c.expr, self.at) not in c.interval:
                    return False
            except Undefined:
                unsure = True
        for k, v in enumerate(m.runtime):
            if (v.provider is None or v.index is None) and self.free[k] not in v.interval:
                return False
        return None if unsure else True

    def results(self) -> Index:
        return tuple(value(e, self.at) for e in self.m.results)


def box(m: IndexingMap) -> Iterator[tuple[Index, Index]]:
    sizes = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
    for at in product(*sizes):
        yield at[: len(m.dims)], at[len(m.dims) :]


def free_values(m: IndexingMap) -> Iterator[Index]:
    """Values of the runtime variables without a provider; the others' places hold 0."""
    without = [v.provider is None or v.index is None for v in m.runtime]
    return product(
        *(
            range(v.interval.lower, v.interval.upper + 1) if free else (0,)
            for v, free in zip(m.runtime, without, strict=True)
        )
    )


def points(m: IndexingMap) -> int:
    """Points of the box of all variables that are not read."""
    read = [r.interval for r in m.runtime if r.provider is None or r.index is None]
    size = 1
    for i in (*(v.interval for v in (*m.dims, *m.ranges)), *read):
        size *= max(0, i.upper - i.lower + 1)
    return size


def check_simplified(m: IndexingMap, what: str) -> None:
    """At every point where the map is defined, its simplified form is, with the same results; and it has no others."""
    after = simplify(m).map
    if [len(x) for x in (after.dims, after.ranges, after.runtime)] != [len(x) for x in (m.dims, m.ranges, m.runtime)]:
        raise Failure(f"{what}: other variables", print_map(after))
    for held in contents([m]):
        for dims, ranges in box(m):
            for free in free_values(m):
                before, behind = (Point(x, dims, ranges, held, free) for x in (m, after))
                inside = before.inside()
                if inside is None:
                    continue
                if behind.inside() is not inside:
                    raise Failure(f"{what}: another domain", f"{dims}, {ranges}, {free}: {print_map(after)}")
                if not inside:
                    continue
                try:
                    expected = before.results()
                except Undefined:
                    continue
                try:
                    found = behind.results()
                except Undefined:
                    found = None
                if found != expected:
                    raise Failure(
                        f"{what}: other results", f"{dims}, {ranges}: {found}, before {expected}: {print_map(after)}"
                    )
    for dims, ranges in box(after):
        if any(i not in v.interval for i, v in zip((*dims, *ranges), (*m.dims, *m.ranges), strict=True)):
            raise Failure(f"{what}: points outside the domain", f"{dims}, {ranges}: {print_map(after)}")
    if simplify(after).map != after:
        raise Failure("maps: simplifying again changes the map", f"{print_map(after)}")


def check_composed(first: IndexingMap, second: IndexingMap) -> None:
    """A point of the composition is a point of the first map and one of the second at its results, both reading the
    same contents."""
    composed = compose(first, second)
    if points(composed) > MOST_POINTS:
        return
    split = len(second.runtime)
    for held in contents([first, second]):
        expected: Counter[tuple[Index, Index, Index, Index]] = Counter()
        found: Counter[tuple[Index, Index, Index, Index]] = Counter()
        skipped: set[Index] = set()
        for dims, ranges in box(composed):
            for free in free_values(composed):
                own = ranges[len(second.ranges) :]
                one = Point(first, dims, own, held, free[split:])
                both = Point(composed, dims, ranges, held, free)
                try:
                    key = _through(one, second, ranges[: len(second.ranges)], held, free[:split])
                except Undefined:
                    skipped.add((*dims, *ranges, *free))
                    continue
                if key is not None:
                    expected[dims, ranges, free, key] += 1
                if both.inside() is False:
                    continue
                try:
                    if both.inside() is None:
                        raise Undefined
                    found[dims, ranges, free, both.results()] += 1
                except Undefined as error:
                    if key is not None:
                        raise Failure("maps: composition undefined at a point", f"{dims}: {composed}") from error
        if found != expected:
            wrong = sorted((found - expected) + (expected - found))[0]
            raise Failure("maps: composition reads other values", f"{wrong}: {print_map(composed)}")
    check_simplified(composed, "maps: simplified composition with runtime variables")


def _through(one: Point, second: IndexingMap, ranges: Index, held: Contents, free: Index) -> Index | None:
    """The results of the second map at those of the first; None outside of a domain. Raises Undefined."""
    inside = one.inside()
    if inside is False:
        return None
    if inside is None:
        raise Undefined
    two = Point(second, one.results(), ranges, held, free)
    inside = two.inside()
    if inside is None:
        raise Undefined
    return two.results() if inside else None


def examine(parts: list[IndexingMap]) -> tuple[str, ...]:
    """One map, or two that compose."""
    if any(points(m) > MOST_POINTS for m in parts):
        return ("too large",)
    if len(parts) == 1:
        check_simplified(parts[0], "maps: simplified with runtime variables")
        return ("simplify with runtime variables",)
    check_composed(*parts)
    return ("compose with runtime variables",)
