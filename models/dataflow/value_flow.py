"""Where values come from: through tuples, loops, branches and calls, to the instruction that makes them.

A place is a position in the tuple tree of one instruction's result. An instruction forwards a place when the value
there is, element for element and buffer for buffer, the value of another place: get-tuple-element, tuple, opt-barrier,
domain, copy, add-dependency, while, call, fusion, conditional, a computation's parameters, and async-done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import HANDS_ON
from hloproof.models.hlo.shape import ShapeIndex


@dataclass(frozen=True, slots=True, order=True)
class HloPosition:
    """`instruction{index}` in a computation; the index () is the whole result."""

    computation: str
    instruction: str
    index: ShapeIndex = ()

    def __str__(self) -> str:
        return self.instruction + ("{" + ",".join(map(str, self.index)) + "}" if self.index else "")


_PASS_ON: Final = HANDS_ON | {"copy", "add-dependency"}
_BRANCH_FIRST: Final = 1
"""Operand number of a conditional's first branch argument; operand 0 selects."""


def called(instruction: Instruction, attribute: str) -> str | None:
    """The name of the computation that an attribute names, or None."""
    value = instruction.attributes.get(attribute)
    return value.name if isinstance(value, ComputationRef) else None


def only_asks(instruction: Instruction, computation: str) -> bool:
    """Whether it is a loop that runs the computation as its condition, and does not turn with it, too."""
    asked, turned = called(instruction, "condition"), called(instruction, "body")
    return instruction.opcode == "while" and asked == computation != turned


def branches(instruction: Instruction) -> tuple[str, ...]:
    """The branch computations of a conditional, in order; the true branch first in the two-way spelling."""
    value = instruction.attributes.get("branch_computations")
    if isinstance(value, tuple):
        return tuple(v.name for v in value if isinstance(v, ComputationRef))
    two = (called(instruction, "true_computation"), called(instruction, "false_computation"))
    return tuple(name for name in two if name is not None)


