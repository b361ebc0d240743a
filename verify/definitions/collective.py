"""Operations that read other devices.

The predicate speaks of positions: p is the reader's position in its group, q that of the device which is read. The
group table turns positions into device ids, one to one, so statements about positions are statements about devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.definitions.definition import Define, Definition
from hloproof.definitions.variables import (
    OWN_POSITION,
    SOURCE_POSITION,
    d,
    identity,
    operand_array,
    output_array,
    require_static,
    x,
)
from hloproof.logic.formula import FALSE, TRUE, Formula, conj, disj, eq, within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import WITH_GLOBAL_IDS
from hloproof.models.hlo.shape import ArrayShape


def group_size(op: Operation) -> int:
    """How many devices each group holds.

    Without channel_id the groups hold replicas, with it and use_global_device_ids devices of the flattened list, with
    it alone replicas in all their partitions. Raises NotModelled for groups of different sizes or sharing a device.
    """
    value = op.attributes.get("replica_groups")
    groups = value.groups if isinstance(value, ReplicaGroups) else ()
    groups = tuple(g for g in groups if g)
    channel, flattened = "channel_id" in op.attributes, op.attributes.flag("use_global_device_ids")
    if not groups:  # one group of all
        if not channel:
            return op.replicas
        return op.replicas * op.partitions if flattened or op.opcode in WITH_GLOBAL_IDS else op.partitions
    members = [device for g in groups for device in g]
    if len(set(members)) != len(members):
        raise NotModelled("device groups that share a device")
    sizes = {len(g) for g in groups}
    if len(sizes) != 1:
        raise NotModelled("device groups of different sizes")
    (size,) = sizes
    across = channel and not flattened and op.opcode in WITH_GLOBAL_IDS
    return size * op.partitions if across else size


def _size_or_assumed(op: Operation, whole: int, part: int) -> tuple[int, tuple[str, ...]]:
    """The group size; where neither groups nor a number of devices are given, what the shapes say, as an assumption."""
    size = group_size(op)
    value = op.attributes.get("replica_groups")
    given = isinstance(value, ReplicaGroups) and any(value.groups)
    if given or size != 1 or part == 0 or whole % part or whole == part:
        return size, ()
    assumed = f"{op.opcode}: no device count is given, one group of {whole // part} is taken from the shapes"
    return whole // part, (assumed,)


def all_reduce(op: Operation, output: int, operand: int) -> Definition:
    """Each array is folded over the group, element by element."""
    out, into = output_array(op, output), operand_array(op, operand)
    predicate = identity(out.rank) if output == operand else FALSE
    return Definition("reads", out.dimensions, into.dimensions, predicate, group_size=group_size(op))


def all_gather(op: Operation, output: int, operand: int) -> Definition:
    """Along the dimension the arrays of the group stand one behind the other, in the order of the group."""
    return _gathered(op, output, operand, output == operand)


def _gathered(op: Operation, output: int, operand: int, same: bool) -> Definition:
    out, into = output_array(op, output), operand_array(op, operand)
    (axis,) = op.attributes.integers("dimensions")
    require_static("all-gather", into, (axis,))
    n = into.dimensions[axis]
    if not same:
        return Definition("moves", out.dimensions, into.dimensions, FALSE)
    size, assumed = _size_or_assumed(op, out.dimensions[axis], n)
    if out.dimensions[axis] != n * size:
        raise NotModelled(f"all-gather of {n} into {out.dimensions[axis]} over groups of {size}")
    parts = [eq(d(i), x(i) + SOURCE_POSITION * n) if i == axis else eq(d(i), x(i)) for i in range(out.rank)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts), group_size=size, assumptions=assumed)


def reduce_scatter(op: Operation, output: int, operand: int) -> Definition:
    """The fold over the group, of which each device keeps the block at its own position."""
    out, into = output_array(op, output), operand_array(op, operand)
    (axis,) = op.attributes.integers("dimensions")
    require_static("reduce-scatter", into, (axis,))
    n = out.dimensions[axis]
    if output != operand:
        return Definition("reads", out.dimensions, into.dimensions, FALSE)
    size, assumed = _size_or_assumed(op, into.dimensions[axis], n)
    if into.dimensions[axis] != n * size:
        raise NotModelled(f"reduce-scatter of {into.dimensions[axis]} into {n} over groups of {size}")
    parts = [eq(x(i), d(i) + OWN_POSITION * n) if i == axis else eq(x(i), d(i)) for i in range(out.rank)]
    return Definition("reads", out.dimensions, into.dimensions, conj(*parts), group_size=size, assumptions=assumed)


def all_to_all(op: Operation, output: int, operand: int) -> Definition:
    """Every device sends its block j to the device at position j, and puts what it receives in the order of the group.

    With one operand the blocks lie along a dimension; with a tuple they are the operands.
    """
    out, into = output_array(op, output), operand_array(op, operand)
    size = group_size(op)
    along = op.attributes.integers("dimensions")
    if not along:
        if len(op.operands) != size:
            raise NotModelled(f"all-to-all of {len(op.operands)} operands over groups of {size}")
        parts = [eq(SOURCE_POSITION, output), eq(OWN_POSITION, operand), identity(out.rank)]
        return Definition("moves", out.dimensions, into.dimensions, conj(*parts), group_size=size)
    (axis,) = along
    require_static("all-to-all", into, (axis,))
    if len(op.operands) != 1 or into.dimensions != out.dimensions or into.dimensions[axis] % size:
        raise NotModelled("all-to-all whose blocks do not fit")
    block = into.dimensions[axis] // size
    position_in_block = d(axis) - SOURCE_POSITION * block
    parts = [eq(x(i), d(i)) for i in range(out.rank) if i != axis]
    parts += [
        eq(x(axis), d(axis) - SOURCE_POSITION * block + OWN_POSITION * block),
        within(position_in_block, Interval.of_size(block)),
    ]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts), group_size=size)


def collective_permute(op: Operation, output: int, operand: int) -> Definition:
    """The target of a pair reads its source; who is no target gets zeros and reads nothing. All devices form one group
    in the order of their ids."""
    out, into = output_array(op, output), operand_array(op, operand)
    value = op.attributes.get("source_target_pairs")
    if not isinstance(value, DevicePairs):
        raise NotModelled("collective-permute without source_target_pairs")
    targets = [target for _, target in value.pairs]
    if len(set(targets)) != len(targets):
        raise NotModelled("collective-permute with two sources for one target")
    named = max((max(pair) for pair in value.pairs), default=0) + 1
    devices = max(named, op.partitions if "channel_id" in op.attributes else op.replicas)
    if output != operand:
        return Definition("moves", out.dimensions, into.dimensions, FALSE, group_size=devices)
    pairs: list[Formula] = [conj(eq(OWN_POSITION, t), eq(SOURCE_POSITION, s)) for s, t in value.pairs]
    predicate = conj(identity(out.rank), disj(*pairs))
    return Definition("moves", out.dimensions, into.dimensions, predicate, group_size=devices)


def collective_broadcast(op: Operation, output: int, operand: int) -> Definition:
    """All of a group read its first device."""
    out, into = output_array(op, output), operand_array(op, operand)
    predicate = conj(identity(out.rank), eq(SOURCE_POSITION, 0)) if output == operand else FALSE
    return Definition("moves", out.dimensions, into.dimensions, predicate, group_size=group_size(op))


def all_gather_start(op: Operation, output: int, operand: int) -> Definition:
    """The result holds the operands themselves, then the gathered arrays; where it is one array, the gathered one."""
    if isinstance(op.shape, ArrayShape):
        return all_gather(op, output, operand)
    if output < len(op.operands):
        return own_array(op, output, operand, output == operand)
    return _gathered(op, output, operand, output - len(op.operands) == operand)


def collective_permute_start(op: Operation, output: int, operand: int) -> Definition:
    """The result holds the operand itself, then what is received, then contexts that hold no data of it; where it is
    one array, what is received."""
    if isinstance(op.shape, ArrayShape):
        return collective_permute(op, output, operand)
    if len(op.operands) != 1:
        raise NotModelled("collective-permute-start of several operands")
    if output == 1:
        received = Operation(
            "collective-permute", output_array(op, 1), op.operands, op.attributes, op.replicas, op.partitions
        )
        return collective_permute(received, 0, operand)
    return own_array(op, output, operand, output == 0)


def own_array(op: Operation, output: int, operand: int, same: bool) -> Definition:
    """The output is the operand on the same device, or holds nothing of it."""
    out, into = output_array(op, output), operand_array(op, operand)
    if not same:
        return Definition("moves", out.dimensions, into.dimensions, FALSE)
    if out.dimensions != into.dimensions:
        raise NotModelled(f"{op.opcode} whose result does not hold its operand first")
    return Definition("moves", out.dimensions, into.dimensions, identity(out.rank))


def ragged_all_to_all(op: Operation, output: int, operand: int) -> Definition:
    """Operands: data, the array it is written into, and offsets and sizes of the pieces. Which rows of which device
    arrive where is known at run time only: any element of the data, and all offsets and sizes, of every device of the
    group may decide. What no piece overwrites stays, at its place and on its device."""
    out, into = output_array(op, output), operand_array(op, operand)
    size = group_size(op)
    if operand == 1:
        kept = conj(identity(out.rank), eq(SOURCE_POSITION, OWN_POSITION))
        return Definition("bound", out.dimensions, into.dimensions, kept, group_size=size)
    return Definition("bound", out.dimensions, into.dimensions, TRUE, group_size=size)


DEFINITIONS: Final[Mapping[str, Define]] = {
    "all-gather": all_gather,
    "all-gather-start": all_gather_start,
    "all-reduce": all_reduce,
    "all-reduce-start": all_reduce,
    "all-to-all": all_to_all,
    "collective-broadcast": collective_broadcast,
    "collective-permute": collective_permute,
    "collective-permute-start": collective_permute_start,
    "reduce-scatter": reduce_scatter,
    "ragged-all-to-all": ragged_all_to_all,
}
"""By opcode."""
