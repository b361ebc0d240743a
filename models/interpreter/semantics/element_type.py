"""Element types: integers of exact width and signedness, and the bits of any element."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics import small_float
from hloproof.models.interpreter.value import Element

SIGNED: Final = frozenset({"s1", "s2", "s4", "s8", "s16", "s32", "s64"})
UNSIGNED: Final = frozenset({"u1", "u2", "u4", "u8", "u16", "u32", "u64"})
INTEGERS: Final = SIGNED | UNSIGNED
COMPLEX: Final = frozenset({"c64", "c128"})
PART: Final[dict[str, str]] = {"c64": "f32", "c128": "f64"}
"""The type of the real and imaginary parts."""


def width(element_type: str) -> int:
    """Bits of a value; 1 for pred."""
    return 1 if element_type == "pred" else ELEMENT_BITS[element_type]


@cache
def wrapping(element_type: str) -> Callable[[int], int]:
    """The function that reduces an integer modulo 2^width into the range of an integer type."""
    bits = width(element_type)
    mask = (1 << bits) - 1
    if element_type in UNSIGNED:
        return lambda v: v & mask
    half = 1 << (bits - 1)
    return lambda v: ((v + half) & mask) - half


def lowest(element_type: str) -> Element:
    """The smallest value, -inf where there is one."""
    if element_type == "pred":
        return False
    if element_type in UNSIGNED:
        return 0
    if element_type in SIGNED:
        return -(1 << (width(element_type) - 1))
    return small_float.rounding(element_type)(-math.inf)


def highest(element_type: str) -> Element:
    """The largest value, inf where there is one."""
    if element_type == "pred":
        return True
    if element_type in UNSIGNED:
        return (1 << width(element_type)) - 1
    if element_type in SIGNED:
        return (1 << (width(element_type) - 1)) - 1
    return small_float.rounding(element_type)(math.inf)


def rounded(element_type: str, value: Element) -> Element:
    """A Python number as an element of the type: wrapped, rounded, or made boolean."""
    if element_type == "pred":
        return bool(value)
    if element_type in INTEGERS:
        return wrapping(element_type)(int(value))
    if element_type in COMPLEX:
        part = small_float.rounding(PART[element_type])
        z = complex(value)
        return complex(part(z.real), part(z.imag))
    return small_float.rounding(element_type)(float(value))


def to_bits(element_type: str, value: Element) -> int:
    """The bits of an element as an unsigned integer. A complex number has its real part in the low half."""
    if element_type == "pred":
        return int(value)
    if element_type in INTEGERS:
        return int(value) & ((1 << width(element_type)) - 1)
    if element_type in COMPLEX:
        part = PART[element_type]
        return small_float.to_bits(part, value.real) | small_float.to_bits(part, value.imag) << width(part)
    return small_float.to_bits(element_type, value)


def from_bits(element_type: str, bits: int) -> Element:
    """The element that has these bits."""
    if element_type == "pred":
        return bool(bits & 1)
    if element_type in INTEGERS:
        return wrapping(element_type)(bits)
    if element_type in COMPLEX:
        part = PART[element_type]
        low = bits & ((1 << width(part)) - 1)
        return complex(small_float.from_bits(part, low), small_float.from_bits(part, bits >> width(part)))
    return small_float.from_bits(element_type, bits)


def is_signed(element_type: str) -> bool:
    """Whether it is one of the signed integers."""
    return element_type in SIGNED


__all__ = [
    "COMPLEX",
    "INTEGERS",
    "PART",
    "SIGNED",
    "UNSIGNED",
    "from_bits",
    "highest",
    "is_signed",
    "lowest",
    "rounded",
    "to_bits",
    "width",
    "wrapping",
]
