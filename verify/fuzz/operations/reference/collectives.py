"""Collectives read a second time: what every device gets, from what all of them have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.fuzz.operations.reference.values import Call, Tensor, box
from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import Index, TupleShape
from hloproof.models.interpreter.operations.collective import Devices

Device = tuple[int, int]
"""Replica and partition."""

_ALL_PARTITIONS: Final = ("all-reduce", "all-gather", "reduce-scatter")


def numbered(replicas: int, partitions: int) -> list[Device]:
    """All devices in the order of their numbers."""
    return [(r, p) for r in range(replicas) for p in range(partitions)]


def group_of(op: Operation, own: Device, replicas: int, partitions: int) -> list[Device]:
    """The devices that exchange data with this one, itself among them, in the order of the group.

    Without channel_id groups name replicas, each partition on its own; with channel_id and use_global_device_ids they
    name devices by number; with channel_id alone they name replicas with all their partitions for the operations that
    know the flag, and partitions, each replica on its own, for the others.
    """
    value = op.attributes.get("replica_groups")
    written: list[Sequence[int]] = [g for g in value.groups if g] if isinstance(value, ReplicaGroups) else []
    plain = op.opcode.removesuffix("-start")
    with_channel, by_number = "channel_id" in op.attributes, op.attributes.flag("use_global_device_ids")
    replica, partition = own
    if with_channel and plain in _ALL_PARTITIONS:
        if by_number:
            everyone = numbered(replicas, partitions)
            return next(g for g in ([everyone[n] for n in w] for w in written or [range(len(everyone))]) if own in g)
        found = next(g for g in written or [range(replicas)] if replica in g)
        return [(r, p) for r in found for p in range(partitions)]
    if with_channel:
        return [(replica, p) for p in next(g for g in written or [range(partitions)] if partition in g)]
    return [(r, partition) for r in next(g for g in written or [range(replicas)] if replica in g)]


def group_numbers(op: Operation, across: Devices) -> list[list[int]]:
    """For every device, the numbers of the devices of its group. That of collective-permute holds all that its pairs
    may name, in the order of the names."""
    found = []
    for own in numbered(across.replicas, across.partitions):
        group = [own]
        if op.opcode.removesuffix("-start") in EXCHANGES or op.opcode.startswith("collective-permute"):
            group = group_of(op, own, across.replicas, across.partitions)
        found.append([r * across.partitions + p for r, p in group])
    return found


def source_of(op: Operation, own: Device) -> Device | None:
    """Whose data collective-permute brings here: pairs name replicas, or partitions where there is a channel_id."""
    value = op.attributes.get("source_target_pairs")
    assert isinstance(value, DevicePairs)
    across = "channel_id" in op.attributes
    for source, target in value.pairs:
        if target == own[1 if across else 0]:
            return (own[0], source) if across else (source, own[1])
    return None


@dataclass(frozen=True)
class Exchange:
    """One collective as its group sees it: the calls of the members, in the order of the group."""

    op: Operation
    members: tuple[Call, ...]
    place: int
    """The reader's position in the group."""

    @property
    def operands(self) -> range:
        return range(len(self.op.operands))

    def of(self, operand: int) -> list[Tensor]:
        return [c.operands[operand] for c in self.members]

    def size(self, operand: int) -> int:
        """Along the dimension of the operation."""
        (axis,) = self.op.attributes.integers("dimensions")
        return self.members[0].sizes(operand)[axis]


def _moved(x: Index, axis: int, by: int) -> Index:
    return (*x[:axis], x[axis] + by, *x[axis + 1 :])


def all_reduce(e: Exchange) -> list[Tensor]:
    out: list[Tensor] = []
    body = e.members[0].body()
    for k in e.operands:
        first, *others = e.of(k)
        total = dict(first)
        for other in others:
            total = {x: body([total[x], other[x]])[0] for x in total}
        out.append(total)
    return out


def all_gather(e: Exchange) -> list[Tensor]:
    (axis,) = e.op.attributes.integers("dimensions")
    out: list[Tensor] = []
    for k in e.operands:
        out.append({_moved(x, axis, n * e.size(k)): v for n, part in enumerate(e.of(k)) for x, v in part.items()})
    return out


def reduce_scatter(e: Exchange) -> list[Tensor]:
    (axis,) = e.op.attributes.integers("dimensions")
    out: list[Tensor] = []
    for k, total in enumerate(all_reduce(e)):
        block = e.size(k) // len(e.members)
        out.append({_moved(x, axis, -e.place * block): v for x, v in total.items() if x[axis] // block == e.place})
    return out


def all_to_all(e: Exchange) -> list[Tensor]:
    along = e.op.attributes.integers("dimensions")
    if not along:
        return e.of(e.place)
    block, out = e.size(0) // len(e.members), dict[Index, object]()
    for n, part in enumerate(e.of(0)):
        for x, v in part.items():
            if x[along[0]] // block == e.place:
                out[_moved(x, along[0], (n - e.place) * block)] = v
    return [out]


def collective_broadcast(e: Exchange) -> list[Tensor]:
    return [e.of(k)[0] for k in e.operands]


def ragged_all_to_all(e: Exchange) -> list[Tensor]:
    """Every sender says, for the updates meant for this device, which of its rows go to which rows here."""
    out = dict(e.members[e.place].operands[1])
    for sender in e.members:
        per_device = sender.sizes(2)[0] // len(e.members)
        for u in range(per_device):
            k = e.place * per_device + u
            start, count, target = (sender.number(n, (k,)) for n in (2, 3, 4))
            for row in range(count):
                for tail in box(sender.sizes(0)[1:]):
                    out[target + row, *tail] = sender.operands[0][start + row, *tail]
    return [out]


EXCHANGES: Final[dict[str, Callable[[Exchange], list[Tensor]]]] = {
    "all-reduce": all_reduce,
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "all-to-all": all_to_all,
    "collective-broadcast": collective_broadcast,
    "ragged-all-to-all": ragged_all_to_all,
}


def everywhere(calls: Sequence[Call], replicas: int, partitions: int) -> list[list[Tensor]]:
    """The arrays that each device gets, by device number. The results of a start hold the operands first."""
    devices = numbered(replicas, partitions)
    by_device = dict(zip(devices, calls, strict=True))
    op = calls[0].op
    plain = op.opcode.removesuffix("-start")
    out: list[list[Tensor]] = []
    for own in devices:
        if plain == "collective-permute":
            source = source_of(op, own)
            found = [
                dict.fromkeys(x, 0) if source is None else by_device[source].operands[k]
                for k, x in enumerate(by_device[own].operands)
            ]
        else:
            group = group_of(op, own, replicas, partitions)
            members = tuple(by_device[m] for m in group)
            found = EXCHANGES[plain](Exchange(replace(op, opcode=plain), members, group.index(own)))
        if op.opcode in ("all-gather-start", "collective-permute-start") and isinstance(op.shape, TupleShape):
            found = [*by_device[own].operands, *found]
        out.append(found)
    return out
