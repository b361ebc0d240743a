"""Maps through computations: from any instruction to all it is made of, or to all that is made of it.

The walk visits the instructions of one computation in topological order, forwards or backwards, and keeps for every
array on the way the set of different maps that lead there; equal maps are followed once, so time goes with the number
of different maps, not with the number of paths. Calls and fusions are composed in their own computations first.

Composed maps promise relations, not how often an element is read on the way: the sum of a row that was broadcast from
one element has the map to that element once, and so have `x + x` and other reads through equal maps. A read through an
opcode without a map makes everything behind it unknown, with the name of that opcode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any, Final, TypeVar

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.alike import AlikeComputations
from hloproof.models.hlo.body_use import body_uses
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation
from hloproof.models.hlo.shape import ShapeIndex, leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.box import bounds, holds_data
from hloproof.models.indexing.composition.joins import Joins, Simplify
from hloproof.models.indexing.composition.known_values import KnownValues, Turn, has_own_name
from hloproof.models.indexing.composition.providers import named, resolved
from hloproof.models.indexing.composition.route import (
    INPUT_TO_OUTPUT,
    OUTPUT_TO_INPUT,
    LocalPosition,
    Reached,
    Route,
    RouteStep,
    better_kind,
    group_table,
    joint_kind,
    route_of,
)
from hloproof.models.indexing.composition.sizes import operand_number
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap, identity
from hloproof.models.stages import checkpoint

MOST_MAPS: Final = 256
"""Different maps to one array beyond which they are given up as unknown."""
MOST_JOINS: Final = 8_192
"""Compositions of one walk beyond which what is not reached yet is given up as unknown."""
DEEPEST_NESTING: Final = 60
"""Calls inside calls beyond which maps are given up as unknown."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bodies:
    """How the computations that instructions call enter: handed to the composer, which they ask back."""

    opcodes: frozenset[str]
    """The opcodes that are composed through what they call, and have no maps by themselves."""
    reads: Callable[[Composer, Computation, Instruction, ShapeIndex], tuple[RouteStep, ...]]
    """From one array of such an instruction to the arrays of its operands. Raises NotModelled."""
    writes: Callable[[Composer, Computation, Instruction, int, ShapeIndex], tuple[RouteStep, ...]]
    """From one array of operand n to the arrays of such an instruction. Raises NotModelled."""
    narrowed: Callable[[Composer, Instruction, Direction, int, tuple[OperandMaps, ...]], tuple[OperandMaps, ...]]
    """The maps of a scan by itself, narrowed by what its body does not use."""
    plain: frozenset[str]
    """Opcodes whose maps follow from shapes and attributes alone, those of what they call included."""


