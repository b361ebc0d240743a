"""Runs that tell whether they came by the bits of a NaN.

The executable reading knows one NaN, the positive quiet one. Where a NaN is read as bits, or put in order by them, what
it shows is not what a machine would compute.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function
from hloproof.models.interpreter.value import Element


class Observed(Real):
    """The numbers, and a note of what was seen."""

    def __init__(self) -> None:
        super().__init__()
        self.bits_of_nan = False
        """A NaN was made from bits, was read as bits or was compared by them."""

    def from_bits(self, element_type: str, bits: int) -> Element:
        return self._noted(super().from_bits(element_type, bits))

    def to_bits(self, element_type: str, element: Element) -> int:
        return super().to_bits(element_type, self._noted(element))

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain = super().function(opcode, operands, result, attributes)
        if opcode == "bitcast-convert":
            return lambda a: self._noted(plain(self._noted(a)))
        if opcode == "compare" and attributes.get("type") == Word("TOTALORDER"):
            return lambda a, b: plain(self._noted(a), self._noted(b))
        return plain

    def _noted(self, element: Element) -> Element:
        self.bits_of_nan = self.bits_of_nan or element != element
        return element
