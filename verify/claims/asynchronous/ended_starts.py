"""Which starts a done may end, and whether it is surely the oldest of those that are open."""

from __future__ import annotations

from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.errors import NotModelled

_HANDED_ON = frozenset({"get-tuple-element", "tuple", "opt-barrier", "copy", "add-dependency"})


def ended_starts(chains: AsyncChains, done: HloPosition) -> tuple[HloPosition, ...]:
    """The starts that a done may end. Raises NotModelled where it may end something else."""
    seen, stack = {done}, [done]
    while stack:
        found = chains.previous[stack.pop()]
        links = [chains.links.get(before) for before in found]
        if any(link is None or link.role == "done" for link in links):
            raise NotModelled(f"what {done.instruction} ends")
        stack += [p for p, link in zip(found, links, strict=True) if link and link.role != "start" and p not in seen]
        seen |= found
    return tuple(sorted(chains.starts[done]))


def ends_the_oldest(chains: AsyncChains, done: HloPosition) -> bool:
    """A done ends what its own computation began, or what the turn before, or what is before the loop, handed on to a
    place at which each turn ends what it is given and hands on what it began: then nothing older is open there. Where a
    turn hands on what it was given, or calls and branches do, they may change places."""
    operands = chains.flow.instruction(done).operands
    return _is_fresh(chains, HloPosition(done.computation, operands[0]), set()) if operands else False


def _is_fresh(chains: AsyncChains, place: HloPosition, seen: set[HloPosition]) -> bool:
    at = _made(chains, place)
    if at is None or at in seen:
        return False
    seen.add(at)
    i = chains.flow.instruction(at)
    if i.opcode == "while":
        body, before = called(i, "body"), HloPosition(at.computation, i.operands[0], at.index)
    elif i.opcode == "parameter":
        callers = chains.flow.callers[at.computation]
        if len(callers) != 1 or called(callers[0][1], "body") != at.computation:
            return False
        body, before = at.computation, HloPosition(callers[0][0].name, callers[0][1].operands[0], at.index)
    else:
        return True
    computation = chains.module.find(body)
    if computation is None:
        return False
    is_new = _made(chains, HloPosition(computation.name, computation.root_name, at.index)) in chains.links
    given = HloPosition(computation.name, computation.parameters[0].name, at.index)
    return is_new and _is_ended(chains, given) and _is_fresh(chains, before, seen)


def _is_ended(chains: AsyncChains, given: HloPosition) -> bool:
    """A turn ends what it is given there: nothing of it is handed on to another place."""
    dones = (p for p in chains.of_role("done") if p.computation == given.computation)
    operands = ((p, chains.flow.instruction(p).operands) for p in dones)
    return any(_made(chains, HloPosition(p.computation, names[0])) == given for p, names in operands if names)


def _made(chains: AsyncChains, place: HloPosition) -> HloPosition | None:
    """Where a value comes from in its computation: a start, a parameter or a loop; None for all else."""
    while True:
        i = chains.flow.instruction(place)
        link = chains.links.get(HloPosition(place.computation, place.instruction))
        if link is not None and link.role == "update":
            place = HloPosition(place.computation, i.operands[0])
        elif i.opcode in ("while", "parameter") or (link is not None and link.role == "start"):
            return place
        elif i.opcode in _HANDED_ON and (sources := chains.flow.sources(place)):
            place = sources[0]
        else:
            return None
