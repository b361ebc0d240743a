"""Floating-point formats: rounding to the nearest representable number, ties to even, and the bits of a number.

f64 is Python's own float. f32, f16 are IEEE 754 binary32 and binary16, bf16 is binary32 cut to 8 significant bits. The
formats of 8 and 4 bits are given by their exponent and mantissa widths, the bias, and what they have instead of
infinities: `fn` has no infinity and one or two NaNs with all bits set, `fnuz` also has no negative zero, whose code is
the NaN; e8m0 has an exponent only; e2m1 has neither infinity nor NaN and saturates.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass
from functools import cache
from math import copysign, inf, isinf, isnan, nan
from typing import Final, Literal

Special = Literal["ieee", "fn", "fnuz", "none", "exponent"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of at most 8 bits: one sign bit (none for e8m0), exponent bits, mantissa bits."""

    exponent: int
    mantissa: int
    bias: int
    special: Special

    @property
    def bits(self) -> int:
        return self.exponent + self.mantissa + (self.special != "exponent")


SMALL: Final[dict[str, Format]] = {
    "f8e5m2": Format(5, 2, 15, "ieee"),
    "f8e4m3": Format(4, 3, 7, "ieee"),
    "f8e3m4": Format(3, 4, 3, "ieee"),
    "f8e4m3fn": Format(4, 3, 7, "fn"),
    "f8e4m3b11fnuz": Format(4, 3, 11, "fnuz"),
    "f8e4m3fnuz": Format(4, 3, 8, "fnuz"),
    "f8e5m2fnuz": Format(5, 2, 16, "fnuz"),
    "f4e2m1fn": Format(2, 1, 1, "none"),
    "f8e8m0fnu": Format(8, 0, 127, "exponent"),
}

FLOATS: Final = frozenset({"f64", "f32", "f16", "bf16", *SMALL})
NUMBERS: Final = FLOATS - {"f8e8m0fnu"}
"""The floats among which there are zero and negative numbers."""


def decode_small(name: str, code: int) -> float:
    """The number that a code of a format of at most 8 bits stands for."""
    f = SMALL[name]
    if f.special == "exponent":
        return nan if code == 0xFF else 2.0 ** (code - f.bias)
    sign = -1.0 if code >> (f.bits - 1) else 1.0
    magnitude = code & ((1 << (f.bits - 1)) - 1)
    exponent, mantissa = magnitude >> f.mantissa, magnitude & ((1 << f.mantissa) - 1)
    top = (1 << f.exponent) - 1
    if f.special == "ieee" and exponent == top:
        return nan if mantissa else sign * inf
    if f.special == "fn" and exponent == top and mantissa == (1 << f.mantissa) - 1:
        return nan
    if f.special == "fnuz" and sign < 0 and magnitude == 0:
        return nan
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - f.bias - f.mantissa)
    return sign * (1 + mantissa / (1 << f.mantissa)) * 2.0 ** (exponent - f.bias)


