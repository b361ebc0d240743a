"""Operations that hand values on, make them, or hide them: tuples, async starts and dones, opaque calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.inference.infer import what_is_wrong
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.remembered import remembered
from hloproof.models.hlo.shape import Shape, TupleShape, leaves
from hloproof.models.indexing.box import (
    Builder,
    Builders,
    bounds,
    check_whole,
    data_operands,
    data_outputs,
    holds_data,
    one,
    output_shape,
    to_scalar,
    whole,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import identity


def nothing(op: Operation, number: int) -> tuple[OperandMaps, ...]:
    """No operand's data is read: constant, iota, parameter, partition-id, replica-id, after-all."""
    return ()


def nothing_read(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """There are operands, and their elements are not read: get-dimension-size."""
    output_shape(op, output)
    return tuple(OperandMaps(n, "reads", (), position) for n, position, _ in data_operands(op))


def nothing_written(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """No element goes to any output."""
    return tuple(OperandMaps(n, "reads", ()) for n, _ in data_outputs(op))


def _handed_on(
    op: Operation, output: int, leaf: Shape, operand: int, position: tuple[int, ...], number: int | None = None
) -> OperandMaps:
    """The same element of an operand's array, whose sizes must be the output's; said of operand `operand`, or of number
    `number` where that is another."""
    if bounds(leaf) != bounds(output_shape(op, output)):
        raise NotModelled(f"{op.opcode} between arrays of different sizes")
    return one(operand if number is None else number, "moves", identity(bounds(leaf)), position)


@remembered
def _operand_leaves(op: Operation) -> tuple[list[tuple[int, tuple[int, ...], Shape]], tuple[int, ...]]:
    """Every leaf of the operands, and how many stand before each operand."""
    found = [(n, position, leaf) for n, shape in enumerate(op.operands) for position, leaf in leaves(shape)]
    return found, (0, *accumulate(len(list(leaves(shape))) for shape in op.operands))


def tuple_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Output n is the n-th array of the operands, counted through nested tuples."""
    operand, position, leaf = _operand_leaves(op)[0][output]
    return (_handed_on(op, output, leaf, operand, position),) if holds_data(leaf) else ()


def tuple_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Each array of the operand to its place in the tuple."""
    before = _operand_leaves(op)[1][operand]
    return tuple(
        one(before + k, "moves", identity(bounds(leaf)), position)
        for k, (position, leaf) in enumerate(leaves(op.operands[operand]))
        if holds_data(leaf)
    )


def get_tuple_element_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The same element of the array at tuple position `index`."""
    position, leaf = _element(op)[output]
    return (_handed_on(op, output, leaf, 0, position),) if holds_data(leaf) else ()


def get_tuple_element_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Each array of the element that is taken; those of the others go nowhere."""
    return tuple(
        one(k, "moves", identity(bounds(leaf)), position)
        for k, (position, leaf) in enumerate(_element(op))
        if holds_data(leaf)
    )


def _element(op: Operation) -> list[tuple[tuple[int, ...], Shape]]:
    """The arrays of the element taken, each with its position in the operand."""
    shape, index = op.operands[0], op.attributes.integer("index", 0)
    if not isinstance(shape, TupleShape) or not 0 <= index < len(shape.elements):
        raise NotModelled("get-tuple-element of something that has no such element")
    return [((index, *position), leaf) for position, leaf in leaves(shape.elements[index])]


def first_operand_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The first operand passes through, array by array: opt-barrier, domain, add-dependency. Others are tokens."""
    position, leaf = list(leaves(op.operands[0]))[output]
    return (_handed_on(op, output, leaf, 0, position),) if holds_data(leaf) else ()


def first_operand_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Each array of the first operand to the same place; other operands go nowhere."""
    if operand:
        return ()
    return tuple(
        one(k, "moves", identity(bounds(leaf)), position)
        for k, (position, leaf) in enumerate(leaves(op.operands[0]))
        if holds_data(leaf)
    )


def opaque_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """What happens inside is not known: every output element may depend on every element of every operand."""
    shape = output_shape(op, output)
    if not holds_data(shape):
        return ()
    out = bounds(shape)
    return tuple(
        one(n, "bound", whole(out, to) if (to := bounds(leaf)) else to_scalar(out), position)
        for n, position, leaf in data_operands(op)
    )


def opaque_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Any element of every output: a bound."""
    return tuple(
        one(n, "bound", whole(bounds(leaf), bounds(shape)), position)
        for position, leaf in leaves(op.operands[operand])
        if holds_data(leaf)
        for n, shape in data_outputs(op)
    )


def copy_start_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Outputs: destination, source, context. Both arrays hold the operand."""
    return (one(0, "moves", identity(bounds(op.operands[0]))),) if output < 2 else ()


def copy_start_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The same element of the destination and of the source in (destination, source, context)."""
    m = identity(bounds(op.operands[0]))
    return one(0, "moves", m), one(1, "moves", m)


def send_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Outputs: operand, which may be a tuple, context, token."""
    sent = list(leaves(op.operands[0]))
    if output >= len(sent) or not holds_data(sent[output][1]):
        return ()
    position, leaf = sent[output]
    return (_handed_on(op, output, leaf, 0, position),)


def send_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The data to the first outputs; the token goes nowhere."""
    sent = leaves(op.operands[0]) if operand == 0 else ()
    return tuple(_handed_on(op, k, leaf, 0, place, k) for k, (place, leaf) in enumerate(sent) if holds_data(leaf))


def done_with_first_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """copy-done: output 0 is the first array of the operand."""
    if output or not holds_data(output_shape(op, output)):
        return ()
    position, leaf = next(iter(leaves(op.operands[0])))
    return (_handed_on(op, output, leaf, 0, position),)


def done_with_first_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The first array in flight to the first output. Raises NotModelled where their sizes differ."""
    position, leaf = next(iter(leaves(op.operands[0])))
    if not holds_data(leaf) or not data_outputs(op):
        return ()
    return (_handed_on(op, 0, leaf, 0, position),)


def recv_done_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """(data, token) of (data, context, token): every array of the data is where it was."""
    position, leaf = list(leaves(op.shape))[output]
    return (_handed_on(op, output, _in_flight(op, position), 0, position),) if holds_data(leaf) else ()


def recv_done_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Every array of the data in flight to the output at its place; the context goes nowhere."""
    outputs = [(k, position) for k, (position, leaf) in enumerate(leaves(op.shape)) if holds_data(leaf)]
    return tuple(_handed_on(op, k, _in_flight(op, position), 0, position, k) for k, position in outputs)


def _in_flight(op: Operation, position: tuple[int, ...]) -> Shape:
    for place, leaf in leaves(op.operands[0]):
        if place == position:
            return leaf
    raise NotModelled(f"{op.opcode} whose result does not follow from its operand")


def done_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """all-gather-done, all-reduce-done, collective-permute-done: the start's outputs, which stand after its operands in
    the tuple where it repeats them."""
    position, leaf = _finished(op)[output]
    return (_handed_on(op, output, leaf, 0, position),) if holds_data(leaf) else ()


def done_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Each array of the finished result to its output. Raises NotModelled where sizes differ."""
    return tuple(_handed_on(op, k, leaf, 0, place, k) for k, (place, leaf) in enumerate(_finished(op)))


def _finished(op: Operation) -> list[tuple[tuple[int, ...], Shape]]:
    started, outputs = list(leaves(op.operands[0])), len(list(leaves(op.shape)))
    if len(started) == outputs:
        return started
    if op.opcode == "all-reduce-done" or len(started) < 2 * outputs:
        raise NotModelled(f"{op.opcode} of a start with {len(started)} arrays")
    # In front stand the operands, behind the contexts.
    return started[outputs : 2 * outputs]


def start_output_to_input(base: Builder) -> Builder:
    """A start that repeats its operands before its outputs; the outputs are what `base` says."""

    def builder(op: Operation, output: int) -> tuple[OperandMaps, ...]:
        check_whole(op)
        parts, count = list(leaves(op.shape)), len(op.operands)
        if not isinstance(op.shape, TupleShape) or len(parts) == count:
            return base(_that_can_be(op), output)
        if output >= 2 * count:
            return ()
        if output < count:
            return (one(output, "moves", identity(bounds(op.operands[output]))),)
        return base(_that_can_be(_without_repeats(op)), output - count)

    return builder


def start_input_to_output(base: Builder) -> Builder:
    """For a start whose tuple begins with its operands: each goes there, and where `base` says behind them."""

    def builder(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
        check_whole(op)
        parts, count = list(leaves(op.shape)), len(op.operands)
        if not isinstance(op.shape, TupleShape) or len(parts) == count:
            return base(_that_can_be(op), operand)
        started = _that_can_be(_without_repeats(op))
        later = tuple(replace(m, operand=m.operand + count) for m in base(started, operand))
        return one(operand, "moves", identity(bounds(op.operands[operand]))), *later

    return builder


def all_reduce_start(base: Builder) -> Builder:
    """The result alone, one array per operand; a start that repeats its operands is not one of XLA's."""

    def builder(op: Operation, number: int) -> tuple[OperandMaps, ...]:
        if len(list(leaves(op.shape))) != len(op.operands):
            raise NotModelled(f"all-reduce-start of {len(op.operands)} operands with another number of results")
        return base(op, number)

    return builder


def _that_can_be(op: Operation) -> Operation:
    """The same. Raises NotModelled where nothing like it can be started, or gives this: the reader leaves that to the
    claims about chains."""
    if wrong := what_is_wrong(op.opcode.removesuffix("-start"), op.operands, op.attributes, op.shape, {}):
        raise NotModelled(f"{op.opcode} of what cannot be: {wrong}")
    return op


def _without_repeats(op: Operation) -> Operation:
    parts, count = [leaf for _, leaf in leaves(op.shape)], len(op.operands)
    if len(parts) < 2 * count:
        raise NotModelled(f"{op.opcode} with {len(parts)} arrays for {count} operands")
    outputs = parts[count : 2 * count]
    return replace(op, shape=outputs[0] if count == 1 else TupleShape(tuple(outputs)))


def by_body(op: Operation, number: int) -> tuple[OperandMaps, ...]:
    """What it reads is decided by computations that it calls, which the composer composes through."""
    raise NotModelled(f"{op.opcode} is composed through the computations that it calls")


BUILDERS: Final[Mapping[str, Builders]] = {
    **dict.fromkeys(
        ("add-dependency", "domain", "opt-barrier"),
        Builders(first_operand_output_to_input, first_operand_input_to_output),
    ),
    **dict.fromkeys(
        ("all-gather-done", "all-reduce-done", "collective-permute-done"),
        Builders(done_output_to_input, done_input_to_output),
    ),
    "copy-done": Builders(done_with_first_output_to_input, done_with_first_input_to_output),
    "copy-start": Builders(copy_start_output_to_input, copy_start_input_to_output),
    "get-dimension-size": Builders(nothing_read, nothing_written),
    "get-tuple-element": Builders(get_tuple_element_output_to_input, get_tuple_element_input_to_output),
    "recv-done": Builders(recv_done_output_to_input, recv_done_input_to_output),
    "send": Builders(send_output_to_input, send_input_to_output),
    "tuple": Builders(tuple_output_to_input, tuple_input_to_output),
}
"""By opcode, both directions. Opcodes without data, opaque and composed ones are put together in `table.py`."""
