"""Operations that mean nothing, each made of one that does by one change: definitions, maps and the interpreter refuse
them.

Texts with most of these are refused when they are read, so that only those who build operations themselves see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


_UNEVEN: Final = ReplicaGroups(((0, 1), (2,)), "")
_TWICE: Final = ReplicaGroups(((0, 1), (1, 2)), "")
"""Groups of several sizes, and those that have a device in common."""


def _listed(op: Operation, name: str) -> Changes:
    """One entry per dimension is too few or something else."""
    entries = op.attributes.get(name)
    yield _with(op, "R", **{name: None})
    if isinstance(entries, tuple) and entries:
        others = entries[:-1], tuple(range(len(entries))), (*entries, PaddingDimension(0, 0), entries[0])
        yield from (_with(op, "M", **{name: other}) for other in (*others, None))


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


def _bitcast_convert(op: Operation) -> Changes:
    box = _of(op)
    uneven = [(*box[:-1], box[-1] + 7)] if box else []
    yield from (_result(op, "M", *sizes) for sizes in ((*box, 3, 3), (*box, 1), *uneven))
    yield _operand(op, "M", 0, *_of(op, 0), 1)
    yield from (_result(op, "M", *box, kind=kind) for kind in ("s2", "c128"))


def _dynamic(op: Operation) -> Changes:
    """A start index too many."""
    last = len(op.operands) - 1
    if last >= (1 if op.opcode == "dynamic-slice" else 2):
        scalars = op.operands[last] is not op.operands[0] and _of(op, 0) and not _of(op, last)
        yield _one_more(op, "DR" if scalars else "R", last)


def _indexed(op: Operation) -> Changes:
    """Indices of a type that is none."""
    at = 1 if op.opcode == "gather" else len(op.operands) // 2
    kinds = ("f32", "pred", "c64", "bf16", "s3", "u65")
    yield from (_operand(op, "M", at, *_of(op, at), kind=kind) for kind in kinds)
    name = "offset_dims" if op.opcode == "gather" else "update_window_dims"
    yield _with(op, "D", **{name: (*op.attributes.integers(name), 0)})
    if op.opcode == "scatter":
        yield _with(op, "D", index_vector_dim=-1)
        yield from (_operand(op, "D", at, *_of(op, at), kind=kind) for kind in ("f32", "pred", "s", "token"))
        return
    sizes = op.attributes.integers("slice_sizes")
    yield _with(op, "D", slice_sizes=(*sizes, 1))
    gone = (*op.attributes.integers("collapsed_slice_dims"), *op.attributes.integers("operand_batching_dims"))
    for k, n in enumerate(_of(op, 0)):
        for size in (n + 1, *((2,) if k in gone and n > 1 else ())):
            yield _with(op, "D", slice_sizes=_at(sizes, k, size))


def _windowed(op: Operation) -> Changes:
    window = op.attributes.get("window")
    dims = window.dimensions if isinstance(window, Window) else ()
    if dims:
        yield _with(op, ALL, window=None)
        for by, other in (("MR", dims[:-1]), ("D", dims[1:]), ("MR", (*dims, dims[0]))):
            yield _with(op, by, window=Window(other))
    zeros: list[dict[str, Any]] = [{"stride": 0}, {"base_dilation": 0}, {"window_dilation": 0}]
    if op.opcode == "select-and-scatter":
        zeros += [{"base_dilation": 2}, {"window_dilation": 2}]
    for k, w in enumerate(dims):
        yield from (_with(op, "D", window=Window((*dims[:k], replace(w, **z), *dims[k + 1 :]))) for z in zeros)


def _convolution(op: Operation) -> Changes:
    yield from _windowed(op)
    labels, kernel = op.attributes.get("dim_labels"), _of(op, 1)
    assert isinstance(labels, ConvolutionDimensions)
    yield _with(op, ALL, dim_labels=None)
    yield _with(op, "M", feature_group_count=2, batch_group_count=2)
    counts = ("feature_group_count", "batch_group_count")
    yield from (_with(op, "DR", **{count: 0}) for count in counts)
    if max(op.attributes.integer(count, 1) for count in counts) > 1:
        longer = _result(op, "", *_longer(_of(op), labels.output_feature)).operation
        yield _operand(longer, "D", 1, *_longer(kernel, labels.kernel_output_feature))
    yield _operand(op, "D", 1, *_longer(kernel, labels.kernel_input_feature))


def _scaled_dot(op: Operation) -> Changes:
    base, scale = _of(op, 0), _of(op, 2)
    if scale:
        yield from (
            _operand(op, "M", 2, *sizes) for sizes in ((*scale, 1), (*base[:-1], base[-1] + 1), (*base[:-1], 0))
        )
        yield _operand(op, "D", 2, *base, 1)
        yield from (_operand(op, "D", 2, *_at(base, k, m)) for k, n in enumerate(base) for m in (0, n + 1))


def _grouped(op: Operation) -> Changes:
    if op.opcode in ("all-reduce", "all-to-all", "collective-broadcast") and not isinstance(op.shape, TupleShape):
        yield _with(op, "M", replica_groups=_UNEVEN)
    if op.opcode != "all-to-all":
        yield from (_with(op, "D", replica_groups=groups) for groups in (_UNEVEN, _TWICE))


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
    gathers = op.opcode == "all-gather"
    small = _of(op, 0) if gathers else _of(op)
    if isinstance(op.shape, ArrayShape) and small and small[axis] > 1:
        wide = _longer(_of(op) if gathers else _of(op, 0), axis)
        yield _result(op, "M", *wide) if gathers else _operand(op, "M", 0, *wide)


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


_LEFT_OUT: Final = (
    ("iota", "R", "iota_dimension"),
    ("reduce-window", "R", "to_apply"),
    ("select-and-scatter", "R", "select"),
    ("select-and-scatter", "R", "scatter"),
    ("ragged-dot", "M", "lhs_ragged_dims"),
    ("batch-norm-grad", "DM", "feature_index"),
    ("batch-norm-inference", "M", "feature_index"),
    ("batch-norm-training", "DM", "feature_index"),
)
"""Attributes that operations do not mean anything without, and who refuses them."""
_CHANGES: Final[dict[str, Callable[[Operation], Iterable[Deformed]]]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(("all-gather", "reduce-scatter"), _gathered),
    **dict.fromkeys(("all-gather-start", "collective-permute-start"), _started),
    **dict.fromkeys(("all-reduce", "collective-broadcast"), _grouped),
    **dict.fromkeys(("dynamic-slice", "dynamic-update-slice"), _dynamic),
    **dict.fromkeys(("gather", "scatter"), _indexed),
    **dict.fromkeys(("reduce-window", "select-and-scatter"), _windowed),
    "all-to-all": _all_to_all,
    "bitcast": _bitcast,
    "bitcast-convert": _bitcast_convert,
    "broadcast": _broadcast,
    "collective-permute": _permute,
    "convolution": _convolution,
    "pad": lambda op: _listed(op, "padding"),
    "ragged-dot": lambda op: [_with(op, "M", lhs_ragged_dims=2 * op.attributes.integers("lhs_ragged_dims"))],
    "reshape": lambda op: [_result(op, "M", *_of(op), n) for n in (2, 0) if 0 not in _of(op)],
    "scaled-dot": _scaled_dot,
    "slice": lambda op: _listed(op, "slice"),
}


def examine_malformed(tagged: Tagged) -> None:
    """Raises Failure where one of them has a definition, maps from its output or its deformed operand, or a result."""
    op = tagged.op
    first = {"scatter": len(op.operands) // 2 + 1, "scaled-dot": 2}.get(op.opcode, 0)
    asked = 2 if op.opcode == "scaled-dot" else 0
    made = _CHANGES[op.opcode](op) if op.opcode in _CHANGES else ()
    left_out = (_with(op, by, **{name: None}) for opcode, by, name in _LEFT_OUT if opcode == op.opcode)
    for changed in chain(made, left_out, _far_devices(op, tagged.across.count)):
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
