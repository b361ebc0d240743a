"""Where what a map reads at run time has a value: the law of definedness, for runtime variables.

The element that a runtime variable reads is said by a map of its own, and where that map has no point nothing is read.
So the own domain must hold wherever the variable is asked: at every point of the intervals that meets the constraints
which are known to have a value. These are the ones over variables that always have one; the readings that name no other
reading come first, and what they are constrained to is known for those behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from hloproof.claims.maps.defined import by_definedness, constraint_formulas, open_divisors
from hloproof.claims.maps.equality import labelled
from hloproof.claims.maps.shared_readings import Readings
from hloproof.claims.statements.held_values import ShapeOf
from hloproof.claims.statements.possible_contents import some_contents_give
from hloproof.claims.statements.statement import Part, Point
from hloproof.engines.door import Prove
from hloproof.logic.formula import FALSE, Formula, conj, ne, replace_variables, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    IndexingMap,
    RuntimeVariable,
    array_of_sizes,
    with_devices,
)


def owed_values(m: IndexingMap) -> Iterator[Part]:
    """All that a map owes to have values: no divisor is zero where it is asked, and every reading is one. Raises
    NotModelled."""
    yield from owed_divisors(m)
    yield from owed_readings(m)


def owed_divisors(m: IndexingMap) -> Iterator[Part]:
    """That no divisor of the map is zero where it is asked; nothing for a map whose divisors are all numbers. A
    counterexample is told as `d is 0 at ...`. Raises NotModelled where the map asks for what is read over other
    variables than its own."""
    whole = labelled(with_devices(m))
    total, others = by_definedness(whole)
    divisors = open_divisors((*(c.expr for c in others), *whole.results))
    if divisors:
        yield from _Divisors(m, whole).owed(divisors, total, others)
    for v in m.runtime:
        if v.index is not None:
            yield from owed_divisors(v.index)


class _Divisors:
    """The divisors of one map, over its dims and range variables and what is read."""

    def __init__(self, m: IndexingMap, whole: IndexingMap) -> None:
        self._map, asked = m, _asked(whole)
        single: dict[str, Expr] = {n: Var(n) for n, _ in whole.intervals() if not n.startswith("rt")}
        readings = Readings()
        read = [(k, v, readings.name_of(v, single)) for k, v in enumerate(whole.runtime) if f"rt{k}" in asked]
        hulls = dict(readings.hulls())
        self._values = {f"rt{k}": readings.clamped(name, v.interval, hulls[name]) for k, v, name in read}
        self._variables = (*((n, i) for n, i in whole.intervals() if n in single), *hulls.items())
        self._known = (*readings.meetings(), *(FALSE for v in whole.runtime if v.interval.is_empty))

    def owed(
        self, divisors: Sequence[Expr], total: Sequence[Constraint], others: Sequence[Constraint]
    ) -> Iterator[Part]:
        """Each one, where those before it are not zero: first of the constraints that divide, and behind them of the
        results, where all constraints hold."""
        given = [within(c.expr, c.interval) for c in total]
        inside = set(open_divisors([c.expr for c in others]))
        held = [within(c.expr, c.interval) for c in others]
        for d in divisors:
            if d not in inside:
                given, held = [*given, *held], []
            known = conj(*self._known, *(replace_variables(f, self._values) for f in given))
            goal = replace_variables(ne(d, 0), self._values)
            obligation = Obligation(self._variables, goal, known, "the divisor is not zero")
            yield Part(obligation, partial(self._told, d), possible=self._possible)
            given.append(ne(d, 0))

    def _point(self, model: Point) -> Point:
        """What the map's own variables are."""
        own = {n: v for n, v in model.items() if n in dict(self._map.intervals())}
        return own | {n: evaluate(e, model) for n, e in self._values.items()}

    def _possible(self, model: Point) -> bool:
        return some_contents_give(self._map, self._point(model))

    def _told(self, d: Expr, model: Point) -> str:
        names = self._map.display_names()
        at = ", ".join(f"{names.get(n, n)} = {v}" for n, v in self._point(model).items()) or "every point"
        return f"division by zero possible: {to_text(d, names)} is 0 at {at}"


def owed_readings(m: IndexingMap) -> Iterator[Part]:
    """That every runtime variable reads an element wherever it is asked; nothing where each one's own map spans the box
    of the map. A counterexample is told as `rt0 reads nothing at ...`. Raises NotModelled where the own map, or the
    steps between devices, have other variables than the map."""
    m = labelled(with_devices(m))
    asked = _asked(m)
    for k, v in enumerate(m.runtime):
        if f"rt{k}" in asked:
            _require_own_variables(m, v)
    partial_ones = [k for k, v in enumerate(m.runtime) if f"rt{k}" in asked and not _reads_everywhere(m, v)]
    if not partial_ones:
        return
    readings = Readings()
    single: dict[str, Expr] = {n: Var(n) for n, _ in m.intervals() if not n.startswith("rt")}
    values: dict[str, Expr] = {}
    for k, v in enumerate(m.runtime):
        values[f"rt{k}"] = readings.value(v, single)
    open_names = {f"rt{k}" for k in partial_ones}
    given = [replace_variables(f, values) for f in _over(m, open_names)]
    for k in sorted(partial_ones, key=lambda k: _depth(m.runtime[k])):
        for demand in _demands(m.runtime[k], single, readings):
            variables: list[tuple[str, Interval | None]] = [(n, i) for n, i in m.intervals() if n in single]
            variables += [(n, None) for n, _ in readings.hulls()]
            if readings.elsewhere:
                raise NotModelled("whether what is read at run time on other devices has a value")
            known = conj(*given, *readings.meetings())
            told = partial(_told, m, f"rt{k}")
            yield Part(Obligation(tuple(variables), demand, known, "the reading has a value"), told)
            given.append(demand)
        open_names.discard(f"rt{k}")
        given += [replace_variables(f, values) for f in _over(m, open_names)]


