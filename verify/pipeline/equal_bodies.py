"""Fusions with equal bodies: what one owes, the other owes, in the same words.

A network of many layers has thousands of fusions and a few dozen different ones. Two are equal where their operations
are, and their bodies are, instruction by instruction, but for names. Only bodies of opcodes that read nothing at run
time count: what is read at run time is told by the names of its providers, and may be known where the fusion is used.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from hloproof.models.hlo.attributes import NON_SEMANTIC, ComputationRef
from hloproof.models.hlo.module import Instruction, Module, Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE

PLAIN: Final = ELEMENTWISE | {
    "bitcast",
    "broadcast",
    "concatenate",
    "constant",
    "copy",
    "dot",
    "get-tuple-element",
    "iota",
    "pad",
    "parameter",
    "reduce",
    "reduce-window",
    "reshape",
    "reverse",
    "slice",
    "transpose",
    "tuple",
}
"""Opcodes whose maps follow from shapes and attributes alone."""


def body_key(module: Module, operation: Operation, instruction: Instruction) -> Hashable | None:
    """What two fusions have in common that owe the same; None for what is no fusion, or whose body is not plain."""
    called = instruction.attributes.get("calls")
    body = module.by_name.get(called.name) if isinstance(called, ComputationRef) else None
    if instruction.opcode != "fusion" or body is None:
        return None
    numbers: dict[str, int] = {}
    rows: list[tuple[Hashable, tuple[str, ...]]] = []
    for number, i in enumerate(body.instructions):
        if i.opcode not in PLAIN:
            return None
        numbers[i.name] = number
        attributes = tuple(
            (k, None if isinstance(v, ComputationRef) else v) for k, v in i.attributes.pairs if k not in NON_SEMANTIC
        )
        rows.append(((i.opcode, i.shape, attributes, i.parameter_number), i.operands))
    places = tuple((row, tuple(map(numbers.get, operands))) for row, operands in rows)
    kept = tuple((k, v) for k, v in operation.attributes.pairs if k != "calls")
    return operation.shape, operation.operands, kept, places, numbers[body.root_name]
