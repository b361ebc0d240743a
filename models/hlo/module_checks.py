"""What the parts of a module must have in common: aliases with the entry's shapes, device groups with the number of
devices. Errors are ShapeError; whoever knows the text adds the place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hloproof.models.hlo.attributes import Aliasing, BufferDonor, DevicePairs, ReplicaGroups
from hloproof.models.hlo.inference.common import ShapeError, Signature
from hloproof.models.hlo.module import Instruction, Module, device_counts
from hloproof.models.hlo.opcodes import WITH_GLOBAL_IDS, async_sugar
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, Shape, TupleShape, leaves
from hloproof.models.hlo.text.shapes import print_shape

_UNEVEN = ("all-reduce", "all-reduce-start")
"""Collectives whose groups may differ in size."""


def check_aliases(entries: Iterable[object], entry: Signature) -> None:
    """`input_output_alias` names places that exist, each place of the result and of a parameter once, and arrays of one
    size."""
    taken: set[tuple[int, ...]] = set()
    given: set[tuple[int, tuple[int, ...]]] = set()
    for alias in entries:
        assert isinstance(alias, Aliasing)
        where = _shown(alias.output_index)
        result = _at(entry.result, alias.output_index)
        if result is None:
            raise ShapeError(f"input_output_alias names {where} of the result, which is {print_shape(entry.result)}")
        if alias.output_index in taken:
            raise ShapeError(f"input_output_alias names {where} of the result twice")
        taken.add(alias.output_index)
        parameter = _parameter(entry, alias.operand, alias.operand_index, "input_output_alias")
        if (alias.operand, alias.operand_index) in given:
            place = f"{_shown(alias.operand_index)} of parameter {alias.operand}"
            raise ShapeError(f"input_output_alias joins {place} with two places of the result")
        given.add((alias.operand, alias.operand_index))
        if _bits(parameter) != _bits(result):
            raise ShapeError(
                f"input_output_alias joins {where} of the result, {print_shape(result)}, with "
                f"{_shown(alias.operand_index)} of parameter {alias.operand}, {print_shape(parameter)}, "
                "which has another size"
            )


def check_donors(entries: Iterable[object], entry: Signature) -> None:
    """`buffer_donor` names places of parameters that exist."""
    for donor in entries:
        assert isinstance(donor, BufferDonor)
        _parameter(entry, donor.parameter, donor.parameter_index, "buffer_donor")


def _parameter(entry: Signature, number: int, index: tuple[int, ...], what: str) -> Shape:
    if not 0 <= number < len(entry.parameters):
        raise ShapeError(f"{what} names parameter {number}; the entry has {len(entry.parameters)}")
    found = _at(entry.parameters[number], index)
    if found is None:
        shape = print_shape(entry.parameters[number])
        raise ShapeError(f"{what} names {_shown(index)} of parameter {number}, which is {shape}")
    return found


def _at(shape: Shape, index: tuple[int, ...]) -> Shape | None:
    for i in index:
        if not isinstance(shape, TupleShape) or i >= len(shape.elements):
            return None
        shape = shape.elements[i]
    return shape


def _bits(shape: Shape) -> tuple[object, ...]:
    """What two places of one buffer have in common: the bits of an array; the parts of a tuple."""
    return tuple(
        leaf.elements * ELEMENT_BITS[leaf.element_type] if isinstance(leaf, ArrayShape) else type(leaf).__name__
        for _, leaf in leaves(shape)
    )


def _shown(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}"


def check_devices(instruction: Instruction, module: Module) -> None:
    """Groups of devices name each device once and none beyond their number, where the header gives it.

    Without a channel groups hold replicas, with one partitions; of the opcodes that may say use_global_device_ids they
    hold replicas (in all their partitions), or with the flag devices.
    """
    attributes = instruction.attributes
    pairs, groups = attributes.get("source_target_pairs"), attributes.get("replica_groups")
    if not isinstance(pairs, DevicePairs) and not isinstance(groups, ReplicaGroups):
        return
    sugar = async_sugar(instruction.opcode)
    opcode = sugar[0] if sugar else instruction.opcode
    replicas, partitions = device_counts(module)
    channel, flat = "channel_id" in attributes, attributes.flag("use_global_device_ids")
    if opcode in WITH_GLOBAL_IDS:
        if flat and not channel:
            raise ShapeError(f"use_global_device_ids of {opcode} needs channel_id=")
        count, what = (replicas * partitions, "devices") if flat else (replicas, "replicas")
    else:
        count, what = (partitions, "partitions") if channel else (replicas, "replicas")
    if isinstance(pairs, DevicePairs):
        _check_pairs(pairs, count, what, twice=len(instruction.operands) == 4)
    if isinstance(groups, ReplicaGroups) and any(groups.groups):
        _check_groups(groups, count, what, opcode)


def _check_pairs(pairs: DevicePairs, count: int, what: str, twice: bool) -> None:
    """`twice`: the form that writes into given buffers names a device up to two times."""
    for side, devices in (("source", [a for a, _ in pairs.pairs]), ("target", [b for _, b in pairs.pairs])):
        found = Counter(devices)
        for device in devices:
            if device < 0 or (count > 1 and device >= count):
                raise ShapeError(f"{side} {device} in source_target_pairs is none of the {count} {what}")
            if found[device] > 1 + twice:
                raise ShapeError(f"{side} {device} appears more than once in source_target_pairs")


def _check_groups(groups: ReplicaGroups, count: int, what: str, opcode: str) -> None:
    named = {d for g in groups.groups for d in g}
    highest = max(named)
    if count > 1 and highest >= count:
        raise ShapeError(f"replica_groups of {opcode} name {highest}; the module has {count} {what}")
    missing = next((d for d in range(max(count, highest + 1)) if d not in named), None)
    if missing is not None:
        raise ShapeError(f"replica_groups of {opcode} leave out {what[:-1]} {missing}")
    sizes = {len(g) for g in groups.groups}
    if len(sizes) > 1 and opcode not in _UNEVEN:
        raise ShapeError(f"the replica_groups of {opcode} are of one size, found {sorted(sizes)}")
