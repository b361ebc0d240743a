"""What is claimed of a layout, as sub-goals that engines prove.

A claim is proved by its sub-goals: the formula is the composition of the steps, and each step is what the claim says of
the whole. Where a sub-goal fails, the claim is asked directly, so that a refutation speaks of the layout and not of a
step. All expressions are over the logical index d0, d1, ... and the position q0 (with split dimensions: part q0,
offset q1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import prod
from typing import Final

from hloproof.claims.layouts.steps import Chain, LayoutStep, chain
from hloproof.logic.formula import FALSE, Exists, conj, disj, eq, le, ne, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.memory_size import padded_elements
from hloproof.models.layouts.pad_reshape_transpose import Movement, movements
from hloproof.models.layouts.physical import part_count, physical_order, splits
from hloproof.models.layouts.tiling import index_map, index_of, position_map
from hloproof.models.maps.indexing_map import IndexingMap

Model = Mapping[str, int]

_FEW: Final = 64
"""Coordinates of at most so many values are tried whole in the search for a gap."""


@dataclass(frozen=True)
class LayoutClaim:
    """One claim about one layout. `steps` together prove it; `direct` says it in one obligation, for refutations (None
    where sub-goals can only prove)."""

    name: str
    statement: str
    steps: tuple[Obligation, ...]
    direct: Obligation | None
    describe: Callable[[Model], str] = field(compare=False)
    """A counterexample to `direct` in the reader's terms."""
    complete: bool = True
    """Whether `direct` says all of the claim, so that it alone proves it; else it can only refute."""


@dataclass(frozen=True)
class ClaimedLayout:
    """What somebody says of a shape's memory: the position of each index, the size, and what lies where.

    `position` maps the logical index to the offset (with split dimensions: to part and offset), `inverse` a position
    to the logical index where there is one; `size` counts the elements of one part's memory, padding included.
    """

    shape: ArrayShape
    position: IndexingMap
    size: int
    inverse: IndexingMap | None

    @classmethod
    def by_formula(cls, shape: ArrayShape) -> ClaimedLayout:
        """What the formula of `hloproof.models.layouts.tiling` says. Raises NotModelled."""
        inverse = index_map(shape) if part_count(shape) == 1 else None
        return cls(shape, position_map(shape), padded_elements(shape), inverse)


def claims(claimed: ClaimedLayout) -> tuple[LayoutClaim, ...]:
    """Everything that is claimed of a layout, in the order in which it is shown. Raises NotModelled."""
    steps = chain(claimed.shape)
    out = [one_to_one(claimed, steps), inside(claimed, steps), onto(claimed, steps)]
    if claimed.inverse is not None:
        out += [inverse(claimed, steps), padding(claimed)]
    if part_count(claimed.shape) == 1:
        out.append(two_readings(claimed, steps))
    return tuple(out)


def index_box(shape: ArrayShape, letter: str = "d") -> tuple[tuple[str, Interval], ...]:
    """The variables of a logical index: every index of the shape."""
    return tuple((f"{letter}{i}", Interval.of_size(n)) for i, n in enumerate(shape.dimensions))


def composition(claimed: ClaimedLayout, steps: Chain) -> Obligation:
    """The claimed position is the composition of the steps."""
    results = zip(claimed.position.results, steps.compose(), strict=True)
    return Obligation(
        index_box(claimed.shape),
        conj(*(eq(f, g) for f, g in results)),
        label="the formula is the composition of the steps",
    )


def one_to_one(claimed: ClaimedLayout, steps: Chain) -> LayoutClaim:
    """No two elements share a position."""
    rank, results = claimed.shape.rank, claimed.position.results
    other = {f"d{i}": Var(f"e{i}") for i in range(rank)}
    direct = Obligation(
        (*index_box(claimed.shape), *index_box(claimed.shape, "e")),
        conj(*(eq(Var(f"d{i}"), Var(f"e{i}")) for i in range(rank))),
        conj(*(eq(e, substitute(e, other)) for e in results)),
        "no two elements share a position",
    )

    def describe(model: Model) -> str:
        one, two = _index(model, "d", rank), _index(model, "e", rank)
        return f"elements {one} and {two} both lie at position {_position(results, model)}"

    subgoals = (composition(claimed, steps), *(g for s in steps.steps for g in s.one_to_one()))
    return LayoutClaim("one-to-one", "no two elements share a position", subgoals, direct, describe)


