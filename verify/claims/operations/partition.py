"""The claim `partition`: every output element comes from exactly one operand.

For concatenate, pad and dynamic-update-slice: the domains of the maps to the operands that supply data are disjoint and
cover the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hloproof.claims.statements.relation import Piece
from hloproof.claims.statements.runtime import match
from hloproof.claims.statements.statement import Describe, Part, Statement
from hloproof.claims.statements.wording import at, coordinates, runtime_words
from hloproof.definitions.definition import Definition
from hloproof.logic.formula import TRUE, Formula, Not, conj, disj, eq, lt, within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.map_set import OperandMaps

MANY = 8
"""From this many maps on, neighbours along one dimension are compared instead of all pairs."""


@dataclass(frozen=True)
class _Source:
    operand: int
    piece: Piece

    @property
    def domain(self) -> tuple[Formula, ...]:
        piece = self.piece
        return (*(within(Var(n), i) for n, i in (*piece.source, *piece.runtime)), *piece.constraint_formulas)


def partition_parts(
    op: Operation, output: ArrayShape, supplying: Sequence[OperandMaps], definition: Definition
) -> list[Part]:
    """Disjoint and covering; the definition names what is read at run time, and which output elements there are.

    Raises NotModelled for bounds and for maps with range variables."""
    sources: list[_Source] = []
    parts: list[Part] = []
    for maps in supplying:
        if maps.kind == "bound":
            raise NotModelled(f"the maps to operand {maps.operand} are only a bound")
        for number, m in enumerate(maps.maps):
            matched = match(m, number, "output-to-input", definition)
            piece = matched.piece
            if piece.is_empty:
                continue
            parts += (replace(p, necessary=False) for p in matched.parts)  # enough, and another claim's
            if piece.ranges or len(piece.source) != output.rank:
                raise NotModelled("maps with range variables choose no single element")
            sources.append(_Source(maps.operand, piece))
    box = tuple((f"d{i}", Interval.of_size(n)) for i, n in enumerate(output.dimensions))
    values: dict[str, Interval] = {f"r{k}": r.interval for k, r in enumerate(definition.runtime)}
    for s in sources:
        values.update({n: i for n, i in s.piece.runtime if n not in values})
    statement = Statement((*box, *values.items()))
    names = list(values)
    start = [Var(n) for n, _ in box]

    def uncovered(point: dict[str, int]) -> str:
        return f"output{at(start, point)} comes from no operand{runtime_words(point, names)}"

    cover = disj(*(conj(*s.domain) for s in sources))
    # Only elements that there are need a source; along a dynamic dimension the box goes on behind them.
    there = Statement(statement.variables, () if definition.exists == TRUE else (definition.exists,))
    parts += there.conclusions([cover], "maps cover the output", uncovered)
    axis = _ordered_along(sources, output) if len(sources) >= MANY else None
    if axis is not None:
        return parts + _in_a_row(sorted(sources, key=lambda s: s.piece.source[axis][1].lower), axis)
    for k, a in enumerate(sources):
        given = Statement(statement.variables, a.domain)
        for b in sources[k + 1 :]:
            words = _twice(a, b, names)
            parts.append(given.therefore(Not(conj(*b.domain)), "no output element has two sources", words))
    return parts


def _twice(a: _Source, b: _Source, names: Sequence[str]) -> Describe:
    def words(point: dict[str, int]) -> str:
        element = coordinates([point[n] for n, _ in a.piece.source])
        return (
            f"output{element} comes from operand {a.operand} at {at(a.piece.results, point)} and from operand "
            f"{b.operand} at {at(b.piece.results, point)}{runtime_words(point, names)}"
        )

    return words


def _ordered_along(sources: Sequence[_Source], output: ArrayShape) -> int | None:
    """A dimension along which the boxes of all maps lie one behind the other."""
    for axis in range(output.rank):
        row = sorted((s.piece.source[axis][1] for s in sources), key=lambda i: i.lower)
        if all(a.upper < b.lower for a, b in pairwise(row)):
            return axis
    return None


def _in_a_row(row: Sequence[_Source], axis: int) -> list[Part]:
    """Neighbours do not overlap along the axis; what is disjoint from its successor in a row is disjoint from all that
    follow."""
    parts: list[Part] = []
    for a, b in pairwise(row):
        last, next_ = a.piece.source[axis][1].upper, b.piece.source[axis][1]
        # Of each box its last place alone: boxes are intervals along the axis, none of them empty, so that a chain of
        # neighbours says it of all pairs, in a number of obligations that grows with the maps, not with their square.
        element = Statement((("d", None),), (eq(Var("d"), last),))
        goal = lt(Var("d"), next_.lower)
        words = f"along dimension {axis}, operand {a.operand} and operand {b.operand} overlap or leave the order"
        parts += element.conclusions([goal], "neighbours do not overlap", lambda _, words=words: words)  # type: ignore[misc]
    return parts
