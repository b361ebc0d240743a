"""Runs of an instance's modules that stay within what a rule speaks of: integers without bounds, real numbers.

The machine counts modulo 2^width and rounds. Where the first would show, a difference says nothing about the rule: the
run is given up. Numbers of f64 are computed as fractions, and functions of them to 60 digits, so that rounding is not
made larger by differences of what is nearly equal. The run is given up too where the left side, or what is assumed,
has no value, since there a rule promises nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from math import isclose, isfinite, isnan, trunc
from typing import Any, Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Element, to_nested


class OutsideTheRule(NotModelled):
    """The machine's numbers are not the rule's here."""


def run_exactly(module: Module, inputs: Sequence[Any], devices: int, may_lack_value: bool) -> Any:
    """The value of the module on each device, as `run_module` has it. `may_lack_value` is for a right side: what has no
    value comes out as no number. Raises OutsideTheRule."""
    machine = Machine(module, _Exact(may_lack_value), Devices(devices, 1), 0)
    given = [machine.read_inputs(one) for one in (inputs if devices > 1 else (inputs,))]
    results = [to_nested(v) for v in machine.run(given)]
    return results[0] if devices == 1 else results


class _Exact(Real):
    """Numbers, as long as the machine's are those that are meant."""

    def __init__(self, may_lack_value: bool) -> None:
        self.may_lack_value = may_lack_value

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        of_machine = super().function(opcode, operands, result, attributes)
        if operands[-1] in FLOATS:
            return self._of_floats(opcode, of_machine)
        exact = _UNBOUNDED.get(opcode)
        return of_machine if exact is None or operands[0] not in types.INTEGERS else _agreeing(of_machine, exact)

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        try:
            found = super().sum_of_products(result, left, right)
        except OverflowError:  # of fractions, which are no infinity
            raise OutsideTheRule("a sum beyond the element type") from None
        if result in types.INTEGERS and found != sum(a * b for a, b in zip(left, right, strict=True)):
            raise OutsideTheRule("a sum beyond the element type")
        if result in FLOATS and all(map(isfinite, (*left, *right))):
            if not isfinite(found):
                raise OutsideTheRule("a sum beyond the element type")
            products = (Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True))
            return _as_found(found, sum(products, Fraction(0)))
        return found

    def _of_floats(self, opcode: str, of_machine: Function) -> Function:
        def f(*numbers: Any) -> Element:
            if opcode in _CHOICES:
                return _CHOICES[opcode](of_machine, *numbers)
            arguments = [float(a) for a in numbers]
            found = of_machine(*arguments)
            if opcode == "compare" and _differ_slightly(*numbers):
                raise OutsideTheRule("numbers that may be equal but for rounding")
            if opcode == "remainder" and found and isfinite(found) and _is_whole(arguments[0] / arguments[1]):
                raise OutsideTheRule("a remainder that may be 0 but for rounding")
            if all(map(isfinite, arguments)) and _is_rounded_away(opcode, found, arguments):
                raise OutsideTheRule("a number beyond the element type, or less than its rounding")
            if not self.may_lack_value and _is_none(found, arguments):
                raise OutsideTheRule("no value")
            if opcode == "compare":
                return of_machine(*numbers)
            return _exactly(opcode, found, numbers) if all(map(isfinite, (found, *arguments))) else found

        return f


def _exactly(opcode: str, found: float, numbers: Sequence[Any]) -> Element:
    """The number itself, or to 60 digits; of functions that nothing is known of what the machine has."""
    exact = _FRACTIONS.get(opcode) or _FUNCTIONS.get(opcode)
    if exact is None:
        return Fraction(found)
    try:
        return _as_found(found, exact(*map(Fraction, numbers)))
    except (DecimalException, ZeroDivisionError, OverflowError):
        raise OutsideTheRule("a number beyond 60 digits") from None


def _as_found(found: float, exact: Fraction) -> Fraction:
    """The number to 60 digits, where the machine finds the same: if not, what is left of one of them is its rounding,
    such as what a square of a root in 60 digits has beyond the number."""
    if abs(exact - Fraction(found)) > _SAME * abs(exact):
        raise OutsideTheRule("a number that is another but for rounding")
    return exact


def _nothing(numbers: Sequence[Any]) -> bool:
    return any(isnan(a) for a in numbers)


def _clamped(of_machine: Function, *numbers: Any) -> Any:
    low, a, high = numbers
    return of_machine(*numbers) if _nothing(numbers) else min(max(a, low), high)


