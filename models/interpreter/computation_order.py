"""The order in which the instructions of a computation are evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.interpreter.value import BadArgument

_EFFECTS = frozenset({"send", "send-done", "outfeed", "parameter"})
"""Opcodes that are evaluated although nothing may read them."""


@dataclass(frozen=True, slots=True)
class EvaluationOrder:
    """Instructions to evaluate, operands before users, and for each the names nobody reads afterwards."""

    instructions: tuple[Instruction, ...]
    dead: tuple[tuple[str, ...], ...]


def plan(computation: Computation) -> EvaluationOrder:
    """What the root and the effects need, in the order of the text where that order has operands before users."""
    by_name = computation.by_name
    roots = [by_name[computation.root_name], *(i for i in computation.instructions if i.opcode in _EFFECTS)]
    found = list(_postorder(computation, roots))
    wanted = {i.name for i in found}
    in_text = [i for i in computation.instructions if i.name in wanted]
    seen: set[str] = set()
    for i in in_text:
        if not seen.issuperset(i.operands):
            in_text = found
            break
        seen.add(i.name)
    last: dict[str, int] = {}
    for k, i in enumerate(in_text):
        for operand in i.operands:
            last[operand] = k
    last.pop(computation.root_name, None)
    dead: list[list[str]] = [[] for _ in in_text]
    for name, k in last.items():
        dead[k].append(name)
    return EvaluationOrder(tuple(in_text), tuple(tuple(names) for names in dead))


def _postorder(computation: Computation, roots: list[Instruction]) -> Iterator[Instruction]:
    done: set[str] = set()
    open_: set[str] = set()
    stack = [(i, False) for i in reversed(roots)]
    while stack:
        i, ready = stack.pop()
        if ready:
            open_.discard(i.name)
            done.add(i.name)
            yield i
        elif i.name not in done:
            if i.name in open_:
                raise BadArgument(f"{i.name} depends on itself")
            open_.add(i.name)
            stack.append((i, True))
            stack.extend((computation.by_name[o], False) for o in reversed(i.operands) if o not in done)
