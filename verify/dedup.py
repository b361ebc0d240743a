"""Which maps of a set are one: semantic, not textual.

Two maps are one when they are the same relation between dims, results, runtime values and devices. Each map that is
dropped is proved equal to the one kept, by inclusion both ways; two maps are kept apart by a witness, a point that lies
in one and not in the other and has been replayed by the evaluator. What neither is shown of stays, with the reason.
Also told: a kept map whose pairs all occur in another, or in the others together; its reads cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from models.expr import Expr, Var
from models.indexing_map import IndexingMap
from models.interval import Interval
from verify.budget import DEFAULT, Budget
from verify.claims.relation import Direction, Piece
from verify.claims.statement import Describe, Part, Point, Statement, value_of
from verify.evaluate import TooManySteps, holds
from verify.formula import Formula, Not, conj, disj
from verify.obligation import Obligation
from verify.portfolio import prove
from verify.shared_readings import SharedMaps, shared
from verify.substitution import replace_variables

MOST_COMPARED: Final = 64
"""Maps of one set beyond which they are not compared."""
_SAMPLES: Final = 12
_STEPS: Final = 2_000


@dataclass(frozen=True)
class Same:
    """Map number `dropped` of the input equals map number `kept`; `parts` are the two inclusions."""

    dropped: int
    kept: int
    parts: tuple[Part, ...]
    """None where the texts are equal."""


@dataclass(frozen=True)
class Apart:
    """Two kept maps are different: at `point` the pair lies in `inside` and not in `outside`, as `part` states."""

    inside: int
    outside: int
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

    def kept_maps(self) -> tuple[IndexingMap, ...]:
        return tuple(self.maps[n] for n in self.kept)

    def parts(self) -> tuple[Part, ...]:
        """What the claim owes: every inclusion of a dropped map and back, and every witness."""
        return (*(p for s in self.same for p in s.parts), *(a.part for a in self.apart))


def deduplicate(
    maps: Sequence[IndexingMap], direction: Direction = "output-to-input", budget: Budget = DEFAULT
) -> Deduplicated:
    """The different maps of a set. All maps have the same dims and numbers of results."""
    numbers = [n for n, m in enumerate(maps) if not m.is_trivially_empty]
    if not numbers:
        # All empty maps are one.
        same = tuple(Same(n, 0, ()) for n in range(1, len(maps)))
        return Deduplicated(tuple(maps), (0,) if maps else (), same)
    if len(numbers) > MOST_COMPARED:
        reason = f"{len(numbers)} maps are too many to compare each with each"
        return Deduplicated(tuple(maps), tuple(numbers), undecided=((numbers[1], numbers[0], reason),))
    return _Comparison(maps, numbers, direction, budget).done()


class _View:
    """The maps under one reading of their runtime variables: membership, sample points, inclusions."""

    def __init__(self, maps: Sequence[IndexingMap], numbers: Sequence[int], shared_maps: SharedMaps) -> None:
        self._shared = shared_maps
        self._pieces: dict[int, Piece] = dict(zip(numbers, shared_maps.pieces, strict=True))
        self.shifting = {numbers[k] for k in shared_maps.shifting}
        self.nested = {numbers[k] for k in shared_maps.nested}
        self._members: dict[int, Formula] = {}
        self._samples: dict[int, list[Point]] = {}

    def _conditions(self, n: int) -> tuple[Formula, ...]:
        return (*self._pieces[n].constraint_formulas, *self._shared.hypotheses)

    def _variables(self, n: int) -> tuple[tuple[str, Interval], ...]:
        return (*self._pieces[n].variables, *self._shared.runtime)

    def inclusion(self, n: int, others: Sequence[int], describe: Describe | None = None) -> Part:
        """Every pair of map n is one of another map."""
        at = {f"y{j}": e for j, e in enumerate(self._pieces[n].results)}
        goal = disj(*(replace_variables(self.member(k), at) for k in others))
        words = describe if describe is not None else self._words(n)
        statement = Statement(self._variables(n), self._conditions(n))
        return statement.therefore(goal, "every pair occurs in the map that is kept", words)

    def _words(self, n: int) -> Describe:
        piece = self._pieces[n]

        def told(point: Point) -> str:
            dims = [point[name] for name, _ in piece.source]
            return f"map {n} leads from {dims} to {[value_of(e, point) for e in piece.results]}, the kept map does not"

        return told

    def member(self, n: int) -> Formula:
        """That (d0.., y0..) is a pair of map n."""
        found = self._members.get(n)
        if found is None:
            piece = self._pieces[n]
            targets: list[Expr] = [Var(f"y{j}") for j in range(len(piece.results))]
            found = piece.membership([Var(name) for name, _ in piece.source], targets, None)
            self._members[n] = found
        return found

    def pair(self, n: int, point: Point) -> Point:
        """The pair that a point of map n stands for, and what was read."""
        piece = self._pieces[n]
        pair = {name: point[name] for name, _ in (*piece.source, *self._shared.runtime)}
        return pair | {f"y{j}": value_of(e, point) for j, e in enumerate(piece.results)}

    def points(self, n: int) -> list[Point]:
        """A few points of map n: corners, middles, some at random, and counterexamples found on the way."""
        found = self._samples.get(n)
        if found is None:
            found, random = [], Random(n)
            conditions = self._conditions(n)
            for k in range(_SAMPLES):
                point = {name: _pick(i, k, random) for name, i in self._variables(n)}
                if all(holds(f, point) for f in conditions):
                    found.append(point)
            self._samples[n] = found
        return found

    def escape(self, n: int, others: Sequence[int]) -> Point | None:
        """A sampled point of map n whose pair lies in none of the others."""
        for point in self.points(n):
            pair = self.pair(n, point)
            try:
                if not any(holds(self.member(k), pair, _STEPS) for k in others):
                    return point
            except TooManySteps:
                return None
        return None

    def whole_point(self, n: int, others: Sequence[int], model: Point) -> Point | None:
        """A counterexample to an inclusion as a point of map n: what was solved for or left out comes back."""
        told: list[Point] = []

        def keep(point: Point) -> str:
            told.append(dict(point))
            return ""

        self.inclusion(n, others, keep).describe(model)
        point = told[0]
        if any(name not in point for name, _ in self._variables(n)):
            return None
        if not all(holds(f, point) for f in self._conditions(n)):
            return None
        self._samples[n] = [*self.points(n), point]
        return point


class _Comparison:
    def __init__(
        self, maps: Sequence[IndexingMap], numbers: Sequence[int], direction: Direction, budget: Budget
    ) -> None:
        self._maps, self._numbers, self._direction, self._budget = tuple(maps), numbers, direction, budget
        chosen = [maps[n] for n in numbers]
        self._view = _View(maps, numbers, shared(chosen, direction))
        self._constant: _View | None = None
        self._same: list[Same] = []
        self._apart: list[Apart] = []
        self._undecided: list[tuple[int, int, str]] = []

    def done(self) -> Deduplicated:
        kept: list[int] = []
        for n in self._numbers:
            if not any(self._is_same(n, k) for k in kept):
                kept.append(n)
        alive = set(kept)
        apart = tuple(a for a in self._apart if a.inside in alive and a.outside in alive)
        undecided = tuple(u for u in self._undecided if u[0] in alive and u[1] in alive)
        contained = self._contained(kept) if len(kept) > 1 else ()
        return Deduplicated(self._maps, tuple(kept), tuple(self._same), apart, contained, undecided)

    def _is_same(self, n: int, k: int) -> bool:
        """Whether map n is dropped for map k; else a witness or a reason is noted."""
        if self._maps[n] == self._maps[k]:
            self._same.append(Same(n, k, ()))
            return True
        if any(v.provider is None for m in (self._maps[n], self._maps[k]) for v in m.runtime):
            self._undecided.append((n, k, "a runtime variable without a provider"))
            return False
        unsure = {n, k} & (self._view.shifting | self._view.nested)
        view = self._same_everywhere() if unsure else self._view
        for inside, outside in ((n, k), (k, n)):
            point = view.escape(inside, (outside,))
            if point is not None and self._note_apart(view, inside, outside, point):
                return False
        inclusions: list[Part] = []
        for inside, outside in ((n, k), (k, n)):
            part = view.inclusion(inside, (outside,))
            outcome = prove(part.obligation, self._budget)
            if outcome.verdict == "refuted":
                point = view.whole_point(inside, (outside,), dict(outcome.model))
                if point is None or not self._note_apart(view, inside, outside, point):
                    self._undecided.append((n, k, "a counterexample does not replay"))
                return False
            if outcome.verdict != "proved":
                self._undecided.append((n, k, outcome.reason or "undecided"))
                return False
            inclusions.append(part)
        if unsure:
            return self._is_same_for_all_values(n, k)
        self._same.append(Same(n, k, tuple(inclusions)))
        return True

    def _is_same_for_all_values(self, n: int, k: int) -> bool:
        """For maps that agree where providers hold one value everywhere: equal where whatever is read is a value of its
        own, which includes all there can be."""
        if not {n, k} & self._view.shifting:
            parts = tuple(self._view.inclusion(a, (b,)) for a, b in ((n, k), (k, n)))
            if all(prove(p.obligation, self._budget).verdict == "proved" for p in parts):
                self._same.append(Same(n, k, parts))
                return True
        self._undecided.append((n, k, "what is read at run time depends on range variables or on other such values"))
        return False

    def _same_everywhere(self) -> _View:
        if self._constant is None:
            chosen = [self._maps[n] for n in self._numbers]
            self._constant = _View(self._maps, self._numbers, shared(chosen, self._direction, same_everywhere=True))
        return self._constant

    def _note_apart(self, view: _View, inside: int, outside: int, point: Point) -> bool:
        """Notes the witness if it replays."""
        pair = view.pair(inside, point)
        fixed = tuple((name, Interval.point(value)) for name, value in pair.items())
        witness = conj(view.member(inside), Not(view.member(outside)))
        obligation = Obligation(fixed, witness, label="a pair of the one map that the other does not have")
        try:
            if not holds(witness, pair, 20 * _STEPS):
                return False
        except TooManySteps:
            return False
        part = Part(obligation, lambda _: "the two maps do not differ at their witness")
        self._apart.append(Apart(inside, outside, tuple(pair.items()), part))
        return True

    def _contained(self, kept: Sequence[int]) -> tuple[Contained, ...]:
        found: list[Contained] = []
        for n in kept:
            others = [k for k in kept if k != n and k not in self._view.shifting]
            if n in self._view.shifting or not others or self._view.escape(n, others) is not None:
                continue
            for within in (*((k,) for k in others), *([tuple(others)] if len(others) > 1 else [])):
                engines = self._holds_inside(n, within)
                if engines:
                    found.append(Contained(n, within, engines))
                    break
        return tuple(found)

    def _holds_inside(self, n: int, others: Sequence[int]) -> tuple[str, ...]:
        """The engines that prove that all pairs of map n occur in the others; none where it is not so, or not known."""
        if self._view.escape(n, others) is not None:
            return ()
        outcome = prove(self._view.inclusion(n, others).obligation, self._budget)
        if outcome.verdict == "refuted":
            # The point that escapes these may tell the map from others too.
            self._view.whole_point(n, others, dict(outcome.model))
        return outcome.engines if outcome.verdict == "proved" else ()


def _pick(i: Interval, k: int, random: Random) -> int:
    if i.is_empty:
        return i.lower
    match k:
        case 0:
            return i.lower
        case 1:
            return i.upper
        case 2:
            return (i.lower + i.upper) // 2
    return random.randint(i.lower, i.upper)
