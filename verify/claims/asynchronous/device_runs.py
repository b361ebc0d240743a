"""All devices along one schedule until nobody moves: who stands there for ever."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from hloproof.claims.asynchronous.device_events import TRANSFERS, Event, Pairs, Schedule
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


class _Devices:
    """All devices, and what they have sent, received and come to. Where it is `strict`, everything happens, and they
    wait for all that they may have to: groups that are not known, and those of permutations, hold all devices; sends
    and recvs of a stream come one after the other, a recv when it is sent, and what one device sends another there is
    received in that order, whatever the channel; a collective operation that is launched may share the streams, and
    devices may meet there (XLA's GPUs do when an operation is run for the first time). Else what may not happen does
    not, who is not known is not waited for, and what is sent goes to whom it is waited for by."""

    def __init__(self, schedule: Schedule, strict: bool) -> None:
        self.chains, self.events, self._strict = schedule.chains, schedule.events, strict
        self.at = dict.fromkeys(devices_of(schedule), 0)
        self._streams = {d: {e.stream: deque[int]() for e in schedule.transfers()} for d in self.at}
        """The transfers of a device on each stream that are not over, the oldest first."""
        self._between: dict[tuple[int, int, str], deque[_Transfer]] = {}
        """What one device sent another on a stream and that is not received, the oldest first."""
        self._sent: Counter[_Transfer] = Counter()
        self._taken: Counter[_Transfer] = Counter()
        self._arrived: set[tuple[int, int]] = set()
        """The devices that have come to a collective operation, with its number."""
        self._partners: dict[tuple[int, HloPosition], frozenset[int]] = {}

    def run(self) -> None:
        """Until nobody moves. Who can go on still can when others have, so that all orders end alike."""
        moved = True
        while moved:
            moved = False
            for d in self.at:
                for stream in self._streams[d].values():
                    while stream and self._is_carried(d, self.events[stream[0]]):
                        stream.popleft()
                        moved = True
                while self.waits_at(d) is not None and self._goes_on(d, self.at[d]):
                    self.at[d] += 1
                    moved = True

    def waits_at(self, d: int) -> Event | None:
        """Where a device stands; None where it is through."""
        return self.events[self.at[d]] if self.at[d] < len(self.events) else None

    def _goes_on(self, d: int, number: int) -> bool:
        e = self.events[number]
        if e.within and not self._strict:
            return True
        match e.opcode:
            case "send" | "recv" if self._strict:
                if _own(d, e):
                    self._streams[d][e.stream].append(number)
            case "send":
                self._sent.update(_own(d, e))
            case "launch" if not self._strict:
                self._arrived.add((d, number))
            case "meet" | "launch":
                if e.opcode == "launch" and any(self._streams[d].values()):
                    return False
                self._arrived.add((d, number))
                return self._meets(d, number)
            case "done" if self._strict:
                return not any(n in stream for n in (*e.ends, *e.beside) for stream in self._streams[d].values())
            case "done":
                wanted = Counter(self.wanted(d, e))
                if any(self._taken[w] + n > self._sent[w] for w, n in wanted.items()):
                    return False
                if not all(self._meets(d, n) for n in e.ends if self.events[n].opcode == "launch"):
                    return False
                self._taken.update(wanted)
        return True

    def _is_carried(self, d: int, e: Event) -> bool:
        """The first transfer of a stream is over: a send at once, a recv when each that is sent to it comes first."""
        sent = [(self._between.setdefault((w[0], w[1], e.stream), deque()), w) for w in _own(d, e)]
        if e.opcode == "recv" and any(not queue or queue[0] != w for queue, w in sent):
            return False
        for queue, w in sent:
            if e.opcode == "send":
                queue.append(w)
            else:
                queue.popleft()
        return True

    def wanted(self, d: int, e: Event) -> list[_Transfer]:
        """What a device waits to receive at a done."""
        return [w for n in e.ends if self.events[n].opcode == "recv" for w in _own(d, self.events[n])]

    def _meets(self, d: int, number: int) -> bool:
        return all((other, number) in self._arrived for other in self._met(d, self.events[number].place))

    def _met(self, device: int, place: HloPosition) -> frozenset[int]:
        """Those that a device waits for in a collective operation."""
        key = (device, place)
        if key not in self._partners:
            found = _partners(self.chains, place, device, self._strict)
            if self._strict:
                self._partners[key] = frozenset(self.at) if found is None else found
            else:
                self._partners[key] = frozenset() if found is None else _surely(self.chains, place, found)
        return self._partners[key]


def _own(d: int, e: Event) -> list[_Transfer]:
    """What a device has to do with a send or recv."""
    return [(a, b, e.channel, e.pairs) for a, b in e.pairs if d == (a if e.opcode == "send" else b)]


def stuck(schedule: Schedule, strict: bool) -> dict[HloPosition, str]:
    """The recvs that some device waits for without end along a schedule, in which words."""
    devices = _Devices(schedule, strict)
    devices.run()
    out: dict[HloPosition, str] = {}
    last: str | None = None
    for d in devices.at:
        e = devices.waits_at(d)
        if e is not None:
            last = f"device {d} waits for ever at {e.place.instruction}"
            recvs = [schedule.events[n].place for n in e.ends if schedule.events[n].opcode == "recv"]
            if devices.wanted(d, e):
                out.setdefault(recvs[0], last)
    if last is None or out:
        return out
    told = (*schedule.transfers(), *(e for e in schedule.events if e.opcode in TRANSFERS))
    return {told[0].place: last}


def devices_of(schedule: Schedule) -> list[int]:
    """All devices: those that the header counts, and those that some text names. Raises NotModelled for too many."""
    replicas, partitions = device_counts(schedule.chains.module)
    count = replicas * partitions
    found = set(range(min(count, _MOST_DEVICES))) if count > 1 else set()
    found |= {d for e in schedule.transfers() for pair in e.pairs for d in pair}
    places = {e.place for e in schedule.events if e.opcode in ("meet", "launch")}
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
    if strict and replicas * partitions == 1 and not flat:
        return None  # replicas or partitions: how many devices are there is not said
    everyone = frozenset(range(max(replicas * partitions, 1)))
    across = "replicas"
    if opcode in WITH_GLOBAL_IDS:
        across = "devices" if flat else "replicas"
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
