"""Part of target `ops`: operations that mean nothing, each made of one that does by one change; none has maps.

Texts with most of these are refused when they are read, so that only those who build operations themselves see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, PaddingDimension, ReplicaGroups, Window
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.indexing import input_to_output, output_to_input

Deformed = Iterator[Operation]


def _with(op: Operation, name: str, value: Any) -> Operation:
    """Another value of an attribute, or without it (None)."""
    pairs = [p for p in op.attributes.pairs if p[0] != name]
    return replace(op, attributes=Attributes(tuple(pairs if value is None else [*pairs, (name, value)])))


def _sized(op: Operation, *dimensions: int) -> Operation:
    """Another size of the result."""
    assert isinstance(op.shape, ArrayShape)
    return replace(op, shape=replace(op.shape, dimensions=dimensions))


def _operand(op: Operation, number: int, *dimensions: int, kind: str = "") -> Operation:
    """Another size, or type, of an operand."""
    operands = list(op.operands)
    own = operands[number]
    assert isinstance(own, ArrayShape)
    operands[number] = replace(own, dimensions=dimensions, element_type=kind or own.element_type)
    return replace(op, operands=tuple(operands))


def _of(op: Operation, number: int) -> tuple[int, ...]:
    shape = op.operands[number]
    return shape.dimensions if isinstance(shape, ArrayShape) else ()


def _result(op: Operation) -> tuple[int, ...]:
    return op.shape.dimensions if isinstance(op.shape, ArrayShape) else ()


def _longer(dimensions: tuple[int, ...], at: int) -> tuple[int, ...]:
    return tuple(n + 1 if i == at else n for i, n in enumerate(dimensions))


def _broadcast(op: Operation) -> Deformed:
    to = op.attributes.integers("dimensions")
    if to:
        yield _sized(op, *_longer(_result(op), to[-1]))
        yield _with(op, "dimensions", to[:-1])


def _listed(name: str) -> Callable[[Operation], Deformed]:
    """One entry per dimension is too few or something else."""

    def deformed(op: Operation) -> Deformed:
        entries = op.attributes.get(name)
        if isinstance(entries, tuple) and entries:
            yield _with(op, name, entries[:-1])
            yield _with(op, name, tuple(range(len(entries))))
            yield _with(op, name, None)
            yield _with(op, name, (*entries, PaddingDimension(0, 0), entries[0]))

    return deformed


def _reshape(op: Operation) -> Deformed:
    if 0 not in _result(op):
        yield _sized(op, *_result(op), 2)
        yield _sized(op, *_result(op), 0)


def _elementwise(op: Operation) -> Deformed:
    box = _result(op)
    if box and _of(op, 0) == box:
        yield _operand(op, 0, *_longer(box, len(box) - 1))
        yield _operand(op, 0, *box, 1)


def _bitcast_convert(op: Operation) -> Deformed:
    box = _result(op)
    yield _sized(op, *box, 3, 3)
    yield _sized(op, *box, 1)
    yield _operand(op, 0, *_of(op, 0), 1)
    if box:
        yield _sized(op, *box[:-1], box[-1] + 7)
    assert isinstance(op.shape, ArrayShape)
    for kind in ("s2", "c128"):
        yield replace(op, shape=replace(op.shape, element_type=kind))


def _windowed(op: Operation) -> Deformed:
    window = op.attributes.get("window")
    if isinstance(window, Window) and window.dimensions:
        yield _with(op, "window", None)
        yield _with(op, "window", Window(window.dimensions[:-1]))
        yield _with(op, "window", Window((*window.dimensions, window.dimensions[0])))


def _convolution(op: Operation) -> Deformed:
    yield from _windowed(op)
    yield _with(op, "dim_labels", None)
    yield _with(_with(op, "feature_group_count", 2), "batch_group_count", 2)


def _indexed(op: Operation) -> Deformed:
    number = 1 if op.opcode == "gather" else len(op.operands) // 2
    for kind in ("f32", "pred", "c64", "bf16", "s3", "u65"):
        yield _operand(op, number, *_of(op, number), kind=kind)


def _featured(op: Operation) -> Deformed:
    yield _with(op, "feature_index", None)


def _scaled_dot(op: Operation) -> Deformed:
    box = _of(op, 2)
    if not box:
        return
    yield _operand(op, 2, *box, 1)
    yield _operand(op, 2, *_of(op, 0)[:-1], _of(op, 0)[-1] + 1)
    yield _operand(op, 2, *_of(op, 0)[:-1], 0)


def _ragged_dot(op: Operation) -> Deformed:
    ragged = op.attributes.integers("lhs_ragged_dims")
    yield _with(op, "lhs_ragged_dims", (*ragged, *ragged))
    yield _with(op, "lhs_ragged_dims", None)


def _grouped(op: Operation) -> Deformed:
    if op.opcode not in ("all-gather", "reduce-scatter") and not isinstance(op.shape, TupleShape):
        yield _with(op, "replica_groups", ReplicaGroups(((0, 1), (2,)), ""))


def _all_to_all(op: Operation) -> Deformed:
    yield from _grouped(op)
    groups = op.attributes.get("replica_groups")
    is_split = isinstance(groups, ReplicaGroups) and any(len(g) > 1 for g in groups.groups)
    if is_split and not isinstance(op.shape, TupleShape):
        (axis,) = op.attributes.integers("dimensions")
        yield _sized(op, *_longer(_result(op), axis))


def _gathered(op: Operation) -> Deformed:
    (axis,) = op.attributes.integers("dimensions")
    large = _result(op) if op.opcode == "all-gather" else _of(op, 0)
    small = _of(op, 0) if op.opcode == "all-gather" else _result(op)
    if isinstance(op.shape, ArrayShape) and small and small[axis] > 1:
        longer = _longer(large, axis)
        yield _sized(op, *longer) if op.opcode == "all-gather" else _operand(op, 0, *longer)


def _permute(op: Operation) -> Deformed:
    yield _with(op, "source_target_pairs", None)
    yield replace(op, operands=(*op.operands, op.operands[0]))


_MADE: Final[dict[str, Callable[[Operation], Deformed]]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    "all-gather": _gathered,
    "all-reduce": _grouped,
    "all-to-all": _all_to_all,
    "bitcast-convert": _bitcast_convert,
    "batch-norm-grad": _featured,
    "batch-norm-inference": _featured,
    "batch-norm-training": _featured,
    "broadcast": _broadcast,
    "collective-broadcast": _grouped,
    "collective-permute": _permute,
    "convolution": _convolution,
    "gather": _indexed,
    "pad": _listed("padding"),
    "ragged-dot": _ragged_dot,
    "reduce-scatter": _gathered,
    "reduce-window": _windowed,
    "reshape": _reshape,
    "scaled-dot": _scaled_dot,
    "scatter": _indexed,
    "select-and-scatter": _windowed,
    "slice": _listed("slice"),
}


def examine_deformed(op: Operation) -> None:
    """Raises Failure where a deformed operation has maps from its output, or from the operand that is deformed."""
    made = _MADE.get(op.opcode)
    for deformed in made(op) if made is not None else ():
        number = 2 if op.opcode == "scaled-dot" else 0
        for ask, n in ((output_to_input, 0), (input_to_output, number)):
            try:
                found = ask(deformed, n)
            except NotModelled:
                continue
            raise Failure(f"{op.opcode}: maps of what has no meaning", f"{deformed}: {found}")
