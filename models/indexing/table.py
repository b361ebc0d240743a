"""Opcode to builders, both directions. Neither direction is built by reversing the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.opcodes import COMPOSED, ELEMENTWISE
from hloproof.models.indexing import (
    collective,
    contraction,
    control,
    dynamic,
    elementwise,
    gather_scatter,
    movement,
    reduction,
    reshape,
    window,
)
from hloproof.models.indexing.box import Builder


@dataclass(frozen=True, slots=True)
class Builders:
    """The two builders of an opcode."""

    output_to_input: Builder
    input_to_output: Builder


_WITHOUT_DATA: Final = (
    "after-all",
    "constant",
    "infeed",
    "iota",
    "outfeed",
    "parameter",
    "partition-id",
    "recv",
    "replica-id",
    "rng-get-and-update-state",
    "send-done",
)
_OPAQUE: Final = ("custom-call", "rng", "rng-bit-generator")

_all_reduce = Builders(collective.all_reduce_output_to_input, collective.all_reduce_input_to_output)
_all_gather = Builders(collective.all_gather_output_to_input, collective.all_gather_input_to_output)
_permute = Builders(collective.collective_permute_output_to_input, collective.collective_permute_input_to_output)
_copy = Builders(elementwise.copy_output_to_input, elementwise.copy_input_to_output)
_first = Builders(control.first_operand_output_to_input, control.first_operand_input_to_output)
_done = Builders(control.done_output_to_input, control.done_input_to_output)
_done_with_first = Builders(control.done_with_first_output_to_input, control.done_with_first_input_to_output)


def _started(base: Builders) -> Builders:
    return Builders(
        control.start_output_to_input(base.output_to_input), control.start_input_to_output(base.input_to_output)
    )


_BUILDERS: Final[dict[str, Builders]] = {
    **{
        name: Builders(elementwise.elementwise_output_to_input, elementwise.elementwise_input_to_output)
        for name in ELEMENTWISE
    },
    **{name: Builders(control.nothing, control.nothing) for name in _WITHOUT_DATA},
    **{name: Builders(control.opaque_output_to_input, control.opaque_input_to_output) for name in _OPAQUE},
    **{name: Builders(control.by_body, control.by_body) for name in COMPOSED},
    "add-dependency": _first,
    "all-gather": _all_gather,
    "all-gather-done": _done,
    "all-gather-start": _started(_all_gather),
    "all-reduce": _all_reduce,
    "all-reduce-done": _done,
    "all-reduce-start": Builders(
        control.all_reduce_start(collective.all_reduce_output_to_input),
        control.all_reduce_start(collective.all_reduce_input_to_output),
    ),
    "all-to-all": Builders(collective.all_to_all_output_to_input, collective.all_to_all_input_to_output),
    "batch-norm-grad": Builders(reduction.batch_norm_grad_output_to_input, reduction.batch_norm_grad_input_to_output),
    "batch-norm-inference": Builders(
        reduction.batch_norm_inference_output_to_input, reduction.batch_norm_inference_input_to_output
    ),
    "batch-norm-training": Builders(
        reduction.batch_norm_training_output_to_input, reduction.batch_norm_training_input_to_output
    ),
    "bitcast": Builders(reshape.bitcast_output_to_input, reshape.bitcast_input_to_output),
    "bitcast-convert": Builders(reshape.bitcast_convert_output_to_input, reshape.bitcast_convert_input_to_output),
    "broadcast": Builders(movement.broadcast_output_to_input, movement.broadcast_input_to_output),
    "cholesky": Builders(contraction.cholesky_output_to_input, contraction.cholesky_input_to_output),
    "collective-broadcast": Builders(
        collective.collective_broadcast_output_to_input, collective.collective_broadcast_input_to_output
    ),
    "collective-permute": _permute,
    "collective-permute-done": _done,
    "collective-permute-start": _started(_permute),
    "concatenate": Builders(movement.concatenate_output_to_input, movement.concatenate_input_to_output),
    "convolution": Builders(window.convolution_output_to_input, window.convolution_input_to_output),
    "copy": _copy,
    "copy-done": _done_with_first,
    "copy-start": Builders(control.copy_start_output_to_input, control.copy_start_input_to_output),
    "domain": _first,
    "dot": Builders(contraction.dot_output_to_input, contraction.dot_input_to_output),
    "dynamic-slice": Builders(dynamic.dynamic_slice_output_to_input, dynamic.dynamic_slice_input_to_output),
    "dynamic-update-slice": Builders(
        dynamic.dynamic_update_slice_output_to_input, dynamic.dynamic_update_slice_input_to_output
    ),
    "fft": Builders(contraction.fft_output_to_input, contraction.fft_input_to_output),
    "gather": Builders(gather_scatter.gather_output_to_input, gather_scatter.gather_input_to_output),
    "get-dimension-size": Builders(control.nothing_read, control.nothing_written),
    "get-tuple-element": Builders(control.get_tuple_element_output_to_input, control.get_tuple_element_input_to_output),
    "opt-barrier": _first,
    "pad": Builders(movement.pad_output_to_input, movement.pad_input_to_output),
    "ragged-all-to-all": Builders(
        collective.ragged_all_to_all_output_to_input, collective.ragged_all_to_all_input_to_output
    ),
    "ragged-dot": Builders(contraction.ragged_dot_output_to_input, contraction.ragged_dot_input_to_output),
    "recv-done": _done_with_first,
    "reduce": Builders(reduction.reduce_output_to_input, reduction.reduce_input_to_output),
    "reduce-scatter": Builders(collective.reduce_scatter_output_to_input, collective.reduce_scatter_input_to_output),
    "reduce-window": Builders(window.reduce_window_output_to_input, window.reduce_window_input_to_output),
    "reshape": Builders(reshape.reshape_output_to_input, reshape.reshape_input_to_output),
    "reverse": Builders(movement.reverse_output_to_input, movement.reverse_input_to_output),
    "scaled-dot": Builders(contraction.scaled_dot_output_to_input, contraction.scaled_dot_input_to_output),
    "scan": Builders(reduction.scan_output_to_input, reduction.scan_input_to_output),
    "scatter": Builders(gather_scatter.scatter_output_to_input, gather_scatter.scatter_input_to_output),
    "select-and-scatter": Builders(
        window.select_and_scatter_output_to_input, window.select_and_scatter_input_to_output
    ),
    "send": Builders(control.send_output_to_input, control.send_input_to_output),
    "set-dimension-size": Builders(
        elementwise.set_dimension_size_output_to_input, elementwise.set_dimension_size_input_to_output
    ),
    "slice": Builders(movement.slice_output_to_input, movement.slice_input_to_output),
    "sort": Builders(reduction.sort_output_to_input, reduction.sort_input_to_output),
    "topk": Builders(reduction.topk_output_to_input, reduction.topk_input_to_output),
    "transpose": Builders(movement.transpose_output_to_input, movement.transpose_input_to_output),
    "triangular-solve": Builders(
        contraction.triangular_solve_output_to_input, contraction.triangular_solve_input_to_output
    ),
    "tuple": Builders(control.tuple_output_to_input, control.tuple_input_to_output),
}


def builders(opcode: str) -> Builders | None:
    """The builders of an opcode; None where the opcode is not known."""
    return _BUILDERS.get(opcode)


def opcodes() -> frozenset[str]:
    """Every opcode that has builders."""
    return frozenset(_BUILDERS)
