"""One operation run on tagged elements, so that every output element tells which operand elements went into it and how
often. Operands that say where to read are given numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import Module, Operation, device_counts
from hloproof.models.hlo.shape import ArrayShape, Index, Shape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.counted import Counted, reads, tags
from hloproof.models.interpreter.semantics.element_type import highest, lowest
from hloproof.models.interpreter.value import Array, Value, indices

Reads = Counter[tuple[Index, Index, int]]
"""(output index, operand index, device) and how often."""

BITS: Final = 12
UNCOUNTED: Final = frozenset(
    "select-and-scatter sort topk fft cholesky triangular-solve batch-norm-training batch-norm-inference "
    "batch-norm-grad scatter".split()
)
"""Opcodes for which only whether an element is read is compared, not how often."""


EXCHANGES: Final = frozenset(
    "all-reduce all-gather reduce-scatter all-to-all collective-broadcast ragged-all-to-all collective-permute".split()
)
"""Opcodes whose devices exchange data in groups."""


def is_counted(op: Operation) -> bool:
    """Whether the tags can tell how often an element is read."""
    if op.opcode == "scan" and op.attributes.integer("num_carries", 0) > 1:
        return False  # carries that are sums of each other double
    return op.opcode not in UNCOUNTED and not (op.opcode in ("reduce", "reduce-window") and len(op.operands) > 2)


def index_operands(op: Operation) -> frozenset[int]:
    """The operands that say where to read or write."""
    match op.opcode:
        case "dynamic-slice":
            return frozenset(range(1, len(op.operands)))
        case "dynamic-update-slice":
            return frozenset(range(2, len(op.operands)))
        case "gather":
            return frozenset({1})
        case "scatter":
            return frozenset({len(op.operands) // 2})
        case "ragged-dot":
            return frozenset({2})
        case "ragged-all-to-all":
            return frozenset(range(2, len(op.operands)))
    return frozenset()


@dataclass
class Observed:
    """One operation, its run-time indices, and what was read: by device of the reader, output and operand."""

    op: Operation
    across: Devices
    groups: list[list[int]]
    """By device, the numbers of those that it exchanges data with."""
    indices: dict[int, Array]
    seen: dict[tuple[int, int, int], Reads]
    defined: dict[tuple[int, int, int], Reads] = field(default_factory=dict)
    """The same as the definitions state it."""


def group_numbers(op: Operation, across: Devices) -> list[list[int]]:
    """For every device, the numbers of the devices of its group, in the order of the group. That of collective-permute
    holds all that its pairs may name, in the order of the names."""
    everyone = [(r, p) for r in range(across.replicas) for p in range(across.partitions)]
    exchanges = op.opcode.removesuffix("-start") in EXCHANGES
    groups = [_group(op, own, across, everyone) if exchanges else [own] for own in everyone]
    return [[r * across.partitions + p for r, p in group] for group in groups]


def _group(
    op: Operation, own: tuple[int, int], across: Devices, everyone: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Replicas and partitions that exchange data with this one, itself among them, in the order of the group.

    Without channel_id groups name replicas, each partition on its own; with channel_id and use_global_device_ids they
    name devices by number; with channel_id alone they name replicas with all their partitions for the operations that
    know the flag, and partitions, each replica on its own, for the others.
    """
    value, (replica, partition) = op.attributes.get("replica_groups"), own
    written: list[Sequence[int]] = [g for g in value.groups if g] if isinstance(value, ReplicaGroups) else []
    if "channel_id" not in op.attributes:
        return [(r, partition) for r in next(g for g in written or [range(across.replicas)] if replica in g)]
    if op.opcode.removesuffix("-start") not in ("all-reduce", "all-gather", "reduce-scatter"):
        return [(replica, p) for p in next(g for g in written or [range(across.partitions)] if partition in g)]
    if op.attributes.flag("use_global_device_ids"):
        return next(g for g in ([everyone[n] for n in w] for w in written or [range(len(everyone))]) if own in g)
    found = next(g for g in written or [range(across.replicas)] if replica in g)
    return [(r, p) for r in found for p in range(across.partitions)]


def arrays_of(value: Value) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    return [a for v in value for a in arrays_of(v)] if isinstance(value, tuple) else []


