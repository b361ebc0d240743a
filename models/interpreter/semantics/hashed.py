"""The semantics `hashed`: real and complex arithmetic without rounding, and hashes for what is not arithmetic.

A floating-point element is a residue modulo the prime 2^61 - 1, a complex one a pair of residues. Every finite binary
number is an integer over a power of two, and so has a residue of its own; +, -, * and / are those of the field, so sums
and products (also those inside reduce, dot and convolution) do not depend on their order and never round. maximum and
minimum are commutative and associative hashes whose neutral elements are -inf and +inf. Every other function of floats
is a hash of its name and arguments; operations that work on whole lines or whole operands (fft, cholesky, custom calls)
are hashes of their name, attributes, position and all arguments. Conversions between floating-point types, and
reduce-precision, change nothing, since rounding is what this semantics leaves out.

Comparison orders residues as integers of least magnitude, so comparators, masks and sorts are orders; small whole
numbers compare as in the real semantics. Integers and predicates are computed exactly: they say where data goes.

Two programs that move data alike and compute alike in exact arithmetic give the same hashes. Different hashes on the
same inputs show a difference that is not one of rounding, except where a program relies on max(x, x) = x, on a
function's own laws (exp, sqrt, ...), or on values folded with rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from math import isfinite, isnan
from operator import mul
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.real_integer import COMPARISONS
from hloproof.models.interpreter.semantics.semantics import Function, Scalars, word
from hloproof.models.interpreter.semantics.small_float import FLOATS, largest, rounding
from hloproof.models.interpreter.value import Element

PRIME: Final = (1 << 61) - 1
_HALF: Final = PRIME >> 1
_MASK: Final = (1 << 64) - 1
_WHOLE: Final = 1 << 53
"""Residues of at most this magnitude are taken for the whole numbers that they may come from."""


@cache
def name_hash(name: str) -> int:
    """A residue that depends on the name only, the same in every process."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big") % PRIME


def mix(name: str, *arguments: Element) -> int:
    """A residue that depends on the name and on all arguments, in their order."""
    h = name_hash(name)
    for a in arguments:
        if isinstance(a, tuple):
            a = a[0] * 0x9E3779B97F4A7C15 + a[1]
        h = (h ^ a) * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB & _MASK
        h ^= h >> 29
        h = h * 0x9E3779B97F4A7C15 & _MASK
        h ^= h >> 32
    return h % PRIME


INFINITY: Final = name_hash("inf")
MINUS_INFINITY: Final = PRIME - INFINITY
NOT_A_NUMBER: Final = name_hash("nan")


def centered(a: int) -> int:
    """The integer of least magnitude in the residue class."""
    return a - PRIME if a > _HALF else a


@cache
def inverse(a: int) -> int:
    """The residue that gives 1 with `a`; a hash for 0."""
    return pow(a, -1, PRIME) if a else name_hash("1/0")


@cache
def residue(value: float) -> int:
    """The residue of a floating-point number."""
    if not isfinite(value):
        return NOT_A_NUMBER if isnan(value) else INFINITY if value > 0 else MINUS_INFINITY
    numerator, denominator = value.as_integer_ratio()
    return numerator * pow(denominator, -1, PRIME) % PRIME


def _rounded_residue(element_type: str, value: float) -> int:
    """The residue of a number of the type. A fraction that is the rounded reciprocal of another number is taken for the
    exact one, so that dividing by 9 and multiplying by the constant 1/9 give the same."""
    value = rounding(element_type)(value)
    if 0 < abs(value) < 1 and 1 / abs(value) < 1e30:
        numerator, _ = value.as_integer_ratio()
        reciprocal = rounding(element_type)(1 / value)
        if numerator.bit_length() > 7 and rounding(element_type)(1 / reciprocal) == value:
            return inverse(residue(reciprocal))
    return residue(value)


# x -> (x + shift)^17 is one to one on residues (17 is prime to 2^61 - 2). Adding its values is a commutative and
# associative operation on residues.
_EXPONENT: Final = 17
_ROOT: Final = pow(_EXPONENT, -1, PRIME - 1)


def _joined(name: str, neutral: int) -> Function:
    shift = name_hash(name)

    def join(a: int, b: int) -> int:
        if a == neutral:
            return b
        if b == neutral:
            return a
        total = pow(a + shift, _EXPONENT, PRIME) + pow(b + shift, _EXPONENT, PRIME)
        return (pow(total, _ROOT, PRIME) - shift) % PRIME

    return join


_maximum = _joined("maximum", MINUS_INFINITY)
_minimum = _joined("minimum", INFINITY)


