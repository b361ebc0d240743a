"""Alias classes: which places of a module hold the same value, and which share a buffer.

Three relations, each wider than the one before:

* *value*: the place forwards the value made elsewhere (get-tuple-element, bitcast, a loop's invariant, ...);
* *must*: the places share one buffer in every correct compilation: values forwarded, both ends of a loop's state,
  the branches of a conditional, the positions of an asynchronous operation, aliasing declared in the text;
* *may*: a compiler updates in place where it can: dynamic-update-slice, scatter, sort, fusions that end in one of
  these, and aliases of the module that the text declares as `may-alias`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Final

from hloproof.models.dataflow.async_chain import AsyncChains, declared_aliases, link_of
from hloproof.models.dataflow.in_place import fused_in_place, in_place_operand
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.hlo.attributes import Aliasing
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import HANDS_ON
from hloproof.models.hlo.shape import Shape, ShapeIndex, TupleShape

_PASS_ON: Final = HANDS_ON | {"bitcast"}


def positions(shape: Shape, index: ShapeIndex = ()) -> Iterator[ShapeIndex]:
    """All shape indices of a tuple tree, inner nodes before what they hold."""
    yield index
    if isinstance(shape, TupleShape):
        for k, element in enumerate(shape.elements):
            yield from positions(element, (*index, k))


def shape_at(shape: Shape | None, index: ShapeIndex) -> Shape | None:
    """The shape at a shape index; None where there is none."""
    for k in index:
        if not isinstance(shape, TupleShape) or not 0 <= k < len(shape.elements):
            return None
        shape = shape.elements[k]
    return shape


@dataclass(frozen=True, slots=True)
class AliasClass:
    """Places that share a buffer, in the order of the text."""

    places: tuple[HloPosition, ...]


class _Classes:
    """Disjoint sets of places."""

    def __init__(self) -> None:
        self._parent: dict[HloPosition, HloPosition] = {}

    def find(self, place: HloPosition) -> HloPosition:
        parent = self._parent
        root = place
        while (above := parent.get(root, root)) != root:
            root = above
        while place != root:
            above = parent.get(place, place)
            parent[place] = root
            place = above
        return root

    def join(self, a: HloPosition, b: HloPosition) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            self._parent[b] = a


class Buffers:
    """Values and alias classes of one module. `threads`: computations of other execution threads stay closed; None
    opens all. With `bitcast_makes_value` a bitcast counts as a new value (in the buffer of its operand)."""

    def __init__(
        self,
        module: Module,
        threads: frozenset[str] | None = None,
        bitcast_makes_value: bool = False,
        chains: AsyncChains | None = None,
    ) -> None:
        self.module, self.threads, self.bitcast_makes_value = module, threads, bitcast_makes_value
        self.chains = chains or AsyncChains(module)

    # -- values -----------------------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> tuple[HloPosition, ...]:
        """All places of the module, in the order of the text."""
        return tuple(
            HloPosition(c.name, i.name, at)
            for c in self.module.computations
            for i in c.instructions
            for at in positions(i.shape)
        )

    @cached_property
    def sources(self) -> Mapping[HloPosition, tuple[HloPosition, ...]]:
        """For each place the places whose value it forwards, one step back; () where the value is made."""
        return {place: tuple(dict.fromkeys(self._sources(place))) for place in self.places}

    def _instruction(self, place: HloPosition) -> Instruction:
        return self.module.by_name[place.computation].by_name[place.instruction]

    def _operand(self, computation: str, i: Instruction, n: int, index: ShapeIndex) -> Iterator[HloPosition]:
        """A position of an operand, where there is one."""
        if n < len(i.operands):
            found = HloPosition(computation, i.operands[n], index)
            if shape_at(self._instruction(found).shape, index) is not None:
                yield found

    def _root(self, name: str | None, at: ShapeIndex) -> Iterator[HloPosition]:
        body = self.module.find(name)
        if body is not None and shape_at(body.root.shape, at) is not None:
            yield HloPosition(body.name, body.root_name, at)

    def _sources(self, place: HloPosition) -> Iterator[HloPosition]:
        i, at = self._instruction(place), place.index
        operand = partial(self._operand, place.computation, i)
        link = link_of(i.opcode)
        if link is not None:
            yield from self._asynchronous(place, i)
            return
        match i.opcode:
            case "get-tuple-element":
                yield from operand(0, (i.attributes.integer("index", 0), *at))
            case "tuple" if at:
                yield from operand(at[0], at[1:])
            case "copy" if at:
                yield from operand(0, at)  # only the outermost table of a tuple is copied
            case "add-dependency":
                yield from operand(0, at)
            case "bitcast" if self.bitcast_makes_value:
                return
            case opcode if opcode in _PASS_ON:
                yield from operand(0, at)
            case "while":
                yield from operand(0, at)
                yield from self._root(called(i, "body"), at)
            case "conditional":
                for name in branches(i):
                    yield from self._root(name, at)
            case "call":
                yield from self._root(called(i, "to_apply") or called(i, "calls"), at)
            case "parameter":
                yield from self._arguments(place, i.parameter_number or 0)

    def _opens(self, start: Instruction) -> bool:
        return self.threads is None or self.chains.thread(start) in self.threads

    def _asynchronous(self, place: HloPosition, i: Instruction) -> Iterator[HloPosition]:
        """What the links of a chain forward: operands, the result, contexts. Tuples around them are made anew."""
        link, at, shape = link_of(i.opcode), place.index, shape_at(i.shape, place.index)
        assert link is not None
        # Tables of pointers are written by every link; what they point to is handed on.
        if isinstance(shape, TupleShape):
            return
        if link.form == "explicit":
            yield from self._explicit(place, i, link.role, link.opcode)
            return
        here = HloPosition(place.computation, i.name)
        if link.role != "done" and at[0] == 0:
            yield from self._bound_operand(place, i, link.role)
        elif link.role == "start" and at[0] == 1:
            yield from self._result((here,), at[1:])
        elif link.role == "done" or at[0] == 1:
            at = (1, *at) if link.role == "done" else at
            promised = shape_at(self._instruction(HloPosition(place.computation, i.operands[0])).shape, at)
            # An empty tuple stands for what is not bound yet.
            if promised is not None and not isinstance(promised, TupleShape):
                yield HloPosition(place.computation, i.operands[0], at)
            else:
                yield from self._result(sorted(self.chains.starts[here]), at[1:])

    def _result(self, starts: Sequence[HloPosition], at: ShapeIndex) -> Iterator[HloPosition]:
        """The root of the computation that runs asynchronously, where the text shows it."""
        for start in starts:
            i = self._instruction(start)
            if self._opens(i):
                yield from self._root(self.chains.runs(i), at)

    def _bound_operand(self, place: HloPosition, i: Instruction, role: str) -> Iterator[HloPosition]:
        """Position {0, k} is operand k, counted over the chain; older text has {0} for the only one."""
        held = shape_at(i.shape, (0,))
        nested = isinstance(held, TupleShape)
        k, rest = (place.index[1], place.index[2:]) if nested else (0, ())
        if role == "start":
            yield from self._operand(place.computation, i, k, rest)
            return
        earlier = shape_at(self._instruction(HloPosition(place.computation, i.operands[0])).shape, (0,))
        if isinstance(earlier, TupleShape) and k >= len(earlier.elements):
            yield from self._operand(place.computation, i, k - len(earlier.elements) + 1, rest)
        else:
            yield from self._operand(place.computation, i, 0, place.index)

    def _explicit(self, place: HloPosition, i: Instruction, role: str, opcode: str) -> Iterator[HloPosition]:
        at = place.index
        operand = partial(self._operand, place.computation, i)
        match opcode, role:
            case "copy", "start":
                # Gives (destination, source, context): only the source is the operand's buffer.
                if at == (1,):
                    yield from operand(0, ())
            case "copy", "done":
                yield from operand(0, (0, *at))
            case "all-reduce", "done":
                yield from operand(0, at)
            case (("all-gather" | "collective-permute"), "start"):
                if at[:1] == (0,):
                    # Gives (operands, results, contexts). With `slice_sizes` the operands are source, target and the
                    # offsets in both, and the target is what is written.
                    several = len(i.operands) > 1 and "slice_sizes" not in i.attributes
                    yield from operand(at[1], at[2:]) if several and len(at) > 1 else operand(0, at[1:])
                elif at[:1] == (1,) and "slice_sizes" in i.attributes:
                    yield from operand(1, at[1:])
            case (("all-gather" | "collective-permute"), "done"):
                held = self._instruction(HloPosition(place.computation, i.operands[0])).shape
                yield from operand(0, (1, *at) if isinstance(held, TupleShape) else at)
            case "send", "start":
                if at[:1] == (0,):
                    yield from operand(0, at[1:])
            case "recv", "done":
                if at[:1] == (0,):
                    yield from operand(0, at)

    def _arguments(self, place: HloPosition, number: int) -> Iterator[HloPosition]:
        """What callers pass as parameter `number`, and for loops what the body hands on."""
        for computation, caller in self.chains.flow.callers[place.computation]:
            match caller.opcode:
                case "while":
                    yield from self._root(called(caller, "body"), place.index)
                    yield HloPosition(computation.name, caller.operands[0], place.index)
                case "conditional":
                    for k, name in enumerate(branches(caller)):
                        if name == place.computation:
                            yield HloPosition(computation.name, caller.operands[k + 1], place.index)
                case "call" | "fusion":
                    yield from self._operand(computation.name, caller, number, place.index)
                case _:
                    inside = self.chains.runs(caller) == place.computation or caller.opcode == "fusion-start"
                    if inside and self._opens(caller):
                        for n, bound in self.chains.binds(HloPosition(computation.name, caller.name)):
                            if n == number:
                                yield HloPosition(bound.computation, bound.instruction, place.index)

    @cached_property
    def values(self) -> Mapping[HloPosition, frozenset[HloPosition]]:
        """For each place the places where the values are made that may stand there (itself, where one is made)."""
        users: dict[HloPosition, list[HloPosition]] = {}
        values: dict[HloPosition, set[HloPosition]] = {}
        stack: list[HloPosition] = []
        for place, sources in self.sources.items():
            for source in sources:
                users.setdefault(source, []).append(place)
            values[place] = set() if sources else {place}
            if not sources:
                stack.append(place)
        # From below to the least fixed point: a place may hold what any of its sources may hold. The sets only grow, so
        # that loops end.
        while stack:
            place = stack.pop()
            for user in users.get(place, ()):
                if not values[place] <= values[user]:
                    values[user] |= values[place]
                    stack.append(user)
        return {place: frozenset(found) for place, found in values.items()}

    def defined_at(self, place: HloPosition) -> bool:
        """A value is made at this place."""
        return not self.sources[place]

    def merges(self, place: HloPosition) -> bool:
        """Different values meet here: at a loop's state or the result of a conditional."""
        i = self._instruction(place)
        if i.opcode == "parameter":
            joins = any(c.opcode == "while" for _, c in self.chains.flow.callers[place.computation])
        else:
            joins = i.opcode in ("while", "conditional")
        return joins and len(self.values[place]) > 1

    def leaves_module(self, value: HloPosition) -> bool:
        """The value may be part of the entry's result."""
        entry = self.module.entry
        return any(value in self.values[p] for p in self._places_of(entry, entry.root))

    def _places_of(self, computation: Computation, i: Instruction) -> Iterator[HloPosition]:
        for at in positions(i.shape):
            yield HloPosition(computation.name, i.name, at)

    # -- buffers ----------------------------------------------------------------------------------------------------

    @cached_property
    def _must(self) -> _Classes:
        classes = _Classes()
        self._join_must(classes)
        return classes

    @cached_property
    def _may(self) -> _Classes:
        classes = _Classes()
        self._join_must(classes)
        for computation in self.module.computations:
            for i in computation.instructions:
                for output, n, index in in_place_operand(i) + fused_in_place(self.module, i):
                    self._join(
                        classes,
                        HloPosition(computation.name, i.name, output),
                        HloPosition(computation.name, i.operands[n], index),
                    )
        for a, b, must in self.declared_by_module():
            if not must:
                self._join(classes, a, b)
        return classes

    def _join(self, classes: _Classes, a: HloPosition, b: HloPosition) -> None:
        """Both places, and everything inside them."""
        shape = shape_at(self._instruction(a).shape, a.index)
        other = shape_at(self._instruction(b).shape, b.index)
        for at in positions(shape) if shape is not None else ():
            if shape_at(other, at) is not None:
                classes.join(
                    HloPosition(a.computation, a.instruction, (*a.index, *at)),
                    HloPosition(b.computation, b.instruction, (*b.index, *at)),
                )

    def _join_must(self, classes: _Classes) -> None:
        for place, sources in self.sources.items():
            for source in sources:
                classes.join(source, place)
        for computation in self.module.computations:
            for i in computation.instructions:
                here = HloPosition(computation.name, i.name)
                for entry in declared_aliases(i):
                    self._join_declared(classes, here, i, entry)
        for a, b, must in self.declared_by_module():
            if must:
                self._join(classes, a, b)

    def _join_declared(self, classes: _Classes, here: HloPosition, i: Instruction, entry: Aliasing) -> None:
        """An output aliases an operand. Of a start both may be bound later: the output then is that of the done."""
        link = link_of(i.opcode)
        plain = enumerate(HloPosition(here.computation, n) for n in i.operands)
        operands = self.chains.binds(here) if link is not None and link.role == "start" else plain
        sources = [replace(place, index=entry.operand_index) for n, place in operands if n == entry.operand]
        outputs = [HloPosition(here.computation, here.instruction, entry.output_index)]
        if link is not None and entry.output_index[:1] == (1,):
            for member in self.chains.members.get(here, ()):
                is_done = self.chains.links[member].role == "done"
                at = entry.output_index[1:] if is_done else entry.output_index
                outputs.append(HloPosition(member.computation, member.instruction, at))
        for output, source in product(outputs, sources):
            self._join(classes, output, source)

    def declared_by_module(self) -> tuple[tuple[HloPosition, HloPosition, bool], ...]:
        """`input_output_alias`: a place of the entry's root, a place of a parameter, and whether they must share."""
        entries = self.module.attributes.get("input_output_alias")
        entry, out = self.module.entry, []
        for e in entries if isinstance(entries, tuple) else ():
            if isinstance(e, Aliasing) and 0 <= e.operand < len(entry.parameters):
                parameter = entry.parameters[e.operand]
                out.append(
                    (
                        HloPosition(entry.name, entry.root_name, e.output_index),
                        HloPosition(entry.name, parameter.name, e.operand_index),
                        e.kind == "must-alias",
                    )
                )
        return tuple(out)

    def must_share(self, a: HloPosition, b: HloPosition) -> bool:
        return self._must.find(a) == self._must.find(b)

    def may_share(self, a: HloPosition, b: HloPosition) -> bool:
        return self._may.find(a) == self._may.find(b)

    def classes(self, may: bool = False) -> tuple[AliasClass, ...]:
        """All alias classes, in the order of their first places."""
        found: dict[HloPosition, list[HloPosition]] = {}
        chosen = self._may if may else self._must
        for place in self.places:
            found.setdefault(chosen.find(place), []).append(place)
        return tuple(AliasClass(tuple(places)) for places in found.values())
