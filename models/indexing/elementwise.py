"""Operations that work element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.body_use import uses_parameter
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing.box import Builders, bounds, data_outputs, holds_data, one, output_shape, to_scalar, whole
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import identity


def elementwise_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Every operand is read at the output's own index. A scalar predicate of select and scalar bounds of clamp are
    read at ()."""
    out = bounds(output_shape(op, output))
    found = []
    for n, shape in enumerate(op.operands):
        of_operand = bounds(shape)
        if not uses_parameter(op, n):  # a map whose body ignores it
            found.append(OperandMaps(n, "reads", ()))
        elif of_operand == out:
            found.append(one(n, "reads", identity(out)))
        elif not of_operand:
            found.append(one(n, "reads", to_scalar(out)))
        else:
            raise NotModelled(f"{op.opcode} of shapes {of_operand} and {out}")
    return tuple(found)


def elementwise_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An element decides the output element at its own index; a scalar that stands for a whole array decides all."""
    start = bounds(op.operands[operand])
    found = []
    for n, shape in data_outputs(op):
        out = bounds(shape)
        if not uses_parameter(op, operand):
            found.append(OperandMaps(n, "reads", ()))
        elif out == start:
            found.append(one(n, "reads", identity(start)))
        elif not start:
            found.append(one(n, "reads", whole((), out)))
        else:
            raise NotModelled(f"{op.opcode} of shapes {start} and {out}")
    return tuple(found)


def set_dimension_size_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The data stays where it is; operand 1 is the new size, a scalar."""
    out = bounds(output_shape(op, output))
    return one(0, "moves", identity(out)), one(1, "reads", to_scalar(out))


def set_dimension_size_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The data to its own place, the size to every element."""
    out = bounds(op.shape)
    return (one(0, "moves", identity(out)),) if operand == 0 else (one(0, "reads", whole((), out)),)


def copy_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The same element. A tuple is copied array by array."""
    shape = output_shape(op, output)
    if not holds_data(shape):
        return ()
    positions = _positions(op)
    return (one(0, "moves", identity(bounds(shape)), positions[output]),)


def copy_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The same element of the same array."""
    positions = _positions(op)
    return tuple(one(n, "moves", identity(bounds(shape)), positions[n]) for n, shape in data_outputs(op))


def _positions(op: Operation) -> list[tuple[int, ...]]:
    return [position for position, _ in leaves(op.operands[0])]


BUILDERS: Final[Mapping[str, Builders]] = {
    "copy": Builders(copy_output_to_input, copy_input_to_output),
    "set-dimension-size": Builders(set_dimension_size_output_to_input, set_dimension_size_input_to_output),
}
"""By opcode, both directions."""
