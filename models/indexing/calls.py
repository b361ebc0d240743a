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
from models.indexing.loops import loop_reads, loop_writes
from models.indexing.route import Route


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
            return loop_reads(composer, computation, instruction, position)
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
            return loop_writes(composer, computation, instruction, position)
        case "async-start" | "async-update" | "async-done":
            return link_writes(composer, computation, instruction, operand, position)
    raise NotModelled(f"{instruction.opcode} is not composed")


def _callee(composer: Composer, instruction: Instruction, names: tuple[str, ...], arity: int) -> Computation:
    """The computation that the first of these attributes names; it must take `arity` parameters."""
    for name in names:
        value = instruction.attributes.get(name)
        if isinstance(value, ComputationRef):
            return composer.callee(instruction, value.name, arity)
    raise NotModelled(f"{instruction.opcode} that names no computation")


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
    return tuple(composer.callee(instruction, name, 1) for name in names)


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
