"""A tiled layout as a chain of small steps, and what makes each of them one to one.

From a logical index to a place in memory: order the dimensions as memory has them; cut off the parts of split
dimensions; per tile, combine dimensions and divide by the tile; join everything into one number. The steps are written
from the shape and its tiles alone: neither reading in `models` is used, since both are judged by them.

Each step states how to go and how to come back. One lemma joins the steps: one-to-one functions compose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

from hloproof.logic.formula import Formula, conj, eq, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, Var, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import COMBINE, ArrayShape, SplitConfig, Tile
from hloproof.models.layouts.physical import check_dense

Goals = tuple[Obligation, ...]
Box = tuple[tuple[str, Interval], ...]


@dataclass(frozen=True, slots=True)
class _Cases:
    """A coordinate of a step, part by part: number `before` of the points before runs through the intervals between
    `bounds`, and number `after` of the points after is the number of the interval."""

    before: int
    after: int
    bounds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayoutStep:
    """`forward` over x0, x1, ... in the box `before`; `backward` over the results y0, y1, ... in the box `after`.

    Boxes are sizes. Equal steps state equal obligations, whatever shape they come from. A goal of a step with cases is
    one obligation per case, whose boxes together are the whole box.
    """

    name: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    forward: tuple[Expr, ...]
    backward: tuple[Expr, ...]
    cases: _Cases | None = None

    def one_to_one(self) -> Goals:
        """Two points with the same results are the same point."""
        other = {f"x{i}": Var(f"z{i}") for i in range(len(self.before))}
        same = conj(*(eq(Var(f"x{i}"), Var(f"z{i}")) for i in range(len(self.before))))
        results = conj(*(eq(e, substitute(e, other)) for e in self.forward))
        # All pairs of cases: two points of different parts must not meet either.
        boxes = product(self._boxes_before("x"), self._boxes_before("z"))
        return tuple(Obligation((*x, *z), same, results, f"{self.name}: one to one") for x, z in boxes)

    def inside(self) -> Goals:
        """The results lie in the box after."""
        goal = _in_box(self.forward, self.after)
        return tuple(Obligation(x, goal, label=f"{self.name}: inside") for x in self._boxes_before("x"))

    def inverse(self) -> Goals:
        """There and back."""
        there = {f"y{i}": e for i, e in enumerate(self.forward)}
        goal = _same([substitute(e, there) for e in self.backward], "x")
        return tuple(
            Obligation(x, goal, label=f"{self.name}: the way back is the inverse") for x in self._boxes_before("x")
        )

    def onto(self) -> Goals:
        """Every point of the box after is met: by the one that the way back names."""
        back = {f"x{i}": e for i, e in enumerate(self.backward)}
        goal = conj(_in_box(self.backward, self.before), _same([substitute(e, back) for e in self.forward], "y"))
        return tuple(Obligation(y, goal, label=f"{self.name}: onto") for y in self._boxes_after("y"))

    def _boxes_before(self, letter: str) -> list[Box]:
        whole = _box(letter, self.before)
        if self.cases is None:
            return [whole]
        intervals = (Interval(a, b - 1) for a, b in pairwise(self.cases.bounds))
        return [_with(whole, self.cases.before, i) for i in intervals]

    def _boxes_after(self, letter: str) -> list[Box]:
        whole = _box(letter, self.after)
        if self.cases is None:
            return [whole]
        return [_with(whole, self.cases.after, Interval.point(p)) for p in range(len(self.cases.bounds) - 1)]


def _with(box: Box, place: int, interval: Interval) -> Box:
    return (*box[:place], (box[place][0], interval), *box[place + 1 :])


def _box(letter: str, sizes: Sequence[int]) -> Box:
    return tuple((f"{letter}{i}", Interval.of_size(n)) for i, n in enumerate(sizes))


def _in_box(results: Sequence[Expr], sizes: Sequence[int]) -> Formula:
    return conj(*(within(e, Interval.of_size(n)) for e, n in zip(results, sizes, strict=True)))


def _same(results: Sequence[Expr], letter: str) -> Formula:
    return conj(*(eq(e, Var(f"{letter}{i}")) for i, e in enumerate(results)))


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of one layout. The last result is the offset in memory; before it, where dimensions are split, the
    part. `tile_ends[k]` is the number of steps up to and with tile k."""

    steps: tuple[LayoutStep, ...]
    tile_ends: tuple[int, ...]

    def compose(self, start: int = 0, end: int | None = None) -> tuple[Expr, ...]:
        """The results of steps `start` to `end` over d0, d1, ..."""
        chosen = self.steps[start:end]
        size = len(chosen[0].before) if chosen else 0
        index: tuple[Expr, ...] = tuple(Var(f"d{i}") for i in range(size))
        for step in chosen:
            at = {f"x{i}": e for i, e in enumerate(index)}
            index = tuple(substitute(e, at) for e in step.forward)
        return index

    def compose_back(self) -> tuple[Expr, ...]:
        """The logical index from the results q0, q1, ... of the whole chain."""
        index: tuple[Expr, ...] = tuple(Var(f"q{i}") for i in range(len(self.steps[-1].after)))
        for step in reversed(self.steps):
            at = {f"y{i}": e for i, e in enumerate(index)}
            index = tuple(substitute(e, at) for e in step.backward)
        return index


