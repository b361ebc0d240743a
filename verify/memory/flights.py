"""Operations in flight that work in the place of an operand: which results may lie over what they are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hloproof.memory.plan import Plan, laid_out_alike
from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.dataflow.async_chain import AsyncChains, declared_aliases
from hloproof.models.dataflow.in_place import in_place_operand
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import Shape
from hloproof.models.memory.assignment import Key


@dataclass(frozen=True, slots=True)
class InPlace:
    """`output` is made in the place of `given`, which has the shape `shape` there. `alone`: by the only step of what is
    in flight."""

    output: Key | None
    given: Key | None
    shape: Shape | None
    alone: bool = True


def in_place_of(plan: Plan, start: Instruction) -> Iterator[InPlace]:
    """What a start, or the operations that it runs, make in place by what they are or declare."""
    at = plan.values.at
    body = plan.module.find(AsyncChains.runs(start))
    steps = [start] if body is None else [i for i in body.instructions if i.opcode != "parameter"]
    for i in steps:
        declared = ((e.output_index, e.operand, e.operand_index) for e in declared_aliases(i))
        for output, n, index in (*in_place_operand(i), *declared):
            if 0 <= n < len(i.operands):
                shape = shape_at(plan.instruction(i.operands[n]).shape, index)
                yield InPlace(at((i.name, output)), at((i.operands[n], index)), shape, len(steps) == 1)


def works_in_place(plan: Plan, start: Instruction, output: Key, value: Key) -> bool | None:
    """The output may lie over this value that the start is given: exactly there, in its layout, and nobody but the
    operation itself needs the value from the start on, the start of the next turn of a loop neither. None where other
    steps of it may."""
    found = [p for p in in_place_of(plan, start) if (p.output, p.given) == (output, value)]
    a, b = plan.in_memory[output][1], plan.in_memory[value][1]
    alike = all(laid_out_alike(plan.values.values[output].shape, p.shape) for p in found)
    standing = sum(v == value for name in start.operands for _, v in plan.values.places_in(name))
    if not found or standing != 1 or not alike or plan.extent(a) != plan.extent(b):
        return False
    live, begins = plan.liveness, plan.liveness.order.reads[start.name]
    own = [
        r
        for r in live.reads[value]
        if r.instant > begins and start.name in (r.instruction, live.starts.get(r.instruction))
    ]
    if any(first <= begins + 1 <= last for first, last in live.intervals(plan.values.values[value], own)):
        return False
    return True if all(p.alone for p in found) else None
