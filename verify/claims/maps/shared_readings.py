"""Several maps over the same dims, with the runtime variables that they share under one name.

Two runtime variables hold the same value where they read the same element of the same provider, each then clamped into
its own interval. What is read is a value of the pair (dims d0.., results y0..): where its element follows from a range
variable, the range variable must follow from the pair. A map with a runtime variable for which it does not is called
shifting: at one pair it reads several elements. To tell maps apart any contents of the providers will do, and contents
that are the same everywhere make every variable a single value again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.claims.maps.defined import open_divisors
from hloproof.claims.statements.elimination import Membership
from hloproof.claims.statements.one_value import one_value
from hloproof.claims.statements.relation import Piece, piece_of
from hloproof.logic.formula import Formula, disj, eq, ne
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Expr, Var, maximum, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import READER, Direction, IndexingMap, RuntimeVariable, with_devices

UNNAMED: Final = ";"
"""How the provider of a variable that names none begins, where one has to stand; its place in the list follows. No text
names a provider so, since it ends at a semicolon."""


@dataclass(frozen=True)
class SharedReading:
    """Element `index` of a provider, over the dims, the results and other readings; `steps` lead to the device that
    holds it."""

    provider: str
    index: tuple[Expr, ...]
    steps: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class OpenReading:
    """What a shifting map reads: the variable that stands for it, the provider, and the element over the dims and the
    range variables of the map's piece."""

    name: str
    provider: str
    index: tuple[Expr, ...]
    interval: Interval


@dataclass(frozen=True)
class SharedMaps:
    """The maps as pieces over d0.., the values read under the names in `runtime`."""

    pieces: tuple[Piece, ...]
    runtime: tuple[tuple[str, Interval], ...]
    hypotheses: tuple[Formula, ...]
    """Readings of one provider that meet at an element hold one value; over the dims, the results y0.. and readings."""
    shifting: Mapping[int, tuple[OpenReading, ...]]
    """Maps that read several elements at one pair, and what each reads; nothing where that cannot be written so."""
    elsewhere: frozenset[int]
    """Maps with values of other devices, or with what is read by way of one: where two such readings meet is not
    followed."""
    readings: tuple[tuple[str, SharedReading], ...] = ()
    """What the names in `runtime` are."""

    def told(self, values: Mapping[str, int], names: Mapping[str, str]) -> dict[str, str]:
        """How each reading is spelled at a point."""
        return spelled(self.readings, values, names)


def shared(
    maps: Sequence[IndexingMap], direction: Direction = "output-to-input", same_everywhere: bool = False
) -> SharedMaps:
    """The maps side by side. Steps between devices count as further results.

    With `same_everywhere` each provider holds one value in all its elements: a difference then is a difference, an
    equality says nothing. Not for maps that `reads_other_places`.
    """
    names = Readings()
    shifting: dict[int, tuple[OpenReading, ...]] = {}
    elsewhere = set[int]()
    made: list[tuple[Piece, list[tuple[str, Interval]]]] = []
    for n, m in enumerate(maps):
        piece = _flat_piece(m, n, direction)
        single = _places(piece, Var)
        open_readings: list[OpenReading] = []
        own: list[tuple[str, Interval]] = []
        for k, v in enumerate(m.runtime):
            # With one value everywhere it does not matter which element is read.
            reading = SharedReading(v.provider or "", ()) if same_everywhere else names.reading(v, single)
            # The pair does not say which element is read: the map is shifting, and its variable must not be taken for
            # one value.
            if reading is None:
                name = f"u{n}_{k}"
                own.append((name, v.interval))
                open_readings += _open_reading(name, v, piece)
                shifting[n] = ()
                continue
            if not same_everywhere and _from_elsewhere(v):
                elsewhere.add(n)
            own.append((names.name(reading, v.interval), v.interval))
        # All of them can be written, or none is used: a map of which one reading is left out would say less than it
        # does.
        if n in shifting and len(open_readings) == sum(name.startswith("u") for name, _ in own):
            shifting[n] = tuple(open_readings)
        made.append((piece, own))
    runtime = names.hulls()
    pieces = tuple(_named(piece, own, dict(runtime)) for piece, own in made)
    readings = tuple((name, reading) for reading, name in names.names.items())
    return SharedMaps(pieces, runtime, names.meetings(), shifting, frozenset(elsewhere), readings)


