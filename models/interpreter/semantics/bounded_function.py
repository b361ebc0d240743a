"""Functions of one or two floating-point numbers, on intervals.

A function that rises or falls has its extremes at the ends; the others are bounded by how fast they may change. To
that comes the error of the approximation that stands for the function, in roundings (half units in the last place,
relative to the result). The errors were measured on XLA's CPU compiler (jaxlib 0.10) in f32 and f64 on 200,000
arguments each over the range of the type, against extended precision, and are taken twice. Narrower types are computed
in f32.
"""

from __future__ import annotations

from math import inf, isfinite, pi
from typing import Final

from hloproof.models.interpreter.semantics.bounded_number import OPEN, FloatKind, Number, at, between, kind_of, up
from hloproof.models.interpreter.semantics.real_float import FLOAT_FUNCTIONS
from hloproof.models.interpreter.semantics.semantics import Function

_ROUNDINGS: Final[dict[str, tuple[float, float]]] = {
    "exponential": (3, 5),
    "exponential-minus-one": (12, 12),
    "log": (4, 3),
    "log-plus-one": (7, 480),
    "logistic": (5, 7),
    "sqrt": (6, 3),
    "rsqrt": (6, 3),
    "cbrt": (4, 10),
    "sine": (3, 3),
    "cosine": (3, 3),
    "tan": (3, 3),
    "tanh": (10, 14),
    "asin": (6, 5),
    "acos": (6, 5),
    "atan": (3, 3),
    "sinh": (51, 38),
    "cosh": (51, 38),
    "asinh": (7, 7),
    "acosh": (9, 8),
    "atanh": (7, 300),
    "erf": (10, 4),
    "power": (3, 3),
    "atan2": (4, 3),
}
"""In f32 and f64. A square root may be taken as the number times its reciprocal root."""

_RISING: Final = frozenset(
    "exponential exponential-minus-one log log-plus-one logistic sqrt cbrt tanh asin atan sinh asinh acosh atanh "
    "erf".split()
)
_FALLING: Final = frozenset({"rsqrt", "acos"})
_SLOW: Final = frozenset({"sine", "cosine"})
"""They change no faster than their argument."""
_KEPT: Final = frozenset({"floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign"})
"""They rise, and do not round."""
_LIBRARY: Final = 2.0**-49
"""The relative error of these functions in double precision, generously."""


def approximated(opcode: str, kind: str) -> Function | None:
    """The opcode on Numbers of the type; None for one that is not a function of this table. What is open or not finite
    is for the caller."""
    plain = FLOAT_FUNCTIONS.get(opcode)
    if plain is None or opcode not in _ROUNDINGS:
        return None
    k = kind_of(kind)
    if opcode == "power":
        return lambda a, b: _power(k, a, b)
    if opcode == "atan2":
        return lambda a, b: _angle(k, a, b)
    if opcode in _SLOW:
        return lambda a: _slow(opcode, k, plain, a)
    if opcode == "cosh":
        return lambda a: _monotone(opcode, k, plain, _magnitude(a))
    if opcode == "tan":
        return lambda a: _tangent(k, plain, a)
    return lambda a: _monotone(opcode, k, plain, a)


def stepped(opcode: str, kind: str) -> Function | None:
    """floor, ceil, rounding to whole numbers and sign: whole numbers at both ends."""
    if opcode not in _KEPT:
        return None
    plain, k = FLOAT_FUNCTIONS[opcode], kind_of(kind)

    def step(a: Number) -> Number:
        low, high = plain(a.low), plain(a.high)
        return at(low) if low == high else between(k, low, high)

    return step


def _magnitude(a: Number) -> Number:
    low, high = sorted((abs(a.low), abs(a.high)))
    return Number(0.0 if a.low <= 0 <= a.high else low, high)


def _allowed(opcode: str, k: FloatKind) -> float:
    """The relative error of the approximation and of the rounding to the type."""
    narrow, wide = _ROUNDINGS[opcode]
    if k.name == "f64":
        return wide * k.unit + _LIBRARY
    more = 0.0 if k.name == "f32" else k.unit
    return narrow * 2.0**-24 + more + _LIBRARY


