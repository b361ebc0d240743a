"""What each opcode means: which operand elements an output element reads, as a predicate.

Written from the semantics of the operations alone; nothing here looks at how maps are built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.definitions import (
    bitcast,
    collective,
    contraction,
    control,
    elementwise,
    gather_scatter,
    movement,
    whole_lines,
    window,
)
from hloproof.definitions.definition import Definition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE

Define = Callable[[Operation, int, int], Definition]
"""Operation, output number, operand number."""
DefineInTuple = Callable[[Operation, int, int, tuple[int, ...]], Definition]
"""The same, and where in the operand's tuple the array lies."""

TABLE: Final[Mapping[str, Define]] = {
    **dict.fromkeys(ELEMENTWISE, elementwise.elementwise),
    "all-gather": collective.all_gather,
    "all-gather-start": collective.all_gather_start,
    "all-reduce": collective.all_reduce,
    "all-reduce-start": collective.all_reduce,
    "all-to-all": collective.all_to_all,
    "batch-norm-grad": whole_lines.batch_norm_grad,
    "batch-norm-inference": whole_lines.batch_norm_inference,
    "batch-norm-training": whole_lines.batch_norm_training,
    "bitcast": bitcast.bitcast,
    "bitcast-convert": bitcast.bitcast_convert,
    "broadcast": movement.broadcast,
    "cholesky": whole_lines.cholesky,
    "collective-broadcast": collective.collective_broadcast,
    "collective-permute": collective.collective_permute,
    "collective-permute-start": collective.collective_permute_start,
    "concatenate": movement.concatenate,
    "convolution": window.convolution,
    "copy": movement.copy,
    "dot": contraction.dot,
    "dynamic-slice": gather_scatter.dynamic_slice,
    "dynamic-update-slice": gather_scatter.dynamic_update_slice,
    "fft": whole_lines.fft,
    "gather": gather_scatter.gather,
    "pad": movement.pad,
    "ragged-dot": contraction.ragged_dot,
    "reduce": contraction.reduce,
    "reduce-scatter": collective.reduce_scatter,
    "reduce-window": window.reduce_window,
    "ragged-all-to-all": collective.ragged_all_to_all,
    "reshape": movement.reshape,
    "reverse": movement.reverse,
    "scaled-dot": contraction.scaled_dot,
    "scan": whole_lines.scan,
    "scatter": gather_scatter.scatter,
    "select-and-scatter": window.select_and_scatter,
    "slice": movement.slice_,
    "sort": whole_lines.sort,
    "topk": whole_lines.topk,
    "transpose": movement.transpose,
    "triangular-solve": whole_lines.triangular_solve,
}

IN_TUPLES: Final[Mapping[str, DefineInTuple]] = {
    **dict.fromkeys(("add-dependency", "domain", "opt-barrier"), control.first_operand),
    **dict.fromkeys(("custom-call", "rng", "rng-bit-generator"), control.anything),
    **dict.fromkeys(("after-all", "get-dimension-size", "infeed", "outfeed", "recv", "send-done"), control.nothing),
    "all-gather-done": control.gathered_done,
    "all-reduce-done": control.all_reduce_done,
    "collective-permute-done": control.gathered_done,
    "copy-done": control.copy_done,
    "copy-start": control.copy_start,
    "get-tuple-element": control.get_tuple_element,
    "recv-done": control.received_or_first,
    "send": control.send,
    "set-dimension-size": control.set_dimension_size,
    "tuple": control.tuple_,
}
"""Opcodes whose operands may be tuples."""


def define(op: Operation, output: int, operand: int, position: tuple[int, ...] = ()) -> Definition:
    """What output number `output` reads of operand number `operand`.

    Outputs count the arrays of the result in order: 0 for an array. `position` says where the array that is read lies
    in an operand that is a tuple.

    Raises NotModelled, with the reason, for an opcode or a form of it that has no definition.
    """
    in_tuple, plain = IN_TUPLES.get(op.opcode), TABLE.get(op.opcode)
    try:
        if in_tuple is not None:
            return in_tuple(op, output, operand, position)
        if plain is not None and not position:
            return plain(op, output, operand)
    except (TypeError, ValueError, IndexError) as error:
        raise NotModelled(f"attributes of {op.opcode} in an unexpected form: {error}") from error
    raise NotModelled(f"no definition of the opcode {op.opcode}{' over tuples' if position else ''}")
