"""Single integers of a computation whose values follow from constants and from what is given for its parameters.

Counters of loops and what is computed from them: integer and pred arrays of one element. Anything else is unknown,
which is never wrong. Results wrap to the width of their type; a pred is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import ComputationRef, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, Shape, ShapeIndex, leaves

GivenScalar = Callable[[int, ShapeIndex], int | None]
"""The value of the array at a position of a parameter, by its number; None where it is unknown."""

_DEEPEST: Final = 60
"""Calls inside calls beyond which values are unknown."""
_REMEMBERED: Final = 20_000
_LONGEST_LITERAL: Final = 64

_SAME: Final = frozenset({"copy", "reshape", "transpose", "broadcast", "opt-barrier"})
"""On arrays of one element these change nothing."""
_TWO: Final[Mapping[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_COMPARED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


def is_single_integer(shape: Shape) -> bool:
    """An integer or pred array of one element, of static sizes."""
    return (
        isinstance(shape, ArrayShape)
        and not shape.is_dynamic
        and shape.elements == 1
        and (shape.element_type == "pred" or _is_integer(shape.element_type))
    )


class KnownScalars:
    """Looks values up in the computations of one module, each called computation once for what it is given."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._returned: dict[tuple[str, ShapeIndex, tuple[int | None, ...]], int | None] = {}

    def value(
        self, computation: Computation, name: str, position: ShapeIndex, given: GivenScalar, depth: int = 0
    ) -> int | None:
        """The value of the array at `position` of an instruction; None where it is unknown."""
        wanted = (name, position)
        known: dict[tuple[str, ShapeIndex], int | None] = {}
        waiting, entered = [wanted], set[tuple[str, ShapeIndex]]()
        while waiting:
            place = waiting[-1]
            i, at = computation.by_name[place[0]], place[1]
            needs = _needs(computation, i, at) if place not in known else ()
            if needs is not None and place not in entered:
                entered.add(place)
                waiting += [n for n in needs if n not in known]
                continue
            waiting.pop()
            if place not in known:
                # What it needs is still missing only where instructions go round in a circle.
                complete = needs is not None and all(n in known for n in needs)
                known[place] = self._found(computation, i, at, known, given, depth) if complete else None
        return known[wanted]

    def _found(
        self,
        computation: Computation,
        i: Instruction,
        at: ShapeIndex,
        known: Mapping[tuple[str, ShapeIndex], int | None],
        given: GivenScalar,
        depth: int,
    ) -> int | None:
        """The value of an array, all that it needs being known or known to be unknown."""
        match i.opcode:
            case "parameter":
                return given(i.parameter_number or 0, at)
            case "tuple":
                return known[i.operands[at[0]], at[1:]]
            case "get-tuple-element":
                return known[i.operands[0], (i.attributes.integer("index", 0), *at)]
            case "fusion" | "call":
                return self._returns(computation, i, at, known, depth)
            case "constant":
                return _literal(i)
        if i.opcode in _SAME or (i.opcode == "bitcast" and _same_type(computation, i)):
            return known[i.operands[0], at]
        values = [known[o, ()] for o in i.operands]
        if i.opcode == "select":
            decision = values[0]
            return None if decision is None else values[1 if decision else 2]
        numbers = [v for v in values if v is not None]
        return None if len(numbers) < len(values) else _computed(i, numbers)

    def _returns(
        self,
        computation: Computation,
        i: Instruction,
        at: ShapeIndex,
        known: Mapping[tuple[str, ShapeIndex], int | None],
        depth: int,
    ) -> int | None:
        """The value of an array of what a fusion or call returns: it follows from the single integers handed over."""
        named = (i.attributes.get(name) for name in ("calls", "to_apply"))
        callee = self._module.find(next((v.name for v in named if isinstance(v, ComputationRef)), None))
        if callee is None or depth >= _DEEPEST or len(callee.parameters) != len(i.operands):
            return None
        places = [
            (number, at)
            for number, o in enumerate(i.operands)
            for at, leaf in leaves(computation.by_name[o].shape)
            if is_single_integer(leaf)
        ]
        handed = {(number, at): known.get((i.operands[number], at)) for number, at in places}
        # By what is handed over, not by the call: layers that call one function with equal counters ask once.
        key = (callee.name, at, tuple(handed.values()))
        if key not in self._returned:
            if len(self._returned) >= _REMEMBERED:
                self._returned.clear()
            self._returned[key] = self.value(
                callee, callee.root_name, at, lambda number, place: handed.get((number, place)), depth + 1
            )
        return self._returned[key]


