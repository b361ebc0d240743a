"""Operations that act on each element by itself."""

from __future__ import annotations

from itertools import repeat

from hloproof.models.errors import NotModelled
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Value


def elementwise(step: Step) -> Value:
    """A scalar operand beside larger ones (the predicate of select, the bounds of clamp) goes with every element."""
    operands = step.arrays()
    function = step.scalars.function(
        step.instruction.opcode, [x.element_type for x in operands], step.shape.element_type, step.attributes
    )
    sizes = step.shape.dimensions
    if sizes and any(not x.sizes for x in operands):
        if not any(x.sizes for x in operands):
            raise NotModelled(f"{step.instruction.opcode} of scalars whose result is not one")
        columns = [repeat(x.data[0]) if not x.sizes else x.data for x in operands]
        return step.result(list(map(function, *columns)))
    return step.result(list(map(function, *(x.data for x in operands))))
