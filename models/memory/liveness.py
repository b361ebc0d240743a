"""When each value of a scheduled module is needed: intervals of instants, through calls, loops, conditionals and
asynchronous operations.

A value occupies its bytes from the instant of its write (for what merges: from where the ways meet) to its last read,
on every path. What a branch alone needs is not needed in the others; what a loop needs is needed in all of it. Both
ends are inclusive. Reads are at even instants, writes at odd ones, so an interval that ends with a read does not meet
the write of the same instruction.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Aliasing, BufferDonor
from hloproof.models.hlo.beside import stated
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import OpaqueShape, TokenShape
from hloproof.models.memory.assignment import Key
from hloproof.models.memory.forwarding import CALLS, PASS_ON
from hloproof.models.memory.order import BEFORE, Order, order_of
from hloproof.models.memory.values import HloValue, HloValues

_READS_NOTHING = frozenset({"tuple", "after-all", "parameter", "constant"})


@dataclass(frozen=True, slots=True)
class Read:
    """At `instant` the value is needed by an instruction of a computation; `operand` is -1 where it is not an
    operand."""

    value: Key
    instant: int
    computation: str
    instruction: str
    operand: int = -1
    why: str = "reads"


@dataclass(frozen=True, slots=True)
class Write:
    """The value's bytes are written at `instant` (odd), or at any time from there to `until` by what is in flight."""

    value: Key
    instant: int
    until: int
    instruction: str


