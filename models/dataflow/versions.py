"""Buffers of one computation: versions of values, the buffers they share, who reads and who writes them, and when.

A *version* is what a buffer holds between two writes. A place forwards the version of another place, or makes one: in
a buffer of its own, or in place, in the buffer of an operand. Two modes say what shares:

* `shares`: copies have been inserted: updates in place, loops, branches and the aliases of the module share buffers;
* otherwise only what shares in every compilation: positions of asynchronous operations and declared aliasing of opaque
  calls. Updates in place are remembered as `optional`: copy insertion keeps them apart where they would collide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final

from hloproof.models.dataflow.accesses import UNSEEN, Access, InPlaceWrite, OneBuffer, Spot, Summary
from hloproof.models.dataflow.alias_classes import Buffers, shape_at
from hloproof.models.dataflow.async_chain import link_of
from hloproof.models.dataflow.callees import Callees
from hloproof.models.dataflow.equal_parts import EqualParts, equal_parts
from hloproof.models.dataflow.updates import Updates
from hloproof.models.dataflow.value_flow import HloPosition, called, only_asks
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import HANDS_ON, IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, BufferShape, ShapeIndex, TupleShape

PASS_ON: Final = HANDS_ON | {
    "tuple",
    "get-tuple-element",
    "bitcast",
    "add-dependency",
    "after-all",
    "parameter",
    "get-dimension-size",
}
"""Instructions that touch no element of their operands."""
_ALL: Final = 1 << 60
"""More operands than there are."""
SurelyTurns = Callable[[Computation, Instruction], bool]
"""Whether a loop in a computation is known to take a turn."""


class LocalBuffers:
    """The versions and buffers of one computation."""

    def __init__(
        self,
        buffers: Buffers,
        computation: Computation,
        summaries: Mapping[str, Summary],
        shares: bool,
        equal: EqualParts,
        turns: SurelyTurns,
    ) -> None:
        self.buffers, self.computation, self.shares, self.equal = buffers, computation, shares, equal
        self.module, self.summaries = buffers.module, summaries
        self.order = {i.name: n for n, i in enumerate(computation.instructions)}
        self.version: dict[Spot, Spot] = {}
        """Where the version that stands at a spot was made."""
        self.writes: list[InPlaceWrite] = []
        self.callees = Callees(buffers, computation, summaries)
        self.updates = Updates(self.callees, self.version)
        self._parent: dict[Spot, Spot] = {}
        self._places: dict[Spot, Spot] = {}
        numbered = {p.parameter_number or 0: p.name for p in computation.parameters}
        self._equal: dict[Spot, Spot] = {
            (numbered[k], at): (numbered[n], first)
            for (k, at), (n, first) in equal.first.get(computation.name, {}).items()
        }
        self._reads: dict[str, list[Spot]] = {}
        for i in computation.instructions:
            self._add(i)
        self._read_what_a_loop_asks()
        self._read_what_loops_start_with(turns)
        self._share_the_state_of_loops()
        if shares:
            self._share_what_the_module_declares()

    # -- versions and buffers ---------------------------------------------------------------------------------------

    def leaves(self, name: str) -> list[Spot]:
        """The parts of a result that have elements."""
        return self.callees.leaves(name)

    def buffer(self, spot: Spot) -> Spot:
        """The name of the buffer at a spot: the same for all that share it."""
        return self._root(self._parent, spot)

    def place(self, spot: Spot) -> Spot:
        """The same for all that share a buffer, or may do so by what is run here, or runs this."""
        return self._root(self._places, spot)

    def _root(self, parent: dict[Spot, Spot], spot: Spot) -> Spot:
        root = spot = self.version.get(spot, spot)
        while (above := parent.get(root, root)) != root:
            root = above
        while spot != root:
            above = parent.get(spot, spot)
            parent[spot] = root
            spot = above
        return root

    def _share(self, a: Spot, b: Spot) -> None:
        one, other = self.buffer(a), self.buffer(b)
        if one != other:
            self._parent[other] = one
        self._may_share(a, b)

    def _may_share(self, a: Spot, b: Spot) -> None:
        one, other = self.place(a), self.place(b)
        if one != other:
            self._places[other] = one

    def _add(self, i: Instruction) -> None:
        sources = self.buffers.sources
        in_place = self.updates.in_place(i)
        for spot in self.leaves(i.name):
            twin = self._same_part_of_a_state(i, spot) or self._same_part_of_a_result(spot)
            if twin is not None:
                self.version[spot] = self.version[twin]
                continue
            written = in_place.get(spot[1])
            if written is not None:
                self._write(i, spot, *written)
                self._share_with_branches(i, spot)
                continue
            # Before what the link before had: of a result that was bound earlier an update may tell where it lies.
            kept = self._passed_on(i, spot)
            if kept is None and i.opcode not in IN_STEPS | {"parameter"}:
                local = [
                    s
                    for s in sources.get(HloPosition(self.computation.name, *spot), ())
                    if s.computation == self.computation.name
                ]
                # Where several values may arrive, as in a loop's state, the place holds a version of its own.
                kept = (local[0].instruction, local[0].index) if len(local) == 1 else None
            kept = kept or self._written_since_it_was_bound(i, spot)
            flew = [] if kept is not None else [f for f in self.where_it_flew(i, spot) if f[0] in self.version]
            if flew:
                # It lies there, though what was bound elsewhere is no version here.
                for there, optional in flew:
                    self._write(i, spot, there, optional)
                continue
            self.version[spot] = self.version.get(kept, kept) if kept is not None else self._equal.get(spot, spot)
            if kept is None:
                self._share_with_branches(i, spot)
        for operand, number, optional in self.updates.unseen(i, in_place):
            self._write(i, (i.name, (UNSEEN, number, *operand[1])), operand, optional)
        self._reads[i.name] = self._read_by(i)
        # Before copies are inserted a choice puts nothing together: what it gives is either, or a copy of that.
        if self.shares or i.opcode != "conditional":
            self._share_what_lies_together(i)

    def _write(self, i: Instruction, spot: Spot, operand: Spot, optional: bool) -> None:
        """A version that is made in the buffer of an operand."""
        self.version[spot] = spot
        self.writes.append(InPlaceWrite(i.name, spot, operand, optional))
        if self._is_written_there(operand, optional):
            self._share(operand, spot)

    def _is_written_there(self, operand: Spot, optional: bool) -> bool:
        """Whether no copy comes between an operand and what is written in its buffer."""
        # Constants lie in memory of their own, which nothing overwrites: a copy stands between, written or not.
        # Without a schedule an update in place shares nothing yet: copy insertion may still keep the two apart.
        return not optional or (self.shares and not self._is_constant(operand))

    def _results_in_flight(self, i: Instruction, spot: Spot) -> Iterator[tuple[HloPosition, int, ShapeIndex, bool]]:
        """For a part of the result of what flies, as an update or the end has it: the starts, each with the number of
        the operand in whose buffer it is written, the part of that, and whether a copy may come between."""
        link, at = link_of(i.opcode), spot[1]
        if link is None or link.role == "start" or link.form == "explicit":
            return
        if link.role == "update":
            if at[:1] != (1,):
                return
            at = at[1:]
        before = shape_at(self.computation.by_name[i.operands[0]].shape, (1, *at))
        if isinstance(before, ArrayShape | BufferShape) and link.form != "sugared":
            return  # what a computation gives lies where it gives it
        for start in sorted(self.buffers.chains.starts[HloPosition(self.computation.name, i.name)]):
            for number, index, optional, output in self.updates.effects(start):
                if output is not None and at[: len(output)] == output:
                    yield start, number, (*index, *at[len(output) :]), optional

    def _written_since_it_was_bound(self, i: Instruction, spot: Spot) -> Spot | None:
        """The version that an operation makes where an operand lies, since that was bound, is the result, though this
        is bound later: here."""
        found = list(self._results_in_flight(i, spot))
        if len(found) != 1:
            return None
        chains, (start, number, index, _) = self.buffers.chains, found[0]
        bound = [place for n, place in chains.binds(start) if n == number]
        if len(bound) != 1 or bound[0].computation != self.computation.name:
            return None
        beside = {p.instruction for p in (start, *chains.members[start]) if p.computation == self.computation.name}
        there = [w for w in self.writes if w.writer in beside and w.operand == (bound[0].instruction, index)]
        made = [w.result for w in there if w.result[1][:1] == (UNSEEN,)]
        # Of two results that are written there each is an array of its own.
        taken = {self.version.get(other) for other in self.leaves(i.name)}
        return made[0] if len(made) == 1 and made[0] not in taken else None

    def lies_with_operands(self, start: HloPosition) -> bool:
        """Whether an operation in flight writes what it is given, or hands that back."""
        summary = self.summaries.get(self.buffers.chains.runs(self.computation.by_name[start.instruction]) or "")
        return self.writes_operands(start) or bool(summary and summary.passes)

    def writes_operands(self, start: HloPosition) -> bool:
        """Whether an operation in flight writes what it is given, in the buffers that its state holds."""
        return any(True for _ in self.updates.effects(start))

    def where_it_flew(self, i: Instruction, spot: Spot) -> Iterator[tuple[Spot, bool]]:
        """The operands, as the state holds them, in whose buffers what flies may write a part of its result, and
        whether a copy may come between."""
        held = shape_at(self.computation.by_name[i.operands[0]].shape, (0,)) if i.operands else None
        for _, number, index, optional in self._results_in_flight(i, spot):
            # Older text has one operand there without its parentheses.
            yield (i.operands[0], (0, number, *index) if isinstance(held, TupleShape) else (0, *index)), optional

    def _share_with_branches(self, i: Instruction, spot: Spot) -> None:
        """What a conditional gives lies where its branches leave it, each of them: one that hands an operand on,
        written or not, leaves it in that operand's buffer, and nothing copies it from there."""
        if i.opcode != "conditional" or not self.shares:
            return
        for body, operands, at in self.callees.handing_back(spot):
            handed = self.callees.handed(body, operands, at)
            if handed is not None and handed in self.version:
                self._share(handed, spot)
                # Who calls this computation has to know, too, whose buffer is overwritten and handed back.
                self.writes.append(InPlaceWrite(i.name, spot, handed, optional=True))

    def _handed_over(self, i: Instruction) -> list[tuple[str, list[Spot]]]:
        """What an instruction runs, each with where its parameters lie. Of what flies the end tells, as all is bound by
        then."""
        link = link_of(i.opcode)
        if i.opcode in IN_STEPS:
            return [(body, [(o, ()) for o in operands]) for body, operands in self.callees.bodies(i)]
        ends = link is not None and link.role == "done"
        return [(body, operands) for body, operands, _ in self.callees.handing_back((i.name, ()))] if ends else []

    def _share_what_lies_together(self, i: Instruction) -> None:
        """What may lie in one buffer in what an instruction runs may do so where it is handed over and given back."""
        for body, operands in self._handed_over(i):
            if (summary := self.summaries.get(body)) is None:
                continue
            for one in (*summary.together, *summary.shared):
                share = self._share if one in summary.shared else self._may_share
                given = [(operands[number], at) for number, at in one.parts if number < len(operands)]
                spots = [(name, (*before, *at)) for (name, before), at in given]
                results = [(i.name, at) for at in one.results if (i.name, at) in self.version]
                if link_of(i.opcode) is not None and not self.shares:
                    # What flies may be given a copy of what it writes.
                    results = [s for s in results if not summary.is_written(summary.passes.get(s[1]))]
                # A result that is bound before all these operands lies elsewhere: a copy comes between.
                first = min((number for number, _ in one.parts), default=0)
                early = [spot for spot in results if self._bound_by(self.version[spot][0]) <= first]
                for group in (spots + [spot for spot in results if spot not in early], early):
                    # Constants lie in memory of their own: a copy stands between.
                    found = [s for s in group if s in self.version and not self._is_constant(s)]
                    for spot in found[1:]:
                        share(found[0], spot)

    def _bound_by(self, name: str) -> int:
        """How many operands are bound when an instruction is done, which others bind the rest of."""
        i = self.computation.by_name[name]
        link = link_of(i.opcode)
        if link is None or link.role == "done":
            return _ALL
        if link.role == "start":
            return len(i.operands)
        return self.buffers.chains.bound_before(HloPosition(self.computation.name, name)) + len(i.operands) - 1

    def _is_constant(self, spot: Spot) -> bool:
        return self.computation.by_name[self.version.get(spot, spot)[0]].opcode == "constant"

    def share_with_callees(self, others: Mapping[str, LocalBuffers]) -> None:
        """Where what a call, a conditional or an operation in flight makes lies in the buffer of an operand, so it does
        inside: what is returned is written into the buffer of that parameter."""
        for spot, version in self.version.items():
            i = self.computation.by_name[spot[0]]
            if spot != version or spot[1][:1] == (UNSEEN,) or i.opcode == "while":
                continue
            for body, operands, at in self.callees.handing_back(spot):
                inner = others.get(body)
                for p in inner.computation.parameters if inner is not None else ():
                    number = p.parameter_number or 0
                    name, index = operands[number] if number < len(operands) else (i.name, (UNSEEN,))
                    for given in self.leaves(name):
                        inside = given[1][: len(index)] == index and self.buffer(given) == self.buffer(spot)
                        if inner is not None and inside:
                            inner._share((p.name, given[1][len(index) :]), (inner.computation.root_name, at))
        for i in self.computation.instructions:
            for body, operands in self._handed_over(i):
                if (inner := others.get(body)) is not None:
                    self._share_inside(inner, operands, i)
                    turn = others.get(called(i, "body") or "") if i.opcode == "while" else None
                    if turn is not None and not self.shares:
                        inner._begin_as_turns_end(turn)

    def _share_inside(self, inner: LocalBuffers, operands: Sequence[Spot], i: Instruction) -> None:
        """What may lie in one buffer may do so in what is handed it, or gives it back, at several places: one version
        that is handed over twice as well, as what is made there in place of the one lies with the other."""
        outside: list[tuple[Spot, Spot]] = []
        for p in inner.computation.parameters:
            number = p.parameter_number or 0
            name, index = operands[number] if number < len(operands) else ("", ())
            held = self.leaves(name) if name else []
            outside += [(s, (p.name, s[1][len(index) :])) for s in held if s[1][: len(index)] == index]
        if i.opcode != "while" or inner.computation.name == called(i, "body"):
            outside += [(s, (inner.computation.root_name, s[1])) for s in self.leaves(i.name)]
        first: dict[Spot, Spot] = {}
        for spot, own in outside:
            inner._may_share(first.setdefault(self.place(spot), own), own)
        if not self.shares and any(not write.optional for write in inner.writes):
            places = [(HloPosition(self.computation.name, *spot), own) for spot, own in outside if spot[0] != i.name]
            for (a, one), (b, other) in combinations(places, 2):
                if inner.place(one) != inner.place(other) and self.equal.may_be_one(a, b, through=False):
                    inner._may_share(one, other)

    def one_part(self, loop: Instruction, a: ShapeIndex, b: ShapeIndex) -> bool:
        """Both parts of a loop's state hold one value at first and after every turn."""
        held = [self.version.get((loop.operands[0], at), (loop.operands[0], at)) for at in (a, b)]
        return held[0] == held[1] and self.equal.same(called(loop, "body") or "", (0, a), (0, b))

    def _same_part_of_a_state(self, i: Instruction, spot: Spot) -> Spot | None:
        """An earlier part of a loop's result that is one with this one."""
        if i.opcode != "while" or (0, spot[1]) not in self.equal.first.get(called(i, "body") or "", {}):
            return None
        earlier = ((i.name, at) for name, at in self.leaves(i.name) if at < spot[1])
        return next((e for e in earlier if self.version.get(e) == e and self.one_part(i, e[1], spot[1])), None)

    def _same_part_of_a_result(self, spot: Spot) -> Spot | None:
        """An earlier part of what a call, a branch or an operation in flight returns that is the same array."""
        name, index = spot
        backs = () if self.computation.by_name[name].opcode == "while" else self.callees.handing_back(spot)
        ones = [self.summaries[body].one if body in self.summaries else {} for body, _, _ in backs]
        if not backs or any(at not in one for one, (_, _, at) in zip(ones, backs, strict=True)):
            return None
        at = backs[0][2]
        before = index[: len(index) - len(at)]
        # One array in every body, whichever further parts of its result are that array, too.
        for _, earlier in self.leaves(name):
            inside = earlier[len(before) :]
            one_array = earlier < index and all(one.get(inside, inside) == one[at] for one in ones)
            if one_array and earlier[: len(before)] == before:
                return name, earlier
        return None

    def _passed_on(self, i: Instruction, spot: Spot) -> Spot | None:
        """The spot whose version a body hands back untouched."""
        found: set[Spot] = set()
        for body, operands, at in self.callees.handing_back(spot):
            handed = self.callees.handed(body, operands, at)
            if handed is None:
                return None
            # What an operation in flight has written is no longer what it was given.
            summary = self.summaries[body]
            if summary.is_written(summary.passes[at]) and i.opcode not in IN_STEPS:
                return None
            found.add(self.version.get(handed, handed))
        # All branches must hand back the same version; which of them runs is not known.
        return found.pop() if len(found) == 1 else None

    def _read_by(self, i: Instruction) -> list[Spot]:
        """The parts of operands whose elements the instruction, or a body that it runs, reads."""
        link = link_of(i.opcode)
        if (i.opcode in PASS_ON and not self._reads_a_size(i)) or (link is not None and link.role == "done"):
            return []
        # Of a tuple the copy takes the table of pointers only, and reads no element.
        if i.opcode == "copy" and not isinstance(i.shape, ArrayShape | BufferShape):
            return []
        # The first operand is the chain itself; what is bound here are the others.
        if link is not None and link.role == "update":
            return [spot for name in i.operands[1:] for spot in self.leaves(name)]
        if link is not None and link.role == "start" and (body := self.buffers.chains.runs(i)) in self.summaries:
            touched = self.summaries[body or ""].accesses.items()
            parts = [(n, at) for (n, at), access in touched if access.reader and n < len(i.operands)]
            return [(i.operands[n], at) for n, at in parts]
        if i.opcode in IN_STEPS:
            out: list[Spot] = []
            for body, operands in self.callees.bodies(i):
                summary = self.summaries.get(body)
                for (number, index), access in summary.accesses.items() if summary else ():
                    if number < len(operands) and access.reader:
                        out.append((operands[number], index))
                if summary is None or only_asks(i, body):
                    continue
                # What a body hands on unchanged into a buffer of its own is copied there.
                out += [
                    (operands[number], index)
                    for at, (number, index) in summary.passes.items()
                    if at in summary.unchanged
                    and number < len(operands)
                    and self.version.get((i.name, at)) == (i.name, at)
                ]
            if i.opcode == "conditional":
                out += self.leaves(i.operands[0])
            return out
        return [spot for name in dict.fromkeys(i.operands) for spot in self.leaves(name)]

    def _reads_a_size(self, i: Instruction) -> bool:
        """What is known at run time alone lies beside the elements, and is written with them."""
        shape = self.computation.by_name[i.operands[0]].shape if i.operands else None
        return i.opcode == "get-dimension-size" and isinstance(shape, ArrayShape) and shape.is_dynamic

    def reads(self, name: str) -> list[Spot]:
        return self._reads[name]

    def _read_what_a_loop_asks(self) -> None:
        """Whoever hands on the root of a condition touches no element; the loop reads it."""
        callers = self.buffers.chains.flow.callers[self.computation.name]
        if any(c.opcode == "while" and called(c, "condition") == self.computation.name for _, c in callers):
            root = self.computation.root_name
            self._reads[root] = [*self._reads[root], *self.leaves(root)]

    def _read_what_loops_start_with(self, turns: SurelyTurns) -> None:
        """A loop that may end before its first turn gives what it was given: of parts of its result that are needed it
        needs those of its operand, though no body reads them."""
        needed = {self.version.get(spot, spot) for spot in self.leaves(self.computation.root_name)}
        for i in reversed(self.computation.instructions):
            if i.opcode == "while":
                replaced = [s for s in self.leaves(i.name) if self.version[s] == s and s in needed]
                if replaced and not turns(self.computation, i):
                    self._reads[i.name] += [(i.operands[0], at) for _, at in replaced]
            needed.update(self.version.get(spot, spot) for spot in self._reads[i.name])

    def _share_the_state_of_loops(self) -> None:
        """In a loop's body each part of the root lies in the buffer of the same part of the parameter."""
        if not any(
            c.opcode == "while" and called(c, "body") == self.computation.name
            for _, c in self.buffers.chains.flow.callers[self.computation.name]
        ):
            return
        # XLA's alias analysis puts the initial state, the parameters of body and condition, the body's root and the
        # result into one buffer; copy insertion has made room where values would collide.
        parameter, root = self.computation.parameters[0].name, self.computation.root_name
        if not self.shares:
            self._begin_as_turns_end(self)
            return
        for name, at in self.leaves(root):
            if (parameter, at) in self.version:
                self._share((parameter, at), (name, at))

    def _begin_as_turns_end(self, turn: LocalBuffers) -> None:
        """What lies together at the end of a turn does so at the beginning of the next one, and where that is asked
        for."""
        parameter, root = self.computation.parameters[0].name, turn.computation.root_name
        parts = [at for _, at in turn.leaves(root) if (parameter, at) in self.version]
        places, before = len(parts), 0
        # One turn after the other, until no further parts do.
        while places != before:
            first: dict[Spot, ShapeIndex] = {}
            for at in parts:
                self._may_share((parameter, first.setdefault(turn.place((root, at)), at)), (parameter, at))
            places, before = len({self.place((parameter, at)) for at in parts}), places

    def _share_what_the_module_declares(self) -> None:
        if self.computation.name != self.module.entry_name:
            return
        # may-alias leaves the caller free to keep its parameter; compilers assign one buffer to both all the same. Of
        # a tuple that is the buffer of its table: what lies in it is named by indices of its own.
        for output, parameter, _ in self.buffers.declared_by_module():
            source, result = (parameter.instruction, parameter.index), (output.instruction, output.index)
            if source in self.version and result in self.leaves(output.instruction):
                self._share(source, result)

    # -- by buffer --------------------------------------------------------------------------------------------------

    @cached_property
    def versions_in(self) -> Mapping[Spot, tuple[Spot, ...]]:
        """For each buffer the versions it holds over time, in the order of the text."""
        out: dict[Spot, list[Spot]] = {}
        for spot in self.version:
            if self.version[spot] == spot:
                out.setdefault(self.buffer(spot), []).append(spot)
        return {buffer: tuple(found) for buffer, found in out.items()}

    def made(self, version: Spot) -> int:
        """When a version is written: the position of its instruction, -1 for a parameter."""
        i = self.computation.by_name[version[0]]
        return -1 if i.opcode == "parameter" else self.order[version[0]]

    def summary(self) -> Summary:
        """What callers need to know of this computation."""
        parameters = {p.name: p.parameter_number or 0 for p in self.computation.parameters}
        held: dict[Spot, list[Spot]] = {}
        for spot, version in self.version.items():
            if spot == version and spot[0] in parameters:
                held.setdefault(spot, []).append(spot)
        read: dict[tuple[int, ShapeIndex], dict[str, None]] = {}
        written: dict[tuple[int, ShapeIndex], dict[str, None]] = {}
        origin: dict[Spot, Spot] = {spot: spot for spot in held}
        for write in self.writes:  # in the order of the text: an operand's origin is known
            if write.optional and not self.shares:
                continue
            source = origin.get(self.version.get(write.operand, write.operand))
            if source is not None:
                origin[write.result] = source
                key = (parameters[source[0]], source[1])
                written.setdefault(key, {})[write.writer] = None
        for i in self.computation.instructions:
            for spot in self._reads[i.name]:
                source = origin.get(self.version.get(spot, spot))
                if source is not None:
                    key = (parameters[source[0]], source[1])
                    read.setdefault(key, {})[i.name] = None
        passes: dict[ShapeIndex, tuple[int, ShapeIndex]] = {}
        for name, at in self.leaves(self.computation.root_name):
            source = origin.get(self.version.get((name, at), (name, at)))
            if source is not None:
                passes[at] = (parameters[source[0]], source[1])
        first: dict[Spot, ShapeIndex] = {}
        ends = {at: self.version.get((name, at), (name, at)) for name, at in self.leaves(self.computation.root_name)}
        unchanged = frozenset(at for at, version in ends.items() if version in held)
        one = {at: first[v] for at, v in ends.items() if first.setdefault(v, at) != at}
        keys = dict.fromkeys((*written, *read))
        accesses = {key: Access(tuple(read.get(key, ())), tuple(written.get(key, ()))) for key in keys}

        def grouped(of: Callable[[Spot], Spot]) -> tuple[OneBuffer, ...]:
            there: dict[Spot, tuple[list[tuple[int, ShapeIndex]], list[ShapeIndex]]] = {}
            for name, at in held:
                there.setdefault(of((name, at)), ([], []))[0].append((parameters[name], at))
            for at, version in ends.items():
                there.setdefault(of(version), ([], []))[1].append(at)
            return tuple(OneBuffer(tuple(p), tuple(r)) for p, r in there.values() if len(p) + len(r) > 1)

        several = tuple(one for one in grouped(self.buffer) if len(one.parts) > 1)

        return Summary(accesses, passes, unchanged, one, grouped(self.place), several)


