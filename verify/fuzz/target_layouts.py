"""Target `layouts`: positions, their inverse and sizes against the interpreter's own reading of a layout."""

from __future__ import annotations

from models.errors import NotModelled
from models.hlo.shape import ArrayShape
from models.hlo.shape_text import parse_shape, print_shape
from models.interpreter import layout as plain
from models.interpreter.expression import evaluate
from models.interpreter.value import indices
from models.memory_size import padded_elements
from models.tiling import index_of, position_expression, position_of
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
    size = plain.padded_size(shape)
    for index in indices(shape.dimensions):
        place = plain.position(shape, index)
        if not 0 <= place < size:
            raise Failure("layouts: an element outside the padded size", f"{index} at {place} of {size}")
        if position_of(shape, index) != place:
            raise Failure("layouts: another position", f"{index}: {position_of(shape, index)}, by definition {place}")
        if evaluate(expression, {f"d{k}": i for k, i in enumerate(index)}) != place:
            raise Failure("layouts: the expression gives another position", f"{index}")
        if index_of(shape, place) != index:
            raise Failure("layouts: the inverse gives another index", f"{index} at {place}: {index_of(shape, place)}")
    for place in set(range(min(size, 4000))) - set(memory):
        if index_of(shape, place) is not None:
            raise Failure("layouts: padding has an index", f"position {place}: {index_of(shape, place)}")
    if padded_elements(shape) != size:
        raise Failure("layouts: another padded size", f"{padded_elements(shape)}, by definition {size}")
    return ("tiled" if shape.layout and shape.layout.tiles else "untiled", f"rank {shape.rank}")


TARGET = Target(
    "layouts", "positions, "
    "inverses and sizes of tiled layouts against their definition", layout_texts, examine, ".layout"
)
