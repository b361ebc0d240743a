"""Complex numbers: what the opcodes mean on them, on Python's complex numbers in double precision."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from math import inf, nan
from typing import Final

from hloproof.models.interpreter.semantics.semantics import Function

_NAN: Final = complex(nan, nan)


def _guarded(f: Callable[..., complex]) -> Callable[..., complex]:
    def g(*operands: complex) -> complex:
        try:
            return f(*operands)
        except (OverflowError, ValueError, ZeroDivisionError):
            return _NAN

    return g


def divide(a: complex, b: complex) -> complex:
    """a / b; by zero an infinity with the signs of a, and NaN for 0 / 0."""
    try:
        return a / b
    except ZeroDivisionError:
        return complex(a.real * inf, a.imag * inf) if a != 0 else _NAN
    except OverflowError:
        return _NAN


def power(a: complex, b: complex) -> complex:
    """a to the power b by its principal logarithm; 0 to the power 0 is 1."""
    if a == 0:
        return 1 + 0j if b == 0 else 0j
    try:
        return cmath.exp(b * cmath.log(a))
    except (OverflowError, ValueError):
        return _NAN


def _sign(z: complex) -> complex:
    return z if z == 0 else z / abs(z)


COMPLEX_FUNCTIONS: Final[dict[str, Function]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divide,
    "power": power,
    "negate": lambda a: -a,
    "sign": _guarded(_sign),
    "exponential": _guarded(cmath.exp),
    "exponential-minus-one": _guarded(lambda z: cmath.exp(z) - 1),
    "log": lambda z: cmath.log(z) if z != 0 else complex(-inf, 0),
    "log-plus-one": lambda z: cmath.log(1 + z) if z != -1 else complex(-inf, 0),
    "logistic": _guarded(lambda z: 1 / (1 + cmath.exp(-z))),
    "sqrt": _guarded(cmath.sqrt),
    "rsqrt": _guarded(lambda z: 1 / cmath.sqrt(z)),
    "cbrt": lambda z: power(z, 1 / 3 + 0j),
    "sine": _guarded(cmath.sin),
    "cosine": _guarded(cmath.cos),
    "tan": _guarded(cmath.tan),
    "asin": _guarded(cmath.asin),
    "acos": _guarded(cmath.acos),
    "atan": _guarded(cmath.atan),
    "sinh": _guarded(cmath.sinh),
    "cosh": _guarded(cmath.cosh),
    "tanh": _guarded(cmath.tanh),
    "asinh": _guarded(cmath.asinh),
    "acosh": _guarded(cmath.acosh),
    "atanh": _guarded(cmath.atanh),
    "atan2": _guarded(lambda a, b: -1j * cmath.log((b + 1j * a) / cmath.sqrt(a * a + b * b))),
}
"""Opcode to function on Python complex numbers; abs, real and imag, whose results are real, are the caller's."""