class ValueFlow:
    """The forwarding relation of a module, both ways."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @cached_property
    def callers(self) -> Mapping[str, tuple[tuple[Computation, Instruction], ...]]:
        """Who calls each computation, in any way."""
        out: dict[str, list[tuple[Computation, Instruction]]] = {c.name: [] for c in self.module.computations}
        for computation in self.module.computations:
            for instruction in computation.instructions:
                for name in dict.fromkeys(instruction.attributes.computations()):
                    if name in out:
                        out[name].append((computation, instruction))
        return {name: tuple(found) for name, found in out.items()}

    def instruction(self, place: HloPosition) -> Instruction:
        return self.module.by_name[place.computation].by_name[place.instruction]

    def sources(self, place: HloPosition) -> tuple[HloPosition, ...]:
        """The places whose value this place forwards, one step back; () where the value is made here."""
        return tuple(dict.fromkeys(self._sources(place)))

    def _sources(self, place: HloPosition) -> Iterator[HloPosition]:
        i, at = self.instruction(place), place.index

        def operand(n: int, index: ShapeIndex) -> Iterator[HloPosition]:
            if n < len(i.operands):
                yield HloPosition(place.computation, i.operands[n], index)

        match i.opcode:
            case "get-tuple-element":
                yield from operand(0, (i.attributes.integer("index", 0), *at))
            case "tuple" if at:
                yield from operand(at[0], at[1:])
            case opcode if opcode in _PASS_ON:
                yield from operand(0, at)
            case "while":
                yield from operand(0, at)
                # What a loop gives is its start, where it does not turn at all, or what the last turn left. Both may
                # stand there.
                yield from self._root(called(i, "body"), at)
            case "conditional":
                for name in branches(i):
                    yield from self._root(name, at)
            case "call" | "fusion":
                yield from self._root(called(i, "to_apply") or called(i, "calls"), at)
            case "parameter":
                yield from self._arguments(place, i.parameter_number or 0)
            case _:
                return

    def _root(self, computation: str | None, index: ShapeIndex) -> Iterator[HloPosition]:
        body = self.module.find(computation)
        if body is not None:
            yield HloPosition(body.name, body.root_name, index)

    def _arguments(self, place: HloPosition, number: int) -> Iterator[HloPosition]:
        """What callers pass as parameter `number`."""
        for computation, caller in self.callers[place.computation]:
            position = number
            match caller.opcode:
                case "while":
                    position = 0
                    yield from self._root(called(caller, "body"), place.index)
                case "conditional":
                    for k, name in enumerate(branches(caller)):
                        if name == place.computation and _BRANCH_FIRST + k < len(caller.operands):
                            yield HloPosition(computation.name, caller.operands[_BRANCH_FIRST + k], place.index)
                    continue
                case "call" | "fusion":
                    pass
                case _:
                    continue
            if position < len(caller.operands):
                yield HloPosition(computation.name, caller.operands[position], place.index)

    def origins(self, place: HloPosition) -> frozenset[HloPosition]:
        """The places where the value that may stand at `place` is made."""
        seen, stack, found = {place}, [place], set()
        while stack:
            at = stack.pop()
            back = self.sources(at)
            # A parameter of a computation that nobody calls has no sources either, and is not where a value is made.
            if not back and not self._is_unreached_parameter(at):
                found.add(at)
            for source in back:
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return frozenset(found)

    def _is_unreached_parameter(self, place: HloPosition) -> bool:
        return (
            place.computation != self.module.entry_name
            and self.instruction(place).opcode == "parameter"
            and not self.callers[place.computation]
        )

    def targets(self, place: HloPosition) -> tuple[HloPosition, ...]:
        """The places that forward the value of this place, one step on."""
        return tuple(dict.fromkeys(self._targets(place)))

    def _targets(self, place: HloPosition) -> Iterator[HloPosition]:
        computation, at = self.module.by_name[place.computation], place.index
        for user in computation.users[place.instruction]:
            for n, name in enumerate(user.operands):
                if name == place.instruction:
                    yield from self._into(computation, user, n, at)
        if place.instruction == computation.root_name:
            for caller_computation, caller in self.callers[place.computation]:
                out = HloPosition(caller_computation.name, caller.name, at)
                match caller.opcode:
                    # The root of the condition is read by the loop and goes nowhere.
                    case "while" if called(caller, "body") == place.computation:
                        yield out
                        yield from self._parameter(called(caller, "body"), 0, at)
                        yield from self._parameter(called(caller, "condition"), 0, at)
                    case "call" | "fusion" | "conditional":
                        yield out

    def _into(self, computation: Computation, user: Instruction, n: int, at: ShapeIndex) -> Iterator[HloPosition]:
        match user.opcode:
            case "tuple":
                yield HloPosition(computation.name, user.name, (n, *at))
            case "get-tuple-element":
                # A whole tuple, and any other part of it, does not go on through this instruction.
                if at and at[0] == user.attributes.integer("index", 0):
                    yield HloPosition(computation.name, user.name, at[1:])
            # The second operand of add-dependency orders and hands nothing on.
            case opcode if opcode in _PASS_ON and n == 0:
                yield HloPosition(computation.name, user.name, at)
            case "while":
                yield HloPosition(computation.name, user.name, at)
                yield from self._parameter(called(user, "body"), 0, at)
                yield from self._parameter(called(user, "condition"), 0, at)
            case "conditional":
                names = branches(user)
                if _BRANCH_FIRST <= n < _BRANCH_FIRST + len(names):
                    yield from self._parameter(names[n - _BRANCH_FIRST], 0, at)
            case "call" | "fusion":
                yield from self._parameter(called(user, "to_apply") or called(user, "calls"), n, at)

    def _parameter(self, computation: str | None, number: int, at: ShapeIndex) -> Iterator[HloPosition]:
        body = self.module.find(computation)
        if body is not None and number < len(body.parameters):
            yield HloPosition(body.name, body.parameters[number].name, at)