_CHOICES: Final[dict[str, Callable[..., Any]]] = {
    "select": lambda of_machine, p, a, b: a if p else b,
    "maximum": lambda of_machine, a, b: of_machine(a, b) if _nothing((a, b)) else max(a, b),
    "minimum": lambda of_machine, a, b: of_machine(a, b) if _nothing((a, b)) else min(a, b),
    "clamp": _clamped,
}
"""What gives one of its operands, as it is."""

_FRACTIONS: Final[dict[str, Callable[..., Fraction]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "remainder": lambda a, b: a - b * trunc(a / b),
    "negate": lambda a: -a,
    "abs": abs,
}

_DIGITS: Final = Context(prec=60)


def _decimal(a: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(a.numerator), Decimal(a.denominator))


def _exponential(a: Fraction) -> Fraction:
    return Fraction(_DIGITS.exp(_decimal(a)))


def _logarithm(a: Fraction) -> Fraction:
    return Fraction(_DIGITS.ln(_decimal(a)))


def _root(a: Fraction) -> Fraction:
    return Fraction(_DIGITS.sqrt(_decimal(a)))


def _power(a: Fraction, b: Fraction) -> Fraction:
    if b.denominator == 1 and abs(b) < 1000:
        return Fraction(a ** int(b))
    return Fraction(_DIGITS.power(_decimal(a), _decimal(b)))


_FUNCTIONS: Final[dict[str, Callable[..., Fraction]]] = {
    "exponential": _exponential,
    "exponential-minus-one": lambda a: _exponential(a) - 1,
    "log": _logarithm,
    "log-plus-one": lambda a: _logarithm(a + 1),
    "logistic": lambda a: 1 / (1 + _exponential(-a)),
    "sqrt": _root,
    "rsqrt": lambda a: 1 / _root(a),
    "power": _power,
}


_SAME: Final = Fraction(1, 1_000_000)
"""The part of a number by which the machine may miss it."""

_LEAST: Final = 1e-12
"""A part of a sum that is less, by the whole, is lost in it."""


def _is_rounded_away(opcode: str, found: float, arguments: Sequence[Any]) -> bool:
    """Whether finite numbers gave what the same real numbers do not, but for small errors: too large a number, 0 for a
    small one, or a sum of which rounding is a large part."""
    match opcode, arguments:
        case "add" | "subtract", (a, b):
            return not isfinite(found) or _is_lost(found, (a, b))
        case "multiply", (a, b):
            return not isfinite(found) or (not found and bool(a and b))
        case "divide", (a, b):
            return bool(b) and (not isfinite(found) or (not found and bool(a)))
        case "power", (a, _):
            return bool(a > 0) and (not isfinite(found) or not found)
        case "exponential", _:
            return not isfinite(found) or not found
        case "exponential-minus-one", _:
            return not isfinite(found) or found + 1 < _LEAST
        case "logistic", _:
            return found < _LEAST or 1 - found < _LEAST
        case "log" | "log-plus-one", _:
            return isfinite(found) and 0 < abs(found) < _LEAST
    return False


def _is_lost(found: float, parts: Sequence[float]) -> bool:
    """Whether a part is lost in the sum, or the sum in the rounding of its parts."""
    largest = max((abs(p) for p in parts), default=0.0)
    return any(p and abs(p) < _LEAST * largest for p in parts) or 0 < abs(found) < 1e3 * _LEAST * largest


def _is_none(found: Any, arguments: Sequence[Any]) -> bool:
    """Whether numbers gave what is none; an infinity that a rule writes is no news."""
    return isinstance(found, float) and (isnan(found) or (not isfinite(found) and all(map(isfinite, arguments))))


def _differ_slightly(a: Any, b: Any) -> bool:
    return a != b and isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _is_whole(quotient: float) -> bool:
    return isclose(quotient, round(quotient), rel_tol=1e-9, abs_tol=1e-12)


def _agreeing(of_machine: Function, exact: Function) -> Function:
    def f(*arguments: Any) -> Element:
        found = of_machine(*arguments)
        if found != exact(*arguments):
            raise OutsideTheRule("a number beyond the element type")
        return found

    return f


_UNBOUNDED: Final[dict[str, Function]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negate": lambda a: -a,
    "abs": abs,
    "shift-left": lambda a, b: a << b if 0 <= b < 4096 else None,
}
"""What operations on integers are without bounds, where the machine's may differ."""