def chain(shape: ArrayShape) -> Chain:
    """The steps of a shape's layout. Raises NotModelled for unbounded dimensions and sparse arrays."""
    if any(n < 0 for n in shape.dimensions):
        raise NotModelled("an array with unbounded dimensions has no positions")
    check_dense(shape)
    layout = shape.layout
    order = tuple(range(shape.rank))
    if layout is not None and layout.minor_to_major:
        order = layout.minor_to_major[::-1]
    steps = [_order(shape.dimensions, order)]
    parts: tuple[int, ...] = ()
    for dimension, cuts in sorted(_cuts(layout.split_configs if layout is not None else ()).items()):
        steps.append(_split(parts, steps[-1].after[len(parts) :], dimension, cuts))
        parts = steps[-1].after[: len(parts) + 1]
    ends: list[int] = []
    for tile in layout.tiles if layout is not None else ():
        sizes = steps[-1].after[len(parts) :]
        combining = _combine(parts, sizes, tile)
        if combining is not None:
            steps.append(combining)
            sizes = combining.after[len(parts) :]
        steps.append(_tile(parts, sizes, [t for t in tile.dimensions if t != COMBINE]))
        ends.append(len(steps))
    steps.append(_join(parts, steps[-1].after[len(parts) :]))
    return Chain(tuple(steps), tuple(ends))


def _cuts(configs: Sequence[SplitConfig]) -> dict[int, tuple[int, ...]]:
    """The cuts of each split dimension, by its place in memory; the first that is given counts."""
    found: dict[int, tuple[int, ...]] = {}
    for c in configs:
        found.setdefault(c.dimension, c.split_indices)
    return found


def _x(i: int) -> Expr:
    return Var(f"x{i}")


def _y(i: int) -> Expr:
    return Var(f"y{i}")


def _order(sizes: tuple[int, ...], order: tuple[int, ...]) -> LayoutStep:
    back = sorted(range(len(order)), key=order.__getitem__)
    return LayoutStep(
        "the order of the dimensions in memory",
        sizes,
        tuple(sizes[i] for i in order),
        tuple(_x(i) for i in order),
        tuple(_y(k) for k in back),
    )


def _split(parts: tuple[int, ...], sizes: tuple[int, ...], dimension: int, cuts: tuple[int, ...]) -> LayoutStep:
    """One coordinate to (part number, offset in the part); the number follows the other part numbers, and every part
    takes the space of the longest."""
    p, k = len(parts), len(parts) + dimension
    bounds = (0, *cuts, sizes[dimension])
    part: Expr = Const(0)
    offset: Expr = _x(k)
    start_back: Expr = Const(0)
    for j, (a, b) in enumerate(pairwise(bounds[:-1]), 1):
        # The number of cuts at or below the coordinate; without a case distinction, which expressions do not have.
        part = part + _step_function(_x(k), b)
        offset = offset - _step_function(_x(k), b) * (b - a)
        start_back = start_back + _step_function(_y(p), j) * (b - a)
    lengths = list(sizes)
    # Every part takes the space of the longest, so that the part's number and the offset are a box.
    lengths[dimension] = max(b - a for a, b in pairwise(bounds))
    forward = [*(_x(i) for i in range(p)), part, *(_x(p + i) for i in range(len(sizes)))]
    forward[k + 1] = offset
    backward = [*(_y(i) for i in range(p)), *(_y(p + 1 + i) for i in range(len(sizes)))]
    backward[k] = _y(k + 1) + start_back
    return LayoutStep(
        "the parts of a split dimension",
        (*parts, *sizes),
        (*parts, len(cuts) + 1, *lengths),
        tuple(forward),
        tuple(backward),
        _Cases(k, p, bounds),
    )


