"""What the text of an asynchronous update or done must have in common with the start that it names directly.

Links that are joined through tuples, loops or calls are the business of the claims about chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hloproof.models.hlo.attributes import Attributes, ComputationRef, Quoted, Word
from hloproof.models.hlo.inference.common import ShapeError, Signature
from hloproof.models.hlo.inference.infer import infer
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import async_sugar
from hloproof.models.hlo.shape import Shape, TupleShape


def step_of(opcode: str) -> str | None:
    """`start`, `update` or `done` for generic and sugared asynchronous opcodes."""
    if opcode.startswith("async-"):
        return opcode[6:] if opcode[6:] in ("start", "update", "done") else None
    sugar = async_sugar(opcode)
    return sugar[1] if sugar else None


def check_link(
    opcode: str, attributes: Attributes, shape: Shape | None, before: Instruction, start: Instruction | None
) -> None:
    """Compares an update or done with `before`, its operand, and with the start of the chain where the text shows it.
    Raises ShapeError."""
    if step_of(before.opcode) == "done":
        raise ShapeError(f"{opcode} cannot have {before.opcode} {before.name} as operand: the operation ended there")
    if start is None:
        return
    own, first = async_sugar(opcode), async_sugar(start.opcode)
    if own is not None and first is not None and own[0] != first[0]:
        raise ShapeError(f"expected the wrapped opcode {first[0]} of {start.name}, but got {own[0]}")
    called, expected = _called(attributes), _called(start.attributes)
    if called is not None and called != expected:
        raise ShapeError(f"expected the wrapped computation of {start.name}, {expected}, but got {called}")
    thread, main = _thread(attributes), _thread(start.attributes) or "main"
    if thread is not None and thread != main:
        raise ShapeError(f"expected the execution thread of {start.name}, {main}, but got {thread}")
    if isinstance(shape, TupleShape) and opcode.endswith("-update") and _is_flat(shape) != _is_flat(start.shape):
        raise ShapeError(
            f"{opcode} expects the shape to be in the form ((operand0, operand1, ...), output, contexts...) throughout "
            f"the chain of {start.name}; one of the two leaves out the parentheses around the operands"
        )


def check_wrapped(
    chain: Iterable[Instruction], shapes: Mapping[str, Shape], signatures: Mapping[str, Signature]
) -> None:
    """Checks what a sugared start stands for on the operands that its chain binds, as if it were written out. `chain`
    is the start and what follows it, in order, each the only user of the one before, up to the done; of others nothing
    is known here. Whether the result is the one that the chain has is a claim of its own. Raises ShapeError."""
    start, *others = chain
    sugar = async_sugar(start.opcode)
    if sugar is None or sugar[0] == "call" or not others or step_of(others[-1].opcode) != "done":
        return
    bound = [*start.operands, *(o for i in others for o in i.operands[1:])]
    infer(sugar[0], tuple(shapes[o] for o in bound), start.attributes, others[-1].shape, signatures)


def _is_flat(shape: Shape) -> bool:
    return isinstance(shape, TupleShape) and bool(shape.elements) and not isinstance(shape.elements[0], TupleShape)


def _called(attributes: Attributes) -> str | None:
    value = attributes.get("calls") or attributes.get("to_apply")
    return value.name if isinstance(value, ComputationRef) else None


def _thread(attributes: Attributes) -> str | None:
    value = attributes.get("async_execution_thread")
    return value.text if isinstance(value, Quoted | Word) else None