def _from_elsewhere(v: RuntimeVariable) -> bool:
    """What is read, or what says which element is read, lies on a device that steps lead to."""
    return v.index is not None and (v.index.replica is not None or any(map(_from_elsewhere, v.index.runtime)))


def reads_other_places(m: IndexingMap) -> bool:
    """Whether a map reads the place of another device: which it is follows from the device, so that the places may
    not be thought of as one value."""
    return any(v.provider == READER and _from_elsewhere(v) for v in m.runtime)


def _flat_piece(m: IndexingMap, n: int, direction: Direction) -> Piece:
    return piece_of(with_devices(m), n, direction, [(f"v{k}", v.interval) for k, v in enumerate(m.runtime)], f"_{n}")


def _places(piece: Piece, variable: type[Var]) -> dict[str, Expr]:
    """The map's own variables as terms over the pair: its dims, and those range variables that follow from the pair."""
    targets = [variable(f"y{j}") for j in range(len(piece.results))]
    values = {name for name, _ in piece.runtime}
    found = {name: e for name, e in piece.determined(targets).items() if e.free.isdisjoint(values)}
    into: dict[str, Expr] = {f"d{i}": variable(name) for i, (name, _) in enumerate(piece.source)}
    return into | {f"s{j}": found[name] for j, (name, _) in enumerate(piece.ranges) if name in found}


def _open_reading(name: str, v: RuntimeVariable, piece: Piece) -> list[OpenReading]:
    if v.index is None or v.index.runtime or v.index.replica is not None:
        return []
    into: dict[str, Expr] = {f"d{i}": Var(own) for i, (own, _) in enumerate(piece.source)}
    into |= {f"s{j}": Var(own) for j, (own, _) in enumerate(piece.ranges)}
    index = tuple(substitute(e, into) for e in v.index.results)
    return [OpenReading(name, v.provider or "", index, v.interval)]


