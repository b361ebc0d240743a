"""The shape of an instruction from its opcode, its operands' shapes and its attributes.

`infer` looks the opcode up in one table. None means that nothing can be said: opaque opcodes, custom calls, bitcasts.
What upstream checks is checked; what it lets pass and real modules use (degenerate broadcasts, mixed precision) passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.inference import collective, control, elementwise, gather_scatter, movement, window
from hloproof.models.hlo.inference.common import Request, ShapeError, Signature, compatible
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.opcodes import Opcode, async_sugar, refusal, row_of
from hloproof.models.hlo.shape import Shape

_RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    name: rule
    for subject in (elementwise, movement, window, gather_scatter, control, collective)
    for name, rule in subject.RULES.items()
}


def infer(
    opcode: str,
    operands: tuple[Shape, ...],
    attributes: Attributes,
    declared: Shape | None,
    signatures: Mapping[str, Signature],
    exactly: bool = False,
) -> Shape | None:
    """The shape that the operation gives, without a claim about layouts; None where it cannot be told.

    `declared` is what the text says, which some opcodes need (reshape, broadcast, convert). Where `exactly`, no
    floating-point type passes for one of another precision. Raises ShapeError.
    """
    row = row_of(opcode)
    if row is None:
        raise ShapeError(refusal(opcode))
    _check_arity(row, len(operands))
    rule = _RULES.get(opcode)
    if rule is None:
        sugar = async_sugar(opcode)
        if sugar is None:
            return None  # an opaque opcode
        rule = collective.async_done if sugar[1] == "done" else collective.async_state
    return rule(Request(opcode, operands, attributes, declared, signatures, exactly))


def what_is_wrong(
    opcode: str,
    operands: tuple[Shape, ...],
    attributes: Attributes,
    declared: Shape,
    signatures: Mapping[str, Signature],
    exactly: bool = False,
) -> str:
    """Why an operation cannot be, or not with the shape that it is declared to have; empty where nothing tells."""
    try:
        given = infer(opcode, operands, attributes, declared, signatures, exactly)
    except ShapeError as error:
        return str(error)
    agrees = given is None or compatible(declared, given, exactly)
    return "" if agrees else f"{opcode} gives another shape than it is declared to"


def signatures_of(module: Module) -> dict[str, Signature]:
    """By name what each computation takes and gives."""
    return {c.name: Signature(tuple(p.shape for p in c.parameters), c.root.shape) for c in module.computations}


def _check_arity(row: Opcode, count: int) -> None:
    if row.fewest <= count and (row.most is None or count <= row.most):
        return
    if row.most is None:
        wanted, last = f"at least {row.fewest}", row.fewest
    else:
        wanted = str(row.fewest) if row.fewest == row.most else f"{row.fewest} or {row.most}"
        last = row.most
    raise ShapeError(f"{row.name} takes {wanted} operand{'' if last == 1 else 's'}, found {count}")


def has_rule(opcode: str) -> bool:
    """Whether there is a shape rule for this opcode."""
    return opcode in _RULES


__all__ = ["ShapeError", "Signature", "compatible", "has_rule", "infer", "signatures_of", "what_is_wrong"]