def inside(claimed: ClaimedLayout, steps: Chain) -> LayoutClaim:
    """Every position lies inside of the padded size."""
    results = claimed.position.results
    sizes = [part_count(claimed.shape), claimed.size][-len(results) :]
    direct = Obligation(
        index_box(claimed.shape),
        conj(*(within(e, Interval.of_size(n)) for e, n in zip(results, sizes, strict=True))),
        label="every position lies inside of the padded size",
    )
    fits = Obligation(
        (),
        conj(*(le(n, m) for n, m in zip(steps.steps[-1].after, sizes, strict=True))),
        label="what the steps fill is not larger than the padded size",
    )

    def describe(model: Model) -> str:
        at = _index(model, "d", claimed.shape.rank)
        return f"element {at} lies at position {_position(results, model)}, outside of {claimed.size}"

    subgoals = (composition(claimed, steps), *(g for s in steps.steps for g in s.inside()), fits)
    return LayoutClaim("inside", f"every position is in [0, {claimed.size})", subgoals, direct, describe)


def onto(claimed: ClaimedLayout, steps: Chain) -> LayoutClaim:
    """Every position holds an element exactly when there are as many positions as elements."""
    shape, results = claimed.shape, claimed.position.results
    total = claimed.size * part_count(shape)
    if total == shape.elements:
        sizes = [part_count(shape), claimed.size][-len(results) :]
        direct = Obligation(
            tuple((f"q{i}", Interval.of_size(n)) for i, n in enumerate(sizes)),
            Exists(index_box(shape), conj(*(eq(e, Var(f"q{i}")) for i, e in enumerate(results)))),
            label="every position holds an element",
        )
        subgoals = (composition(claimed, steps), *(g for s in steps.steps for g in s.onto()), _full(steps, sizes))
        return LayoutClaim(
            "onto",
            "every position holds an element",
            subgoals,
            direct,
            lambda model: f"position {', '.join(str(model[f'q{i}']) for i in range(len(sizes)))} holds no element",
        )
    # A hole is found by search and proved by an obligation: that the search knows the steps proves nothing.
    hole = _hole(claimed, steps)
    if hole is None:
        raise NotModelled("no position without an element was found, and there are more positions than elements")
    at = ", ".join(map(str, hole))
    elsewhere = disj(*(ne(e, q) for e, q in zip(results, hole, strict=True)))
    empty = tuple(Obligation(box, elsewhere, label=f"no element lies at position {at}") for box in _part_boxes(shape))
    # Another position may be the empty one, so that this one is taken refutes nothing.
    return LayoutClaim(
        "onto", f"not every position holds an element: position {at} is padding", empty, None, lambda _: ""
    )


def _part_boxes(shape: ArrayShape) -> Iterator[tuple[tuple[str, Interval], ...]]:
    """The index boxes of the parts; together they are the box of the shape."""
    choices: list[list[tuple[str, Interval]]] = [[v] for v in index_box(shape)]
    for i, c in zip(physical_order(shape), splits(shape), strict=True):
        if c is not None:
            bounds = (0, *c.split_indices, shape.dimensions[i])
            choices[i] = [(f"d{i}", Interval(a, b - 1)) for a, b in pairwise(bounds)]
    yield from product(*choices)


def _full(steps: Chain, sizes: list[int]) -> Obligation:
    return Obligation(
        (),
        conj(*(eq(n, m) for n, m in zip(steps.steps[-1].after, sizes, strict=True))),
        label="the steps fill exactly the padded size",
    )


