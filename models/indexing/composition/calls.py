"""Instructions that are composed through the computations they call: fusion, call, conditional, while, async."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import COMPOSED, ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape, ShapeIndex, leaves
from hloproof.models.indexing.box import bounds, holds_data, to_scalar, whole
from hloproof.models.indexing.composition.async_links import link_reads, link_writes, start_reads
from hloproof.models.indexing.composition.composer import Bodies, Composer
from hloproof.models.indexing.composition.known_values import branch_names
from hloproof.models.indexing.composition.loops import loop_reads, loop_writes
from hloproof.models.indexing.composition.route import INPUT_TO_OUTPUT, OUTPUT_TO_INPUT, Route, RouteStep
from hloproof.models.indexing.composition.scan_body import with_body


def reads_through(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
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
    composer: Composer, computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex
) -> tuple[RouteStep, ...]:
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


def _branches(composer: Composer, computation: Computation, instruction: Instruction) -> tuple[Computation, ...]:
    def found() -> tuple[Computation, ...]:
        names = branch_names(instruction)
        if len(names) + 1 != len(instruction.operands):
            raise NotModelled(f"conditional with {len(names)} branches and {len(instruction.operands)} operands")
        return tuple(composer.callee(instruction, name, 1) for name in names)

    return composer.kept(("branches", computation.name, instruction.name), found)


def taken_branch(
    composer: Composer, computation: Computation, instruction: Instruction, branches: Sequence[Computation]
) -> int | None:
    """The number of the branch that is taken, where that is known. True takes the first; an index that names none takes
    the last."""
    selector = composer.known.value(computation, instruction.operands[0])
    if selector is None:
        return None
    shape = computation.by_name[instruction.operands[0]].shape
    if isinstance(shape, ArrayShape) and shape.element_type == "pred":
        return 0 if selector else 1
    return selector if 0 <= selector < len(branches) else len(branches) - 1


def _conditional_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """Operand 0 selects; of the branches one is taken, so each one's maps are a bound unless it is known which."""
    out = bounds(dict(leaves(instruction.shape))[position])
    found = [RouteStep(0, (), "reads", (Route(to_scalar(out)),))]
    branches = _branches(composer, computation, instruction)
    taken = taken_branch(composer, computation, instruction, branches)
    for n, branch in enumerate(branches):
        if taken not in (None, n):
            continue
        for s in composer.through(branch, OUTPUT_TO_INPUT, 0, position):
            outside = _outside(composer, computation, instruction, branch, n, s)
            found.append(replace(outside, number=n + 1, kind="bound" if taken is None else s.kind))
    return tuple(found)


def _conditional_writes(
    composer: Composer, computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    outputs = [(place, bounds(leaf)) for place, leaf in leaves(instruction.shape) if holds_data(leaf)]
    if operand == 0:
        return tuple(RouteStep(0, place, "reads", (Route(whole((), out)),)) for place, out in outputs)
    branches = _branches(composer, computation, instruction)
    taken, branch = taken_branch(composer, computation, instruction, branches), branches[operand - 1]
    if taken not in (None, operand - 1):
        return ()
    return tuple(
        replace(
            _outside(composer, computation, instruction, branch, operand - 1, s),
            kind="bound" if taken is None else s.kind,
        )
        for s in composer.through(branch, INPUT_TO_OUTPUT, 0, position)
    )


def _outside(
    composer: Composer, computation: Computation, instruction: Instruction, branch: Computation, n: int, step: RouteStep
) -> RouteStep:
    """A step through branch n, counted from 0, in the caller's names. Two branches may call one computation."""
    site = composer.site(branch, instruction)
    return composer.leaving(step, computation, (instruction.operands[n + 1],), site and f"{site}[{n}]")


PLAIN: Final = ELEMENTWISE | {
    "bitcast",
    "broadcast",
    "call",
    "concatenate",
    "constant",
    "copy",
    "dot",
    "fusion",
    "get-tuple-element",
    "iota",
    "pad",
    "parameter",
    "reduce",
    "reduce-window",
    "reshape",
    "reverse",
    "slice",
    "transpose",
    "tuple",
}
"""Opcodes whose maps follow from shapes and attributes alone, or from those of what they call."""

BODIES: Final = Bodies(COMPOSED, reads_through, writes_through, with_body, PLAIN)
"""What a composer is given."""
