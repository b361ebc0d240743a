"""What a device does along a schedule that other devices wait for: sends, recvs, collective operations, and the dones
that wait for them, with loops turned out as far as it is known how often they turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.claims.asynchronous.device_choices import Choices
from hloproof.claims.asynchronous.ended_starts import ended_starts, ends_the_oldest
from hloproof.models.dataflow.async_chain import AsyncChains, text_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.beside import unknown_beside
from hloproof.models.hlo.between_devices import not_known, part_of, parting, said_of_transfer
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.indexing.composition.known_scalars import KnownScalars
from hloproof.models.indexing.composition.trip_count import known_turns

Pairs = tuple[tuple[int, int], ...]

TRANSFERS: Final = ("send", "recv")
_EXCHANGES: Final = parting("all", "first")
"""Operations that wait for devices of their group."""
_MOST_EVENTS: Final = 5000
_SAID_OF_DEVICES: Final = "_xla_send_recv_source_target_pairs"
_PAIR: Final = re.compile(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}")
_PAIRS: Final = re.compile(rf"\s*\{{\s*(?:{_PAIR.pattern}(?:\s*,\s*{_PAIR.pattern})*)?\s*\}}\s*")
_OF_STREAMS: Final = "_xla_send_recv_pipeline"
"""Says on which stream a transfer runs: on the second where it is 1."""


def names_devices(i: Instruction) -> bool:
    """A send or recv that says between which devices."""
    return i.opcode in TRANSFERS and _SAID_OF_DEVICES in (text_of(i, "frontend_attributes") or "")


def source_target_pairs(i: Instruction) -> Pairs:
    """Which device sends to which, as the frontend attribute of a send or recv says; () of a transfer to the host.
    Raises NotModelled where the text does not say it, or says more than that."""
    if i.attributes.flag("is_host_transfer") and not names_devices(i):
        return ()
    said = said_of_transfer(i)
    more = next((name for name in said if name not in (_SAID_OF_DEVICES, _OF_STREAMS)), None)
    if more is not None:
        raise NotModelled(f"what {more} says of {i.name}")
    pairs = said.get(_SAID_OF_DEVICES)
    if i.attributes.flag("is_host_transfer") or pairs is None or not _PAIRS.fullmatch(pairs):
        raise NotModelled(f"between which devices {i.name} is")
    return tuple((int(a), int(b)) for a, b in _PAIR.findall(pairs))


def _stream(i: Instruction) -> str:
    """On which stream a transfer runs. One after the other does."""
    return "second" if said_of_transfer(i).get(_OF_STREAMS) == "1" else "first"


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
    sends: tuple[tuple[HloPosition, ...], ...] = ()
    """And the sends, where it waits for them."""
    stream: str = ""
    """Of a send or recv."""
    is_oldest: bool = True
    """A done ends the oldest of what is open and may be ended by it."""
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
        self._scalars, self._choices = KnownScalars(chains.module), Choices(chains)
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
                or _plain(i.opcode) in _EXCHANGES
                or (part_of(i.opcode) == "unknown" and not_known(i) is not None)
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
        waits = part_of(i.opcode) in ("transfer", "all", "first", "ends", "unknown")
        if (busy or waits) and (why := not_known(i)) is not None:
            raise NotModelled(why)
        if i.opcode == "while" and busy:
            yield from self._loop(computation, i, path, within)
        elif i.opcode == "conditional":
            taken = self._taken(computation, i, inner)
            if taken in busy:
                yield from self._of(taken, path, within)
            for name in busy if taken is None else ():
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
            channel = str(i.attributes.get("channel_id"))
            yield Event(place, i.opcode, source_target_pairs(i), channel, stream=_stream(i), within=within)
        elif _plain(i.opcode) in _EXCHANGES and (link is None or link.role == "start"):
            yield Event(place, "launch" if link is not None else "arrive", within=within)
            if link is None:
                yield Event(place, "meet", starts=(place,), within=within)
        elif link is not None and link.role == "done":
            starts = ended_starts(self.chains, place)
            recvs, sends = (
                tuple(tuple(dict.fromkeys(self._begun(s, path, what))) for s in starts) for what in ("recv", "send")
            )
            oldest = ends_the_oldest(self.chains, place)
            yield Event(place, "done", starts=starts, recvs=recvs, sends=sends, is_oldest=oldest, within=within)

    def _taken(self, computation: Computation, choice: Instruction, ways: Sequence[str]) -> str | None:
        """The branch that constants choose; None where they do not."""
        chosen = self._scalars.value(computation, choice.operands[0], (), lambda _n, _at: None)
        if chosen is None:
            return None
        self._is_computed(HloPosition(computation.name, choice.operands[0]))
        if "branch_computations" not in choice.attributes:
            return ways[0 if chosen else 1]
        return ways[chosen if 0 <= chosen < len(ways) else -1]

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
            self._is_computed(HloPosition(condition.name, condition.root_name))
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

    def _is_computed(self, place: HloPosition) -> None:
        """Raises NotModelled where something is written beside what a constant follows from, and is not known."""
        made, _ = self._choices.decided_by(place)
        words = unknown_beside(self.chains.flow.instruction(made)) if made is not None else ()
        if words:
            raise NotModelled(f"what {words[0]} says")

    def _begun(self, start: HloPosition, path: tuple[str, ...], what: str) -> Iterator[HloPosition]:
        """A start that is a recv, or a send, and those in the computation that it runs and that it does not itself
        end."""
        run = self.chains.runs(self.chains.flow.instruction(start))
        if self.chains.flow.instruction(start).opcode == what:
            yield start
        elif run is not None and self._is_busy(run):
            inside = tuple(every(self._of(run, path, ())))
            ended = {e.starts[0] for e in inside if e.opcode == "done" and len(e.starts) == 1}
            yield from (e.place for e in inside if e.opcode == what and e.place not in ended)

    def _note(self, where: str, i: Instruction, computation: Computation, name: str) -> None:
        """Whether every device takes the same way: by what decides on it."""
        made, given = self._choices.decided_by(HloPosition(computation.name, name))
        if made is not None:
            why = f"devices may go different ways at {i.name}, which depends on {made.instruction}"
            self._differing[where] = why
        for place in given:
            self._assumed[f"every device is given the same {place}"] = None


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