def require_elements(
    maps: Iterable[IndexingMap], known: Collection[RuntimeVariable], shape_of: ShapeOf, ask: Prove
) -> None:
    """Raises NotModelled where an element that a map reads is not shown to be one of its array, but for readings that
    are `known` to be."""
    scalars = {v.provider for v in known if v.index is not None and not v.index.results}
    for m in maps:
        domain = labelled(with_devices(m))
        for v in m.runtime:
            if v in known or v.provider in (None, READER):
                continue
            index = () if v.index is None else v.index.results
            if v.provider in scalars and not index:
                continue
            sized = array_of_sizes(v.provider or "")
            shape = shape_of((v.provider or "") if sized is None else sized)
            told = f"whether {v.provider} has the element that is read"
            if not isinstance(shape, ArrayShape) or (v.index is not None and v.index.runtime):
                raise NotModelled(told)
            sizes = shape.dimensions if sized is None else (shape.rank,)
            if len(index) != len(sizes):
                raise NotModelled(told)
            goal = conj(*(within(e, Interval.of_size(n)) for e, n in zip(index, sizes, strict=True)))
            given = conj(*constraint_formulas(domain))
            owed = Obligation(tuple(domain.intervals()), goal, given, "the element is one of its array")
            if ask(owed).verdict != "proved":
                raise NotModelled(told)


def _asked(m: IndexingMap) -> frozenset[str]:
    """The variables that results and constraints name."""
    return frozenset[str]().union(*(e.free for e in m.results), *(c.expr.free for c in m.constraints))


def _over(m: IndexingMap, open_names: set[str]) -> Sequence[Formula]:
    """The constraints that name none of these variables."""
    known = tuple(c for c in m.constraints if c.expr.free.isdisjoint(open_names))
    return constraint_formulas(IndexingMap(m.dims, (), m.ranges, m.runtime, known))


def _reads_everywhere(m: IndexingMap, v: RuntimeVariable) -> bool:
    """The variable's own map has the box of the map for its domain, and so have the maps of what it reads by."""
    if v.index is None:
        return True
    index = with_devices(v.index)
    if index.constraints:
        return False
    own = dict(m.intervals())
    for name, box in index.intervals():
        if box.is_empty or not (name.startswith("rt") or box.contains(own[name])):
            return False
    asked = _asked(index)
    return all(f"rt{k}" not in asked or _reads_everywhere(m, r) for k, r in enumerate(index.runtime))


def _require_own_variables(m: IndexingMap, v: RuntimeVariable) -> None:
    """For the variable's own map, and for those of what it reads by. Raises NotModelled."""
    index = v.index
    if index is None:
        return
    if len(index.dims) != len(m.dims) or len(index.ranges) not in (0, len(m.ranges)):
        raise NotModelled("a runtime variable whose own map has other dims or range variables than the map")
    asked = _asked(with_devices(index))
    for k, inner in enumerate(index.runtime):
        if f"rt{k}" in asked:
            _require_own_variables(m, inner)


def _demands(v: RuntimeVariable, single: Mapping[str, Expr], readings: Readings) -> Iterator[Formula]:
    """What holds where the variable reads an element, each thing where those before it do: first of what it reads by,
    as far as anything asks for it, then its own domain."""
    if v.index is None:
        return
    index = with_devices(v.index)
    values, asked = dict(single), _asked(index)
    for k, inner in enumerate(index.runtime):
        if f"rt{k}" in asked:
            yield from _demands(inner, single, readings)
        values[f"rt{k}"] = readings.value(inner, single)
    for name, interval in index.intervals():
        if interval.is_empty:
            yield FALSE
        elif not name.startswith("rt"):  # a value that is read is cut to its interval
            yield within(values[name], interval)
    for f in constraint_formulas(index):
        yield replace_variables(f, values)


def _depth(v: RuntimeVariable) -> int:
    return 0 if v.index is None else 1 + max((_depth(r) for r in v.index.runtime), default=0)


def _told(m: IndexingMap, variable: str, point: Point) -> str:
    names = m.display_names()
    at = ", ".join(f"{names.get(n, n)} = {v}" for n, v in point.items() if n in names) or "every point"
    return f"{names[variable]} reads nothing at {at}, outside of the domain of its own map"
