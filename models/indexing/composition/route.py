"""Maps on their way through a computation, and how two of them are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import ReplicaGroups
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition.providers import without_runtime
from hloproof.models.indexing.composition.tidy import empty, tidied, tidied_providers, used_variables_only
from hloproof.models.indexing.map_set import Kind
from hloproof.models.maps.indexing_map import (
    READER,
    Direction,
    IndexingMap,
    RuntimeVariable,
    compose,
    dim,
    rt,
    used_by_index,
)

OUTPUT_TO_INPUT: Final[Direction] = "output-to-input"
INPUT_TO_OUTPUT: Final[Direction] = "input-to-output"
DIRECTIONS: Final[tuple[Direction, ...]] = (OUTPUT_TO_INPUT, INPUT_TO_OUTPUT)
"""The two directions, as users name them."""

LocalPosition = tuple[str, ShapeIndex]
"""An array of a computation: an instruction's name and a position in its tuple."""

MOST_LOOKUPS: Final = 200
"""Runtime variables of a map, those of their index maps included, beyond which it is given up as unknown."""


@dataclass(frozen=True, slots=True)
class Route:
    """A map, and the group tables of the collectives on its way, one for each step of its replica part."""

    map: IndexingMap
    tables: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteStep:
    """From an array of one instruction to an array of a neighbour, and by which routes.

    Backwards the neighbour's array is the one at `position` of operand `number`; forwards it is the one at `position`
    of the user, and `number` is 0.
    """

    number: int
    position: ShapeIndex
    kind: Kind
    routes: tuple[Route, ...]
    unknown: str = ""


def route_of(m: IndexingMap, tables: tuple[object, ...] = ()) -> Route:
    """The route of a map; one that leads nowhere passes no device, so all empty maps of a rank are one route."""
    return Route(empty(m)) if m.is_trivially_empty else Route(m, tables)


@dataclass(frozen=True)
class Reached:
    """The maps between the start of a walk and one array; `unknown` says why there are none, where that is so."""

    routes: Mapping[Route, Kind]
    unknown: str = ""

    @property
    def kind(self) -> Kind:
        return joint_kind(self.routes.values())

    def different(self) -> tuple[Route, ...]:
        """The different routes; the empty one only when there is no other."""
        found = tuple(self.routes)
        filled = tuple(r for r in found if not r.map.is_trivially_empty)
        return filled or found[:1]


def group_table(op: Operation) -> object:
    """What tells whose groups a collective's positions count in; None for other operations."""
    if op.opcode.startswith("collective-permute"):
        return "device ids"
    groups = op.attributes.get("replica_groups")
    if isinstance(groups, ReplicaGroups) or "channel_id" in op.attributes:
        text = groups.groups if isinstance(groups, ReplicaGroups) else ()
        return text, "channel_id" in op.attributes, op.attributes.flag("use_global_device_ids")
    return ((), False, False) if op.opcode.startswith(("all-", "reduce-scatter", "collective-", "ragged-all")) else None


def joint_kind(kinds: Iterable[Kind]) -> Kind:
    """What several maps, or maps one after the other, promise together."""
    found = set(kinds)
    return "bound" if "bound" in found else "moves" if found <= {"moves"} else "reads"


def better_kind(one: Kind, other: Kind) -> Kind:
    """What an element's map promises that was found twice."""
    return next(kind for kind in ("moves", "reads", "bound") if kind in (one, other))


def join(first: Route, second: Route, direction: Direction) -> Route:
    """`first`, then `second`, tidied. Raises NotModelled where too much is read at run time.

    Two steps through the same group table are one. Where tables differ the replica part keeps both steps, and what the
    device between them reads, its own place in the groups of the second among it, has an index map whose replica part
    are the steps that lead there.
    """
    # Most steps are elementwise: an identity that cuts nothing off need not be composed.
    if not second.tables and is_identity(second.map) and _fits(first.map, second.map):
        return first
    m = compose(first.map, second.map)
    if first.map.is_trivially_empty or second.map.is_trivially_empty:
        return route_of(empty(m))
    _check_lookups(m)
    tables = (*first.tables, *second.tables)
    if tables:
        m, tables = _across(m, first, second, direction)
    return route_of(used_variables_only(tidied_providers(tidied(m))), tables)


def _check_lookups(m: IndexingMap) -> None:
    """Values read at places that other values name, and so on, are followed up to a number. Raises NotModelled."""
    waiting, seen = [m], 0
    while waiting:
        for v in waiting.pop().runtime:
            seen += 1
            if v.index is not None and v.index.runtime:
                waiting.append(v.index)
        if seen > MOST_LOOKUPS:
            raise NotModelled(f"more than {MOST_LOOKUPS} values read at run time, one through the other")


def is_identity(m: IndexingMap) -> bool:
    """(d0, ..., dn) -> (d0, ..., dn) over a box."""
    if m.ranges or m.runtime or m.constraints or m.replica is not None or len(m.results) != len(m.dims):
        return False
    return all(e is dim(i) for i, e in enumerate(m.results))


def _fits(first: IndexingMap, second: IndexingMap) -> bool:
    """Every result of `first` lies in the interval of the dim that it feeds."""
    intervals: dict[str, Interval] | None = None
    for e, v in zip(first.results, second.dims, strict=True):
        if intervals is None:
            intervals = dict(first.intervals())
        if not v.interval.contains(intervals[e.name] if isinstance(e, Var) else range_of(e, intervals)):
            return False
    return True


