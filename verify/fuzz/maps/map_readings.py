"""A naive reading of indexing maps: every combination of values, every expression by its definition.

The generators that interpreter/maps.py writes are compared with it: points, their multiplicities, positions in
the group, what is read at run time and when. Maps with runtime variables are made from maps without: range variables
become values that tensors hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

from hloproof.fuzz.target import Failure
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import Index
from hloproof.models.interpreter import maps as written
from hloproof.models.interpreter.value import Array
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, rt

Read = Callable[[int, Index, Index], int]

MOST_POINTS: Final = 120
"""Larger boxes are not read naively."""


def values_of(interval: Interval) -> list[int]:
    out = [interval.lower]
    while out[-1] < interval.upper:
        out.append(out[-1] + 1)
    return out if interval.lower <= interval.upper else []


def box(m: IndexingMap) -> int:
    """Points of the box of dims and range variables."""
    size = 1
    for v in (*m.dims, *m.ranges):
        size *= len(values_of(v.interval))
    return size


def naive_points(m: IndexingMap, read: Read | None = None) -> Iterator[tuple[Index, Index, Index, Index]]:
    """Dims, range values, results and positions at every point of the domain."""
    for dims in product(*(values_of(v.interval) for v in m.dims)):
        for ranges in product(*(values_of(v.interval) for v in m.ranges)):
            at = {f"d{k}": v for k, v in enumerate(dims)} | {f"s{k}": v for k, v in enumerate(ranges)}
            for k, r in enumerate(m.runtime):
                assert read is not None
                at[f"rt{k}"] = sorted((r.interval.lower, read(k, dims, ranges), r.interval.upper))[1]
            if all(c.interval.lower <= evaluate(c.expr, at) <= c.interval.upper for c in m.constraints):
                replica = m.replica.results if m.replica is not None else ()
                yield dims, ranges, _all(m.results, at), _all(replica, at)


def _all(expressions: tuple[Expr, ...], at: Mapping[str, int]) -> Index:
    return tuple(evaluate(e, at) for e in expressions)


def check_points(m: IndexingMap) -> None:
    """Raises Failure where the written generators differ from the naive reading."""
    if box(m) > MOST_POINTS:
        return
    try:
        list(naive_points(m))
    except UndefinedValue:
        _same("answer where a divisor is 0", _raised(lambda: written.relation(m)), UndefinedValue)
        return
    _compare(m, None)
    _compare(replace(m, replica=replace(m, results=(*m.results, Const(1) + Const(2)))), None)
    _outside(m)
    for nested in (False, True):
        made = at_run_time(m, nested)
        if made is None:
            continue
        try:
            list(naive_points(made[0], _naive_reader(*made)))
        except UndefinedValue:
            continue  # which divisor is met depends on the order of the constraints
        _compare_read(*made)


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Failure(f"maps: another {what}", f"{found}, point by point {expected}")


def _compare(m: IndexingMap, read: Read | None) -> None:
    expected = list(naive_points(m, read))
    _same("relation", written.relation(m, read), Counter((d, r) for d, _, r, _ in expected))
    _same(
        "relation with positions",
        written.relation_with_positions(m, read),
        Counter((d, r, p) for d, _, r, p in expected),
    )
    _same("number of points", written.count_points(m, read), len(expected))
    for dims in product(*(values_of(v.interval) for v in m.dims)):
        _same("order of points", list(written.points(m, dims, read)), [p[1:] for p in expected if p[0] == dims])


def _outside(m: IndexingMap) -> None:
    """No point where a dim leaves its interval; an error where a divisor is 0."""
    inside = [v.interval.lower for v in m.dims]
    for k, v in enumerate(m.dims):
        for wrong in (v.interval.lower - 1, v.interval.upper + 1):
            dims = (*inside[:k], wrong, *inside[k + 1 :])
            _same("answer outside of the dims", list(written.points(m, dims)), [])
    for op in ("floordiv", "ceildiv", "mod"):
        broken = replace(m, results=(Binary(op, Const(3), Const(0)),))
        points = [p[0] for p in naive_points(m)]
        if points:
            _same("answer on a division by zero", _raised(partial(written.relation, broken)), UndefinedValue)


def _raised(run: Callable[[], Any]) -> type[BaseException] | None:
    try:
        run()
    except Exception as error:
        return type(error)
    return None


def at_run_time(m: IndexingMap, nested: bool) -> tuple[IndexingMap, dict[str, Array]] | None:
    """The map with its last range variables (at most two) read from tensors, and the tensors. With `nested` the place
    in the tensor is itself read from another. None where there is no range variable, or an empty interval."""
    count = min(2, len(m.ranges))
    if not count or any(v.interval.is_empty for v in (*m.dims, *m.ranges)):
        return None
    kept = m.ranges[: len(m.ranges) - count]
    moved = {f"s{len(kept) + k}": rt(k) for k in range(count)}
    index_vars = {f"d{k}": v.interval for k, v in enumerate(m.dims)}
    index_vars |= {f"s{k}": v.interval for k, v in enumerate(kept)}
    tensors: dict[str, Array] = {}
    runtime: list[RuntimeVariable] = []
    for k in range(count):
        interval = m.ranges[len(kept) + k].interval
        # The first one asks at the dims alone, the second at the range variables as well.
        names = [n for n in index_vars if k or n.startswith("d")]
        sizes = tuple(len(values_of(index_vars[n])) for n in names)
        place = tuple(Var(n) + Const(-index_vars[n].lower) for n in names)
        index = IndexingMap(m.dims, place, kept if k else ())
        if nested:
            tensors[f"where{k}"] = _table(sizes, 3, k)
            inner = RuntimeVariable(Interval(0, 2), "", f"where{k}", index)
            index = replace(index, results=(rt(0),), runtime=(inner,))
            sizes = (3,)
        tensors[f"held{k}"] = _table(sizes, interval.upper + 3, k + 1)
        runtime.append(RuntimeVariable(interval, "", f"held{k}", index))
    return IndexingMap(
        m.dims,
        tuple(substitute(e, moved) for e in m.results),
        kept,
        tuple(runtime),
        tuple(Constraint(substitute(c.expr, moved), c.interval) for c in m.constraints),
    ), tensors


def _table(sizes: Index, most: int, seed: int) -> Array:
    """Numbers from -2 up to `most`, scattered."""
    count = 1
    for n in sizes:
        count *= n
    return Array("s32", sizes, [(7 * n + 5 * seed) % (most + 3) - 2 for n in range(count)])


def _element(x: Array, index: Index) -> int:
    """By counting through the indices in row-major order."""
    return int(x.data[list(product(*(range(n) for n in x.sizes))).index(index)])


def _naive_reader(m: IndexingMap, tensors: Mapping[str, Array]) -> Read:
    tables: list[dict[tuple[Index, Index], int]] = []
    for r in m.runtime:
        assert r.index is not None and r.provider is not None
        inner, x = _naive_reader(r.index, tensors), tensors[r.provider]
        tables.append({(d, s): _element(x, results) for d, s, results, _ in naive_points(r.index, inner)})

    def read(k: int, dims: Index, ranges: Index) -> int:
        index = m.runtime[k].index
        return tables[k][dims, ranges if index is not None and index.ranges else ()]

    return read


def _compare_read(m: IndexingMap, tensors: dict[str, Array]) -> None:
    naive = _naive_reader(m, tensors)
    _compare(m, naive)
    read = written.reader(m, tensors)
    for dims in product(*(values_of(v.interval) for v in m.dims)):
        for ranges in product(*(values_of(v.interval) for v in m.ranges)):
            for k in range(len(m.runtime)):
                _same("value read at run time", read(k, dims, ranges), naive(k, dims, ranges))
    _same("relation with values read", written.relation(m, read), written.relation(m, naive))
    _only_where_needed(m, naive)
    if list(naive_points(m, naive)):
        _same("answer where nothing reads", _raised(lambda: written.relation(m)), LookupError)
    dims, ranges = (tuple(v.interval.lower for v in group) for group in (m.dims, m.ranges))
    for what, broken in _broken(m, tensors):
        _same(f"answer where {what}", _raised(partial(written.reader(broken, tensors), 0, dims, ranges)), LookupError)


def _broken(m: IndexingMap, tensors: Mapping[str, Array]) -> Iterator[tuple[str, IndexingMap]]:
    """The map with something that the first runtime variable cannot read."""
    first = m.runtime[0]
    index = first.index
    assert index is not None

    def with_first(r: RuntimeVariable) -> IndexingMap:
        return replace(m, runtime=(r, *m.runtime[1:]))

    yield "there is no provider", with_first(replace(first, provider=None))
    yield "the provider is not given", with_first(replace(first, provider="nobody"))
    yield "no index is said", with_first(replace(first, index=None))
    never = Constraint(Const(0), Interval(1, 1))
    yield "the index has no point", with_first(replace(first, index=replace(index, constraints=(never,))))
    for k, e in enumerate(index.results):
        # At the lowest dims the index is 0, or what another tensor says, less than the size.
        for far in (-1000, tensors[first.provider or ""].sizes[k]):
            moved = (*index.results[:k], e + Const(far), *index.results[k + 1 :])
            yield "the index is outside", with_first(replace(first, index=replace(index, results=moved)))


def _only_where_needed(m: IndexingMap, naive: Read) -> None:
    """Nothing is read where what is known already leaves the domain; later variables are known first."""

    def asked(k: int, dims: Index, ranges: Index) -> int:
        at = {f"d{i}": v for i, v in enumerate(dims)} | {f"s{i}": v for i, v in enumerate(ranges)}
        for j in range(k + 1, len(m.runtime)):
            r = m.runtime[j]
            at[f"rt{j}"] = sorted((r.interval.lower, naive(j, dims, ranges), r.interval.upper))[1]
        for c in m.constraints:
            if c.expr.free <= set(at) and evaluate(c.expr, at) not in c.interval:
                raise Failure("maps: a value is read outside of the domain", f"rt{k} at {dims}, {ranges}")
        return naive(k, dims, ranges)

    written.relation(m, asked)
