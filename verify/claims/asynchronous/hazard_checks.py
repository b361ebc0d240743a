"""Hazards: buffers that are read or written while an operation in flight, or a later reader, still needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement, judged
from hloproof.claims.asynchronous.loop_turns import loops_of_constants, takes_a_turn
from hloproof.claims.asynchronous.orders import Orders
from hloproof.claims.asynchronous.shared_arguments import begun, shared_arguments
from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, timeline
from hloproof.models.dataflow.accesses import UNSEEN, InPlaceWrite, Spot
from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.in_flight import (
    Flight,
    begins_the_next_turn,
    crosses,
    flights,
    holds_what_it_is_given,
    is_looked_into,
    is_one,
)
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.dataflow.versions import PASS_ON, LocalBuffers, local_buffers
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.results.verdict import Verdict


def hazard_operand(context: Context) -> Iterator[Judgement]:
    """The claim hazard-operand: what is read in flight is not written meanwhile."""
    return _where_loops_turn(operand_hazards, context)


def hazard_output(context: Context) -> Iterator[Judgement]:
    """The claim hazard-output: what is written in flight is not touched meanwhile."""
    return _where_loops_turn(output_hazards, context)


def hazard_overwrite(context: Context) -> Iterator[Judgement]:
    """The claim hazard-overwrite alone, of what `overwrite_hazards` finds."""
    return (j for j in _where_loops_turn(overwrite_hazards, context) if j.claim == "hazard-overwrite")


def hazard_donation(context: Context) -> Iterator[Judgement]:
    """The claim hazard-donation alone, of what `overwrite_hazards` finds."""
    return (j for j in _where_loops_turn(overwrite_hazards, context) if j.claim == "hazard-donation")


def _where_loops_turn(check: Callable[[Scene], Iterator[Judgement]], context: Context) -> Iterator[Judgement]:
    """What the check finds. Where something is wrong only if loops end before their first turn, and constants that are
    not worked out say whether they do, that is not known."""
    scene = scene_of(context)
    wrong: set[tuple[str, HloPosition]] | None = None
    for j in check(scene):
        if j.problem is not None and scene.loops_of_constants:
            if wrong is None:
                wrong = {(other.claim, other.place) for other in check(scene.turning) if other.problem is not None}
            if (j.claim, j.place) not in wrong:
                unknown = f"whether {', '.join(sorted(scene.loops_of_constants))} takes a turn: {j.problem}"
                yield judged(j.claim, j.place, unknown=unknown.split("\n", 1)[0])
                continue
        yield j


def scene_of(context: Context) -> Scene:
    """The scene of a context, made once."""
    found: Scene | None = context.chains.__dict__.get("_scene")
    if found is None:
        found = context.chains.__dict__["_scene"] = Scene(context)
    return found


@dataclass(frozen=True)
class Scene:
    """One module, its buffers and the orders in which it may run."""

    context: Context
    all_turn: bool = False
    """Loops are taken to turn where constants say whether they do, and are not worked out."""

    @property
    def shares(self) -> bool:
        return self.context.shares

    @cached_property
    def buffers(self) -> Buffers:
        return Buffers(self.context.chains.module, chains=self.context.chains)

    @cached_property
    def locals(self) -> Mapping[str, LocalBuffers]:
        return local_buffers(self.buffers, self.shares, self._turns)

    @cached_property
    def turning(self) -> Scene:
        """The same where all of these loops turn."""
        return replace(self, all_turn=True)

    def _turns(self, computation: Computation, loop: Instruction) -> bool:
        guessed = self.all_turn and loop.name in self.loops_of_constants
        return guessed or takes_a_turn(self.context.chains.module, computation, loop)

    @cached_property
    def loops_of_constants(self) -> frozenset[str]:
        return frozenset(i.name for i in loops_of_constants(self.context.chains.module))

    @cached_property
    def _orders(self) -> dict[str, Orders]:
        return {}

    def orders(self, computation: Computation) -> Orders:
        found = self._orders.get(computation.name)
        if found is None:
            found = self._orders[computation.name] = Orders(computation, self.context.ordered)
        return found

    @cached_property
    def crossing(self) -> str | None:
        """What is not known of an operation that one computation begins and others bind, hand on or end, or into whose
        state something looks that its links are not."""
        return next((why for start in self.context.chains.of_role("start") if (why := self._lost(start))), None)

    def _lost(self, start: HloPosition) -> str | None:
        """Why it is not known of a start where all of its buffers are, once others have its state."""
        chains, local = self.context.chains, self.locals.get(start.computation)
        if local is None:
            return None
        i = local.computation.by_name[start.instruction]
        looked_into = not self.shares and is_looked_into(chains, start)
        if looked_into and local.writes_operands(start):
            # No copy comes between a state and what is taken out of it.
            return f"what is found of the operands in the state of {i.name}, which writes them"
        if not crosses(chains, start) or not (self._something_is_written or looked_into):
            return None
        # Copies that are inserted put all that arrives at one place into one buffer; before that it may be either.
        either = () if self.shares else (m for m in chains.members[start] if len(chains.starts[m]) > 1)
        if not is_one(chains, start) or any(True for _ in either):
            return f"which run of {i.name} it is that flies from one computation into another"
        if chains.links[start].form == "explicit":
            if not holds_what_it_is_given(local, i):
                return f"where all lies that is given {i.name}, which flies from one computation into another"
        elif chains.bound_beside(start) is None or local.lies_with_operands(start):
            return f"where the result of {i.name} lies, which flies from one computation into another"
        return None

    @cached_property
    def _something_is_written(self) -> bool:
        """Some buffer of an operand, whatever copies may still be inserted."""
        return self.shares or any(not write.optional for local in self.locals.values() for write in local.writes)

    def flights(self) -> Iterator[tuple[LocalBuffers, Flight]]:
        if not self.context.chains.of_role("start"):
            return
        for flight in flights(self.context.chains, self.locals):
            yield self.locals[flight.computation], flight


_NOT_FOLLOWED: Final = PASS_ON | {"while", "conditional"}
"""What sugar around it does not tell: computations that write where their operands lie, and results that lie there."""


def not_followed(scene: Scene, start: HloPosition) -> str | None:
    """Why the buffers of an operation in flight are not known."""
    link = scene.context.chains.links[start]
    if link.form == "sugared" and link.opcode in _NOT_FOLLOWED:
        return f"which buffers a {link.opcode} that {start.instruction} starts by itself writes and hands on"
    return None


def unknown_starts(scene: Scene, claim: str) -> Iterator[Judgement]:
    """The starts whose buffers are not known, once they are shared."""
    for start in scene.context.chains.of_role("start"):
        unknown = not_followed(scene, start)
        if unknown is not None:
            yield judged(claim, start, unknown=unknown)


def unless_it_crosses(context: Context, judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """What holds only where all that flies works in one computation, or makes what it gives anew of what its start
    binds: where else a result lies, as computations bind, hand over and end it in turns, is not followed, and what is
    said of any buffer of the module may hang on that."""
    for j in judgements:
        unknown = scene_of(context).crossing if j.found.verdict is Verdict.PROVED else None
        yield j if unknown is None else judged(j.claim, j.place, unknown=unknown)


def _spot(spot: Spot) -> str:
    if spot[1][:1] == (UNSEEN,):
        return f"operand {spot[1][1]} of {spot[0]}"
    return spot[0] + ("{" + ",".join(map(str, spot[1])) + "}" if spot[1] else "")


def _line(computation: Computation, name: str) -> int:
    return computation.by_name[name].position.line


def _order_text(scene: Scene, local: LocalBuffers, flight: Flight, name: str, act: str, what: str) -> str:
    """The schedule in which `name` runs during the flight, and the control dependency that forbids it."""
    computation, orders = local.computation, scene.orders(local.computation)
    opening = None if flight.from_the_beginning else flight.opening
    order = orders.witness(opening, name)
    marks = {flight.opening: f"{BEGINS}: {what}", name: act}
    closings = [closing for closing in flight.closings if closing != name]
    marks |= dict.fromkeys(closings, ENDS)
    text = timeline(computation, order, marks)
    end = closings[0] if closings else None
    # An edge is offered only where it makes no circle.
    if end is not None and not orders.must_precede(name, end):
        text += f"\n  mended by control-predecessors={{%{end}}} on {name}"
    elif flight.closings:
        text += f"\n  mended by a copy of {what} for {name}, or by finishing {flight.opening} first"
    return text


def _ends(flight: Flight) -> tuple[str, ...]:
    return () if flight.open_end else flight.closings


def _during(scene: Scene, local: LocalBuffers, flight: Flight, name: str) -> bool:
    # Updates and dones of the operation itself touch its buffers rightly, and a parameter is there before anything
    # starts.
    if name in flight.links or local.computation.by_name[name].opcode == "parameter":
        return False
    return _between(scene, local, flight, name, _ends(flight))


def _between(scene: Scene, local: LocalBuffers, flight: Flight, name: str, ends: tuple[str, ...]) -> bool:
    opening = None if flight.from_the_beginning else flight.opening
    return scene.orders(local.computation).between(opening, name, ends)


def _asks(scene: Scene, local: LocalBuffers, flight: Flight, name: str, spot: Spot) -> bool:
    """Whether it is read during the flight to learn what is run next: a conditional chooses before any branch ends
    what it is handed, and a loop asks for the root of its condition where that is the parameter."""
    i = local.computation.by_name[name]
    if i.opcode == "parameter":
        return flight.from_the_beginning and name == local.computation.root_name
    if i.opcode != "conditional" or spot not in local.leaves(i.operands[0]):
        return False
    return _between(scene, local, flight, name, tuple(end for end in _ends(flight) if end != name))


_Through = Mapping[tuple[str, HloPosition, str], tuple[Flight, ...]]
"""Flights by computation, start and opening."""


def _through(scene: Scene) -> _Through:
    out: dict[tuple[str, HloPosition, str], tuple[Flight, ...]] = {}
    for _, f in scene.flights():
        key = (f.computation, f.start, f.opening)
        out[key] = (*out.get(key, ()), f)
    return out


def _crosses(through: _Through, local: LocalBuffers, flight: Flight, name: str, version: Spot) -> bool:
    """A loop, call or conditional that the operation is in flight through, from before to after it: the very version is
    still held behind it. What it writes it writes during the flight, though it ends one part of it and opens the
    next. What is wrong with that inside shows there only where every caller hands over the same."""
    return any(
        local.version.get(spot, spot) == version
        for after in _goes_on(through, local, flight, name)
        for spot in (*after.operands, *after.outputs)
    )


def _goes_on(through: _Through, local: LocalBuffers, flight: Flight, name: str) -> tuple[Flight, ...]:
    """The flights behind a loop, call or conditional that the operation is in flight through."""
    if name not in flight.closings or local.computation.by_name[name].opcode not in IN_STEPS:
        return ()
    return through.get((flight.computation, flight.start, name), ())


def operand_hazards(scene: Scene) -> Iterator[Judgement]:
    """No buffer that an operation in flight reads is written before the operation is done."""
    through = _through(scene)
    for local, flight in scene.flights():
        problem, note = None, None
        for operand in dict.fromkeys(flight.operands):
            version = local.version.get(operand, operand)
            buffer = local.buffer(operand)
            for other in local.versions_in.get(buffer, ()):
                maker = other[0]
                # Another version of the same buffer that is made in between: the bytes that are being read are gone.
                if other == version or not (
                    _during(scene, local, flight, maker) or _crosses(through, local, flight, maker, version)
                ):
                    continue
                what = _spot(operand)
                problem = (
                    f"{maker} (line {_line(local.computation, maker)}) writes the buffer of {what}, which "
                    f"{flight.start.instruction} reads until it is done\n"
                    + _order_text(scene, local, flight, maker, f"writes the buffer of {what}", what)
                )
                break
            if problem is not None:
                break
            note = note or _optional_writer(scene, local, flight, buffer)
        place, unknown = HloPosition(flight.computation, flight.opening), not_followed(scene, flight.start)
        unknown = unknown or _met_elsewhere(scene, through, local, flight, flight.operands, ("writes",))
        yield judged("hazard-operand", place, problem, unknown, note=note)


def _optional_writer(scene: Scene, local: LocalBuffers, flight: Flight, buffer: Spot) -> str | None:
    """What copy insertion would have to keep apart, before it has."""
    if scene.shares:
        return None
    for write in _optional_writes(local).get(buffer, ()):
        if _during(scene, local, flight, write.writer):
            return (
                f"{NEEDS_COPY}: {write.writer} may not update {_spot(write.operand)} in place while "
                f"{flight.start.instruction} reads it"
            )
    return None


def _optional_writes(local: LocalBuffers) -> Mapping[Spot, list[InPlaceWrite]]:
    out: dict[Spot, list[InPlaceWrite]] = {}
    for write in local.writes:
        if write.optional:
            out.setdefault(local.buffer(write.operand), []).append(write)
    return out


def output_hazards(scene: Scene) -> Iterator[Judgement]:
    """No buffer that an operation in flight writes is read or written by another before the operation is done."""
    through = _through(scene)
    for local, flight in scene.flights():
        buffers = {local.buffer(spot): spot for spot in (*flight.outputs, *flight.overwritten)}
        versions = {local.version.get(spot, spot) for spot in flight.outputs}
        problem, note = None, None
        for name, act, spot in _touching(local, buffers):
            if not (
                _during(scene, local, flight, name)
                or any(_crosses(through, local, flight, name, version) for version in versions)
                or (act == "reads" and _asks(scene, local, flight, name, spot))
            ):
                continue
            if act == "reads" and begins_the_next_turn(scene.context.chains, flight, name, spot, act):
                continue
            what = _spot(buffers[local.buffer(spot)])
            # What is read is what lay there before the operation began; a copy of that is all a compiler owes. To read
            # what is being written is wrong with any number of copies.
            older = local.version.get(spot, spot) not in versions
            if older and act == "reads" and not scene.shares:
                note = note or (
                    f"{NEEDS_COPY}: {name} reads {_spot(spot)}, whose buffer {flight.start.instruction} writes"
                )
                continue
            problem = (
                f"{name} (line {_line(local.computation, name)}) {act} {_spot(spot)}, the buffer that "
                f"{flight.start.instruction} is writing until it is done\n"
                + _order_text(scene, local, flight, name, f"{act} {_spot(spot)}", what)
            )
            break
        place, unknown = HloPosition(flight.computation, flight.opening), not_followed(scene, flight.start)
        unknown = unknown or _met_elsewhere(scene, through, local, flight, tuple(buffers.values()), ("reads", "writes"))
        unknown = unknown or _given_its_own(scene, local, flight, versions)
        yield judged("hazard-output", place, problem, unknown, note=note)


def _given_its_own(scene: Scene, local: LocalBuffers, flight: Flight, versions: set[Spot]) -> str | None:
    """What an update binds of the result that the operation itself is writing."""
    link = scene.context.chains.links.get(HloPosition(flight.computation, flight.opening))
    if link is None or link.role != "update":
        return None
    own = next((spot for spot in flight.operands if local.version.get(spot, spot) in versions), None)
    return None if own is None else f"when {flight.start.instruction} reads {_spot(own)}, which it writes itself"


def _touching(local: LocalBuffers, buffers: Iterable[Spot]) -> Iterator[tuple[str, str, Spot]]:
    """Who reads or writes one of the buffers, in the order of the text."""
    readers, makers = _by_buffer(local)
    found: list[tuple[int, str, str, Spot]] = []
    for buffer in buffers:
        found += [(local.order[name], name, "reads", spot) for name, spot in readers.get(buffer, ())]
        found += [(local.order[spot[0]], spot[0], "writes", spot) for spot in makers.get(buffer, ())]
    for _, name, act, spot in sorted(found):
        yield name, act, spot


def _met_elsewhere(
    scene: Scene, through: _Through, local: LocalBuffers, flight: Flight, spots: tuple[Spot, ...], acts: tuple[str, ...]
) -> str | None:
    """Who touches meanwhile what does not lie in the buffers that are in flight, and may lie there in some run, or in
    what is handed over by some caller."""
    if flight.from_the_beginning and flight.open_end:
        return None  # what crosses a computation is judged where that is called
    own = {local.buffer(spot) for spot in spots}
    near = {local.place(spot): spot for spot in spots}
    for name, act, spot in _touching(local, [b for b in _buffers_by_place(local, near) if b not in own]):
        if act not in acts:
            continue
        after = _goes_on(through, local, flight, name)
        meanwhile = (
            # What goes on behind a loop may be what a turn has begun, of what the operation before has made.
            any(spot not in (*f.operands, *f.outputs) for f in after)
            or _during(scene, local, flight, name)
            or (act == "reads" and _asks(scene, local, flight, name, spot))
        )
        # Only of results: acts that are looked for are reads, too.
        next_turn = "reads" in acts and begins_the_next_turn(scene.context.chains, flight, name, spot, act)
        if meanwhile and not next_turn:
            what = _spot(near[local.place(spot)])
            return f"whether {_spot(spot)}, which {name} {act} meanwhile, lies in the buffer of {what}"
    return None


def _buffers_by_place(local: LocalBuffers, places: Iterable[Spot]) -> list[Spot]:
    cached: dict[Spot, list[Spot]] | None = local.__dict__.get("_buffers_by_place")
    if cached is None:
        cached = local.__dict__["_buffers_by_place"] = {}
        for buffer in (*_by_buffer(local)[0], *local.versions_in):
            cached.setdefault(local.place(buffer), []).append(buffer)
    return [buffer for place in places for buffer in cached.get(place, ())]


_Index = tuple[dict[Spot, list[tuple[str, Spot]]], Mapping[Spot, tuple[Spot, ...]]]


def _by_buffer(local: LocalBuffers) -> _Index:
    cached: _Index | None = local.__dict__.get("_by_buffer")
    if cached is None:
        readers: dict[Spot, list[tuple[str, Spot]]] = {}
        for i in local.computation.instructions:
            for spot in local.reads(i.name):
                readers.setdefault(local.buffer(spot), []).append((i.name, spot))
        cached = local.__dict__["_by_buffer"] = (readers, local.versions_in)
    return cached


def overwrite_hazards(scene: Scene) -> Iterator[Judgement]:
    """Once copies are inserted no version is read after its buffer holds a later one, in any order that the module may
    run in; no two live versions of one instruction share a buffer."""
    if not scene.shares:
        return
    module = scene.context.chains.module
    yield from unknown_starts(scene, "hazard-overwrite")
    for local in scene.locals.values():
        yield from _joined_results(scene, local)
        yield from shared_arguments(local, lambda name: scene.orders(module.by_name[name]))
        readers, versions = _by_buffer(local)
        donated = {
            local.buffer((p.instruction, p.index))
            for _, p, _ in scene.buffers.declared_by_module()
            if local.computation.name == scene.buffers.module.entry_name
        }
        root = local.computation.root_name
        # What flies holds its operands: that they are read until it is done is told of its flight.
        held = scene.context.chains.is_held
        returned = (s for s in local.leaves(root) if not held(HloPosition(local.computation.name, *s)))
        live_out = {local.version.get(spot, spot) for spot in returned}
        needed = live_out.union(local.version.get(spot, spot) for reads in readers.values() for _, spot in reads)
        for buffer, found in versions.items():
            # A buffer with one version is never written over.
            if len(found) < 2:
                continue
            # The same check under two names: users who donate a buffer want to hear of that one.
            claim = "hazard-donation" if buffer in donated else "hazard-overwrite"
            uses = readers.get(buffer, [])
            in_entry = local.computation.name == scene.buffers.module.entry_name
            given = [version for version in found if in_entry and local.made(version) < 0]
            for version in found:
                problem = _overwritten(local, scene.orders(local.computation), version, found, needed, uses, live_out)
                if version in given[1:]:
                    problem = problem or f"{_spot(given[0])} and {_spot(version)} are two parameters in one buffer"
                yield judged(claim, HloPosition(local.computation.name, version[0]), problem)


def _joined_results(scene: Scene, local: LocalBuffers) -> Iterator[Judgement]:
    """Two parts of a conditional's result lie in one buffer in all branches or in none: a branch that returns one value
    for both makes them one buffer, into which another branch would write two."""
    for i in local.computation.instructions:
        if i.opcode == "while":
            yield from _joined_state(scene, local, i)
            yield from _joined_in_flight(scene, local, i)
        if i.opcode != "conditional":
            continue
        problem: str | None = None
        held: list[tuple[str, dict[tuple[int, ...], Spot]]] = []
        for name in branches(i):
            branch = scene.locals[name]
            root = branch.computation.root_name
            held.append((name, {at: branch.buffer((root, at)) for _, at in branch.leaves(root)}))
        for name, one in held:
            for other, two in held:
                for a, b in combinations(one, 2):
                    if one[a] == one[b] and two.get(a) != two.get(b):
                        problem = problem or (
                            f"{name} returns one buffer for {_spot((i.name, a))} and {_spot((i.name, b))}, into which "
                            f"{other} writes two values\n  mended by a copy of one of them in {name}"
                        )
        yield judged("hazard-overwrite", HloPosition(local.computation.name, i.name), problem)


def _joined_state(scene: Scene, local: LocalBuffers, loop: Instruction) -> Iterator[Judgement]:
    """Two parts of a loop's state that a turn leaves in one buffer lie in one at first, too, so they are one value."""
    body = scene.locals.get(called(loop, "body") or "")
    if body is None:
        return
    first: dict[Spot, ShapeIndex] = {}
    for root, at in body.leaves(body.computation.root_name):
        a = first.setdefault(body.buffer((root, at)), at)
        if a != at and not local.one_part(loop, a, at):
            problem = (
                f"a turn of {body.computation.name} leaves {_spot((loop.name, a))} and {_spot((loop.name, at))} in one "
                "buffer, and they are two values at first or after another turn\n  mended by a copy of one of them"
            )
            yield judged("hazard-overwrite", HloPosition(local.computation.name, loop.name), problem)
            return