def _across(
    m: IndexingMap, first: Route, second: Route, direction: Direction
) -> tuple[IndexingMap, tuple[object, ...]]:
    """The composition of routes through collectives: its steps from the reader on, and who reads each runtime value.

    From output to input the reader is at `first`; from input to output it is at `second`, and what `first` reads at run
    time is read by the device that the steps of `second` lead to. Two steps through one group table are one: the second
    position is a position in the reader's own group.
    """
    forward = direction == "output-to-input"
    near, far = (first, second) if forward else (second, first)
    steps = list(m.replica.results) if m.replica is not None else []
    count_first, boundary = len(first.tables), len(second.map.runtime)
    # Composition lists the steps of `first` before those of `second`; a route tells them from the reader on, who is at
    # the other end where the walk goes forwards.
    m = _with_steps(m, steps if forward else steps[count_first:] + steps[:count_first])
    assert m.replica is not None
    ahead = m.replica.results[: len(near.tables)]
    runtime = list(m.runtime)
    for k, v in enumerate(m.runtime):
        if forward and k < boundary and v.provider == READER and v.index is None and ahead:
            runtime[k] = _seen_after(v, m, ahead)
        elif not forward and k < boundary:
            runtime[k] = _seen_without(v, count_first)
        elif not forward and ahead:
            runtime[k] = _seen_after(v, m, ahead)
    m = _with_runtime(m, tuple(runtime))
    tables = (*near.tables, *far.tables)
    if near.tables and far.tables and near.tables[-1] == far.tables[0]:
        return _without_step(m, len(near.tables) - 1), (*near.tables[:-1], *far.tables)
    return m, tables


def _seen_after(v: RuntimeVariable, m: IndexingMap, ahead: tuple[Expr, ...]) -> RuntimeVariable:
    """The runtime variable of a map as it is read by the device that the steps `ahead` lead to; `reader` is then that
    device's own place."""
    index = v.index
    if index is None:
        if v.provider != READER:
            return v
        index = IndexingMap(m.dims, ())
    own = len(index.runtime)
    steps = tuple(substitute(e, {f"rt{k}": rt(k + own) for k in range(len(m.runtime))}) for e in ahead)
    inner = tuple(_seen_after(w, m, ahead) for w in index.runtime)
    further = () if index.replica is None else index.replica.results
    whole = replace(index, ranges=m.ranges, runtime=(*inner, *m.runtime), replica=None)
    return replace(v, index=used_by_index(replace(whole, replica=replace(whole, results=(*steps, *further)))))


def _seen_without(v: RuntimeVariable, count: int) -> RuntimeVariable:
    """The runtime variable as it is read by the reader itself: without the first steps, which are not on its way."""
    index = v.index
    if index is None or not count:
        return v
    steps = () if index.replica is None else index.replica.results[count:]
    whole = replace(index, runtime=tuple(_seen_without(w, count) for w in index.runtime), replica=None)
    return replace(v, index=used_by_index(replace(whole, replica=replace(whole, results=steps) if steps else None)))


def _without_step(m: IndexingMap, at: int) -> IndexingMap:
    """The map without step number `at`, the next being one in the same groups. The reader's place at that next step is
    the position that this one names."""
    assert m.replica is not None
    for k in reversed(range(len(m.runtime))):
        v = m.runtime[k]
        if v.provider == READER and _steps_before(v) == at + 1:
            m = without_runtime(m, k, m.replica.results[at])
            assert m.replica is not None
    m = _with_runtime(m, tuple(_variable_without_step(v, at) for v in m.runtime))
    assert m.replica is not None
    return _with_steps(m, [e for n, e in enumerate(m.replica.results) if n != at])


def _variable_without_step(v: RuntimeVariable, at: int) -> RuntimeVariable:
    index = v.index
    if index is None:
        return v
    for k in reversed(range(len(index.runtime))):
        w = index.runtime[k]
        if w.provider == READER and _steps_before(w) == at + 1:
            assert w.index is not None and w.index.replica is not None
            place = w.index.replica.results[at]
            if any(name.startswith("rt") for name in place.free):
                raise NotModelled("a place in a group that is looked up at a place which is read at run time")
            index = without_runtime(index, k, place)
    index = replace(index, runtime=tuple(_variable_without_step(w, at) for w in index.runtime))
    if index.replica is not None and len(index.replica.results) > at + 1:
        steps = tuple(e for n, e in enumerate(index.replica.results) if n != at)
        index = replace(index, replica=replace(index.replica, results=steps))
    return replace(v, index=used_by_index(index))


def _steps_before(v: RuntimeVariable) -> int:
    """How many steps lead from the reader to the device that reads the variable."""
    return 0 if v.index is None or v.index.replica is None else len(v.index.replica.results)


def _with_steps(m: IndexingMap, steps: list[Expr]) -> IndexingMap:
    return m if m.replica is None else replace(m, replica=replace(m.replica, results=tuple(steps)))


def _with_runtime(m: IndexingMap, runtime: tuple[RuntimeVariable, ...]) -> IndexingMap:
    changed = replace(m, runtime=runtime, replica=None)
    return changed if m.replica is None else replace(changed, replica=replace(changed, results=m.replica.results))
