"""The numbers of a run, and where a type has none for what an operation makes of numbers.

A type loses a number where an operation on numbers gives none, or the largest that there is for one beyond, or zero, or
one too small for all of its digits, and over real numbers it would give another. What that would be is computed in f64.
Powers of e that are zero are meant to be, as where exponents are masked, and what a sum cancels to is not watched.
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from hloproof.equivalence.refuting.bits_of_nan import Observed
from hloproof.equivalence.refuting.machine import MachineSite
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, PART, highest, lowest
from hloproof.models.interpreter.semantics.semantics import Function
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL, largest, smallest_normal
from hloproof.models.interpreter.value import Element

INPUTS: Final[MachineSite] = ("", "")
"""Where elements are read that stand at no operation."""
_AS_GIVEN: Final = frozenset({"bitcast-convert", "clamp", "maximum", "minimum", "select"})
"""Operations that make no number of their own."""
_SUMS: Final = frozenset({"add", "subtract"})
_FLUSHED: Final = frozenset({"bf16", "f32", "f64"})
"""Types whose numbers below the smallest with all digits machines may take for zero."""
_DIGITS: Final = {"f16": 11} | {name: f.mantissa + 1 for name, f in SMALL.items()}
"""Of types that keep such numbers."""
_WIDE: Final = dict.fromkeys(FLOATS, "f64") | dict.fromkeys(COMPLEX, "c128")
_PLAIN: Final = {k: (smallest_normal(part), largest(part)) for k in _WIDE for part in (PART.get(k, k),)}


class WatchedNumbers(Observed):
    """The numbers, and a note of where one is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.site = INPUTS
        self.lost: dict[MachineSite, str] = {}
        """What was lost first, by operation."""
        self.blind: set[MachineSite] = set()
        """Operations that were given an infinity or a NaN, so that nobody knows what they make of a number there."""

    def constant(self, element_type: str, value: Element) -> Element:
        found = super().constant(element_type, value)
        # Inputs, which stand at no operation, are as they were chosen.
        of_constant = self.site != INPUTS and _is_float(element_type) and isfinite(value)
        if of_constant and (_is_too_large(element_type, found, value) or _is_small(element_type, found, value)):
            self._lose(f"a constant is {_words(value)} and no number of {element_type}")
        return found

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain = super().function(opcode, operands, result, attributes)
        if opcode == "convert" and operands[0] in FLOATS and result in INTEGERS:
            loses = _beyond(result)
        elif _is_float(result) and opcode not in _AS_GIVEN:
            loses = self._losing(opcode, operands, result, attributes)
        else:
            return plain

        def watched(*given: Element) -> Element:
            found = plain(*given)
            if not all(map(isfinite, given)):
                self.blind.add(self.site)
            elif loses(given, found):
                self._lose(f"{opcode} gives {_words(found)} of {', '.join(map(_words, given))}")
            return found

        return watched

    def _losing(
        self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes
    ) -> Callable[[Sequence[Element], Element], bool]:
        """Whether an operation loses a number, from the numbers that it is given and what it gives."""
        wide = [_WIDE.get(k, k) for k in operands]
        # The number of which the precision is made less is what is given.
        of_given = opcode == "reduce-precision"
        exact = _itself if of_given else super().function(opcode, wide, _WIDE[result], attributes)

        def loses(given: Sequence[Element], found: Element) -> bool:
            if _is_plain(result, found):
                return False
            true = exact(*given)
            if _is_too_large(result, found, true):
                return True
            if opcode in _SUMS or (opcode == "exponential" and (not found or result not in _DIGITS)):
                return False
            return (not true and _is_never_zero(opcode, given)) or _is_small(result, found, true)

        return loses

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        found = super().sum_of_products(result, left, right)
        if not _is_float(result) or _is_plain(result, found):
            return found
        products = [abs(a * b) for a, b in zip(left, right, strict=True) if a and b]
        if not (isfinite(found) or all(map(isfinite, (*left, *right)))):
            self.blind.add(self.site)
        elif products:
            true = super().sum_of_products(_WIDE[result], left, right)
            least, _ = _PLAIN[result]
            # Of larger products a small sum is what they cancel to.
            small = max(products) < least and (not any(products) or _is_small(result, found, true))
            if _is_too_large(result, found, true) or small:
                self._lose(f"a sum of products is {_words(found)}")
        return found

    def _lose(self, what: str) -> None:
        """Note that the operation which is running loses this."""
        self.lost.setdefault(self.site, what)


def _itself(given: Element) -> Element:
    return given


def _is_float(element_type: str) -> bool:
    return element_type in _WIDE


def _parts(a: Element) -> tuple[float, ...]:
    return (a.real, a.imag) if isinstance(a, complex) else (a,)


def _is_plain(element_type: str, found: Element) -> bool:
    """A number with all digits, and not the largest: such a one is what is exact but for a rounding."""
    least, most = _PLAIN[element_type]
    if isinstance(found, complex):
        return least <= abs(found.real) < most and least <= abs(found.imag) < most
    return bool(least <= abs(found) < most)


def _is_too_large(element_type: str, found: Element, true: Element) -> bool:
    """Whether the type has no number as large as what is exact, or that is none."""
    if not (isfinite(found) and isfinite(true)):
        return True
    f = SMALL.get(element_type)
    # What is beyond the largest number becomes that one in types that have no infinity and no NaN.
    beyond = largest(element_type) * (1 + 2.0 ** -(f.mantissa + 2)) if f and f.special == "none" else inf
    return bool(abs(true) >= beyond)


def _is_small(element_type: str, found: Element, true: Element) -> bool:
    """Whether what is exact, or a part of it, is too small for the type, or for all of its digits."""
    kind = PART.get(element_type, element_type)
    parts = zip(_parts(found), _parts(complex(true) if isinstance(found, complex) else true), strict=True)
    return any(_is_less(kind, x, exact) for x, exact in parts)


def _is_less(kind: str, found: float, true: float) -> bool:
    """Whether a number that is not zero may be taken for zero, or is further from what is exact than a rounding is of
    numbers with all digits."""
    if not true or abs(found) >= smallest_normal(kind):
        return False
    return kind in _FLUSHED or bool(abs(found - true) > abs(true) * 2.0 ** -_DIGITS[kind])


def _is_never_zero(opcode: str, given: Sequence[Element]) -> bool:
    """Whether the result is not zero over real numbers, though it is in f64."""
    match opcode:
        case "multiply":
            return all(map(bool, given))
        case "divide" | "power":
            return bool(given[0])
    return opcode == "logistic"


def _beyond(integers: str) -> Callable[[Sequence[Element], Element], bool]:
    low, high = lowest(integers), highest(integers)
    return lambda given, found: not low - 1 < given[0] < high + 1


def _words(x: Element) -> str:
    return f"{x:.9g}" if isinstance(x, float | complex) else str(x)
