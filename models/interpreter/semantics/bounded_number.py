"""Numbers of which only bounds are known: what any order of evaluation that a compiler may choose can give.

An element is an interval, ends inclusive. A sum remembers its terms and a product its factors, so that the bound holds
whatever the order in which they are taken: with unit u (half a unit in the last place of 1) and gamma(n) = n u / (1 - n
u), a sum of n terms is off by at most gamma(n - 1) times the sum of their magnitudes, a product of n factors by gamma(n
- 1) of itself (Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1 and section 4.2). A product that is
added may be fused with the addition: its own rounding is then less, and inside of the interval. Numbers below the
normal ones may be taken for zero: an absolute term for each operation.

Nothing rounds, in any order, where all terms are multiples of 2^g and their magnitudes add up to at most 2^(p + g), p
the digits of the type; nor in a product that p digits hold as it is. Such an interval is one point.

Ends are computed in double precision and moved outwards, so that what is derived here holds in real arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, isfinite, nextafter
from typing import Final

from hloproof.models.interpreter.semantics.small_float import SMALL, largest, rounding

_DIGITS: Final = {"f64": (53, -1022), "f32": (24, -126), "bf16": (8, -126), "f16": (11, -14)}
"""Bits of the significand, and the exponent of the smallest normal number."""
_WITHOUT_FLUSH: Final = frozenset({"f16", *SMALL})
"""Computed in f32 and then rounded: their small numbers are kept."""


@dataclass(frozen=True, slots=True)
class FloatKind:
    """A floating-point type: `unit` bounds the relative error of a rounding, `tiny` the absolute one of an operation
    whose result is small; numbers up to `top` are finite, and multiples of 2^`least` are kept by every operation."""

    name: str
    digits: int
    unit: float
    tiny: float
    top: float
    least: int


@cache
def kind_of(name: str) -> FloatKind:
    """The rounding of a float type by its name in HLO. Raises KeyError for other types."""
    if name in _DIGITS:
        digits, normal = _DIGITS[name]
    else:
        f = SMALL[name]
        digits, normal = f.mantissa + 1, 1 - f.bias
    # Narrow types are computed in a wider one, and what that has rounded is rounded again.
    wider = {"f64": 0.0, "f32": 0.0, "bf16": 2.0**-24, "f16": 2.0**-24}.get(name, 2.0**-11)
    unit = 2.0**-digits + wider + wider * 2.0**-digits
    least = normal - (digits - 1) if name in _WITHOUT_FLUSH else normal
    return FloatKind(name, digits, unit, 2.0**least, largest(name), least)


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms that may be added in any order: how many are not zero, their magnitudes together (rounded up), the largest
    g such that all are multiples of 2^g (-inf where some term is not known exactly), and what they add up to."""

    terms: int
    size: float
    grain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Product:
    """Factors that may be multiplied in any order: how many of them round (powers of two do not), the product of the
    magnitudes above one and of those below, and the whole."""

    factors: int
    above: float
    below: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Number:
    """All that an allowed evaluation may give. A number that is no finite one is a point, too. `once` is what is seen
    where nothing but a single operation on points has been computed, which rounds in one way only."""

    low: float
    high: float
    once: float | None = None
    sum: Sum | None = None
    product: Product | None = None

    @property
    def point(self) -> bool:
        return self.low == self.high or self.low != self.low

    @property
    def open(self) -> bool:
        """Nothing is known."""
        return self.low == -inf and self.high == inf


OPEN: Final = Number(-inf, inf)


class Undecided(Exception):
    """Which way a program goes, or which bits it reads, hangs on digits that rounding may change."""


class Unsettled:
    """An element of an integer type, or a predicate, that rounding may change."""

    def __bool__(self) -> bool:
        raise Undecided("a decision hangs on rounding")

    def __int__(self) -> int:
        raise Undecided("a number hangs on rounding")

    __index__ = __int__


UNSETTLED: Final = Unsettled()


def at(value: float) -> Number:
    """The number that is known exactly."""
    return Number(value, value)


def down(value: float) -> float:
    """The next number below, in 64 bits."""
    return nextafter(value, -inf)


def up(value: float) -> float:
    """The next larger number of 64 bits."""
    return nextafter(value, inf)


def gamma(count: int, unit: float) -> float:
    """The relative error of so many roundings; infinite where they are too many to tell."""
    total = count * unit
    return up(total / (1 - total)) if total < 0.5 else inf


def between(k: FloatKind, low: float, high: float, error: float = 0.0) -> Number:
    """The interval, each end moved outwards by the error; open where that is beyond the finite numbers."""
    low, high = down(low - error), up(high + error)
    return Number(low, high) if -k.top <= low and high <= k.top else OPEN


def rounded_once(k: FloatKind, low: float, high: float, roundings: float = 1) -> Number:
    """An interval of real results, each of them rounded."""
    size = max(abs(low), abs(high))
    return between(k, low, high, up(up(roundings * k.unit) * size) + k.tiny)


def representable(k: FloatKind, value: float) -> bool:
    """The type holds the number, and no operation takes it for zero."""
    return value == 0 or (
        isfinite(value) and abs(value) <= k.top and rounding(k.name)(value) == value and _exponent(value) >= k.least
    )


def _exponent(value: float) -> float:
    """The largest g such that the number is a multiple of 2^g; infinite for zero."""
    if value == 0:
        return inf
    numerator, denominator = value.as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length()


