"""Target `layouts`: positions, their inverse and sizes against a naive reading of memory and against the interpreter's.

Small memories are looked at cell by cell, and bitcasts between them; of larger ones some elements, in both readings of
the code.
"""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import Final

from hloproof.fuzz.layouts.bitcast_checks import check_bitcasts
from hloproof.fuzz.layouts.generate_layouts import layout_texts
from hloproof.fuzz.layouts.layout_checks import check_memory, check_modelled
from hloproof.fuzz.layouts.layout_readings import final_boxes
from hloproof.fuzz.target import Failure, Target
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape, print_shape
from hloproof.models.interpreter import layout as plain
from hloproof.models.interpreter.value import indices
from hloproof.models.layouts.physical import part_count, part_expression, part_of
from hloproof.models.layouts.tiling import index_of, position_expression, position_of

MOST_CELLS: Final = 1500
"""Memories of more cells, in all parts, are not looked at cell by cell."""
SOME: Final = 40
"""Elements that are looked at in larger ones."""


def examine(text: str) -> tuple[str, ...]:
    shape = parse_shape(text)
    if parse_shape(print_shape(shape)) != shape:
        raise Failure("layouts: printing and parsing changes a shape", print_shape(shape))
    if not isinstance(shape, ArrayShape) or shape.elements > 10_000:
        return ("too large",)
    if not check_modelled(shape):
        return ("not modelled",)
    boxes = final_boxes(shape)
    how = "cell by cell" if len(boxes) * prod(boxes[0].sizes) <= MOST_CELLS else "some elements"
    if how == "cell by cell":
        check_memory(shape)
        check_bitcasts(shape)
    else:
        _some(shape)
    return (how, "tiled" if shape.layout and shape.layout.tiles else "untiled", f"rank {shape.rank}")


def _some(shape: ArrayShape) -> None:
    expression, which = position_expression(shape), part_expression(shape)
    size, parts = plain.padded_size(shape), part_count(shape)
    for index in islice(indices(shape.dimensions), 0, None, max(1, shape.elements // SOME)):
        part, place = plain.place(shape, index)
        if not 0 <= place < size or not 0 <= part < parts:
            found = f"{index} at {part}, {place} of {parts}, {size}"
            raise Failure("layouts: an element outside the padded size", found)
        if position_of(shape, index) != place or part_of(shape, index) != part:
            by_formula = part_of(shape, index), position_of(shape, index)
            raise Failure("layouts: another position", f"{index}: {by_formula}, interpreted {(part, place)}")
        values = {f"d{k}": i for k, i in enumerate(index)}
        if evaluate(expression, values) != place or (which is not None and evaluate(which, values) != part):
            raise Failure("layouts: the expression gives another position", f"{index}")
        if index_of(shape, place, part) != index:
            found_index = index_of(shape, place, part)
            raise Failure("layouts: the inverse gives another index", f"{index} at {part}, {place}: {found_index}")


TARGET = Target(
    "layouts",
    "positions, inverses and sizes of tiled layouts against memory read cell by cell",
    layout_texts,
    examine,
    ".layout",
)
