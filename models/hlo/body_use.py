"""Which parameters of the body of a sort, map or scatter decide what it returns: what a body ignores, nobody reads."""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation, Uses
from hloproof.models.hlo.shape import TupleShape

_BY_USE: Final = frozenset({"map", "scatter", "sort"})
"""Opcodes whose maps follow what the body uses."""


def body_uses(module: Module, instruction: Instruction) -> Uses | None:
    """For each result of the instruction's body the numbers of the parameters that it is computed from. None for other
    opcodes, and where every result is computed from all of them."""
    if instruction.opcode not in _BY_USE:
        return None
    value = instruction.attributes.get("to_apply")
    body = module.find(value.name) if isinstance(value, ComputationRef) else None
    return None if body is None else _uses(body)


def _uses(body: Computation) -> Uses | None:
    count = len(body.root.shape.elements) if isinstance(body.root.shape, TupleShape) else 1
    results = body.root.operands if body.root.opcode == "tuple" else (body.root_name,) * count
    uses = tuple(_reached(body, name) for name in results)
    every = frozenset(range(len(body.parameters)))
    return None if all(u == every for u in uses) else uses


def ignores_unfollowed(module: Module, instruction: Instruction) -> bool:
    """A body that the instruction applies ignores a parameter for some result, and the operation's maps do not follow
    that: they hold what the operation hands to its body."""
    if instruction.opcode in _BY_USE:
        return False
    names = [v.name for _, v in instruction.attributes.pairs if isinstance(v, ComputationRef)]
    bodies = [body for body in map(module.find, names) if body is not None]
    return any(_uses(body) is not None for body in bodies)


def _reached(body: Computation, name: str) -> frozenset[int]:
    seen, waiting = {name}, [name]
    while waiting:
        for operand in body.by_name[waiting.pop()].operands:
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return frozenset(p.parameter_number or 0 for p in body.parameters if p.name in seen)


def uses_parameter(op: Operation, number: int, result: int = 0) -> bool:
    """The body of an operation uses a parameter for one of its results, as far as that is known."""
    return op.uses is None or number in op.uses[result if result < len(op.uses) else 0]


def components(op: Operation, output: int) -> frozenset[int]:
    """The arrays of a scatter whose values decide those of one: its own, those that its body sees beside it, and so on,
    since the body is applied to what it returned before."""
    count = len(op.operands) // 2
    found, waiting = {output}, [output]
    while waiting:
        result = waiting.pop()
        for n in range(count):
            if n not in found and uses_parameter(op, n, result):
                found.add(n)
                waiting.append(n)
    return frozenset(found)


def takes_update(op: Operation, output: int, update: int) -> bool:
    """Updates number `update` of a scatter decide an output."""
    count = len(op.operands) // 2
    return any(uses_parameter(op, count + update, n) for n in components(op, output))


def overwrites(op: Operation, output: int) -> bool:
    """The body of a scatter ignores what was there: an element is read only where no update lands on it."""
    return not uses_parameter(op, output, output)
