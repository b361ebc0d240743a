"""Indexing maps: which index of one tensor goes with which indices of another.

`(d0, d1)[s0]{rt0} -> (e0, e1), domain: ...`: dims index the tensor mapped from, range variables stand for all values of
their interval (one to many), a runtime variable is the clamped value of an integer tensor's element at run time. In
expressions the variables are always called d0.., s0.., rt0..; the names that a text used are kept for printing only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import may_name

Direction = Literal["output-to-input", "input-to-output"]
"""Of the maps between an output and an operand."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A dim or range variable: its interval (bounds inclusive) and the name it is printed with ('' for the default)."""

    interval: Interval
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class RuntimeVariable:
    """A value read at run time: element `index(d, s)` of the provider, clamped into `interval`.

    `provider` is `operand(n)` in the maps of one instruction, and `parameter(n)`, `constant(literal)` or the name of an
    instruction in the maps of a module; `sizes(...)` around one of them is the vector of the sizes of its dimensions,
    some of which may be known at run time only. `index` maps the dims and range variables of the owning map to the
    element of the provider; its dims are those of the owning map, its range variables all of them or none, its runtime
    variables its own; where the provider is another device's, its replica part says which. Both are absent where a text
    does not say.
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

    `replica` maps the same variables to the position in the reader's group that holds the element; where several
    collectives are passed, to one position per step, each in the group of the device reached so far.
    """

    dims: tuple[Variable, ...]
    results: tuple[Expr, ...]
    ranges: tuple[Variable, ...] = ()
    runtime: tuple[RuntimeVariable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    replica: IndexingMap | None = None
    _hash: int = field(default=0, init=False, repr=False, compare=False)
    """Kept once it is asked for: composed maps are looked up again and again."""

    def __post_init__(self) -> None:
        known = {name for name, _ in self.variables()}
        for e in (*self.results, *(c.expr for c in self.constraints)):
            if not e.free <= known:
                raise ValueError(f"undeclared variables {sorted(e.free - known)} in an indexing map")

    def __hash__(self) -> int:
        if not self._hash:
            found = hash((self.dims, self.results, self.ranges, self.runtime, self.constraints, self.replica))
            object.__setattr__(self, "_hash", found or 1)
        return self._hash

    def __reduce__(self) -> tuple[type[IndexingMap], tuple[object, ...]]:
        # Without the hash, which is another in every process.
        return IndexingMap, (self.dims, self.results, self.ranges, self.runtime, self.constraints, self.replica)

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
        """Canonical name to printed name: its own, where a text can hold it and no other variable has it."""
        names = {name: v.name or name for name, v in self.variables()}
        while True:
            given = Counter(names.values())
            unfit = [c for c, n in names.items() if n != c and (given[n] > 1 or not may_name(n))]
            if not unfit:
                return names
            names |= {c: c for c in unfit}

    @property
    def is_trivially_empty(self) -> bool:
        """Some interval of the domain is empty, or a constant misses its own. (A domain can be empty without this; only
        a solver sees that.)"""
        boxes = ((*self.dims, *self.ranges), self.runtime)
        return any(v.interval.is_empty for some in boxes for v in some) or any(
            c.interval.is_empty or (isinstance(c.expr, Const) and c.expr.value not in c.interval)
            for c in self.constraints
        )


def provider_called(name: str) -> str:
    """The provider that is the instruction of this name: the name, and `%reader` where it would be taken for the
    reader's own place."""
    return f"%{name}" if name == READER else name


def instruction_of(provider: str) -> str:
    """The name of the instruction that a provider's text stands for, if it stands for one; no instruction has an empty
    name."""
    return "" if provider == READER else provider.removeprefix("%")


def sizes_of(provider: str) -> str:
    """The provider that is the vector of another's sizes."""
    return f"{_SIZES}{provider})"


def array_of_sizes(provider: str) -> str | None:
    """The provider whose sizes this one is; None where it is no vector of sizes."""
    return provider[len(_SIZES) : -1] if provider.startswith(_SIZES) and provider.endswith(")") else None


_SIZES: Final = "sizes("
READER: Final = "reader"
"""The provider of a runtime variable that holds the reader's own place: its position in its group, or its id for
collective-permute, whose pairs name ids. Behind other collectives the reader is the device that the steps of its index
map lead to, and the groups are those of the step that follows."""


def boxed(sizes: Sequence[int]) -> tuple[Variable, ...]:
    """One variable per size, in [0, size - 1]."""
    return tuple(Variable(Interval.of_size(n)) for n in sizes)


def dim(i: int) -> Expr:
    """The dimension variable `d<i>`; i counts from 0."""
    return Var(f"d{i}")


def rng(j: int) -> Expr:
    """The range variable `s<j>`; j counts from 0."""
    return Var(f"s{j}")


def rt(k: int) -> Expr:
    """The runtime variable `rt<k>`; k counts from 0."""
    return Var(f"rt{k}")


def with_devices(m: IndexingMap) -> IndexingMap:
    """The map with the positions of devices as further results: elements and devices are read together. Raises
    NotModelled."""
    if m.replica is None:
        return m
    return replace(m, results=(*m.results, *m.replica.results), constraints=all_constraints(m), replica=None)


def all_constraints(m: IndexingMap) -> tuple[Constraint, ...]:
    """Those of the map and of its steps between devices, whose intervals may be narrower than the map's. Raises
    NotModelled for steps over other variables than those of the map."""
    if m.replica is None:
        return m.constraints
    own = dict(m.intervals())
    if not dict(m.replica.intervals()).keys() <= own.keys():
        raise NotModelled("steps between devices over other variables than those of the map")
    bounds = tuple(Constraint(Var(n), i) for n, i in m.replica.intervals() if not i.contains(own[n]))
    return tuple(dict.fromkeys((*m.constraints, *m.replica.constraints, *bounds)))


def identity(sizes: Sequence[int]) -> IndexingMap:
    """(d0, ..., dn) -> (d0, ..., dn) over a tensor of these sizes."""
    return IndexingMap(boxed(sizes), tuple(dim(i) for i in range(len(sizes))))


def compose(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The map that applies `first` (the consumer's), then `second` (the producer's) to its results.

    Variables: dims of `first`; range variables of `second`, then of `first`; runtime variables likewise. Constraints:
    those of `second` at the results of `first`, those of `first`, and each result of `first` within the interval of the
    dim of `second` that it feeds. What a runtime variable of `second` reads follows the results of `first`; where these
    hold runtime variables themselves, its index map has them too. Names are made unique on clash, with each other and
    with the default names of variables without one. Nothing is simplified.

    The replica part of the composition lists the steps from device to device: the positions that `first` names, in the
    reader's group, then those that `second` names, in the group of the device reached so far.

    Raises ValueError when the number of results of `first` is not the number of dims of `second`.
    """
    if len(first.results) != len(second.dims):
        raise ValueError(f"cannot compose: {len(first.results)} results feed {len(second.dims)} dims")
    shift_s, shift_rt = len(second.ranges), len(second.runtime)
    moved = {f"s{j}": rng(j + shift_s) for j in range(len(first.ranges))} if shift_s else {}
    if shift_rt:
        moved |= {f"rt{k}": rt(k + shift_rt) for k in range(len(first.runtime))}
    fed = tuple(substitute(e, moved) for e in first.results)
    into = {f"d{i}": e for i, e in enumerate(fed)}

    constraints = [Constraint(substitute(c.expr, into), c.interval) for c in second.constraints]
    constraints += [Constraint(substitute(c.expr, moved), c.interval) for c in first.constraints]
    constraints += [Constraint(e, v.interval) for e, v in zip(fed, second.dims, strict=True)]

    ranges: tuple[Variable, ...] = (*second.ranges, *first.ranges)
    composed_second = tuple(_after(first, v, second.ranges) for v in second.runtime)
    carried = tuple(_carried(v, second.ranges, first.ranges) for v in first.runtime)
    runtime: tuple[RuntimeVariable, ...] = (*composed_second, *carried)
    dims, ranges, runtime = _unique(first.dims, ranges, runtime)
    composed = IndexingMap(
        dims=dims,
        ranges=ranges,
        runtime=runtime,
        results=tuple(substitute(e, into) for e in second.results),
        constraints=tuple(constraints),
    )
    if first.replica is None and second.replica is None:
        return composed
    steps: list[Expr] = []
    if first.replica is not None:
        steps += [substitute(e, moved) for e in first.replica.results]
    if second.replica is not None:
        steps += [substitute(e, into) for e in second.replica.results]
    return replace(composed, replica=replace(composed, results=tuple(steps)))


def _carried(v: RuntimeVariable, before: tuple[Variable, ...], own: tuple[Variable, ...]) -> RuntimeVariable:
    """A runtime variable of the consumer in the composition: its index map's range variables move behind `before`."""
    if v.index is None or not before or not v.index.ranges:
        return v
    shift = {f"s{j}": rng(j + len(before)) for j in range(len(own))}
    index = IndexingMap(
        v.index.dims,
        tuple(substitute(e, shift) for e in v.index.results),
        (*before, *own),
        tuple(_carried(inner, before, own) for inner in v.index.runtime),
        tuple(Constraint(substitute(c.expr, shift), c.interval) for c in v.index.constraints),
    )
    if v.index.replica is not None:
        steps = tuple(substitute(e, shift) for e in v.index.replica.results)
        index = replace(index, replica=replace(index, results=steps))
    return replace(v, index=index)


def _after(first: IndexingMap, v: RuntimeVariable, ranges: tuple[Variable, ...]) -> RuntimeVariable:
    """A runtime variable of the producer in the composition: it reads where the consumer's results lead.

    `ranges` are the producer's range variables. The new index map has all range variables of the composition when it
    uses one, else none, and the runtime variables that it uses.
    """
    if v.index is None:
        return v
    index = v.index
    own = len(index.runtime)
    moved = {f"s{j}": rng(j + len(ranges)) for j in range(len(first.ranges))}
    moved |= {f"rt{k}": rt(k + own) for k in range(len(first.runtime))}
    into = {f"d{i}": substitute(e, moved) for i, e in enumerate(first.results)}
    results = tuple(substitute(e, into) for e in index.results)
    constraints = [Constraint(substitute(c.expr, into), c.interval) for c in index.constraints]
    constraints += [Constraint(substitute(c.expr, moved), c.interval) for c in first.constraints]
    constraints += [Constraint(into[f"d{i}"], d.interval) for i, d in enumerate(index.dims)]
    runtime = [_after(first, inner, ranges) for inner in index.runtime]
    runtime += [_carried(outer, ranges, first.ranges) for outer in first.runtime]
    carried = IndexingMap(first.dims, results, (*ranges, *first.ranges), tuple(runtime), tuple(constraints))
    if first.replica is not None or index.replica is not None:
        # The provider is read on the device that holds the element, not on the reader.
        steps = [] if first.replica is None else [substitute(e, moved) for e in first.replica.results]
        steps += [] if index.replica is None else [substitute(e, into) for e in index.replica.results]
        carried = replace(carried, replica=replace(carried, results=tuple(steps)))
    return replace(v, index=used_by_index(carried))


def used_by_index(m: IndexingMap) -> IndexingMap:
    """An index map without runtime variables that its results do not use, and without range variables when it, and the
    index maps of its runtime variables, use none.

    Constraints on runtime variables that go, go too: where an index map is asked is for the owning map to say.
    """
    needed = frozenset[str]().union(*(e.free for e in m.results))
    if m.replica is not None:
        needed = needed.union(*(e.free for e in m.replica.results))
    kept = [k for k in range(len(m.runtime)) if f"rt{k}" in needed]
    dropped = {f"rt{k}" for k in range(len(m.runtime))}.difference(f"rt{k}" for k in kept)
    constraints = tuple(c for c in m.constraints if c.expr.free.isdisjoint(dropped))
    used = needed.union(*(c.expr.free for c in constraints))
    renumbered = {f"rt{k}": rt(new) for new, k in enumerate(kept) if new != k}
    runtime = tuple(m.runtime[k] for k in kept)
    ranges_used = any(name.startswith("s") for name in used) or any(
        v.index is not None and v.index.ranges for v in runtime
    )
    out = IndexingMap(
        m.dims,
        tuple(substitute(e, renumbered) for e in m.results),
        m.ranges if ranges_used else (),
        runtime,
        tuple(Constraint(substitute(c.expr, renumbered), c.interval) for c in constraints),
    )
    if m.replica is None:
        return out
    return replace(out, replica=replace(out, results=tuple(substitute(e, renumbered) for e in m.replica.results)))


def _unique(
    dims: tuple[Variable, ...], ranges: tuple[Variable, ...], runtime: tuple[RuntimeVariable, ...]
) -> tuple[tuple[Variable, ...], tuple[Variable, ...], tuple[RuntimeVariable, ...]]:
    """Variables with names made unique, by the least number from 0 that makes one new; '' (the default name) stays."""
    taken = {default for default, v in IndexingMap(dims, (), ranges, runtime).variables() if not v.name}

    def fresh(name: str) -> str:
        candidate, n = name, 0
        while candidate in taken:
            candidate, n = f"{name}_{n}", n + 1
        taken.add(candidate)
        return candidate

    return (
        tuple(replace(v, name=fresh(v.name)) if v.name else v for v in dims),
        tuple(replace(v, name=fresh(v.name)) if v.name else v for v in ranges),
        tuple(replace(v, name=fresh(v.name)) if v.name else v for v in runtime),
    )
