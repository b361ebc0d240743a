"""Opcode to evaluation by classes. What is not in the table passes values on, or is done on arrays written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.interpreter.compact import folds, movement
from hloproof.models.interpreter.compact.classed import MOST_WRITTEN_OUT, SMALL, lifted, written_out
from hloproof.models.interpreter.compact.folds import Single
from hloproof.models.interpreter.operations.dispatch import OPERATIONS
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Array, Classed, InFlight, Value


def _moving(move: Callable[[Step], Value]) -> Callable[[Step, Single], Value]:
    return lambda step, single: move(step)


COMPACT: Final[dict[str, Callable[[Step, Single], Value]]] = {
    **dict.fromkeys(SCALAR, folds.elementwise),
    "bitcast": _moving(movement.bitcast),
    "broadcast": _moving(movement.broadcast),
    "concatenate": _moving(movement.concatenate),
    "convolution": folds.convolution,
    "custom-call": folds.library_call,
    "dot": folds.dot,
    "dynamic-slice": _moving(movement.dynamic_slice),
    "dynamic-update-slice": _moving(movement.dynamic_update_slice),
    "gather": _moving(movement.gather),
    "iota": _moving(movement.iota),
    "pad": _moving(movement.pad),
    "reduce": folds.reduce,
    "reduce-window": folds.reduce_window,
    "reshape": _moving(movement.reshape),
    "reverse": _moving(movement.reverse),
    "slice": _moving(movement.slice_),
    "sort": folds.sort,
    "transpose": _moving(movement.transpose),
}
MOST_PLAIN: Final = 1 << 22
"""Operations that are more work are not done element by element."""
PASSING: Final = frozenset(
    {
        "add-dependency",
        "after-all",
        "all-gather-done",
        "all-reduce-done",
        "collective-permute-done",
        "copy",
        "copy-done",
        "copy-start",
        "domain",
        "get-dimension-size",
        "get-tuple-element",
        "opt-barrier",
        "outfeed",
        "tuple",
    }
)
"""Operations that do not look at elements."""


def applied(step: Step, single: Single) -> Value:
    """One operation of the table of plain ones, by classes where it can be. Raises NotModelled."""
    opcode = step.instruction.opcode
    if opcode in PASSING:
        return OPERATIONS[opcode](step)
    by_classes = COMPACT.get(opcode)
    if by_classes is not None and (_has_classes(step.operands) or _size(step.instruction.shape) > SMALL):
        try:
            return by_classes(step, single)
        except NotModelled:
            if _size(step.instruction.shape) * _taps(step) > MOST_PLAIN:
                raise
    if _size(step.instruction.shape) > MOST_WRITTEN_OUT:
        raise NotModelled(f"{opcode} of {_size(step.instruction.shape)} elements, which all are needed")
    plain = tuple(written_out(x) for x in step.operands)
    found = OPERATIONS[opcode](replace(step, operands=plain))
    return compacted(found)


def _taps(step: Step) -> int:
    """How many elements go into one of the result, at most."""
    if len(step.operands) < 2 or step.instruction.opcode in SCALAR:
        return 1
    return max(1, _size(step.operand_shapes[1]))


def compacted(value: Value) -> Value:
    """Large plain arrays by their classes."""
    if isinstance(value, tuple):
        return tuple(compacted(v) for v in value)
    return lifted(value) if isinstance(value, Array) and len(value.data) > SMALL else value


def _has_classes(values: tuple[Value, ...]) -> bool:
    return any(isinstance(v, (Classed, InFlight)) or (isinstance(v, tuple) and _has_classes(v)) for v in values)


def _size(shape: Shape) -> int:
    return sum(prod(leaf.dimensions) for _, leaf in leaves(shape) if isinstance(leaf, ArrayShape))
