"""Indexing maps: which index of one tensor goes with which indices of another.

`(d0, d1)[s0]{rt0} -> (e0, e1), domain: ...`: dims index the tensor mapped from, range variables stand for all values of
their interval (one to many), a runtime variable is the clamped value of an integer tensor's element at run time. In
expressions the variables are always called d0.., s0.., rt0..; the names that a text used are kept for printing only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from models.expr import Const, Expr, Var, substitute
from models.interval import Interval


@dataclass(frozen=True, slots=True)
class Variable:
    """A dim or range variable: its interval (bounds inclusive) and the name it is printed with ('' for the default)."""

    interval: Interval
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class RuntimeVariable:
    """A value read at run time: element `index(d, s)` of the provider, clamped into `interval`.

    `provider` is `operand(n)` in the maps of one instruction, and `parameter(n)`, `constant(literal)` or the name of an
    instruction in the maps of a module. `index` maps the dims and range variables of the owning map to the element of
    the provider. Both are absent where a text does not say.
    """

    interval: Interval
    name: str = field(default="", compare=False)
    provider: str | None = None
    index: IndexingMap | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """`expr in interval`, bounds inclusive."""

    expr: Expr
    interval: Interval


@dataclass(frozen=True, slots=True)
class IndexingMap:
    """Dims, range and runtime variables, results, constraints, and for collectives the replica map.

    `replica` maps the same dims and range variables to the position in the reader's group that holds the element.
    """

    dims: tuple[Variable, ...]
    results: tuple[Expr, ...]
    ranges: tuple[Variable, ...] = ()
    runtime: tuple[RuntimeVariable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    replica: IndexingMap | None = None

    def __post_init__(self) -> None:
        known = {name for name, _ in self.intervals()}
        for e in (*self.results, *(c.expr for c in self.constraints)):
            if not e.free <= known:
                raise ValueError(f"undeclared variables {sorted(e.free - known)} in an indexing map")

    def intervals(self) -> Iterator[tuple[str, Interval]]:
        """Every variable's canonical name and interval: dims, range variables, runtime variables, in this order."""
        for name, v in self.variables():
            yield name, v.interval

    def variables(self) -> Iterator[tuple[str, Variable | RuntimeVariable]]:
        """Every variable with its canonical name, in the same order."""
        for i, v in enumerate(self.dims):
            yield f"d{i}", v
        for j, v in enumerate(self.ranges):
            yield f"s{j}", v
        for k, r in enumerate(self.runtime):
            yield f"rt{k}", r

    def display_names(self) -> dict[str, str]:
        """Canonical name to printed name."""
        return {name: v.name or name for name, v in self.variables()}

    @property
    def is_trivially_empty(self) -> bool:
        """Some interval of the domain is empty, or a constant misses its own. (A domain can be empty without this; only
        a solver sees that.)"""
        return any(i.is_empty for _, i in self.intervals()) or any(
            c.interval.is_empty or (isinstance(c.expr, Const) and c.expr.value not in c.interval)
            for c in self.constraints
        )


def boxed(sizes: Sequence[int]) -> tuple[Variable, ...]:
    """One variable per size, in [0, size - 1]."""
    return tuple(Variable(Interval.of_size(n)) for n in sizes)


def dim(i: int) -> Expr:
    return Var(f"d{i}")


def rng(j: int) -> Expr:
    return Var(f"s{j}")


def rt(k: int) -> Expr:
    return Var(f"rt{k}")


def identity(sizes: Sequence[int]) -> IndexingMap:
    """(d0, ..., dn) -> (d0, ..., dn) over a tensor of these sizes."""
    return IndexingMap(boxed(sizes), tuple(dim(i) for i in range(len(sizes))))


def compose(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The map that applies `first` (the consumer's), then `second` (the producer's) to its results.

    Variables: dims of `first`; range variables of `second`, then of `first`; runtime variables likewise. Constraints:
    those of `second` at the results of `first`, those of `first`, and each result of `first` within the interval of the
    dim of `second` that it feeds. Names are made unique on clash. Nothing is simplified.

    Raises ValueError when the number of results of `first` is not the number of dims of `second`.
    """
    if len(first.results) != len(second.dims):
        raise ValueError(f"cannot compose: {len(first.results)} results feed {len(second.dims)} dims")
    shift_s, shift_rt = len(second.ranges), len(second.runtime)
    moved = {f"s{j}": rng(j + shift_s) for j in range(len(first.ranges))}
    moved |= {f"rt{k}": rt(k + shift_rt) for k in range(len(first.runtime))}
    fed = tuple(substitute(e, moved) for e in first.results)
    into = {f"d{i}": e for i, e in enumerate(fed)}

    constraints = [Constraint(substitute(c.expr, into), c.interval) for c in second.constraints]
    constraints += [Constraint(substitute(c.expr, moved), c.interval) for c in first.constraints]
    constraints += [Constraint(e, v.interval) for e, v in zip(fed, second.dims, strict=True)]

    shifted_first = tuple(replace(v, index=_carry(v.index, first, second)) for v in first.runtime)
    composed_second = tuple(
        replace(v, index=None if v.index is None else _without_runtime(first, v.index, second)) for v in second.runtime
    )
    names = _unique(
        [v.name for v in first.dims], [v.name for v in (*second.ranges, *first.ranges)],
        [v.name for v in (*composed_second, *shifted_first)],
    )
    return IndexingMap(
        dims=first.dims,
        ranges=tuple(replace(v, name=n) for v, n in zip((*second.ranges, *first.ranges), names[1], strict=True)),
        runtime=tuple(replace(v, name=n) for v, n in zip((*composed_second, *shifted_first), names[2], strict=True)),
        results=tuple(substitute(e, into) for e in second.results),
        constraints=tuple(constraints),
        replica=None,
    )


def _carry(index: IndexingMap | None, first: IndexingMap, second: IndexingMap) -> IndexingMap | None:
    """The index map of a runtime variable of `first`, over the variables of the composition: its range variables move
    behind those of `second`."""
    if index is None or not index.ranges:
        return index
    shift = {f"s{j}": rng(j + len(second.ranges)) for j in range(len(index.ranges))}
    return replace(
        index,
        ranges=(*second.ranges, *first.ranges),
        results=tuple(substitute(e, shift) for e in index.results),
        constraints=tuple(Constraint(substitute(c.expr, shift), c.interval) for c in index.constraints),
    )


def _without_runtime(first: IndexingMap, index: IndexingMap, second: IndexingMap) -> IndexingMap:
    return compose(first, index)


def _unique(*groups: Sequence[str]) -> list[list[str]]:
    """Names made unique across groups; '' (the default name) stays as it is."""
    taken: set[str] = set()
    out: list[list[str]] = []
    for group in groups:
        fresh: list[str] = []
        for name in group:
            candidate, n = name, 0
            while candidate and candidate in taken:
                candidate, n = f"{name}_{n}", n + 1
            if candidate:
                taken.add(candidate)
            fresh.append(candidate)
        out.append(fresh)
    return out
