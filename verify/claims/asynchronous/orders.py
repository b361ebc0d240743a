"""The orders in which a computation may run: the given one, or all that data and control dependencies allow; and the
claim that a schedule is one: every instruction stands after those that it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.claims.asynchronous.timeline import timeline
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Computation, Instruction


def predecessors(i: Instruction) -> tuple[str, ...]:
    """Control predecessors."""
    value = i.attributes.get("control-predecessors")
    return tuple(w.text for w in value if isinstance(w, Word)) if isinstance(value, tuple) else ()


class Orders:
    """Which instruction can run between two others."""

    def __init__(self, computation: Computation, scheduled: bool) -> None:
        self.computation, self.scheduled = computation, scheduled
        self.number = {i.name: n for n, i in enumerate(computation.instructions)}

    @cached_property
    def _before(self) -> dict[str, int]:
        """For each instruction the set of those that must have run, itself included, as bits."""
        out: dict[str, int] = {}
        for name in self._topological:
            i = self.computation.by_name[name]
            # Sets as integers: a union is one operation on machine words, and there is one for every instruction.
            bits = 1 << self.number[name]
            for other in (*i.operands, *predecessors(i)):
                bits |= out[other]
            out[name] = bits
        return out

    @cached_property
    def _topological(self) -> tuple[str, ...]:
        """An order that dependencies allow, as close to the text's as they let it be."""
        out: dict[str, None] = {}
        for first in self.computation.instructions:
            stack = [(first.name, False)]
            while stack:
                name, ready = stack.pop()
                if name in out:
                    continue
                if ready:
                    out[name] = None
                    continue
                i = self.computation.by_name[name]
                stack.append((name, True))
                stack.extend((o, False) for o in reversed((*i.operands, *predecessors(i))))
        return tuple(out)

    def must_precede(self, first: str, second: str) -> bool:
        """`first` has run whenever `second` runs."""
        if self.scheduled:
            return self.number[first] < self.number[second]
        return first != second and bool(self._before[second] >> self.number[first] & 1)

    def between(self, opening: str | None, name: str, closings: Iterable[str]) -> bool:
        """`name` can run after `opening` (None: the beginning) and before one of the closings (none: the end)."""
        # What must have run before the operation began is not in between, whatever the order.
        if opening is not None and (name == opening or self.must_precede(name, opening)):
            return False
        ends = tuple(closings)
        if not ends:
            return True
        return any(name != end and not self.must_precede(end, name) for end in ends)

    def witness(self, opening: str | None, name: str) -> tuple[str, ...]:
        """An order of the whole computation in which `name` runs after `opening`, and as early as can be: before every
        closing that need not come before it."""
        if self.scheduled:
            return tuple(i.name for i in self.computation.instructions)
        out: dict[str, None] = {}
        for target in (name,) if opening is None else (opening, name):
            wanted = self._before[target]
            out.update((other, None) for other in self._topological if wanted >> self.number[other] & 1)
        out.update((other, None) for other in self._topological)
        return tuple(out)


def hazard_order(context: Context) -> Iterator[Judgement]:
    """Owed where the order of the text is the schedule, by every instruction with control predecessors, and by those
    whose operands stand after them."""
    if not context.ordered:
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
