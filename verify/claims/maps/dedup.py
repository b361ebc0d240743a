"""Which maps of a set are one: semantic, not textual.

Two maps are one when they are the same relation between dims, results, runtime values and devices. Each map that is
dropped is proved equal to the one kept, by inclusion both ways; two maps are kept apart by a witness, a point that lies
in one and not in the other and has been replayed by the evaluator. What neither is shown of stays, with the reason.
Also told: a kept map whose pairs all occur in another, or in the others together; its reads cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from hloproof.claims.maps.compared_maps import STEPS, ComparedMaps
from hloproof.claims.maps.own_place import UNLIKE, comparable, with_own_place
from hloproof.claims.maps.shared_readings import reads_other_places, shared
from hloproof.claims.maps.shifting_maps import difference, inclusion_by_readings
from hloproof.claims.statements.held_values import never_negative
from hloproof.claims.statements.one_value import reads_unnamed
from hloproof.claims.statements.statement import Part, Point
from hloproof.engines.door import HOW, How, prove_one
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import FALSE, Not, conj, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Direction, IndexingMap
from hloproof.models.maps.sample_point import find_point
from hloproof.models.stages import checkpoint

MOST_COMPARED: Final = 64
"""So many maps that no point of a few tells apart are compared each with each, and looked at for containment."""
MOST_UNDECIDED: Final = 8
"""Pairs neither shown equal nor told apart after which no more are compared."""
_LOOKED_AT: Final = 200
"""Points tried to tell some of a group of maps from the others."""
_FEW: Final = 10
"""Of so many maps that contain another together, those that are not needed are left out."""
_UNNAMED: Final = "a runtime variable of which nothing says what it reads"
_BOXES: Final = 60
"""Parts of a domain that are searched for a point before an engine is asked whether it is empty."""


@dataclass(frozen=True)
class Same:
    """Map number `dropped` of the input equals map number `kept`; `parts` are the two inclusions."""

    dropped: int
    kept: int
    parts: tuple[Part, ...]
    """None where the texts are equal."""


@dataclass(frozen=True)
class Apart:
    """Maps are different: at `point` the pair lies in all of `inside` and in none of `outside`, as `part` states."""

    inside: tuple[int, ...]
    outside: tuple[int, ...]
    point: tuple[tuple[str, int], ...]
    part: Part


@dataclass(frozen=True)
class Contained:
    """All pairs of a kept map occur in these other kept maps together."""

    map: int
    within: tuple[int, ...]
    engines: tuple[str, ...] = ()
    """Who proved it."""


@dataclass(frozen=True)
class Deduplicated:
    """The outcome; numbers are places in the input."""

    maps: tuple[IndexingMap, ...]
    kept: tuple[int, ...]
    same: tuple[Same, ...] = ()
    apart: tuple[Apart, ...] = ()
    contained: tuple[Contained, ...] = ()
    undecided: tuple[tuple[int, int, str], ...] = ()
    """Pairs of kept maps that were neither shown equal nor told apart, with the reason."""
    empty: tuple[tuple[int, Part | None], ...] = ()
    """Maps without points, dropped where others are kept, with what shows it; None where an interval is empty."""

    def kept_maps(self) -> tuple[IndexingMap, ...]:
        return tuple(self.maps[n] for n in self.kept)

    def parts(self) -> tuple[Part, ...]:
        """What the claim owes: every inclusion of a dropped map and back, and every witness."""
        nothing = [part for _, part in self.empty if part is not None]
        return (*nothing, *(p for s in self.same for p in s.parts), *(a.part for a in self.apart))


def deduplicate(
    maps: Sequence[IndexingMap],
    direction: Direction = "output-to-input",
    how: How = HOW,
    containment: bool = False,
    tables: Sequence[object] = (),
    devices: int = 1,
) -> Deduplicated:
    """The different maps of a set; with `containment` also which of them lie in others. All maps have the same dims and
    numbers of results. Where maps pass other devices, `tables` tells for each in whose groups its positions count, and
    `devices` how many there are."""
    # A position counts in the groups of one table: positions of two tables are no numbers to be compared.
    classes = comparable(maps, tables, devices)
    if len(classes) > 1:
        return _by_class(maps, classes, direction, how, containment)
    return _deduplicate(maps, _possible(with_own_place(maps, devices)), direction, how, containment)


def _possible(maps: Sequence[IndexingMap]) -> list[IndexingMap]:
    return [never_negative(m) for m in maps]


def _by_class(
    maps: Sequence[IndexingMap], classes: Sequence[Sequence[int]], direction: Direction, how: How, containment: bool
) -> Deduplicated:
    """Each class by itself; maps of two classes stay, and are not told apart."""
    out = Deduplicated(tuple(maps), ())
    for numbers in classes:
        own = [maps[n] for n in numbers]
        found = _deduplicate(own, _possible(own), direction, how, containment)

        def whole(some: Sequence[int], numbers: Sequence[int] = numbers) -> tuple[int, ...]:
            return tuple(numbers[n] for n in some)

        kept = whole(found.kept)
        between = tuple((kept[0], k, UNLIKE) for k in out.kept[:1] if kept)
        out = Deduplicated(
            tuple(maps),
            (*out.kept, *kept),
            (*out.same, *(replace(s, dropped=numbers[s.dropped], kept=numbers[s.kept]) for s in found.same)),
            (*out.apart, *(replace(a, inside=whole(a.inside), outside=whole(a.outside)) for a in found.apart)),
            (*out.contained, *(replace(c, map=numbers[c.map], within=whole(c.within)) for c in found.contained)),
            (*out.undecided, *((numbers[a], numbers[b], why) for a, b, why in found.undecided), *between),
            (*out.empty, *((numbers[n], part) for n, part in found.empty)),
        )
    return replace(out, kept=tuple(sorted(out.kept)), same=tuple(sorted(out.same, key=lambda s: s.dropped)))


def _deduplicate(
    given: Sequence[IndexingMap], maps: Sequence[IndexingMap], direction: Direction, how: How, containment: bool
) -> Deduplicated:
    """`maps` are those given, all with the same number of steps between devices."""
    empty = {n: part for n, m in enumerate(maps) for found, part in [_emptiness(m, how)] if found}
    numbers = [n for n in range(len(maps)) if n not in empty]
    if not numbers:
        # All empty maps are one.
        same = tuple(Same(n, 0, ()) for n in range(1, len(maps)))
        return Deduplicated(tuple(given), (0,) if maps else (), same, empty=tuple(empty.items()))
    found = _Comparison(maps, numbers, direction, how).done(containment)
    return replace(found, maps=tuple(given), empty=tuple(empty.items()))


def _emptiness(m: IndexingMap, how: How) -> tuple[bool, Part | None]:
    """Whether a map is shown to have no points, and what shows it where that is not plain."""
    if m.is_trivially_empty:
        return True, None
    constraints = [(c.expr, c.interval) for c in m.constraints]
    if not constraints or isinstance(find_point(dict(m.intervals()), constraints, _BOXES), dict):
        return False, None
    hypotheses = conj(*(within(e, interval) for e, interval in constraints))
    obligation = Obligation(tuple(m.intervals()), FALSE, hypotheses, "the map has no points")
    part = Part(obligation, lambda point: f"the map has a point at {point}")
    return prove_one(obligation, how).verdict == "proved", part


class _Comparison:
    def __init__(self, maps: Sequence[IndexingMap], numbers: Sequence[int], direction: Direction, how: How) -> None:
        self._maps, self._numbers, self._direction, self._how = tuple(maps), numbers, direction, how
        chosen = [maps[n] for n in numbers]
        self._view = ComparedMaps(maps, numbers, shared(chosen, direction))
        self._constant: ComparedMaps | None = None
        self._same: list[Same] = []
        self._apart: list[Apart] = []
        self._undecided: list[tuple[int, int, str]] = []

    def done(self, containment: bool) -> Deduplicated:
        kept: list[int] = []
        for group in self._groups():
            if len(group) > MOST_COMPARED:
                reason = f"{len(group)} maps are too many to compare each with each"
                self._undecided.append((group[1], group[0], reason))
                kept += group
                continue
            own: list[int] = []
            for n in group:
                # With the kept ones only: being one relation is transitive, so that what equals a dropped map equals
                # the one kept for it.
                if not any(self._is_same(n, k) for k in own):
                    own.append(n)
            kept += own
        kept.sort()
        alive = set(kept)
        apart = tuple(a for a in self._apart if alive.intersection(a.inside) and alive.intersection(a.outside))
        undecided = tuple(u for u in self._undecided if u[0] in alive and u[1] in alive)
        contained = self._contained(kept) if containment and 1 < len(kept) <= MOST_COMPARED else ()
        same = tuple(sorted(self._same, key=lambda s: s.dropped))
        return Deduplicated(self._maps, tuple(kept), same, apart, contained, undecided)

    def _groups(self) -> list[list[int]]:
        """The maps without those whose text is another's, in groups that points tell apart."""
        first: dict[IndexingMap, int] = {}
        for n in self._numbers:
            k = first.setdefault(self._maps[n], n)
            if k != n:
                self._same.append(Same(n, k, ()))
        # Points first, since most maps differ at one of a few: engines are asked only inside of a group that no point
        # splits.
        pending, found = [list(first.values())], list[list[int]]()
        while pending:
            group = pending.pop()
            split = self._split(group) if len(group) > 1 else None
            if split is None:
                found.append(group)
            else:
                pending += split
        return found

    def _split(self, group: list[int]) -> tuple[list[int], list[int]] | None:
        """The maps that have some pair and those that do not, by a point of one of them."""
        if any(v.provider is None for n in group for v in self._maps[n].runtime):
            return None
        if any(reads_other_places(self._maps[n]) for n in group):
            return None
        unsure = self._view.shifting.keys() | self._view.elsewhere
        view = self._same_everywhere() if unsure.intersection(group) else self._view
        tried = ((n, point) for n in group for point in view.points(n))
        for n, point in islice(tried, _LOOKED_AT):
            checkpoint()
            pair = view.pair(n, point)
            try:
                inside = [k for k in group if holds(view.member(k), pair, STEPS)]
            except TooManySteps:
                continue
            outside = [k for k in group if k not in inside]
            if inside and outside and self._note_apart(view, inside, outside, pair):
                return inside, outside
        return None

    def _is_same(self, n: int, k: int) -> bool:
        """Whether map n is dropped for map k; else a witness or a reason is noted."""
        if len(self._undecided) >= MOST_UNDECIDED:
            self._undecided.append((n, k, "not compared, since many others are undecided"))
            return False
        if any(v.provider is None for m in (self._maps[n], self._maps[k]) for v in m.runtime):
            self._undecided.append((n, k, _UNNAMED))
            return False
        # Where a map may read several values at one pair, equality is shown for values of their own below; first it
        # must hold where every provider has one value.
        unsure = {n, k} & (self._view.shifting.keys() | self._view.elsewhere)
        unnamed = reads_unnamed(self._maps[n]) or reads_unnamed(self._maps[k])
        if reads_other_places(self._maps[n]) or reads_other_places(self._maps[k]):
            if unnamed:
                self._undecided.append((n, k, _UNNAMED))
                return False
            return self._is_same_for_all_values(n, k)
        view = self._same_everywhere() if unsure else self._view
        for inside, outside in ((n, k), (k, n)):
            point = view.escape(inside, (outside,))
            if point is not None and self._note_apart(view, (inside,), (outside,), view.pair(inside, point)):
                return False
        inclusions: list[Part] = []
        for inside, outside in ((n, k), (k, n)):
            part = view.inclusion(inside, (outside,))
            outcome = prove_one(part.obligation, self._how)
            if outcome.verdict == "refuted":
                point = view.whole_point(inside, (outside,), dict(outcome.model))
                pair = None if point is None else view.pair(inside, point)
                if pair is None or not self._note_apart(view, (inside,), (outside,), pair):
                    self._undecided.append((n, k, "a difference was found that is none when it is computed"))
                return False
            if outcome.verdict != "proved":
                self._undecided.append((n, k, outcome.reason or "undecided"))
                return False
            inclusions.append(part)
        # What they are read by was taken for one value wherever it has no name; differences at one value are some.
        if unnamed:
            self._undecided.append((n, k, _UNNAMED))
            return False
        if unsure:
            return self._is_same_for_all_values(n, k)
        self._same.append(Same(n, k, tuple(inclusions)))
        return True

    def _is_same_for_all_values(self, n: int, k: int) -> bool:
        """For maps that agree where providers hold one value everywhere: equal where whatever is read is a value of its
        own, which includes all there can be."""
        both = ((n, k), (k, n))
        if {n, k} & self._view.shifting.keys():
            parts = tuple(p for a, b in both for p in inclusion_by_readings(self._view, a, (b,)))
        else:
            parts = tuple(self._view.inclusion(a, (b,)) for a, b in both)
        if len(parts) == len(both) and all(prove_one(p.obligation, self._how).verdict == "proved" for p in parts):
            self._same.append(Same(n, k, parts))
            return True
        for inside, outside in both:
            found = difference(self._maps[inside], (self._maps[outside],))
            if found is not None:
                point, part = found
                self._apart.append(Apart((inside,), (outside,), tuple(point.items()), part))
                return False
        reason = (
            "what is read at run time depends on range variables or on other such values; "
            "no difference was found either"
        )
        self._undecided.append((n, k, reason))
        return False

    def _same_everywhere(self) -> ComparedMaps:
        if self._constant is None:
            chosen = [self._maps[n] for n in self._numbers]
            self._constant = ComparedMaps(
                self._maps, self._numbers, shared(chosen, self._direction, same_everywhere=True)
            )
        return self._constant

    def _note_apart(self, view: ComparedMaps, inside: Sequence[int], outside: Sequence[int], pair: Point) -> bool:
        """Notes the witness if it replays."""
        fixed = tuple((name, Interval.point(value)) for name, value in pair.items())
        has = [view.member(n) for n in inside]
        witness = conj(*has, *(Not(view.member(k)) for k in outside), *view.meetings)
        obligation = Obligation(fixed, witness, label="a pair of the one map that the other does not have")
        try:
            if not holds(witness, pair, 20 * STEPS * (len(inside) + len(outside))):
                return False
        except TooManySteps:
            return False
        part = Part(obligation, lambda _: "the two maps do not differ at their witness")
        self._apart.append(Apart(tuple(inside), tuple(outside), tuple(pair.items()), part))
        return True

    def _contained(self, kept: Sequence[int]) -> tuple[Contained, ...]:
        found: list[Contained] = []
        # What nothing says may be two values, and of one a narrower interval is part of the domain.
        known = [n for n in kept if n not in self._view.shifting and not reads_unnamed(self._maps[n])]
        for n in known:
            checkpoint()
            others = [k for k in known if k != n]
            if not others or self._view.escape(n, others) is not None:
                continue
            for around in (*((k,) for k in others), *([tuple(others)] if len(others) > 1 else [])):
                engines = self._holds_inside(n, around)
                if engines:
                    found.append(self._fewest(n, around, engines))
                    break
        return tuple(found)

    def _fewest(self, n: int, around: tuple[int, ...], engines: tuple[str, ...]) -> Contained:
        """Without those of the other maps that are not needed."""
        for k in around if len(around) <= _FEW else ():
            rest = tuple(x for x in around if x != k)
            without = self._holds_inside(n, rest) if rest else ()
            if without:
                around, engines = rest, without
        return Contained(n, around, engines)

    def _holds_inside(self, n: int, others: Sequence[int]) -> tuple[str, ...]:
        """The engines that prove that all pairs of map n occur in the others; none where it is not so, or not known."""
        if self._view.escape(n, others) is not None:
            return ()
        outcome = prove_one(self._view.inclusion(n, others).obligation, self._how)
        if outcome.verdict == "refuted":
            # The point that escapes these may tell the map from others too.
            self._view.whole_point(n, others, dict(outcome.model))
        return outcome.engines if outcome.verdict == "proved" else ()