def _power(a: int, b: int) -> int:
    n = centered(b)
    if 0 <= n <= 64:
        return pow(a, n, PRIME)
    if -64 <= n < 0:
        return pow(inverse(a), -n, PRIME)
    return mix("power", a, b)


def _remainder(a: int, b: int) -> int:
    x, y = centered(a), centered(b)
    if y and abs(x) < _WHOLE and abs(y) < _WHOLE:
        return (abs(x) % abs(y)) * (-1 if x < 0 else 1) % PRIME
    return mix("remainder", a, b)


def _whole(name: str) -> Function:
    return lambda a: a if abs(centered(a)) < _WHOLE else mix(name, a)


def _sign(a: int) -> int:
    return 0 if a == 0 else 1 if a <= _HALF else PRIME - 1


_FLOAT: Final[dict[str, Function]] = {
    "add": lambda a, b: (a + b) % PRIME,
    "subtract": lambda a, b: (a - b) % PRIME,
    "multiply": lambda a, b: a * b % PRIME,
    "divide": lambda a, b: a * inverse(b) % PRIME if b else mix("divide by zero", a),
    "negate": lambda a: -a % PRIME,
    "abs": lambda a: a if a <= _HALF else PRIME - a,
    "sign": _sign,
    "maximum": _maximum,
    "minimum": _minimum,
    "power": _power,
    "remainder": _remainder,
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "round-nearest-even": _whole("round-nearest-even"),
    "round-nearest-afz": _whole("round-nearest-afz"),
    "rsqrt": lambda a: inverse(mix("sqrt", a)),
    "exponential-minus-one": lambda a: (mix("exponential", a) - 1) % PRIME,
    "log-plus-one": lambda a: mix("log", (a + 1) % PRIME),
    "logistic": lambda a: inverse((1 + mix("exponential", -a % PRIME)) % PRIME),
    "is-finite": lambda a: a not in (INFINITY, MINUS_INFINITY, NOT_A_NUMBER),
    "reduce-precision": lambda a: a,
}

_Pair = tuple[int, int]


def _times(x: _Pair, y: _Pair) -> _Pair:
    return (x[0] * y[0] - x[1] * y[1]) % PRIME, (x[0] * y[1] + x[1] * y[0]) % PRIME


def _over(x: _Pair, y: _Pair) -> _Pair:
    a, b = _times(x, (y[0], -y[1]))
    scale = inverse((y[0] * y[0] + y[1] * y[1]) % PRIME)
    return a * scale % PRIME, b * scale % PRIME


_COMPLEX: Final[dict[str, Function]] = {
    "add": lambda x, y: ((x[0] + y[0]) % PRIME, (x[1] + y[1]) % PRIME),
    "subtract": lambda x, y: ((x[0] - y[0]) % PRIME, (x[1] - y[1]) % PRIME),
    "multiply": _times,
    "divide": _over,
    "negate": lambda x: (-x[0] % PRIME, -x[1] % PRIME),
    "real": lambda x: x[0],
    "imag": lambda x: x[1],
    "abs": lambda x: mix("sqrt", (x[0] * x[0] + x[1] * x[1]) % PRIME),
}


