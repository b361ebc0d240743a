"""The claim that a schedule is one: every instruction stands after those that it waits for."""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.claims.asynchronous.orders import predecessors
from hloproof.claims.asynchronous.timeline import timeline
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.module import Computation, Instruction


def hazard_order(context: Context) -> Iterator[Judgement]:
    """Owed where the order of the text is the schedule, by every instruction with control predecessors, and by those
    whose operands stand after them."""
    if not context.scheduled:
        return
    for computation in context.chains.module.computations:
        number = {i.name: n for n, i in enumerate(computation.instructions)}
        for i in computation.instructions:
            late = [name for name in i.operands if number[name] >= number[i.name]]
            if late or predecessors(i):
                problem = _too_late(computation, number, i, late)
                yield judged("hazard-order", HloPosition(computation.name, i.name), problem)


def _too_late(computation: Computation, number: dict[str, int], i: Instruction, late: list[str]) -> str | None:
    for name in (*late, *predecessors(i)):
        if name not in number:
            return f"{i.name} waits for {name}, which {computation.name} does not have"
        if number[name] >= number[i.name]:
            what = "operand" if name in late else "control predecessor"
            marks = {i.name: f"waits for {name}", name: f"the {what}"}
            order = tuple(x.name for x in computation.instructions)
            return f"{i.name} is scheduled before its {what} {name}\n" + timeline(computation, order, marks)
    return None
