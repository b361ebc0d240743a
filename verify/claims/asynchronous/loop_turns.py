"""What the counters of a loop hold in each of its turns, where that follows from constants: numbers that do come up.
And whether a loop takes a turn at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hloproof.models.dataflow.value_flow import called
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition.known_scalars import KnownScalars
from hloproof.models.indexing.composition.trip_count import State, first_turns
from hloproof.models.interpreter.operations.dispatch import OPERATIONS

_COMPUTED: Final = frozenset(OPERATIONS) - {"custom-call"}
"""Opcodes whose results follow from their operands and attributes alone."""


@dataclass(frozen=True)
class Turns:
    """States that a loop's body is given, one after the other; `are_all` where there are no others."""

    states: tuple[State, ...] = ()
    are_all: bool = False


def turns_of(module: Module, computation: Computation) -> Turns:
    """The states of the first turns of the loop whose body this is; none where it is not known which they are, or
    whether the loop runs: it is the one use of the computation, and stands in the entry."""
    uses = [
        (c, i) for c in module.computations for i in c.instructions if computation.name in i.attributes.computations()
    ]
    if len(uses) != 1:
        return Turns()
    ((outer, loop),) = uses
    if loop.opcode != "while" or called(loop, "body") != computation.name or outer is not module.entry:
        return Turns()
    return _first_turns(module, outer, loop)


def takes_a_turn(module: Module, computation: Computation, loop: Instruction) -> bool:
    """Whether the condition of a loop is known to hold at first, whatever the computation around it is given."""
    return bool(_first_turns(module, computation, loop).states)


def loops_of_constants(module: Module) -> Iterator[Instruction]:
    """Loops whose condition follows at first from constants alone, and is not known to hold or not."""
    for outer in module.computations:
        for loop in outer.instructions:
            if loop.opcode == "while" and _begins_with_constants(module, outer, loop):
                turns = _first_turns(module, outer, loop)
                if not turns.states and not turns.are_all:
                    yield loop


def _begins_with_constants(module: Module, outer: Computation, loop: Instruction) -> bool:
    condition = module.find(called(loop, "condition"))
    if condition is None or len(loop.operands) != 1:
        return False
    stack: list[tuple[Computation, str, ShapeIndex]] = [(condition, condition.root_name, ())]
    seen = set[tuple[str, str, ShapeIndex]]()
    while stack:
        computation, name, at = stack.pop()
        if (computation.name, name, at) in seen:
            continue
        seen.add((computation.name, name, at))
        i = computation.by_name[name]
        match i.opcode:
            case "parameter" if computation is condition:
                stack.append((outer, loop.operands[0], at))
            case "constant":
                pass
            case "tuple" if at:
                stack.append((computation, i.operands[at[0]], at[1:]))
            case "get-tuple-element":
                stack.append((computation, i.operands[0], (i.attributes.integer("index", 0), *at)))
            case opcode if opcode in _COMPUTED:
                stack += ((computation, o, ()) for o in i.operands)
            case _:
                return False
    return True


def _first_turns(module: Module, outer: Computation, loop: Instruction) -> Turns:
    condition, body = module.find(called(loop, "condition")), module.find(called(loop, "body"))
    if condition is None or body is None or len(loop.operands) != 1:
        return Turns()
    return Turns(*first_turns(KnownScalars(module), outer, loop, condition, body, _nothing))


def _nothing(_number: int, _at: ShapeIndex) -> int | None:
    return None


def part_of_state(source: Instruction, path: tuple[int, ...], turns: Turns) -> ShapeIndex | None:
    """The part of a loop's state that is taken from its parameter, where every turn is known to hold a number there."""
    if source.opcode != "parameter" or not turns.states or any(path not in state for state in turns.states):
        return None
    return path
