"""What an element is and what elementwise operations do to elements: the part that the semantics differ in.

Everything that moves data (which element goes where, which elements are folded together) is written once and is the
same under every semantics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.interpreter.value import Element

Function = Callable[..., Element]


class Scalars(ABC):
    """One semantics of elements."""

    name: str

    @abstractmethod
    def constant(self, element_type: str, value: Element) -> Element:
        """A Python number (bool, int, float, complex) as an element of the type."""

    @abstractmethod
    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        """The function that an elementwise opcode applies to elements of the operand types.

        Raises NotModelled when the opcode has no meaning on these types.
        """

    @abstractmethod
    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        """`left[0] * right[0] + left[1] * right[1] + ...` as an element of the result type."""

    @abstractmethod
    def uninterpreted(self, name: str, result: str, arguments: Sequence[Element], position: int) -> Element | None:
        """The element at `position` of an operation that this semantics does not look into, as a function of all
        arguments; None when the semantics computes such operations."""

    @abstractmethod
    def from_bits(self, element_type: str, bits: int) -> Element:
        """The element with these bits (an unsigned integer)."""

    @abstractmethod
    def to_bits(self, element_type: str, element: Element) -> int:
        """The bits of an element as an unsigned integer."""

    @abstractmethod
    def integer(self, element: Element) -> int:
        """The element of an integer or pred tensor as a number: a start index, a trip decision, a branch."""

    @abstractmethod
    def reorders(self, element_type: str) -> bool:
        """Comparisons of elements of the type are meaningful: a comparator may be run on them."""


def word(attributes: Attributes, name: str) -> str:
    """The text of an attribute such as `direction=LT`; '' when absent."""
    value = attributes.get(name)
    return value.text if isinstance(value, Word) else ""
