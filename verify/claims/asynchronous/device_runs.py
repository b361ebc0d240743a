"""All devices along one schedule until nobody moves: who stands there for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from hloproof.claims.asynchronous.device_events import Event, Pairs, Schedule, every
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import device_counts
from hloproof.models.hlo.opcodes import WITH_GLOBAL_IDS

_MOST_DEVICES: Final = 1024

_Transfer = tuple[int, int, str, Pairs]
"""From which device to which, on which channel; others between the two are another matter."""


class Meeting(Enum):
    """Which collective operations wait."""

    KNOWN = auto()
    """Those whose groups of devices are known."""
    ALL = auto()
    """All; where groups are not known, for all devices."""


@dataclass(slots=True)
class _Thread:
    """What runs on a device, one event after the other."""

    device: int
    events: Sequence[Event]
    at: int = 0

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.events)


class _Devices:
    """All devices, and what they have sent, taken and begun."""

    def __init__(self, schedule: Schedule, meeting: Meeting) -> None:
        self.chains, self._meeting = schedule.chains, meeting
        self.devices = _devices(schedule)
        self.threads = [_Thread(d, schedule.events) for d in self.devices]
        self._begun: dict[tuple[int, HloPosition], list[_Thread]] = {}
        self.groups_are_known = True
        self._sent: Counter[_Transfer] = Counter()
        self._taken: Counter[_Transfer] = Counter()
        self._awaited: dict[tuple[int, HloPosition], list[_Transfer]] = {}
        self._arrived: Counter[tuple[int, HloPosition]] = Counter()
        self._partners: dict[tuple[int, HloPosition], frozenset[int]] = {}

    def run(self) -> None:
        """Until nobody moves; `threads` are then those that wait. Who can go on still can when others have, so that all
        orders end alike."""
        moved = True
        while moved:
            moved = False
            self.threads = [thread for thread in self.threads if not thread.is_over]
            for thread in tuple(self.threads):
                while not thread.is_over and self._goes_on(thread, thread.events[thread.at]):
                    thread.at += 1
                    moved = True
        self.threads = [thread for thread in self.threads if not thread.is_over]

    def _goes_on(self, thread: _Thread, e: Event) -> bool:
        d = thread.device
        match e.opcode:
            case "send":
                self._sent.update((a, b, e.channel, e.pairs) for a, b in e.pairs if a == d)
            case "recv":
                self._awaited.setdefault((d, e.place), []).extend(
                    (a, b, e.channel, e.pairs) for a, b in e.pairs if b == d
                )
            case "begin":
                thread_inside = _Thread(d, e.inside)
                self.threads.append(thread_inside)
                self._begun.setdefault((d, e.place), []).append(thread_inside)
            case "arrive":
                self._arrived[d, e.place] += 1
            case "meet":
                return all(
                    self._arrived[other, s] >= self._arrived[d, s] for s in e.starts for other in self._met(d, s)
                )
            case "done":
                if not all(t.is_over for s in e.starts for t in self._begun.get((d, s), ())):
                    return False
                wanted = Counter(self.wanted(d, e.recvs))
                if any(self._taken[w] + n > self._sent[w] for w, n in wanted.items()):
                    return False
                self._taken.update(wanted)
                for recv in e.recvs:
                    self._awaited.pop((d, recv), None)
        return True

    def wanted(self, device: int, recvs: Iterable[HloPosition]) -> list[_Transfer]:
        """What a device has begun to receive there, and not ended."""
        return [w for recv in recvs for w in self._awaited.get((device, recv), ())]

    def _met(self, device: int, place: HloPosition) -> frozenset[int]:
        """Those that a device waits for in a collective operation."""
        key = (device, place)
        if key not in self._partners:
            found = _partners(self.chains, place, device)
            self.groups_are_known &= found is not None
            unknown = frozenset(self.devices if self._meeting is Meeting.ALL else ())
            self._partners[key] = unknown if found is None else found & frozenset(self.devices)
        return self._partners[key]


def stuck_devices(schedule: Schedule, meeting: Meeting) -> tuple[dict[HloPosition, str], bool]:
    """The recvs that some device waits for without end, and in which words; and whether the groups of all collective
    operations on the way are known."""
    devices = _Devices(schedule, meeting)
    devices.run()
    out: dict[HloPosition, str] = {}
    for thread in devices.threads:
        e = thread.events[thread.at]
        said = f"device {thread.device} waits for ever at {e.place.instruction}"
        wanted = (r for r in e.recvs if devices.wanted(thread.device, (r,)))
        if (recv := next(wanted, None)) is not None:
            out.setdefault(recv, said)
    if devices.threads and not out:
        thread = devices.threads[0]
        said = f"device {thread.device} waits for ever at {thread.events[thread.at].place.instruction}"
        out = {t.place: said for t in schedule.transfers()[:1]}
    return out, devices.groups_are_known


def _devices(schedule: Schedule) -> list[int]:
    """All devices: those that the header counts, and those that some text names."""
    replicas, partitions = device_counts(schedule.chains.module)
    found = set(range(min(replicas * partitions, _MOST_DEVICES))) if replicas * partitions > 1 else set()
    found |= {d for e in schedule.transfers() for pair in e.pairs for d in pair}
    for place in {s for e in every(schedule.events) if e.opcode == "meet" for s in e.starts} if found else ():
        groups = schedule.chains.flow.instruction(place).attributes.get("replica_groups")
        if replicas * partitions == 1 and isinstance(groups, ReplicaGroups):
            found |= {d for group in groups.groups for d in group}
    return sorted(found)


def _partners(chains: AsyncChains, place: HloPosition, device: int) -> frozenset[int] | None:
    """The devices that take part in a collective operation with this one; None where the text does not tell."""
    i = chains.flow.instruction(place)
    replicas, partitions = device_counts(chains.module)
    opcode = i.opcode.removesuffix("-start")
    channel, flat = "channel_id" in i.attributes, i.attributes.flag("use_global_device_ids")
    if replicas > 1 and partitions > 1:
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
    if isinstance(pairs, DevicePairs):
        # What nobody sends to a device it does not wait for.
        return frozenset(a for a, b in pairs.pairs if b == device)
    named = groups.groups if isinstance(groups, ReplicaGroups) else ()
    if any(named):
        return next((frozenset(group) for group in named if device in group), frozenset())
    return everyone if replicas * partitions > 1 else None
