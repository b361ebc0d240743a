"""Operations that read other devices.

A map's replica part gives, in both directions, the position in the reader's group of the device that holds the operand
element. The group is the one of the group table that the reader's id stands in, so position and id differ. Where what
is read depends on the reader's own place too, the maps hold a runtime variable provided by `READER`. A group of one
device reads its own element; then there is no replica part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import Shape, TupleShape, leaves
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    check_whole,
    data_outputs,
    divided,
    one,
    plus,
    remainder,
    sizes,
    times,
    total,
    within,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    IndexingMap,
    RuntimeVariable,
    Variable,
    boxed,
    dim,
    identity,
    rng,
    rt,
)


def group_size(op: Operation) -> int:
    """Devices per group. Without groups all replicas form one; a channel id without global device ids multiplies by the
    partitions. Raises NotModelled when groups are of different sizes."""
    groups = op.attributes.get("replica_groups")
    members = {len(g) for g in groups.groups} if isinstance(groups, ReplicaGroups) else set()
    if len(members) > 1:
        raise NotModelled("replica groups of different sizes")
    size = members.pop() if members else 0
    is_global = op.attributes.flag("use_global_device_ids")
    has_channel = "channel_id" in op.attributes
    if op.opcode.startswith(("all-to-all", "collective-permute", "ragged-all-to-all", "collective-broadcast")):
        return size or (op.partitions if has_channel else op.replicas)
    if is_global:
        return size or op.replicas * op.partitions
    return (size or op.replicas) * (op.partitions if has_channel else 1)


def _from(m: IndexingMap, position: Expr, group: int) -> IndexingMap:
    """The map with its replica part; without one when the group has one device only."""
    if group == 1:
        return m
    return IndexingMap(
        m.dims,
        m.results,
        m.ranges,
        m.runtime,
        m.constraints,
        replica=IndexingMap(m.dims, (position,), m.ranges, m.runtime, m.constraints),
    )


def _reader(places: int) -> RuntimeVariable:
    return RuntimeVariable(Interval(0, places - 1), provider=READER)


def all_reduce_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The same element of every device of the group. Output n reduces operand n."""
    box, group = sizes(op.operands[output]), group_size(op)
    return (one(output, "reads", _same_everywhere(box, group)),)


def all_reduce_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The same element on every device of the group. Operand n is reduced in output n."""
    return (one(operand, "reads", _same_everywhere(sizes(op.operands[operand]), group_size(op))),)


def _same_everywhere(box: Sequence[int], group: int) -> IndexingMap:
    ranges = RangeVariables()
    member = ranges.new(group)
    return _from(IndexingMap(boxed(box), tuple(dim(i) for i in range(len(box))), ranges.done()), member, group)


def all_gather_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Along the gathered dimension, the n-th stretch is the operand of the n-th device of the group."""
    operand = output
    (axis,) = op.attributes.integers("dimensions")
    box, own = sizes(_outputs(op)[output]), sizes(op.operands[operand])
    group = _ratio(box[axis], own[axis], op)
    if group == 1:
        return (one(operand, "moves", identity(box)),)
    results = tuple(remainder(dim(i), own[axis]) if i == axis else dim(i) for i in range(len(box)))
    return (one(operand, "moves", _from(IndexingMap(boxed(box), results), divided(dim(axis), own[axis]), group)),)


def all_gather_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Every device of the group gets the element, in the stretch of the device that holds it."""
    (axis,) = op.attributes.integers("dimensions")
    box, own = sizes(_outputs(op)[operand]), sizes(op.operands[operand])
    group = _ratio(box[axis], own[axis], op)
    if group == 1:
        return (one(operand, "moves", identity(own)),)
    results = tuple(dim(i) + times(rng(0), own[axis]) if i == axis else dim(i) for i in range(len(own)))
    return (one(operand, "moves", _from(IndexingMap(boxed(own), results, _members(group)), rng(0), group)),)


def reduce_scatter_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The reader's own stretch of the scattered dimension, on every device of the group."""
    (axis,) = op.attributes.integers("dimensions")
    box, operand = sizes(_outputs(op)[output]), sizes(op.operands[output])
    group = _ratio(operand[axis], box[axis], op)
    if group == 1:
        return (one(output, "reads", identity(box)),)
    results = tuple(dim(i) + times(rt(0), box[axis]) if i == axis else dim(i) for i in range(len(box)))
    m = IndexingMap(boxed(box), results, _members(group), (_reader(group),))
    return (one(output, "reads", _from(m, rng(0), group)),)


