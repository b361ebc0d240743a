"""The values of a module that need memory, and which value stands at each HLO position: XLA's dataflow analysis.

A value is named by the place that makes it. Where several values meet (a loop's state, the result of a conditional) a
merged value, a phi, stands for them, unless all that meet are one. Names of instructions are unique in a module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from hloproof.models.dataflow.alias_classes import positions, shape_at
from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import OpaqueShape, Shape, ShapeIndex, TokenShape, TupleShape
from hloproof.models.memory.assignment import Key, place_text
from hloproof.models.memory.forwarding import CALLS, Origin, origin_of

Room = Literal["ordered", "applied"]
"""ordered: the entry and what runs in its order. applied: comparators and reducers, called for single elements."""

_INSIDE_KERNELS: Final = frozenset({"fusion"})


@dataclass(frozen=True, slots=True)
class HloValue:
    """What needs a slice. `phi` merges the values of `sources` (keys)."""

    key: Key
    shape: Shape
    computation: str
    room: Room
    phi: bool = False
    optional: bool = False
    sources: tuple[Key, ...] = ()


class HloValues:
    """The values of one module. Raises NotModelled where two instructions have one name, and where what is applied to
    single elements has loops, branches or calls."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.computation_of: dict[str, Computation] = {}
        self.instruction: dict[str, Instruction] = {}
        for computation in module.computations:
            for i in computation.instructions:
                if i.name in self.instruction:
                    raise NotModelled(
                        f"two instructions are called {i.name}: the plan names values by instruction alone"
                    )
                self.instruction[i.name] = i
                self.computation_of[i.name] = computation
        self.rooms = _rooms(module)
        self.callers = _callers(module, self.rooms)
        self._origins: dict[Key, Origin] = {}
        self._value: dict[Key, Key] = {}
        for name in self.rooms:
            for i in module.by_name[name].instructions:
                if i.opcode in CALLS and self.rooms[name] == "applied":
                    raise NotModelled(f"{i.name} runs computations for each single element that {name} is applied to")
                for at in positions(i.shape):
                    self._origins[i.name, at] = self._origin(name, i, at)
        self._flying = {n for n, callers in self.callers.items() if all(c.opcode not in CALLS for c in callers)}
        self._resolve()

    # -- origins ----------------------------------------------------------------------------------------------------

    def _root(self, name: str | None, at: ShapeIndex) -> Key | None:
        body = self.module.find(name)
        if body is None or shape_at(body.root.shape, at) is None:
            return None
        return body.root_name, at

    def _origin(self, computation: str, i: Instruction, at: ShapeIndex) -> Origin:
        shape = shape_at(i.shape, at)
        assert shape is not None
        if i.opcode != "parameter":
            return origin_of(i, at, shape, self._root)
        sources = tuple(self._arguments(computation, i.parameter_number or 0, at))
        return Origin("merges", sources) if sources else Origin("makes")

    def _arguments(self, computation: str, number: int, at: ShapeIndex) -> Iterator[Key]:
        """What reaches parameter `number` of a computation, at a shape index of it."""
        if self.rooms[computation] == "applied":
            return
        for caller in self.callers.get(computation, ()):
            if caller.opcode == "while":
                yield caller.operands[0], at
                inner = self._root(called(caller, "body"), at)
                if inner is not None:
                    yield inner
            elif caller.opcode == "conditional":
                for k, name in enumerate(branches(caller)):
                    if name == computation and k + 1 < len(caller.operands):
                        yield caller.operands[k + 1], at
            elif number < len(caller.operands):
                yield caller.operands[number], at

    # -- values -----------------------------------------------------------------------------------------------------

    def _resolve(self) -> None:
        """Every place its value: all merges count as phis, and those that merge one value only are taken away again."""
        above: dict[Key, Key] = {}
        merges = []
        for place, origin in self._origins.items():
            if origin.kind == "forwards":
                above[place] = origin.sources[0]
            elif origin.kind == "merges":
                merges.append((place, origin.sources))

        def find(place: Key) -> Key:
            path = []
            while (up := above.get(place)) is not None:
                path.append(place)
                place = up
                if len(path) > len(self._origins):
                    raise NotModelled("values are forwarded in a circle")
            for p in path:
                above[p] = place
            return place

        changed = True
        while changed:
            changed = False
            left = []
            for place, sources in merges:
                met = {find(s) for s in sources} - {place}
                if len(met) == 1:
                    above[place] = met.pop()
                    changed = True
                else:
                    left.append((place, sources))
            merges = left
        self._value = {place: find(place) for place in self._origins}
        for place, value in self._value.items():
            if value not in self._origins:
                what = f"{place_text(place)} would be {place_text(value)}"
                raise NotModelled(f"{what}, and there is no such place: see async-shape")
        for place, origin in self._origins.items():
            for source in origin.sources:
                if self._is_table(place) != self._is_table(source):
                    what = f"{place_text(place)} would be {place_text(source)}"
                    raise NotModelled(f"{what}, and one is a tuple and the other is none: see async-shape")
        self._phis = {place: tuple(dict.fromkeys(find(s) for s in sources)) for place, sources in merges}

    def _is_table(self, place: Key) -> bool:
        name, at = place
        return isinstance(shape_at(self.instruction[name].shape, at), TupleShape)

    def at(self, place: Key) -> Key | None:
        """The value at a place; None for places that are not followed (inside fusions)."""
        return self._value.get(place)

    def steps(self) -> Iterator[tuple[Key, Key]]:
        """Each place that takes its value from another, or from one of several, with that one: one step back."""
        for place, origin in self._origins.items():
            for source in origin.sources:
                yield place, source

    @property
    def places(self) -> Mapping[Key, Key]:
        """The value at every place that is followed."""
        return self._value

    @cached_property
    def values(self) -> Mapping[Key, HloValue]:
        """All values, in the order of the text."""
        out: dict[Key, HloValue] = {}
        for place, value in self._value.items():
            if place != value:
                continue
            i = self.instruction[place[0]]
            shape = shape_at(i.shape, place[1])
            assert shape is not None
            computation = self.computation_of[place[0]].name
            nothing = isinstance(shape, TokenShape | OpaqueShape)
            origin = self._origins[place]
            out[place] = HloValue(
                place,
                shape,
                computation,
                self.rooms[computation],
                place in self._phis,
                origin.optional or nothing or (isinstance(shape, TupleShape) and computation in self._flying),
                self._phis.get(place, ()),
            )
        return out

    def places_in(self, instruction: str) -> Iterator[tuple[ShapeIndex, Key]]:
        """The shape indices of an instruction's result with the value at each."""
        for at in positions(self.instruction[instruction].shape):
            value = self._value.get((instruction, at))
            if value is not None:
                yield at, value


