"""Maps of asynchronous starts, updates and dones, composed through the computation that runs asynchronously.

The state that links hand on is ((operands), results, contexts...); older text writes a single operand without its
parentheses. Operands and results may be bound late: an operand by an update, the result by an update or the done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import Shape, ShapeIndex, TupleShape, leaves
from hloproof.models.indexing.box import bounds, holds_data
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.route import INPUT_TO_OUTPUT, OUTPUT_TO_INPUT, Route, RouteStep
from hloproof.models.maps.indexing_map import identity


@dataclass(frozen=True, slots=True)
class _Chain:
    """A chain up to and with one link: its start, and the operands bound so far, by name."""

    start: Instruction
    bound: tuple[str, ...]
    before: int
    """How many of them were bound before this link."""


def start_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """From one array of a start to its operands."""
    if position[:1] == (0,):
        operand, rest = _operand_at(instruction.shape, position)
        if operand >= len(instruction.operands):
            raise NotModelled("async-start with fewer operands than its tuple holds")
        return (_moved(computation, instruction, operand, rest),)
    if position[:1] != (1,):
        return ()
    return _result_reads(composer, computation, instruction, position[1:])


def link_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """From one array of an update or done to the state before it and, for what is bound here, to its operands."""
    place = (1, *position) if instruction.opcode == "async-done" else position
    earlier = dict(leaves(computation.by_name[instruction.operands[0]].shape))
    if place in earlier:
        return (_moved(computation, instruction, 0, place),)
    if place[:1] == (0,):
        chain = _chain(computation, instruction)
        operand, rest = _operand_at(instruction.shape, place)
        if not chain.before <= operand < len(chain.bound):
            raise NotModelled(f"{instruction.opcode} whose tuple does not repeat its operands")
        return (_moved(computation, instruction, 1 + operand - chain.before, rest),)
    if place[:1] != (1,):
        return ()
    return _result_reads(composer, computation, instruction, place[1:])


def link_writes(
    composer: Composer, computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """From one array of an operand to the arrays of a start, update or done."""
    done = instruction.opcode == "async-done"
    is_state = operand == 0 and instruction.opcode != "async-start"
    found: list[RouteStep] = []
    if is_state and position[:1] != (0,):
        place = position[1:] if done else position
        if position[:1] == (1,) and place in dict(leaves(instruction.shape)):
            found.append(_arrives(computation, instruction, operand, position, place))
        return tuple(found)
    if is_state:
        number, rest = _operand_at(computation.by_name[instruction.operands[0]].shape, position)
    else:
        number, rest = operand, position
        if instruction.opcode != "async-start":
            number = _chain(computation, instruction).before + operand - 1
    if not done:
        place = (0, *rest) if _is_flat(instruction.shape) else (0, number, *rest)
        if place in dict(leaves(instruction.shape)):  # whether it has to be is a claim about the chain
            found.append(_arrives(computation, instruction, operand, position, place))
    new = _new_results(computation, instruction)
    if new:
        chain = _chain(computation, instruction)
        callee = _callee(composer, chain)
        for step in composer.through(callee, INPUT_TO_OUTPUT, number, rest):
            outside = composer.leaving(step, computation, chain.bound, composer.site(callee, instruction))
            if outside.position in new:
                found.append(replace(outside, number=0, position=outside.position if done else (1, *outside.position)))
    return tuple(found)


def _result_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """What an array of the result, which appears at this link, is computed from."""
    chain = _chain(computation, instruction)
    callee = _callee(composer, chain)
    found: list[RouteStep] = []
    for step in composer.through(callee, OUTPUT_TO_INPUT, 0, position):
        outside = composer.leaving(step, computation, chain.bound, composer.site(callee, instruction))
        number = step.number
        if instruction.opcode == "async-start":
            found.append(outside)
        elif number < chain.before:
            flat = _is_flat(computation.by_name[instruction.operands[0]].shape)
            place = (0, *step.position) if flat else (0, number, *step.position)
            found.append(replace(outside, number=0, position=place))
        else:
            found.append(replace(outside, number=1 + number - chain.before))
    return tuple(found)


def _new_results(computation: Computation, instruction: Instruction) -> set[ShapeIndex]:
    """The arrays of the result, by their position in it, that appear at this link."""
    if instruction.opcode == "async-done":
        own = {place for place, leaf in leaves(instruction.shape) if holds_data(leaf)}
    else:
        own = {place[1:] for place, leaf in leaves(instruction.shape) if place[:1] == (1,) and holds_data(leaf)}
    if instruction.opcode == "async-start":
        return own
    state = computation.by_name[instruction.operands[0]].shape
    return own - {place[1:] for place, _ in leaves(state) if place[:1] == (1,)}


def _chain(computation: Computation, instruction: Instruction) -> _Chain:
    """The chain that leads straight to this link. Raises NotModelled where it passes through anything else."""
    links = [instruction]
    while links[-1].opcode != "async-start":
        before = computation.by_name[links[-1].operands[0]]
        if before.opcode not in ("async-start", "async-update"):
            raise NotModelled(f"{instruction.opcode} whose start is reached through {before.opcode}")
        links.append(before)
    bound: tuple[str, ...] = ()
    count = 0
    for link in reversed(links):
        count = len(bound)
        bound += link.operands if link.opcode == "async-start" else link.operands[1:]
    return _Chain(links[-1], bound, count)


def _callee(composer: Composer, chain: _Chain) -> Computation:
    for name in ("calls", "async_wrapped_computation"):
        value = chain.start.attributes.get(name)
        callee = composer.module.by_name.get(value.name) if isinstance(value, ComputationRef) else None
        if callee is not None:
            if len(callee.parameters) != len(chain.bound):
                raise NotModelled(
                    f"{chain.start.opcode} hands {len(chain.bound)} values to {callee.name}, which takes "
                    f"{len(callee.parameters)}"
                )
            return callee
    raise NotModelled(f"{chain.start.opcode} that names no computation")


def _is_flat(shape: Shape) -> bool:
    return isinstance(shape, TupleShape) and bool(shape.elements) and not isinstance(shape.elements[0], TupleShape)


def _operand_at(shape: Shape, position: ShapeIndex) -> tuple[int, ShapeIndex]:
    """Which operand lies at a position below {0}, and the position inside it."""
    return (0, position[1:]) if _is_flat(shape) else (position[1], position[2:])


def _moved(computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex) -> RouteStep:
    """The array is the one at `position` of an operand."""
    leaf = dict(leaves(computation.by_name[instruction.operands[operand]].shape)).get(position)
    if leaf is None or not holds_data(leaf):
        raise NotModelled(f"{instruction.opcode} whose operand has no array at {position}")
    return RouteStep(operand, position, "moves", (Route(identity(bounds(leaf))),))


def _arrives(
    computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex, place: ShapeIndex
) -> RouteStep:
    """An operand's array is the instruction's at `place`."""
    leaf = dict(leaves(computation.by_name[instruction.operands[operand]].shape))[position]
    return RouteStep(0, place, "moves", (Route(identity(bounds(leaf))),))
