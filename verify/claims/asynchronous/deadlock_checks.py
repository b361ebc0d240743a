"""The claim collective-deadlock: sends and recvs between devices pair up, and no device waits for ever.

Every device runs the same schedule. A send does not wait for its recv; a recv-done waits for its send; a collective
operation for the devices of its group. What is in flight runs beside the rest of its device, one event after the other,
and its done waits for it and for what it has begun to receive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

from hloproof.claims.asynchronous.device_events import Event, Pairs, Schedule, shown, source_target_pairs
from hloproof.claims.asynchronous.device_runs import Meeting, stuck_devices
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import device_counts

_TURNS: Final = (1, 2, 0)
"""So often loops are taken to turn of which nobody knows how often they do."""
_Problems = dict[HloPosition, str]


def collective_deadlock(context: Context) -> Iterator[Judgement]:
    """In a scheduled module, sends and recvs between devices pair up: each pair of devices that a send names is named
    by a recv on the way, sources and targets are unique and not circular, and no device waits for one that waits."""
    chains, entry = context.chains, context.chains.module.entry
    if chains.module.attributes.get("is_scheduled") is not True:
        return
    if not any(source_target_pairs(i) for c in chains.module.computations for i in c.instructions):
        return
    try:
        once = Schedule(chains, _TURNS[0])
        schedules = [once, *(Schedule(chains, turns) for turns in _TURNS[1:] if once.loops)]
    except NotModelled as reason:
        yield judged("collective-deadlock", HloPosition(entry.name, entry.root_name), unknown=str(reason))
        return
    transfers = once.transfers()
    if not transfers:
        return
    problems: _Problems = {}
    for e in transfers:
        own = _pairs_problem(e.pairs, prod(device_counts(chains.module)))
        if own:
            problems.setdefault(e.place, f"{e.place.instruction} {own}")
    unknown = once.differing()
    problems = {**_unmatched(transfers), **problems}
    for place, why in _apart(transfers).items():
        unknown.setdefault(place, why)
    sure, perhaps = _waiting(schedules)
    for place, why in sure.items():
        problems.setdefault(place, why)
    for place, why in perhaps.items():
        unknown.setdefault(place, why)
    for place in dict.fromkeys(e.place for e in transfers):
        said = problems.get(place)
        yield judged("collective-deadlock", place, said, unknown.get(place), assumptions=once.assumed)


def _waiting(schedules: Sequence[Schedule]) -> tuple[_Problems, _Problems]:
    """Who waits for ever, however often the loops turn; and who may."""
    found: list[_Problems] = []
    perhaps: _Problems = {}
    for schedule in schedules:
        stuck, dones_are_known, groups_are_known = stuck_devices(schedule, Meeting.KNOWN)
        found.append(stuck if dones_are_known else {})
        if not stuck and not groups_are_known:
            stuck, *_ = stuck_devices(schedule, Meeting.ALL)
        for place, why in stuck.items():
            perhaps.setdefault(place, f"whether {why}")
    sure = found[0] if all(found) else {}
    return sure, perhaps


def _apart(transfers: Sequence[Event]) -> _Problems:
    """Sends and recvs of one kind that stand in other branches or loops, so that one may happen without the other."""
    counts: Mapping[str, Counter[tuple[str, Pairs, tuple[str, ...]]]] = {"send": Counter(), "recv": Counter()}
    for e in transfers:
        counts[e.opcode][e.channel, e.pairs, e.within] += 1
    out: _Problems = {}
    for e in transfers:
        key = (e.channel, e.pairs, e.within)
        if counts["send"][key] != counts["recv"][key]:
            out[e.place] = (
                f"a {_other(e)} of {e.place.instruction} stands in another branch or loop, which may not be taken with "
                "it, or not as often"
            )
    return out


def _other(e: Event) -> str:
    return "recv" if e.opcode == "send" else "send"


def _pairs_problem(pairs: Pairs, count: int) -> str | None:
    """`count` devices are there; 1 where the header does not say so."""
    highest = max(d for pair in pairs for d in pair)
    if 1 < count <= highest:
        return f"names device {highest}, and there are {count}: {shown(pairs)}"
    sources, targets = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    for what, counts in (("source", sources), ("target", targets)):
        device, n = counts.most_common(1)[0]
        if n > 1:
            return f"names device {device} {n} times as {what}: {shown(pairs)}"
    follow = dict(pairs)
    for begin in follow:
        at, steps = follow.get(begin), 0
        while at is not None and at != begin and steps <= len(follow):
            at, steps = follow.get(at), steps + 1
        if at == begin:
            return f"goes round in a circle from device {begin}: {shown(pairs)}"
    return None


def _unmatched(transfers: Sequence[Event]) -> _Problems:
    """Sends with certain pairs need as many recvs with the same on the same channel, and the other way round."""
    counts: Mapping[str, Counter[tuple[str, Pairs]]] = {"send": Counter(), "recv": Counter()}
    for e in transfers:
        counts[e.opcode][e.channel, e.pairs] += 1
    out: _Problems = {}
    for e in transfers:
        if counts[_other(e)][e.channel, e.pairs] < counts[e.opcode][e.channel, e.pairs]:
            said = f"{e.place.instruction} on channel {e.channel} with {shown(e.pairs)}"
            out[e.place] = f"{said} has no matching {_other(e)}"
    return out
