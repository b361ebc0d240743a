"""plan-interference and plan-constant: whoever writes destroys no byte that another value still needs.

A sweep over the instants of the flattened order keeps, for each allocation, the slices of the values that are needed,
sorted by offset. A write asks which of them it touches. Values that are needed at once lie apart in a plan that is
right, so both steps take logarithmic time; what overlaps without having been written (a merged value and one of its
sources) is kept in one list per allocation and looked through.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from hloproof.claims.asynchronous.chain_checks import async_chain
from hloproof.claims.asynchronous.judgement import Context, Judgement
from hloproof.memory.constants import other_bytes
from hloproof.memory.flights import works_in_place
from hloproof.memory.plan import Plan, TimelineRow, judged, last_read, timeline
from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.memory.assignment import Key, Slice
from hloproof.models.memory.liveness import Write
from hloproof.models.memory.values import HloValue
from hloproof.results.verdict import Verdict

INTERFERENCE: Final = "plan-interference"
CONSTANT: Final = "plan-constant"
_TAKES: Final = frozenset({"reads", "decides by", "returns"})
"""Reads of the bytes themselves, rather than handing them on as a state or looking up a table."""


@dataclass
class _Occupied:
    """The needed slices of one allocation: (begin, end, key), sorted; and those that overlap one of them."""

    apart: list[tuple[int, int, Key]] = field(default_factory=list)
    shared: list[tuple[int, int, Key]] = field(default_factory=list)

    def add(self, begin: int, end: int, key: Key) -> None:
        k = bisect_left(self.apart, (begin,))
        meets = (k < len(self.apart) and self.apart[k][0] < end) or (k > 0 and self.apart[k - 1][1] > begin)
        if meets:
            self.shared.append((begin, end, key))
        else:
            insort(self.apart, (begin, end, key))

    def remove(self, begin: int, end: int, key: Key) -> None:
        entry = (begin, end, key)
        k = bisect_left(self.apart, entry)
        if k < len(self.apart) and self.apart[k] == entry:
            del self.apart[k]
        else:
            self.shared.remove(entry)

    def meeting(self, begin: int, end: int) -> Iterator[Key]:
        k = bisect_left(self.apart, (begin,))
        if k > 0 and self.apart[k - 1][1] > begin:
            yield self.apart[k - 1][2]
        while k < len(self.apart) and self.apart[k][0] < end:
            yield self.apart[k][2]
            k += 1
        for low, high, key in self.shared:
            if low < end and begin < high:
                yield key


@dataclass(frozen=True, slots=True)
class Conflict:
    """`write` destroys bytes of `victim`, which is needed until later."""

    write: Write
    victim: Key


def conflicts(plan: Plan) -> Iterator[Conflict]:
    """All of them, in the order of the writes."""
    live = plan.liveness
    begins: dict[int, list[tuple[Key, Slice]]] = {}
    ends: dict[int, list[tuple[Key, Slice]]] = {}
    writes: dict[int, list[Write]] = {}
    for key, (value, s) in plan.in_memory.items():
        for begin, end in live.intervals(value):
            begins.setdefault(begin, []).append((key, s))
            ends.setdefault(end, []).append((key, s))
        write = live.writes.get(key)
        if write is not None:
            writes.setdefault(write.instant, []).append(write)
    occupied: dict[int, _Occupied] = {}
    for instant in sorted(begins.keys() | ends.keys() | writes.keys()):
        # Begins before writes before ends: a value that begins and one that ends at the instant of a write are both
        # there while it is done, which is why reads and writes have instants of their own (even and odd).
        for key, s in begins.get(instant, ()):
            occupied.setdefault(s.allocation, _Occupied()).add(*plan.extent(s), key)
        for write in writes.get(instant, ()):
            s = plan.in_memory[write.value][1]
            for victim in occupied.get(s.allocation, _Occupied()).meeting(*plan.extent(s)):
                if victim != write.value and not _in_place(plan, write, victim):
                    yield Conflict(write, victim)
        for key, s in ends.get(instant, ()):
            occupied[s.allocation].remove(*plan.extent(s), key)


def _in_place(plan: Plan, write: Write, victim: Key) -> bool | None:
    """An operation in flight that works in the place of its operand. None where it may."""
    i = plan.instruction(write.instruction)
    return link_of(i.opcode) is not None and works_in_place(plan, i, write.value, victim)


def interference(plan: Plan) -> Iterator[Judgement]:
    """For each value that is written: it destroys nothing that is needed. For constants and parameters that the caller
    keeps: nobody writes there, and no other constant has its place."""
    by_write: dict[Key, str] = {}
    by_kept: dict[Key, str] = {}
    inside: dict[Key, str] = {}
    for conflict in conflicts(plan):
        victim = plan.values.values[conflict.victim]
        if _both_in_flight(plan, conflict) or _in_place(plan, conflict.write, conflict.victim) is None:
            names = f"{plan.named(conflict.write.value)} and {plan.named(conflict.victim)}"
            inside.setdefault(
                conflict.write.value,
                f"{names} share bytes in what {conflict.write.instruction} runs: its own order is not modelled",
            )
            continue
        text = _told(plan, conflict)
        if plan.liveness.kept(victim):
            by_kept.setdefault(conflict.victim, text)
        else:
            by_write.setdefault(conflict.write.value, text)
    live = plan.liveness
    unended, carried = _unended(plan), _read_while_carried(plan)
    for key, (value, s) in plan.in_memory.items():
        if key in live.writes:
            start = live.writes[key].instruction
            unknown = live.unknown.get(start) or unended.get(start) or inside.get(key) or carried.get(key)
            problem = by_write.get(key) or _read_in_flight(plan, live.writes[key])
            yield judged(INTERFERENCE, plan.place(*key), problem, None if problem else unknown)
        if live.kept(value):
            problem, why = other_bytes(plan, key, s)
            problem = by_kept.get(key) or _written(plan, value, s) or problem
            yield judged(CONSTANT, plan.place(*key), problem, None if problem else why)


def _unended(plan: Plan) -> dict[str, str]:
    """Starts of which it is not proved that a done ends them on every path: what they read and write is theirs nobody
    knows how long."""
    if not any(link_of(plan.instruction(name).opcode) for name in plan.liveness.order.reads):
        return {}
    chains = AsyncChains(plan.module)
    out = {}
    for j in async_chain(Context(chains)):
        place, name = HloPosition(j.place.computation, j.place.instruction), j.place.instruction
        link = chains.links[place]
        if link.role != "start" or name not in plan.liveness.order.reads:
            continue
        ended = any(chains.links[m].role == "done" for m in chains.members[place])
        if j.found.verdict is not Verdict.PROVED or not ended:
            out[name] = f"where {name} is done is not known: {j.problem or j.found.reason or 'a loop carries it on'}"
    return out


def _read_while_carried(plan: Plan) -> dict[Key, str]:
    """Results of starts whose state a loop or conditional merges before its done comes, and that somebody reads beside
    the done: whether they are written by then is not followed."""
    live, out = plan.liveness, dict[Key, str]()
    for key, write in live.writes.items():
        link = link_of(plan.instruction(write.instruction).opcode)
        if (
            link is None
            or link.role != "start"
            or write.instruction in live.dones
            or live.synchronous(write.instruction)
        ):
            continue
        for place in sorted(_in_flight(plan, key)):
            for read in live.reads[plan.values.places[place]]:
                taken = plan.instruction(read.instruction)
                name = taken.name if read.operand < 0 else taken.operands[read.operand]
                if read.why in _TAKES and name == place[0]:
                    told = (
                        f"{read.instruction} {read.why} {plan.named(place)}, which {write.instruction} writes in flight"
                    )
                    out.setdefault(key, f"{told}: whether it is done by then is not followed")
    return out


def _in_flight(plan: Plan, key: Key) -> set[Key]:
    """The places to which a value comes without a done."""
    followed: dict[Key, list[Key]] = {}
    for place, source in plan.values.steps():
        link = link_of(plan.instruction(place[0]).opcode)
        if link is None or link.role != "done":
            followed.setdefault(source, []).append(place)
    pending, seen = [key], {key}
    while pending:
        new = [place for place in followed.get(pending.pop(), ()) if place not in seen]
        pending += new
        seen.update(new)
    return seen


def _both_in_flight(plan: Plan, conflict: Conflict) -> bool:
    """Both values are made by what one start runs: which of them is needed when depends on the order inside."""
    one, two = plan.values.values[conflict.write.value], plan.values.values[conflict.victim]
    live = plan.liveness
    if not (live.beside(one) and live.beside(two)):
        return False
    made = live.writes.get(conflict.victim)
    return made is None or made.instruction == conflict.write.instruction


def _read_in_flight(plan: Plan, write: Write) -> str | None:
    """A result that somebody reads before the operation that writes it is done."""
    live = plan.liveness
    for read in live.reads[write.value]:
        done = live.early(read, write)
        if done is not None and live.starts.get(read.instruction) != write.instruction:
            steps = [
                TimelineRow(write.instant, write.instruction, f"writes {plan.named(write.value)} from here"),
                TimelineRow(read.instant, read.instruction, f"{read.why} it"),
                TimelineRow(live.order.reads[done], done, "ends the flight"),
            ]
            what = f"{read.instruction} {read.why} {plan.named(write.value)} before {done}: it is not written yet"
            return f"{what}\n{timeline(plan, steps)}"
    return None


def _written(plan: Plan, value: HloValue, s: Slice) -> str | None:
    """Another value of the same allocation that is written, though not into these very bytes; or that is there from
    the beginning, in the same ones."""
    allocation = plan.allocation(s)
    what = "a constant" if allocation.constant else "a parameter that is not donated"
    for other in allocation.slices:
        if other.key in plan.liveness.writes and other.key in plan.in_memory:
            into = f"allocation {allocation.number} (plan line {other.line})"
            return f"{plan.named(other.key)} is written into {into}, which holds {what}"
        given = None if allocation.constant else plan.in_memory.get(other.key)
        if given is not None and other.key != value.key and plan.liveness.given(given[0]) and plan.overlap(s, other):
            both = f"{plan.named(value.key)} and {plan.named(other.key)} (plan lines {s.line} and {other.line})"
            return f"{both} share bytes of allocation {allocation.number}, and both are there before the program begins"
    return None


def _told(plan: Plan, conflict: Conflict) -> str:
    """The conflict in words and as a timeline."""
    write, live = conflict.write, plan.liveness
    new, old = plan.in_memory[write.value][1], plan.in_memory[conflict.victim][1]
    shared = plan.overlap(new, old)
    low, high = shared or (0, 0)
    victim = plan.values.values[conflict.victim]
    read = last_read(plan, conflict.victim, write.instant)
    i = plan.instruction(conflict.victim[0])
    steps = [TimelineRow(write.instant, write.instruction, f"writes {plan.named(write.value)} over it")]
    made = live.writes.get(conflict.victim)
    if made is not None:
        steps.append(TimelineRow(made.instant, made.instruction, f"writes {plan.named(conflict.victim)}"))
    else:
        steps.append(TimelineRow(live.begins(victim), i.name, f"{plan.named(conflict.victim)} stands here"))
    if write.until > write.instant and write.instruction in live.dones:
        steps.append(
            TimelineRow(write.until, live.dones[write.instruction], f"{write.instruction} is in flight until here")
        )
    if live.kept(victim):
        needed = "the caller keeps it" if i.opcode == "parameter" else "it is a constant"
    elif read is None:
        needed = "both are written by one instruction"
    else:
        needed = f"{read.instruction} {read.why} it"
        steps.append(TimelineRow(read.instant, read.instruction, f"{read.why} {plan.named(conflict.victim)}"))
    names = f"{plan.named(write.value)} is written over {plan.named(conflict.victim)}"
    lines = f"allocation {new.allocation} (plan lines {new.line} and {old.line})"
    return f"{names}, which is needed: {needed}. They share bytes {low} to {high} of {lines}\n{timeline(plan, steps)}"
