"""Constants: numbers as their element type holds them. Trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from hloproof.equivalence.terms import may_be_flushed
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.literal import INTEGER_ZERO, parse_literal
from hloproof.models.interpreter.semantics.element_type import COMPLEX, rounded, to_bits
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL

_OWN_NAN: Final = re.compile(r"-nan|nan\(")
"""A NaN whose sign or payload is written, which the numbers of the interpreter do not hold: its bits are its own."""
_WITHOUT_INFINITY: Final = frozenset(t for t, f in SMALL.items() if f.special in ("fn", "fnuz", "exponent"))
PARSED = 4096
"""Larger constants are looked into only when an element is asked for."""


NEGATIVE_ZERO: Final = "-0 is negative zero, as XLA writes it, and not 0, as it reads it"


def writes_negative_zero(text: str, element_type: str) -> bool:
    """Whether a constant of floats holds -0 without a point."""
    return element_type in FLOATS | COMPLEX and INTEGER_ZERO.search(text) is not None


def literal_key(text: str, shape: ArrayShape, place: tuple[Any, ...]) -> tuple[Any, ...]:
    """What identifies a constant: ("all", bits) where every element is the same, ("text", text) otherwise, and a value
    of its own for each place where the numbers were left out. What XLA may read otherwise is told by the text."""
    if "..." in text:
        return ("unknown", place)
    if _read_otherwise(text, shape):
        return ("text", text)
    if not shape.dimensions:
        return ("all", bits_of(shape.element_type, parse_literal(text, shape)))
    if shape.elements <= PARSED:
        found = elements(text, shape)
        if found and all(b == found[0] for b in found):
            return ("all", found[0])
        return ("bits", found)
    return ("text", text)


def _read_otherwise(text: str, shape: ArrayShape) -> bool:
    """Whether XLA reads other bits than are written, or those of a NaN that no number here holds.

    An infinity is a NaN with a sign where the type has none; small scales are rounded otherwise.
    """
    kind = shape.element_type
    return (
        _OWN_NAN.search(text) is not None
        or (kind in _WITHOUT_INFINITY and "inf" in text)
        or (
            kind == "f8e8m0fnu"
            and shape.elements <= PARSED
            and any(may_be_flushed(kind, v) for v in _numbers(text, shape))
        )
    )


def bits_of(element_type: str, value: Any) -> int:
    """The bits of a number after rounding to the type."""
    return to_bits(element_type, rounded(element_type, value))


@lru_cache(maxsize=256)
def elements(text: str, shape: ArrayShape) -> tuple[int, ...]:
    """The bits of all elements in row-major order."""
    return tuple(bits_of(shape.element_type, item) for item in _numbers(text, shape))


def _numbers(text: str, shape: ArrayShape) -> Iterator[Any]:
    """The numbers as they are written, in row-major order."""
    stack = [parse_literal(text, shape.without_layout())]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item))
        else:
            yield item


def literal_of(key: tuple[Any, ...], count: int) -> tuple[int, ...] | None:
    """The bits of the `count` elements of a constant with this key; None where it does not hold them."""
    if key[0] == "all":
        return (key[1],) * count
    return key[1] if key[0] == "bits" else None
