"""The semantics `counted`: an element says how often each tagged input element went into it.

An element is a non-negative integer. Give input element number k the tag 2^(bits * k); every operation on elements is
addition, so in the result the k-th group of `bits` bits counts how often that element was used. With `union` the
operation is bitwise or: it tells only whether an element was used, and no count can overflow into the next.

Constants, padding and initial values count nothing. Start indices, trip decisions and the like are taken as the numbers
that they are, so an operand that says where to read is given as plain numbers and is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics.semantics import Function, Scalars
from hloproof.models.interpreter.value import Element


class Counted(Scalars):
    """Counts of reads."""

    name = "counted"

    def __init__(self, union: bool = False) -> None:
        self._join: Function = _union if union else _total

    def constant(self, element_type: str, value: Element) -> Element:
        return int(value) if isinstance(value, int) else 0

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        return self._join

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        return self._join(*left, *right)

    def uninterpreted(self, name: str, result: str, arguments: Sequence[Element], position: int) -> Element | None:
        return self._join(*arguments)

    def from_bits(self, element_type: str, bits: int) -> Element:
        return bits

    def to_bits(self, element_type: str, element: Element) -> int:
        return int(element)

    def integer(self, element: Element) -> int:
        return int(element)

    def reorders(self, element_type: str) -> bool:
        return False


def _total(*arguments: int) -> int:
    return sum(arguments)


def _union(*arguments: int) -> int:
    found = 0
    for a in arguments:
        found |= a
    return found


def tags(count: int, bits: int = 8) -> list[int]:
    """The tags of `count` input elements; each count up to 2^bits - 1 has room."""
    return [1 << (bits * k) for k in range(count)]


def reads(element: int, count: int, bits: int = 8) -> list[int]:
    """How often each of `count` tagged elements went into an element."""
    mask = (1 << bits) - 1
    return [element >> (bits * k) & mask for k in range(count)]
