"""plan-complete and plan-size: every value has one slice, of its shape, large enough, aligned, in the right memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement, same_shape
from hloproof.memory.plan import Plan, array_of, bytes_needed, judged, where
from hloproof.models.dataflow.alias_classes import positions, shape_at
from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.physical import layout_of
from hloproof.models.memory.assignment import Allocation, Key, Slice, place_text
from hloproof.models.memory.values import HloValue

COMPLETE: Final = "plan-complete"
SIZE: Final = "plan-size"
ALIGNMENT: Final = 64
"""Bytes: the code that XLA emits for CPUs assumes it of every slice; for GPUs it is 256."""


def complete(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each value that needs a slice, and one for each line of the plan that no value stands
    behind."""
    applied = {plan.values.values[s.key].computation for s in plan.assignment.slices if _is_applied(plan, s)}
    for key, value in plan.values.values.items():
        place = plan.place(*key)
        if plan.slice(key) is not None:
            problem = _kind_problem(plan, value)
            yield judged(COMPLETE, place, problem)
        elif not value.optional and (value.room == "ordered" or value.computation in applied):
            users = [r.instruction for r in plan.liveness.reads[key]] if value.room == "ordered" else []
            read = f"; {users[0]} reads it" if users else ""
            yield judged(
                COMPLETE,
                place,
                f"{plan.named(key)} has no slice: nothing says where {print_shape(value.shape)} lies{read}",
            )
    hidden = _hidden_results(plan)
    by_id: dict[int, Slice] = {}
    for s in plan.assignment.slices:
        problem = _stray(plan, s)
        if by_id.setdefault(s.id, s).key != s.key:
            both = f"{plan.named(by_id[s.id].key)} (plan line {by_id[s.id].line}) and {plan.named(s.key)}"
            problem = problem or f"{both} (plan line {s.line}) are both called value {s.id}"
        if problem and hidden and s.instruction not in plan.values.instruction:
            yield judged(COMPLETE, _place_of(plan, s), unknown=f"{problem}; it may be what {hidden[0]} runs")
        elif problem:
            yield judged(COMPLETE, _place_of(plan, s), problem)
    yield from _outputs(plan)
    for name in hidden:
        told = f"the text does not show what {name} runs, after which the plan names its result"
        yield judged(COMPLETE, plan.place(name), unknown=told)


