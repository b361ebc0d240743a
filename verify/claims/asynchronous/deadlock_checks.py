"""The claim collective-deadlock: sends and recvs between devices pair up, and no device waits for ever.

Every device runs the same schedule. A send does not wait for its recv; a recv-done waits for its send; a collective
operation for the devices of its group. What a start begins its done ends, and a done is followed to its start. Who
waits for ever when no more is waited for than that is a deadlock; that there is none is said where nobody does who
waits for all that a runtime may wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from hloproof.claims.asynchronous.device_events import Event, Pairs, Schedule, names_devices, shown
from hloproof.claims.asynchronous.device_runs import stuck
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.beside import unknown_of_order
from hloproof.models.hlo.module import device_counts

_Problems = dict[HloPosition, str]


def collective_deadlock(context: Context) -> Iterator[Judgement]:
    """In a scheduled module, sends and recvs between devices pair up: each pair of devices that a send names is named
    by a recv on the way, sources and targets are unique and not circular, and no device waits for one that waits."""
    chains, entry = context.chains, context.chains.module.entry
    if chains.module.attributes.get("is_scheduled") is not True:
        return
    if not any(names_devices(i) for c in chains.module.computations for i in c.instructions):
        return
    try:
        if words := unknown_of_order(chains.module):
            raise NotModelled(f"what {', '.join(sorted(words))} says")
        once = Schedule(chains)
        transfers = once.transfers()
        sure = stuck(once, strict=False) if once.unclear is None else {}
        perhaps = [once.unclear, once.shared, *(f"whether {why}" for why in stuck(once, strict=True).values())]
    except NotModelled as reason:
        yield judged("collective-deadlock", HloPosition(entry.name, entry.root_name), unknown=str(reason))
        return
    problems: _Problems = {}
    for e in transfers:
        own = _pairs_problem(e.pairs, prod(device_counts(chains.module)))
        if own:
            problems.setdefault(e.place, f"{e.place.instruction} {own}")
    problems = {**_unmatched(transfers), **problems}
    # What holds when all go one way, and each send goes to one kind of recv, need not when they do not.
    differing = once.differing() or _mixed(transfers)
    for place, why in sure.items() if differing is None else ():
        problems.setdefault(place, why)
    # A device that waits for ever gets to nothing else: what may stop it concerns all that follows.
    unknown = differing or next(filter(None, perhaps), None)
    # A transfer between no devices may stand beside collective operations for which somebody waits.
    for place in dict.fromkeys(e.place for e in once.events if names_devices(chains.flow.instruction(e.place))):
        yield judged("collective-deadlock", place, problems.get(place), unknown, assumptions=once.assumed)


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


def _mixed(transfers: Sequence[Event]) -> str | None:
    """Why one device may send another on one channel what any of several kinds of recvs takes."""
    said: dict[tuple[str, int, int], tuple[Pairs, str]] = {}
    for e in transfers:
        for a, b in e.pairs:
            if said.setdefault((e.channel, a, b), (e.pairs, e.stream)) != (e.pairs, e.stream):
                return f"which recv takes what device {a} sends device {b} on channel {e.channel}"
    return None


def _unmatched(transfers: Sequence[Event]) -> _Problems:
    """Sends with certain pairs need as many recvs with the same on the same channel, and the other way round. Of what
    stands in branches or loops of unknown turns it is not known how many there are, only whether there are any."""
    counts: Mapping[str, Counter[tuple[str, Pairs]]] = {"send": Counter(), "recv": Counter()}
    for e in transfers:
        counts[e.opcode][e.channel, e.pairs] += 1
    varying = {(e.channel, e.pairs) for e in transfers if e.within}
    out: _Problems = {}
    for e in transfers:
        key = (e.channel, e.pairs)
        fewer = counts[_other(e)][key] < counts[e.opcode][key]
        if not counts[_other(e)][key] or (fewer and key not in varying):
            said = f"{e.place.instruction} on channel {e.channel} with {shown(e.pairs)}"
            out[e.place] = f"{said} has no matching {_other(e)}"
    return out