class Liveness:
    """Reads, writes and intervals of all values of a scheduled module. Raises NotModelled."""

    def __init__(self, module: Module, values: HloValues | None = None) -> None:
        self.module = module
        self.values = values or HloValues(module)
        self.order: Order = order_of(module)
        self.unknown: dict[str, str] = {}
        """Instructions in flight whose end is not known, with the reason."""

    # -- asynchronous operations ------------------------------------------------------------------------------------

    @cached_property
    def starts(self) -> Mapping[str, str]:
        """For each done or update: the start whose state it takes, where the value says so."""
        out: dict[str, str] = {}
        for name in self.order.reads:
            i = self.values.instruction[name]
            link = link_of(i.opcode)
            if link is None or link.role == "start" or not i.operands:
                continue
            state = self.values.at((i.operands[0], ()))
            if state is None:
                continue
            made = self.values.instruction[state[0]]
            earlier = link_of(made.opcode)
            if earlier is not None and earlier.role == "start":
                out[name] = made.name
            elif state[0] in out:
                out[name] = out[state[0]]
        return out

    @cached_property
    def all_dones(self) -> Mapping[str, tuple[str, ...]]:
        """For each start its dones, where they are known, in their order: several where each branch has its own."""
        out: dict[str, tuple[str, ...]] = {}
        for name, start in self.starts.items():
            link = link_of(self.values.instruction[name].opcode)
            if link is not None and link.role == "done":
                out[start] = (*out.get(start, ()), name)
        return out

    @cached_property
    def dones(self) -> Mapping[str, str]:
        """For each start the last of its dones."""
        return {start: names[-1] for start, names in self.all_dones.items()}

    def early(self, read: Read, write: Write) -> str | None:
        """The done that is still to come when somebody reads what is in flight, on the way to the read; None where
        that has come. What other branches than the reader's do never comes."""
        if not write.instant < min(read.instant, write.until):
            return None
        names = self.all_dones.get(write.instruction, ())
        here = [n for n in names if not self._apart(self.values.computation_of[n].name, read.computation)]
        later = [n for n in here if self.order.reads[n] >= read.instant]
        return (later or names)[-1] if later or not here else None

    def _apart(self, a: str, b: str) -> bool:
        """The computations lie in two branches of a conditional, of which one is run."""
        one, two = self._ancestors(a), self._ancestors(b)
        outer = next((c for c in one if c in two), None)
        if outer in (None, a, b):
            return False
        first, second = (names[names.index(outer) - 1] for names in (one, two))
        caller = self.order.caller[first]
        return caller.opcode == "conditional" and caller is self.order.caller[second]

    def synchronous(self, start: str) -> bool:
        """The start does all the work, so says its `backend_config` (`"is_sync":true`)."""
        config = self.values.instruction[start].attributes.get("backend_config")
        of_collectives = stated(config, "collective_backend_config")
        below = of_collectives.get("is_sync") if isinstance(of_collectives, dict) else None
        said = [word for word in (stated(config, "is_sync"), below) if word is not None]
        return bool(said) and all(word is True for word in said)

    # -- reads ------------------------------------------------------------------------------------------------------

    @cached_property
    def reads(self) -> Mapping[Key, list[Read]]:
        out: dict[Key, list[Read]] = {key: [] for key in self.values.values}
        for name in self.order.begins:
            for read in self._reads_in(self.module.by_name[name]):
                out[read.value].append(read)
        return out

    def _reads_in(self, computation: Computation) -> Iterator[Read]:
        for i in computation.instructions:
            yield from self._reads_of(computation, i)
        yield from self._read_at_the_end(computation)

    def _whole(self, name: str) -> Iterator[Key]:
        return (value for _, value in self.values.places_in(name))

    def _reads_of(self, c: Computation, i: Instruction) -> Iterator[Read]:
        instant = self.order.reads[i.name]
        if i.opcode in _READS_NOTHING:
            return
        if i.opcode == "get-tuple-element":
            table = self.values.at((i.operands[0], ()))
            if table is not None:
                yield Read(table, instant, c.name, i.name, 0, "looks up the table of")
            return
        if i.opcode == "while":
            for at, value in self.values.places_in(i.operands[0]):
                if self._meets_others((i.name, at)):
                    yield Read(value, self.order.enters[i.name], c.name, i.name, 0, "takes as its state")
            return
        if i.opcode == "conditional":
            for value in self._whole(i.operands[0]):
                yield Read(value, self.order.enters[i.name], c.name, i.name, 0, "decides by")
            return
        if i.opcode == "call":
            return
        link = link_of(i.opcode)
        if link is not None and link.role != "start":
            yield from self._reads_of_link(c, i, instant)
            return
        passed_on = 1 if i.opcode in PASS_ON else 0
        for n, name in enumerate(i.operands[passed_on:], passed_on):
            for value in self._whole(name):
                yield Read(value, instant, c.name, i.name, n)
        if link is not None and not self.synchronous(i.name):
            yield from self._read_until_done(i)

    def _read_until_done(self, start: Instruction) -> Iterator[Read]:
        """Operands that no shape index of what the start returns names, and so none of its done: an all-reduce returns
        its result alone."""
        held = set(self._whole(start.name))
        for n, name in enumerate(start.operands):
            for value in self._whole(name):
                if value in held or isinstance(self.values.values[value].shape, TokenShape | OpaqueShape):
                    continue
                dones = self.all_dones.get(start.name, ())
                if not dones:
                    self.unknown[start.name] = f"where {start.name} is done is not followed: its state is carried on"
                for done in dones:
                    where = self.values.computation_of[done].name
                    yield Read(value, self.order.reads[done], where, start.name, n, "reads until its done")

    def _reads_of_link(self, c: Computation, i: Instruction, instant: int) -> Iterator[Read]:
        """A done or update: the operation may use all that its state holds until here."""
        start = self.starts.get(i.name)
        finished = start is not None and self.synchronous(start)
        operands = (
            set() if start is None else {v for n in self.values.instruction[start].operands for v in self._whole(n)}
        )
        for n, name in enumerate(i.operands):
            for value in self._whole(name):
                if not (finished and value in operands):
                    yield Read(value, instant, c.name, i.name, n, "ends the flight of")

    def _read_at_the_end(self, c: Computation) -> Iterator[Read]:
        """What a computation hands on when it ends."""
        end = self.order.ends[c.name]
        caller = self.order.caller.get(c.name)
        for at, value in self.values.places_in(c.root_name):
            if caller is None:
                yield Read(value, self.order.after, c.name, c.root_name, -1, "returns")
            elif caller.opcode == "while" and called(caller, "condition") == c.name:
                yield Read(value, end, c.name, c.root_name, -1, "decides by")
            elif caller.opcode in CALLS and self._meets_others((caller.name, at)):
                yield Read(value, end, c.name, c.root_name, -1, "hands on")

    def _meets_others(self, place: Key) -> bool:
        """A merged value stands at the place, rather than one that passes through."""
        return self.values.at(place) == place

    # -- writes and intervals ---------------------------------------------------------------------------------------

    @cached_property
    def donated(self) -> frozenset[Key]:
        """The places of entry parameters that the module's header lets the program overwrite."""
        entry, out = self.module.entry, set()
        for name in ("input_output_alias", "buffer_donor"):
            found = self.module.attributes.get(name)
            for e in found if isinstance(found, tuple) else ():
                match e:
                    case Aliasing(operand=number, operand_index=index):
                        pass
                    case BufferDonor(parameter=number, parameter_index=index):
                        pass
                    case _:
                        continue
                if 0 <= number < len(entry.parameters):
                    out.add((entry.parameters[number].name, index))
        return frozenset(out)

    def given(self, value: HloValue) -> bool:
        """The value is there before the program begins: a parameter of the entry or a constant."""
        i = self.values.instruction[value.key[0]]
        return i.opcode == "constant" or (i.opcode == "parameter" and value.computation == self.module.entry_name)

    def kept(self, value: HloValue) -> bool:
        """The value must be the same after the program as before."""
        return self.given(value) and value.key not in self.donated

    @cached_property
    def writes(self) -> Mapping[Key, Write]:
        """The write of each value that an instruction writes; merged values, parameters and constants have none."""
        out: dict[Key, Write] = {}
        for value in self.values.values.values():
            if value.room != "ordered" or value.phi or self.given(value):
                continue
            i = self._writer(value)
            if i.opcode == "parameter":
                continue
            out[value.key] = Write(value.key, self.order.reads[i.name] + 1, self._until(i), i.name)
        return out

    def _until(self, i: Instruction) -> int:
        """The last instant at which an instruction may write: that of its done where it is in flight."""
        instant = self.order.reads[i.name] + 1
        link = link_of(i.opcode)
        if link is None or link.role != "start" or self.synchronous(i.name):
            return instant
        done = self.dones.get(i.name)
        if done is None and AsyncChains.runs(i) is not None and len(self._inside(i)) > 1:
            self.unknown[i.name] = f"where {i.name} is done is not followed: what it runs needs its bytes until then"
        return instant if done is None else max(instant, self.order.reads[done])

    def _inside(self, start: Instruction) -> list[Instruction]:
        """What a start runs, but for parameters."""
        body = self.module.find(AsyncChains.runs(start))
        return [] if body is None else [i for i in body.instructions if i.opcode != "parameter"]

    def beside(self, value: HloValue) -> bool:
        """The value is made by what is in flight, beside the order."""
        return value.room == "ordered" and value.computation not in self.order.begins

    def _writer(self, value: HloValue) -> Instruction:
        """The instruction of the order that makes a value: that of its place, or the start that runs its computation,
        or runs what calls that."""
        i, computation = self.values.instruction[value.key[0]], value.computation
        while i.name not in self.order.reads:
            callers = self.values.callers.get(computation, [])
            if len(callers) != 1:
                raise NotModelled(f"{computation} is run from {len(callers)} places")
            i = callers[0]
            computation = self.values.computation_of[i.name].name
        return i

    def home(self, value: HloValue) -> str:
        """The computation of the order that a value belongs to."""
        if value.room != "ordered":
            return self.module.entry_name
        return self.values.computation_of[self._writer(value).name].name

    def begins(self, value: HloValue) -> int:
        """The first instant at which the value's bytes are its own."""
        if self.given(value):
            return BEFORE
        write = self.writes.get(value.key)
        if write is not None:
            return write.instant
        i = self.values.instruction[value.key[0]]
        if self.beside(value):
            return self.order.reads[self._writer(value).name] + 1
        if i.opcode == "parameter":
            return self.order.begins[value.computation]
        return self.order.reads[i.name]

    def intervals(self, value: HloValue, but: Collection[Read] = ()) -> tuple[tuple[int, int], ...]:
        """When the value is needed, both ends inclusive, in order and apart; were it not for some of its reads."""
        first = self.begins(value)
        if self.kept(value):
            return ((BEFORE, self.order.after + 1),)
        home = self.home(value)
        last: dict[str, int] = {home: first}
        if self._is_state_of_a_condition(value):
            last[home] = self.order.ends[home]
        for read in self.reads[value.key]:
            if read in but:
                continue
            last[read.computation] = max(last.get(read.computation, first), read.instant)
        if self.beside(value):  # when within the flight its bytes are written and read, nobody outside knows
            start = self._writer(value).name
            for done in () if self.synchronous(start) else self.all_dones.get(start, ()):
                c = self.values.computation_of[done].name
                last[c] = max(last.get(c, first), self.order.reads[done])
        around = self._ancestors(home)
        out: list[tuple[int, int]] = []
        inner = sorted((c for c in last if c not in around), key=self._depth)
        while inner:
            c = inner.pop()
            caller = self.order.caller[c]
            if caller.opcode == "while":
                condition, body = called(caller, "condition") or "", called(caller, "body") or ""
                out.append((self.order.begins[condition], self.order.ends[body]))
            else:
                out.append((self.order.begins[c], last[c]))
            outer = self.values.computation_of[caller.name].name
            if outer not in last and outer not in around:
                insort(inner, outer, key=self._depth)
            last[outer] = max(last.get(outer, first), self.order.enters[caller.name])
        top = [c for c in around if c in last][-1]  # what a callee makes may be read by its callers
        out.append((first, last[top]))
        return _joined(out)

    def _is_state_of_a_condition(self, value: HloValue) -> bool:
        """A loop's condition hands its state on to the body."""
        caller = self.order.caller.get(value.computation)
        return (
            value.phi
            and caller is not None
            and caller.opcode == "while"
            and called(caller, "condition") == value.computation
            and self.values.instruction[value.key[0]].opcode == "parameter"
        )

    def _depth(self, computation: str) -> int:
        return len(self._ancestors(computation))

    def _ancestors(self, computation: str) -> tuple[str, ...]:
        """The computation and those around it, outwards."""
        out = [computation]
        while (caller := self.order.caller.get(out[-1])) is not None:
            out.append(self.values.computation_of[caller.name].name)
        return tuple(out)


def _joined(intervals: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(intervals):
        if out and begin <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], end)
        else:
            out.append((begin, end))
    return tuple(out)
