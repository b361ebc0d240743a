"""Where asynchronous operations are in flight: per computation the span from an opening to its closings.

An opening is a start, an update that binds operands or parts of the result, or the arrival of an operation that
another computation has started: at a parameter, or at the result of a loop, call or conditional. A closing is the done,
or the loop, call or conditional that the state is handed to, and that ends it or gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.dataflow.accesses import UNSEEN, Spot
from hloproof.models.dataflow.alias_classes import positions, shape_at
from hloproof.models.dataflow.async_chain import AsyncChains, Link, link_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.dataflow.versions import LocalBuffers
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, BufferShape, ShapeIndex, TupleShape

_OUTPUT: Final[dict[str, ShapeIndex | None]] = {
    "copy": (0,),
    "all-reduce": (),
    "all-gather": (1,),
    "collective-permute": (1,),
    "recv": (0,),
    "send": None,
}
"""Where explicit starts return the buffer that is being written."""
_OPERAND: Final[dict[str, ShapeIndex | None]] = {
    "copy": (1,),
    "all-reduce": None,
    "all-gather": (0,),
    "collective-permute": (0,),
    "recv": None,
    "send": (0,),
}
"""Where explicit starts return the buffers that are being read."""


@dataclass(frozen=True, slots=True)
class Flight:
    """An operation in flight within one computation."""

    computation: str
    start: HloPosition
    """The start, in this computation or another."""
    opening: str
    closings: tuple[str, ...]
    open_end: bool
    """The operation is still in flight when the computation ends."""
    from_the_beginning: bool
    """The operation was in flight when the computation began."""
    operands: tuple[Spot, ...]
    outputs: tuple[Spot, ...]
    overwritten: tuple[Spot, ...]
    """Operands in whose buffers the operation writes what is no part of the opening's result: results that an update
    binds no more, as the start declares, and what a computation writes and keeps to itself."""
    links: frozenset[str]
    """Starts, updates and dones of this chain in this computation."""


def flights(chains: AsyncChains, locals_: Mapping[str, LocalBuffers]) -> Iterator[Flight]:
    """All flights through the given computations, start by start in the order of the text.

    What no done finishes is in flight to the end: a loop carries it on, or the end of the operation that runs it
    finishes it.
    """
    for start, link in chains.links.items():
        if link.role != "start":
            continue
        members = (start, *chains.members[start])
        for opening in dict.fromkeys(_openings(chains, start)):
            local = locals_.get(opening.computation)
            if local is None:
                continue
            links = frozenset(m.instruction for m in members if m.computation == opening.computation)
            closings, open_end = _closings(chains, opening)
            i = local.computation.by_name[opening.instruction]
            operands, outputs = _held(local, link, chains, start, opening)
            yield Flight(
                opening.computation,
                start,
                opening.instruction,
                closings,
                open_end,
                i.opcode == "parameter",
                operands,
                outputs,
                _overwritten(chains, local, opening),
                links,
            )


def begins_the_next_turn(chains: AsyncChains, flight: Flight, name: str, spot: Spot, act: str) -> bool:
    """Whether it is for the start of a loop without end that a result in flight is touched: the next turn begins with
    what the turn before has begun, and nobody ever finishes either. In the forms that say what they run XLA lets that
    pass, as there is no end that could be waited for. A start reads it; the loop makes of it what its state holds."""
    here = HloPosition(flight.computation, name)
    i, link = chains.flow.instruction(here), chains.links.get(here)
    if not _is_never_ended(chains, flight.start):
        return False
    if i.opcode == "while":
        carries = name in flight.closings and _never_ends(chains, i)
        return act == "writes" and carries and chains.is_held(HloPosition(flight.computation, *spot))
    begins = link is not None and link.role == "start" and _is_never_ended(chains, here)
    if act != "reads" or not begins or not flight.from_the_beginning:
        return False
    loops = [c for _, c in chains.flow.callers[flight.computation] if called(c, "body") == flight.computation]
    return bool(loops) and all(_never_ends(chains, loop) for loop in loops)


def _is_never_ended(chains: AsyncChains, start: HloPosition) -> bool:
    ended = any(chains.links[m].role == "done" for m in chains.members[start])
    return chains.links[start].form != "explicit" and not ended


def _never_ends(chains: AsyncChains, loop: Instruction) -> bool:
    asked = chains.module.find(called(loop, "condition"))
    return asked is not None and asked.root.opcode == "constant" and asked.root.literal in ("true", "1")


def crosses(chains: AsyncChains, start: HloPosition) -> bool:
    """Whether an operation is in flight from one computation into another: its state goes through a loop, branch or
    call, or to a caller."""
    arrivals = chains.arrivals(start)
    return any(chains.flow.instruction(place).opcode in IN_STEPS | {"parameter"} for place in arrivals)


def is_one(chains: AsyncChains, start: HloPosition) -> bool:
    """Whether all computations that an operation in flight enters or leaves are run from one place each, so that no
    two states of it, of several runs, fly side by side."""
    for place in (start, *chains.members[start], *chains.arrivals(start)):
        computation = chains.module.by_name[place.computation]
        if place.instruction != computation.root_name and chains.flow.instruction(place).opcode != "parameter":
            continue
        if len(_ways_in(chains, computation.name)) > 1:
            return False
    return True


def _ways_in(chains: AsyncChains, computation: str) -> set[tuple[str, str, str]]:
    """The instructions that run a computation, each with the operand that it is handed, where it may be one of two
    branches of the instruction."""
    out: set[tuple[str, str, str]] = set()
    for outer, i in chains.flow.callers[computation]:
        numbers = [k for k, name in enumerate(branches(i)) if name == computation] if i.opcode == "conditional" else []
        out |= {(outer.name, i.name, i.operands[k + 1]) for k in numbers} or {(outer.name, i.name, "")}
    return out


def is_looked_into(chains: AsyncChains, start: HloPosition) -> bool:
    """Whether something but the links of a chain takes an array out of its state, or reads the state."""
    members = (start, *chains.members[start])
    states = (*(m for m in members if chains.links[m].role != "done"), *chains.arrivals(start))
    return any(
        not _hands_over(chains, state, user)
        for state in states
        for user in chains.module.by_name[state.computation].users[state.instruction]
    )


def _hands_over(chains: AsyncChains, state: HloPosition, user: Instruction) -> bool:
    """Whether a user of the place of a state continues it, hands it on as a whole, or leaves it alone."""
    here = HloPosition(state.computation, user.name)
    link = chains.links.get(here)
    if link is not None:
        return link.role != "start" and not state.index and state.instruction not in user.operands[1:]
    if user.opcode in IN_STEPS:
        # A conditional reads what it chooses by.
        return user.opcode != "conditional" or state.instruction != user.operands[0] or bool(state.index)
    if user.opcode == "copy":
        return isinstance(user.shape, TupleShape)
    if user.opcode == "get-tuple-element" and state.index:
        return True
    return any(
        (t.computation, t.instruction) == (here.computation, here.instruction) for t in chains.flow.targets(state)
    )


def holds_what_it_is_given(local: LocalBuffers, start: Instruction) -> bool:
    """Whether the state of an explicit start holds all arrays that it is given, so that wherever it arrives it is known
    where they lie: as operands, or as results that are written over them."""
    link = link_of(start.opcode)
    at = None if link is None else _OPERAND.get(link.opcode)
    held = 0 if at is None else sum(index[: len(at)] == at for _, index in local.leaves(start.name))
    over = {operand for operand, _ in local.updates.in_place(start).values()} if local.shares else set()
    return len([s for name in start.operands for s in local.leaves(name) if s not in over]) <= held


def _openings(chains: AsyncChains, start: HloPosition) -> Iterator[HloPosition]:
    for member in (start, *chains.members[start]):
        role = chains.links[member].role
        if role == "start" or (role == "update" and _adds(chains, member)):
            yield member
    for place in chains.arrivals(start):
        if chains.flow.instruction(place).opcode in IN_STEPS | {"parameter"}:
            yield place


def _adds(chains: AsyncChains, update: HloPosition) -> bool:
    """Whether an update binds further operands, or parts of the result that nobody could ask for before."""
    i = chains.flow.instruction(update)
    before, after = (
        shape_at(shape, (1,))
        for shape in (chains.module.by_name[update.computation].by_name[i.operands[0]].shape, i.shape)
    )
    return len(i.operands) > 1 or before != after


def _closings(chains: AsyncChains, opening: HloPosition) -> tuple[tuple[str, ...], bool]:
    """Where the state that stands at the opening is finished or handed over, and whether it leaves the computation."""
    computation = chains.module.by_name[opening.computation]
    first = (opening.instruction, opening.index)
    seen, stack = {first}, [first]
    closings: dict[str, None] = {}
    open_end = False
    while stack:
        name, at = stack.pop()
        if name == computation.root_name:
            open_end = True
        for user in computation.users[name]:
            link = chains.links.get(HloPosition(computation.name, user.name))
            if link is not None and link.role != "start":
                if at == () and user.operands[0] == name:
                    if link.role == "done":
                        closings.setdefault(user.name)
                    elif (user.name, ()) not in seen:
                        seen.add((user.name, ()))
                        stack.append((user.name, ()))
                continue
            place = HloPosition(computation.name, name, at)
            if user.opcode in IN_STEPS:
                if _takes_over(chains, place, user):
                    closings.setdefault(user.name)
                continue
            for target in chains.flow.targets(place):
                spot = (target.instruction, target.index)
                if target.computation == computation.name and target.instruction == user.name and spot not in seen:
                    seen.add(spot)
                    stack.append(spot)
    return tuple(closings), open_end


def _takes_over(chains: AsyncChains, state: HloPosition, user: Instruction) -> bool:
    """Whether what a loop, call or conditional runs ends what flies, or gives it back. It stays in flight where that
    only looks at the state, as conditions do."""
    here, entered = (state.computation, user.name), set(user.attributes.computations())
    stack = [
        t for t in chains.flow.targets(state) if t.computation in entered or (t.computation, t.instruction) == here
    ]
    seen = set(stack)
    while stack:
        place = stack.pop()
        if (place.computation, place.instruction) == here:
            return True
        computation = chains.module.by_name[place.computation]
        after = list(chains.flow.targets(place))
        for other in computation.users[place.instruction]:
            link = chains.links.get(HloPosition(computation.name, other.name))
            if link is not None and link.role != "start" and not place.index and other.operands[0] == place.instruction:
                if link.role == "done":
                    return True
                after.append(HloPosition(computation.name, other.name))
            if other.opcode in IN_STEPS:
                entered.update(other.attributes.computations())
        # Others who run the same go their own way.
        found = [
            t for t in after if t not in seen and (t.computation in entered or (t.computation, t.instruction) == here)
        ]
        seen.update(found)
        stack += found
    return False


def _overwritten(chains: AsyncChains, local: LocalBuffers, opening: HloPosition) -> tuple[Spot, ...]:
    if opening not in chains.links:
        return ()
    return tuple(
        w.operand
        for w in local.writes
        if w.writer == opening.instruction and w.result[1][:1] == (UNSEEN,) and (local.shares or not w.optional)
    )


def _held(
    local: LocalBuffers, link: Link, chains: AsyncChains, start: HloPosition, place: HloPosition
) -> tuple[tuple[Spot, ...], tuple[Spot, ...]]:
    """The spots of the buffers being read and being written, as seen at the opening."""
    opening, index = place.instruction, place.index
    i = local.computation.by_name[opening]
    own = chains.links.get(HloPosition(local.computation.name, opening))

    def under(at: ShapeIndex | None) -> tuple[Spot, ...]:
        if at is None:
            return ()
        part = shape_at(i.shape, (*index, *at))
        if part is None:
            return ()
        return tuple(
            (opening, (*index, *at, *rest))
            for rest in positions(part)
            if isinstance(shape_at(part, rest), ArrayShape | BufferShape)
        )

    explicit = link.form == "explicit"
    outputs = under(_OUTPUT[link.opcode] if explicit else (1,))
    if own is not None:
        names = i.operands if own.role == "start" else i.operands[1:]
        operands = tuple(spot for name in dict.fromkeys(names) for spot in local.leaves(name))
    else:
        operands = under(_OPERAND[link.opcode] if explicit else (0,))
    # What is handed back as it was given nobody writes; but its own result, which it may be given, is not there yet.
    given = {v for v in (local.version.get(spot, spot) for spot in operands) if v[0] != start.instruction}
    return operands, tuple(spot for spot in outputs if local.version.get(spot, spot) not in given)
