"""What the evaluation of one instruction is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, Shape
from hloproof.models.interpreter.semantics.semantics import Function, Scalars
from hloproof.models.interpreter.value import Array, Element, Value

Body = Callable[[Sequence[Element]], tuple[Element, ...]]
"""A called computation on scalars: the elements of its parameters in, the elements of its root out."""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, the values of its operands, and the means to compute with their elements."""

    instruction: Instruction
    operands: tuple[Value, ...]
    operand_shapes: tuple[Shape, ...]
    scalars: Scalars
    body: Callable[[str], Body]
    parameters: Callable[[str], tuple[Shape, ...]]
    """The shapes of the parameters of a called computation."""

    @property
    def attributes(self) -> Attributes:
        return self.instruction.attributes

    @property
    def shape(self) -> ArrayShape:
        """The result's shape. Raises NotModelled when it is not an array of static sizes."""
        return static(self.instruction.shape, self.instruction.opcode)

    def array(self, operand: int) -> Array:
        """The value of an array operand."""
        value = self.operands[operand]
        if not isinstance(value, Array):
            raise NotModelled(f"{self.instruction.opcode} on an operand that is not an array")
        return value

    def arrays(self) -> list[Array]:
        return [self.array(k) for k in range(len(self.operands))]

    def called(self, attribute: str = "to_apply") -> Body:
        """The computation that an attribute names, on scalars."""
        found = self.attributes.get(attribute)
        if not isinstance(found, ComputationRef):
            raise NotModelled(f"{self.instruction.opcode} without {attribute}")
        return self.body(found.name)

    def function(self, opcode: str, kind: str, arity: int = 2) -> Function:
        """An elementwise function whose operands and result have one type."""
        return self.scalars.function(opcode, [kind] * arity, kind, Attributes())

    def joined(self, kind: str, elements: Sequence[Element]) -> Element:
        """One element that depends on all of these, where elements cannot be compared or taken apart."""
        return self.scalars.uninterpreted(self.instruction.opcode, kind, elements, 0)

    def result(self, data: list[Element]) -> Array:
        return Array(self.shape.element_type, self.shape.dimensions, data)


def static(shape: Shape, opcode: str) -> ArrayShape:
    """An array shape without dynamic dimensions; NotModelled otherwise."""
    if not isinstance(shape, ArrayShape):
        raise NotModelled(f"{opcode} whose result is not an array")
    return shape


def result_shapes(step: Step) -> tuple[ArrayShape, ...]:
    """The shapes of a tuple result's elements, or the one shape of an array result."""
    shape = step.instruction.shape
    if isinstance(shape, ArrayShape):
        return (shape,)
    return tuple(static(e, step.instruction.opcode) for e in getattr(shape, "elements", ()))


def as_result(step: Step, values: Sequence[Array]) -> Value:
    """One array, or a tuple of arrays where the instruction's shape is a tuple."""
    return values[0] if isinstance(step.instruction.shape, ArrayShape) else tuple(values)


Execute = Callable[[Step], Value]
"""What an operation makes of its operands."""