class Hashed(Scalars):
    """Residues and hashes."""

    name = "hashed"

    def __init__(self, rounded: frozenset[str] = frozenset()) -> None:
        """`rounded` are types to which a conversion does round."""
        self._exact = Real()
        self._rounded = rounded
        self._origin: dict[int, tuple[str, int]] = {}

    def constant(self, element_type: str, value: Element) -> Element:
        if element_type in FLOATS:
            return value % PRIME if isinstance(value, int) else _rounded_residue(element_type, value)
        if element_type in types.COMPLEX:
            if isinstance(value, (tuple, list)):
                return int(value[0]) % PRIME, int(value[1]) % PRIME
            z = types.rounded(element_type, value)
            part = types.PART[element_type]
            return _rounded_residue(part, z.real), _rounded_residue(part, z.imag)
        return types.rounded(element_type, value)

    def integer(self, element: Element) -> int:
        return int(element)

    def reorders(self, element_type: str) -> bool:
        return True

    def uninterpreted(self, name: str, result: str, arguments: Sequence[Element], position: int) -> Element | None:
        return _of_type(result, mix(name, position, *arguments))

    def from_bits(self, element_type: str, bits: int) -> Element:
        element = self.constant(element_type, self._exact.from_bits(element_type, bits))
        if element_type in FLOATS:
            self._origin[element] = (element_type, bits)
        return element

    def to_bits(self, element_type: str, element: Element) -> int:
        """Numbers made from bits, and small whole ones, have the bits of the real semantics; the others bits in their
        order, since comparisons are also written on bits."""
        if element_type in FLOATS:
            made = self._origin.get(element)
            if made is not None and made[0] == element_type:
                return made[1]
            return self._ordered_bits(element_type, centered(element))
        if element_type in types.COMPLEX:
            part = types.PART[element_type]
            return self.to_bits(part, element[0]) | self.to_bits(part, element[1]) << types.width(part)
        return self._exact.to_bits(element_type, element)

    def _ordered_bits(self, element_type: str, number: int) -> int:
        sign = 1 << (types.width(element_type) - 1) if number < 0 else 0
        magnitude, exact = abs(number), self._exact
        top = exact.to_bits(element_type, types.highest(element_type)) & ~(1 << (types.width(element_type) - 1))
        if magnitude < 256 and exact.constant(element_type, float(magnitude)) == magnitude:
            return sign | exact.to_bits(element_type, float(magnitude))
        low = exact.to_bits(element_type, min(256.0, largest(element_type)))
        return sign | min(top, low + magnitude * (top - low) // _HALF)

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        if result in FLOATS:
            return sum(map(mul, left, right)) % PRIME
        if result in types.COMPLEX:
            real, imaginary = 0, 0
            for x, y in zip(left, right, strict=True):
                a, b = _times(_as_pair(x), _as_pair(y))
                real, imaginary = real + a, imaginary + b
            return real % PRIME, imaginary % PRIME
        return self._exact.sum_of_products(result, left, right)

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        kind = operands[-1] if opcode in ("select", "clamp") else operands[0]
        if opcode == "convert":
            return self._conversion(kind, result)
        if opcode == "bitcast-convert":
            return lambda a: self.from_bits(result, self.to_bits(kind, a))
        if opcode == "select" or (kind not in FLOATS and kind not in types.COMPLEX):
            return self._exact.function(opcode, operands, result, attributes)
        if opcode == "compare":
            compare = COMPARISONS.get(word(attributes, "direction"))
            if compare is None:
                raise NotModelled("compare without a direction")
            if kind in types.COMPLEX and word(attributes, "direction") not in ("EQ", "NE"):
                raise NotModelled("an order of complex numbers")
            if kind in types.COMPLEX:
                return compare
            return lambda a, b: compare(centered(a), centered(b))
        if opcode == "clamp":
            if kind in types.COMPLEX:
                raise NotModelled("an order of complex numbers")
            return lambda low, a, high: _minimum(_maximum(low, a), high)
        if opcode == "complex":
            return lambda a, b: (a, b)
        table = _COMPLEX if kind in types.COMPLEX else _FLOAT
        if opcode in table:
            return table[opcode]
        if kind in FLOATS and opcode in ("real", "imag"):
            return (lambda a: a) if opcode == "real" else lambda a: 0
        if kind in types.COMPLEX:
            return lambda *a: (mix(opcode + ".real", *a), mix(opcode + ".imag", *a))
        return lambda *a: mix(opcode, *a)

    def _conversion(self, source: str, target: str) -> Function:
        if source in FLOATS:
            if target in self._rounded:
                return lambda a: _narrowed(a, target)
            if target in FLOATS:
                return lambda a: a
            if target in types.COMPLEX:
                return lambda a: (a, 0)
            if target == "pred":
                return lambda a: a != 0
            low, high = types.lowest(target), types.highest(target)
            return lambda a: min(max(_as_whole(a, target), low), high)
        if source in types.COMPLEX:
            if target in types.COMPLEX:
                return lambda a: a
            real = self._conversion(types.PART[source], target)
            return lambda a: real(a[0])
        if target in self._rounded:
            return lambda a: _narrowed(int(a) % PRIME, target)
        if target in FLOATS:
            return lambda a: int(a) % PRIME
        if target in types.COMPLEX:
            return lambda a: (int(a) % PRIME, 0)
        return self._exact.function("convert", [source], target, Attributes())


def _as_whole(a: int, target: str) -> int:
    whole = centered(a)
    if abs(whole) < _WHOLE:
        return whole
    return types.from_bits(target, mix("truncate", a) & ((1 << types.width(target)) - 1))  # type: ignore[no-any-return]


def _narrowed(a: int, target: str) -> int:
    """A whole number rounded to the type; a hash of any other residue."""
    whole = centered(a)
    return residue(rounding(target)(float(whole))) if abs(whole) < _WHOLE else mix(target, a)


def _as_pair(x: Element) -> _Pair:
    return x if isinstance(x, tuple) else (x, 0)


def _of_type(element_type: str, h: int) -> Element:
    """A hash as an element of the type."""
    if element_type in FLOATS:
        return h
    if element_type in types.COMPLEX:
        return h, mix("imaginary", h)
    return types.from_bits(element_type, h & ((1 << types.width(element_type)) - 1))