class Readings:
    """Readings by name, each with the intervals that it is clamped into."""

    def __init__(self) -> None:
        self.names: dict[SharedReading, str] = {}
        self.intervals: dict[str, list[Interval]] = {}

    def reading(self, v: RuntimeVariable, single: Mapping[str, Expr]) -> SharedReading | None:
        """What a runtime variable reads at a pair; None where that is not one element."""
        if v.index is None:
            return SharedReading(v.provider or "", ())
        into = dict(single)
        for k, inner in enumerate(v.index.runtime):
            found = self.reading(inner, single)
            if found is None:
                return None
            into[f"rt{k}"] = self._cut(found, inner.interval)
        parts = v.index.results if v.index.replica is None else (*v.index.results, *v.index.replica.results)
        if any(not e.free <= into.keys() for e in parts):
            return None
        index = tuple(substitute(e, into) for e in v.index.results)
        steps = () if v.index.replica is None else tuple(substitute(e, into) for e in v.index.replica.results)
        return SharedReading(v.provider or "", index, steps)

    def _cut(self, found: SharedReading, interval: Interval) -> Expr:
        # What it holds is clamped by whoever uses it: others may clamp the same element otherwise.
        held = Var(self.name(found, interval))
        return minimum(maximum(held, interval.lower), interval.upper)

    def value(self, v: RuntimeVariable, single: Mapping[str, Expr]) -> Expr:
        """What a runtime variable holds, cut to its interval, over variables that are all known. Raises NotModelled."""
        return self._cut(self._known(v, single), v.interval)

    def _known(self, v: RuntimeVariable, single: Mapping[str, Expr]) -> SharedReading:
        reading = self.reading(v, single)
        if reading is None:
            raise NotModelled("a runtime variable whose index has variables that the map does not have")
        return reading

    def name_of(self, v: RuntimeVariable, single: Mapping[str, Expr]) -> str:
        """The name of what a runtime variable reads, over variables that are all known."""
        return self.name(self._known(v, single), v.interval)

    @property
    def elsewhere(self) -> bool:
        """Two readings of one provider on other devices: whether they meet is not followed. Nor is which place another
        device has."""
        providers = [r.provider for r in self.names if r.steps]
        return any(p == READER or sum(r.provider == p for r in self.names) > 1 for p in providers)

    @staticmethod
    def clamped(name: str, interval: Interval, hull: Interval) -> Expr:
        """What a runtime variable holds, where all readings of its element lie in the hull."""
        held: Expr = Var(name)
        return held if hull == interval else minimum(maximum(held, interval.lower), interval.upper)

    def told(self, values: Mapping[str, int], names: Mapping[str, str]) -> dict[str, str]:
        """How each reading is spelled at a point: provider and element; a variable without a provider by its name."""
        return spelled([(name, reading) for reading, name in self.names.items()], values, names)

    def name(self, reading: SharedReading, interval: Interval) -> str:
        name = self.names.setdefault(reading, f"r{len(self.names)}")
        self.intervals.setdefault(name, []).append(interval)
        return name

    def hulls(self) -> tuple[tuple[str, Interval], ...]:
        """Each reading with an interval that holds all that it is clamped into."""
        found: list[tuple[str, Interval]] = []
        for name, intervals in self.intervals.items():
            hull = intervals[0]
            for i in intervals[1:]:
                hull = hull.hull(i)
            found.append((name, hull))
        return tuple(found)

    def meetings(self) -> tuple[Formula, ...]:
        """For two readings of one provider: different elements, or one value, cut to each interval. Nothing is said
        where an element is named by what divides by zero."""
        intervals = dict(self.hulls())
        found: list[Formula] = []
        listed = list(self.names.items())
        for n, (a, name) in enumerate(listed):
            for b, other in listed[n + 1 :]:
                # Elements of other devices are not compared: whether two steps lead to one device is not followed.
                if a.provider != b.provider or a.steps or b.steps or len(a.index) != len(b.index):
                    continue
                apart = [ne(x, y) for x, y in zip(a.index, b.index, strict=True) if x is not y]
                undefined = (eq(d, 0) for d in open_divisors((*a.index, *b.index))) if apart else ()
                found.append(disj(*undefined, *apart, one_value(name, other, intervals[name], intervals[other])))
        return tuple(found)


def _named(piece: Piece, own: Sequence[tuple[str, Interval]], hulls: Mapping[str, Interval]) -> Piece:
    """The piece with the readings in place of its runtime variables."""
    values: dict[str, Expr] = {}
    for k, (name, interval) in enumerate(own):
        # One element clamped in two ways: both are what that element holds, cut to their own interval.
        values[f"v{k}"] = Readings.clamped(name, interval, hulls.get(name, interval))
    return replace(
        piece,
        runtime=(),
        results=tuple(substitute(e, values) for e in piece.results),
        constraints=tuple(Membership(substitute(c.expr, values), c.interval) for c in piece.constraints),
    )


def spelled(
    readings: Sequence[tuple[str, SharedReading]], values: Mapping[str, int], names: Mapping[str, str]
) -> dict[str, str]:
    """How each reading is spelled at a point: provider and element; a variable without a provider by its name."""
    out: dict[str, str] = {}
    for name, reading in readings:
        if reading.provider.startswith(UNNAMED):
            own = f"rt{reading.provider.removeprefix(UNNAMED)}"
            out[name] = names.get(own, own)
            continue
        try:
            element = [evaluate(e, values) for e in reading.index]
        except (UndefinedValue, KeyError):
            element = []
        out[name] = f"{reading.provider}{element}" if element else reading.provider
    return out
