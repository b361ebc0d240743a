"""Collective operations over devices that run in lock-step.

A device is a replica of a partition, numbered `replica * partitions + partition`. Whom a group's numbers name follows
from the attributes: without channel_id they are replicas (of the same partition); with channel_id and
use_global_device_ids they are devices; with channel_id alone they are replicas with all their partitions (all-reduce,
all-gather, reduce-scatter) or partitions of the same replica (the other operations). No groups means one of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.opcodes import WITH_GLOBAL_IDS
from hloproof.models.hlo.shape import TupleShape
from hloproof.models.interpreter.compact.classed import lifted
from hloproof.models.interpreter.compact.folds import joined_by
from hloproof.models.interpreter.compact.movement import concatenated, selected
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Array, Classed, Value

AnyArray = Array | Classed

COLLECTIVES: Final = frozenset(
    {
        "all-reduce",
        "all-gather",
        "reduce-scatter",
        "all-to-all",
        "collective-permute",
        "collective-broadcast",
        "ragged-all-to-all",
    }
)


class Stuck(Exception):
    """A collective operation waits for a device that does not reach it."""


@dataclass(frozen=True, slots=True)
class Devices:
    """Device number = replica * partitions + partition, each counted from 0."""

    replicas: int = 1
    partitions: int = 1

    @property
    def count(self) -> int:
        return self.replicas * self.partitions


def groups(step: Step, opcode: str, devices: Devices) -> list[list[int]]:
    """The groups of device numbers that exchange data, each in the order of the group."""
    attributes = step.attributes
    written = attributes.get("replica_groups")
    named = [list(g) for g in written.groups] if isinstance(written, ReplicaGroups) else []
    named = [g for g in named if g]
    replicas, partitions = devices.replicas, devices.partitions
    across = "channel_id" in attributes
    if across and opcode in WITH_GLOBAL_IDS:
        if attributes.flag("use_global_device_ids"):
            return _checked(named or [list(range(devices.count))], devices)
        chosen = named or [list(range(replicas))]
        return _checked([[r * partitions + p for r in g for p in range(partitions)] for g in chosen], devices)
    if across:
        chosen = named or [list(range(partitions))]
        return _checked([[r * partitions + p for p in g] for r in range(replicas) for g in chosen], devices)
    chosen = named or [list(range(replicas))]
    return _checked([[r * partitions + p for r in g] for p in range(partitions) for g in chosen], devices)


def _checked(found: list[list[int]], devices: Devices) -> list[list[int]]:
    highest = max(d for g in found for d in g)
    if highest >= devices.count:
        raise NotModelled(
            f"a group names device {highest}, and there are {devices.replicas} replicas of {devices.partitions} "
            f"partitions"
        )
    return found


def run(opcode: str, steps: Mapping[int, Step], devices: Devices) -> dict[int, Value]:
    """The results of one collective, by device. Raises Stuck when a device of a group is not among `steps`."""
    some = next(iter(steps.values()))
    if opcode == "collective-permute":
        return _permute(steps, devices)
    results: dict[int, Value] = {}
    for group in groups(some, opcode, devices):
        active = [d for d in group if d in steps]
        if not active:
            continue
        if len(active) != len(group):
            raise Stuck(f"{some.instruction.name}: of {group} only {active} reach this {opcode}")
        for position, device in enumerate(group):
            results[device] = _exchange(opcode, [steps[d] for d in group], position)
    for device, step in steps.items():
        if device not in results:
            raise NotModelled(f"{step.instruction.name}: device {device} is in no group")
    return results


def _exchange(opcode: str, group: Sequence[Step], position: int) -> Value:
    """What the device at this position of the group gets."""
    match opcode:
        case "all-reduce":
            return _packed([_reduced(group, k) for k in range(len(group[0].operands))])
        case "all-gather":
            axis, operands = _axis(group[0]), range(len(group[0].operands))
            return _packed([_gathered([_operand(s, k) for s in group], axis) for k in operands])
        case "reduce-scatter":
            count = len(group)
            return _packed(
                [_piece(_reduced(group, k), _axis(group[0]), position, count) for k in range(len(group[0].operands))]
            )
        case "all-to-all":
            return _all_to_all(group, position)
        case "collective-broadcast":
            return _packed([_operand(group[0], k) for k in range(len(group[0].operands))])
        case "ragged-all-to-all":
            return _ragged(group, position)
    raise NotModelled(opcode)


def _axis(step: Step) -> int:
    (axis,) = step.attributes.integers("dimensions")
    return axis


def _operand(step: Step, k: int) -> AnyArray:
    value = step.operands[k]
    return value if isinstance(value, Classed) else step.array(k)


def _packed(arrays: Sequence[AnyArray]) -> Value:
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _reduced(group: Sequence[Step], operand: int) -> AnyArray:
    body = group[0].called()
    parts = [_operand(s, operand) for s in group]
    if any(isinstance(p, Classed) for p in parts):
        return reduce(lambda a, b: joined_by(body, a, b), map(lifted, parts))
    first = group[0].array(operand)
    data = list(first.data)
    for other in group[1:]:
        data = [body((a, b))[0] for a, b in zip(data, other.array(operand).data, strict=True)]
    return Array(first.element_type, first.sizes, data)


def _gathered(given: Sequence[AnyArray], axis: int) -> AnyArray:
    if any(isinstance(p, Classed) for p in given):
        return lifted(concatenated([lifted(p) for p in given], axis))
    parts = [p for p in given if isinstance(p, Array)]
    first = parts[0]
    rows = prod(first.sizes[:axis])
    run_length = prod(first.sizes[axis:])
    data = [v for row in range(rows) for p in parts for v in p.data[row * run_length : (row + 1) * run_length]]
    sizes = (*first.sizes[:axis], first.sizes[axis] * len(parts), *first.sizes[axis + 1 :])
    return Array(first.element_type, sizes, data)


def _piece(x: AnyArray, axis: int, number: int, count: int) -> AnyArray:
    """The `number`-th of `count` equal pieces along an axis."""
    if x.sizes[axis] % count:
        raise NotModelled(f"a dimension of size {x.sizes[axis]} split over {count} devices")
    if isinstance(x, Classed):
        length = x.sizes[axis] // count
        own = range(number * length, (number + 1) * length)
        return lifted(selected(x, [own if d == axis else range(m) for d, m in enumerate(x.sizes)]))
    inner = prod(x.sizes[axis + 1 :])
    size = x.sizes[axis] // count
    whole, part = x.sizes[axis] * inner, size * inner
    rows = prod(x.sizes[:axis])
    data = [v for row in range(rows) for v in x.data[row * whole + number * part : row * whole + (number + 1) * part]]
    return Array(x.element_type, (*x.sizes[:axis], size, *x.sizes[axis + 1 :]), data)


def _all_to_all(group: Sequence[Step], position: int) -> Value:
    """With a split dimension: piece `position` of every device, joined. Without: operand `position` of every device."""
    own = group[position]
    if own.attributes.integers("dimensions"):
        axis = _axis(own)
        return _gathered([_piece(_operand(s, 0), axis, position, len(group)) for s in group], axis)
    if len(own.operands) != len(group):
        raise NotModelled(f"all-to-all of {len(own.operands)} operands over {len(group)} devices")
    return tuple(_operand(s, position) for s in group)


def _permute(steps: Mapping[int, Step], devices: Devices) -> dict[int, Value]:
    """Each target gets what its source has; a device that is no target gets zeros."""
    some = next(iter(steps.values()))
    if len(some.operands) != 1 and not isinstance(some.instruction.shape, TupleShape):
        raise NotModelled("collective-permute into given buffers")
    written = some.attributes.get("source_target_pairs")
    pairs = written.pairs if isinstance(written, DevicePairs) else ()
    partitions = devices.partitions
    source_of: dict[int, int] = {}
    for source, target in pairs:
        if "channel_id" in some.attributes:
            for r in range(devices.replicas):
                source_of[r * partitions + target] = r * partitions + source
        else:
            for p in range(partitions):
                source_of[target * partitions + p] = source * partitions + p
    results: dict[int, Value] = {}
    for device, step in steps.items():
        if device not in source_of:
            results[device] = _packed([_zeros(step, k) for k in range(len(step.operands))])
        elif source_of[device] in steps:
            sender = steps[source_of[device]]
            results[device] = _packed([_operand(sender, k) for k in range(len(sender.operands))])
        elif source_of[device] >= devices.count:
            raise NotModelled(f"a pair names device {source_of[device]}, and there are {devices.count}")
        else:
            raise Stuck(f"{step.instruction.name}: device {source_of[device]} does not reach this collective-permute")
    return results


def _zeros(step: Step, operand: int) -> AnyArray:
    x = _operand(step, operand)
    if isinstance(x, Classed):
        return replace(x, data=[step.scalars.constant(x.element_type, 0)] * len(x.data))
    return Array(x.element_type, x.sizes, [step.scalars.constant(x.element_type, 0)] * len(x.data))


def _ragged(group: Sequence[Step], position: int) -> Value:
    """Device p sends rows [input_offsets[i], + send_sizes[i]) of its first operand to device i of the group, which puts
    them at p's output_offsets[i] into its own second operand; several updates per device follow each other."""
    own = group[position]
    out = own.array(1)
    row_length = prod(out.sizes[1:])
    data = list(out.data)
    for sender in group:
        x, starts, counts, targets = sender.array(0), sender.array(2), sender.array(3), sender.array(4)
        updates = len(starts.data) // len(group)
        for k in range(position * updates, (position + 1) * updates):
            start, count, target = (sender.scalars.integer(a.data[k]) for a in (starts, counts, targets))
            rows = x.data[start * row_length : (start + count) * row_length]
            data[target * row_length : (target + count) * row_length] = rows
    return Array(out.element_type, out.sizes, data)


__all__ = ["COLLECTIVES", "Devices", "Stuck", "run"]
