"""Tile propagation: the tile of an operand that a tile of the output needs.

The output is cut into tiles; along dimension i tile number b_i covers the indices b_i * size_i, ... of which the last
tile may stick out. For each operand dimension the answer is a progression: an offset over the tile's position b0, b1,
..., a number of steps and a stride. It encloses every element that a tile reads, which is proved. It is called exact
where every tile that lies in the map's dims as a whole reads each of its elements, and smallest where some tile reads
its first and its last, so that no shorter one from the same offset would do; both are proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import gcd, prod
from random import Random
from typing import Final

from hloproof.analysis.neighbours import stays
from hloproof.analysis.progressions import Progression, divided, folded, remainders, summed, times
from hloproof.analysis.requests import any_contents
from hloproof.claims.statements.elimination import Membership, solve, unmentioned
from hloproof.engines.door import HOW, How, prove_one
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import Exists, Formula, Not, conj, eq, le, replace_variables, within
from hloproof.logic.miniscope import separated
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder, substitute, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.simplifier.simplify import simplify_expr

_PLACES: Final = 12
_INSIDE: Final = 200
"""Tiles, and places inside of each, that are looked at to guess a progression."""
_ATTEMPTS: Final = 6
_STEPS: Final = 1_000
"""Boxes looked at to see that a value is not read."""


@dataclass(frozen=True)
class TileDimension:
    """What a tile needs of one operand dimension. `enclosing` is the verdict on its progression; `exact` and `smallest`
    are proved, or not claimed."""

    offset: Expr
    size: int
    stride: int
    exact: bool
    enclosing: str
    engines: tuple[str, ...] = ()
    smallest: bool = False

    def __str__(self) -> str:
        what = "exactly" if self.exact else "at most"
        step = f", stride {self.stride}" if self.stride != 1 else ""
        return f"{what} {self.size} from {to_text(self.offset)}{step}"


@dataclass(frozen=True)
class OperandTile:
    """The operand tile that a tile of the output needs through one map.

    `exact`: every tile that lies in the map's dims as a whole reads each element of the product of the dimensions'
    progressions, and there is such a tile; proved. `border`: some tiles do not lie in the map's dims as a whole; they
    read less.
    """

    dimensions: tuple[TileDimension, ...]
    exact: bool
    border: bool

    @property
    def enclosing(self) -> str:
        """proved, or not."""
        return "proved" if all(d.enclosing == "proved" for d in self.dimensions) else "unknown"

    @property
    def smallest(self) -> bool:
        """No dimension can be shorter, each by itself."""
        return all(d.exact or d.smallest for d in self.dimensions)


def operand_tile(m: IndexingMap, tile: Sequence[int], how: How = HOW) -> OperandTile:
    """The operand tile that a tile of the output needs through one map.

    `tile` gives a size for each output dimension, at least 1; a tile larger than the dimension is cut down to it.
    Raises ValueError when the numbers of sizes and dims differ.
    """
    if len(tile) != len(m.dims) or any(t < 1 for t in tile):
        raise ValueError(f"a tile of {len(m.dims)} sizes is needed, each at least 1: {tuple(tile)}")
    inside = _Inside(m, [min(t, max(1, v.interval.upper + 1)) for t, v in zip(tile, m.dims, strict=True)], how)
    dimensions = tuple(inside.dimension(e) for e in m.results)
    return OperandTile(dimensions, inside.is_exact(dimensions), inside.border)


class _Inside:
    """A map with its dims split into the tile's position and the place inside the tile."""

    def __init__(self, m: IndexingMap, tile: Sequence[int], how: How) -> None:
        self.m = m
        self.how = how
        self.split: dict[str, Expr] = {}
        self.outer: dict[str, Interval] = {}
        self.inner: dict[str, Interval] = {}
        self.border, self.some_whole = False, True
        for i, (t, v) in enumerate(zip(tile, m.dims, strict=True)):
            lower, upper = v.interval.lower, v.interval.upper
            count = max(1, upper // t + 1)
            if count == 1:
                self.split[f"d{i}"] = Var(f"u{i}")
                self.inner[f"u{i}"] = v.interval
            elif t == 1:
                self.split[f"d{i}"] = Var(f"b{i}")
            else:
                self.split[f"d{i}"] = Var(f"b{i}") * t + Var(f"u{i}")
                self.inner[f"u{i}"] = Interval.of_size(t)
                self.border = self.border or lower % t != 0 or (upper + 1) % t != 0
                self.some_whole = self.some_whole and -(-lower // t) * t + t - 1 <= upper
            first = lower // t if count > 1 else 0
            self.outer[f"b{i}"] = Interval(first, max(first, upper // t)) if count > 1 else Interval.point(0)
        self.inner |= {f"s{j}": v.interval for j, v in enumerate(m.ranges)}
        moved = frozenset(f"d{i}" for i in range(len(m.dims)) if f"u{i}" in self.inner)
        moved |= frozenset(f"s{j}" for j in range(len(m.ranges)))
        self.unsteady = set[str]()
        for k, r in enumerate(m.runtime):
            if stays(r, moved):
                self.outer[f"rt{k}"] = r.interval
            else:  # It may hold another value at each place inside the tile.
                self.inner[f"rt{k}"] = r.interval
                self.unsteady.add(f"rt{k}")

    def dimension(self, e: Expr) -> TileDimension:
        placed = substitute(e, self.split)
        answer = self._judged(placed, self._told(self._progression(placed)))
        if answer.exact:
            return answer
        start = substitute(placed, {n: Const(i.lower) for n, i in self.inner.items()})
        for first in (start, Const(0)):
            known = answer.size if answer.enclosing == "proved" else None
            shorter = self._guessed(placed, first, known)
            if shorter is not None:
                answer = self._judged(placed, shorter)
        return answer

    def _judged(self, placed: Expr, x: Progression) -> TileDimension:
        """What is proved of a progression."""
        outcome = prove_one(self._encloses(placed, x), self.how)
        enclosed = outcome.verdict == "proved"
        exact = enclosed and x.exact and self._is_onto([(placed, x)])
        smallest = enclosed and (exact or self._is_smallest(placed, x))
        return TileDimension(x.offset, x.size, x.stride, exact, outcome.verdict, outcome.engines, smallest)

    def is_exact(self, dimensions: Sequence[TileDimension]) -> bool:
        """Every element of the product of the dimensions is read by every whole tile."""
        if not all(d.exact for d in dimensions):
            return False
        parts = [
            (substitute(e, self.split), Progression(d.offset, d.size, d.stride, True))
            for e, d in zip(self.m.results, dimensions, strict=True)
        ]
        return self._is_onto(parts)

    def _told(self, x: Progression) -> Progression:
        """With its offset as the simplifier writes it; whether that is right is proved with the rest."""
        return replace(x, offset=simplify_expr(x.offset, self.outer))

    def _progression(self, root: Expr) -> Progression:
        """The values of an expression while the tile's position is fixed, or an enclosing interval."""
        done: dict[Expr, Progression] = {}
        for e in postorder(root):
            if isinstance(e, Const):
                done[e] = Progression(e, 1, 1, True)
            elif isinstance(e, Var) and e.name in self.inner:
                interval = self.inner[e.name]
                moving = frozenset((e.name,)) if interval.count > 1 else frozenset[str]()
                exact = e.name not in self.unsteady
                done[e] = Progression(Const(interval.lower), max(1, interval.count), 1, exact, moving)
            elif isinstance(e, Var):
                done[e] = Progression(e, 1, 1, True)
            elif isinstance(e, Binary):
                done[e] = self._binary(e, done[e.lhs], done[e.rhs])
        return done[root]

    def _binary(self, e: Binary, x: Progression, y: Progression) -> Progression:
        if x.size == 1 and y.size == 1:
            return Progression(folded(Binary(e.op, x.offset, y.offset)), 1, 1, True)
        if e.op == "+":
            return summed(x, y)
        if e.op == "*" and isinstance(e.rhs, Const):
            return times(x, e.rhs.value)
        if e.op == "*" and isinstance(e.lhs, Const):
            return times(y, e.lhs.value)
        found: Progression | None = None
        if isinstance(e.rhs, Const) and e.rhs.value > 0:
            if e.op == "floordiv":
                found = divided(x, e.rhs.value)
            elif e.op == "mod":
                found = remainders(x, e.rhs.value)
        return found or self._interval(e, x.moving | y.moving)

    def _interval(self, e: Expr, moving: frozenset[str]) -> Progression:
        """An enclosing interval from bounds alone, for all positions of the tile together."""
        possible = range_of(e, {**self.outer, **self.inner})
        return Progression(Const(possible.lower), max(1, possible.count), 1, False, moving)

    def _guessed(self, placed: Expr, first: Expr, known: int | None) -> Progression | None:
        """A shorter progression than one known, from what some tiles read; proved to enclose, or None.

        Its offset is `first`, such as the value at the tile's first place, moved by a constant.
        """
        differences = set(self._differences(placed, first))
        if not differences:
            return None
        for _ in range(_ATTEMPTS):
            low, high = min(differences), max(differences)
            step = gcd(*(d - low for d in differences)) or 1
            size = (high - low) // step + 1
            if known is not None and size >= known:
                return None
            found = self._told(Progression(first + low, size, step, True))
            outcome = prove_one(self._encloses(placed, found), self.how)
            if outcome.verdict == "proved":
                return found
            if outcome.verdict != "refuted":
                return None
            model = dict(outcome.model)
            differences.add(evaluate(placed, model) - evaluate(first, model))
        return None

    def _differences(self, placed: Expr, first: Expr) -> Iterator[int]:
        random = Random(0)
        names = [n for n in self.inner if n in placed.free]
        boxes = [self.inner[n] for n in names]
        few = prod(i.count for i in boxes) <= _INSIDE
        for k in range(_PLACES):
            at = {n: _pick(i, k, random) for n, i in self.outer.items()}
            fixed = {n: random.randint(i.lower, max(i.lower, i.upper)) for n, i in self.inner.items()}
            if few:
                places: Iterator[tuple[int, ...]] = product(*(range(i.lower, i.upper + 1) for i in boxes))
            else:
                corners = product(*((i.lower, i.upper) for i in boxes))
                some = (tuple(random.randint(i.lower, max(i.lower, i.upper)) for i in boxes) for _ in range(_INSIDE))
                places = iter([*islice(corners, 64), *some])
            for values in places:
                point = at | fixed | dict(zip(names, values, strict=True))
                try:
                    dims = {n: evaluate(e, point) for n, e in self.split.items()}
                    whole = point | dims
                    if any(dims[f"d{i}"] not in v.interval for i, v in enumerate(self.m.dims)) or any(
                        evaluate(c.expr, whole) not in c.interval for c in self.m.constraints
                    ):
                        continue
                    yield evaluate(placed, point) - evaluate(first, point)
                except UndefinedValue:
                    continue

    def _hypothesis(self) -> Formula:
        """The point lies in the map's domain."""
        dims = [within(self.split[f"d{i}"], v.interval) for i, v in enumerate(self.m.dims)]
        return conj(*dims, *(within(substitute(c.expr, self.split), c.interval) for c in self.m.constraints))

    def _encloses(self, placed: Expr, found: Progression) -> Obligation:
        """Every value read is one of the progression."""
        step = placed - found.offset
        parts = [within(step, Interval(0, (found.size - 1) * found.stride))]
        if found.stride > 1:
            parts.append(eq(step % found.stride, 0))
        variables = tuple({**self.outer, **self.inner}.items())
        return Obligation(variables, conj(*parts), self._hypothesis(), "the operand tile holds all that is read")

    def _whole_tile(self) -> Formula:
        """All places of the tile are within the map's dims."""
        parts: list[Formula] = []
        for i, v in enumerate(self.m.dims):
            place = self.inner.get(f"u{i}", Interval.point(0))
            first, last = (substitute(self.split[f"d{i}"], {f"u{i}": Const(x)}) for x in (place.lower, place.upper))
            parts += [le(v.interval.lower, first), le(last, v.interval.upper)]
        return conj(*parts)

    def _is_onto(self, parts: Sequence[tuple[Expr, Progression]]) -> bool:
        """Every combination of values of the progressions is read by every whole tile, and there is one: proved."""
        if self.unsteady or not self.some_whole:
            return False
        gaps = [placed - (x.offset + Var(f"k{n}") * x.stride) for n, (placed, x) in enumerate(parts)]
        goal = self._some_place([Membership(gap, Interval.point(0)) for gap in gaps])
        steps = [(f"k{n}", Interval.of_size(x.size)) for n, (_, x) in enumerate(parts)]
        whole = self._whole_tile()
        if self._fails_at_a_corner(goal, whole, dict(steps)):
            return False
        obligation = Obligation((*self.outer.items(), *steps), goal, whole, "all of the operand tile is read")
        return prove_one(obligation, self.how).verdict == "proved"

    def _fails_at_a_corner(self, goal: Formula, whole: Formula, steps: Mapping[str, Interval]) -> bool:
        """Some value of the progressions is not read by one of the first or last whole tiles: seen by evaluation."""
        for tile in (min, max):
            at = {n: tile(i.lower, i.upper) for n, i in self.outer.items()}
            for end in (min, max):
                point = at | {n: end(i.lower, i.upper) for n, i in steps.items()}
                try:
                    if holds(whole, point) and not holds(goal, point, _STEPS):
                        return True
                except TooManySteps:
                    continue
        return False

    def _some_place(self, wanted: Sequence[Membership]) -> Formula:
        """Some place inside the tile lies in the map's domain and meets the conditions.

        Places are replaced by what they must be where that can be read off; the others are quantified.
        """
        dims = [Membership(self.split[f"d{i}"], v.interval) for i, v in enumerate(self.m.dims)]
        own = [Membership(substitute(c.expr, self.split), c.interval) for c in self.m.constraints]
        conditions = [*wanted, *dims, *own]
        known = solve(self.inner, conditions)
        free = unmentioned(self.inner, conditions)  # any value of these will do, and there is one
        body = conj(*(within(c.expr, c.interval) for c in conditions), *(within(Var(n), self.inner[n]) for n in known))
        rest = tuple((n, i) for n, i in self.inner.items() if n not in known and n not in free)
        body = replace_variables(body, known)
        if not rest:
            return body
        goal = Exists(rest, body)
        parts = separated(goal)
        return goal if parts is None else conj(*parts)

    def _is_smallest(self, placed: Expr, found: Progression) -> bool:
        """Some tile reads the first and the last value: proved by two of its places."""
        if found.size == 1:
            return True
        # The places may be found by values that nobody can read, as two of one element.
        if not any_contents(self.m) or self.unsteady:
            return False
        again: dict[str, Expr] = {n: Var(f"{n}_b") for n in self.inner}
        variables = (*self.outer.items(), *self.inner.items(), *((f"{n}_b", i) for n, i in self.inner.items()))
        last = substitute(placed, again)
        there = [
            *(within(substitute(self.split[f"d{i}"], again), v.interval) for i, v in enumerate(self.m.dims)),
            *(within(substitute(substitute(c.expr, self.split), again), c.interval) for c in self.m.constraints),
        ]
        ends = conj(eq(placed, found.offset), eq(last, found.offset + (found.size - 1) * found.stride))
        goal = Not(ends)
        obligation = Obligation(variables, goal, conj(self._hypothesis(), *there), "the operand tile could be shorter")
        return prove_one(obligation, self.how).verdict == "refuted"


def _pick(i: Interval, k: int, random: Random) -> int:
    if i.is_empty or k == 0:
        return i.lower
    return i.upper if k == 1 else random.randint(i.lower, i.upper)
