"""Claims about send and recv: channels shared by the right instructions, and no collectives that wait in a circle."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hloproof.claims.asynchronous.chain_checks import is_finished_outside
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.async_chain import AsyncChains, text_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.hlo.attributes import AttributeValue
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import Shape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

_TRANSFERS: Final = ("send", "recv")


def async_channel(context: Context) -> Iterator[Judgement]:
    """A send or recv has one consumer; its done is on the same channel; host transfers of one kind that share a
    channel have the same attributes."""
    chains = context.chains
    first: dict[tuple[str, AttributeValue | None], tuple[Instruction, Shape | None]] = {}
    for place, link in chains.links.items():
        if link.form != "explicit" or link.opcode not in _TRANSFERS:
            continue
        i = chains.flow.instruction(place)
        if link.role == "done":
            yield judged("async-channel", place, _other_channel(chains, place, i))
            continue
        users = chains.module.by_name[place.computation].users[place.instruction]
        problem = None
        if len(users) != 1 and not is_finished_outside(chains, place) and not _is_root(chains, place):
            problem = f"{i.name} has {len(users)} consumers; one is expected"
        if i.attributes.flag("is_host_transfer"):
            moved = _moved(chains, place)
            other, theirs = first.setdefault((i.opcode, i.attributes.get("channel_id")), (i, moved))
            if _host_attributes(other) != _host_attributes(i):
                problem = f"{i.name} and {other.name} share a channel to the host but differ in attributes"
            elif theirs is not None and moved is not None and not context.same(theirs, moved):
                sizes = f"move {print_shape(theirs)} and {print_shape(moved)}"
                problem = f"{other.name} and {i.name} share a channel to the host but {sizes}"
        yield judged("async-channel", place, problem)


def _moved(chains: AsyncChains, place: HloPosition) -> Shape | None:
    """What a send or recv moves."""
    i = chains.flow.instruction(place)
    if i.opcode == "send":
        return chains.module.by_name[place.computation].by_name[i.operands[0]].shape if i.operands else None
    return i.shape.elements[0] if isinstance(i.shape, TupleShape) and i.shape.elements else None


def _is_root(chains: AsyncChains, place: HloPosition) -> bool:
    return chains.module.by_name[place.computation].root_name == place.instruction


def _host_attributes(i: Instruction) -> tuple[AttributeValue | None, ...]:
    return tuple(i.attributes.get(k) for k in ("channel_id", "is_host_transfer", "frontend_attributes"))


def _other_channel(chains: AsyncChains, place: HloPosition, i: Instruction) -> str | None:
    for start in sorted(chains.starts[place]):
        before = chains.flow.instruction(start)
        for key in ("channel_id", "is_host_transfer"):
            mine, theirs = i.attributes.get(key), before.attributes.get(key)
            if mine is not None and theirs is not None and mine != theirs:
                return f"{i.name} has {key}={mine}, but {before.name}, which it may finish, {key}={theirs}"
    return None


Pairs = tuple[tuple[int, int], ...]

_SOURCE_TARGET = re.compile(r'_xla_send_recv_source_target_pairs="?(\{[\d,{}\s]*\})')
_PAIR = re.compile(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}")


def source_target_pairs(i: Instruction) -> Pairs:
    """Which device sends to which, as the frontend attribute of a send or recv says; () where it is absent."""
    found = _SOURCE_TARGET.search(text_of(i, "frontend_attributes") or "")
    return tuple((int(a), int(b)) for a, b in _PAIR.findall(found[1])) if found else ()


_Transfer = tuple[int, int, str, Pairs]
"""From which device to which, on which channel; others between the two are another matter."""


@dataclass(frozen=True, slots=True)
class _Event:
    place: HloPosition
    opcode: str
    pairs: Pairs = ()
    channel: str = ""
    awaited: tuple[HloPosition, ...] = ()
    """The recvs that it waits for."""
    within: tuple[str, ...] = ()
    """The branches that it stands in, outermost first: whether it happens."""


def collective_deadlock(context: Context) -> Iterator[Judgement]:
    """In a scheduled module, sends and recvs between devices pair up: each pair of devices that a send names is named
    by a recv on the way, sources and targets are unique and not circular, and no device waits for one that waits.

    Every device runs the same schedule. A send does not wait for its recv; a recv-done waits for its send, and so does
    the done of an asynchronous operation for what its computation receives.
    """
    chains = context.chains
    if chains.module.attributes.get("is_scheduled") is not True:
        return
    events = list(_events(chains, chains.module.entry_name, ()))
    transfers = [e for e in events if e.opcode in _TRANSFERS and e.pairs]
    problems: dict[HloPosition, str] = {}
    for e in transfers:
        own = _pairs_problem(e.pairs)
        if own:
            problems.setdefault(e.place, f"{e.place.instruction} {own}")
    problems = {**_unmatched(chains, transfers), **problems}
    for place, why in _waiting(events):
        problems.setdefault(place, why)
    apart = _apart(transfers)
    for place in dict.fromkeys(e.place for e in transfers):
        yield judged("collective-deadlock", place, problems.get(place), unknown=apart.get(place))


def _apart(transfers: list[_Event]) -> dict[HloPosition, str]:
    """Sends and recvs of one kind that stand in other branches, so that one may happen without the other."""
    counts: dict[str, Counter[tuple[str, Pairs, tuple[str, ...]]]] = {"send": Counter(), "recv": Counter()}
    for e in transfers:
        counts[e.opcode][e.channel, e.pairs, e.within] += 1
    out: dict[HloPosition, str] = {}
    for e in transfers:
        key = (e.channel, e.pairs, e.within)
        if counts["send"][key] != counts["recv"][key]:
            other = "recv" if e.opcode == "send" else "send"
            out[e.place] = (
                f"a {other} of {e.place.instruction} stands in another branch, which may not be taken with it"
            )
    return out


def _events(
    chains: AsyncChains, computation: str, path: tuple[str, ...], in_flight: bool = False, within: tuple[str, ...] = ()
) -> Iterator[_Event]:
    """Sends, recvs and who waits for them in the order of the schedule, bodies of loops and calls once where they
    stand. What is `in_flight` waits at the done of the operation that it is part of."""
    if computation in path:
        return
    for i in chains.module.by_name[computation].instructions:
        place = HloPosition(computation, i.name)
        inner = (
            (called(i, "condition"), called(i, "body"))
            if i.opcode == "while"
            else branches(i)
            if i.opcode == "conditional"
            else (called(i, "to_apply"),)
            if i.opcode == "call"
            else (chains.runs(i),)
        )
        for name in inner:
            if name is not None and chains.module.find(name) is not None:
                branch = (*within, f"{place} {name}") if i.opcode == "conditional" else within
                flies = in_flight or chains.runs(i) is not None
                yield from _events(chains, name, (*path, computation), flies, branch)
        link = chains.links.get(place)
        if i.opcode in _TRANSFERS:
            yield _Event(place, i.opcode, source_target_pairs(i), str(i.attributes.get("channel_id")), within=within)
        elif link is not None and link.role == "done" and not in_flight:
            yield _Event(place, i.opcode, awaited=tuple(_received(chains, sorted(chains.starts.get(place, ())))))


def _received(chains: AsyncChains, starts: Iterable[HloPosition]) -> Iterator[HloPosition]:
    """The recvs among these starts, and in the computations that they run."""
    for start in starts:
        i = chains.flow.instruction(start)
        run = chains.runs(i)
        if i.opcode == "recv":
            yield start
        elif run is not None:
            inside = _events(chains, run, (), in_flight=True) if chains.module.find(run) is not None else ()
            yield from (e.place for e in inside if e.opcode == "recv")


def _pairs_problem(pairs: Pairs) -> str | None:
    sources, targets = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    for what, counts in (("source", sources), ("target", targets)):
        device, n = counts.most_common(1)[0]
        if n > 1:
            return f"names device {device} {n} times as {what}: {_shown(pairs)}"
    follow = dict(pairs)
    for begin in follow:
        at, steps = follow.get(begin), 0
        while at is not None and at != begin and steps <= len(follow):
            at, steps = follow.get(at), steps + 1
        if at == begin:
            return f"goes round in a circle from device {begin}: {_shown(pairs)}"
    return None


def _shown(pairs: Pairs) -> str:
    return "{" + ",".join(f"{{{a},{b}}}" for a, b in pairs) + "}"


def _unmatched(chains: AsyncChains, transfers: list[_Event]) -> dict[HloPosition, str]:
    """Sends with certain pairs need as many recvs with the same on the same channel, and the other way round."""
    counts: dict[str, Counter[tuple[str, Pairs]]] = {"send": Counter(), "recv": Counter()}
    keyed = [(e, (str(chains.flow.instruction(e.place).attributes.get("channel_id")), e.pairs)) for e in transfers]
    for e, key in keyed:
        counts[e.opcode][key] += 1
    out: dict[HloPosition, str] = {}
    for e, key in keyed:
        other = "recv" if e.opcode == "send" else "send"
        if counts[other][key] < counts[e.opcode][key]:
            out[e.place] = f"{e.place.instruction} on channel {key[0]} with {_shown(e.pairs)} has no matching {other}"
    return out


def _waiting(events: list[_Event]) -> Iterator[tuple[HloPosition, str]]:
    """Run all devices along the schedule until nobody moves; a device that stands at a recv-done waits for ever."""
    devices = sorted({d for e in events for pair in e.pairs for d in pair})
    position = dict.fromkeys(devices, 0)
    sent: Counter[_Transfer] = Counter()
    awaited: dict[tuple[int, HloPosition], list[_Transfer]] = {}
    taken: Counter[_Transfer] = Counter()
    moved = True
    while moved:
        moved = False
        for d in devices:
            while position[d] < len(events):
                e = events[position[d]]
                if e.opcode == "send":
                    sent.update((a, b, e.channel, e.pairs) for a, b in e.pairs if a == d)
                elif e.opcode == "recv":
                    awaited[d, e.place] = [(a, b, e.channel, e.pairs) for a, b in e.pairs if b == d]
                else:
                    wanted = [w for recv in e.awaited for w in awaited.get((d, recv), ())]
                    if any(taken[w] >= sent[w] for w in wanted):
                        break
                    taken.update(wanted)
                    awaited.update({(d, recv): [] for recv in e.awaited})
                position[d] += 1
                moved = True
    for d in devices:
        if position[d] < len(events):
            e = events[position[d]]
            recv = next(r for r in e.awaited if awaited.get((d, r)))
            yield recv, f"device {d} waits for ever at {e.place.instruction}"
