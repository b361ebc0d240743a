"""Indexing maps evaluated point by point: the domain, the results, and what runtime variables read.

A map is turned once into a Python generator (loops over the range variables, then the constraints, then the results),
because campaigns look at millions of points. The text of the generator is made here from the expressions as they stand;
nothing is simplified on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.python_text import compiled, python_text
from hloproof.models.interpreter.value import Array, flat_index, strides
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, all_constraints

Reader = Callable[[int, tuple[int, ...], tuple[int, ...]], int]
"""The value of runtime variable k at a point (dims, ranges), not clamped."""

MapPoint = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Values of the range variables, the results, and the positions in the group for collectives (else empty)."""


def _tuple(names: Sequence[str]) -> str:
    return "(" + "".join(f"{n}, " for n in names) + ")"


@lru_cache(maxsize=512)
def _generator(m: IndexingMap) -> Callable[..., Iterator[MapPoint]]:
    dims = [f"d{k}" for k in range(len(m.dims))]
    ranges = [f"s{k}" for k in range(len(m.ranges))]
    source = [f"def points({', '.join([*dims, 'read'])}):"]
    indent = "    "

    def line(text: str) -> None:
        source.append(indent + text)

    for name, variable in zip(dims, m.dims, strict=True):
        line(f"if not {variable.interval.lower} <= {name} <= {variable.interval.upper}: return")
    for name, variable in zip(ranges, m.ranges, strict=True):
        line(f"for {name} in range({variable.interval.lower}, {variable.interval.upper + 1}):")
        indent += "    "

    def condition(n: int, constraint: Constraint) -> None:
        lines, (name,) = python_text([constraint.expr], f"c{n}_")
        for text in lines:
            line(text)
        line(f"if not {constraint.interval.lower} <= {name} <= {constraint.interval.upper}: continue")

    waiting = list(enumerate(all_constraints(m)))
    unread = {f"rt{k}" for k in range(len(m.runtime))}

    def decided() -> None:
        """The constraints on what has been read so far: nothing is read at points outside of the domain."""
        for n, constraint in waiting[:]:
            if constraint.expr.free.isdisjoint(unread):
                condition(n, constraint)
                waiting.remove((n, constraint))

    decided()
    # In a composition the variables of the consumer come last, and say whether the producer is asked at all.
    for k, runtime in reversed(list(enumerate(m.runtime))):
        low, high = runtime.interval.lower, runtime.interval.upper
        line(f"rt{k} = max({low}, min(read({k}, {_tuple(dims)}, {_tuple(ranges)}), {high}))")
        unread.remove(f"rt{k}")
        decided()
    positions = m.replica.results if m.replica is not None else ()
    lines, names = python_text([*m.results, *positions], "t")
    for text in lines:
        line(text)
    count = len(m.results)
    line(f"yield {_tuple(ranges)}, {_tuple(names[:count])}, {_tuple(names[count:])}")
    if not m.ranges:  # `continue` needs a loop
        source[1:] = ["    for _ in (0,):", *("    " + text for text in source[1:])]
    made: Callable[..., Iterator[MapPoint]] = compiled(source)
    return made


def points(m: IndexingMap, dims: Sequence[int], read: Reader | None = None) -> Iterator[MapPoint]:
    """Every point of the domain over these dims: range values, results, positions in the group.

    Raises UndefinedValue on division by zero, and LookupError for a runtime variable when nothing reads it. Runtime
    variables that the map's replica part has of its own are not supported.
    """
    try:
        yield from _generator(m)(*dims, read or _nothing)
    except ZeroDivisionError as error:
        raise UndefinedValue(str(error)) from error


def domain_points(m: IndexingMap, read: Reader | None = None) -> Iterator[tuple[tuple[int, ...], MapPoint]]:
    """Every point of the whole domain: the dims, and the rest as `points` gives it. Raises likewise."""
    made, reads = _generator(m), read or _nothing
    try:
        for dims in product(*(range(v.interval.lower, v.interval.lower + v.interval.count) for v in m.dims)):
            for point in made(*dims, reads):
                yield dims, point
    except ZeroDivisionError as error:
        raise UndefinedValue(str(error)) from error


def _nothing(k: int, dims: tuple[int, ...], ranges: tuple[int, ...]) -> int:
    raise LookupError(f"nothing says what runtime variable {k} reads")


def relation(m: IndexingMap, read: Reader | None = None) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs (dims, results) over the whole domain, each with the number of points that give it."""
    return Counter((dims, results) for dims, (_, results, _) in domain_points(m, read))


def relation_with_positions(m: IndexingMap, read: Reader | None = None) -> Counter[MapPoint]:
    """As `relation`, with the positions in the group: triples (dims, results, positions)."""
    return Counter((dims, results, positions) for dims, (_, results, positions) in domain_points(m, read))


def reader(m: IndexingMap, providers: Mapping[str, Array]) -> Reader:
    """Reads runtime variables from tensors by the names of their providers.

    The index map of a runtime variable is evaluated at the point; where it has runtime variables of its own they are
    read first. Raises LookupError for a provider that is not given.
    """

    def read(k: int, dims: tuple[int, ...], ranges: tuple[int, ...]) -> int:
        runtime = m.runtime[k]
        if runtime.provider is None or runtime.provider not in providers:
            raise LookupError(f"no tensor for the provider {runtime.provider}")
        x = providers[runtime.provider]
        index = runtime.index
        if index is None:
            raise LookupError(f"runtime variable {k} does not say which element it reads")
        own = ranges[: len(index.ranges)] if index.ranges else ()
        for found, results, _ in points(index, dims, reader(index, providers)):
            if found == own:
                if any(not 0 <= i < n for i, n in zip(results, x.sizes, strict=True)):
                    raise LookupError(f"runtime variable {k} reads outside its provider, at {results}")
                return int(x.data[flat_index(results, strides(x.sizes))])
        raise LookupError(f"the index map of runtime variable {k} has no point at {dims}")

    return read
