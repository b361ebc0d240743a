"""Indexing maps of HLO operations, output to input and input to output."""

from __future__ import annotations

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.map_set import OperandMaps


def output_to_input(op: Operation, output: int = 0) -> tuple[OperandMaps, ...]:
    """For every operand array, the elements that an element of this output reads.

    Outputs count the arrays of the result in order: 0 for an array, the tuple position otherwise. Runtime variables
    name their provider `operand(n)`. Raises NotModelled for opcodes and shapes whose meaning is not known, and for
    calls, whose maps need the module.
    """
    from hloproof.models.indexing.table import builders

    found = builders(op.opcode)
    if found is None:
        raise NotModelled(f"no indexing map for opcode {op.opcode}")
    return found.output_to_input(op, output)


def input_to_output(op: Operation, operand: int = 0) -> tuple[OperandMaps, ...]:
    """For every output, the elements that an element of this operand goes to; `operand` of the answer is the output.

    Built from the operation, not by reversing the other direction. Raises NotModelled likewise.
    """
    from hloproof.models.indexing.table import builders

    found = builders(op.opcode)
    if found is None:
        raise NotModelled(f"no indexing map for opcode {op.opcode}")
    return found.input_to_output(op, operand)


__all__ = ["OperandMaps", "input_to_output", "output_to_input"]