def _joined_in_flight(scene: Scene, local: LocalBuffers, loop: Instruction) -> Iterator[Judgement]:
    """Two parts of a loop's state that lie in one buffer and are made anew by its turns are two values in it. Of what a
    state in flight holds nobody else is a reader, but the operation is."""
    chains, place = scene.context.chains, HloPosition(local.computation.name, loop.name)
    arrived = (p for start in chains.of_role("start") for p in chains.arrivals(start))
    states = {p.index for p in arrived if (p.computation, p.instruction) == (place.computation, place.instruction)}

    def flies(at: ShapeIndex) -> tuple[ShapeIndex | None, bool]:
        """The state that a part belongs to, and whether that holds it as an operand."""
        state = next((at[:n] for n in range(len(at) + 1) if at[:n] in states), None)
        return state, chains.is_held(replace(place, index=at))

    first: dict[Spot, ShapeIndex] = {}
    for spot in local.leaves(loop.name) if states else ():
        if local.version[spot] != spot:
            continue
        a, b = first.setdefault(local.buffer(spot), spot[1]), spot[1]
        (one, held), (other, also) = flies(a), flies(b)
        # Where an operation writes what it is given, its state holds that and the result in one buffer rightly.
        if a != b and (one, other) != (None, None) and not (one == other and held != also):
            both = f"{_spot((loop.name, a))} and {_spot((loop.name, b))}"
            problem = (
                f"{both} lie in one buffer, and a turn makes two values of them, of which one is in flight\n"
                "  mended by a copy of one of them before the loop"
            )
            yield judged("hazard-overwrite", place, problem)
            return


