"""What each opcode means: which operand elements an output element reads, as a predicate.

Written from the semantics of the operations alone; nothing here looks at how maps are built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.definitions import (
    bitcast,
    collective,
    contraction,
    control,
    elementwise,
    gather_scatter,
    movement,
    whole_lines,
    window,
)
from hloproof.definitions.definition import Define, DefineInTuple, Definition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE

TABLE: Final[Mapping[str, Define]] = {
    **dict.fromkeys(ELEMENTWISE, elementwise.elementwise),
    **bitcast.DEFINITIONS,
    **collective.DEFINITIONS,
    **contraction.DEFINITIONS,
    **gather_scatter.DEFINITIONS,
    **movement.DEFINITIONS,
    **whole_lines.DEFINITIONS,
    **window.DEFINITIONS,
}
"""Every opcode that has a definition, from the tables of the subjects."""

IN_TUPLES: Final[Mapping[str, DefineInTuple]] = {**control.IN_TUPLES}
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
