"""The shape of an instruction from its opcode, its operands' shapes and its attributes.

`infer` looks the opcode up in one table. None means that nothing can be said: opaque opcodes, custom calls, bitcasts.
What upstream checks is checked; what it lets pass and real modules use (degenerate broadcasts, mixed precision) passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.inference import collective, control, elementwise, gather_scatter, movement, window
from hloproof.models.hlo.inference.common import Request, ShapeError, Signature, compatible
from hloproof.models.hlo.opcodes import BINARY, UNARY, Opcode, async_sugar, refusal, row_of
from hloproof.models.hlo.shape import Shape

_RULES: Final[dict[str, Callable[[Request], Shape | None]]] = {
    **dict.fromkeys(UNARY, elementwise.unary),
    **dict.fromkeys(BINARY, elementwise.binary),
    "copy": elementwise.unary,
    "bitcast-convert": elementwise.unary,
    "select": elementwise.select,
    "clamp": elementwise.clamp,
    "map": elementwise.map_,
    "iota": elementwise.iota,
    "parameter": elementwise.declared,
    "constant": elementwise.constant,
    "rng": elementwise.rng,
    "rng-get-and-update-state": elementwise.declared,
    "partition-id": elementwise.device_id,
    "replica-id": elementwise.device_id,
    "broadcast": movement.broadcast,
    "reshape": movement.reshape,
    "dynamic-reshape": movement.dynamic_reshape,
    "transpose": movement.transpose,
    "reverse": movement.reverse,
    "slice": movement.slice_,
    "dynamic-slice": movement.dynamic_slice,
    "dynamic-update-slice": movement.dynamic_update_slice,
    "pad": movement.pad,
    "concatenate": movement.concatenate,
    "bitcast": movement.bitcast,
    "get-dimension-size": movement.get_dimension_size,
    "set-dimension-size": movement.set_dimension_size,
    "reduce": window.reduce,
    "reduce-window": window.reduce_window,
    "select-and-scatter": window.select_and_scatter,
    "convolution": window.convolution,
    "dot": window.dot,
    "scaled-dot": window.dot,
    "ragged-dot": window.ragged_dot,
    "batch-norm-training": window.batch_norm,
    "batch-norm-inference": window.batch_norm,
    "batch-norm-grad": window.batch_norm,
    "gather": gather_scatter.gather,
    "scatter": gather_scatter.scatter,
    "sort": gather_scatter.sort,
    "topk": gather_scatter.topk,
    "fft": gather_scatter.fft,
    "cholesky": gather_scatter.cholesky,
    "triangular-solve": gather_scatter.triangular_solve,
    "rng-bit-generator": gather_scatter.rng_bit_generator,
    "tuple": control.tuple_,
    "get-tuple-element": control.get_tuple_element,
    "domain": control.same_as_operand,
    "opt-barrier": control.opt_barrier,
    "after-all": control.after_all,
    "add-dependency": control.add_dependency,
    "infeed": control.infeed,
    "outfeed": control.outfeed,
    "send": control.send,
    "recv": control.recv,
    "send-done": control.send_done,
    "recv-done": control.recv_done,
    "call": control.call,
    "fusion": control.fusion,
    "while": control.while_,
    "conditional": control.conditional,
    "custom-call": control.custom_call,
    "scan": control.scan,
    "all-reduce": collective.all_reduce,
    "all-reduce-start": collective.all_reduce_start,
    "all-reduce-done": collective.all_reduce_done,
    "all-gather": collective.all_gather,
    "reduce-scatter": collective.reduce_scatter,
    "all-to-all": collective.all_to_all,
    "ragged-all-to-all": collective.ragged_all_to_all,
    "collective-broadcast": collective.collective_reduce,
    "collective-reduce": collective.collective_reduce,
    "collective-permute": collective.collective_permute,
    "all-gather-start": collective.pair_start,
    "collective-permute-start": collective.pair_start,
    "all-gather-done": collective.pair_done,
    "collective-permute-done": collective.pair_done,
    "copy-start": collective.copy_start,
    "copy-done": collective.copy_done,
    "async-start": collective.async_state,
    "async-update": collective.async_state,
    "async-done": collective.async_done,
}


def infer(
    opcode: str,
    operands: tuple[Shape, ...],
    attributes: Attributes,
    declared: Shape | None,
    signatures: Mapping[str, Signature],
) -> Shape | None:
    """The shape that the operation gives, without a claim about layouts; None where it cannot be told.

    `declared` is what the text says, which some opcodes need (reshape, broadcast, convert). Raises ShapeError.
    """
    row = row_of(opcode)
    if row is None:
        raise ShapeError(refusal(opcode))
    _check_arity(row, len(operands))
    rule = _RULES.get(opcode)
    if rule is None:
        sugar = async_sugar(opcode)
        if sugar is None:
            return None  # an opaque opcode
        rule = collective.async_done if sugar[1] == "done" else collective.async_state
    return rule(Request(opcode, operands, attributes, declared, signatures))


def _check_arity(row: Opcode, count: int) -> None:
    if row.fewest <= count and (row.most is None or count <= row.most):
        return
    if row.most is None:
        wanted, last = f"at least {row.fewest}", row.fewest
    else:
        wanted = str(row.fewest) if row.fewest == row.most else f"{row.fewest} or {row.most}"
        last = row.most
    raise ShapeError(f"{row.name} takes {wanted} operand{'' if last == 1 else 's'}, found {count}")


def has_rule(opcode: str) -> bool:
    """Whether there is a shape rule for this opcode."""
    return opcode in _RULES


__all__ = ["ShapeError", "Signature", "compatible", "has_rule", "infer"]