def _hole(claimed: ClaimedLayout, steps: Chain) -> tuple[int, ...] | None:
    """A position that holds no element: one behind what the steps fill, or where a step leaves a gap, carried on. A
    guess, to be proved; None where none was found."""
    last = steps.steps[-1].after
    if prod(last) and claimed.size > last[-1]:
        return (*(0 for _ in last[:-1]), last[-1])
    found: tuple[int, ...] | None = None
    for step in steps.steps:
        found = _gap(step) if found is None else tuple(evaluate(e, _values("x", found)) for e in step.forward)
    if found is None or index_of(claimed.shape, found[-1], found[0] if len(found) > 1 else 0) is not None:
        return None
    return found


def _gap(step: LayoutStep) -> tuple[int, ...] | None:
    """A point of the box after that no point of the box before goes to: its way back leaves that box, or leads on to
    another point. Tried are the ends of each coordinate, beside every value of the small ones (part numbers)."""
    for point in _ends(step.after):
        back = [evaluate(e, _values("y", point)) for e in step.backward]
        if any(not 0 <= e < n for e, n in zip(back, step.before, strict=True)):
            return point
        if tuple(evaluate(e, _values("x", back)) for e in step.forward) != point:
            return point
    return None


def _ends(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    top = tuple(n - 1 for n in sizes)
    yield top
    for i in reversed(range(len(sizes))):
        end = tuple(t if k == i else 0 for k, t in enumerate(top))
        yield end
        for j, n in enumerate(sizes):
            if j != i and n <= _FEW:
                yield from ((*end[:j], v, *end[j + 1 :]) for v in range(1, n))


def inverse(claimed: ClaimedLayout, steps: Chain) -> LayoutClaim:
    """The way back exists at each element's position, and leads to its index."""
    assert claimed.inverse is not None
    shape, back = claimed.shape, claimed.inverse
    position = claimed.position.results[0]
    to_index = {"d0": position}
    domain = conj(*(within(substitute(c.expr, to_index), c.interval) for c in back.constraints))
    returned = [substitute(e, to_index) for e in back.results]
    direct = Obligation(
        index_box(shape),
        conj(domain, *(eq(e, Var(f"d{i}")) for i, e in enumerate(returned))),
        label="the way back from an element's position is its index",
    )
    at_q = {"d0": Var("q0")}
    holds = conj(*(within(substitute(c.expr, at_q), c.interval) for c in back.constraints))
    pairs = zip((substitute(e, at_q) for e in back.results), steps.compose_back(), strict=True)
    same = Obligation(
        (("q0", back.dims[0].interval),),
        conj(*(eq(e, g) for e, g in pairs)),
        # Without elements there is no position to lead back from.
        holds if shape.elements else FALSE,
        "the way back is the composition of the steps back",
    )
    there_and_back = (g for s in steps.steps for g in s.inverse())
    subgoals = (composition(claimed, steps), *there_and_back, same, *_way_back_exists(claimed))

    def describe(model: Model) -> str:
        at = _index(model, "d", shape.rank)
        found = ", ".join(str(evaluate(e, model)) for e in returned)
        return f"element {at} lies at position {evaluate(position, model)}, and the way back leads to [{found}]"

    return LayoutClaim("inverse", "the way back is the inverse", subgoals, direct, describe)


def padding(claimed: ClaimedLayout) -> LayoutClaim:
    """Where the way back exists an element lies: the one that it names. So what it leaves out, and only that, is
    padding."""
    assert claimed.inverse is not None
    shape, back = claimed.shape, claimed.inverse
    at_q = {"d0": Var("q0")}
    results = [substitute(e, at_q) for e in back.results]
    position = substitute(claimed.position.results[0], {f"d{i}": e for i, e in enumerate(results)})
    holds = conj(*(within(substitute(c.expr, at_q), c.interval) for c in back.constraints))
    box = index_box(shape)
    direct = Obligation(
        (("q0", back.dims[0].interval),),
        conj(*(within(e, v) for e, (_, v) in zip(results, box, strict=True)), eq(position, Var("q0"))),
        holds,
        "where the way back exists, the element that it names lies",
    )

    def describe(model: Model) -> str:
        found = ", ".join(str(evaluate(e, model)) for e in results)
        where = f"the way back from position {model['q0']} leads to [{found}]"
        if any(evaluate(e, model) not in v for e, (_, v) in zip(results, box, strict=True)):
            return f"{where}, which is no index of the shape"
        return f"{where}, and that element lies at position {evaluate(position, model)}"

    return LayoutClaim("padding", "no way back leads from padding to an element", (direct,), direct, describe)


def _way_back_exists(claimed: ClaimedLayout) -> tuple[Obligation, ...]:
    """At the position of every element the way back is defined."""
    assert claimed.inverse is not None
    to_index = {"d0": claimed.position.results[0]}
    return tuple(
        Obligation(
            index_box(claimed.shape),
            within(substitute(c.expr, to_index), c.interval),
            label="the way back exists at every element's position",
        )
        for c in claimed.inverse.constraints
    )


def two_readings(claimed: ClaimedLayout, steps: Chain) -> LayoutClaim:
    """The formula says the same as padding, reshaping and transposing."""
    shape, (position,) = claimed.shape, claimed.position.results
    moves = movements(shape)
    second = _through(moves, [Var(f"d{i}") for i in range(shape.rank)])
    direct = Obligation(
        index_box(shape),
        eq(position, _joined(second, moves[-1].after)),
        label="the formula says the same as pad, reshape, transpose",
    )

    def describe(model: Model) -> str:
        one = evaluate(position, model)
        two = evaluate(_joined(second, moves[-1].after), model)
        at = _index(model, "d", shape.rank)
        return f"element {at}: the formula says position {one}, pad-reshape-transpose says {two}"

    subgoals = [composition(claimed, steps), *_tile_readings(steps, moves)]
    return LayoutClaim("two-readings", "the formula equals pad, reshape, transpose", tuple(subgoals), direct, describe)


def _tile_readings(steps: Chain, moves: tuple[Movement, ...]) -> list[Obligation]:
    """Stage by stage (order of the dimensions, each tile, the join): both readings move every index alike."""
    stages = [moves[:1]]
    for move in moves[1:]:
        if stages[-1][-1].kind == "transpose":
            stages.append(())
        stages[-1] = (*stages[-1], move)
    bounds = [0, 1, *steps.tile_ends]
    out: list[Obligation] = []
    for k, stage in enumerate(stages):
        start, end = bounds[k], bounds[k + 1]
        first = [Var(f"d{i}") for i in range(len(stage[0].before))]
        pairs = zip(steps.compose(start, end), _through(stage, first), strict=True)
        out.append(
            Obligation(
                tuple((f"d{i}", Interval.of_size(n)) for i, n in enumerate(stage[0].before)),
                conj(*(eq(a, b) for a, b in pairs)),
                label="the order of the dimensions in both readings" if k == 0 else f"tile {k} in both readings",
            )
        )
    sizes = moves[-1].after
    last = [Var(f"d{i}") for i in range(len(sizes))]
    joined = eq(steps.compose(len(steps.steps) - 1)[0], _joined(last, sizes))
    box = tuple((f"d{i}", Interval.of_size(n)) for i, n in enumerate(sizes))
    return [*out, Obligation(box, joined, label="the join in both readings")]


def _through(moves: Sequence[Movement], index: Sequence[Expr]) -> tuple[Expr, ...]:
    """The index after these movements."""
    at = tuple(index)
    for move in moves:
        at = move.index(at)
    return at


def _joined(index: Sequence[Expr], sizes: Sequence[int]) -> Expr:
    place: Expr = Const(0)
    for k, (e, n) in enumerate(zip(index, sizes, strict=True)):
        place = e if k == 0 else place * n + e
    return place


def _values(letter: str, point: Sequence[int]) -> dict[str, int]:
    return {f"{letter}{i}": v for i, v in enumerate(point)}


def _index(model: Model, letter: str, rank: int) -> str:
    return f"[{', '.join(str(model[f'{letter}{i}']) for i in range(rank))}]"


def _position(results: tuple[Expr, ...], model: Model) -> str:
    values = [evaluate(e, model) for e in results]
    return str(values[0]) if len(values) == 1 else f"{values[1]} of part {values[0]}"
