"""plan-interference inside of what operations apply to single elements: comparators and reducers.

Each thread has the values of these for itself, and runs their computations in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.memory.interference import INTERFERENCE
from hloproof.memory.plan import Plan, judged
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.memory.assignment import Key, Slice


@dataclass(frozen=True, slots=True)
class _Span:
    """A slice needed from an instruction's number to another's."""

    slice: Slice
    first: int
    last: int

    def needed_when(self, other: _Span) -> bool:
        """Whether this one is needed when the other is written: what nobody reads never is."""
        return self.first <= other.first < self.last


def applied(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each value of an applied computation that has a slice."""
    places: dict[tuple[int, str], list[_Span]] = {}
    for s in plan.assignment.slices:
        value = plan.values.values.get(s.key)
        if value is not None and value.room == "applied" and not plan.liveness.given(value) and s.size:
            places.setdefault((s.allocation, value.computation), []).append(_span(plan, s, value.computation))
    for (allocation, name), found in places.items():
        runs = _run_by(plan, name)
        nested = [o for (a, other), spans in places.items() if a == allocation and other in runs for o in spans]
        for one in found:
            met = next((o for o in found if o is not one and _meet(plan, o, one)), None)
            told = None
            if met is not None:
                told = f"{plan.named(one.slice.key)} is written over {plan.named(met.slice.key)}, which is needed"
                told += f" (plan lines {one.slice.line} and {met.slice.line})"
            over = None if told else next((o for o in found if o is not one and _in_place(plan, o, one)), None)
            within = None if told else next((o for o in nested if plan.overlap(o.slice, one.slice)), None)
            unknown = None
            if within is not None:
                unknown = (
                    f"{plan.named(one.slice.key)} and {plan.named(within.slice.key)} share bytes, and {_of(plan, one)} "
                )
                unknown += f"runs {_of(plan, within)}: which of them is needed when is not modelled"
            elif over is not None:
                unknown = f"{plan.named(one.slice.key)} is written over {plan.named(over.slice.key)}, which the same "
                unknown += "instruction reads: in which order the elements are made is not modelled"
            yield judged(INTERFERENCE, plan.place(*one.slice.key), told, unknown)


def _of(plan: Plan, span: _Span) -> str:
    return plan.values.computation_of[span.slice.instruction].name


def _run_by(plan: Plan, name: str) -> set[str]:
    """What the instructions of a computation apply, and what these do."""
    seen: set[str] = set()
    stack = [name]
    while stack:
        inner = plan.module.find(stack.pop())
        for i in inner.instructions if inner is not None else ():
            stack += (c for c in i.attributes.computations() if c not in seen)
            seen.update(i.attributes.computations())
    return seen


def _meet(plan: Plan, needed: _Span, written: _Span) -> bool:
    return needed.needed_when(written) and plan.overlap(needed.slice, written.slice) is not None


def _in_place(plan: Plan, read: _Span, written: _Span) -> bool:
    """What reads several elements makes its result over them."""
    low, high = plan.overlap(read.slice, written.slice) or (0, 0)
    several = not isinstance(read.slice.shape, ArrayShape) or read.slice.shape.elements > 1
    return read.first < read.last == written.first and low < high and several


def _span(plan: Plan, s: Slice, name: str) -> _Span:
    computation = plan.module.by_name[name]
    order = {i.name: n for n, i in enumerate(computation.instructions)}
    first = -1 if plan.instruction(s.instruction).opcode == "parameter" else order[s.instruction]
    users = [order[i.name] for i in computation.instructions for o in i.operands if s.key in _standing(plan, o)]
    if s.key in _standing(plan, computation.root_name):
        users.append(len(order))
    return _Span(s, first, max(users, default=first))


def _standing(plan: Plan, name: str) -> set[Key]:
    return {value for _, value in plan.values.places_in(name)}