def _overwritten(
    local: LocalBuffers,
    orders: Orders,
    version: Spot,
    found: tuple[Spot, ...],
    needed: set[Spot],
    reads: list[tuple[str, Spot]],
    live_out: set[Spot],
) -> str | None:
    """What is wrong with a version that is needed after its buffer holds another of `found`. All are in one buffer, and
    `needed` are those that somebody reads."""
    computation, made = local.computation, local.made(version)
    # The last one first, which shows most.
    uses = [name for name, spot in reversed(reads) if local.version.get(spot, spot) == version]
    if not uses and version not in live_out:
        return None
    opening = None if made < 0 else version[0]
    for other in found:
        # Two parts of one result, made at one time: said once, at the first of those that are needed. What nobody needs
        # is written all the same. Two parameters that lie in one buffer are judged where they are handed over.
        # What flies holds as an operand is no array beside its result.
        held = local.buffers.chains.is_held(HloPosition(computation.name, *other))
        written = other != version and other[1][:1] != (UNSEEN,) and not held
        if 0 <= made == local.made(other) and (other > version if other in needed else written):
            return f"{_spot(version)} and {_spot(other)} lie in one buffer, and both are made there"
        # Parameters are there before anything runs.
        if local.made(other) < 0 or not orders.between(opening, other[0], ()):
            continue
        # The caller reads what is returned, after everything.
        reader = computation.root_name
        if version in live_out:
            why = f"is part of the result of {computation.name}"
        else:
            own = begun(local, computation.name, other[0])
            others = (name for name in uses if own.isdisjoint(begun(local, computation.name, name)))
            late = next((name for name in others if orders.between(opening, other[0], (name,))), None)
            if late is None:
                continue
            reader, why = late, f"is read by {late} (line {_line(computation, late)}) afterwards"
        marks = {version[0]: f"makes {_spot(version)}", other[0]: "writes the same buffer"}
        if reader not in marks:
            marks[reader] = f"needs {_spot(version)}"
        order = orders.witness(opening, other[0])
        return (
            f"{other[0]} (line {_line(computation, other[0])}) overwrites {_spot(version)}, which {why}\n"
            + timeline(computation, order, marks)
            + f"\n  mended by a copy of {_spot(version)}"
        )
    return None
