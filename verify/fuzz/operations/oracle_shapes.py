"""Part of target `ops`: an operation over dynamic dimensions, unbounded ones, buffers.

A dimension of run-time size counts with its bound wherever the place of no element depends on the size; then the maps
are those of the same operation without it. Elsewhere there are none. Which case it is, is stated here by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import SliceDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape, leaves
from hloproof.models.indexing import OperandMaps, input_to_output, output_to_input

Sets = tuple[OperandMaps, ...]
FIXED: Final = ELEMENTWISE | {
    "copy",
    "broadcast",
    "transpose",
    "reverse",
    "slice",
    "concatenate",
    "reduce",
    "dot",
    "set-dimension-size",
}
"""Operations that may leave a dynamic dimension alone."""


def followed(op: Operation, operand: int, dimension: int) -> int | None:
    """The dimension of the output that this dimension of the operand becomes; None where it becomes none, or where an
    element's place would depend on its size."""
    shape = op.operands[operand]
    assert isinstance(shape, ArrayShape)
    named = op.attributes.integers("dimensions") if op.opcode in FIXED - ELEMENTWISE else ()
    match op.opcode:
        case "copy" | "set-dimension-size":
            return dimension
        case "broadcast":
            return named[dimension]
        case "transpose":
            return named.index(dimension)
        case "reverse":
            return None if dimension in named else dimension
        case "concatenate":
            return None if dimension in named else dimension
        case "slice":
            cuts = op.attributes.get("slice")
            assert isinstance(cuts, tuple)
            return dimension if cuts[dimension] == SliceDimension(0, shape.dimensions[dimension], 1) else None
        case "reduce":
            kept = [d for d in range(shape.rank) if d not in named]
            return kept.index(dimension) if dimension in kept else None
        case "dot":
            return _followed_by_dot(op, operand, dimension)
    return dimension if op.opcode in ELEMENTWISE else None


def _followed_by_dot(op: Operation, operand: int, dimension: int) -> int | None:
    batch, free = [], []
    for side, shape in zip(("lhs", "rhs"), op.operands, strict=True):
        assert isinstance(shape, ArrayShape)
        batch.append(list(op.attributes.integers(f"{side}_batch_dims")))
        taken = {*batch[-1], *op.attributes.integers(f"{side}_contracting_dims")}
        free.append([d for d in range(shape.rank) if d not in taken])
    if dimension in batch[operand]:
        return batch[operand].index(dimension)
    if dimension not in free[operand]:
        return None
    before = len(batch[0]) + (len(free[0]) if operand else 0)
    return before + free[operand].index(dimension)


def answers(op: Operation, outputs: int) -> list[Sets | str]:
    """The maps from every output, then from every operand; the reason where there are none."""
    found: list[Sets | str] = []
    for ask, count in ((output_to_input, outputs), (input_to_output, len(op.operands))):
        for n in range(count):
            try:
                found.append(ask(op, n))
            except NotModelled as reason:
                found.append(str(reason))
    return found


def examine_shapes(op: Operation, seed: int) -> tuple[str, ...]:
    """Raises Failure where an operation over other kinds of shapes has maps that it should not have, or others."""
    if op.opcode.endswith("-start"):
        return ()
    outputs = len(list(leaves(op.shape)))
    plain = answers(op, outputs)
    in_buffers = _everywhere(op, BufferShape)
    if answers(in_buffers, outputs) != plain:
        raise Failure(f"{op.opcode}: maps over buffers are others", str(in_buffers))
    places = [(n, d) for n, s in enumerate(op.operands) if isinstance(s, ArrayShape) for d in range(s.rank)]
    if not places:
        return ()
    _refused(_everywhere(op, lambda s: replace(s, dimensions=(UNBOUNDED,) * s.rank)), outputs, "unbounded")
    operand, dimension = Random(seed).choice(places)
    goes = followed(op, operand, dimension)
    if op.opcode in ("ragged-dot", "scaled-dot") and not op.attributes.integers("lhs_contracting_dims"):
        return ()  # nothing that is summed over has a size of run time
    if goes is None and op.opcode not in FIXED:
        _refused(_everywhere(op, lambda s: replace(s, dynamic=(True,) * s.rank)), outputs, "dynamic")
        return (f"{op.opcode}: dynamic dimensions refused",)
    changed = _dynamic(op, operand, dimension, goes)
    if goes is None:
        _refused(changed, outputs, "dynamic")
        return (f"{op.opcode}: a dynamic dimension refused",)
    found = answers(changed, outputs)
    if found != plain:
        raise Failure(f"{op.opcode}: maps over a dynamic dimension are others", f"{changed}: {found}")
    return (f"{op.opcode}: a dynamic dimension kept",)


def _refused(op: Operation, outputs: int, what: str) -> None:
    """No output has maps, and no operand that has dimensions."""
    found = answers(op, outputs)
    of_operands = [a for a, s in zip(found[outputs:], op.operands, strict=True) if isinstance(s, ArrayShape) and s.rank]
    if any(isinstance(a, tuple) for a in (*found[:outputs], *of_operands)):
        raise Failure(f"{op.opcode}: maps over {what} dimensions", str(op))


def _dynamic(op: Operation, operand: int, dimension: int, goes: int | None) -> Operation:
    """One dimension is dynamic: of this operand, where operands are alike of all that have its sizes, and of the output
    dimension that it becomes."""
    own = op.operands[operand]
    assert isinstance(own, ArrayShape)
    operands = [
        _marked(s, dimension)
        if n == operand or (op.opcode not in ("concatenate", "dot") and _sizes(s) == own.dimensions)
        else s
        for n, s in enumerate(op.operands)
    ]
    if goes is None:
        # Where an operation asks whether its output is dynamic there, the output has the operand's dimensions.
        return replace(op, operands=tuple(operands), shape=_marked(op.shape, dimension))
    outputs = op.shape.elements if isinstance(op.shape, TupleShape) else (op.shape,)
    marked = tuple(_marked(s, goes) for s in outputs)
    return replace(op, operands=tuple(operands), shape=TupleShape(marked) if len(marked) > 1 else marked[0])


def _sizes(shape: Shape) -> tuple[int, ...]:
    return shape.dimensions if isinstance(shape, ArrayShape) else ()


def _marked(shape: Shape, dimension: int) -> Shape:
    if not isinstance(shape, ArrayShape) or dimension >= shape.rank:
        return shape
    return replace(shape, dynamic=tuple(d == dimension for d in range(shape.rank)))


def _everywhere(op: Operation, change: Callable[[ArrayShape], Shape]) -> Operation:
    """All arrays changed, those in tuples too."""

    def changed(shape: Shape) -> Shape:
        if isinstance(shape, TupleShape):
            return TupleShape(tuple(map(changed, shape.elements)))
        return change(shape) if isinstance(shape, ArrayShape) else shape

    return replace(op, operands=tuple(map(changed, op.operands)), shape=changed(op.shape))
