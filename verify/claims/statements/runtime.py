"""Runtime variables of maps, matched with what the operation reads at run time.

A runtime variable is what element `index` of its provider holds, clamped. Two of them are the same when they read the
same element of the same provider at every point and clamp alike; where they stand in the list does not matter. The
match is guessed at a few points and then owed as obligations, so a wrong guess proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from hloproof.claims.statements.contents import of_positions, provider_operand, strays_somewhere
from hloproof.claims.statements.relation import Piece, piece_of
from hloproof.claims.statements.statement import Part, Point, Replay, Statement
from hloproof.claims.statements.wording import at, operand_words
from hloproof.definitions.definition import Definition, RuntimeRead
from hloproof.logic.formula import conj, eq
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, maximum, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Direction, IndexingMap


@dataclass(frozen=True)
class ElementReading:
    """Element `index` of an operand, or of the vector of its sizes, over the variables of a piece."""

    operand: int
    index: tuple[Expr, ...]
    interval: Interval
    of_sizes: bool = False

    @property
    def words(self) -> str:
        return reading_words(self.operand, self.of_sizes)


@dataclass(frozen=True)
class Matched:
    """A map as a piece whose runtime variables are named after the reads of the definition, and what that owes."""

    piece: Piece
    parts: tuple[Part, ...]
    reads_more: bool = False
    """Results or constraints mention what the operation does not read. Nothing says which contents it has: what is
    proved holds for any value, and what fails has to be shown for some contents."""


def reading_words(operand: int, of_sizes: bool) -> str:
    """`operand 0`, or `the sizes of operand 0`."""
    return f"the sizes of {operand_words(operand)}" if of_sizes else operand_words(operand)


def readings(m: IndexingMap, piece: Piece) -> tuple[ElementReading | None, ...]:
    """What each runtime variable of a map reads, over the variables of the piece made from it; None for the reader's
    position. Raises NotModelled for what is read on another device, or by way of another reading."""
    into: dict[str, Expr] = {f"d{i}": Var(name) for i, (name, _) in enumerate(piece.source)}
    into |= {f"s{j}": Var(name) for j, (name, _) in enumerate(piece.ranges)}
    out: list[ElementReading | None] = []
    for v in m.runtime:
        provided = provider_operand(v)
        if provided is None:
            out.append(None)
            continue
        assert v.index is not None
        if v.index.replica is not None or any(n.startswith("rt") for e in v.index.results for n in e.free):
            raise NotModelled("what is read at run time on another device, or by way of another reading")
        if any(not e.free <= into.keys() for e in v.index.results):
            raise NotModelled("a runtime variable whose own map has other dims or range variables than the map")
        operand, of_sizes = provided
        index = tuple(substitute(e, into) for e in v.index.results)
        out.append(ElementReading(operand, index, v.interval, of_sizes))
    return tuple(out)


def match(m: IndexingMap, number: int, direction: Direction, definition: Definition, suffix: str = "") -> Matched:
    """The map as a piece over the definition's r0.., with the obligations that its runtime variables are those.

    A runtime variable that nothing in the definition reads is named u<number>_<k> and may hold anything. Where the
    definition speaks of devices, a map without a replica part reads the reader's own. Raises NotModelled where such a
    variable is mentioned and its element depends on range variables, and where two read one element and cut it to other
    intervals.
    """
    reads = definition.runtime
    m = of_positions(m, definition.group_size)
    unnamed = piece_of(m, number, direction, [(f"u{number}_{k}", v.interval) for k, v in enumerate(m.runtime)], suffix)
    own = readings(m, unnamed)
    chosen = [None if r is None else _read_of(unnamed, r, reads) for r in own]
    named: list[tuple[str, Interval]] = []
    beside: dict[tuple[int, bool, tuple[Expr, ...]], str] = {}
    for (name, interval), reading, k in zip(unnamed.runtime, own, chosen, strict=True):
        if reading is None:
            named.append(("p", interval))
        elif k is None:
            # What the operation does not read is one value wherever it is one element.
            named.append((beside.setdefault((reading.operand, reading.of_sizes, reading.index), name), interval))
        else:
            # The map's variable under the definition's name: it is both, so it lies where both do.
            named.append((f"r{k}", interval.intersect(reads[k].interval)))
    if len(set(named)) > len({name for name, _ in named}):
        raise NotModelled("one element that is read twice and cut to two intervals")
    piece = piece_of(m, number, direction, named, suffix)
    if definition.group_size and piece.position is None:
        own_position = () if "p" in dict(named) else (("p", Interval.of_size(definition.group_size)),)
        piece = replace(piece, position=Var("p"), runtime=(*piece.runtime, *own_position))
    names = {old: Var(new) for (old, _), (new, _) in zip(unnamed.runtime, named, strict=True)}
    ranges = {name for name, _ in piece.ranges}
    mentioned = frozenset[str]().union(*(e.free for e in piece.results), *(c.expr.free for c in piece.constraints))
    mentioned |= frozenset() if piece.position is None else piece.position.free
    parts: list[Part] = []
    statement = Statement(piece.variables, piece.constraint_formulas)
    for reading, (name, _), k in zip(own, named, chosen, strict=True):
        if reading is None:
            continue
        index = tuple(substitute(e, names) for e in reading.index)
        # Nothing owed ties it to one value, and one pair may read several elements: that some point of the map is a
        # pair, whatever the variable holds, would be said of a value that is the same at all of them.
        if k is None and name in mentioned and any(not e.free.isdisjoint(ranges) for e in index):
            raise NotModelled("which elements are read, where range variables choose what is read at run time")
        if k is not None:
            own_reading = replace(reading, index=index)

            def strays(point: Point, own: Interval = reading.interval, read: RuntimeRead = reads[k]) -> bool:
                ends = (e + off for i in (own, read.interval) for e in (i.lower, i.upper) for off in (0, -1, 1))
                return strays_somewhere(m, direction, definition, ({"v": 0, **point}["v"], *ends))

            parts += _same_reading(statement, piece, own_reading, name, reads[k], strays)
    return Matched(piece, tuple(parts), not mentioned.isdisjoint(beside.values()))


def _read_of(piece: Piece, own: ElementReading, reads: Sequence[RuntimeRead]) -> int | None:
    """The read that the variable may be; none where it is cut to what the read never is, so that it is beside it."""
    k = _closest(piece, own, reads)
    return None if k is None or own.interval.intersect(reads[k].interval).is_empty else k


def _closest(piece: Piece, own: ElementReading, reads: Sequence[RuntimeRead]) -> int | None:
    """The read of the same operand that agrees at most of a few points of the box."""
    candidates = [
        k
        for k, r in enumerate(reads)
        if (r.operand, r.of_sizes) == (own.operand, own.of_sizes) and len(r.index) == len(own.index)
    ]
    # A guess is enough: what it stands for is owed as an obligation, and a wrong one is not proved.
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    random = Random(0)
    boxes = [(n, i) for n, i in piece.variables if not i.is_empty]
    points = [{n: random.randint(i.lower, i.upper) for n, i in boxes} for _ in range(8)]

    def agreeing(k: int) -> int:
        index = [_placed(e, piece) for e in reads[k].index]
        return sum(all(evaluate(a, p) == evaluate(b, p) for a, b in zip(own.index, index, strict=True)) for p in points)

    try:
        return max(candidates, key=agreeing)
    except (KeyError, ZeroDivisionError):
        return candidates[0]


def _placed(e: Expr, piece: Piece) -> Expr:
    """A term of the definition, over d0.. and x0.., at the elements of the piece."""
    into = {f"d{i}": t for i, t in enumerate(piece.output)} | {f"x{j}": t for j, t in enumerate(piece.operand)}
    return substitute(e, into)


def _same_reading(
    statement: Statement, piece: Piece, own: ElementReading, name: str, read: RuntimeRead, strays: Replay
) -> list[Part]:
    expected = tuple(_placed(e, piece) for e in read.index)

    def elements(point: dict[str, int]) -> str:
        return (
            f"output{at(piece.output, point)} and operand{at(piece.operand, point)}: {name} is taken from "
            f"{own.words} at {at(own.index, point)}, and the operation reads {at(expected, point)}"
        )

    goals = [eq(a, b) for a, b in zip(own.index, expected, strict=True)]
    parts = statement.conclusions([conj(*goals)], "runtime variable reads the right element", elements, strays)
    held = Var("v")
    clamped = _clamp(held, own.interval)

    def clamps(point: dict[str, int]) -> str:
        v = point["v"]
        right = evaluate(_clamp(held, read.interval), point) if read.clamped else v
        return (
            f"where {own.words} hold{'' if own.of_sizes else 's'} {v}, {name} is {evaluate(clamped, point)} in the map "
            f"and {right} in the operation"
        )

    if read.clamped:
        every = Statement((("v", read.held),))
        goal = eq(clamped, _clamp(held, read.interval))
        parts.append(every.therefore(goal, "runtime variable is clamped", clamps, strays))
    else:
        held_values = Statement((("v", read.interval),))
        parts.append(held_values.therefore(eq(clamped, held), "runtime variable is not clamped", clamps, strays))
    return parts


def _clamp(e: Expr, interval: Interval) -> Expr:
    return minimum(maximum(e, interval.lower), interval.upper)
