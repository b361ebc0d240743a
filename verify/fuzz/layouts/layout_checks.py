"""Target `layouts`: everything that is computed of a layout against the naive reading of its memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import prod
from typing import Any, Final

from hloproof.fuzz.layouts import layout_readings as naive
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import COMBINE, ArrayShape, Index, Layout, Tile
from hloproof.models.interpreter import layout as plain
from hloproof.models.interpreter.maps import relation
from hloproof.models.layouts.memory_size import (
    bit_offset,
    data_bytes,
    element_bits,
    padded_elements,
    padding_elements,
    padding_share,
    transfer_bytes,
    upstream_bytes,
)
from hloproof.models.layouts.physical import (
    max_split_size,
    part_count,
    part_dimensions,
    part_expression,
    part_of,
    physical_dimensions,
    physical_order,
)
from hloproof.models.layouts.tiling import (
    expanded_dimensions,
    index_map,
    index_of,
    position_expression,
    position_map,
    position_of,
    stage,
)

BEHIND: Final = 3
"""So many positions behind the end are asked for."""


def same(what: str, found: object, expected: object, where: object = "") -> None:
    """Raises Failure where the two differ."""
    if found != expected:
        at = f"{where}: " if where != "" else ""
        raise Failure(f"layouts: another {what}", f"{at}{found}, by the cells of memory {expected}")


def raises(kind: type[Exception], run: Callable[[], Any]) -> bool:
    try:
        run()
    except kind:
        return True
    return False


def check_modelled(shape: ArrayShape) -> bool:
    """Whether the shape's memory is modelled: all of the functions say so, or none."""
    expected = naive.is_modelled(shape)
    asked: list[tuple[str, Callable[[], Any]]] = [
        ("position_expression", lambda: position_expression(shape)),
        ("position_map", lambda: position_map(shape)),
        ("expanded_dimensions", lambda: expanded_dimensions(shape)),
        ("padded_elements", lambda: padded_elements(shape)),
    ]
    if shape.elements > 0 and -1 not in shape.dimensions:
        asked.append(("position_of", lambda: position_of(shape, (0,) * shape.rank)))
        asked.append(("index_of", lambda: index_of(shape, 0)))
    for name, run in asked:
        same(f"answer whether {name} is modelled", not raises(NotModelled, run), expected)
    return expected


def check_memory(shape: ArrayShape) -> None:
    """Positions, their inverse, sizes and maps of a shape whose memory is modelled."""
    memory = naive.memory(shape)
    at = {cell: (p, k) for p, cells in enumerate(memory) for k, cell in enumerate(cells) if cell is not None}
    boxes = naive.final_boxes(shape)
    _sizes(shape, memory, boxes[0])
    _there(shape, at)
    _back(shape, memory)
    _maps(shape, at, len(boxes), boxes[0])
    _interpreted(shape, memory, at, boxes)
    _unnamed(shape)


def _sizes(shape: ArrayShape, memory: list[list[naive.Cell]], box: naive.Box) -> None:
    size, parts = len(memory[0]), len(memory)
    padding = sum(cells.count(None) for cells in memory)
    same("padded size", padded_elements(shape), size)
    same("number of parts", part_count(shape), parts)
    same("amount of padding", padding_elements(shape), padding)
    same("share of padding", padding_share(shape), Fraction(padding, max(1, size * parts)))
    same("box of tiles", expanded_dimensions(shape), box.sizes)
    order = naive.order_of(shape)
    pieces = naive.pieces(shape)
    longest = [max(len(piece) for piece in own) for own in pieces]
    same("order of memory", list(physical_order(shape)), order)
    same("physical size", list(physical_dimensions(shape)), [shape.dimensions[d] for d in order])
    same("part size", list(part_dimensions(shape)), longest)
    for d, n in zip(order, longest, strict=True):
        same("longest part", max_split_size(shape, d), n, f"dimension {d}")
    same("size of an element", element_bits(shape), naive.bits_of(shape))
    same("size of the data", data_bytes(shape), naive.bytes_for(shape.elements, shape))
    same("size of the buffers", transfer_bytes(shape), parts * naive.bytes_for(size, shape))
    same("size by XLA", upstream_bytes(shape), naive.xla_bytes(shape))


