"""Target `layouts`: positions, their inverse and sizes against the interpreter's own reading of a layout."""

from __future__ import annotations

from models.errors import NotModelled
from models.hlo.shape import ArrayShape
from models.hlo.shape_text import parse_shape, print_shape
from models.interpreter import layout as plain
from models.interpreter.expression import evaluate
from models.interpreter.maps import relation
from models.interpreter.value import indices
from models.memory_size import padded_elements, padding_elements
from models.physical import part_count, part_expression, part_of
from models.tiling import index_map, index_of, position_expression, position_map, position_of
from verify.fuzz.generate_layouts import layout_texts
from verify.fuzz.target import Failure, Target


def examine(text: str) -> tuple[str, ...]:
    shape = parse_shape(text)
    if parse_shape(print_shape(shape)) != shape:
        raise Failure("layouts: printing and parsing changes a shape", print_shape(shape))
    if not isinstance(shape, ArrayShape) or shape.elements > 2000:
        return ("too large",)
    try:
        position_of(shape, (0,) * shape.rank) if shape.elements else None
        expression = position_expression(shape)
    except NotModelled:
        return ("not modelled",)
    data = list(range(shape.elements))
    memory = plain.write_memory(shape, data)
    if len(memory) != len(data):
        raise Failure("layouts: two elements at one position", text)
    if plain.read_memory(shape, memory) != data:
        raise Failure("layouts: what was written is not read back", text)
    size, parts = plain.padded_size(shape), part_count(shape)
    which = part_expression(shape)
    for index in indices(shape.dimensions):
        part, place = plain.place(shape, index)
        if not 0 <= place < size or not 0 <= part < parts:
            raise Failure("layouts: an element outside the padded size", f"{index} at {part}, {place} of {parts}, "
                f"{size}")
        if position_of(shape, index) != place or part_of(shape, index) != part:
            found = part_of(shape, index), position_of(shape, index)
            raise Failure("layouts: another position", f"{index}: {found}, by definition {(part, place)}")
        values = {f"d{k}": i for k, i in enumerate(index)}
        if evaluate(expression, values) != place or (which is not None and evaluate(which, values) != part):
            raise Failure("layouts: the expression gives another position", f"{index}")
        if index_of(shape, place, part) != index:
            found_index = index_of(shape, place, part)
            raise Failure("layouts: the inverse gives another index", f"{index} at {part}, {place}: {found_index}")
    if parts == 1 and shape.elements and shape.elements <= 400:
        pairs = {(index, (plain.position(shape, index),)) for index in indices(shape.dimensions)}
        if set(relation(position_map(shape))) != pairs:
            raise Failure("layouts: the map to positions differs", text)
        if set(relation(index_map(shape))) != {(place, index) for index, place in pairs}:
            raise Failure("layouts: the map from positions differs", text)
    for part in range(parts):
        for place in range(min(size, 2000)):
            if (part, place) not in memory and index_of(shape, place, part) is not None:
                raise Failure("layouts: padding has an index", f"{part}, {place}: {index_of(shape, place, part)}")
    if padded_elements(shape) != size or padding_elements(shape) != size * parts - shape.elements:
        found = padded_elements(shape), padding_elements(shape)
        raise Failure("layouts: another padded size", f"{found}, by definition {size} in each of {parts} parts")
    return ("tiled" if shape.layout and shape.layout.tiles else "untiled", f"rank {shape.rank}")


TARGET = Target(
    "layouts", "positions, "
    "inverses and sizes of tiled layouts against their definition", layout_texts, examine, ".layout"
)
