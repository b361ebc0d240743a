"""Operations whose output element depends on the operand elements at the same coordinates."""

from __future__ import annotations

from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import identity, operand_array, output_array
from hloproof.logic.formula import FALSE, TRUE
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation

SCALAR_OPERANDS = {"select": frozenset({0}), "clamp": frozenset({0, 2})}
"""Operands that may be scalar where the others are not: the predicate of select, the bounds of clamp. A scalar is read
at () by every output element."""


def elementwise(op: Operation, output: int, operand: int) -> Definition:
    """Output element d reads operand element d. Dynamic sizes change nothing: each element stands for itself. Of map,
    an operand that the body ignores is not read."""
    out, into = output_array(op, output), operand_array(op, operand)
    if op.uses is not None and operand not in op.uses[0]:
        return Definition("reads", out.dimensions, into.dimensions, FALSE)
    if into.rank == 0 and out.rank and operand in SCALAR_OPERANDS.get(op.opcode, frozenset()):
        return Definition("reads", out.dimensions, (), TRUE)
    if into.dimensions != out.dimensions:
        raise NotModelled(f"{op.opcode} of {into.dimensions} into {out.dimensions}")
    return Definition("reads", out.dimensions, into.dimensions, identity(out.rank))
