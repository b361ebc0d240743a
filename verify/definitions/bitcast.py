"""Reinterpretations: the same bits in the same places of memory.

The place of an element follows from its shape's layout. Physical dimensions are the logical ones, most major first, in
the reverse of minor_to_major. A tile cuts the last physical dimensions: each is divided by its tile entry, quotients
before remainders; the next tile works on what results. A tile longer than the dimensions at hand has ones put before
them. A tile entry `*` first multiplies its dimension into the next more minor one. The place is the row-major position
in the dimensions that result, times the bits of an element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.definitions.definition import Define, Definition, Kind
from hloproof.definitions.variables import d, identity, linear, operand_array, output_array, require_static, x
from hloproof.logic.formula import Formula, conj, eq, lt
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import COMBINE, ELEMENT_BITS, ArrayShape, Tile
from hloproof.models.layouts.memory_size import check_one_memory


def bitcast(op: Operation, output: int, operand: int) -> Definition:
    """Output element d is the operand element in the same place of memory. Where an element of one is several of the
    other, all that share bits with it."""
    out, into = output_array(op, output), operand_array(op, operand)
    require_static("bitcast", out)
    require_static("bitcast", into)
    check_one_memory(out, into)
    assumed = tuple(
        f"bitcast: the {name} has no layout, row-major is taken"
        for name, shape in (("output", out), ("operand", into))
        if shape.layout is None and shape.rank > 1
    )
    place_out = place(out, [d(i) for i in range(out.rank)])
    place_in = place(into, [x(j) for j in range(into.rank)])
    bits_out, bits_in = memory_bits(out), memory_bits(into)
    kind: Kind = "moves" if bits_out == bits_in else "reads"
    same_bits = _overlap(place_out, bits_out, place_in, bits_in)
    return Definition(kind, out.dimensions, into.dimensions, same_bits, assumptions=assumed)


def _overlap(place_out: Expr, bits_out: int, place_in: Expr, bits_in: int) -> Formula:
    if bits_out == bits_in:
        return eq(place_out, place_in)
    return conj(
        lt(place_out * bits_out, place_in * bits_in + bits_in), lt(place_in * bits_in, place_out * bits_out + bits_out)
    )


def bitcast_convert(op: Operation, output: int, operand: int) -> Definition:
    """Types of the same width: the same element. A narrower result has one more dimension, its last, that counts the
    pieces of an element; a wider one lacks the operand's last dimension, whose pieces make one element."""
    out, into = output_array(op, output), operand_array(op, operand)
    wide, narrow = _bits(into), _bits(out)
    if wide == narrow and out.dimensions == into.dimensions:
        return Definition("moves", out.dimensions, into.dimensions, identity(out.rank))
    fits_narrow = wide > narrow and out.dimensions == (*into.dimensions, wide // narrow)
    fits_wide = narrow > wide and into.dimensions == (*out.dimensions, narrow // wide)
    if not fits_narrow and not fits_wide:
        raise NotModelled(f"bitcast-convert of {into.dimensions} into {out.dimensions}")
    return Definition("reads", out.dimensions, into.dimensions, identity(min(out.rank, into.rank)))


def _bits(shape: ArrayShape) -> int:
    if shape.element_type not in ELEMENT_BITS:
        raise NotModelled(f"the width of the type {shape.element_type}")
    return ELEMENT_BITS[shape.element_type]


def memory_bits(shape: ArrayShape) -> int:
    """Bits from one element to the next in memory: what the layout says, else whole bytes."""
    if shape.layout is not None and shape.layout.element_bits:
        return shape.layout.element_bits
    return -(-_bits(shape) // 8) * 8


def place(shape: ArrayShape, coordinates: Sequence[Expr]) -> Expr:
    """The position in memory, in elements, of the element at these coordinates."""
    layout = shape.layout
    order = tuple(reversed(layout.minor_to_major)) if layout is not None else tuple(range(shape.rank))
    if sorted(order) != list(range(shape.rank)):
        raise NotModelled("a layout that does not order all dimensions")
    sizes = [shape.dimensions[i] for i in order]
    at = [coordinates[i] for i in order]
    if layout is not None:
        if layout.split_configs:
            raise NotModelled("bitcast of an array split over memories")
        for tile in layout.tiles:
            sizes, at = _tiled(sizes, at, tile)
    return linear(at, sizes)


def _tiled(sizes: list[int], at: list[Expr], tile: Tile) -> tuple[list[int], list[Expr]]:
    entries = tile.dimensions
    missing = len(entries) - len(sizes)
    if missing > 0:
        sizes, at = [1] * missing + sizes, [Const(0), *[Const(0)] * (missing - 1), *at]
    kept = len(sizes) - len(entries)
    tail_sizes, tail_at = sizes[kept:], at[kept:]
    cut_sizes: list[int] = []
    cut_at: list[Expr] = []
    steps: list[int] = []
    carried: tuple[int, Expr] | None = None
    for size, e, entry in zip(tail_sizes, tail_at, entries, strict=True):
        if carried is not None:
            size, e = carried[0] * size, carried[1] * size + e
        if entry == COMBINE:
            carried = (size, e)
            continue
        carried = None
        cut_sizes.append(size)
        cut_at.append(e)
        steps.append(entry)
    if carried is not None or any(step < 1 for step in steps):
        raise NotModelled("a tile whose most minor entry is combined, or with an entry below 1")
    quotients = [(-(-n // t), _quotient(e, n, t)) for n, e, t in zip(cut_sizes, cut_at, steps, strict=True)]
    remainders = [(t, _remainder(e, n, t)) for n, e, t in zip(cut_sizes, cut_at, steps, strict=True)]
    expanded = [*quotients, *remainders]
    return sizes[:kept] + [n for n, _ in expanded], at[:kept] + [e for _, e in expanded]


def _quotient(e: Expr, size: int, step: int) -> Expr:
    if size <= step:
        return Const(0)  # e < size
    return e if step == 1 else e // step


def _remainder(e: Expr, size: int, step: int) -> Expr:
    if size <= step:
        return e
    return Const(0) if step == 1 else e % step


DEFINITIONS: Final[Mapping[str, Define]] = {"bitcast": bitcast, "bitcast-convert": bitcast_convert}
"""By opcode."""