def _as_sum(x: Number) -> Sum:
    if x.sum is not None:
        return x.sum
    size = max(abs(x.low), abs(x.high))
    return Sum(int(size != 0), size, _exponent(x.low) if x.point else -inf, x.low, x.high)


def add(k: FloatKind, a: Number, b: Number) -> Number:
    """Both are finite, or open."""
    if a.open or b.open:
        return OPEN
    for zero, other in ((a, b), (b, a)):
        if zero.point and zero.low == 0 and zero.sum is None:  # not what has cancelled in one order
            return other
    x, y = _as_sum(a), _as_sum(b)
    size, grain, terms = up(x.size + y.size), min(x.grain, y.grain), x.terms + y.terms
    if grain >= k.least and x.size + y.size < min(2.0 ** min(k.digits + grain, 1023), k.top):
        total = x.low + y.low
        return Number(total, total, sum=Sum(terms, x.size + y.size, grain, total, total))
    if grain > -inf and Fraction(x.low) + Fraction(y.low) == Fraction(x.low + y.low):
        low = high = x.low + y.low
    else:
        low, high = down(x.low + y.low), up(x.high + y.high)
    whole = Sum(terms, size, grain, low, high)
    once = _once(k, a.low + b.low) if a.point and b.point and terms == 2 else None
    factor = gamma(terms - 1, k.unit)
    if size * (1 + factor) > k.top:
        return Number(-inf, inf, once)
    # Two terms have one order: the rounding is relative to their sum, however they cancel.
    error = up(k.unit * max(abs(low), abs(high))) if terms == 2 else up(factor * size)
    found = between(k, low, high, error + terms * k.tiny)
    return Number(found.low, found.high, once, whole)


def negate(a: Number) -> Number:
    """The bounds of -a, which rounds nothing."""
    s, p = a.sum, a.product
    return Number(
        -a.high,
        -a.low,
        None if a.once is None else -a.once,
        None if s is None else Sum(s.terms, s.size, s.grain, -s.high, -s.low),
        None if p is None else Product(p.factors, p.above, p.below, -p.high, -p.low),
    )


def _as_product(x: Number) -> Product:
    if x.product is not None:
        return x.product
    low, high = sorted((abs(x.low), abs(x.high)))
    low = 0.0 if x.low <= 0 <= x.high else low
    power = x.point and x.low != 0 and abs(x.low.as_integer_ratio()[0]).bit_count() == 1
    return Product(int(not power), max(1.0, high), min(1.0, low), x.low, x.high)


def multiply(k: FloatKind, a: Number, b: Number) -> Number:
    """Both are finite, or open."""
    if a.open or b.open:
        return OPEN
    return _multiplied(k, _as_product(a), _as_product(b), a.low * b.low if a.point and b.point else None)


def _multiplied(k: FloatKind, x: Product, y: Product, once: float | None) -> Number:
    points = x.low == x.high and y.low == y.high
    whole = x.low * y.low
    if points and isfinite(whole) and Fraction(x.low) * Fraction(y.low) == Fraction(whole):
        low = high = whole
    else:
        ends = [p * q for p in (x.low, x.high) for q in (y.low, y.high)]
        low, high = down(min(ends)), up(max(ends))
    factors, above, below = x.factors + y.factors, up(x.above * y.above), max(0.0, down(x.below * y.below))
    made = Product(factors, above, below, low, high)
    if low == high == 0 and above <= k.top:
        return Number(low, high, product=made)
    error = gamma(factors - 1, k.unit) if factors > 1 else 0.0
    single = once is not None and factors <= 2
    if above * (1 + error) > k.top:
        return OPEN if not single else Number(-inf, inf, _once(k, once))
    if low == high and representable(k, low) and down(below) >= 2.0**k.least:
        return Number(low, high, product=made)
    if factors > 2 and below < 2.0**k.least and low <= high != 0:  # some order may lose all digits
        return OPEN
    found = between(k, low, high, up(error * max(abs(low), abs(high))) + (factors + 2) * k.tiny)
    return Number(found.low, found.high, _once(k, once) if single else None, None, made if not found.open else None)


def _once(k: FloatKind, value: float | None) -> float | None:
    """Rounded; what is below the normal numbers may be zero as well."""
    if value is None or 0 < abs(value) < 2.0 ** (k.least + k.digits):
        return None
    return rounding(k.name)(value)


def divide(k: FloatKind, a: Number, b: Number) -> Number:
    """By a constant it may become a multiplication by the rounded reciprocal, so that two roundings are allowed."""
    if a.open or b.open or b.low <= 0 <= b.high:
        return OPEN
    y = _as_product(b)
    if y.below <= 0 or not isfinite(1 / y.below):
        return OPEN
    ends = (1 / y.low, 1 / y.high)
    power = b.point and y.factors == 0
    low, high = (ends[0], ends[0]) if power else (down(min(ends)), up(max(ends)))
    turned = Product(y.factors + (not power), up(1 / y.below), down(1 / y.above), low, high)
    return _multiplied(k, _as_product(a), turned, None)


def hull(a: Number, b: Number) -> Number:
    """One or the other."""
    same = (a.low == b.low or (a.low != a.low and b.low != b.low)) and a.high == b.high and a.once == b.once
    if same or (a.point and b.point and a.low != a.low and b.low != b.low):
        return a
    if a.low != a.low or b.low != b.low:
        return OPEN
    seen = [v for x in (a, b) for v in (x.low, x.high)]
    return Number(min(seen), max(seen))
