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
from verify.obligation import Obligation, Outcome
from verify.portfolio import prove
from verify.shared_readings import SharedMaps, shared
from verify.substitution import replace_variables

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
    return _Comparison(maps, numbers, direction, budget).done()


class _Comparison:
    def __init__(
        self, maps: Sequence[IndexingMap], numbers: Sequence[int], direction: Direction, budget: Budget
    ) -> None:
        self._maps, self._numbers, self._budget = tuple(maps), numbers, budget
        self._shared: SharedMaps = shared([maps[n] for n in numbers], direction)
        self._pieces: dict[int, Piece] = dict(zip(numbers, self._shared.pieces, strict=True))
        self._shifting = {numbers[k] for k in self._shared.shifting}
        self._nested = {numbers[k] for k in self._shared.nested}
        self._members: dict[int, Formula] = {}
        self._samples: dict[int, list[Point]] = {}
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
        if {n, k} & self._shifting:
            self._undecided.append((n, k, "what is read at run time depends on range variables"))
            return False
        for inside, outside in ((n, k), (k, n)):
            point = self._sampled_witness(inside, outside)
            if point is not None:
                self._note_apart(inside, outside, point)
                return False
        inclusions = [self._inclusion(n, k), self._inclusion(k, n)]
        for (inside, outside), part in zip(((n, k), (k, n)), inclusions, strict=True):
            outcome = self._prove(part.obligation)
            if outcome.verdict == "refuted":
                point = self._whole_point(inside, (outside,), dict(outcome.model))
                if point is None:
                    self._undecided.append((n, k, "a counterexample does not replay"))
                else:
                    self._samples[inside] = [*self._points(inside), point]
                    self._note_apart(inside, outside, point)
                return False
            if outcome.verdict != "proved":
                self._undecided.append((n, k, outcome.reason or "undecided"))
                return False
        self._same.append(Same(n, k, tuple(inclusions)))
        return True

    def _prove(self, obligation: Obligation) -> Outcome:
        return prove(obligation, self._budget)

    def _statement(self, n: int) -> Statement:
        piece = self._pieces[n]
        return Statement(
            (*piece.variables, *self._shared.runtime), (*piece.constraint_formulas, *self._shared.hypotheses)
        )

    def _inclusion(self, n: int, *others: int, describe: Describe | None = None) -> Part:
        """Every pair of map n is one of another map."""
        at = {f"y{j}": e for j, e in enumerate(self._pieces[n].results)}
        goal = disj(*(replace_variables(self._member(k), at) for k in others))
        words = describe if describe is not None else self._words(n)
        return self._statement(n).therefore(goal, "every pair occurs in the map that is kept", words)

    def _words(self, n: int) -> Describe:
        piece = self._pieces[n]

        def told(point: Point) -> str:
            dims = [point[name] for name, _ in piece.source]
            return f"map {n} leads from {dims} to {[value_of(e, point) for e in piece.results]}, the kept map does not"

        return told

    def _member(self, n: int) -> Formula:
        """That (d0.., y0..) is a pair of map n."""
        found = self._members.get(n)
        if found is None:
            piece = self._pieces[n]
            targets: list[Expr] = [Var(f"y{j}") for j in range(len(piece.results))]
            found = piece.membership([Var(name) for name, _ in piece.source], targets, None)
            self._members[n] = found
        return found

    def _pair(self, n: int, point: Point) -> Point:
        """The pair that a point of map n stands for."""
        piece = self._pieces[n]
        names = [name for name, _ in (*piece.source, *self._shared.runtime)]
        pair = {name: point[name] for name in names}
        return pair | {f"y{j}": value_of(e, point) for j, e in enumerate(piece.results)}

    def _sampled_witness(self, inside: int, outside: int) -> Point | None:
        for point in self._points(inside):
            pair = self._pair(inside, point)
            try:
                if not holds(self._member(outside), pair, _STEPS):
                    return point
            except TooManySteps:
                return None
        return None

    def _points(self, n: int) -> list[Point]:
        """A few points of map n: corners, middles, some at random."""
        found = self._samples.get(n)
        if found is None:
            found = []
            piece, random = self._pieces[n], Random(n)
            variables = (*piece.variables, *self._shared.runtime)
            conditions = (*piece.constraint_formulas, *self._shared.hypotheses)
            for k in range(_SAMPLES):
                point = {name: _pick(i, k, random) for name, i in variables}
                if all(holds(f, point) for f in conditions):
                    found.append(point)
            self._samples[n] = found
        return found

    def _whole_point(self, inside: int, outside: Sequence[int], model: Point) -> Point | None:
        """A counterexample to an inclusion as a point of the whole map: what was solved for or left out comes back."""
        told: list[Point] = []

        def keep(point: Point) -> str:
            told.append(dict(point))
            return ""

        self._inclusion(inside, *outside, describe=keep).describe(model)
        point = told[0]
        piece = self._pieces[inside]
        names = [name for name, _ in (*piece.variables, *self._shared.runtime)]
        if any(name not in point for name in names):
            return None
        conditions = (*piece.constraint_formulas, *self._shared.hypotheses)
        return point if all(holds(f, point) for f in conditions) else None

    def _note_apart(self, inside: int, outside: int, point: Point) -> None:
        if {inside, outside} & self._nested:
            self._undecided.append((inside, outside, "values are looked up through other values"))
            return
        pair = self._pair(inside, point)
        fixed = tuple((name, Interval.point(value)) for name, value in pair.items())
        witness = conj(self._member(inside), Not(self._member(outside)))
        obligation = Obligation(fixed, witness, label="a pair of the one map that the other does not have")
        if not holds(witness, pair, 20 * _STEPS):
            self._undecided.append((inside, outside, "a counterexample does not replay"))
            return
        part = Part(obligation, lambda _: "the two maps do not differ at their witness")
        self._apart.append(Apart(inside, outside, tuple(pair.items()), part))

    def _contained(self, kept: Sequence[int]) -> tuple[Contained, ...]:
        found: list[Contained] = []
        for n in kept:
            others = [k for k in kept if k != n and k not in self._shifting]
            if n in self._shifting or not others or self._escapes(n, others):
                continue
            single = next((k for k in others if not self._escapes(n, [k]) and self._holds_inside(n, [k])), None)
            if single is not None:
                found.append(Contained(n, (single,)))
            elif len(others) > 1 and self._holds_inside(n, others):
                found.append(Contained(n, tuple(others)))
        return tuple(found)

    def _escapes(self, n: int, others: Sequence[int]) -> bool:
        """Some sampled pair of map n lies in none of the others."""
        for point in self._points(n):
            pair = self._pair(n, point)
            try:
                if not any(holds(self._member(k), pair, _STEPS) for k in others):
                    return True
            except TooManySteps:
                return False
        return False

    def _holds_inside(self, n: int, others: Sequence[int]) -> bool:
        outcome = self._prove(self._inclusion(n, *others).obligation)
        if outcome.verdict == "refuted":
            # The point that escapes these tells the map from others too.
            point = self._whole_point(n, others, dict(outcome.model))
            self._samples[n] = self._points(n) + ([] if point is None else [point])
        return outcome.verdict == "proved"


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

