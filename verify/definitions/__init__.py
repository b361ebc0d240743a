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


def define(op: Operation, output: int, operand: int) -> Definition:
    """What output number `output` (0, or the position in the result's tuple) reads of operand number `operand`.

    Raises NotModelled, with the reason, for an opcode or a form of it that has no definition.
    """
    defined = TABLE.get(op.opcode)
    if defined is None:
        raise NotModelled(f"no definition of the opcode {op.opcode}")
    try:
        return defined(op, output, operand)
    except (TypeError, ValueError, IndexError) as error:
        raise NotModelled(f"attributes of {op.opcode} in an unexpected form: {error}") from error
