"""Target `layouts`: positions, their inverse and sizes against a naive reading of memory and against the interpreter's.

Small memories are looked at cell by cell, and bitcasts between them; of larger ones some elements.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Final

from hloproof.fuzz.layouts.bitcast_checks import check_bitcasts
from hloproof.fuzz.layouts.generate_layouts import layout_texts
from hloproof.fuzz.layouts.layout_checks import check_memory, check_modelled, check_some, raises, same
from hloproof.fuzz.layouts.layout_readings import final_boxes, is_too_narrow
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape, print_shape
from hloproof.models.layouts.memory_size import element_bits

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
    if is_too_narrow(shape):
        same(
            "answer whether the size of an element is modelled",
            not raises(NotModelled, partial(element_bits, shape)),
            False,
        )
        return ("not modelled",)
    boxes = final_boxes(shape)
    how = "cell by cell" if len(boxes) * prod(boxes[0].sizes) <= MOST_CELLS else "some elements"
    if how == "cell by cell":
        check_memory(shape)
        check_bitcasts(shape)
    else:
        check_some(shape, SOME)
    return (how, "tiled" if shape.layout and shape.layout.tiles else "untiled", f"rank {shape.rank}")


TARGET = Target(
    "layouts",
    "positions, inverses and sizes of tiled layouts against memory read cell by cell",
    layout_texts,
    examine,
    ".layout",
)
