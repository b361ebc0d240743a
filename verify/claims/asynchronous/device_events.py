"""What a device does along a schedule that other devices wait for: sends, recvs, collective operations, and the dones
that wait for them. Loops are turned out where it is known how often they turn, and each done is followed to what it
ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.claims.asynchronous.device_choices import Choices
from hloproof.models.dataflow.async_chain import MAIN_THREAD, AsyncChains, text_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.beside import BETWEEN_DEVICES, device_pairs, unknown_beside
from hloproof.models.hlo.between_devices import not_known, part_of, parting, said_of_transfer
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition.known_scalars import KnownScalars
from hloproof.models.indexing.composition.trip_count import known_turns

Pairs = tuple[tuple[int, int], ...]
Held = Mapping[ShapeIndex, tuple[int, ...]]
"""What has begun and is not ended, by the numbers of its events, and where in a value it is held."""

TRANSFERS: Final = ("send", "recv")
_EXCHANGES: Final = parting("all", "first")
"""Operations that wait for devices of their group."""
_HANDED_ON: Final = frozenset({"opt-barrier", "copy", "add-dependency"})
"""Not through a domain, where another sharding begins: what devices do there is not said."""
_MOST_EVENTS: Final = 5000
_OF_STREAMS: Final = "_xla_send_recv_pipeline"
"""Says on which stream a transfer runs: on the second where it is 1."""


def names_devices(i: Instruction) -> bool:
    """A send or recv that says between which devices."""
    return i.opcode in TRANSFERS and BETWEEN_DEVICES in (text_of(i, "frontend_attributes") or "")


def source_target_pairs(i: Instruction) -> Pairs:
    """Which device sends to which, as the frontend attribute of a send or recv says; () of a transfer to the host.
    Raises NotModelled where the text does not say it, or says more than that."""
    if i.attributes.flag("is_host_transfer") and not names_devices(i):
        return ()
    said = said_of_transfer(i)
    more = next((name for name in said if name not in (BETWEEN_DEVICES, _OF_STREAMS)), None)
    if more is not None:
        raise NotModelled(f"what {more} says of {i.name}")
    pairs = device_pairs(said.get(BETWEEN_DEVICES, ""))
    if i.attributes.flag("is_host_transfer") or pairs is None:
        raise NotModelled(f"between which devices {i.name} is")
    return pairs


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
    """`send`, `recv`; `meet` the others in a collective operation, or `launch` it; `done`."""
    pairs: Pairs = ()
    channel: str = ""
    stream: str = ""
    """Of a send or recv."""
    ends: tuple[int, ...] = ()
    """What a done waits for: the numbers of the events that began it."""
    beside: tuple[int, ...] = ()
    """What else it may wait for: what the same start began, and others that are ended as it is."""
    within: tuple[str, ...] = ()
    """The branches, and the loops of unknown turns, that it stands in, outermost first: whether and how often it
    happens."""


@dataclass(frozen=True, slots=True)
class _Flight:
    """What one start begins, and is not ended."""

    name: str
    events: tuple[Event, ...]
    is_aside: bool
    """It runs on a thread of its own."""

    def is_shared_with(self, e: Event) -> bool:
        """It is not known which is first, this or what begins beside it, and the first may hold the other."""
        if self.is_aside or any(e.place == own.place for own in self.events):
            return True
        return any(own.opcode in TRANSFERS and e.stream in ("", own.stream) for own in self.events)


class Schedule:
    """The events of the entry computation, with those of all branches, in order; the number of an event is its place
    there. Loops turn as often as is known, others once, as do those without an end. Raises NotModelled where there are
    too many events, or where something runs a computation that is not followed."""

    def __init__(self, chains: AsyncChains) -> None:
        self.chains, self.module = chains, chains.module
        self._scalars, self._choices = KnownScalars(chains.module), Choices(chains)
        self.events: list[Event] = []
        self.unclear: str | None = None
        """Why it is not known what these events come to."""
        self.shared: str | None = None
        """Why it is not known who is first, where the first may hold the other."""
        self._open: dict[int, HloPosition] = {}
        """What has begun and is not ended, and which start began it."""
        self._ahead: Counter[tuple[str, Pairs]] = Counter()
        """How much more was sent than recvs have begun."""
        self._flights: dict[tuple[int, ...], _Flight] = {}
        self._assumed: dict[str, None] = {}
        self._differing: dict[str, str] = {}
        self._busy: dict[str, bool] = {}
        self._run(self.module.entry_name, {}, (), ())

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted."""
        return tuple(self._assumed)

    def transfers(self) -> list[Event]:
        """Sends and recvs between devices, in order."""
        return [e for e in self.events if e.opcode in TRANSFERS and e.pairs]

    def differing(self) -> str | None:
        """Why one device may go another way than another where others wait for it. Who waits in vain gets nowhere, so
        that this concerns all transfers."""
        ways = (marker for e in self.events for marker in e.within)
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

    def _run(self, name: str, given: Mapping[int, Held], path: tuple[str, ...], within: tuple[str, ...]) -> Held:
        """The events of a computation whose parameters hold this, and what its root holds."""
        if name in path:
            return {}
        computation = self.module.by_name[name]
        held: dict[str, Held] = {}
        for i in computation.instructions:
            mine = given.get(i.parameter_number or 0, {}) if i.opcode == "parameter" else None
            held[i.name] = self._does(computation, i, held, (*path, name), within) if mine is None else mine
        return held[computation.root_name]

    def _begin(self, e: Event) -> int:
        if len(self.events) >= _MOST_EVENTS:
            raise NotModelled(f"more than {_MOST_EVENTS} sends, recvs and collective operations follow")
        self.events.append(e)
        for flight in self._flights.values() if e.opcode != "done" else ():
            if flight.is_shared_with(e):
                self.shared = f"whether {e.place.instruction} or what {flight.name} runs is first"
        if e.opcode in TRANSFERS and e.pairs:
            self._ahead[e.channel, e.pairs] += 1 if e.opcode == "send" else -1
        return len(self.events) - 1

    def _opened(self, e: Event) -> Held:
        number = self._begin(e)
        self._open[number] = e.place
        return {(): (number,)}

    def _beside(self, ends: Sequence[int]) -> tuple[int, ...]:
        """What is open besides, and may be ended by one of the dones that may end these: runtimes know what a done
        waits for by its start, not by its turn, so that it may be the younger one."""
        dones = {done for n in ends for done in self.chains.members[self._open[n]]}
        others = ((n, self.chains.members[start]) for n, start in self._open.items() if n not in ends)
        return tuple(n for n, theirs in others if not dones.isdisjoint(theirs))

    def _note_unclear(self, why: str) -> None:
        self.unclear = self.unclear or why

    def _does(
        self,
        computation: Computation,
        i: Instruction,
        held: Mapping[str, Held],
        path: tuple[str, ...],
        within: tuple[str, ...],
    ) -> Held:
        """What an instruction does, and what its result holds."""
        place = HloPosition(computation.name, i.name)
        link = self.chains.links.get(place)
        inner = _inner(self.chains, i)
        busy = [name for name in inner if self._is_busy(name)]
        for name in i.attributes.computations() if link is None or link.role == "start" else ():
            if name not in inner and self._is_busy(name):
                raise NotModelled(f"what the {i.opcode} {i.name} does with {name}")
        waits = part_of(i.opcode) in ("transfer", "all", "first", "ends", "unknown")
        if (busy or waits) and (why := not_known(i)) is not None:
            raise NotModelled(why)
        given = {n: held[name] for n, name in enumerate(i.operands) if name in held}
        if i.opcode in TRANSFERS:
            channel = str(i.attributes.get("channel_id"))
            return self._opened(Event(place, i.opcode, source_target_pairs(i), channel, _stream(i), within=within))
        if _plain(i.opcode) in _EXCHANGES and (link is None or link.role == "start"):
            if link is not None:
                launch = Event(place, "launch", within=within)
                begun = self._opened(launch)
                if self.chains.thread(i) != MAIN_THREAD:
                    self._flights[begun[()]] = _Flight(i.name, (launch,), is_aside=True)
                return begun
            self._begin(Event(place, "meet", within=within))
        elif link is not None and link.role == "done":
            self._end(i, place, given.get(0, {}), within)
        elif i.opcode == "tuple":
            return {(n, *at): numbers for n, value in given.items() for at, numbers in value.items()}
        elif i.opcode == "get-tuple-element":
            n = i.attributes.integer("index", 0)
            return {at[1:]: numbers for at, numbers in given.get(0, {}).items() if at[:1] == (n,)}
        elif i.opcode in _HANDED_ON or (link is not None and link.role == "update"):
            return given.get(0, {})
        elif i.opcode == "while" and (busy or any(given.values())):
            return self._loop(computation, i, given.get(0, {}), path, within)
        elif i.opcode == "conditional" and busy:
            return self._branch(computation, i, inner, path, within)
        elif i.opcode in ("call", "fusion") and busy:
            return self._run(busy[0], given, path, within)
        elif busy:
            return self._fly(computation, i, busy[0], path, within)
        return {}

    def _end(self, i: Instruction, place: HloPosition, held: Held, within: tuple[str, ...]) -> None:
        """A done ends what its operand holds, once."""
        ends = held.get(())
        if ends is not None and self._open.keys() >= set(ends):
            beside = self._beside(ends)
            for number in ends:
                self._open.pop(number)
            self._flights.pop(ends, None)
            self._begin(Event(place, "done", ends=ends, beside=beside, within=within))
        elif not self._is_alone(place):
            self._note_unclear(f"what {i.name} ends")

    def _is_alone(self, done: HloPosition) -> bool:
        """All that a done may end computes, or copies, on one device."""
        seen, stack = {done}, [done]
        while stack:
            found = self.chains.previous[stack.pop()]
            links = {p: self.chains.links.get(p) for p in found}
            if any(link is None or link.role == "done" or self._waits(p) for p, link in links.items()):
                return False
            stack += [p for p, link in links.items() if link is not None and link.role == "update" and p not in seen]
            seen |= found
        return True

    def _waits(self, start: HloPosition) -> bool:
        i = self.chains.flow.instruction(start)
        return i.opcode in TRANSFERS or _plain(i.opcode) in _EXCHANGES or self._is_busy(self.chains.runs(i))

    def _fly(
        self, computation: Computation, i: Instruction, run: str, path: tuple[str, ...], within: tuple[str, ...]
    ) -> Held:
        """A start begins sends and recvs, which its done ends, or collective operations: nothing else is followed, for
        it would run beside the rest."""
        first = len(self.events)
        self._run(run, {}, path, within)
        mine = self.events[first:]
        if not mine:
            return {(): ()}
        kinds = {e.opcode for e in mine}
        if not (kinds <= set(TRANSFERS) or kinds == {"meet"}) or any(e.place.computation != run for e in mine):
            self._note_unclear(f"what else than sends and recvs, or collective operations, {i.name} runs in flight")
        self.events[first:] = [replace(e, opcode="launch") if e.opcode == "meet" else e for e in mine]
        numbers = tuple(range(first, len(self.events)))
        self._open.update(dict.fromkeys(numbers, HloPosition(computation.name, i.name)))
        self._flights[numbers] = _Flight(i.name, tuple(self.events[first:]), self.chains.thread(i) != MAIN_THREAD)
        return {(): numbers}

    def _branch(
        self,
        computation: Computation,
        i: Instruction,
        ways: Sequence[str],
        path: tuple[str, ...],
        within: tuple[str, ...],
    ) -> Held:
        taken = self._taken(computation, i, len(ways))
        if taken is not None:
            return self._run(ways[taken], {}, path, within)
        for name in ways:
            if self._is_busy(name):
                marker = f"{HloPosition(computation.name, i.name)} {name}"
                self._note(marker, i, computation, i.operands[0])
                self._perhaps(i, name, marker, path, within)
        return {}

    def _perhaps(
        self, i: Instruction, name: str, marker: str, path: tuple[str, ...], within: tuple[str, ...], also: str = ""
    ) -> None:
        """What happens once, often or not at all. Where nothing is open before it and behind it, and all that was sent
        has been received, each part waits for itself alone: who waits for something else has all of it behind him. So
        nobody waits for ever in any run where nobody does when it happens once."""
        for which in (name, also) if also else (name,):
            self._check_nothing_is_open(i)
            self._run(which, {}, path, (*within, marker))
        self._check_nothing_is_open(i)

    def _check_nothing_is_open(self, i: Instruction) -> None:
        is_sent = all(self.events[n].opcode == "send" for n in self._open)
        if not is_sent or any(self._ahead.values()):
            self._note_unclear(f"how often {i.name} does something while transfers or collective operations are open")

    def _taken(self, computation: Computation, choice: Instruction, count: int) -> int | None:
        """The branch that constants choose; None where they do not."""
        chosen = self._scalars.value(computation, choice.operands[0], (), lambda _n, _at: None)
        if chosen is None:
            return None
        self._is_computed(HloPosition(computation.name, choice.operands[0]))
        if "branch_computations" not in choice.attributes:
            return 0 if chosen else 1
        return chosen if 0 <= chosen < count else count - 1

    def _loop(
        self, computation: Computation, loop: Instruction, state: Held, path: tuple[str, ...], within: tuple[str, ...]
    ) -> Held:
        condition, body = (self.module.find(called(loop, name)) for name in ("condition", "body"))
        if condition is None or body is None:
            return {}
        states = known_turns(self._scalars, computation, loop, condition, body, lambda _n, _at: None)
        turns = 1
        self._run(condition.name, {0: state}, path, within)
        if states is not None:
            self._is_computed(HloPosition(condition.name, condition.root_name))
            turns = len(states)
        elif condition.root.opcode == "constant":
            # It goes on for ever, as texts write it that leave open when it ends: what stands behind it counts.
            self._assumed[f"the loop {loop.name}, which has no end, counts once"] = None
        else:
            marker = f"{HloPosition(computation.name, loop.name)} {body.name}"
            self._note(marker, loop, condition, condition.root_name)
            self._perhaps(loop, body.name, marker, path, within, also=condition.name)
            return {}
        for _ in range(turns):
            state = self._run(body.name, {0: state}, path, within)
            self._run(condition.name, {0: state}, path, within)
        return state

    def _is_computed(self, place: HloPosition) -> None:
        """Raises NotModelled where something is written beside what a constant follows from, and is not known."""
        made, _ = self._choices.decided_by(place)
        words = unknown_beside(self.chains.flow.instruction(made)) if made is not None else ()
        if words:
            raise NotModelled(f"what {words[0]} says")

    def _note(self, where: str, i: Instruction, computation: Computation, name: str) -> None:
        """Whether every device takes the same way: by what decides on it."""
        made, given = self._choices.decided_by(HloPosition(computation.name, name))
        if made is not None:
            why = f"devices may go different ways at {i.name}, which depends on {made.instruction}"
            self._differing[where] = why
        for place in given:
            self._assumed[f"every device is given the same {place}"] = None


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