def check_some(shape: ArrayShape, some: int) -> None:
    """About so many elements of a larger memory, each where the interpreter puts it."""
    boxes = naive.final_boxes(shape)
    for index in islice(product(*map(range, shape.dimensions)), 0, None, max(1, shape.elements // some)):
        part, place = plain.place(shape, index)
        same("element", naive.cell(boxes[part], place), index, f"part {part}, position {place}")
        same("index", index_of(shape, place, part), index)
        _element(shape, index, part, place)


def _there(shape: ArrayShape, at: dict[Index, tuple[int, int]]) -> None:
    for e in (position_expression(shape), part_expression(shape)):
        if e is not None:
            _plain_sums(e)
    for index in product(*map(range, shape.dimensions)):
        _element(shape, index, *at[index])
    for wrong in naive.corners(shape):
        same("answer outside of the shape", raises(ValueError, partial(position_of, shape, wrong)), True, wrong)


def _element(shape: ArrayShape, index: Index, part: int, place: int) -> None:
    """All ways to ask where an element lies."""
    which, values = part_expression(shape), {f"d{k}": i for k, i in enumerate(index)}
    same("part", part_of(shape, index), part, index)
    same("position", position_of(shape, index), place, index)
    same("bit", bit_offset(shape, index), place * naive.bits_of(shape), index)
    same("position by its expression", evaluate(position_expression(shape), values), place, index)
    same("part by its expression", 0 if which is None else evaluate(which, values), part, index)
    same("place when interpreted", plain.place(shape, index), (part, place), index)
    same("position when interpreted", plain.position(shape, index), place, index)


def _plain_sums(root: Expr) -> None:
    """Nothing is divided by zero."""
    for e in postorder(root):
        if isinstance(e, Binary) and e.op in ("floordiv", "mod") and e.rhs == Const(0):
            raise Failure("layouts: an expression divides by zero", repr(e))


def _back(shape: ArrayShape, memory: list[list[naive.Cell]]) -> None:
    for part, cells in enumerate(memory):
        for place, cell in enumerate([*cells, *[None] * BEHIND]):
            same("index", index_of(shape, place, part), cell, f"part {part}, position {place}")
    same("index of the first part", index_of(shape, 0), memory[0][0] if memory[0] else None)
    same("answer before the beginning", raises(ValueError, lambda: index_of(shape, -1)), True)


def _maps(shape: ArrayShape, at: dict[Index, tuple[int, int]], parts: int, box: naive.Box) -> None:
    there = position_map(shape)
    split = shape.layout is not None and bool(shape.layout.split_configs)
    pairs = {index: (part, place) if split else (place,) for index, (part, place) in at.items()}
    same("domain of the map to positions", [v.interval for v in there.dims], [_of(n) for n in shape.dimensions])
    same("map to positions", dict.fromkeys(relation(there)), dict.fromkeys(pairs.items()))
    if parts > 1:
        same("answer on the map from positions", raises(NotModelled, lambda: index_map(shape)), True)
        return
    back = index_map(shape)
    positions = prod(box.sizes)
    same("domain of the map from positions", [v.interval for v in back.dims], [_of(positions)])
    found = relation(back)
    same("map from positions", found, dict.fromkeys((((p,), index) for index, (_, p) in at.items()), 1))
    same("number of results of the map from positions", len(back.results), shape.rank)
    if positions == len(at):
        same("domain of a map from positions without padding", back.constraints, ())
    for e in (*back.results, *(c.expr for c in back.constraints)):
        _plain_sums(e)
    if at and shape.rank and not (shape.layout and shape.layout.tiles):
        major = back.results[naive.order_of(shape)[0]]
        same("most major index of a position", isinstance(major, Binary) and major.op == "mod", False)


def _of(size: int) -> Interval:
    return Interval(0, size - 1)


def _interpreted(
    shape: ArrayShape, memory: list[list[naive.Cell]], at: dict[Index, tuple[int, int]], boxes: list[naive.Box]
) -> None:
    same("padded size when interpreted", plain.padded_size(shape), len(memory[0]))
    everything = list(product(*map(range, shape.dimensions)))
    for index in everything:
        part, _ = at[index]
        coordinates, sizes = plain.physical(shape, index)
        same("box when interpreted", sizes, boxes[part].sizes, index)
        same("coordinates when interpreted", boxes[part].at(coordinates), index, coordinates)
    written = plain.write_memory(shape, [f"e{n}" for n in range(len(everything))])
    same("memory when written", written, {at[index]: f"e{n}" for n, index in enumerate(everything)})
    same("tensor when read", plain.read_memory(shape, written), [f"e{n}" for n in range(len(everything))])
    if written:
        del written[min(written)]
        same("answer where padding is read", plain.read_memory(shape, written), None)
    if shape.layout is not None and shape.layout.tiles:
        last = shape.layout.tiles[-1]
        nothing = Tile((*last.dimensions[:-1], COMBINE))
        cut = replace(shape, layout=replace(shape.layout, tiles=(*shape.layout.tiles[:-1], nothing)))
        same("answer on a tile that ends with *", raises(NotModelled, lambda: stage(shape.dimensions, nothing)), True)
        for index in everything:
            same("answer on a tile that ends with *", raises(NotModelled, partial(plain.position, cut, index)), True)


def _unnamed(shape: ArrayShape) -> None:
    """A layout that names no order, and no layout, stand for the order of the logical index."""
    if naive.order_of(shape) != list(range(shape.rank)):
        return
    layout = shape.layout or Layout(())
    others = [replace(shape, layout=replace(layout, minor_to_major=()))]
    if layout == Layout(layout.minor_to_major):
        others.append(replace(shape, layout=None))
    for other in others:
        same("map to positions without a named order", position_map(other), position_map(shape))
        same("size without a named order", upstream_bytes(other), upstream_bytes(shape))
        same("padded size without a named order", plain.padded_size(other), plain.padded_size(shape))
        for index in product(*map(range, shape.dimensions)):
            same("place without a named order", plain.place(other, index), plain.place(shape, index), index)
