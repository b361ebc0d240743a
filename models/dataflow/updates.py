"""What instructions write in place: the buffers of operands in which their results lie, and what no result shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from hloproof.models.dataflow.accesses import Spot, Summary
from hloproof.models.dataflow.alias_classes import positions, shape_at
from hloproof.models.dataflow.async_chain import declared_aliases, link_of
from hloproof.models.dataflow.callees import Callees
from hloproof.models.dataflow.in_place import Pair, fused_in_place, in_place_operand
from hloproof.models.dataflow.value_flow import HloPosition, only_asks
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, BufferShape, ShapeIndex

ReplacedParts = dict[ShapeIndex, tuple[Spot, bool]]
"""For parts of a result that are written into an operand's buffer: that operand's part, and whether a copy may come
between."""


class Effect(NamedTuple):
    """An operand, or a part of one, that an operation in flight writes."""

    number: int
    part: ShapeIndex
    optional: bool
    """Whether a copy may come between."""
    output: ShapeIndex | None
    """The part of the result that is written there, where the operation itself tells."""


class Updates:
    """Of the instructions of one computation, in the order of the text: `version` tells of those before where the
    version at a spot was made."""

    def __init__(self, callees: Callees, version: Mapping[Spot, Spot]) -> None:
        self._callees, self._version = callees, version
        self._computation, self._summaries = callees.computation, callees.summaries
        self._chains, self._module = callees.buffers.chains, callees.buffers.module

    def in_place(self, i: Instruction) -> ReplacedParts:
        """For parts of the result that are written into an operand's buffer: that operand's part, and whether a copy
        may come between."""
        out: ReplacedParts = {}

        def pair(output: ShapeIndex, operand: str, index: ShapeIndex, optional: bool) -> None:
            shape = shape_at(i.shape, output)
            source = shape_at(self._computation.by_name[operand].shape, index)
            if shape is None or source is None:
                return
            for at in positions(shape):
                if isinstance(shape_at(shape, at), ArrayShape | BufferShape) and shape_at(source, at) is not None:
                    # What is declared goes before what a compiler may do.
                    out.setdefault((*output, *at), ((operand, (*index, *at)), optional))

        is_link = link_of(i.opcode) is not None
        for entry in declared_aliases(i):
            if 0 <= entry.operand < len(i.operands):
                if is_link and entry.output_index[:1] == (0,):
                    continue  # the operands themselves
                pair(entry.output_index, i.operands[entry.operand], entry.operand_index, False)
        if i.opcode != "sort":
            for output, n, index in in_place_operand(i) + fused_in_place(self._module, i):
                pair(output, i.operands[n], index, True)
        if i.opcode in IN_STEPS:
            self._through_bodies(i, out)
        link = link_of(i.opcode)
        if link is not None and link.role == "start" and link.form != "explicit":
            for output, number, index in self._in_flight_in_place(i, link.opcode):
                if number < len(i.operands):
                    pair(output, i.operands[number], index, True)
        if link is not None and link.role == "update" and link.form == "sugared" and len(self._starts(i)) == 1:
            for effect in self._bound_here(i):
                if effect.output is not None:
                    pair((1, *effect.output), i.operands[effect.number], effect.part, effect.optional)
        return out

    def unseen(self, i: Instruction, in_place: ReplacedParts) -> list[tuple[Spot, int, bool]]:
        """Parts of operands that a body writes in place and does not hand back, each with the operand's number and
        whether a copy may come between. Nothing of the result tells of such a write."""
        handed_back = {operand for operand, _ in in_place.values()}
        found: dict[tuple[Spot, int, bool], None] = {}
        for body, operands in self._callees.bodies(i):
            summary = self._summaries.get(body)
            for (number, index), access in summary.accesses.items() if summary is not None else ():
                if access.writer is not None and number < len(operands):
                    found[(operands[number], index), i.operands.index(operands[number]), i.opcode != "call"] = None
        found.update(dict.fromkeys(self._written_in_flight(i)))
        return [(spot, number, optional) for spot, number, optional in found if spot not in handed_back]

    def _through_bodies(self, i: Instruction, out: ReplacedParts) -> None:
        """Parts of a result that a body hands back in the buffer of its argument after writing it."""
        for body, operands in self._callees.bodies(i):
            summary = self._summaries.get(body)
            if summary is None or only_asks(i, body):
                continue
            for at in positions(i.shape):
                if not isinstance(shape_at(i.shape, at), ArrayShape | BufferShape):
                    continue
                origin = summary.passes.get(at)
                # A part that each turn hands on as it got it is never replaced.
                if i.opcode == "while" and origin != (0, at):
                    if self._one_value_goes_round(operands[0], at, summary):
                        continue
                    out[at] = ((operands[0], at), True)  # the state is replaced, in the buffer of the state before
                elif origin is not None and origin[0] < len(operands) and summary.is_written(origin):
                    out[at] = ((operands[origin[0]], origin[1]), i.opcode != "call")

    def _one_value_goes_round(self, state: str, at: ShapeIndex, summary: Summary) -> bool:
        """However often a loop turns, this part of its state holds what it held at first: the parts that the body takes
        it from, one turn after the other, all began as the same version. What is written there all the same is told as
        a write that no result shows."""
        first = self._version.get((state, at), (state, at))
        seen = {at}
        while True:
            origin = summary.passes.get(at)
            if origin is None or origin[0] != 0 or self._version.get((state, origin[1]), (state, origin[1])) != first:
                return False
            at = origin[1]
            if at in seen:
                return True
            seen.add(at)

    def _in_flight_in_place(self, i: Instruction, wrapped: str) -> list[Pair]:
        """Results that an operation in flight writes into the buffers of its operands."""
        inside = replace(i, opcode=wrapped, shape=shape_at(i.shape, (1,)) or i.shape)
        pairs = in_place_operand(inside) + fused_in_place(self._module, inside) if wrapped != "sort" else ()
        found = [((1, *output), n, index) for output, n, index in pairs]
        for body, _ in self._callees.bodies(i):
            summary = self._summaries.get(body)
            if summary is not None:
                found += [((1, *at), *origin) for at, origin in summary.passes.items() if summary.is_written(origin)]
        return found

    def _written_in_flight(self, i: Instruction) -> Iterator[tuple[Spot, int, bool]]:
        """Parts of the operands that a start or update binds, and that the operation in flight writes. Its result may
        be bound later, so that no part of this instruction's tells of it."""
        for number, part, optional, _ in self._bound_here(i):
            name = i.operands[number]
            for spot in self._callees.leaves(name):
                if spot[1][: len(part)] == part:
                    yield spot, i.operands.index(name), optional

    def _bound_here(self, i: Instruction) -> Iterator[Effect]:
        """What an operation in flight does to the operands that a start or update binds, numbered as those of this."""
        link, chains, here = link_of(i.opcode), self._chains, self._here(i)
        if link is None or link.role == "done" or link.form == "explicit":
            return
        is_start = link.role == "start"
        first = 0 if is_start else 1
        for start in (here,) if is_start else sorted(chains.starts[here]):
            before = 0 if is_start else chains.bound_before(here)
            for effect in self.effects(start):
                if before <= effect.number < before + len(i.operands) - first:
                    yield effect._replace(number=effect.number - before + first)

    def _starts(self, i: Instruction) -> frozenset[HloPosition]:
        return self._chains.starts[self._here(i)]

    def _here(self, i: Instruction) -> HloPosition:
        return HloPosition(self._computation.name, i.name)

    def effects(self, start: HloPosition) -> Iterator[Effect]:
        """What the operation of a chain writes of its operands, counted over it."""
        chains = self._chains
        begun, wrapped = chains.flow.instruction(start), chains.wrapped(start)
        for entry in declared_aliases(begun):
            if entry.output_index[:1] == (1,):
                yield Effect(entry.operand, entry.operand_index, False, entry.output_index[1:])
        summary = self._summaries.get(chains.runs(begun) or "")
        if summary is not None:
            for written in (part for part, access in summary.accesses.items() if access.writer is not None):
                outputs = [at for at, origin in summary.passes.items() if origin == written]
                yield from (Effect(*written, True, at) for at in outputs or (None,))
        if wrapped.opcode != "sort" and wrapped.result is not None:
            names = tuple(p.instruction for p in chains.bound(start))
            inside = replace(begun, opcode=wrapped.opcode, operands=names, shape=wrapped.result)
            for output, number, index in in_place_operand(inside) + fused_in_place(self._module, inside):
                yield Effect(number, index, True, output)
