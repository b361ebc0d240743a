"""The semantics `real`: elements are the numbers that the element types stand for, rounded after each operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.real_complex import COMPLEX_FUNCTIONS
from hloproof.models.interpreter.semantics.real_float import FLOAT_FUNCTIONS, maximum, minimum
from hloproof.models.interpreter.semantics.real_integer import COMPARISONS, integer_function, pred_function
from hloproof.models.interpreter.semantics.semantics import Function, Scalars, word
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL, reduce_precision, rounding
from hloproof.models.interpreter.value import Element

_EXACT = frozenset(
    {
        "negate",
        "abs",
        "sign",
        "maximum",
        "minimum",
        "floor",
        "ceil",
        "round-nearest-even",
        "round-nearest-afz",
        "remainder",
    }
)
"""These give a number of f64, f32, f16 or bf16 whenever they are given such ones. Narrower types may end before the
next whole number (15.5 in f8e3m4), and some have no negative zero."""


class Real(Scalars):
    """Numbers."""

    name = "real"

    def constant(self, element_type: str, value: Element) -> Element:
        return types.rounded(element_type, value)

    def from_bits(self, element_type: str, bits: int) -> Element:
        return types.from_bits(element_type, bits)

    def to_bits(self, element_type: str, element: Element) -> int:
        return types.to_bits(element_type, element)

    def integer(self, element: Element) -> int:
        return int(element)

    def reorders(self, element_type: str) -> bool:
        return True

    def uninterpreted(self, name: str, result: str, arguments: Sequence[Element], position: int) -> Element | None:
        return None

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        if result == "pred":
            return any(map(mul, left, right))
        return types.rounded(result, sum(map(mul, left, right)))

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        found = _special(opcode, operands, result, attributes) or _arithmetic(opcode, operands, result)
        if found is None:
            raise NotModelled(f"{opcode} on {', '.join(operands)}")
        return found


def _arithmetic(opcode: str, operands: Sequence[str], result: str) -> Function | None:
    """Operations whose operands and result have one type."""
    kind = operands[0]
    if kind == "pred":
        return pred_function(opcode)
    if kind in types.INTEGERS:
        return integer_function(opcode, kind)
    if kind in types.COMPLEX:
        function = COMPLEX_FUNCTIONS.get(opcode)
        if function is None:
            return None
        part = rounding(types.PART[kind])
        return _complex_rounded(function, part)
    function = FLOAT_FUNCTIONS.get(opcode)
    if function is None or (opcode in _EXACT and kind not in SMALL):
        return function
    return _rounded(function, kind, len(operands))


def _rounded(function: Function, kind: str, arity: int) -> Function:
    if kind == "f64":
        return function
    rounded = rounding(kind)
    if arity == 1:
        return lambda a: rounded(function(a))
    return lambda a, b: rounded(function(a, b))


def _complex_rounded(function: Function, part: Function) -> Function:
    def f(*arguments: Element) -> Element:
        z = complex(function(*arguments))
        return complex(part(z.real), part(z.imag))

    return f


def _special(opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function | None:
    """Operations whose result has another type than the operands, or that take more than two."""
    kind = operands[0]
    match opcode:
        case "select":
            return lambda p, a, b: a if p else b
        case "clamp":
            if kind in types.COMPLEX:
                return None
            if kind in FLOATS:
                return lambda low, a, high: minimum(maximum(low, a), high)
            return lambda low, a, high: min(max(low, a), high)
        case "compare":
            return _comparison(kind, word(attributes, "direction"), word(attributes, "type"))
        case "convert":
            return conversion(kind, result)
        case "bitcast-convert":
            return lambda a: types.from_bits(result, types.to_bits(kind, a))
        case "is-finite":
            return lambda a: math.isfinite(a) if not isinstance(a, complex) else math.isfinite(abs(a))
        case "complex":
            return complex
        case "real":
            return (lambda z: z.real) if kind in types.COMPLEX else (lambda a: a)
        case "imag":
            return (lambda z: z.imag) if kind in types.COMPLEX else (lambda a: 0.0)
        case "abs" if kind in types.COMPLEX:
            part = rounding(result)
            return lambda z: part(math.hypot(z.real, z.imag))
        case "reduce-precision":
            exponent, mantissa = attributes.integer("exponent_bits", 8), attributes.integer("mantissa_bits", 23)
            of_type = rounding(kind)
            return lambda a: of_type(reduce_precision(a, exponent, mantissa))
        case _:
            return None


def _comparison(kind: str, direction: str, order: str) -> Function | None:
    if kind in types.COMPLEX and direction not in ("EQ", "NE"):
        return None
    compare = COMPARISONS.get(direction)
    if order == "TOTALORDER" and kind in FLOATS and compare is not None:
        if kind == "f8e8m0fnu":  # no sign: the bits are in order
            return lambda a, b: compare(types.to_bits(kind, a), types.to_bits(kind, b))
        # Reading the bits as sign and magnitude orders -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
        sign = 1 << (types.width(kind) - 1)

        def key(a: Element) -> int:
            bits = types.to_bits(kind, a)
            return -(bits ^ sign) - 1 if bits & sign else bits

        def total(a: Element, b: Element) -> bool:
            # Numbers that are not both zero are in their own order; this is most of what sorts and maxima ask.
            plain = a < b or a > b or a == b != 0
            return bool(compare(a, b) if plain else compare(key(a), key(b)))

        return total
    return compare


def conversion(source: str, target: str) -> Function:
    """convert: to an integer truncates and saturates (a NaN gives zero), from one wider wraps, to pred tests for
    non-zero, from complex drops the imaginary part."""
    if target == "pred":
        return lambda a: a != 0
    if target in types.COMPLEX:
        return lambda a: types.rounded(target, a)
    if source in types.COMPLEX:
        real = conversion(types.PART[source], target)
        return lambda z: real(z.real)
    if target in types.INTEGERS:
        if source in FLOATS:
            low, high = types.lowest(target), types.highest(target)
            return lambda a: _saturated(a, low, high)
        wrap = types.wrapping(target)
        return lambda a: wrap(int(a))
    rounded = rounding(target)
    if source in types.INTEGERS or source == "pred":
        return lambda a: rounded(_to_float(a, target))
    return rounded


def _saturated(a: float, low: int, high: int) -> int:
    if math.isnan(a):
        return 0
    if a <= low:
        return low
    return high if a >= high else int(a)


def _to_float(a: int, target: str) -> float:
    """An integer as a double that rounds to the target as the integer itself would: beyond 53 bits, round to odd."""
    if target == "f64" or abs(a) < 1 << 53:
        return float(a)
    magnitude = abs(a)
    drop = magnitude.bit_length() - 53
    sticky = magnitude & ((1 << drop) - 1) != 0
    kept = (magnitude >> drop | sticky) << drop
    return float(-kept if a < 0 else kept)


__all__ = ["Real", "conversion"]
