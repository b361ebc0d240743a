"""One operation run on tagged elements, so that every output element tells which operand elements went into it and how
often. Operands that say where to read are given numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Final, cast

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import Module, Operation, device_counts
from hloproof.models.hlo.shape import ArrayShape, Index, Shape, TupleShape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.counted import Counted, reads, tags
from hloproof.models.interpreter.semantics.element_type import highest, lowest
from hloproof.models.interpreter.value import Array, Token, Value, arrays, indices

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


_SAY_WHERE: Final = {
    "dynamic-slice": slice(1, None),
    "dynamic-update-slice": slice(2, None),
    "gather": slice(1, 2),
    "ragged-dot": slice(2, 3),
    "ragged-all-to-all": slice(2, None),
}


def index_operands(op: Operation) -> frozenset[int]:
    """The operands that say where to read or write."""
    half = len(op.operands) // 2
    where = slice(half, half + 1) if op.opcode == "scatter" else _SAY_WHERE.get(op.opcode, slice(0))
    return frozenset(range(len(op.operands))[where])


Source = tuple[int, Index]
"""An operand, and where an array lies in its tuple; () for an operand that is an array."""


@dataclass
class Observed:
    """One operation, its run-time indices, and what was read: by device of the reader, output and source."""

    tagged: Tagged
    groups: list[list[int]]
    """By device, the numbers of those that it exchanges data with."""
    indices: dict[int, Array]
    seen: dict[tuple[int, int, Source], Reads]
    """Nothing for a source whose reads do not show: operands that say where to read, and bits below padding."""
    defined: dict[tuple[int, int, Source], Reads] = field(default_factory=dict)
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
        self.chosen = index_operands(self.op)
        self.arrays: dict[Source, ArrayShape] = {
            (k, position): leaf
            for k, s in enumerate(self.op.operands)
            for position, leaf in leaves(s)
            if isinstance(leaf, ArrayShape)
        }
        self.outputs = arrays_in(self.op.shape)
        self.where = [
            (device, source, index)
            for device in range(self.across.count)
            for source, s in self.arrays.items()
            if source[0] not in self.chosen
            for index in indices(s.dimensions)
        ]
        """What each tag stands for."""

    def run(self, fixed: Mapping[int, Array]) -> list[list[Array]]:
        """The results of each device, given the operands that say where to read. Raises NotModelled where the
        interpreter does."""
        module, op = self.module, self.op
        order = [module.entry.by_name[o].parameter_number or 0 for o in module.entry.root.operands]
        unused = iter(tags(len(self.where), BITS))
        given = [
            [fixed[k] if k in fixed else _tagged(s, unused) for k, s in enumerate(op.operands)]
            for _ in range(self.across.count)
        ]
        if op.opcode in _SAID:
            return [list(arrays(_SAID[op.opcode](values))) for values in given]
        machine = Machine(module, Counted(union=not is_counted(op)), self.across, self.seed)
        by_number = [dict(zip(order, values, strict=True)) for values in given]
        return [list(arrays(result)) for result in machine.run([tuple(v[n] for n in range(len(v))) for v in by_number])]


def _tagged(shape: Shape, unused: Iterator[int]) -> Value:
    """A value of this shape whose elements are the next tags."""
    if isinstance(shape, TupleShape):
        return tuple(_tagged(s, unused) for s in shape.elements)
    if isinstance(shape, ArrayShape):
        return Array(shape.element_type, shape.dimensions, list(islice(unused, shape.elements)))
    return Token()


def _of_dynamic_size(given: list[Value]) -> Value:
    """Whether an element is there depends on the size."""
    x, size = given
    assert isinstance(x, Array) and isinstance(size, Array)
    return Array(x.element_type, x.sizes, [value + size.data[0] for value in x.data])


_SAID: Final[dict[str, Callable[[list[Value]], Value]]] = {
    "get-dimension-size": lambda given: Array("s32", (), [0]),
    "recv-done": lambda given: cast(tuple[Value, ...], given[0])[0],
    "send": lambda given: (given[0], Array("u32", (), [0])),
    "set-dimension-size": _of_dynamic_size,
}
"""What operations come to that are not run alone, or whose numbers are no tags: their arrays."""


def observe(tagged: Tagged, fixed: dict[int, Array]) -> Observed:
    """What is read, given the operands that say where to read. Of a bitcast nothing shows where it is not run on tags:
    between widths, and over padding."""
    op, across = tagged.op, tagged.across
    seen: dict[tuple[int, int, Source], Reads] = {
        (device, output, source): Counter()
        for device in range(across.count)
        for output in range(len(tagged.outputs))
        for source in tagged.arrays
        if source[0] not in tagged.chosen
    }
    try:
        results = tagged.run(fixed)
    except NotModelled:
        if op.opcode != "bitcast":
            raise
        seen, results = {}, []
    for own, result in enumerate(results):
        for output, array in enumerate(result):
            for out, element in zip(indices(array.sizes), array.data, strict=True):
                counts = reads(element, len(tagged.where), BITS) if element else ()
                for (device, source, index), count in zip(tagged.where, counts, strict=False):
                    if count:
                        seen[own, output, source][out, index, device] += count
    return Observed(tagged, group_numbers(op, across), fixed, seen)


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