def reduce_scatter_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The element goes to the one reader whose stretch it lies in, whichever device holds it."""
    (axis,) = op.attributes.integers("dimensions")
    box, own = sizes(op.operands[operand]), sizes(_outputs(op)[operand])
    group = _ratio(box[axis], own[axis], op)
    if group == 1:
        return (one(operand, "reads", identity(box)),)
    results = tuple(dim(i) - times(rt(0), own[axis]) if i == axis else dim(i) for i in range(len(box)))
    here = (within(results[axis], 0, own[axis] - 1),)
    m = IndexingMap(boxed(box), results, _members(group), (_reader(group),), here)
    return (one(operand, "reads", _from(m, rng(0), group)),)


def all_to_all_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The n-th stretch of the split dimension comes from the n-th device, from the stretch with the reader's number. In
    the tuple form stretches are operands: output n is the operand with the reader's number on the n-th device."""
    if isinstance(op.shape, TupleShape):
        return _tuple_all_to_all(op, output, None)
    box, axis, group, stretch = _split(op)
    if group == 1:
        return (one(0, "moves", identity(box)),)
    moved = total([remainder(dim(axis), stretch), times(rt(0), stretch)])
    m = IndexingMap(boxed(box), _with(box, axis, moved), (), (_reader(group),))
    return (one(0, "moves", _from(m, divided(dim(axis), stretch), group)),)


def all_to_all_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The stretch of an element names the reader that gets it; it lands in the stretch of the device that holds it."""
    if isinstance(op.shape, TupleShape):
        return _tuple_all_to_all(op, None, operand)
    box, axis, group, stretch = _split(op)
    if group == 1:
        return (one(0, "moves", identity(box)),)
    inside = dim(axis) - times(rt(0), stretch)
    moved = total([inside, times(rng(0), stretch)])
    here = (within(inside, 0, stretch - 1),)
    m = IndexingMap(boxed(box), _with(box, axis, moved), _members(group), (_reader(group),), here)
    return (one(0, "moves", _from(m, rng(0), group)),)


def _split(op: Operation) -> tuple[tuple[int, ...], int, int, int]:
    """The box, the split dimension, the devices of a group, and the size of a stretch."""
    (axis,) = op.attributes.integers("dimensions")
    box, group = sizes(op.shape), group_size(op)
    if box[axis] % group:
        raise NotModelled("all-to-all that does not split evenly")
    return box, axis, group, box[axis] // group


def _with(box: Sequence[int], axis: int, moved: Expr) -> tuple[Expr, ...]:
    return tuple(moved if i == axis else dim(i) for i in range(len(box)))


def _tuple_all_to_all(op: Operation, output: int | None, operand: int | None) -> tuple[OperandMaps, ...]:
    """The maps between one output and all operands, or one operand and all outputs: on the reader at place k, output n
    is operand k of device n."""
    group = len(op.operands)
    found = []
    for other in range(group):
        n, k = (output, other) if output is not None else (other, operand or 0)
        m = identity(sizes(op.operands[k]))
        if group > 1:
            m = replace(m, runtime=(_reader(group),), constraints=(Constraint(rt(0), Interval.point(k)),))
        found.append(one(other, "moves", _from(m, Const(n), group)))
    return tuple(found)


def collective_permute_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The element of the device that the pairs name as the reader's source; the replica part and the reader are ids. A
    device that is no target gets zeros, which read nothing."""
    _check_permuted(op)
    return (OperandMaps(output, "moves", _permuted(op, output)),)


