"""Fusions, calls, conditionals and loops with equal bodies: what one owes, the other owes, in the same words.

Two are equal where their operations are, the bodies are alike, the same operands are equal to one another, and what is
known of them beforehand is: the constants that place what is read at run time, the branch that is taken, the counters
of each turn. Which values are read at run time is told by the names of their providers; these are different in both
alike, since names that are not are told apart by where they stand.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Operation
from hloproof.models.hlo.opcodes import COMPOSED
from hloproof.models.indexing.composition.calls import PLAIN
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.loops import loop_of

_INSIDE: Final = frozenset({"call", "fusion"})
"""Opcodes in a body through which nothing comes that is known outside of it alone."""


def body_key(
    composer: Composer, computation: Computation, instruction: Instruction, operation: Operation
) -> Hashable | None:
    """What two such instructions have in common that owe the same; None where that cannot be told."""
    numbers: list[int] = []
    plain = True
    for name in instruction.attributes.computations():
        body = composer.module.by_name.get(name)
        alike = None if body is None else composer.alike.of(body)
        if alike is None or alike.opcodes & (COMPOSED - _INSIDE):
            return None
        plain = plain and alike.opcodes <= PLAIN
        if not plain and not alike.is_static:
            return None
        numbers.append(alike.number)
    beside = _known_beside(composer, computation, instruction)
    if not numbers or beside is None:
        return None
    first: dict[str, int] = {}
    which = tuple(first.setdefault(name, place) for place, name in enumerate(instruction.operands))
    given = () if plain else tuple(_given(computation, name) for name in first)
    kept = composer.alike.without_names(operation.attributes)
    return operation.shape, operation.operands, operation.opcode, kept, tuple(numbers), which, given, beside


def _given(computation: Computation, name: str) -> Hashable:
    """What is known of an operand from what makes it; of a tuple, as the state of a loop, also which parts are one."""
    operand = computation.by_name[name]
    if operand.opcode in ("constant", "iota"):
        return operand.opcode, operand.literal, operand.attributes.pairs
    if operand.opcode == "tuple":
        first: dict[str, int] = {}
        which = tuple(first.setdefault(part, place) for place, part in enumerate(operand.operands))
        return which, tuple(_given(computation, part) for part in first)
    return None


def _known_beside(composer: Composer, computation: Computation, instruction: Instruction) -> Hashable | None:
    """What the maps depend on beside the body; None where it is not known or too much."""
    match instruction.opcode:
        case "fusion" | "call":
            return ()
        case "conditional" if instruction.operands:
            return ("taken", composer.known.value(computation, instruction.operands[0]))
        case "while":
            try:
                turns = loop_of(composer, computation, instruction).turns
            except NotModelled:
                return None
            return None if turns is None else tuple(tuple(sorted(state.items())) for state in turns)
    return None
