"""Operations on tuples and tokens, the done halves of asynchronous pairs, and what nothing is known of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.definitions.definition import DefineInTuple, Definition
from hloproof.definitions.variables import arrays_of, identity, operand_array, output_array
from hloproof.logic.formula import FALSE, TRUE
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ShapeIndex


def output_place(op: Operation, output: int) -> ShapeIndex:
    """Where output number `output` lies in the result's tuple; () for an array."""
    return arrays_of(op.shape)[output][0]


def _same(op: Operation, output: int, operand: int, position: ShapeIndex, same: bool) -> Definition:
    out, into = output_array(op, output), operand_array(op, operand, position)
    if not same:
        return Definition("moves", out.dimensions, into.dimensions, FALSE)
    if out.dimensions != into.dimensions:
        raise NotModelled(f"{op.opcode} between arrays of different sizes")
    return Definition("moves", out.dimensions, into.dimensions, identity(out.rank))


def tuple_(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """Operand k is element k of the result."""
    return _same(op, output, operand, position, output_place(op, output) == (operand, *position))


def get_tuple_element(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The result is element `index` of the operand."""
    index = op.attributes.integer("index", -1)
    return _same(op, output, operand, position, position == (index, *output_place(op, output)))


def first_operand(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The result is the first operand; the others are tokens, which order what happens."""
    return _same(op, output, operand, position, operand == 0 and output_place(op, output) == position)


def nothing(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """No data of the operand is in the result."""
    return _same(op, output, operand, position, False)


def anything(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """Every output element may depend on all of every operand."""
    out, into = output_array(op, output), operand_array(op, operand, position)
    return Definition("bound", out.dimensions, into.dimensions, TRUE)


def copy_start(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The result is (destination, source, context)."""
    return _same(op, output, operand, position, output_place(op, output) in ((0,), (1,)))


def copy_done(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The result is the destination."""
    return _same(op, output, operand, position, position == (0, *output_place(op, output)))


def received(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """recv-done: the data of (data, context, token) is the data of (data, token), which may be a tuple."""
    return _same(op, output, operand, position, position == output_place(op, output))


def gathered_done(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """all-gather-done and collective-permute-done: the result is element 1 of the operand's tuple, or the operand where
    that is one array."""
    return _same(op, output, operand, position, position in ((), (1, *output_place(op, output))))


def all_reduce_done(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The operand of all-reduce-done is the result itself."""
    if len(arrays_of(op.operands[operand])) != len(arrays_of(op.shape)):
        raise NotModelled("all-reduce-done of a start with another number of arrays")
    return _same(op, output, operand, position, position == output_place(op, output))


def send(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The result is (operand, context, token)."""
    return _same(op, output, operand, position, operand == 0 and output_place(op, output) == (0, *position))


def set_dimension_size(op: Operation, output: int, operand: int, position: ShapeIndex) -> Definition:
    """The elements stay where they are; whether an element is there at all depends on the size, a scalar."""
    if operand == 1:
        out, size = output_array(op, output), operand_array(op, operand, position)
        return Definition("reads", out.dimensions, size.dimensions, TRUE)
    return _same(op, output, operand, position, operand == 0)


IN_TUPLES: Final[Mapping[str, DefineInTuple]] = {
    "after-all": nothing,
    "get-dimension-size": nothing,
    "infeed": nothing,
    "outfeed": nothing,
    "recv": nothing,
    "send-done": nothing,
    "custom-call": anything,
    "rng": anything,
    "rng-bit-generator": anything,
    "add-dependency": first_operand,
    "domain": first_operand,
    "opt-barrier": first_operand,
    "all-gather-done": gathered_done,
    "all-reduce-done": all_reduce_done,
    "collective-permute-done": gathered_done,
    "copy-done": copy_done,
    "copy-start": copy_start,
    "get-tuple-element": get_tuple_element,
    "recv-done": received,
    "send": send,
    "set-dimension-size": set_dimension_size,
    "tuple": tuple_,
}
"""By opcode, whose operands may be tuples."""