def _rooms(module: Module) -> dict[str, Room]:
    """The computations whose values have slices: what the entry runs, callers first, then what operations apply."""
    rooms: dict[str, Room] = {}
    stack = [module.entry_name]
    while stack:
        name = stack.pop()
        if name in rooms or name not in module.by_name:
            continue
        rooms[name] = "ordered"
        for i in module.by_name[name].instructions:
            if i.opcode in CALLS or AsyncChains.runs(i) is not None:
                stack += i.attributes.computations()
    for computation in module.computations:
        for i in computation.instructions:
            of_links = AsyncChains.runs(i) is not None or (link_of(i.opcode) is not None and "calls" in i.attributes)
            if i.opcode in CALLS | _INSIDE_KERNELS or of_links:
                continue
            for name in i.attributes.computations():
                if name in module.by_name:
                    rooms.setdefault(name, "applied")
    return rooms


def _callers(module: Module, rooms: Mapping[str, Room]) -> dict[str, list[Instruction]]:
    """The instructions of ordered computations that run each ordered computation."""
    out: dict[str, list[Instruction]] = {}
    for name, room in rooms.items():
        if room != "ordered":
            continue
        for i in module.by_name[name].instructions:
            if i.opcode in CALLS or AsyncChains.runs(i) is not None:
                for inner in dict.fromkeys(i.attributes.computations()):
                    out.setdefault(inner, []).append(i)
    return out
