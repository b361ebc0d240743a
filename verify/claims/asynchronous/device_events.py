"""What a device does along a schedule that other devices wait for: sends, recvs, collective operations, and the dones
that wait for them, with loops turned out as far as it is known how often they turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.dataflow.async_chain import AsyncChains, text_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ReplicaGroups
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing.composition.known_scalars import KnownScalars
from hloproof.models.indexing.composition.trip_count import known_turns

Pairs = tuple[tuple[int, int], ...]

TRANSFERS: Final = ("send", "recv")
_MEETINGS: Final = frozenset(
    {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast", "ragged-all-to-all"}
)
"""Operations that wait for all devices of their group."""
_DIFFER: Final = frozenset(
    {
        *(
            "partition-id",
            "replica-id",
            "rng",
            "rng-get-and-update-state",
            "infeed",
            "custom-call",
            "recv",
            "recv-done",
        ),
        *("all-to-all", "ragged-all-to-all", "reduce-scatter", "collective-permute", "collective-permute-done"),
    }
)
"""What may give every device another result."""
_ALIKE: Final = frozenset({"all-reduce", "all-gather", "copy"})
"""What gives all devices of a group one result in flight, too."""
_MOST_EVENTS: Final = 5000
_SOURCE_TARGET: Final = re.compile(r'_xla_send_recv_source_target_pairs="?(\{[\d,{}\s]*\})')
_PAIR: Final = re.compile(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}")


def source_target_pairs(i: Instruction) -> Pairs:
    """Which device sends to which, as the frontend attribute of a send or recv says; () where it is absent."""
    found = _SOURCE_TARGET.search(text_of(i, "frontend_attributes") or "")
    return tuple((int(a), int(b)) for a, b in _PAIR.findall(found[1])) if found else ()


def shown(pairs: Pairs) -> str:
    """Pairs as texts write them."""
    return "{" + ",".join(f"{{{a},{b}}}" for a, b in pairs) + "}"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a device."""

    place: HloPosition
    opcode: str
    """`send`, `recv`; `begin`: what is `inside` runs beside from now on; `launch` a collective operation; `done`;
    `arrive` at a collective operation, and `meet` the others there; `enter` and `leave` what may happen or not."""
    pairs: Pairs = ()
    channel: str = ""
    starts: tuple[HloPosition, ...] = ()
    """What a done ends."""
    recvs: tuple[tuple[HloPosition, ...], ...] = ()
    """The recvs that a done waits for, of each start."""
    inside: tuple[Event, ...] = ()
    within: tuple[str, ...] = ()
    """The branches, and the loops of unknown turns, that it stands in, outermost first: whether and how often it
    happens. Of enter and leave the last is what begins or ends."""


