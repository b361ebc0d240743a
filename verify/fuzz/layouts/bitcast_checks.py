"""Target `layouts`: which elements share bits in memory, and which reshapes and transposes move none, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, product
from math import prod

from hloproof.fuzz.layouts import layout_readings as naive
from hloproof.fuzz.layouts.layout_checks import same
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape, Index, Layout, Tile
from hloproof.models.interpreter.maps import relation
from hloproof.models.layouts.bitcast import (
    aligned_layout,
    decompose,
    is_decomposable,
    reshape_is_bitcast,
    same_bits_map,
    transpose_of_bitcast,
)

MOST_ELEMENTS = 40
"""Bitcasts of larger arrays are not looked at."""


def check_bitcasts(shape: ArrayShape) -> None:
    """Bitcasts from a shape whose memory is modelled to others that follow from it."""
    if shape.elements > MOST_ELEMENTS:
        return
    for other in others(shape):
        _same_bits(shape, other)
        _same_bits(other, shape)
        _moves_nothing(shape, other)
        _moves_nothing(other, shape)


def others(shape: ArrayShape) -> Iterator[ArrayShape]:
    """Shapes of as many elements or bits: row-major, flat, of other types, of other sizes, in other orders."""
    yield ArrayShape(shape.element_type, shape.dimensions)
    yield ArrayShape("u8", (shape.elements,), (), Layout((0,), (Tile((4,)),)))
    yield ArrayShape("s32", (max(1, shape.elements // 2),), (), Layout((0,), tail_padding=3))
    yield ArrayShape("u8", (shape.elements,), (), Layout((0,), element_bits=12))
    yield ArrayShape("s4", (shape.elements, 2), (), Layout((0, 1), element_bits=4))
    merged = tuple(prod(shape.dimensions[k : k + 2]) for k in range(0, shape.rank, 2))
    for sizes in dict.fromkeys((merged, shape.dimensions, (*shape.dimensions[::-1],), (1, shape.elements, 1))):
        for order in islice(permutations(range(len(sizes))), 4):
            yield ArrayShape(shape.element_type, sizes, (), Layout(order))


def _same_bits(source: ArrayShape, target: ArrayShape) -> None:
    own, other = naive.bits_of(source), naive.bits_of(target)
    one, two = naive.memory(source), naive.memory(target)
    modelled = len(one) == len(two) == 1 and (own % other == 0 or other % own == 0)
    try:
        found = set(relation(same_bits_map(source, target)))
    except NotModelled:
        same("answer whether a bitcast is not modelled", True, not modelled, (source, target))
        return
    same("answer whether a bitcast is modelled", True, modelled, (source, target))
    held = {bit: cell for k, cell in enumerate(two[0]) for bit in range(k * other, (k + 1) * other)}
    expected = {
        (cell, held[bit])
        for k, cell in enumerate(one[0])
        for bit in range(k * own, (k + 1) * own)
        if cell is not None and held.get(bit) is not None
    }
    same("set of elements at the same bits", found, expected, (source, target))


def _is_dense(shape: ArrayShape) -> bool:
    if shape.layout is None:
        return not any(shape.dynamic)
    said = shape.layout.tiles, shape.layout.split_configs, shape.layout.tail_padding
    return not any(said) and not any(shape.dynamic)


def _moves_nothing(operand: ArrayShape, result: ArrayShape) -> None:
    """A reshape counts both row-major; a transpose goes from dimension to dimension."""
    dense = _is_dense(operand) and _is_dense(result)
    alike = dense and operand.elements == result.elements
    same("answer whether it falls apart into steps", is_decomposable(operand, result), alike, (operand, result))
    if not alike:
        same("answer whether a reshape moves nothing", reshape_is_bitcast(operand, result), False, (operand, result))
        same(
            "whether an order makes it so",
            aligned_layout(operand, result.dimensions) is not None and not _is_dense(operand),
            False,
            (operand, result),
        )
        same("answer whether it is a transpose", transpose_of_bitcast(operand, result), None, (operand, result))
        return
    at, to = _places(operand), _places(result)
    stays = [at[i] for i in _row_major(operand)] == [to[i] for i in _row_major(result)]
    same("answer whether a reshape moves nothing", reshape_is_bitcast(operand, result), stays, (operand, result))
    order = aligned_layout(operand, result.dimensions)
    ways = [
        p for p in permutations(range(result.rank)) if [at[i] for i in _row_major(operand)] == _places_by(result, p)
    ]
    if at:
        same("answer whether an order makes the reshape move nothing", order is not None, bool(ways), (operand, result))
        same("order that makes it so", order is None or order in ways, True, (operand, result, order))
    found = transpose_of_bitcast(operand, result)
    if found is not None:
        there = [at[tuple(i[found.index(d)] for d in range(operand.rank))] for i in _row_major(result)]
        same("transpose", there, [to[i] for i in _row_major(result)], (operand, result, found))
        same("sizes of the transpose", tuple(operand.dimensions[d] for d in found), result.dimensions, found)
    sizes = [[s.dimensions[d] for d in naive.order_of(s)] for s in (operand, result)]
    same("answer whether it is a transpose", found is not None, sizes[0] == sizes[1], (operand, result))
    steps = decompose(operand, result)
    first = [tuple(i[d] for d in steps.first) for i in _row_major(operand)]
    flat = dict(zip(product(*map(range, steps.flattened.dimensions)), _row_major(steps.reshaped), strict=True))
    by_second = [tuple(flat[i][d] for d in steps.second) for i in first]
    same("steps", [to[i] for i in by_second], [at[i] for i in _row_major(operand)], (operand, result, steps))


def _row_major(shape: ArrayShape) -> list[Index]:
    return list(product(*map(range, shape.dimensions)))


def _places(shape: ArrayShape) -> dict[Index, int]:
    return {cell: k for k, cell in enumerate(naive.memory(shape)[0]) if cell is not None}


def _places_by(shape: ArrayShape, minor_to_major: Index) -> list[int]:
    places = _places(ArrayShape(shape.element_type, shape.dimensions, (), Layout(minor_to_major)))
    return [places[i] for i in _row_major(shape)]
