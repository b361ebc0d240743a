"""Arrays of integers in HLO: what a constant holds, what a type can hold, and which element a reshape moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape
from hloproof.models.hlo.text.literal import LiteralError, Nested, parse_literal
from hloproof.models.layouts.physical import default_layout, layout_of
from hloproof.models.layouts.tiling import linear_index

MOST_ELEMENTS: Final = 64
"""Constants with more elements are not looked up one by one."""

_Index = tuple[Expr, ...]


def numbers_in(i: Instruction) -> tuple[int, ...] | None:
    """The elements of a constant of few integers, row-major."""
    shape = i.shape
    if not isinstance(shape, ArrayShape) or shape.elements > MOST_ELEMENTS:
        return None
    try:
        found = list(_flat(parse_literal(i.literal or "", shape)))
    except LiteralError:
        return None
    numbers = tuple(v for v in found if isinstance(v, int) and not isinstance(v, bool))
    return numbers if len(numbers) == len(found) else None


def _flat(value: Nested) -> Iterator[Nested]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def kind_of(i: Instruction) -> str:
    """The element type of an array."""
    assert isinstance(i.shape, ArrayShape)
    return i.shape.element_type


def holds_integers(i: Instruction) -> bool:
    """An array of integers."""
    if not isinstance(i.shape, ArrayShape) or i.shape.element_type not in ELEMENT_BITS:
        return False
    kind = i.shape.element_type
    return kind[:1] in ("s", "u") and kind[1:].isdecimal()


def rank_of(i: Instruction) -> int:
    """The rank of an array; -1 for anything else."""
    return i.shape.rank if isinstance(i.shape, ArrayShape) else -1


def element_before(source: Instruction, result: Instruction, index: _Index) -> _Index | None:
    """The element that a reshape, or a bitcast between arrays in row-major order, moves to an index."""
    a, b = source.shape, result.shape
    if not isinstance(a, ArrayShape) or not isinstance(b, ArrayShape) or a.element_type != b.element_type:
        return None
    if a.elements == 1:
        return (Const(0),) * a.rank
    if a.dimensions == b.dimensions and layout_of(a) == layout_of(b):
        return index
    if result.opcode == "bitcast" and not (_is_row_major(a) and _is_row_major(b)):
        return None
    place = linear_index(index, b.dimensions, Const(0))
    out: list[Expr] = []
    for n in reversed(a.dimensions):
        out.append(place % Const(n) if n > 1 else Const(0))
        place = place // Const(n)
    return tuple(reversed(out))


def _is_row_major(shape: ArrayShape) -> bool:
    return layout_of(shape) == default_layout(shape.rank)


def range_of_type(element_type: str) -> Interval:
    """All values of an integer type, `s8` to `u64`."""
    bits = ELEMENT_BITS[element_type]
    return Interval(0, (1 << bits) - 1) if element_type[0] == "u" else Interval(-(1 << bits - 1), (1 << bits - 1) - 1)


def hull_of(a: Interval | None, b: Interval | None) -> Interval | None:
    """The interval around both; None where one is not known."""
    return None if a is None or b is None else Interval(min(a.lower, b.lower), max(a.upper, b.upper))