def _needs(computation: Computation, i: Instruction, at: ShapeIndex) -> tuple[tuple[str, ShapeIndex], ...] | None:
    """The arrays that the value of one follows from; None where it does not follow from single integers."""
    match i.opcode:
        case "tuple":
            return ((i.operands[at[0]], at[1:]),) if at and at[0] < len(i.operands) else None
        case "get-tuple-element":
            return ((i.operands[0], (i.attributes.integer("index", 0), *at)),)
    leaf = dict(leaves(i.shape)).get(at)
    if leaf is None or not is_single_integer(leaf):
        return None
    match i.opcode:
        case "parameter" | "constant":
            return ()
        case "fusion" | "call":
            return tuple(
                (o, place)
                for o in dict.fromkeys(i.operands)
                for place, found in leaves(computation.by_name[o].shape)
                if is_single_integer(found)
            )
        case "opt-barrier":
            return ((i.operands[0], at),)
    if not isinstance(i.shape, ArrayShape) or not all(is_single_integer(s) for s in computation.operand_shapes(i)):
        return None
    return tuple((o, ()) for o in dict.fromkeys(i.operands))


def _computed(i: Instruction, values: list[int]) -> int | None:
    assert isinstance(i.shape, ArrayShape)
    kind = i.shape.element_type
    two = _TWO.get(i.opcode)
    if two is not None and len(values) == 2:
        if kind == "pred" and i.opcode not in ("and", "or", "xor"):
            return None
        return _wrapped(two(*values), kind)
    match i.opcode, values:
        case "compare", [a, b]:
            direction = i.attributes.get("direction")
            test = _COMPARED.get(direction.text) if isinstance(direction, Word) else None
            return None if test is None else int(test(a, b))
        case "clamp", [low, value, high]:
            return min(max(value, low), high)
        case "negate", [a]:
            return _wrapped(-a, kind)
        case "not", [a]:
            return 1 - a if kind == "pred" else _wrapped(~a, kind)
        case "convert", [a]:
            return int(a != 0) if kind == "pred" else _wrapped(a, kind)
        case (("divide" | "remainder"), [a, b]):
            # XLA says what a division by zero gives, by type and by width; nothing here needs it.
            if b == 0 or kind == "pred":
                return None
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # rounded to zero
            return _wrapped(quotient if i.opcode == "divide" else a - b * quotient, kind)
    return None


def _same_type(computation: Computation, i: Instruction) -> bool:
    (operand,) = computation.operand_shapes(i)
    return (
        isinstance(operand, ArrayShape)
        and isinstance(i.shape, ArrayShape)
        and (operand.element_type == i.shape.element_type)
    )


def _literal(i: Instruction) -> int | None:
    text = (i.literal or "").strip()
    if len(text) > _LONGEST_LITERAL or not isinstance(i.shape, ArrayShape):
        return None
    word = text.replace("{", "").replace("}", "").strip()
    if i.shape.element_type == "pred":
        return {"true": 1, "1": 1, "false": 0, "0": 0}.get(word)
    return _wrapped(int(word), i.shape.element_type) if word.removeprefix("-").isdecimal() else None


def _is_integer(element_type: str) -> bool:
    return element_type[:1] in ("s", "u") and element_type[1:].isdecimal()


def _wrapped(value: int, element_type: str) -> int:
    """The value in the two's complement of the type."""
    if element_type == "pred":
        return value & 1
    bits = ELEMENT_BITS[element_type]
    value &= (1 << bits) - 1
    return value - (1 << bits) if element_type[0] == "s" and value >> bits - 1 else value
