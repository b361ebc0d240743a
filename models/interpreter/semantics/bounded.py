"""The semantics `bounded`: floating-point elements are bounds on what any evaluation that a compiler may choose gives.

Floats are Numbers (`bounded_number.py`); integers and predicates are themselves, or UNSETTLED where rounding may change
them. What is decided by such a one (a start index, a trip, an order) raises Undecided. Complex numbers, and operations
that are not computed element by element, raise NotModelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf, isfinite, nan
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.bounded_function import (
    approximated,
    largest_of,
    magnitude,
    smallest_of,
    stepped,
)
from hloproof.models.interpreter.semantics.bounded_number import (
    OPEN,
    UNSETTLED,
    Number,
    Undecided,
    Unsettled,
    add,
    at,
    between,
    divide,
    hull,
    kind_of,
    multiply,
    negate,
    representable,
    rounded_once,
)
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function, Scalars, word
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL, rounding
from hloproof.models.interpreter.value import Element

_REAL: Final = Real()
_POINTS_ONLY: Final = frozenset({"remainder"})


class Bounded(Scalars):
    """Bounds."""

    name = "bounded"

    def constant(self, element_type: str, value: Element) -> Element:
        if element_type in types.COMPLEX:
            raise NotModelled("bounds of complex numbers")
        number = _REAL.constant(element_type, value)
        return _leaf(element_type, number) if element_type in FLOATS else number

    def from_bits(self, element_type: str, bits: int) -> Element:
        return self.constant(element_type, _REAL.from_bits(element_type, bits))

    def to_bits(self, element_type: str, element: Element) -> int:
        if not isinstance(element, Number):
            return _REAL.to_bits(element_type, int(element))
        if not element.point:
            raise Undecided("bits hang on rounding")
        return _REAL.to_bits(element_type, element.low)

    def integer(self, element: Element) -> int:
        return int(element)

    def reorders(self, element_type: str) -> bool:
        return True

    def uninterpreted(self, name: str, result: str, arguments: Sequence[Element], position: int) -> Element | None:
        raise NotModelled(f"bounds of {name.split(' ')[0]}")

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        if result not in FLOATS:
            if any(isinstance(v, Unsettled) for v in (*left, *right)):
                return UNSETTLED
            return _REAL.sum_of_products(result, left, right)
        plus, times = self._of_floats("add", result), self._of_floats("multiply", result)
        total: Element = at(0.0)
        for x, y in zip(left, right, strict=True):
            total = plus(total, times(_number(result, x), _number(result, y)))
        return total

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        if any(k in types.COMPLEX for k in (*operands, result)):
            raise NotModelled("bounds of complex numbers")
        if opcode == "select":
            return _selected
        if not any(k in FLOATS for k in (*operands, result)):
            return _settled(_REAL.function(opcode, operands, result, attributes))
        kind = operands[0]
        if opcode == "convert":
            return self._conversion(kind, result, _REAL.function(opcode, operands, result, attributes))
        if opcode == "compare":
            return _comparison(
                word(attributes, "direction"), _REAL.function(opcode, operands, result, attributes), kind
            )
        if opcode == "is-finite":
            return lambda a: isfinite(a.low) if a.point else UNSETTLED if a.open else True
        if opcode == "bitcast-convert":
            return lambda a: self.from_bits(result, self.to_bits(kind, a))
        if opcode == "reduce-precision":
            plain = _REAL.function(opcode, operands, result, attributes)
            return _narrowed(result, plain, 2.0 ** (2 - 2 ** (attributes.integer("exponent_bits", 8) - 1)))
        if opcode == "clamp":
            least, most = self._of_floats("minimum", kind), self._of_floats("maximum", kind)
            return lambda low, a, high: least(most(low, a), high)
        if opcode in ("real", "imag"):
            return (lambda a: a) if opcode == "real" else (lambda a: at(0.0))
        return self._of_floats(opcode, kind, len(operands))

    def _of_floats(self, opcode: str, kind: str, arity: int = 2) -> Function:
        """An operation whose operands and result have one type of floating-point numbers."""
        plain = _REAL.function(opcode, [kind] * arity, kind, Attributes())
        found = _operation(opcode, kind)

        def bounded(*given: Number) -> Number:
            if all(a.point for a in given):
                if opcode in _POINTS_ONLY or found is None or not all(isfinite(a.low) for a in given):
                    return _leaf(kind, plain(*(a.low for a in given)))
            elif found is None or any(a.open or (a.point and not isfinite(a.low)) for a in given):
                return OPEN
            result: Number = found(*given)
            return result

        if found is None and opcode not in _POINTS_ONLY:
            raise NotModelled(f"bounds of {opcode}")
        return bounded

    def _conversion(self, source: str, target: str, plain: Function) -> Function:
        if source not in FLOATS:
            return lambda a: OPEN if isinstance(a, Unsettled) else _from_integer(target, a, plain(a))
        if target in FLOATS:
            sure = target in ("f32", "f64") or (target in ("f16", "bf16") and source != "f64")
            return lambda a: _rounded_to(target, a, plain, sure)

        def converted(a: Number) -> Element:
            if a.point:
                return plain(a.low)
            if target == "pred":
                return True if a.low > 0 or a.high < 0 else UNSETTLED
            low, high = (UNSETTLED, 0) if a.open else (plain(a.low), plain(a.high))
            return low if low == high else UNSETTLED

        return converted


def _leaf(kind: str, value: float) -> Number:
    """A number of the type; one below the normal numbers may be taken for zero."""
    if isfinite(value) and not representable(kind_of(kind), value):
        return Number(min(0.0, value), max(0.0, value), value if kind in SMALL else None)
    return at(value)


def _number(kind: str, x: Element) -> Number:
    """A factor of any type in the type of the sum."""
    return x if isinstance(x, Number) else OPEN if isinstance(x, Unsettled) else _from_integer(kind, x, float(x))


def _operation(opcode: str, kind: str) -> Function | None:
    k = kind_of(kind)
    if kind == "f8e8m0fnu":  # powers of two alone: what rounds to what is told for points
        return {"maximum": largest_of, "minimum": smallest_of}.get(opcode)
    match opcode:
        case "add":
            return lambda a, b: add(k, a, b)
        case "subtract":
            return lambda a, b: add(k, a, negate(b))
        case "multiply":
            return lambda a, b: multiply(k, a, b)
        case "divide":
            return lambda a, b: divide(k, a, b)
        case "negate":
            return negate
        case "abs":
            return magnitude
        case "maximum":
            return largest_of
        case "minimum":
            return smallest_of
    return stepped(opcode, kind) or approximated(opcode, kind)


def _settled(plain: Function) -> Function:
    """A function of integers and predicates."""
    return lambda *given: UNSETTLED if any(isinstance(a, Unsettled) for a in given) else plain(*given)


def _selected(p: Element, a: Element, b: Element) -> Element:
    if not isinstance(p, Unsettled):
        return a if p else b
    if isinstance(a, Number):
        return hull(a, b)
    return a if not isinstance(a, Unsettled) and not isinstance(b, Unsettled) and a == b else UNSETTLED


def _comparison(direction: str, plain: Function, kind: str) -> Function:
    def compared(a: Number, b: Number) -> Element:
        if a.point and b.point:
            return plain(a.low, b.low)
        if any(x.open or x.low != x.low for x in (a, b)):
            return UNSETTLED
        if a.high < b.low or b.high < a.low:
            return plain(a.low, b.low)
        if direction in ("LE", "GT") and a.high <= b.low:
            return direction == "LE"
        if direction in ("GE", "LT") and a.low >= b.high:
            return direction == "GE"
        return UNSETTLED

    return compared


def _rounded_to(target: str, a: Number, plain: Function, sure: bool) -> Number:
    """`sure`: it is rounded directly, not by way of another type."""
    k = kind_of(target)
    if a.point:
        value: float = plain(a.low)
        if not isfinite(a.low) or (value == a.low and representable(k, value)):
            return at(value)
        once = value if sure and not 0 < abs(value) < 2.0 ** (k.least + k.digits) else None
        found = OPEN if target == "f8e8m0fnu" else rounded_once(k, a.low, a.low)
        return Number(found.low, found.high, once)
    return OPEN if a.open or target == "f8e8m0fnu" else rounded_once(k, a.low, a.high)


def _from_integer(target: str, a: int, value: float) -> Number:
    """Beyond the digits of f32 a narrower type may be rounded twice."""
    k = kind_of(target)
    if isfinite(value) and value == a and representable(k, value):
        return at(value)
    if abs(a) >= 2**1000 or target == "f8e8m0fnu" or not isfinite(value) or abs(float(a)) > k.top:
        return Number(-inf, inf, value)
    found = rounded_once(k, float(a), float(a), 2)
    return Number(found.low, found.high, rounding(target)(value) if target in ("f32", "f64") else None)


def _narrowed(kind: str, plain: Function, normal: float) -> Function:
    """reduce-precision rises. `normal` is the smallest normal number of the reduced format: what is below it is zero,
    or rounded where the type itself has as many bits of exponent."""
    k = kind_of(kind)

    def narrowed(a: Number) -> Number:
        if a.point and 0 < abs(a.low) < normal:
            return Number(min(0.0, copysign(normal, a.low)), max(0.0, copysign(normal, a.low)))
        if a.point:
            return _leaf(kind, plain(a.low))
        low, high = (nan, nan) if a.open else (plain(a.low), plain(a.high))
        if not (isfinite(low) and isfinite(high)):
            return OPEN
        return at(low) if low == high else between(k, min(low, a.low), max(high, a.high), normal)

    return narrowed