def _step_function(e: Expr, threshold: int) -> Expr:
    """1 where e >= threshold, else 0, for e >= 0."""
    return minimum(e // threshold, 1) if threshold else Const(1)


def _combine(parts: tuple[int, ...], sizes: tuple[int, ...], tile: Tile) -> LayoutStep | None:
    """Ones in front for a longer tile, and dimensions marked `*` joined into the next; None where nothing changes."""
    p = len(parts)
    leading = max(0, len(tile.dimensions) - len(sizes))
    first = leading + len(sizes) - len(tile.dimensions)
    if not leading and COMBINE not in tile.dimensions:
        return None
    kept = list(range(p, p + first))
    forward: list[Expr] = [_x(i) for i in (*range(p), *kept)]
    after = [*parts, *(sizes[i - p] for i in kept)]
    backward: list[Expr] = [_y(i) for i in range(p + first)]
    group: list[int] = []
    for k, entry in enumerate(tile.dimensions, first - leading):
        # A tile longer than the rank begins with ones, which have no coordinate.
        group += [k] if k >= 0 else []
        if entry == COMBINE:
            continue
        y = _y(len(forward))
        forward.append(_ravel([_x(p + i) for i in group], [sizes[i] for i in group]))
        after.append(prod(sizes[i] for i in group))
        backward.extend(_unravel(y, [sizes[i] for i in group]))
        group = []
    return LayoutStep("combined dimensions", (*parts, *sizes), tuple(after), tuple(forward), tuple(backward))


def _tile(parts: tuple[int, ...], sizes: tuple[int, ...], tile: Sequence[int]) -> LayoutStep:
    """The last dimensions divided by the tile: counts in front, then the places inside the tile."""
    p, k = len(parts), len(tile)
    front = p + len(sizes) - k
    tiled = [_x(front + i) for i in range(k)]
    return LayoutStep(
        f"tile ({','.join(map(str, tile))})",
        (*parts, *sizes),
        (*parts, *sizes[: front - p], *(-(-n // t) for n, t in zip(sizes[front - p :], tile, strict=True)), *tile),
        (
            *(_x(i) for i in range(front)),
            *(e // t for e, t in zip(tiled, tile, strict=True)),
            *(e % t for e, t in zip(tiled, tile, strict=True)),
        ),
        (*(_y(i) for i in range(front)), *(_y(front + i) * t + _y(front + k + i) for i, t in enumerate(tile))),
    )


def _join(parts: tuple[int, ...], sizes: tuple[int, ...]) -> LayoutStep:
    """Everything into one number; part numbers into another one before it."""
    p = len(parts)
    offset = _ravel([_x(p + i) for i in range(len(sizes))], sizes)
    backward = _unravel(_y(1 if parts else 0), sizes)
    if not parts:
        return LayoutStep("the join of all coordinates", sizes, (prod(sizes),), (offset,), backward)
    part = _ravel([_x(i) for i in range(p)], parts)
    return LayoutStep(
        "the join of all coordinates",
        (*parts, *sizes),
        (prod(parts), prod(sizes)),
        (part, offset),
        (*_unravel(_y(0), parts), *backward),
    )


def _ravel(index: Sequence[Expr], sizes: Sequence[int]) -> Expr:
    """`sum(e_i * stride_i)`, most major first; 0 for no coordinates."""
    terms: list[Expr] = []
    stride = prod(sizes)
    for e, n in zip(index, sizes, strict=True):
        stride = stride // n if n else 0
        terms.append(e if stride == 1 else e * stride)
    total: Expr = terms[-1] if terms else Const(0)
    for term in reversed(terms[:-1]):
        total = term + total
    return total


def _unravel(e: Expr, sizes: Sequence[int]) -> tuple[Expr, ...]:
    """The coordinates of a row-major number; of a number of an empty box, zeros."""
    if 0 in sizes:
        return (Const(0),) * len(sizes)
    out: list[Expr] = []
    stride = prod(sizes)
    for i, n in enumerate(sizes):
        stride //= n
        shifted = e if stride == 1 else e // stride
        out.append(shifted if i == 0 else shifted % n)
    return tuple(out)
