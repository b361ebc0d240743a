"""Modules of one operation each, as text. Sizes are small, so that every element can be looked at."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators import (
    collectives,
    control,
    elementwise,
    folds,
    indexed,
    movement,
    products,
    windows,
)
from hloproof.fuzz.operations.generators.builder import Builder, Write
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_module

_ROOMS: Final = (collectives, control, elementwise, folds, indexed, movement, products, windows)
BY_NAME: Final[dict[str, Write]] = {f.__name__: f for room in _ROOMS for f in room.DRAWN}
"""What writes an operation, by its kind."""


def operation(write: Write) -> st.SearchStrategy[str]:
    """Modules of the operations that this writes."""
    return _written((write,))


def unshaped_operations() -> st.SearchStrategy[str]:
    """A module of one operation, as text, which leaves it to the reader to infer shapes."""
    return _written(tuple(BY_NAME.values()))


@st.composite
def _written(draw: Draw, kinds: tuple[Write, ...]) -> str:
    b = Builder(draw)
    b.one_of(kinds)(b)
    return b.text()


def operations() -> st.SearchStrategy[str]:
    """The same with every shape written, as other readers of such text want it."""
    return unshaped_operations().map(lambda text: print_module(parse_module(text)))
