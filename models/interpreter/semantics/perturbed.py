"""The semantics `perturbed`: real numbers, each inexact result moved at random by a few roundings of its type.

What runs from different seeds agree on does not hang on rounding, on the order of a sum, or on which polynomial stands
for a transcendental function; what they spread over is how far these may carry the result (Monte Carlo arithmetic,
Stott Parker 1997). What has no real result (1/0, the logarithm of 0) is a NaN; infinities come from the program alone.
Results that the type holds exactly are not moved, nor is what only moves. The same operation on the same numbers is
moved alike, so that a value computed twice stays one value. A constant with as many digits as its type can hold may
have been folded by the compiler, with a rounding of its own, and is moved too. `exact` names types that are rounded as
they are, since no compiler brings them in.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isfinite, nan
from operator import mul
from typing import Final

from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.real_complex import COMPLEX_FUNCTIONS
from hloproof.models.interpreter.semantics.real_float import FLOAT_FUNCTIONS
from hloproof.models.interpreter.semantics.semantics import Function, word
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL, rounding
from hloproof.models.interpreter.value import Element

_PRECISION: Final[dict[str, int]] = {
    "f64": 53,
    "f32": 24,
    "f16": 11,
    "bf16": 8,
    **{name: f.mantissa + 1 for name, f in SMALL.items()},
}
"""Bits of the significand, the leading one included."""

_CORRECT: Final = frozenset({"add", "subtract", "multiply", "divide", "sqrt", "convert", "reduce-precision"})
"""Rounded correctly by every compiler; the others are approximated."""
_ROUNDINGS: Final = 4
"""How many units of half a last place a result is moved by, at most."""
_APPROXIMATION: Final = 32
"""The same for approximated functions, in units of f32 where the type is narrower."""
_CLOSE: Final = 256
"""Numbers that are so many roundings apart are close."""
_STEPS: Final = frozenset({"floor", "ceil", "round-nearest-even", "round-nearest-afz"})
_SPREAD: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1


class Perturbed(Real):
    """Numbers with noise; another seed is other noise."""

    name = "perturbed"

    def __init__(self, seed: int = 1, exact: frozenset[str] = frozenset()) -> None:
        self._seed, self._exact_types = seed, exact
        self.outside: set[Hashable] = set()
        """Decisions that hang on what no real number is, as opcode, direction and operands: laws of the reals do not
        hold of what follows from them."""
        self.close_decision = False
        """A decision hangs on digits that rounding has changed: which way it goes shows nothing."""

    def constant(self, element_type: str, value: Element) -> Element:
        number = super().constant(element_type, value)
        if element_type in FLOATS:
            return self._folded(element_type, number)
        if element_type in types.COMPLEX:
            part = types.PART[element_type]
            return complex(self._folded(part, number.real), self._folded(part, number.imag))
        return number

    def _folded(self, kind: str, number: float) -> float:
        if not isfinite(number):
            return number
        numerator, _ = number.as_integer_ratio()
        digits = numerator.bit_length() - ((numerator & -numerator).bit_length() - 1 if numerator else 0)
        if digits <= min(12, _PRECISION[kind] - 2):
            return number
        return number + number * self._noise(kind, _ROUNDINGS, number)

    def to_bits(self, element_type: str, element: Element) -> int:
        return types.to_bits(element_type, types.rounded(element_type, element))

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        if result not in FLOATS:
            return super().sum_of_products(result, left, right)
        products = list(map(mul, left, right))
        total, size = sum(products), sum(map(abs, products))
        rounded = _exactness(result)
        if not isfinite(size) or (rounded(total) == total and rounded(size) == size):
            return rounded(total)
        return total + size * self._noise(result, _ROUNDINGS, total, size)

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain = super().function(opcode, operands, result, attributes)
        raw = _unrounded(opcode, operands, result)
        kind = types.PART.get(result, result)
        if raw is None or kind in self._exact_types:
            inexact = any(k in FLOATS or k in types.COMPLEX for k in operands)
            decides = inexact and (kind not in FLOATS or opcode in _STEPS) and opcode != "select"
            what = (opcode, word(attributes, "direction"))
            return self._deciding(plain, what, _unit(types.PART.get(operands[0], operands[0]))) if decides else plain
        amount = _ROUNDINGS if opcode in _CORRECT else max(_ROUNDINGS, _APPROXIMATION * _unit("f32") / _unit(kind))
        if opcode == "reduce-precision":
            amount *= 2.0 ** max(0, _PRECISION[kind] - 1 - attributes.integer("mantissa_bits", 23))
        exact, noise = _exactness(kind), self._noise
        if result in types.COMPLEX:

            def moved(*arguments: Element) -> Element:
                z = complex(raw(*arguments))
                if not (isfinite(z.real) and isfinite(z.imag)):
                    return _outside(z, complex(nan, nan), arguments)
                if exact(z.real) == z.real and exact(z.imag) == z.imag:
                    return z
                return z + abs(z) * complex(noise(kind, amount, *arguments), noise(kind, amount, *arguments, 1))

            return moved

        def perturbed(*arguments: Element) -> Element:
            v = plain(*arguments) if opcode == "reduce-precision" else raw(*arguments)
            if opcode == "reduce-precision":
                return v if v == arguments[0] or not isfinite(v) else v + v * noise(kind, amount, *arguments)
            if not isfinite(v):
                return _outside(v, nan, arguments)
            if exact(v) == v:
                return v
            return v + v * noise(kind, amount, *arguments)

        return perturbed

    def _deciding(self, plain: Function, what: tuple[str, str], unit: float) -> Function:
        """A function that makes something else of a NaN, and of numbers that lie close together."""
        near = _CLOSE * unit

        def decide(*arguments: Element) -> Element:
            if any(a != a for a in arguments):
                self.outside.add((*what, *("nan" if a != a else a for a in arguments)))
            first = arguments[0]
            if not self.close_decision and isfinite(abs(first)):
                # A function of one number steps at whole ones.
                other = arguments[1] if len(arguments) > 1 else round(abs(first))
                one = first if len(arguments) > 1 else abs(first)
                size = max(abs(one), abs(other))
                self.close_decision = one != other and isfinite(size) and abs(one - other) <= near * size
            return plain(*arguments)

        return decide

    def _noise(self, kind: str, amount: float, *arguments: Element) -> float:
        """A number in [-1, 1) that follows the seed and the arguments, times `amount` roundings."""
        code = (hash((self._seed, *arguments)) * _SPREAD ^ self._seed) * _SPREAD & _MASK
        return ((code >> 11) / (1 << 52) - 1) * amount * _unit(kind)


def _outside(value: Element, not_a_number: Element, arguments: Sequence[Element]) -> Element:
    """Where finite numbers have no finite result there is no real one either; with infinities that is no matter."""
    return not_a_number if all(isfinite(abs(a)) for a in arguments) else value


def _unit(kind: str) -> float:
    """Half a unit in the last place of 1."""
    return 2.0 ** -_PRECISION[kind]


def _exactness(kind: str) -> Function:
    """Leaves numbers alone that the type surely holds. Python computes f64 itself, and does not tell what it rounded;
    what f32 can hold was hardly rounded in f64."""
    return rounding("f32" if kind == "f64" else kind)


def _unrounded(opcode: str, operands: Sequence[str], result: str) -> Function | None:
    """The operation before its result is rounded; None where nothing is rounded."""
    source = operands[0]
    if opcode == "convert" and result in FLOATS:
        return None if source in types.COMPLEX or source == "pred" else float
    if opcode == "reduce-precision" and source in FLOATS:
        return float
    if source in types.COMPLEX:
        return COMPLEX_FUNCTIONS.get(opcode) if result in types.COMPLEX and opcode != "negate" else None
    if source not in FLOATS or source != result or opcode in ("select", "clamp", "compare", "real", "imag"):
        return None
    return None if opcode in _STILL else FLOAT_FUNCTIONS.get(opcode)


_STILL: Final = frozenset({"negate", "abs", "sign", "maximum", "minimum", "floor", "ceil"})
"""Their results are as exact as their operands."""