class Schedule:
    """The events of the entry computation, with those of all branches. Loops turn as often as is known, or else as
    often as `turns` says of their markers, or once; those without an end once. Raises NotModelled where there are too
    many events, or where something runs a computation that is not followed."""

    def __init__(self, chains: AsyncChains, turns: Mapping[str, int]) -> None:
        self.chains, self.module, self._turns = chains, chains.module, turns
        self._scalars = KnownScalars(chains.module)
        self._count = 0
        self.loops: dict[str, None] = {}
        """The markers of loops of which it is not known how often they turn."""
        self._assumed: dict[str, None] = {}
        self._differing: dict[str, str] = {}
        self._busy: dict[str, bool] = {}
        self.events = tuple(self._of(self.module.entry_name, (), ()))

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted."""
        return tuple(self._assumed)

    def transfers(self) -> list[Event]:
        """Sends and recvs between devices, in order."""
        return [e for e in every(self.events) if e.opcode in TRANSFERS and e.pairs]

    def differing(self) -> str | None:
        """Why one device may go another way than another where others wait for it. Who waits in vain gets nowhere, so
        that this concerns all transfers."""
        ways = (marker for e in every(self.events) for marker in e.within)
        return next((self._differing[marker] for marker in ways if marker in self._differing), None)

    def _is_busy(self, name: str | None) -> bool:
        """Something happens in a computation that other devices wait for."""
        computation = self.module.find(name)
        if computation is None:
            return False
        if computation.name not in self._busy:
            self._busy[computation.name] = False  # a computation does not call itself
            self._busy[computation.name] = any(
                i.opcode in TRANSFERS
                or _plain(i.opcode) in (*_MEETINGS, "collective-permute")
                or self.chains.links.get(HloPosition(computation.name, i.name)) is not None
                or any(map(self._is_busy, i.attributes.computations()))
                for i in computation.instructions
            )
        return self._busy[computation.name]

    def _of(self, name: str, path: tuple[str, ...], within: tuple[str, ...]) -> Iterator[Event]:
        if name in path:
            return
        path = (*path, name)
        computation = self.module.by_name[name]
        for i in computation.instructions:
            for e in self._by(computation, i, path, within):
                self._count += 1
                if self._count > _MOST_EVENTS:
                    raise NotModelled(f"more than {_MOST_EVENTS} sends, recvs and collective operations follow")
                yield e

    def _by(
        self, computation: Computation, i: Instruction, path: tuple[str, ...], within: tuple[str, ...]
    ) -> Iterator[Event]:
        place = HloPosition(computation.name, i.name)
        link = self.chains.links.get(place)
        inner = _inner(self.chains, i)
        busy = [name for name in inner if self._is_busy(name)]
        runs = self.chains.runs(i)
        for name in i.attributes.computations() if link is None or link.role == "start" else ():
            if name not in inner and self._is_busy(name):
                raise NotModelled(f"what the {i.opcode} {i.name} does with {name}")
        if i.opcode == "while" and busy:
            yield from self._loop(computation, i, path, within)
        elif i.opcode == "conditional":
            for name in busy:
                where = (*within, f"{place} {name}")
                self._note(where[-1], i, computation, i.operands[0])
                yield Event(place, "enter", within=where)
                yield from self._of(name, path, where)
                yield Event(place, "leave", within=where)
        elif runs is not None:
            if busy:
                yield Event(place, "begin", inside=tuple(self._of(runs, path, within)), within=within)
        elif i.opcode in ("call", "fusion"):
            for name in busy:
                yield from self._of(name, path, within)
        elif i.opcode in TRANSFERS:
            yield Event(place, i.opcode, source_target_pairs(i), str(i.attributes.get("channel_id")), within=within)
        elif _plain(i.opcode) in (*_MEETINGS, "collective-permute") and (link is None or link.role == "start"):
            yield Event(place, "launch" if link is not None else "arrive", within=within)
            if link is None:
                yield Event(place, "meet", starts=(place,), within=within)
        elif link is not None and link.role == "done":
            starts = tuple(sorted(self.chains.starts.get(place, ())))
            recvs = tuple(tuple(dict.fromkeys(self._received(s, path))) for s in starts)
            yield Event(place, "done", starts=starts, recvs=recvs, within=within)

    def _loop(
        self, computation: Computation, loop: Instruction, path: tuple[str, ...], within: tuple[str, ...]
    ) -> Iterator[Event]:
        place = HloPosition(computation.name, loop.name)
        condition, body = (self.module.find(called(loop, name)) for name in ("condition", "body"))
        if condition is None or body is None:
            return
        states = known_turns(self._scalars, computation, loop, condition, body, lambda _n, _at: None)
        turns, where = 1, within
        if states is not None:
            turns = len(states)
        elif condition.root.opcode == "constant":
            # It goes on for ever, as texts write it that leave open when it ends: what stands behind it counts.
            self._assumed[f"the loop {loop.name}, which has no end, counts once"] = None
        else:
            marker = f"{place} {body.name}"
            self.loops[marker] = None
            turns = self._turns.get(marker, 1)
            where = (*within, marker)
            self._note(marker, loop, condition, condition.root_name)
        yield from self._of(condition.name, path, within)
        for _ in range(turns):
            if where != within:
                yield Event(place, "enter", within=where)
            yield from self._of(body.name, path, where)
            yield from self._of(condition.name, path, where)
            if where != within:
                yield Event(place, "leave", within=where)

    def _received(self, start: HloPosition, path: tuple[str, ...]) -> Iterator[HloPosition]:
        """A start that is a recv, and the recvs in the computation that it runs and that it does not itself end."""
        run = self.chains.runs(self.chains.flow.instruction(start))
        if self.chains.flow.instruction(start).opcode == "recv":
            yield start
        elif run is not None and self._is_busy(run):
            inside = tuple(every(self._of(run, path, ())))
            ended = {e.starts[0] for e in inside if e.opcode == "done" and len(e.starts) == 1 and not e.within}
            yield from (e.place for e in inside if e.opcode == "recv" and e.place not in ended)

    # -- what devices decide ----------------------------------------------------------------------------------------

    def _note(self, where: str, i: Instruction, computation: Computation, name: str) -> None:
        """Whether every device takes the same way: by what decides on it."""
        made, given = self._decided_by(HloPosition(computation.name, name))
        if made is not None:
            why = f"devices may go different ways at {i.name}, which depends on {made.instruction}"
            self._differing[where] = why
        for place in given:
            self._assumed[f"every device is given the same {place}"] = None

    def _decided_by(self, place: HloPosition) -> tuple[HloPosition | None, list[HloPosition]]:
        """What a value depends on: something that may differ between devices, and parameters of the program."""
        seen, stack, given = {place}, [place], list[HloPosition]()
        while stack:
            at = stack.pop()
            i = self.chains.flow.instruction(at)
            link = self.chains.links.get(HloPosition(at.computation, at.instruction))
            if self._differs(i) or (link is not None and link.opcode not in _ALIKE):
                return at, given
            back: Iterable[HloPosition] = self.chains.flow.sources(at)
            if i.opcode == "parameter" and at.computation == self.module.entry_name:
                given.append(at)
            elif i.opcode == "parameter" and not (back and self._is_only_called(at.computation)):
                return at, given  # of a computation in flight
            elif i.opcode in ("while", "conditional"):
                deciding = called(i, "condition") if i.opcode == "while" else None
                test = self.module.find(deciding)
                chosen = (
                    HloPosition(test.name, test.root_name)
                    if test is not None
                    else HloPosition(at.computation, i.operands[0])
                )
                back = (*back, chosen)
            elif not back:
                back = self._all_of(at.computation, i.operands)
            for source in back:
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return None, sorted(given)

    def _differs(self, i: Instruction) -> bool:
        """An instruction may give devices other results for one operand."""
        groups = i.attributes.get("replica_groups")
        if isinstance(groups, ReplicaGroups) and len(set(map(len, groups.groups))) > 1:
            return True  # sums over more devices are others
        if _plain(i.opcode) in _DIFFER:
            return True
        if i.opcode in ("while", "conditional", "call", "fusion"):
            return False  # followed
        inner = (self.module.find(name) for name in i.attributes.computations())
        return any(self._differs(j) for c in inner if c is not None for j in c.instructions)

    def _is_only_called(self, name: str) -> bool:
        followed = ("while", "conditional", "call", "fusion")
        return all(caller.opcode in followed for _, caller in self.chains.flow.callers[name])

    def _all_of(self, computation: str, names: Iterable[str]) -> Iterator[HloPosition]:
        for name in names:
            shape = self.module.by_name[computation].by_name[name].shape
            for at, _ in leaves(shape):
                yield HloPosition(computation, name, at)


def every(events: Iterable[Event]) -> Iterator[Event]:
    """Events, and those inside of them."""
    for e in events:
        yield e
        yield from every(e.inside)


def _plain(opcode: str) -> str:
    """The operation that a start, sugared or not, begins."""
    return opcode.removesuffix("-start")


def _inner(chains: AsyncChains, i: Instruction) -> list[str]:
    """The computations that an instruction runs one after the other, or beside the others."""
    if i.opcode == "while":
        names: Iterable[str | None] = (called(i, "condition"), called(i, "body"))
    elif i.opcode == "conditional":
        names = branches(i)
    else:
        names = (called(i, "to_apply") or called(i, "calls") if i.opcode in ("call", "fusion") else chains.runs(i),)
    return [name for name in names if name is not None and chains.module.find(name) is not None]
