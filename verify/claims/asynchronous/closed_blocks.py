"""Branches, and turns of loops, that may happen or not: which of them leave everything outside as it was.

A block is *closed* when every thing it begins it ends, when it ends nothing else, when it sends as often as it
receives, and when nothing is under way that it may take, or others may take from it: as much has been sent before it as
recvs have begun, and nobody beside it has to do with what it sends and receives. Then what a device waits for inside of
it is inside of it, too. Take the order of "waits for" between all events, of all devices. A deadlock is a circle in it.
Left out, a closed block takes none of the others' reasons away and gives none, except what follows from the order of
the text; a circle among the events that are left was one before. So one schedule in which it happens once speaks of all
in which it happens or not.

A loop has to be closed more strictly, for its turns follow one another: nobody before it may wait for what comes behind
it. Otherwise a circle may go through the turns on its way back, on one device through this turn and on another through
an earlier one, and what two turns hold together one need not. Where nobody does, a circle lies in one turn, or outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hloproof.claims.asynchronous.device_events import TRANSFERS, Event, Pairs, Schedule, every
from hloproof.claims.asynchronous.device_runs import devices_of
from hloproof.models.dataflow.value_flow import HloPosition

_Key = tuple[str, Pairs]
"""What is sent and received alike: channel, and from where to where."""


@dataclass
class Blocks:
    """What is known of the blocks of a schedule."""

    open: dict[str, None] = field(default_factory=dict)
    """Those that are not closed, by their markers."""
    even: dict[str, int] = field(default_factory=dict)
    """Of loops that are not closed, but whose turns leave as much open as there was, and that happen once, in a
    schedule without threads: how many turns are as good as any number. What a turn takes was sent so and so many turns
    before, no more than `reach`; where nobody waits for what comes after his turn, a circle of waits lies in one turn.
    Else a shortest circle leaves each device once from each stream and once from where it meets others, and steps
    between devices no more often. A step touches at most `reach` + 1 turns; a turn that no step touches can be cut out
    of the circle."""
    competing: str | None = None
    """Two things at once take what is sent alike, or meet at one place: it is not known who is first."""
    crossing: str | None = None
    """Two things at once send or receive on one stream of a device: the first may hold the other."""


@dataclass
class _Walk:
    """One thread of a device that all events concern, one after the other."""

    schedule: Schedule
    keys: Mapping[HloPosition, _Key]
    blocks: Blocks
    outside: Counter[object]
    """How often others than this thread have to do with a key."""
    total: Counter[object]
    """How often all of them have."""
    was_late: bool = False
    """Whether somebody may have waited for what is sent behind when this thread began."""
    ahead: Counter[object] = field(default_factory=Counter)
    """How much more was sent than taken."""
    unmatched: Counter[object] = field(default_factory=Counter)
    """How much more was sent than recvs have begun."""
    begun: list[tuple[HloPosition, int]] = field(default_factory=list)
    """What is not ended, the oldest first, and its number."""
    beside: dict[int, Event] = field(default_factory=dict)
    """Those of them that are threads."""
    count: int = 0

    def run(self, events: Sequence[Event]) -> None:
        entered: list[_Entry] = []
        for e in events:
            if e.opcode == "enter":
                entered.append(_Entry(e, Counter(self.ahead), Counter(self.unmatched), list(self.begun)))
                continue
            if e.opcode == "leave":
                self._leave(entered.pop())
                continue
            for entry in entered:
                entry.keys |= uses(self.keys, e)
            self._do(e)
            self._compete(e)

    def _do(self, e: Event) -> None:
        match e.opcode:
            case "send":
                self.ahead[self.keys[e.place]] += 1
                self.unmatched[self.keys[e.place]] += 1
                self._begin(e)
            case "recv":
                self.unmatched[self.keys[e.place]] -= 1
                self._begin(e)
            case "launch":
                self._begin(e)
            case "begin":
                outside = self.total - _counted(self.keys, e.inside)
                _Walk(self.schedule, self.keys, self.blocks, outside, self.total, self._is_late()).run(e.inside)
                inside = [x for x in every(e.inside) if x.opcode in ("send", "recv")]
                for x in inside:
                    if x.opcode == "recv":
                        self.unmatched[self.keys[x.place]] -= 1
                    else:
                        self.unmatched[self.keys[x.place]] += 1
                        self.ahead[self.keys[x.place]] += 1
                for x in every(e.inside):
                    if x.opcode == "done":
                        if len({tuple(map(self.keys.get, recvs)) for recvs in x.recvs}) > 1:
                            self.blocks.competing = f"what {x.place.instruction} ends"
                        for recv in next(iter(x.recvs), ()):
                            self._take(recv)
                self.beside[self.count] = e
                self._begin(e)
            case "done":
                mine = next(((s, n) for s, n in self.begun if s in e.starts), None)
                if mine is None:
                    return
                self.begun.remove(mine)
                if mine[1] in self.beside and not _leaves_running(self.beside[mine[1]]):
                    del self.beside[mine[1]]
                for recv in e.recvs[e.starts.index(mine[0])]:
                    self._take(recv)

    def _take(self, recv: HloPosition) -> None:
        if recv in self.keys:
            self.ahead[self.keys[recv]] -= 1

    def _is_late(self) -> bool:
        """Somebody up to here may wait for what is sent behind: a recv keeps what is behind it on its stream waiting,
        and what is in flight may run before anything else goes on."""
        return self.was_late or any(n < 0 for n in self.unmatched.values())

    def _begin(self, e: Event) -> None:
        self.begun.append((e.place, self.count))
        self.count += 1

    def _compete(self, e: Event) -> None:
        """What happens now, beside what is in flight."""
        mine, streams = contested(self.keys, e), _on_streams(e)
        for other in self.beside.values() if mine or streams else ():
            why = f"whether {e.place.instruction} or what {other.place.instruction} runs is first"
            if other is not e and mine & contested(self.keys, other):
                self.blocks.competing = why
            if other is not e and streams & _on_streams(other):
                self.blocks.crossing = f"{why} on a stream"

    def _leave(self, entry: _Entry) -> None:
        marker, again = entry.event.within[-1], entry.event.within[-1] in self.blocks.open
        late = self._is_late()  # as it was before the block, or before the next turn
        beside = set[object]().union(*(uses(self.keys, x) for x in self.beside.values()))
        even = entry.begun == self.begun and all(entry.ahead[key] == self.ahead[key] for key in entry.keys)
        closed = even and not any(
            entry.unmatched[key] or self.outside[key] or key in beside for key in entry.keys if isinstance(key, tuple)
        )
        if closed and not (late and marker in self.schedule.loops):
            return
        self.blocks.open[marker] = None
        steady = (
            len(entry.begun) == len(self.begun)
            and all(entry.unmatched[key] == self.unmatched[key] for key in entry.keys)
            and not again
            and not any(x.opcode == "begin" for x in every(self.schedule.events))
        )
        if steady and marker in self.schedule.loops:
            reach = max((len(entry.begun), *map(abs, (*entry.ahead.values(), *entry.unmatched.values()))))
            devices = len(devices_of(self.schedule)) * self._kinds_of_waits() if late else 0
            self.blocks.even[marker] = 2 + len(entry.begun) + devices * (reach + 1)
        else:
            self.blocks.even.pop(marker, None)

    def _kinds_of_waits(self) -> int:
        """On how many lines that are in order a device waits for others: on each stream, and where it meets them."""
        events = tuple(every(self.schedule.events))
        return len({e.stream for e in events if e.pairs} | {"" for e in events if e.opcode in ("arrive", "launch")})


@dataclass
class _Entry:
    """A block that has begun, and how things stood then."""

    event: Event
    ahead: Counter[object]
    unmatched: Counter[object]
    begun: list[tuple[HloPosition, int]]
    keys: set[object] = field(default_factory=set)


def _leaves_running(thread: Event) -> bool:
    """Something that the thread begins may run on when it is over."""
    ended = {e.starts[0] for e in thread.inside if e.opcode == "done" and len(e.starts) == 1 and not e.within}
    return any(e.opcode == "begin" and (e.place not in ended or _leaves_running(e)) for e in thread.inside)


def _taken(keys: Mapping[HloPosition, _Key], e: Event) -> Iterator[_Key]:
    """What a done inside of a thread takes."""
    if e.opcode == "done":
        yield from dict.fromkeys(keys[recv] for recvs in e.recvs for recv in recvs if recv in keys)


def contested(keys: Mapping[HloPosition, _Key], e: Event) -> set[object]:
    """What two threads of a device may not both do."""
    out: set[object] = set()
    for x in every((e,)):
        out |= set(_taken(keys, x))
        if x.opcode == "recv":
            out.add(keys[x.place])
        if x.opcode in ("arrive", "launch"):
            out.add(x.place)
    return out


def _on_streams(e: Event) -> set[object]:
    """Which devices send or receive, on which stream."""
    transfers = [x for x in every((e,)) if x.opcode in TRANSFERS]
    return {(a if x.opcode == "send" else b, x.stream) for x in transfers for a, b in x.pairs}


def uses(keys: Mapping[HloPosition, _Key], e: Event) -> set[object]:
    """What an event and those inside of it have to do with."""
    return contested(keys, e) | {keys[x.place] for x in every((e,)) if x.opcode in ("send", "recv")}


def blocks_of(schedule: Schedule) -> Blocks:
    """What is known of the branches and unknown loops of a schedule in which each of them happens once."""
    keys = {e.place: (e.channel, e.pairs) for e in every(schedule.events) if e.opcode in ("send", "recv")}
    blocks = Blocks()
    total = _counted(keys, schedule.events)
    # What is in flight beside the entry's own thread is seen as it goes.
    _Walk(schedule, keys, blocks, Counter(), total).run(schedule.events)
    return blocks


def _counted(keys: Mapping[HloPosition, _Key], events: Iterable[Event]) -> Counter[object]:
    return Counter(keys[e.place] for e in every(events) if e.opcode in ("send", "recv"))