def _around(opcode: str, k: FloatKind, low: float, high: float, more: float = 0.0) -> Number:
    if not (isfinite(low) and isfinite(high)):
        return OPEN
    size = max(abs(low), abs(high))
    # An approximation may give up a little before the largest number.
    if size > k.top / 4:
        return OPEN
    return between(k, low, high, up((_allowed(opcode, k) + more) * size) + k.tiny)


def _monotone(opcode: str, k: FloatKind, plain: Function, a: Number) -> Number:
    low, high = plain(a.low), plain(a.high)
    if opcode in _FALLING:
        low, high = high, low
    elif opcode not in _RISING and opcode != "cosh":
        return OPEN
    # A product of exponentials may be the exponential of a sum, which has been rounded.
    more = 2 * k.unit * max(abs(a.low), abs(a.high)) if opcode in ("exponential", "sinh", "cosh") else 0.0
    found = _around(opcode, k, low, high, more)
    if found.open or opcode != "exponential":
        return found
    return Number(max(0.0, found.low), found.high)


def _slow(opcode: str, k: FloatKind, plain: Function, a: Number) -> Number:
    middle = a.low / 2 + a.high / 2
    value, reach = plain(middle), up(a.high / 2 - a.low / 2) * (1 + 2.0**-50) + abs(middle) * 2.0**-52
    if a.point:
        value, reach = plain(a.low), 0.0
    # Arguments are reduced by multiples of pi: an absolute error beside the relative one of the result.
    error = _allowed(opcode, k) * (1.0 if abs(a.high) + abs(a.low) > 2 else min(1.0, abs(value) + reach))
    return between(k, value, value, up(reach + error) + k.tiny)


def _tangent(k: FloatKind, plain: Function, a: Number) -> Number:
    if not a.point and round(a.low / pi) != round(a.high / pi):
        return OPEN
    low, high = plain(a.low), plain(a.high)
    if low > high or abs(low) > 2.0**20 or abs(high) > 2.0**20:
        return OPEN
    # Near a pole the reduced argument counts: relative to the square of the result.
    size = max(abs(low), abs(high))
    return between(k, low, high, up(_allowed("tan", k) * size * (1 + size)) + k.tiny)


def _power(k: FloatKind, a: Number, b: Number) -> Number:
    plain = FLOAT_FUNCTIONS["power"]
    if a.point and b.point:
        value = plain(a.low, b.low)
        return _around("power", k, value, value, _of_exponent(k, a, b))
    if a.low <= 0:
        return OPEN
    ends = [plain(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return _around("power", k, min(ends), max(ends), _of_exponent(k, a, b))


def _of_exponent(k: FloatKind, a: Number, b: Number) -> float:
    """A power may be a product of as many factors, or the exponential of a product that has been rounded."""
    biggest = max(abs(b.low), abs(b.high))
    return 2 * k.unit * min(biggest, 2.0**20) if biggest < 2.0**20 else inf


def _angle(k: FloatKind, y: Number, x: Number) -> Number:
    plain = FLOAT_FUNCTIONS["atan2"]
    if y.low <= 0 <= y.high and not (y.point and y.low != 0):
        return OPEN if not (x.low > 0) else _corners(k, plain, y, x)
    if x.low <= 0 <= x.high and not x.point:
        return OPEN
    return _corners(k, plain, y, x)


def _corners(k: FloatKind, plain: Function, y: Number, x: Number) -> Number:
    """With fixed signs it rises or falls in each argument."""
    ends = [plain(p, q) for p in (y.low, y.high) for q in (x.low, x.high)]
    return _around("atan2", k, min(ends), max(ends))


def largest_of(a: Number, b: Number) -> Number:
    """The bounds of the larger one."""
    return _joined(a, b, max(a.low, b.low), max(a.high, b.high))


def smallest_of(a: Number, b: Number) -> Number:
    """The bounds of the smaller one."""
    return _joined(a, b, min(a.low, b.low), min(a.high, b.high))


def _joined(a: Number, b: Number, low: float, high: float) -> Number:
    """One of the two where it is that one, else the ends."""
    for x in (a, b):
        if (x.low, x.high) == (low, high) and (a is b or not _overlap(a, b)):
            return x
    return Number(low, high)


def _overlap(a: Number, b: Number) -> bool:
    return a.low <= b.high and b.low <= a.high


def magnitude(a: Number) -> Number:
    """The bounds of |a|."""
    if a.point:
        return at(abs(a.low))
    if a.low >= 0:
        return a
    return _magnitude(a)
