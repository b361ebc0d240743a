"""The order in which the instructions of a computation are evaluated."""

from __future__ import annotations

from dataclasses import dataclass

from hloproof.models.hlo.module import Computation, Instruction

_EFFECTS = frozenset({"send", "send-done", "outfeed", "parameter"})
"""Opcodes that are evaluated although nothing may read them."""


@dataclass(frozen=True, slots=True)
class EvaluationOrder:
    """Instructions to evaluate, operands before users, and for each the names nobody reads afterwards."""

    instructions: tuple[Instruction, ...]
    dead: tuple[tuple[str, ...], ...]


def plan(computation: Computation) -> EvaluationOrder:
    """What the root and the effects need, in the order of the text where that order has operands before users."""
    wanted = _wanted(computation)
    in_text = [i for i in computation.operands_first if i.name in wanted]
    last: dict[str, int] = {}
    for k, i in enumerate(in_text):
        for operand in i.operands:
            last[operand] = k
    last.pop(computation.root_name, None)
    dead: list[list[str]] = [[] for _ in in_text]
    for name, k in last.items():
        dead[k].append(name)
    return EvaluationOrder(tuple(in_text), tuple(tuple(names) for names in dead))


def _wanted(computation: Computation) -> set[str]:
    """The names of what the root and the effects are computed from."""
    stack = [computation.root_name, *(i.name for i in computation.instructions if i.opcode in _EFFECTS)]
    wanted = set(stack)
    while stack:
        new = set(computation.by_name[stack.pop()].operands) - wanted
        wanted |= new
        stack += new
    return wanted
