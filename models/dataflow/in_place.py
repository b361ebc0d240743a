"""Operations that a compiler performs in the buffer of an operand: which output shares with which operand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.dataflow.value_flow import called
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ShapeIndex, leaves

Pair = tuple[ShapeIndex, int, ShapeIndex]
"""A position of the output, an operand number, a position of that operand."""

_FIRST_OPERAND: Final = frozenset({"dynamic-update-slice", "set-dimension-size"})
_WITH_OFFSETS: Final = 4
"""Operands of a permutation that moves slices: what is sent, where it goes, and the offsets in both."""


def in_place_operand(i: Instruction) -> tuple[Pair, ...]:
    """The pairs of a single instruction."""
    if i.opcode in _FIRST_OPERAND:
        return (((), 0, ()),)
    if i.opcode in ("scatter", "sort"):
        count = len(i.operands) if i.opcode == "sort" else len(i.operands) // 2
        if count == 1:
            return (((), 0, ()),)
        return tuple(((k,), k, ()) for k in range(count))
    # The second operand is where the parts go; what nobody sends to stays what it was.
    # Of several arrays each: the tables of a tuple are not written.
    if i.opcode == "ragged-all-to-all" or (i.opcode == "collective-permute" and len(i.operands) == _WITH_OFFSETS):
        return tuple((at, 1, at) for at, _ in leaves(i.shape))
    if i.opcode == "collective-permute-start" and len(i.operands) == _WITH_OFFSETS:
        return tuple((at, 1, at[1:]) for at, _ in leaves(i.shape) if at[:1] == (1,))
    return ()


def fused_in_place(module: Module, i: Instruction) -> tuple[Pair, ...]:
    """The pairs of a fusion: results that are an update of (a bitcast of) a parameter."""
    if i.opcode != "fusion":
        return ()
    body = module.find(called(i, "calls"))
    if body is None:
        return ()
    by_name, root = body.by_name, body.root
    results = root.operands if root.opcode == "tuple" else (root.name,)
    out: list[Pair] = []
    for k, name in enumerate(results):
        update = updating(by_name, name)
        if update is None:
            continue
        parameter = parameter_behind(body, update.operands[0])
        if parameter is not None and parameter < len(i.operands):
            out.append(((k,) if root.opcode == "tuple" else (), parameter, ()))
    return tuple(out)


def updating(by_name: Mapping[str, Instruction], name: str) -> Instruction | None:
    """The dynamic-update-slice or scatter that an instruction is, behind bitcasts."""
    i = by_name[name]
    while i.opcode == "bitcast":
        i = by_name[i.operands[0]]
    return i if i.opcode in ("dynamic-update-slice", "scatter") else None


def parameter_behind(body: Computation, name: str) -> int | None:
    """The number of the parameter whose buffer an instruction of a fused computation passes on, or None."""
    i = body.by_name[name]
    while i.opcode == "bitcast":
        i = body.by_name[i.operands[0]]
    return i.parameter_number if i.opcode == "parameter" else None
