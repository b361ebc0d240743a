"""What each opcode means: which operand elements an output element reads, as a predicate.

Written from the semantics of the operations alone; nothing here looks at how maps are built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from models.errors import NotModelled
from models.hlo.module import Operation
from verify.definitions import contraction, elementwise, movement
from verify.definitions.definition import Definition

Define = Callable[[Operation, int, int], Definition]
"""Operation, output number, operand number."""
DefineInTuple = Callable[[Operation, int, int, tuple[int, ...]], Definition]
"""The same, and where in the operand's tuple the array lies."""

TABLE: Final[Mapping[str, Define]] = {
    **dict.fromkeys(elementwise.ELEMENTWISE, elementwise.elementwise),
    "broadcast": movement.broadcast,
    "concatenate": movement.concatenate,
    "copy": movement.copy,
    "dot": contraction.dot,
    "pad": movement.pad,
    "reduce": contraction.reduce,
    "reshape": movement.reshape,
    "reverse": movement.reverse,
    "slice": movement.slice_,
    "transpose": movement.transpose,
}


IN_TUPLES: Final[Mapping[str, DefineInTuple]] = {}
"""Opcodes whose operands may be tuples."""


def define(op: Operation, output: int, operand: int, position: tuple[int, ...] = ()) -> Definition:
    """What output number `output` reads of operand number `operand`.

    Outputs count the arrays of the result in order: 0 for an array. `position` says where the array that is read lies
    in an operand that is a tuple.

    Raises NotModelled, with the reason, for an opcode or a form of it that has no definition.
    """
    in_tuple, plain = IN_TUPLES.get(op.opcode), TABLE.get(op.opcode)
    try:
        if in_tuple is not None:
            return in_tuple(op, output, operand, position)
        if plain is not None and not position:
            return plain(op, output, operand)
    except (TypeError, ValueError, IndexError) as error:
        raise NotModelled(f"attributes of {op.opcode} in an unexpected form: {error}") from error
    raise NotModelled(f"no definition of the opcode {op.opcode}{' over tuples' if position else ''}")
