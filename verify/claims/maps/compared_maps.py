"""Maps side by side as sets of pairs: which pairs each has, a few of its points, and how an inclusion is stated.

A pair is the dims d0.. and the results y0.., beside what is read at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from hloproof.claims.maps.shared_readings import SharedMaps
from hloproof.claims.statements.relation import Piece
from hloproof.claims.statements.statement import Describe, Part, Point, Statement
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import Formula, disj, replace_variables
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap

_SAMPLES: Final = 12
STEPS: Final = 2_000
"""Boxes looked at to decide whether a pair is one of a map."""


class ComparedMaps:
    """The maps under one reading of their runtime variables: membership, sample points, inclusions."""

    def __init__(self, maps: Sequence[IndexingMap], numbers: Sequence[int], shared_maps: SharedMaps) -> None:
        self.shared = shared_maps
        self.pieces: dict[int, Piece] = dict(zip(numbers, shared_maps.pieces, strict=True))
        self.shifting = {numbers[k]: open_readings for k, open_readings in shared_maps.shifting.items()}
        """Maps whose readings do not follow from the pair: they are compared as `shifting_maps` says."""
        self.elsewhere = {numbers[k] for k in shared_maps.elsewhere}
        self._members: dict[int, Formula] = {}
        self._samples: dict[int, list[Point]] = {}
        self._met: dict[int, tuple[Formula, ...]] = {}

    def conditions(self, n: int) -> tuple[Formula, ...]:
        """What holds at a point of map n: its domain, and that readings which meet are one value."""
        found = self._met.get(n)
        if found is None:
            piece = self.pieces[n]
            at = {f"y{j}": e for j, e in enumerate(piece.results)}
            met = (replace_variables(f, at) for f in self.shared.hypotheses)
            found = self._met[n] = (*piece.constraint_formulas, *met)
        return found

    @property
    def meetings(self) -> tuple[Formula, ...]:
        """What holds at every pair: readings that meet are one value."""
        return self.shared.hypotheses

    def variables(self, n: int) -> tuple[tuple[str, Interval], ...]:
        return (*self.pieces[n].variables, *self.shared.runtime)

    def inclusion(self, n: int, others: Sequence[int], describe: Describe | None = None) -> Part:
        """Every pair of map n is one of another map."""
        at = {f"y{j}": e for j, e in enumerate(self.pieces[n].results)}
        goal = disj(*(replace_variables(self.member(k), at) for k in others))
        words = describe if describe is not None else self.words(n)
        statement = Statement(self.variables(n), self.conditions(n))
        return statement.therefore(goal, "every pair occurs in the map that is kept", words)

    def words(self, n: int) -> Describe:
        piece = self.pieces[n]

        def told(point: Point) -> str:
            dims = [point[name] for name, _ in piece.source]
            return f"map {n} leads from {dims} to {[evaluate(e, point) for e in piece.results]}, the kept map does not"

        return told

    def member(self, n: int) -> Formula:
        """That (d0.., y0..) is a pair of map n."""
        found = self._members.get(n)
        if found is None:
            piece = self.pieces[n]
            targets: list[Expr] = [Var(f"y{j}") for j in range(len(piece.results))]
            found = piece.membership([Var(name) for name, _ in piece.source], targets, None)
            self._members[n] = found
        return found

    def pair(self, n: int, point: Point) -> Point:
        """The pair that a point of map n stands for, and what was read."""
        piece = self.pieces[n]
        pair = {name: point[name] for name, _ in (*piece.source, *self.shared.runtime)}
        return pair | {f"y{j}": evaluate(e, point) for j, e in enumerate(piece.results)}

    def points(self, n: int) -> list[Point]:
        """A few points of map n: corners, middles, some at random, and counterexamples found on the way."""
        found = self._samples.get(n)
        if found is None:
            found, random = [], Random(n)
            conditions = self.conditions(n)
            for k in range(_SAMPLES):
                point = {name: _pick(i, k, random) for name, i in self.variables(n)}
                if all(holds(f, point) for f in conditions):
                    found.append(point)
            self._samples[n] = found
        return found

    def escape(self, n: int, others: Sequence[int]) -> Point | None:
        """A sampled point of map n whose pair lies in none of the others."""
        for point in self.points(n):
            pair = self.pair(n, point)
            try:
                if not any(holds(self.member(k), pair, STEPS) for k in others):
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
        if any(name not in point for name, _ in self.variables(n)):
            return None
        if not all(holds(f, point) for f in self.conditions(n)):
            return None
        self._samples[n] = [*self.points(n), point]
        return point


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
