"""What operations in flight hold between start and done, and who sends to a device on a channel."""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import DevicePairs, Word
from hloproof.models.hlo.beside import BETWEEN_DEVICES, device_pairs, frontend_entries
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import InFlight, Value, filled


def source_device(i: Instruction, device: int) -> int | None:
    """The device that sends to this one by the instruction's source-target pairs: -1 where none does, None without
    pairs."""
    named = _pairs(i)
    if named is None:
        return None
    sources = [s for s, t in named if t == device]
    if len(sources) > 1:
        raise NotModelled(f"{i.name}, by which several devices send to one")
    return sources[0] if sources else -1


def target_devices(i: Instruction, device: int) -> Sequence[int]:
    """The devices that this one sends to by the instruction's source-target pairs; itself without pairs."""
    named = _pairs(i)
    return (device,) if named is None else [t for s, t in named if s == device]


def _pairs(i: Instruction) -> Sequence[tuple[int, int]] | None:
    pairs = i.attributes.get("source_target_pairs")
    if isinstance(pairs, DevicePairs):
        return pairs.pairs
    attributes = i.attributes.get("frontend_attributes")
    said = frontend_entries(attributes.text) if isinstance(attributes, Word) else {}
    if said is None:
        raise NotModelled(f"what is written beside {i.name}, which is no list of names, each given once")
    if BETWEEN_DEVICES not in said:
        return None
    found = device_pairs(said[BETWEEN_DEVICES])
    if found is None:
        raise NotModelled(f"between which devices {i.name} is")
    return tuple(found)


def started(step: Step, result: Value) -> Value:
    """all-reduce-start is its result, and so is what has one array; the others are (operand, result, contexts)."""
    i = step.instruction
    if i.opcode == "all-reduce-start" or isinstance(i.shape, ArrayShape):
        return result
    operand: Value = step.operands[0] if len(step.operands) == 1 else step.operands
    return (operand, result, *rest(i.shape, 2))


def rest(shape: Shape, first: int) -> tuple[Value, ...]:
    """Contents for the elements of a tuple from number `first` on, such as contexts; nothing for other shapes."""
    elements = shape.elements if isinstance(shape, TupleShape) else ()
    return tuple(filled(s) for s in elements[first:])


def flight_elements(shape: Shape, flight: InFlight) -> tuple[Value, ...]:
    """What the tuple of an operation in flight holds: operands, outputs, contexts; outputs that do not exist yet are
    zeros."""
    shapes = shape.elements if isinstance(shape, TupleShape) else ()
    if not shapes:
        return ()
    nested = isinstance(shapes[0], TupleShape) and len(shapes[0].elements) == len(flight.operands)
    operands: Value = flight.operands if nested else flight.operands[0] if flight.operands else ()
    outputs = filled(shapes[1]) if flight.result is None and len(shapes) > 1 else flight.result
    return (operands, *(() if outputs is None else (outputs,)), *rest(shape, 2))