def devices_of(module: Module) -> Devices:
    """As the header says; where it does not, as many as the root's pairs name, or its shapes ask for without groups."""
    replicas, partitions = device_counts(module)
    root = module.entry.root
    pairs = root.attributes.get("source_target_pairs")
    if isinstance(pairs, DevicePairs) and replicas * partitions == 1:
        named = max((max(p) for p in pairs.pairs), default=0) + 1
        return Devices(1, named) if "channel_id" in root.attributes else Devices(named)
    if replicas * partitions > 1 or root.opcode not in ("all-gather", "all-gather-start", "reduce-scatter"):
        return Devices(replicas, partitions)
    groups = root.attributes.get("replica_groups")
    if isinstance(groups, ReplicaGroups) and any(groups.groups):
        return Devices()
    (axis,) = root.attributes.integers("dimensions")
    ends = [
        s.dimensions[axis]
        for s in (arrays_in(root.shape)[-1], module.entry.by_name[root.operands[-1]].shape)
        if isinstance(s, ArrayShape)
    ]
    return Devices(max(ends) // min(ends) if all(ends) else 1)


def arrays_in(shape: Shape) -> list[ArrayShape]:
    return [leaf for _, leaf in leaves(shape) if isinstance(leaf, ArrayShape)]


class Tagged:
    """An operation that is run on tagged parameters."""

    def __init__(self, module: Module, seed: int) -> None:
        self.module, self.seed = module, seed
        self.across = devices_of(module)
        self.op = Operation.of(module.entry.root, module.entry, *device_counts(module))
        self.chosen = sorted(index_operands(self.op))
        counts = [s.elements if isinstance(s, ArrayShape) else 0 for s in self.op.operands]
        self.data = [0 if k in self.chosen else n for k, n in enumerate(counts)]

    def run(self, fixed: Mapping[int, Array]) -> list[list[Array]]:
        """The results of each device, given the operands that say where to read. Raises NotModelled where the
        interpreter does."""
        module, op = self.module, self.op
        order = [module.entry.by_name[o].parameter_number or 0 for o in module.entry.root.operands]
        total, given = sum(self.data), list[tuple[Value, ...]]()
        all_tags = tags(total * self.across.count, BITS)
        for device in range(self.across.count):
            base, values = device * total, list[Value]()
            for k, s in enumerate(op.operands):
                if not isinstance(s, ArrayShape):
                    raise NotModelled("operands that are not arrays")
                if k in fixed:
                    values.append(fixed[k])
                    continue
                values.append(Array(s.element_type, s.dimensions, all_tags[base : base + self.data[k]]))
                base += self.data[k]
            by_number = dict(zip(order, values, strict=True))
            given.append(tuple(by_number[n] for n in range(len(by_number))))
        machine = Machine(module, Counted(union=not is_counted(op)), self.across, self.seed)
        return [arrays_of(result) for result in machine.run(given)]


def observe(tagged: Tagged, fixed: dict[int, Array]) -> Observed:
    """What is read, given the operands that say where to read."""
    op, across = tagged.op, tagged.across
    seen: dict[tuple[int, int, int], Reads] = {}
    for reader_id, result in enumerate(tagged.run(fixed)):
        for output, array in enumerate(result):
            for k in range(len(op.operands)):
                seen[reader_id, output, k] = Counter()
            _collect(op, array, output, reader_id, (across.count, sum(tagged.data), tagged.data), seen)
    return Observed(op, across, group_numbers(op, across), fixed, seen)


def _collect(
    op: Operation,
    array: Array,
    output: int,
    reader_id: int,
    layout: tuple[int, int, list[int]],
    seen: dict[tuple[int, int, int], Reads],
) -> None:
    devices, total, data = layout
    where = [
        (device, k, index)
        for device in range(devices)
        for k, s in enumerate(op.operands)
        if data[k] and isinstance(s, ArrayShape)
        for index in indices(s.dimensions)
    ]
    for out, element in zip(indices(array.sizes), array.data, strict=True):
        if not element:
            continue
        for (device, k, index), count in zip(where, reads(element, total * devices, BITS), strict=True):
            if count:
                seen[reader_id, output, k][out, index, device] += count


def random_indices(op: Operation, random: Random) -> dict[int, Array]:
    """The operands that say where to read, out of bounds too where that has a meaning."""
    if op.opcode == "ragged-all-to-all":
        return _random_pieces(op, random)
    return {k: _random_places(op, k, random) for k in sorted(index_operands(op))}


def _random_places(op: Operation, operand: int, random: Random) -> Array:
    shape = op.operands[operand]
    assert isinstance(shape, ArrayShape)
    low, high = max(-2, lowest(shape.element_type)), min(6, highest(shape.element_type))
    if op.opcode == "ragged-dot":
        low, high = 0, 2
    extremes = [lowest(shape.element_type), highest(shape.element_type)]
    data = [
        random.choice(extremes) if op.opcode != "ragged-dot" and random.random() < 0.1 else random.randint(low, high)
        for _ in range(shape.elements)
    ]
    return Array(shape.element_type, shape.dimensions, data)


def _random_pieces(op: Operation, random: Random) -> dict[int, Array]:
    """Offsets, sizes and targets of pieces that lie inside their arrays."""
    given, taken, offsets = (op.operands[k] for k in (0, 1, 2))
    assert isinstance(given, ArrayShape) and isinstance(taken, ArrayShape) and isinstance(offsets, ArrayShape)
    counts = [random.randint(0, min(given.dimensions[0], taken.dimensions[0])) for _ in range(offsets.elements)]
    starts = [random.randint(0, given.dimensions[0] - n) for n in counts]
    targets = [random.randint(0, taken.dimensions[0] - n) for n in counts]
    data = (starts, counts, targets, counts)
    return {2 + k: Array(offsets.element_type, offsets.dimensions, numbers) for k, numbers in enumerate(data)}