def local_buffers(
    buffers: Buffers, shares: bool, turns: SurelyTurns = lambda _computation, _loop: False
) -> dict[str, LocalBuffers]:
    """For every computation that runs instruction by instruction (neither fused nor per element), callees first.
    `turns` tells the loops that are known to take a turn."""
    module = buffers.module
    wanted: dict[str, None] = {}
    entered: set[str] = set()
    stack = [(module.entry_name, False)]
    while stack:
        name, leaving = stack.pop()
        if leaving:
            wanted.setdefault(name)
            continue
        # What ends an operation may be called by what that operation runs. Such a circle is cut: several call what ends
        # there, so that nothing is proved of what is not known.
        if name in wanted or name in entered or name not in module.by_name:
            continue
        entered.add(name)
        # Met again when all its callees are done: their summaries are needed first.
        stack.append((name, True))
        for i in module.by_name[name].instructions:
            here = HloPosition(name, i.name)
            begun = (here, *sorted(buffers.chains.starts.get(here, ())))
            runs = tuple(buffers.chains.runs(buffers.chains.flow.instruction(start)) or "" for start in begun)
            callees = i.attributes.computations() if i.opcode in IN_STEPS else runs
            stack.extend((callee, False) for callee in callees if callee not in wanted)
    out: dict[str, LocalBuffers] = {}
    summaries: dict[str, Summary] = {}
    equal = equal_parts(buffers, tuple(wanted))
    for name in wanted:
        out[name] = LocalBuffers(buffers, module.by_name[name], summaries, shares, equal, turns)
        summaries[name] = out[name].summary()
    for name in reversed(wanted):  # callers before what they call
        out[name].share_with_callees(out)
    return out
