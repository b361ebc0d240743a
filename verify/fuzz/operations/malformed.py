"""Operations that mean nothing, each made of one that does by one change: definitions, maps and the interpreter refuse
them.

Texts with most of these are refused when they are read, so that only those who build operations themselves see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from hloproof.definitions import define
from hloproof.fuzz.operations.plain_maps import element_bits
from hloproof.fuzz.operations.tagged_run import Tagged
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import (
    Attributes,
    ConvolutionDimensions,
    DevicePairs,
    PaddingDimension,
    ReplicaGroups,
    Window,
)
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape, Layout, SplitConfig, TupleShape
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real

Sizes = tuple[int, ...]
ALL: Final = "DMR"
"""Those that refuse: definitions, maps, runs."""


@dataclass(frozen=True, slots=True)
class Deformed:
    operation: Operation
    by: str
    """Who refuses it; of runs those only that differ in the result, an attribute, or a repeated operand."""


Changes = Iterator[Deformed]


def _with(op: Operation, by: str, **attributes: Any) -> Deformed:
    """Other values of attributes, or without them (None)."""
    pairs = [p for p in op.attributes.pairs if p[0] not in attributes]
    pairs += [(name, value) for name, value in attributes.items() if value is not None]
    return Deformed(replace(op, attributes=Attributes(tuple(pairs))), by)


def _result(op: Operation, by: str, *dimensions: int, kind: str = "") -> Deformed:
    assert isinstance(op.shape, ArrayShape)
    kind = kind or op.shape.element_type
    return Deformed(replace(op, shape=replace(op.shape, dimensions=dimensions, element_type=kind)), by)


def _operand(op: Operation, by: str, number: int, *dimensions: int, kind: str = "") -> Deformed:
    own = op.operands[number]
    assert isinstance(own, ArrayShape)
    changed = replace(own, dimensions=dimensions, element_type=kind or own.element_type)
    return Deformed(replace(op, operands=(*op.operands[:number], changed, *op.operands[number + 1 :])), by)


def _one_more(op: Operation, by: str, number: int) -> Deformed:
    """One of the operands again, after the last."""
    return Deformed(replace(op, operands=(*op.operands, op.operands[number])), by)


def _of(op: Operation, number: int = -1) -> Sizes:
    """The sizes of an operand; of the result without a number."""
    shape = op.shape if number < 0 else op.operands[number]
    return shape.dimensions if isinstance(shape, ArrayShape) else ()


def _longer(dimensions: Sizes, at: int) -> Sizes:
    return tuple(n + (i == at) for i, n in enumerate(dimensions))


def _at(dimensions: Sizes, at: int, size: int) -> Sizes:
    return (*dimensions[:at], size, *dimensions[at + 1 :])


# --- movement and elements ---------------------------------------------------------------------------------------


def _elementwise(op: Operation) -> Changes:
    box = _of(op)
    if box and _of(op, 0) == box:
        yield _operand(op, "M", 0, *_longer(box, len(box) - 1))
        yield _operand(op, "M", 0, *box, 1)


def _broadcast(op: Operation) -> Changes:
    to = op.attributes.integers("dimensions")
    if to:
        yield _result(op, "M", *_longer(_of(op), to[-1]))
        yield _with(op, "M", dimensions=to[:-1])
    if len(to) > 1 and _of(op, 0)[0] == _of(op, 0)[1]:
        yield _with(op, "D", dimensions=(to[0], to[0], *to[2:]))


def _listed(name: str) -> Callable[[Operation], Changes]:
    """One entry per dimension is too few or something else."""

    def changes(op: Operation) -> Changes:
        yield _with(op, "R", **{name: None})
        entries = op.attributes.get(name)
        if isinstance(entries, tuple) and entries:
            for other in (
                entries[:-1],
                tuple(range(len(entries))),
                None,
                (*entries, PaddingDimension(0, 0), entries[0]),
            ):
                yield _with(op, "M", **{name: other})

    return changes


def _reshape(op: Operation) -> Changes:
    if 0 not in _of(op):
        yield _result(op, "M", *_of(op), 2)
        yield _result(op, "M", *_of(op), 0)


def _bitcast_convert(op: Operation) -> Changes:
    box = _of(op)
    yield _result(op, "M", *box, 3, 3)
    yield _result(op, "M", *box, 1)
    yield _operand(op, "M", 0, *_of(op, 0), 1)
    if box:
        yield _result(op, "M", *_at(box, len(box) - 1, box[-1] + 7))
    yield from (_result(op, "M", *box, kind=kind) for kind in ("s2", "c128"))


def _iota(op: Operation) -> Changes:
    yield _with(op, "R", iota_dimension=None)


def _bitcast(op: Operation) -> Changes:
    """Over split memory, over elements whose sizes do not divide, over types without a size, and with an order that
    leaves dimensions out."""
    operand, result = op.operands[0], op.shape
    assert isinstance(operand, ArrayShape) and isinstance(result, ArrayShape)
    layout = operand.layout or Layout(tuple(reversed(range(operand.rank))))
    changed = [replace(operand, element_type="unheard")]
    if not layout.element_bits:
        changed.append(replace(operand, layout=replace(layout, element_bits=element_bits(result) // 2 * 3)))
    if operand.rank:
        changed.append(replace(operand, layout=replace(layout, minor_to_major=())))
        changed.append(replace(operand, layout=replace(layout, split_configs=(SplitConfig(0, (1,)),))))
    yield from (Deformed(replace(op, operands=(s,)), "M") for s in changed)


# --- indices -----------------------------------------------------------------------------------------------------


def _dynamic(op: Operation) -> Changes:
    """A start index too many."""
    if len(op.operands) > (1 if op.opcode == "dynamic-slice" else 2):
        scalars = op.operands[-1] is not op.operands[0] and _of(op, 0) and not _of(op, len(op.operands) - 1)
        yield _one_more(op, "DR" if scalars else "R", len(op.operands) - 1)


def _index_types(op: Operation, number: int) -> Changes:
    yield from (
        _operand(op, "M", number, *_of(op, number), kind=k) for k in ("f32", "pred", "c64", "bf16", "s3", "u65")
    )


def _gather(op: Operation) -> Changes:
    yield from _index_types(op, 1)
    sizes = op.attributes.integers("slice_sizes")
    yield _with(op, "D", slice_sizes=(*sizes, 1))
    yield _with(op, "D", offset_dims=(*op.attributes.integers("offset_dims"), 0))
    gone = (*op.attributes.integers("collapsed_slice_dims"), *op.attributes.integers("operand_batching_dims"))
    for k, n in enumerate(_of(op, 0)):
        yield _with(op, "D", slice_sizes=_at(sizes, k, n + 1))
        if k in gone and n > 1:
            yield _with(op, "D", slice_sizes=_at(sizes, k, 2))


def _scatter(op: Operation) -> Changes:
    at = len(op.operands) // 2
    yield from _index_types(op, at)
    yield _with(op, "D", update_window_dims=(*op.attributes.integers("update_window_dims"), 0))
    yield _with(op, "D", index_vector_dim=-1)
    yield from (_operand(op, "D", at, *_of(op, at), kind=kind) for kind in ("f32", "pred", "s", "token"))


# --- windows, products, statistics -------------------------------------------------------------------------------


def _windowed(op: Operation) -> Changes:
    window = op.attributes.get("window")
    needed = {"reduce-window": ("to_apply",), "select-and-scatter": ("select", "scatter")}.get(op.opcode, ())
    yield from (_with(op, "R", **{name: None}) for name in needed)
    if not isinstance(window, Window):
        return
    dims = window.dimensions
    if dims:
        yield _with(op, ALL, window=None)
        yield _with(op, "MR", window=Window(dims[:-1]))
        yield _with(op, "D", window=Window(dims[1:]))
        yield _with(op, "MR", window=Window((*dims, dims[0])))
    for k, w in enumerate(dims):
        changes = [replace(w, stride=0), replace(w, base_dilation=0), replace(w, window_dilation=0)]
        if op.opcode == "select-and-scatter":
            changes += [replace(w, base_dilation=2), replace(w, window_dilation=2)]
        yield from (_with(op, "D", window=Window((*dims[:k], other, *dims[k + 1 :]))) for other in changes)


def _convolution(op: Operation) -> Changes:
    yield from _windowed(op)
    labels = op.attributes.get("dim_labels")
    assert isinstance(labels, ConvolutionDimensions)
    yield _with(op, ALL, dim_labels=None)
    yield _with(op, "M", feature_group_count=2, batch_group_count=2)
    yield _with(op, "DR", feature_group_count=0)
    yield _with(op, "DR", batch_group_count=0)
    kernel = _of(op, 1)
    if max(op.attributes.integer(f"{k}_group_count", 1) for k in ("feature", "batch")) > 1:
        longer = _result(op, "", *_longer(_of(op), labels.output_feature)).operation
        yield _operand(longer, "D", 1, *_longer(kernel, labels.kernel_output_feature))
    yield _operand(op, "D", 1, *_longer(kernel, labels.kernel_input_feature))


def _scaled_dot(op: Operation) -> Changes:
    base, scale = _of(op, 0), _of(op, 2)
    if not scale:
        return
    yield _operand(op, "M", 2, *scale, 1)
    yield _operand(op, "D", 2, *base, 1)
    yield from (_operand(op, "M", 2, *base[:-1], m) for m in (base[-1] + 1, 0))
    yield from (_operand(op, "D", 2, *_at(base, k, m)) for k, n in enumerate(base) for m in (0, n + 1))


def _ragged_dot(op: Operation) -> Changes:
    ragged = op.attributes.integers("lhs_ragged_dims")
    yield _with(op, "M", lhs_ragged_dims=(*ragged, *ragged))
    yield _with(op, "M", lhs_ragged_dims=None)


def _featured(op: Operation) -> Changes:
    yield _with(op, "M" if op.opcode == "batch-norm-inference" else "DM", feature_index=None)


# --- devices -----------------------------------------------------------------------------------------------------


def _grouped(op: Operation) -> Changes:
    """Groups of several sizes, or that have a device in common."""
    uneven, twice = ReplicaGroups(((0, 1), (2,)), ""), ReplicaGroups(((0, 1), (1, 2)), "")
    if op.opcode in ("all-reduce", "all-to-all", "collective-broadcast") and not isinstance(op.shape, TupleShape):
        yield _with(op, "M", replica_groups=uneven)
    if op.opcode != "all-to-all":
        yield _with(op, "D", replica_groups=uneven)
        yield _with(op, "D", replica_groups=twice)


def _all_to_all(op: Operation) -> Changes:
    yield from _grouped(op)
    yield _one_more(op, "D", 0)
    if not isinstance(op.shape, TupleShape):
        (axis,) = op.attributes.integers("dimensions")
        groups = op.attributes.get("replica_groups")
        split = isinstance(groups, ReplicaGroups) and any(len(g) > 1 for g in groups.groups)
        yield _result(op, "DM" if split else "D", *_longer(_of(op), axis))


def _gathered(op: Operation) -> Changes:
    yield from _grouped(op)
    (axis,) = op.attributes.integers("dimensions")
    small = _of(op, 0) if op.opcode == "all-gather" else _of(op)
    if isinstance(op.shape, ArrayShape) and small and small[axis] > 1:
        if op.opcode == "all-gather":
            yield _result(op, "M", *_longer(_of(op), axis))
        else:
            yield _operand(op, "M", 0, *_longer(_of(op, 0), axis))


def _permute(op: Operation) -> Changes:
    yield _with(op, "DM", source_target_pairs=None)
    yield _with(op, "D", source_target_pairs=DevicePairs(((0, 1), (1, 1))))
    yield _one_more(op, "M", 0)
    if isinstance(op.shape, TupleShape):
        yield Deformed(replace(op, shape=op.shape.elements[0]), "R")


def _started(op: Operation) -> Changes:
    if not isinstance(op.shape, TupleShape):
        return
    own = op.shape.elements[0]
    if isinstance(own, ArrayShape):
        longer = replace(own, dimensions=(*own.dimensions, 1))
        yield Deformed(replace(op, shape=TupleShape((longer, *op.shape.elements[1:]))), "D")
    if op.opcode == "collective-permute-start":
        yield _one_more(op, "D", 0)


def _far_devices(op: Operation, devices: int) -> Changes:
    """Devices that there are not."""
    if isinstance(op.attributes.get("replica_groups"), ReplicaGroups):
        yield _with(op, "R", replica_groups=ReplicaGroups((tuple(range(devices + 1)),), ""))
    if isinstance(op.attributes.get("source_target_pairs"), DevicePairs):
        yield _with(op, "R", source_target_pairs=DevicePairs(((devices, 0),)))


_CHANGES: Final[dict[str, Callable[[Operation], Changes]]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(("all-gather", "reduce-scatter"), _gathered),
    **dict.fromkeys(("all-gather-start", "collective-permute-start"), _started),
    **dict.fromkeys(("all-reduce", "collective-broadcast"), _grouped),
    **dict.fromkeys(("batch-norm-grad", "batch-norm-inference", "batch-norm-training"), _featured),
    **dict.fromkeys(("dynamic-slice", "dynamic-update-slice"), _dynamic),
    **dict.fromkeys(("reduce-window", "select-and-scatter"), _windowed),
    "all-to-all": _all_to_all,
    "bitcast": _bitcast,
    "bitcast-convert": _bitcast_convert,
    "broadcast": _broadcast,
    "collective-permute": _permute,
    "convolution": _convolution,
    "gather": _gather,
    "iota": _iota,
    "pad": _listed("padding"),
    "ragged-dot": _ragged_dot,
    "reshape": _reshape,
    "scaled-dot": _scaled_dot,
    "scatter": _scatter,
    "slice": _listed("slice"),
}


def examine_malformed(tagged: Tagged) -> None:
    """Raises Failure where one of them has a definition, maps from its output or its deformed operand, or a result."""
    op = tagged.op
    first = {"scatter": len(op.operands) // 2 + 1, "scaled-dot": 2}.get(op.opcode, 0)
    asked = 2 if op.opcode == "scaled-dot" else 0
    made = _CHANGES[op.opcode](op) if op.opcode in _CHANGES else ()
    for changed in chain(made, _far_devices(op, tagged.across.count)):
        now, by = changed.operation, changed.by
        if "R" in by:
            refused(f"{op.opcode}: runs what has no meaning", partial(run_with, tagged), now)
        if "D" in by:
            refused(f"{op.opcode}: a definition of what has no meaning", lambda o: define(o, 0, first), now)
        if "M" in by:
            refused(f"{op.opcode}: maps of what has no meaning", lambda o: output_to_input(o, 0), now)
            refused(f"{op.opcode}: maps of what has no meaning", lambda o: input_to_output(o, asked), now)


def refused(what: str, ask: Callable[[Operation], object], changed: Operation) -> None:
    """Raises Failure unless the question is answered by NotModelled."""
    try:
        found = ask(changed)
    except NotModelled:
        return
    raise Failure(what, f"{changed}: {found}")


def run_with(tagged: Tagged, changed: Operation) -> object:
    """What the module comes to with this operation as its root."""
    module, entry = tagged.module, tagged.module.entry
    root = entry.root
    more = root.operands[-1:] * (len(changed.operands) - len(root.operands))
    now = replace(root, operands=(*root.operands, *more), attributes=changed.attributes, shape=changed.shape)
    body = replace(entry, instructions=tuple(now if i.name == root.name else i for i in entry.instructions))
    computations = tuple(body if c.name == entry.name else c for c in module.computations)
    machine = Machine(replace(module, computations=computations), Real(), tagged.across, tagged.seed)
    return machine.run(machine.random_inputs())
