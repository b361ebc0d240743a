"""Collectives over replicas and partitions, in groups whose order is not that of the ids.

Groups name replicas, partitions, replicas with all their partitions, or devices by number, as the attributes say; or
there are none, and no count of devices either.
"""

from __future__ import annotations

from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import FOLDS, Builder, Write, resized, shape, together

_FLAGGED: Final = frozenset({"all-reduce", "all-gather", "reduce-scatter"})
"""Those that know use_global_device_ids."""


def _space(b: Builder, opcode: str, most: int = 4) -> tuple[dict[str, Any], int]:
    """The devices of the module and how they are grouped: the attributes, and the devices of a group."""
    replicas = b.number(1, 3)
    partitions = b.number(1, most // replicas)
    b.header = f", replica_count={replicas}" if replicas > 1 or b.chance(2) else ""
    b.header += f", num_partitions={partitions}" if partitions > 1 else ""
    attributes: dict[str, Any] = {}
    named, times = replicas, 1
    if b.chance(2):
        attributes["channel_id"] = b.number(0, 2)
        named, times = (replicas, partitions) if opcode in _FLAGGED else (partitions, 1)
        if opcode in _FLAGGED and b.chance(2):
            attributes["use_global_device_ids"] = True
            named, times = replicas * partitions, 1
    size = named
    match b.one_of(("none", "empty", "groups", "groups", "groups")):
        case "empty":
            attributes["replica_groups"] = "{}"
        case "groups":
            size = b.one_of([n for n in range(1, named + 1) if named % n == 0])
            order = b.shuffled(range(named))
            attributes["replica_groups"] = [order[k : k + size] for k in range(0, named, size)]
    return attributes, size * times


def collective(b: Builder) -> None:
    """One array, along a dimension or all of it."""
    _exchange(b, b.one_of(("all-reduce", "all-gather", "reduce-scatter", "all-to-all")), 1)


def collective_of_several(b: Builder) -> None:
    """Several arrays at once, of sizes of their own; of one array a tuple now and then for all-to-all."""
    opcode = b.one_of(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast"))
    if opcode == "all-to-all":
        attributes, group = _space(b, opcode, 3)
        b.op(opcode, *[shape(b.box(most=2, elements=4))] * group, **attributes)
    else:
        _exchange(b, opcode, b.number(1, 2))


def started(b: Builder) -> None:
    _exchange(b, b.one_of(("all-reduce-start", "all-gather-start")), b.number(1, 2))


def _exchange(b: Builder, opcode: str, count: int) -> None:
    plain = opcode.removesuffix("-start")
    attributes, group = _space(b, plain, 4 if count == 1 else 3)
    first = b.box(1, 2, 9 if count == 1 else 6)
    narrow = [first, *([b.number(1, 2) for _ in first] for _ in range(count - 1))]
    axis = b.axis(first)
    wide = [resized(dims, axis, dims[axis] * group) for dims in narrow]
    if plain not in ("all-reduce", "collective-broadcast"):
        attributes["dimensions"] = [axis]
    if plain in ("all-reduce", "reduce-scatter"):
        attributes["to_apply"] = b.one_of(FOLDS)
    given = [shape(d) for d in (wide if plain in ("reduce-scatter", "all-to-all") else narrow)]
    made = together([shape(d) for d in {"all-gather": wide, "reduce-scatter": narrow}.get(plain, [])])
    result = f"({together(given)}, {made})" if opcode == "all-gather-start" else made
    b.op(opcode, *given, result=result, **attributes)


def counted_by_shapes(b: Builder) -> None:
    """No count of devices and no groups: the shapes say how many there are."""
    dims = b.box(1, 2, 6)
    axis, groups = b.axis(dims), b.one_of((None, "{}"))
    narrow, wide = shape(dims), shape(resized(dims, axis, dims[axis] * b.number(1, 3)))
    if b.chance(2):
        b.op("all-gather", narrow, dimensions=[axis], replica_groups=groups, result=wide)
    else:
        b.op("reduce-scatter", wide, dimensions=[axis], replica_groups=groups, to_apply="add", result=narrow)


def permute(b: Builder) -> None:
    """Pairs of replicas, or of partitions where there is a channel; some are no target, some no source."""
    replicas, partitions = b.one_of(((1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 2)))
    b.header = b.one_of((f", replica_count={replicas}, num_partitions={partitions}", ""))
    across = b.chance(2)
    named = range(partitions if across else replicas)
    pairs = [*zip(b.shuffled(named), b.some(named), strict=False)]
    attributes: dict[str, Any] = {"source_target_pairs": pairs, "channel_id": 1 if across else None}
    s = shape(b.box(most=2, elements=6))
    if b.chance(2):
        result = b.one_of((f"({s}, {s})", f"({s}, {s}, u32[], u32[])", s))
        b.op("collective-permute-start", s, result=result, **attributes)
    else:
        b.op("collective-permute", *[s] * (2 if b.chance(4) else 1), **attributes)


def permute_shifted(b: Builder) -> None:
    """Runs of devices that each hand on to one at the same distance; some of the pairs are missing."""
    devices, distance, around = b.number(3, 6), b.number(-2, 2), b.chance(2)
    pairs = [(k, (k + distance) % devices) for k in range(devices) if around or 0 <= k + distance < devices]
    kept = [p for p in pairs if not b.chance(6)]
    if b.chance(3):
        kept = [(s, t) for s, t in kept if s > 1] + [(1, 0)] if (1, 0) not in kept else kept
    kept = list({t: (s, t) for s, t in kept}.values())
    b.header = f", replica_count={devices}"
    b.op("collective-permute", shape(b.box(most=1, elements=3)), source_target_pairs=b.shuffled(kept))


def ragged_exchange(b: Builder) -> None:
    """Pieces of rows, several for each device."""
    attributes, group = _space(b, "ragged-all-to-all", 3)
    tail = b.box(most=1, elements=2)
    given, taken = (shape([b.number(1, 4), *tail]) for _ in range(2))
    offsets = shape([group * b.number(1, 2)], b.one_of(("s32", "s64")))
    b.op("ragged-all-to-all", given, taken, *[offsets] * 4, **attributes)


DRAWN: Final[tuple[Write, ...]] = (
    collective,
    collective_of_several,
    started,
    counted_by_shapes,
    permute,
    permute_shifted,
    ragged_exchange,
)