def collective_permute_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Pairs of reader and holder as in the other direction; places do not change."""
    _check_permuted(op)
    return (OperandMaps(operand, "moves", _permuted(op, operand)),)


def _check_permuted(op: Operation) -> None:
    """Output n permutes operand n; the in-place form, with destination and offsets as operands, is not modelled."""
    check_whole(op)
    if len(op.operands) != len(data_outputs(op)):
        raise NotModelled(f"{op.opcode} with {len(op.operands)} operands")


def _permuted(op: Operation, operand: int) -> tuple[IndexingMap, ...]:
    pairs = op.attributes.get("source_target_pairs")
    if not isinstance(pairs, DevicePairs):
        raise NotModelled("collective-permute without pairs")
    holder_of = sorted((target, source) for source, target in pairs.pairs)
    m = identity(sizes(op.operands[operand]))
    # All devices, those that no pair names too: a position is cut to the reader's interval, and is no one else's.
    named = max(map(max, pairs.pairs), default=-1) + 1
    devices = max(named, op.partitions if "channel_id" in op.attributes else op.replicas)
    found = []
    for first, last, distance in _runs(holder_of):
        here = (Constraint(rt(0), Interval(first, last)),)
        run = replace(m, runtime=(_reader(devices),), constraints=here)
        holder = replace(run, results=(plus(rt(0), distance),))
        found.append(replace(run, replica=holder))
    return tuple(found)


def _runs(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Sorted pairs (a, b) as runs: first a, last a, and the b - a that they share."""
    found: list[tuple[int, int, int]] = []
    for a, b in pairs:
        if found and found[-1][1] == a - 1 and found[-1][2] == b - a:
            found[-1] = (found[-1][0], a, b - a)
        else:
            found.append((a, a, b - a))
    return found


def collective_broadcast_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The element of the first device of the group."""
    return (one(output, "moves", _from(identity(sizes(op.operands[output])), Const(0), group_size(op))),)


def collective_broadcast_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The first device's element goes to every device of the group, another device's nowhere."""
    return (one(operand, "moves", _from(identity(sizes(op.operands[operand])), Const(0), group_size(op))),)


def ragged_all_to_all_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Which rows move is decided by offsets and sizes at run time, on all devices: a bound. What no row is moved to is
    the reader's own second operand."""
    box, group, found = sizes(op.shape), group_size(op), []
    for n, shape in enumerate(op.operands):
        found.append(one(n, "bound", identity(box) if n == 1 else _everywhere(box, sizes(shape), group)))
    return tuple(found)


def ragged_all_to_all_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The second operand to its own places, the others to any place on every device of the group: a bound."""
    box = sizes(op.operands[operand])
    m = identity(box) if operand == 1 else _everywhere(box, sizes(op.shape), group_size(op))
    return (one(0, "bound", m),)


def _everywhere(box: Sequence[int], to: Sequence[int], group: int) -> IndexingMap:
    ranges = RangeVariables()
    results = tuple(ranges.new(n) for n in to)
    member = ranges.new(group)
    return _from(IndexingMap(boxed(box), results, ranges.done()), member, group)


def _members(group: int) -> tuple[Variable, ...]:
    return (Variable(Interval.of_size(group)),)


def _ratio(large: int, small: int, op: Operation) -> int:
    if small == 0:
        return 1
    if large % small:
        raise NotModelled(f"{op.opcode} that does not split evenly")
    return large // small


def _outputs(op: Operation) -> list[Shape]:
    return [shape for _, shape in leaves(op.shape)]


BUILDERS: Final[Mapping[str, Builders]] = {
    "all-gather": Builders(all_gather_output_to_input, all_gather_input_to_output),
    "all-reduce": Builders(all_reduce_output_to_input, all_reduce_input_to_output),
    "collective-permute": Builders(collective_permute_output_to_input, collective_permute_input_to_output),
    "all-to-all": Builders(all_to_all_output_to_input, all_to_all_input_to_output),
    "collective-broadcast": Builders(collective_broadcast_output_to_input, collective_broadcast_input_to_output),
    "ragged-all-to-all": Builders(ragged_all_to_all_output_to_input, ragged_all_to_all_input_to_output),
    "reduce-scatter": Builders(reduce_scatter_output_to_input, reduce_scatter_input_to_output),
}
"""By opcode, both directions."""
