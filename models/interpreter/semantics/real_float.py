"""Real numbers: what the opcodes mean on floats, computed in double precision and rounded once by the caller.

Python's math raises where IEEE 754 answers with an infinity or a NaN; those answers are spelled out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import copysign, inf, isinf, isnan, nan
from typing import Final

from hloproof.models.interpreter.semantics.semantics import Function


def divide(a: float, b: float) -> float:
    """a / b as IEEE 754 has it: by zero an infinity with the sign of both, NaN for 0 / 0."""
    if b:
        return a / b
    if a == 0 or isnan(a) or isnan(b):
        return nan
    return copysign(inf, a) * copysign(1.0, b)


def remainder(a: float, b: float) -> float:
    """The sign of the dividend, as C's fmod."""
    if isnan(a) or isnan(b) or isinf(a) or b == 0:
        return nan
    return math.fmod(a, b)


def power(a: float, b: float) -> float:
    """pow as C has it: infinite beyond the type and for a negative power of zero, NaN for a root of a negative
    number."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -inf if a < 0 and b % 2 == 1 else inf
    except ValueError:
        if a == 0:  # zero to a negative power
            return copysign(inf, a) if b % 2 == 1 else inf
        return nan


def maximum(a: float, b: float) -> float:
    """A NaN wins; +0 is larger than -0."""
    if isnan(a) or isnan(b):
        return nan
    if a == b == 0:
        return a if copysign(1.0, a) > 0 else b
    return a if a > b else b


def minimum(a: float, b: float) -> float:
    """A NaN wins; -0 is smaller than +0."""
    if isnan(a) or isnan(b):
        return nan
    if a == b == 0:
        return a if copysign(1.0, a) < 0 else b
    return a if a < b else b


def _guarded(f: Callable[[float], float], above: float = inf, outside: float = nan) -> Callable[[float], float]:
    """`f` with `above` where it overflows and `outside` where the argument is outside its domain."""

    def g(a: float) -> float:
        try:
            return f(a)
        except OverflowError:
            return above
        except ValueError:
            return nan if isnan(a) else outside

    return g


def log(a: float) -> float:
    """The natural logarithm; -inf of zero, NaN below."""
    return math.log(a) if a > 0 else -inf if a == 0 else nan


def log_plus_one(a: float) -> float:
    """log(1 + a), also where a is small; -inf of -1, NaN below."""
    return math.log1p(a) if a > -1 else -inf if a == -1 else nan


def square_root(a: float) -> float:
    """The square root; NaN below zero, and -0 of -0."""
    return math.sqrt(a) if a >= 0 else nan


def reciprocal_square_root(a: float) -> float:
    """1 / sqrt(a); an infinity with the sign of a zero, NaN below."""
    if a == 0:
        return copysign(inf, a)
    return 1 / math.sqrt(a) if a > 0 else nan


def cube_root(a: float) -> float:
    """The real cube root, with the sign of a; zeros, infinities and NaN as they are."""
    return a if a == 0 or isnan(a) or isinf(a) else copysign(_positive_cube_root(abs(a)), a)


def _positive_cube_root(a: float) -> float:
    estimate: float = a ** (1 / 3)
    return estimate - (estimate * estimate * estimate - a) / (3 * estimate * estimate)


def logistic(a: float) -> float:
    """1 / (1 + exp(-a)); 0 where exp is beyond the type."""
    try:
        return 1 / (1 + math.exp(-a))
    except OverflowError:
        return 0.0


def sinh(a: float) -> float:
    """The hyperbolic sine; infinite beyond the type."""
    try:
        return math.sinh(a)
    except OverflowError:
        return copysign(inf, a)


def atanh(a: float) -> float:
    """The inverse of the hyperbolic tangent; infinite at 1 and -1, NaN beyond."""
    return copysign(inf, a) if abs(a) == 1 else math.atanh(a) if abs(a) < 1 else nan


def _whole(f: Callable[[float], float]) -> Callable[[float], float]:
    """Rounding to an integer keeps the sign of zero, infinities and NaN."""
    return lambda a: a if isnan(a) or isinf(a) else copysign(float(f(a)), a)


def away_from_zero(a: float) -> float:
    """The nearest whole number, halves away from zero; HLO's round-nearest-afz. Here for a of at least 0."""
    return math.floor(a) if a - math.floor(a) < 0.5 else math.ceil(a)


def _half_away(a: float) -> float:
    return copysign(away_from_zero(abs(a)), a)


def sign(a: float) -> float:
    """1 or -1 with the sign of a; zeros and NaN as they are."""
    return a if a == 0 or isnan(a) else copysign(1.0, a)


FLOAT_FUNCTIONS: Final[dict[str, Function]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divide,
    "remainder": remainder,
    "power": power,
    "maximum": maximum,
    "minimum": minimum,
    "atan2": math.atan2,
    "negate": lambda a: -a,
    "abs": abs,
    "sign": sign,
    "exponential": _guarded(math.exp),
    "exponential-minus-one": _guarded(math.expm1),
    "log": log,
    "log-plus-one": log_plus_one,
    "logistic": logistic,
    "sqrt": square_root,
    "rsqrt": reciprocal_square_root,
    "cbrt": cube_root,
    "sine": _guarded(math.sin),
    "cosine": _guarded(math.cos),
    "tan": _guarded(math.tan),
    "asin": _guarded(math.asin),
    "acos": _guarded(math.acos),
    "atan": math.atan,
    "sinh": sinh,
    "cosh": _guarded(math.cosh),
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": _guarded(math.acosh),
    "atanh": atanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "round-nearest-even": _whole(round),
    "round-nearest-afz": _whole(_half_away),
}
"""Opcode to function on Python floats."""