class Composer:
    """Composes the maps of one module; keeps what it has composed."""

    def __init__(
        self, module: Module, bodies: Bodies, replicas: int = 1, partitions: int = 1, simplify: Simplify | None = None
    ) -> None:
        self.module, self.bodies, self._replicas, self._partitions = module, bodies, replicas, partitions
        self.joins = Joins(simplify)
        self._ambiguous: frozenset[str] | None = None
        self._plain: dict[tuple[Operation, Direction, int], tuple[OperandMaps, ...] | NotModelled] = {}
        self._operations: dict[tuple[str, str], Operation] = {}
        self._callees: dict[tuple[str | int, Direction, int, ShapeIndex, tuple[Turn, ...]], tuple[RouteStep, ...]] = {}
        self._order: dict[str, tuple[tuple[Instruction, ...], dict[str, int]]] = {}
        self._open: list[str] = []
        self._kept: dict[object, Any] = {}
        self.known = KnownValues(module, self.site)
        self.alike = AlikeComputations(module)

    def operation(self, computation: Computation, instruction: Instruction) -> Operation:
        key = (computation.name, instruction.name)
        found = self._operations.get(key)
        if found is None:
            found = Operation.of(
                instruction, computation, self._replicas, self._partitions, body_uses(self.module, instruction)
            )
            self._operations[key] = found
        return found

    def plain(
        self, computation: Computation, instruction: Instruction, direction: Direction, number: int
    ) -> tuple[OperandMaps, ...]:
        """The maps of an instruction by itself, providers named. Raises NotModelled."""
        op = self.operation(computation, instruction)
        key = (op, direction, number)
        found = self._plain.get(key)
        if found is None:
            try:
                found = output_to_input(op, number) if direction == OUTPUT_TO_INPUT else input_to_output(op, number)
            except NotModelled as error:
                # Why there are none is kept too, since each equal operation asks again.
                found = error
            self._plain[key] = found
        if isinstance(found, NotModelled):
            raise found
        if instruction.opcode == "scan":
            return self.bodies.narrowed(self, instruction, direction, number, found)
        if any(m.runtime for s in found for m in s.maps):
            return named(found, instruction, computation)
        return found

    def backwards(
        self, computation: Computation, instruction: Instruction, position: ShapeIndex
    ) -> dict[LocalPosition, Reached]:
        """From one array of an instruction to every array that it is made of, itself included."""
        return self._walk(computation, (instruction.name, position), OUTPUT_TO_INPUT)

    def forwards(
        self, computation: Computation, instruction: Instruction, position: ShapeIndex
    ) -> dict[LocalPosition, Reached]:
        """From one array of an instruction to every array that is made of it, itself included."""
        return self._walk(computation, (instruction.name, position), INPUT_TO_OUTPUT)

    def _walk(
        self, computation: Computation, start: LocalPosition, direction: Direction
    ) -> dict[LocalPosition, Reached]:
        shapes = dict(leaves(computation.by_name[start[0]].shape))
        if start[1] not in shapes:
            raise NotModelled(f"{start[0]} has no array at position {start[1]}")
        routes: dict[str, dict[ShapeIndex, dict[Route, Kind]]] = {}
        unknown: dict[str, dict[ShapeIndex, str]] = {}
        if not holds_data(shapes[start[1]]):
            return {}
        routes[start[0]] = {start[1]: {Route(identity(bounds(shapes[start[1]]))): "moves"}}
        found: dict[LocalPosition, Reached] = {}
        order, places = self._ordered(computation)
        sign = -1 if direction == OUTPUT_TO_INPUT else 1
        # By place in the topological order: all routes to an array are together before any of them goes on, so that
        # each array is left once.
        waiting = [sign * places[start[0]]]
        joins = self.joins.count
        while waiting:
            checkpoint()
            instruction = order[sign * heappop(waiting)]
            here, lost = routes.pop(instruction.name, {}), unknown.pop(instruction.name, {})
            for position in dict.fromkeys((*here, *lost)):
                arrived = here.get(position, {})
                why = lost.get(position, "")
                if len(arrived) > MOST_MAPS:
                    why = f"more than {MOST_MAPS} different maps"
                elif self.joins.count - joins > MOST_JOINS:
                    why = f"more than {MOST_JOINS} compositions"
                found[instruction.name, position] = Reached({} if why else arrived, why)
                # What is unknown goes on as unknown: nothing behind it may look complete.
                for name, step in self._steps(computation, instruction, position, direction, why):
                    if name not in routes and name not in unknown:
                        heappush(waiting, sign * places[name])
                    self._advance(arrived, name, step, direction, routes, unknown)
        return found

    def _advance(
        self,
        arrived: dict[Route, Kind],
        name: str,
        step: RouteStep,
        direction: Direction,
        routes: dict[str, dict[ShapeIndex, dict[Route, Kind]]],
        unknown: dict[str, dict[ShapeIndex, str]],
    ) -> None:
        if step.unknown:
            unknown.setdefault(name, {}).setdefault(step.position, step.unknown)
            return
        target = routes.setdefault(name, {}).setdefault(step.position, {})
        for route, kind in arrived.items():
            joint = joint_kind((kind, step.kind))
            for second in step.routes:
                try:
                    joined = self.joins.joined(route, second, direction)
                except NotModelled as error:
                    unknown.setdefault(name, {}).setdefault(step.position, str(error))
                    return
                # An exact map and an equal one that is only a bound: the elements are read all the same.
                target[joined] = joint if joined not in target else better_kind(target[joined], joint)

    def _steps(
        self, computation: Computation, instruction: Instruction, position: ShapeIndex, direction: Direction, why: str
    ) -> Iterable[tuple[str, RouteStep]]:
        """The steps from one array of an instruction: to its operands' arrays, or to its users' arrays."""
        if direction == OUTPUT_TO_INPUT:
            for step in self.reads(computation, instruction, position, why):
                yield instruction.operands[step.number], step
            return
        for user in computation.users[instruction.name]:
            for number, operand in enumerate(user.operands):
                if operand == instruction.name:
                    for step in self.writes(computation, user, number, position, why):
                        yield user.name, step

    def reads(
        self, computation: Computation, instruction: Instruction, position: ShapeIndex, why: str = ""
    ) -> tuple[RouteStep, ...]:
        """The steps from one array of an instruction to the arrays of its operands."""
        if not why:
            try:
                if instruction.opcode in self.bodies.opcodes:
                    return self.bodies.reads(self, computation, instruction, position)
                number = _number(instruction, position)
                sets = self.plain(computation, instruction, OUTPUT_TO_INPUT, number)
                table = group_table(self.operation(computation, instruction))
                return tuple(RouteStep(s.operand, s.position, s.kind, _routes(s.maps, table)) for s in sets)
            except NotModelled as error:
                why = f"{instruction.opcode} {instruction.name}: {error}"
        return tuple(
            RouteStep(n, place, "bound", (), why)
            for n, name in enumerate(instruction.operands)
            for place, leaf in leaves(computation.by_name[name].shape)
            if holds_data(leaf)
        )

    def writes(
        self, computation: Computation, instruction: Instruction, operand: int, position: ShapeIndex, why: str = ""
    ) -> tuple[RouteStep, ...]:
        """The steps from one array of an operand to the arrays of an instruction."""
        places = [place for place, _ in leaves(instruction.shape)]
        if not why:
            try:
                if instruction.opcode in self.bodies.opcodes:
                    return self.bodies.writes(self, computation, instruction, operand, position)
                sets = self.plain(computation, instruction, INPUT_TO_OUTPUT, operand)
                table = group_table(self.operation(computation, instruction))
                return tuple(
                    RouteStep(0, places[s.operand], s.kind, _routes(s.maps, table))
                    for s in sets
                    if s.position == position
                )
            except NotModelled as error:
                why = f"{instruction.opcode} {instruction.name}: {error}"
        return tuple(
            RouteStep(0, place, "bound", (), why) for place, leaf in leaves(instruction.shape) if holds_data(leaf)
        )

    def through(
        self, callee: Computation, direction: Direction, number: int, position: ShapeIndex
    ) -> tuple[RouteStep, ...]:
        """From an array of the callee's root to the arrays of its parameters; or from one of parameter `number` to the
        root's. Raises NotModelled when computations call each other in a circle or too deep."""
        alike = self.alike.of(callee)
        plain = alike is not None and alike.is_static and alike.opcodes <= self.bodies.plain
        turns = () if plain else self.known.turns_for(callee)
        # What reads nothing at run time names nothing, and is the same for all computations that are alike.
        key = (alike.number if plain and alike is not None else callee.name, direction, number, position, turns)
        known = self._callees.get(key)
        if known is not None:
            return known
        if callee.name in self._open:
            raise NotModelled(f"computation {callee.name} calls itself")
        if len(self._open) >= DEEPEST_NESTING:
            raise NotModelled(f"calls nested deeper than {DEEPEST_NESTING}")
        self._open.append(callee.name)
        try:
            if direction == OUTPUT_TO_INPUT:
                reached = self.backwards(callee, callee.root, position)
                steps = tuple(
                    RouteStep(
                        p.parameter_number or 0,
                        place,
                        reached[p.name, place].kind,
                        tuple(reached[p.name, place].routes),
                        reached[p.name, place].unknown,
                    )
                    for p in callee.parameters
                    for place, _ in leaves(p.shape)
                    if (p.name, place) in reached
                )
            else:
                reached = self.forwards(callee, callee.parameters[number], position)
                steps = tuple(
                    RouteStep(0, place, r.kind, tuple(r.routes), r.unknown)
                    for (name, place), r in reached.items()
                    if name == callee.root_name
                )
        finally:
            self._open.pop()
        if not plain or not any(s.unknown for s in steps):  # a reason names an instruction
            self._callees[key] = steps
        return steps

    def leaving(self, step: RouteStep, computation: Computation, operands: Sequence[str], site: str = "") -> RouteStep:
        """A step composed inside a callee, with the caller's operands in place of the callee's parameters, and the
        names of the callee's instructions qualified by `site`."""
        if not any(r.map.runtime for r in step.routes):
            return step

        def source(provider: str) -> Instruction | None:
            number = operand_number(provider, "parameter")
            return None if number is None else computation.by_name[operands[number]]

        routes = tuple(route_of(m, r.tables) for r in step.routes for m in resolved((r.map,), source, site))
        return replace(step, routes=routes)

    def callee(self, instruction: Instruction, name: str, arity: int) -> Computation:
        """The computation of this name, which must take `arity` parameters. Raises NotModelled."""
        callee = self.module.by_name.get(name)
        if callee is None:
            raise NotModelled(f"{instruction.opcode} of an unknown computation {name}")
        if len(callee.parameters) != arity:
            raise NotModelled(
                f"{instruction.opcode} hands {arity} values to {name}, which takes {len(callee.parameters)}"
            )
        return callee

    def kept(self, key: object, make: Callable[[], T]) -> T:
        """What `make` gives, made once for each key."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def site(self, callee: Computation, instruction: Instruction) -> str:
        """What tells the values of a callee's instructions apart from others of the same name: the caller's name where
        the computation is called more than once, or shares a name with another computation; else nothing."""
        if self._ambiguous is None:
            calls = Counter(
                name for c in self.module.computations for i in c.instructions for name in i.attributes.computations()
            )
            names = Counter(i.name for c in self.module.computations for i in c.instructions if has_own_name(i))
            self._ambiguous = frozenset(
                c.name
                for c in self.module.computations
                if calls[c.name] > 1 or any(names[i.name] > 1 for i in c.instructions if has_own_name(i))
            )
        return instruction.name if callee.name in self._ambiguous else ""

    def _ordered(self, computation: Computation) -> tuple[tuple[Instruction, ...], dict[str, int]]:
        """Instructions, operands before users, and the place of each by name."""
        found = self._order.get(computation.name)
        if found is None:
            order = computation.operands_first
            found = self._order[computation.name] = (order, {i.name: n for n, i in enumerate(order)})
        return found


def _routes(maps: Iterable[IndexingMap], table: object) -> tuple[Route, ...]:
    return tuple(route_of(m, () if m.replica is None else (table,)) for m in maps)


def _number(instruction: Instruction, position: ShapeIndex) -> int:
    if not position:
        return 0
    for number, (place, _) in enumerate(leaves(instruction.shape)):
        if place == position:
            return number
    raise ValueError(f"{instruction.name} has no array at position {position}")
