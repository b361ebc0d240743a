"""Integers of exact width and signedness, and predicates.

Sums, differences and products wrap modulo 2^width. Division truncates; by zero it gives all bits set, and the remainder
is the dividend. The smallest signed number divided by -1 is itself. A shift by the width or more (the amount read
unsigned) gives zero, or copies of the sign bit. On predicates addition is `or` and multiplication is `and`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import and_, eq, ge, gt, le, lt, ne, or_, xor
from typing import Any, Final

from hloproof.models.interpreter.semantics.element_type import width, wrapping
from hloproof.models.interpreter.semantics.semantics import Function

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {"EQ": eq, "NE": ne, "LT": lt, "LE": le, "GT": gt, "GE": ge}

_BITWISE: Final[dict[str, Function]] = {"and": and_, "or": or_, "xor": xor, "maximum": max, "minimum": min}

_PRED: Final[dict[str, Function]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "not": lambda a: not a,
    "add": lambda a, b: a or b,
    "multiply": lambda a, b: a and b,
    "subtract": lambda a, b: a != b,
    "maximum": lambda a, b: a or b,
    "minimum": lambda a, b: a and b,
    "abs": lambda a: a,
    "negate": lambda a: a,
    "sign": lambda a: a,
}


def pred_function(opcode: str) -> Function | None:
    """What an opcode does to predicates; None when it has no meaning on them."""
    return _PRED.get(opcode)


def integer_function(opcode: str, element_type: str) -> Function | None:
    """What an opcode does to integers of the type; None when it has no meaning on them."""
    if opcode in _BITWISE:
        return _BITWISE[opcode]
    wrap, bits = wrapping(element_type), width(element_type)
    mask = (1 << bits) - 1
    match opcode:
        case "add":
            return lambda a, b: wrap(a + b)
        case "subtract":
            return lambda a, b: wrap(a - b)
        case "multiply":
            return lambda a, b: wrap(a * b)
        case "mulhi":
            return lambda a, b: wrap((a * b) >> bits)
        case "divide":
            return lambda a, b: wrap(_truncated(a, b)) if b else wrap(-1)
        case "remainder":
            return lambda a, b: a - b * _truncated(a, b) if b else a
        case "power":
            return lambda a, b: _power(a, b, wrap, mask)
        case "negate":
            return lambda a: wrap(-a)
        case "abs":
            return lambda a: wrap(abs(a))
        case "sign":
            return lambda a: (a > 0) - (a < 0)
        case "not":
            return lambda a: wrap(~a)
        case "shift-left":
            return lambda a, b: wrap(a << b) if 0 <= b < bits else 0
        case "shift-right-logical":
            return lambda a, b: wrap((a & mask) >> b) if 0 <= b < bits else 0
        case "shift-right-arithmetic":
            return lambda a, b: wrap(_signed(a, bits) >> (b if 0 <= b < bits else bits))
        case "popcnt":
            return lambda a: wrap((a & mask).bit_count())
        case "count-leading-zeros":
            return lambda a: wrap(bits - (a & mask).bit_length())
        case _:
            return None


def _truncated(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _signed(a: int, bits: int) -> int:
    """The number whose two's complement has the bits of `a`."""
    return a - (1 << bits) if a >> (bits - 1) == 1 else a


def _power(a: int, b: int, wrap: Callable[[int], int], mask: int) -> int:
    """Modulo 2^width; a negative exponent gives the truncated quotient 1 / a^-b, and 0 where a is 0."""
    if b >= 0:
        return wrap(pow(a, b, mask + 1))
    if a == 1:
        return 1
    if a == -1:
        return 1 if b % 2 == 0 else -1
    return 0
