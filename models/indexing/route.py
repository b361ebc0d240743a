"""Maps on their way through a computation, and how two of them are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from models.bounds import range_of
from models.errors import NotModelled
from models.expr import Expr, Var
from models.hlo.attributes import ReplicaGroups
from models.hlo.module import Operation
from models.indexing.collective import READER
from models.indexing.map_set import Kind
from models.indexing.providers import without_runtime
from models.indexing.tidy import tidied, tidied_providers, used_variables_only
from models.indexing_map import IndexingMap, compose, dim
from models.interval import Interval

Direction = Literal["output-to-input", "input-to-output"]

MOST_LOOKUPS: Final = 200
"""Runtime variables of a map, those of their index maps included, beyond which it is given up as unknown."""


@dataclass(frozen=True, slots=True)
class Route:
    """A map, and the group tables of the collectives on its way, one for each step of its replica part."""

    map: IndexingMap
    tables: tuple[object, ...] = ()


@dataclass(frozen=True)
class Reached:
    """The maps between the start of a walk and one array; `unknown` says why there are none, where that is so."""

    routes: Mapping[Route, Kind]
    unknown: str = ""

    @property
    def kind(self) -> Kind:
        return joint_kind(self.routes.values())

    def maps(self) -> tuple[IndexingMap, ...]:
        """The different maps; the empty one only when there is no other."""
        found = tuple(dict.fromkeys(r.map for r in self.routes))
        filled = tuple(m for m in found if not m.is_trivially_empty)
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


def join(first: Route, second: Route, direction: Direction) -> Route:
    """`first`, then `second`, tidied. Raises NotModelled for collectives whose tables cannot be joined exactly.

    Two steps through the same group table are one: the second position is a position in the reader's own group. Where
    tables differ the replica part keeps both steps.
    """
    if not second.tables and is_identity(second.map) and _fits(first.map, second.map):
        return first
    m = compose(first.map, second.map)
    _check_lookups(m)
    tables = (*first.tables, *second.tables)
    if tables:
        m, tables = _across(m, first, second, direction)
    return Route(used_variables_only(tidied_providers(tidied(m))), tables)


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
    """The composition of routes through collectives, with the place of a middle reader put in.

    From output to input the reader starts at `first`; from input to output it ends at `second`.
    """
    near, far = (first, second) if direction == "output-to-input" else (second, first)
    forward = direction == "output-to-input"
    steps = list(m.replica.results) if m.replica is not None else []
    count_first = len(first.tables)
    ordered = steps if forward else steps[count_first:] + steps[:count_first]
    tables = (*near.tables, *far.tables)
    if not forward and near.tables and any(v.provider != READER for v in first.map.runtime):
        raise NotModelled("runtime values of another device, followed from input to output")
    m = _with_steps(m, ordered)
    far_readers = [
        k for k, v in enumerate(m.runtime)
        if v.provider == READER and (k < len(second.map.runtime)) == forward
    ]
    if near.tables and far.tables:
        same = near.tables[-1] == far.tables[0]
        if far_readers and not same:
            raise NotModelled("a collective behind another over different groups, whose elements depend on the reader")
        at = len(near.tables) - 1
        for k in reversed(far_readers):
            assert m.replica is not None
            m = without_runtime(m, k, m.replica.results[at])
        if same:
            assert m.replica is not None
            left = [e for n, e in enumerate(m.replica.results) if n != at]
            return _with_steps(m, left), (*near.tables[:-1], *far.tables)
    return m, tables


def _with_steps(m: IndexingMap, steps: list[Expr]) -> IndexingMap:
    return m if m.replica is None else replace(m, replica=replace(m.replica, results=tuple(steps)))
