"""Maps that read several elements at run time for one pair of dims and results.

One such map lies in another where each of its points has a point of the other that reads the same elements: which one
is for the engines to find. Two are told apart by contents of the providers, made up until a pair of the one is no pair
of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from random import Random
from typing import Final

from hloproof.claims.maps.compared_maps import ComparedMaps
from hloproof.claims.maps.shared_readings import OpenReading
from hloproof.claims.statements.elimination import Membership
from hloproof.claims.statements.one_value import one_value
from hloproof.claims.statements.relation import Piece
from hloproof.claims.statements.statement import Part, Statement
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import FALSE, Formula, Not, conj, disj, eq, ne, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.interpreter.maps import Reader, points
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.stages import checkpoint

_ASSIGNMENTS: Final = 6
_CONTENTS: Final = 40
_MOST_RANGES: Final = 400
"""Points of a map at one place that are listed to tell maps apart."""


def inclusion_by_readings(view: ComparedMaps, n: int, others: Sequence[int]) -> tuple[Part, ...]:
    """That all pairs of map n are pairs of the others, whatever is read; nothing where that cannot be stated.

    What is stated suffices, and may fail for maps that do lie in each other.
    """
    if any(m in view.shifting and not view.shifting[m] for m in (n, *others)):
        return ()
    piece = view.pieces[n]
    known = [_Known(Var(r.name), r.provider, r.index, r.interval) for r in view.shifting.get(n, ())]
    at = {f"y{j}": e for j, e in enumerate(piece.results)}
    intervals = dict(view.shared.runtime)
    for name, reading in view.shared.readings:
        if not reading.steps:
            index = tuple(substitute(e, at) for e in reading.index)
            known.append(_Known(Var(name), reading.provider, index, intervals[name]))
    variables = (*view.variables(n), *((r.name, r.interval) for r in view.shifting.get(n, ())))
    goals = [
        _member(view.pieces[k], piece, choice) for k in others for choice in _choices(view.shifting.get(k, ()), known)
    ]
    statement = Statement(variables, (*view.conditions(n), *_met(known)))
    label = "every pair occurs in the map that is kept, reading the same"
    return (statement.therefore(disj(*goals) if goals else FALSE, label, view.words(n)),)


@dataclass(frozen=True)
class _Known:
    """A value read at a point: its name, the provider's element over the variables of the point's map."""

    value: Var
    provider: str
    index: tuple[Expr, ...]
    interval: Interval


def _met(known: Sequence[_Known]) -> Iterator[Formula]:
    """Values of one element are one value."""
    for i, a in enumerate(known):
        for b in known[i + 1 :]:
            if a.provider == b.provider and len(a.index) == len(b.index):
                apart = [ne(x, y) for x, y in zip(a.index, b.index, strict=True) if x is not y]
                yield disj(*apart, one_value(a.value.name, b.value.name, a.interval, b.interval))


def _choices(wanted: Sequence[OpenReading], known: Sequence[_Known]) -> Iterator[Sequence[tuple[OpenReading, _Known]]]:
    """Ways to take each wanted reading for one that is known, of the same provider."""
    ways = [
        [x for x in known if x.provider == r.provider and len(x.index) == len(r.index) and x.interval == r.interval]
        for r in wanted
    ]
    # Each choice is one more disjunct of a quantified formula; a few are enough, since more would not be decided.
    for chosen in islice(product(*ways), _ASSIGNMENTS):
        yield list(zip(wanted, chosen, strict=True))


def _member(other: Piece, piece: Piece, choice: Sequence[tuple[OpenReading, _Known]]) -> Formula:
    """The results of `piece` are a pair of `other` at a point that reads the elements that were chosen."""
    values: dict[str, Expr] = {r.name: x.value for r, x in choice}
    same = [Membership(a - b, Interval.point(0)) for r, x in choice for a, b in zip(r.index, x.index, strict=True)]
    read = replace(
        other,
        results=tuple(substitute(e, values) for e in other.results),
        constraints=(*(Membership(substitute(c.expr, values), c.interval) for c in other.constraints), *same),
    )
    return read.membership([Var(name) for name, _ in piece.source], piece.results, None)


def difference(m: IndexingMap, others: Sequence[IndexingMap]) -> tuple[dict[str, int], Part] | None:
    """A pair of `m` that is none of the others, for contents of the providers that were made up; None where none is
    found.

    The point has the dims and results, and every element that the two maps read there, by provider.
    """
    every = (m, *others)
    if any(v.index is not None and (v.index.runtime or v.index.replica is not None) for x in every for v in x.runtime):
        return None
    if any(x.replica is not None or x.is_trivially_empty for x in every):
        return None
    random = Random(0)
    for _ in range(_CONTENTS):
        checkpoint()
        contents = _Contents(every, random)
        dims = [random.randint(v.interval.lower, v.interval.upper) for v in m.dims]
        try:
            mine = list(islice(points(m, dims, contents.reader(m)), _MOST_RANGES))
            theirs = {
                results for x in others for _, results, _ in islice(points(x, dims, contents.reader(x)), _MOST_RANGES)
            }
        except (UndefinedValue, LookupError):
            continue
        found = next(((ranges, results) for ranges, results, _ in mine if results not in theirs), None)
        if found is not None:
            told = _told(m, others, dims, *found, contents)
            if told is not None:
                return told
    return None


class _Contents:
    """Made-up contents: a number per element of a provider, remembered."""

    def __init__(self, maps: Sequence[IndexingMap], random: Random) -> None:
        self._random = random
        self.held: dict[tuple[str, tuple[int, ...]], int] = {}
        self._span: dict[str, Interval] = {}
        near = Interval(-2, 2 + max([1, *(v.interval.upper for v in maps[0].dims)]))
        for v in (v for m in maps for v in m.runtime):
            name = v.provider or ""
            span = v.interval.hull(self._span.get(name, v.interval))
            self._span[name] = span
        self._near = near

    def reader(self, m: IndexingMap) -> Reader:
        def read(k: int, dims: tuple[int, ...], ranges: tuple[int, ...]) -> int:
            checkpoint()
            v = m.runtime[k]
            at = {f"d{i}": x for i, x in enumerate(dims)} | {f"s{j}": x for j, x in enumerate(ranges)}
            index = () if v.index is None else v.index.results
            element = (v.provider or "", tuple(evaluate(e, at) for e in index))
            if element not in self.held:
                span = self._span[element[0]]
                # Small contents first: they are what indices of small arrays are, and meet one another.
                close = span.intersect(self._near)
                chosen = span if close.is_empty else close
                self.held[element] = self._random.randint(chosen.lower, chosen.upper)
            return self.held[element]

        return read


def _told(
    m: IndexingMap,
    others: Sequence[IndexingMap],
    dims: Sequence[int],
    ranges: tuple[int, ...],
    results: tuple[int, ...],
    contents: _Contents,
) -> tuple[dict[str, int], Part] | None:
    """The witness as an obligation without quantifiers, replayed."""
    every: list[tuple[IndexingMap, tuple[int, ...]]] = []
    for other in others:
        axes = [range(v.interval.lower, v.interval.upper + 1) for v in other.ranges]
        # All points of the others, not those that were listed: the witness says that none of them gives the pair.
        every += [(other, s) for s in islice(product(*axes), _MOST_RANGES + 1)]
        if len(every) > _MOST_RANGES:
            return None
    read: dict[str, int] = {}
    try:
        inside = _at(m, dims, ranges, results, contents, read)
        outside = [_at(other, dims, s, results, contents, read) for other, s in every]
    except UndefinedValue:
        return None
    witness = conj(inside, Not(disj(*outside)))
    pair = {f"d{i}": x for i, x in enumerate(dims)} | {f"y{j}": y for j, y in enumerate(results)}
    values = pair | {name.split(" ", 1)[0]: value for name, value in read.items()}
    if not holds(witness, values):
        return None
    variables = tuple((name, Interval.point(value)) for name, value in values.items())
    obligation = Obligation(variables, witness, label="a pair of the one map that the other does not have")
    part = Part(obligation, lambda _: "the two maps do not differ at their witness")
    return pair | {name.split(" ", 1)[1]: value for name, value in read.items()}, part


def _at(
    m: IndexingMap,
    dims: Sequence[int],
    ranges: Sequence[int],
    results: Sequence[int],
    contents: _Contents,
    read: dict[str, int],
) -> Formula:
    """That the map leads from dims d0.. at these values of its range variables to y0..; `read` gets what it reads, as
    "name provider[element]"."""
    at: dict[str, Expr] = {f"s{j}": Const(x) for j, x in enumerate(ranges)}
    point: Mapping[str, int] = {f"d{i}": x for i, x in enumerate(dims)} | {f"s{j}": x for j, x in enumerate(ranges)}
    conditions: list[Formula] = []
    for k, v in enumerate(m.runtime):
        element = () if v.index is None else tuple(evaluate(e, point) for e in v.index.results)
        value = contents.reader(m)(k, tuple(dims), tuple(ranges))
        known = {name.split(" ", 1)[1]: name.split(" ", 1)[0] for name in read}
        spelled = f"{v.provider}{list(element)}"
        name = known.get(spelled, f"c{len(read)}")
        read.setdefault(f"{name} {spelled}", value)
        at[f"rt{k}"] = minimum(maximum(Var(name), v.interval.lower), v.interval.upper)
    conditions += [within(Var(f"d{i}"), v.interval) for i, v in enumerate(m.dims)]
    conditions += [within(substitute(c.expr, at), c.interval) for c in m.constraints]
    conditions += [eq(substitute(e, at), Var(f"y{j}")) for j, e in enumerate(m.results)]
    return conj(*conditions)
