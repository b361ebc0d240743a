"""Instructions that are composed through the computations they call: fusion, call, conditional, while, async."""

from __future__ import annotations

from dataclasses import replace

from models.errors import NotModelled
from models.hlo.attributes import ComputationRef
from models.hlo.module import Computation, Instruction
from models.hlo.shape import leaves
from models.indexing.async_links import link_reads, link_writes, start_reads
from models.indexing.box import bounds, holds_data, to_scalar, whole
from models.indexing.composer import INPUT_TO_OUTPUT, OUTPUT_TO_INPUT, Composer, Position, Step
from models.indexing.dependence import is_handed_on, parameter_positions
from models.indexing.route import Route
from models.indexing_map import identity


def reads_through(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    """From one array of the instruction to the arrays of its operands. Raises NotModelled."""
    match instruction.opcode:
        case "fusion" | "call":
            callee = _callee(composer, instruction, ("calls", "to_apply"), len(instruction.operands))
            steps = composer.through(callee, OUTPUT_TO_INPUT, 0, position)
            site = composer.site(callee, instruction)
            return tuple(composer.leaving(s, computation, instruction.operands, site) for s in steps)
        case "conditional":
            return _conditional_reads(composer, computation, instruction, position)
        case "while":
            return _while_reads(composer, computation, instruction, position)
        case "async-start":
            return start_reads(composer, computation, instruction, position)
        case "async-update" | "async-done":
            return link_reads(composer, computation, instruction, position)
    raise NotModelled(f"{instruction.opcode} is not composed")


def writes_through(
    composer: Composer, computation: Computation, instruction: Instruction, operand: int, position: Position
) -> tuple[Step, ...]:
    """From one array of an operand to the arrays of the instruction. Raises NotModelled."""
    match instruction.opcode:
        case "fusion" | "call":
            callee = _callee(composer, instruction, ("calls", "to_apply"), len(instruction.operands))
            steps = composer.through(callee, INPUT_TO_OUTPUT, operand, position)
            site = composer.site(callee, instruction)
            return tuple(composer.leaving(s, computation, instruction.operands, site) for s in steps)
        case "conditional":
            return _conditional_writes(composer, computation, instruction, operand, position)
        case "while":
            return _while_writes(composer, computation, instruction, position)
        case "async-start" | "async-update" | "async-done":
            return link_writes(composer, computation, instruction, operand, position)
    raise NotModelled(f"{instruction.opcode} is not composed")


def _callee(composer: Composer, instruction: Instruction, names: tuple[str, ...], arity: int) -> Computation:
    """The computation that the first of these attributes names; it must take `arity` parameters."""
    for name in names:
        value = instruction.attributes.get(name)
        if isinstance(value, ComputationRef):
            return _checked(composer, instruction, value.name, arity)
    raise NotModelled(f"{instruction.opcode} that names no computation")


def _checked(composer: Composer, instruction: Instruction, name: str, arity: int) -> Computation:
    callee = composer.module.by_name.get(name)
    if callee is None:
        raise NotModelled(f"{instruction.opcode} of an unknown computation {name}")
    if len(callee.parameters) != arity:
        raise NotModelled(f"{instruction.opcode} hands {arity} values to {name}, which takes {len(callee.parameters)}")
    return callee


def _branches(composer: Composer, instruction: Instruction) -> tuple[Computation, ...]:
    names: list[str] = []
    value = instruction.attributes.get("branch_computations")
    if isinstance(value, tuple):
        names = [v.name for v in value if isinstance(v, ComputationRef)]
    else:
        for attribute in ("true_computation", "false_computation"):
            single = instruction.attributes.get(attribute)
            names += [single.name] if isinstance(single, ComputationRef) else []
    if len(names) + 1 != len(instruction.operands):
        raise NotModelled(f"conditional with {len(names)} branches and {len(instruction.operands)} operands")
    return tuple(_checked(composer, instruction, name, 1) for name in names)


def _branch_site(composer: Composer, branch: Computation, instruction: Instruction, n: int) -> str:
    """Two branches may call one computation."""
    site = composer.site(branch, instruction)
    return site and f"{site}.{n}"


def _conditional_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    """Operand 0 selects; of the branches one is taken, so each one's maps are a bound."""
    out = bounds(dict(leaves(instruction.shape))[position])
    found = [Step(0, (), "reads", (Route(to_scalar(out)),))]
    for n, branch in enumerate(_branches(composer, instruction), start=1):
        for s in composer.through(branch, OUTPUT_TO_INPUT, 0, position):
            site = _branch_site(composer, branch, instruction, n)
            outside = composer.leaving(s, computation, (instruction.operands[n],), site)
            found.append(replace(outside, number=n, kind="bound"))
    return tuple(found)


def _conditional_writes(
    composer: Composer, computation: Computation, instruction: Instruction, operand: int, position: Position
) -> tuple[Step, ...]:
    outputs = [(place, bounds(leaf)) for place, leaf in leaves(instruction.shape) if holds_data(leaf)]
    if operand == 0:
        return tuple(Step(0, place, "reads", (Route(whole((), out)),)) for place, out in outputs)
    branch = _branches(composer, instruction)[operand - 1]
    site = _branch_site(composer, branch, instruction, operand)
    return tuple(
        replace(composer.leaving(s, computation, (instruction.operands[operand],), site), kind="bound")
        for s in composer.through(branch, INPUT_TO_OUTPUT, 0, position)
    )


def _while_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    """An array that the body hands on unchanged is the initial one. Any other may depend on all of every array that the
    loop makes it depend on, and on what decides the number of turns: a bound."""
    depends = _while_dependences(composer, instruction)
    shapes = dict(leaves(instruction.shape))
    out = bounds(shapes[position])
    if depends[position] is None:
        return (Step(0, position, "moves", (Route(identity(out)),)),)
    reached = _closure(depends, position)
    return tuple(
        Step(0, place, "bound", (Route(whole(out, bounds(shapes[place]))),)) for place in shapes if place in reached
    )


def _while_writes(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    depends = _while_dependences(composer, instruction)
    shapes = dict(leaves(instruction.shape))
    start = bounds(shapes[position])
    found: list[Step] = []
    for place, leaf in shapes.items():
        if place not in depends:
            continue
        if depends[place] is None:
            if place == position:
                found.append(Step(0, place, "moves", (Route(identity(start)),)))
        elif position in _closure(depends, place):
            found.append(Step(0, place, "bound", (Route(whole(start, bounds(leaf))),)))
    return tuple(found)


_Dependences = dict[Position, frozenset[Position] | None]


def _while_dependences(composer: Composer, instruction: Instruction) -> _Dependences:
    """For each array of the state the arrays that one turn, or the decision to take it, makes it from; None where the
    body hands it on unchanged."""
    condition = instruction.attributes.get("condition")
    body = instruction.attributes.get("body")
    if not isinstance(condition, ComputationRef) or not isinstance(body, ComputationRef):
        raise NotModelled("while without condition and body")
    test = _checked(composer, instruction, condition.name, 1)
    turn = _checked(composer, instruction, body.name, 1)
    decides = parameter_positions(test, test.root_name, ())
    found: _Dependences = {}
    for place, leaf in leaves(instruction.shape):
        if not holds_data(leaf):
            continue
        if is_handed_on(turn, place):
            found[place] = None
        else:
            found[place] = decides | {place} | parameter_positions(turn, turn.root_name, place)
    return found


def _closure(depends: _Dependences, start: Position) -> set[Position]:
    reached, waiting = {start}, [start]
    while waiting:
        for place in depends.get(waiting.pop()) or ():
            if place not in reached:
                reached.add(place)
                waiting.append(place)
    return reached