def _outputs(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each allocation that is said to hold the whole result: the root's array or table lies there."""
    root = plan.module.entry.root
    there = plan.slice(plan.values.at((root.name, ())))
    for a in plan.assignment.allocations:
        said = a.output_shape
        if said is None:
            continue
        problem = None
        if there is None or there.allocation != a.number:
            lies = f"lies at {where(there)}" if there is not None else "has no slice"
            problem = f"plan line {a.line} says that allocation {a.number} is the result; {root.name} {lies}"
        elif not same_shape(said, root.shape, layouts=False):
            problem = f"plan line {a.line} says that the result is {print_shape(said)}, {root.name} is "
            problem += print_shape(root.shape)
        yield judged(COMPLETE, plan.place(root.name), problem)


def _hidden_results(plan: Plan) -> list[str]:
    """Starts of operations whose computation the text leaves out, and whose results have no slice of their name."""
    names = []
    for name in plan.liveness.order.reads:
        i = plan.instruction(name)
        link = link_of(i.opcode)
        sugared = link is not None and link.role == "start" and link.form == "sugared"
        if sugared and AsyncChains.runs(i) is None:
            results = [(name, at) for at in positions(i.shape) if at[:1] == (1,)]
            arrays = [key for key in results if array_of(shape_at(i.shape, key[1]))]
            if any(plan.slice(key) is None for key in arrays):
                names.append(name)
    return names


def _is_applied(plan: Plan, s: Slice) -> bool:
    value = plan.values.values.get(s.key)
    return value is not None and value.room == "applied"


def _place_of(plan: Plan, s: Slice) -> HloPosition:
    if s.instruction in plan.values.instruction:
        return plan.place(*s.key)
    return plan.place(plan.module.entry.root_name)


def _stray(plan: Plan, s: Slice) -> str:
    """What is wrong with a line of the plan by itself; empty when nothing is."""
    first = plan.assignment.by_key[s.key]
    name = plan.named(s.key)
    if first is not s:
        return f"{name} has two slices: {where(first)} and {where(s)}"
    if s.instruction not in plan.values.instruction:
        return f"plan line {s.line} gives a slice to {name}: the module has no such instruction"
    if s.key in plan.values.values:
        return ""
    value = plan.values.at(s.key)
    if value is None:
        return f"plan line {s.line} gives a slice to {name}: nothing there needs memory of its own"
    other = plan.slice(value)
    if other is None or (other.allocation, other.offset) != (s.allocation, s.offset):
        lies = where(other) if other is not None else "nowhere"
        return f"{name} is the value {plan.named(value)}, which lies at {lies}, and has another slice: {where(s)}"
    shape = shape_at(plan.instruction(s.instruction).shape, s.index)
    if shape is None or not same_shape(s.shape, shape, layouts=True):
        there = "nothing" if shape is None else print_shape(shape)
        return f"plan line {s.line} says {print_shape(s.shape)}, {name} is {there}"
    if (s.size, s.colour, s.phi) != (other.size, other.colour, other.phi):
        return f"plan lines {s.line} and {other.line} say different things of one value, {plan.named(value)}"
    return ""


def _kind_problem(plan: Plan, value: HloValue) -> str | None:
    """Why the allocation of a value is of the wrong kind; None when it is right."""
    s = plan.slice(value.key)
    assert s is not None
    allocation, name = plan.allocation(s), plan.named(value.key)
    i = plan.instruction(value.key[0])
    if not same_shape(s.shape, value.shape, layouts=True):
        return f"plan line {s.line} says {print_shape(s.shape)}, {name} is {print_shape(value.shape)}"
    if s.phi != value.phi:
        merges = "merges several values" if value.phi else "is one value and merges none"
        return f"plan line {s.line} has {'a' if s.phi else 'no'} (phi), and {name} {merges}"
    if wrong := _foreign(plan, value, allocation):
        return wrong
    if allocation.thread_local and value.room == "ordered":
        return f"{name} lies in allocation {allocation.number}, which is thread-local: each thread would have its own"
    if i.opcode == "constant" and (not allocation.constant or s.offset):
        return _displaced(name, "a constant", s)
    if value.room == "applied" and i.opcode != "constant" and not allocation.thread_local:
        return f"{name} belongs to what {value.computation} computes in each thread, its allocation to all of them"
    of_entry = i.opcode == "parameter" and value.computation == plan.module.entry_name
    there = (allocation.parameter, allocation.parameter_index, s.offset)
    if of_entry and there != (i.parameter_number, value.key[1], 0):
        return _displaced(name, f"parameter {i.parameter_number}", s)
    said = allocation.parameter_shape
    if of_entry and said is not None and not same_shape(said, value.shape, layouts=False):
        return (
            f"plan line {allocation.line} says that {name} is {print_shape(said)}, and it is {print_shape(value.shape)}"
        )
    return None


def _foreign(plan: Plan, value: HloValue, allocation: Allocation) -> str | None:
    """Why the allocation is one in which no value of this kind may lie, by what the plan says of the allocation."""
    name, number = plan.named(value.key), allocation.number
    if allocation.constant and plan.instruction(value.key[0]).opcode != "constant":
        return f"{name} lies in allocation {number}, which is for constants: nothing else may be put there"
    if allocation.preallocated_temp and plan.liveness.given(value):
        return f"{name} lies in allocation {number}, which is a temporary: nothing stands in it when the program begins"
    if allocation.parameter is None:
        return None
    parameters = plan.module.entry.parameters
    given = next((p for p in parameters if p.parameter_number == allocation.parameter), None)
    there = None if given is None else plan.slice((given.name, allocation.parameter_index))
    if there is None or there.allocation != number:
        # The caller hands a parameter over once: two allocations that are said to hold it are the same bytes.
        what = place_text((f"parameter {allocation.parameter}", allocation.parameter_index))
        lies = f"lies at {where(there)}" if there is not None else "is none of the program's"
        return f"{name} lies in allocation {number}, which is said to hold {what}, and that {lies}"
    return None


def _displaced(name: str, what: str, s: Slice) -> str:
    return f"{name}, {what}, lies at {where(s)}, which is not where the caller puts it"


def sizes(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each slice: large enough, inside its allocation, aligned, in the memory space of its layout."""
    for s in plan.assignment.slices:
        place = _place_of(plan, s)
        value = plan.values.values.get(s.key)
        if value is None:
            continue  # an alias of another value, or no value at all: plan-complete
        try:
            yield judged(SIZE, place, _size_problem(plan, s, value))
        except NotModelled as reason:
            yield judged(SIZE, place, unknown=str(reason))


def _handed_over(plan: Plan, allocation: Allocation) -> tuple[Key, int] | None:
    """The part of a parameter that an allocation is, and how many bytes the caller has put aside for it."""
    for p in plan.module.entry.parameters:
        shape = shape_at(p.shape, allocation.parameter_index)
        if p.parameter_number == allocation.parameter and shape is not None:
            return (p.name, allocation.parameter_index), bytes_needed(shape)
    return None


def _size_problem(plan: Plan, s: Slice, value: HloValue) -> str | None:
    name, allocation = plan.named(s.key), plan.allocation(s)
    needed = bytes_needed(value.shape)
    if s.size < needed:
        return (
            f"{name} needs {needed} bytes for {print_shape(value.shape)}; its slice has {s.size} (plan line {s.line})"
        )
    if s.end > allocation.size:
        return (
            f"{name} ends at byte {s.end} of allocation {allocation.number}, which has {allocation.size} "
            f"(plan lines {s.line} and {allocation.line})"
        )
    if (handed := _handed_over(plan, allocation)) is not None and handed[0] != s.key and plan.extent(s)[1] > handed[1]:
        return (
            f"{name} ends at byte {plan.extent(s)[1]} of allocation {allocation.number}, and what the caller hands "
            f"over there, {plan.named(handed[0])}, has {handed[1]} (plan lines {s.line} and {allocation.line})"
        )
    if s.offset % ALIGNMENT:
        return (
            f"{name} lies at offset {s.offset} of allocation {allocation.number}: not a multiple of {ALIGNMENT} bytes"
        )
    if s.colour != allocation.colour:
        return (
            f"{name} is in memory space {s.colour}, its allocation {allocation.number} in {allocation.colour} "
            f"(plan lines {s.line} and {allocation.line})"
        )
    array = array_of(value.shape)
    if array is not None and layout_of(array).memory_space != allocation.colour:
        return (
            f"the layout of {name} names memory space {layout_of(array).memory_space}, its allocation "
            f"{allocation.number} is in {allocation.colour} (plan lines {s.line} and {allocation.line})"
        )
    return None