@cache
def _ladder(name: str) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The finite numbers of a format that are not negative, ascending, and their codes."""
    found = [(decode_small(name, c), c) for c in range(1 << SMALL[name].bits)]
    steps = sorted((v, c) for v, c in found if v >= 0 and not isinf(v) and copysign(1.0, v) > 0)
    return tuple(v for v, _ in steps), tuple(c for _, c in steps)


def _round_small(name: str, value: float) -> float:
    f = SMALL[name]
    if isnan(value):
        return -0.0 if f.special == "none" else nan
    values, codes = _ladder(name)
    magnitude = abs(value)
    if f.special == "exponent" and value <= 0:  # it has neither a zero nor a sign
        return nan
    if magnitude > values[-1]:
        # Halfway to the number that would come next still rounds down, to even where the last code is even.
        # For the exponent-only format the next number is the NaN's code.
        spacing = values[-1] if f.special == "exponent" else values[-1] - values[-2]
        limit = values[-1] + spacing / 2
        if f.special == "none" or magnitude < limit or (magnitude == limit and codes[-1] % 2 == 0):
            result = values[-1]
        else:
            result = inf if f.special == "ieee" else nan
    elif magnitude < values[0]:  # only the exponent-only format has no zero: its smallest number
        result = values[0]
    else:
        k = bisect_left(values, magnitude)
        if values[k] == magnitude:
            result = values[k]
        else:
            below, above = magnitude - values[k - 1], values[k] - magnitude
            up = above < below or (above == below and codes[k] % 2 == 0)
            if f.special == "exponent":
                up = above <= below
            result = values[k] if up else values[k - 1]
    if isnan(result):
        return nan
    if f.special == "fnuz" and result == 0:
        return 0.0
    return copysign(result, value)


def _round_f32(value: float) -> float:
    return c_float(value).value


def _round_f16(value: float) -> float:
    try:
        rounded: float = struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return copysign(inf, value)
    return rounded


def _round_bf16(value: float) -> float:
    # Double to single to bf16: rounding to 24 bits first is harmless for sums, products, quotients and roots of bf16.
    bits: int = struct.unpack("<I", struct.pack("<f", c_float(value).value))[0]
    if isnan(value):
        return nan
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    rounded: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return rounded


def _same(value: float) -> float:
    return value


@cache
def rounding(element_type: str) -> Callable[[float], float]:
    """The function that rounds a Python float to the nearest number of a floating-point type, ties to even."""
    match element_type:
        case "f64":
            return _same
        case "f32":
            return _round_f32
        case "f16":
            return _round_f16
        case "bf16":
            return _round_bf16
        case _ if element_type in SMALL:
            known: dict[float, float] = {}

            def rounded(value: float) -> float:
                if value not in known or value == 0:
                    if len(known) > 4096:
                        known.clear()
                    known[value] = _round_small(element_type, value)
                return known[value]

            return rounded
    raise ValueError(f"{element_type} is not a floating-point type")


def to_bits(element_type: str, value: float) -> int:
    """The code of a number of the type (rounded first), as an unsigned integer. A NaN gets the positive quiet one."""
    value = rounding(element_type)(value)
    match element_type:
        case "f64":
            return _unsigned("<d", "<Q", value)
        case "f32":
            return _unsigned("<f", "<I", value)
        case "f16":
            return _unsigned("<e", "<H", value)
        case "bf16":
            return 0x7FC0 if isnan(value) else _unsigned("<f", "<I", value) >> 16
    f = SMALL[element_type]
    if isnan(value):
        if f.special == "ieee":  # the quiet one: the highest bit of the mantissa, and no other
            return ((1 << f.exponent) - 1) << f.mantissa | 1 << (f.mantissa - 1)
        return next(c for c in range(1 << f.bits) if isnan(decode_small(element_type, c)))
    negative = copysign(1.0, value) < 0
    sign = (1 << (f.bits - 1)) if negative else 0
    if isinf(value):
        return sign | (((1 << f.exponent) - 1) << f.mantissa)
    values, codes = _ladder(element_type)
    return sign | codes[bisect_left(values, abs(value))]


def from_bits(element_type: str, code: int) -> float:
    """The number that a code of the type stands for."""
    value: float
    match element_type:
        case "f64":
            value = struct.unpack("<d", struct.pack("<Q", code))[0]
        case "f32":
            value = struct.unpack("<f", struct.pack("<I", code))[0]
        case "f16":
            value = struct.unpack("<e", struct.pack("<H", code))[0]
        case "bf16":
            value = struct.unpack("<f", struct.pack("<I", code << 16))[0]
        case _:
            value = decode_small(element_type, code)
    return value


def _unsigned(written: str, read: str, value: float) -> int:
    if isnan(value):
        return {"<Q": 0x7FF8000000000000, "<I": 0x7FC00000, "<H": 0x7E00}[read]
    code: int = struct.unpack(read, struct.pack(written, value))[0]
    return code


def largest(element_type: str) -> float:
    """The largest finite number of the type."""
    match element_type:
        case "f64":
            return from_bits("f64", 0x7FEFFFFFFFFFFFFF)
        case "f32":
            return from_bits("f32", 0x7F7FFFFF)
        case "f16":
            return 65504.0
        case "bf16":
            return from_bits("bf16", 0x7F7F)
    return _ladder(element_type)[0][-1]


def smallest_normal(element_type: str) -> float:
    """The smallest number above zero from which on the type has all of its digits."""
    match element_type:
        case "f64":
            return 2.0**-1022
        case "f32" | "bf16":
            return 2.0**-126
        case "f16":
            return 2.0**-14
    return 2.0 ** (1 - SMALL[element_type].bias)


def reduce_precision(value: float, exponent_bits: int, mantissa_bits: int) -> float:
    """A number rounded to fewer exponent and mantissa bits, ties to even; what is too large becomes infinite, what
    would be subnormal becomes zero. The result may be none of the type that the number is of."""
    if isnan(value) or isinf(value) or value == 0:
        return value
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    drop = 52 - mantissa_bits
    if drop > 0:
        half = (1 << (drop - 1)) - 1
        bits += half + ((bits >> drop) & 1)
        bits = bits >> drop << drop
    rounded: float = struct.unpack("<d", struct.pack("<Q", bits & 0xFFFFFFFFFFFFFFFF))[0]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = ((bits >> 52) & 0x7FF) - 1023
    if exponent > bias:
        return copysign(inf, value)
    if exponent < 1 - bias:
        return copysign(0.0, value)
    return rounded
