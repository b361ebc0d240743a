"""All devices along one schedule until nobody moves: who stands there for ever."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.claims.asynchronous.device_events import Event, Pairs, Schedule, every
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.between_devices import carries_in_some_turns, part_of
from hloproof.models.hlo.module import device_counts
from hloproof.models.hlo.opcodes import WITH_GLOBAL_IDS

_MOST_DEVICES: Final = 1024

_Transfer = tuple[int, int, str, Pairs]
"""From which device to which, on which channel; others between the two are another matter."""


@dataclass(slots=True)
class _Thread:
    """What runs on a device, one event after the other, when what is before it on its stream is over."""

    device: int
    events: Sequence[Event]
    behind: _Thread | None = None
    at: int = 0

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.events)


class _Devices:
    """All devices, and what they have sent, taken and begun. Where it is `strict`, they wait for all that they may have
    to: groups that are not known, and those of permutations, hold all devices; what begins, other than sends and recvs,
    may be over only then (XLA's GPUs meet at the start when an operation is run for the first time, and run the text of
    what is in flight where it begins); sends and recvs of a stream come one after the other, a recv when it is sent,
    what one device sends another there is received in that order, whatever the channel; and what devices do together in
    flight may share the streams. What is sent goes to the recvs in the order in which
    they began. Else who is not known is not waited for, and what is sent goes to whom it is waited for by."""

    def __init__(self, schedule: Schedule, strict: bool) -> None:
        self.chains, self._strict = schedule.chains, strict
        self.devices = devices_of(schedule)
        events = tuple(_one_by_one(schedule.events)) if strict else schedule.events
        self.threads = [_Thread(d, events) for d in self.devices]
        self._begun: dict[tuple[int, HloPosition], list[_Thread]] = {}
        self._last: dict[tuple[int, str], _Thread] = {}
        """Of a device what began last on a stream."""
        self.dones_are_known = True
        self._sent: Counter[_Transfer] = Counter()
        self._taken: Counter[_Transfer] = Counter()
        self._here: Counter[_Transfer] = Counter()
        """How many recvs are over on their stream."""
        self._streamed: dict[tuple[int, int, str], deque[_Transfer]] = {}
        """What one device sent another on a stream and that is not received, the oldest first."""
        self._begun_recvs: Counter[_Transfer] = Counter()
        self._awaited: dict[tuple[int, HloPosition], list[dict[_Transfer, int]]] = {}
        """What has begun at a recv and is not ended, the oldest first, each with its number among its own."""
        self._order: dict[int, list[HloPosition]] = {}
        """Of a device the starts that are not ended, the oldest first."""
        self._arrived: Counter[tuple[int, HloPosition]] = Counter()
        self._left: Counter[tuple[int, HloPosition]] = Counter()
        """How often a device has been at a collective operation, and how often it has gone on."""
        self._partners: dict[tuple[int, HloPosition], frozenset[int]] = {}

    def run(self) -> None:
        """Until nobody moves; `threads` are then those that wait. Who can go on still can when others have, so that all
        orders end alike: no two threads of a device take what is sent alike, or arrive at one place (`closed_blocks`
        says whether it is so)."""
        moved = True
        while moved:
            moved = False
            self.threads = [thread for thread in self.threads if not thread.is_over]
            for thread in tuple(self.threads):
                is_next = thread.behind is None or thread.behind.is_over
                while is_next and not thread.is_over and self._goes_on(thread, thread.events[thread.at]):
                    thread.at += 1
                    moved = True
        self.threads = [thread for thread in self.threads if not thread.is_over]

    def _goes_on(self, thread: _Thread, e: Event) -> bool:
        d = thread.device
        match e.opcode:
            case "send":
                if not self._strict:
                    self._sent.update(_given(d, e))
                elif _given(d, e):
                    self._begun.setdefault((d, e.place), []).append(self._on_stream(d, e, "give"))
                    self._order.setdefault(d, []).append(e.place)
            case "give":
                self._sent.update(_given(d, e))
                for w in _given(d, e):
                    self._streamed.setdefault((d, w[1], e.stream), deque()).append(w)
            case "clear":
                return all(t.is_over for (other, _), t in self._last.items() if other == d)
            case "take":
                streams = [(self._streamed.get((w[0], d, e.stream)), w) for w in _received(d, e)]
                if any(not sent or sent[0] != w for sent, w in streams):
                    return False
                self._here.update(sent.popleft() for sent, _ in streams if sent)
            case "recv":
                begun = dict[_Transfer, int]()
                for w in _received(d, e):
                    self._begun_recvs[w] += 1
                    begun[w] = self._begun_recvs[w]
                if self._strict and begun:
                    self._on_stream(d, e, "take")
                self._awaited.setdefault((d, e.place), []).append(begun)
                self._order.setdefault(d, []).append(e.place)
            case "begin":
                beside = _Thread(d, e.inside)
                self.threads.append(beside)
                self._begun.setdefault((d, e.place), []).append(beside)
                self._order.setdefault(d, []).append(e.place)
            case "arrive":
                self._arrived[d, e.place] += 1
            case "launch":
                self._arrived[d, e.place] += 1
                self._order.setdefault(d, []).append(e.place)
            case "meet":
                if not self._meets(d, e.place):
                    return False
                self._left[d, e.place] += 1
            case "done":
                return self._ends(d, e)
        return True

    def _on_stream(self, d: int, e: Event, what: str) -> _Thread:
        """A transfer that goes when those before it on its stream are over."""
        on = (d, e.stream)
        last = self._last[on] = _Thread(d, (replace(e, opcode=what),), self._last.get(on))
        self.threads.append(last)
        return last

    def _ends(self, d: int, e: Event) -> bool:
        """A done ends the oldest of what it may belong to. Where others are open that wait for something else, it is
        not known which; where loops and calls may hand on in another order, all that is open has to be there."""
        order = self._order.get(d, [])
        mine = [s for s in order if s in e.starts]
        if not mine:
            return True
        first, wanted = mine[0], Counter(self.wanted(d, e, mine[0]))
        if len(set(mine)) > 1:
            special = any((d, s) in self._begun or self._arrived[d, s] for s in mine)
            if special or any(Counter(self.wanted(d, e, s)) != wanted for s in mine):
                self.dones_are_known = False
        if not self._meets(d, first):
            return False
        beside = (first, *e.sends[e.starts.index(first)])
        if any(not self._begun[d, s][0].is_over for s in beside if self._begun.get((d, s))):
            return False
        if any(self._taken[w] + n > self._sent[w] for w, n in wanted.items()):
            return False
        late = (n > self._here[w] for numbers in self._numbers(d, e, first) for w, n in numbers.items())
        if self._strict and any(late):
            return False
        if self._strict and not (e.is_oldest or all(self._is_there(d, e, s) for s in dict.fromkeys(mine))):
            return False
        self._taken.update(wanted)
        order.remove(first)
        if self._arrived[d, first] > self._left[d, first]:
            self._left[d, first] += 1
        for s in beside:
            if self._begun.get((d, s)):
                self._begun[d, s].pop(0)
        for recv in self._recvs(e, first):
            if self._awaited.get((d, recv)):
                self._awaited[d, recv].pop(0)
        return True

    def _is_there(self, d: int, e: Event, start: HloPosition) -> bool:
        """All that is open of a start could be ended now."""
        queues = (self._awaited.get((d, recv), []) for recv in self._recvs(e, start))
        if any(n > self._here[w] for queue in queues for numbers in queue for w, n in numbers.items()):
            return False
        return all(thread.is_over for thread in self._begun.get((d, start), []))

    @staticmethod
    def _recvs(e: Event, start: HloPosition) -> tuple[HloPosition, ...]:
        return e.recvs[e.starts.index(start)]

    def wanted(self, device: int, e: Event, start: HloPosition) -> list[_Transfer]:
        """What a device has begun to receive for a start, and not ended."""
        return [w for numbers in self._numbers(device, e, start) for w in numbers]

    def _numbers(self, device: int, e: Event, start: HloPosition) -> Iterator[dict[_Transfer, int]]:
        queues = (self._awaited.get((device, recv)) for recv in self._recvs(e, start))
        return (queue[0] for queue in queues if queue)

    def _meets(self, d: int, place: HloPosition) -> bool:
        """All have come to a collective operation as often as this device goes on from there; True for others."""
        turn = self._left[d, place] + 1
        if turn > self._arrived[d, place]:
            return True
        return all(self._arrived[other, place] >= turn for other in self._met(d, place))

    def _met(self, device: int, place: HloPosition) -> frozenset[int]:
        """Those that a device waits for in a collective operation."""
        key = (device, place)
        if key not in self._partners:
            found = _partners(self.chains, place, device, self._strict)
            if self._strict:
                self._partners[key] = frozenset(self.devices) if found is None else found & frozenset(self.devices)
            else:
                self._partners[key] = frozenset() if found is None else _surely(self.chains, place, found)
        return self._partners[key]


def _one_by_one(events: Iterable[Event], in_flight: bool = False) -> Iterator[Event]:
    """What begins is over before the next begins, but for sends and recvs, which are over before devices meet in
    flight."""
    for e in events:
        if e.opcode == "launch" or (in_flight and e.opcode == "arrive"):
            yield replace(e, opcode="clear")
        yield replace(e, inside=())
        yield from _one_by_one(e.inside, in_flight=True)
        if e.opcode == "launch":
            yield replace(e, opcode="meet")


def _given(d: int, e: Event) -> list[_Transfer]:
    return [(a, b, e.channel, e.pairs) for a, b in e.pairs if a == d]


def _received(d: int, e: Event) -> list[_Transfer]:
    return [(a, b, e.channel, e.pairs) for a, b in e.pairs if b == d]


@dataclass(frozen=True, slots=True)
class Ended:
    """How all devices end along a schedule."""

    stuck: dict[HloPosition, str]
    """The recvs that some device waits for without end, in which words."""
    dones_are_known: bool
    """It is known what each done ends."""


def ended(schedule: Schedule, strict: bool) -> Ended:
    """All devices along a schedule."""
    devices = _Devices(schedule, strict)
    devices.run()
    out: dict[HloPosition, str] = {}
    for thread in devices.threads:
        e = thread.events[thread.at]
        said = f"device {thread.device} waits for ever at {e.place.instruction}"
        for start, recvs in zip(e.starts, e.recvs, strict=False):
            if devices.wanted(thread.device, e, start):
                out.setdefault(recvs[0], said)
    if devices.threads and not out:
        thread = devices.threads[0]
        said = f"device {thread.device} waits for ever at {thread.events[thread.at].place.instruction}"
        out = {t.place: said for t in schedule.transfers()[:1]}
    return Ended(out, devices.dones_are_known)


def devices_of(schedule: Schedule) -> list[int]:
    """All devices: those that the header counts, and those that some text names. Raises NotModelled for too many."""
    replicas, partitions = device_counts(schedule.chains.module)
    count = replicas * partitions
    found = set(range(min(count, _MOST_DEVICES))) if count > 1 else set()
    found |= {d for e in schedule.transfers() for pair in e.pairs for d in pair}
    places = {e.place for e in every(schedule.events) if e.opcode in ("arrive", "launch")}
    if places and count > _MOST_DEVICES:
        raise NotModelled(f"more than {_MOST_DEVICES} devices meet")
    for place in places if count == 1 else ():
        attributes = schedule.chains.flow.instruction(place).attributes
        groups, pairs = attributes.get("replica_groups"), attributes.get("source_target_pairs")
        if isinstance(groups, ReplicaGroups):
            found |= {d for group in groups.groups for d in group}
        if isinstance(pairs, DevicePairs):
            found |= {d for pair in pairs.pairs for d in pair}
    return sorted(found)


def _partners(chains: AsyncChains, place: HloPosition, device: int, strict: bool) -> frozenset[int] | None:
    """The devices that take part in a collective operation with this one; None where the text does not tell. Where it
    is not `strict`, of a permutation those alone that send to it."""
    i = chains.flow.instruction(place)
    replicas, partitions = device_counts(chains.module)
    opcode = i.opcode.removesuffix("-start")
    channel, flat = "channel_id" in i.attributes, i.attributes.flag("use_global_device_ids")
    if (replicas > 1 and partitions > 1) or "mode" in i.attributes:
        return None
    everyone = frozenset(range(max(replicas * partitions, 1)))
    across = "replicas"
    if opcode in WITH_GLOBAL_IDS:
        across = "devices" if flat or (channel and replicas == 1) else "replicas"
        if channel and not flat and partitions > 1:
            return everyone
    elif channel:
        across = "partitions"
    if (across == "replicas" and partitions > 1) or (across == "partitions" and replicas > 1):
        return frozenset()
    pairs, groups = i.attributes.get("source_target_pairs"), i.attributes.get("replica_groups")
    if isinstance(pairs, DevicePairs) and not strict:
        # Whether who sends waits for who takes it, or all for all, is left to whoever runs it.
        return frozenset(a for a, b in pairs.pairs if b == device)
    named = groups.groups if isinstance(groups, ReplicaGroups) else ()
    if any(named):
        return next((frozenset(group) for group in named if device in group), frozenset())
    return everyone if replicas * partitions > 1 else None


def _surely(chains: AsyncChains, place: HloPosition, group: frozenset[int]) -> frozenset[int]:
    """Those of a group without whose data a device does not get on."""
    i = chains.flow.instruction(place)
    is_of_all = part_of(i.opcode) == "all" or isinstance(i.attributes.get("source_target_pairs"), DevicePairs)
    return group if is_of_all and not carries_in_some_turns(i) else frozenset()
