"""Strategies for collectives over replicas and partitions, in groups whose order is not that of the ids.

Groups name replicas, partitions, replicas with all their partitions, or devices by number, as the attributes say; or
there are none, and no count of devices either.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, braces, fold, one, shape


@dataclass(frozen=True)
class Space:
    """The devices of a module and how they are grouped: the header, the attributes, and the devices of a group."""

    header: str
    attributes: tuple[str, ...]
    group: int


@st.composite
def spaces(draw: Draw, flagged: bool, most: int = 4) -> Space:
    """`flagged`: of an operation that knows use_global_device_ids."""
    replicas = draw(st.integers(1, 3))
    partitions = draw(st.integers(1, most // replicas))
    header = f", replica_count={replicas}" if replicas > 1 or draw(st.booleans()) else ""
    header += f", num_partitions={partitions}" if partitions > 1 else ""
    attributes, named, times = [], replicas, 1
    if draw(st.booleans()):
        attributes.append(f"channel_id={draw(st.integers(0, 2))}")
        named = partitions
        if flagged:
            named, times = replicas, partitions
            if draw(st.booleans()):
                attributes.append("use_global_device_ids=true")
                named, times = replicas * partitions, 1
    size = named
    match draw(st.sampled_from(("none", "empty", "groups", "groups", "groups"))):
        case "empty":
            attributes.append("replica_groups={}")
        case "groups":
            size = draw(st.sampled_from([n for n in range(1, named + 1) if named % n == 0]))
            order = draw(st.permutations(range(named)))
            groups = [braces(order[k : k + size]) for k in range(0, named, size)]
            attributes.append(f"replica_groups={braces(groups)}")
    return Space(header, tuple(attributes), size * times)


@st.composite
def collective(draw: Draw) -> str:
    """Operations on one array each, along a dimension or on all of it."""
    dims = draw(boxes(minimum=1, maximum=2, most=9))
    axis = draw(st.integers(0, len(dims) - 1))
    opcode = draw(st.sampled_from(("all-reduce", "all-gather", "reduce-scatter", "all-to-all")))
    space = draw(spaces(flagged=opcode != "all-to-all"))
    wide = [*dims[:axis], dims[axis] * space.group, *dims[axis + 1 :]]
    along = f"dimensions={braces([axis])}"
    name, body = draw(fold())
    match opcode:
        case "all-gather":
            return _one(opcode, [shape(dims)], space, along, result=shape(wide))
        case "reduce-scatter":
            return _one(opcode, [shape(wide)], space, along, f"to_apply={name}", before=body, result=shape(dims))
        case "all-to-all":
            return _one(opcode, [shape(wide)], space, along)
    return _one("all-reduce", [shape(dims)], space, f"to_apply={name}", before=body)


def _one(opcode: str, operands: list[str], space: Space, *more: str, before: str = "", result: str = "") -> str:
    return one(opcode, operands, ", ".join((*space.attributes, *more)), before, space.header, result)


@st.composite
def collective_of_several(draw: Draw) -> str:
    """Several arrays at once, of sizes of their own; a tuple of one array now and then for all-to-all."""
    opcode = draw(st.sampled_from(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast")))
    space = draw(spaces(flagged=opcode in ("all-reduce", "all-gather", "reduce-scatter"), most=3))
    axis = draw(st.integers(0, 1))
    name, body = draw(fold())
    if opcode == "all-to-all":
        s = shape(draw(boxes(maximum=2, most=4)))
        return _one(opcode, [s] * space.group, space)
    count = draw(st.integers(1, 2))
    narrow = [[draw(st.integers(1, 2)), draw(st.integers(1, 2))] for _ in range(count)]
    wide = [[n * space.group if k == axis else n for k, n in enumerate(dims)] for dims in narrow]
    operands = wide if opcode == "reduce-scatter" else narrow
    more = [f"dimensions={braces([axis])}"] if opcode in ("all-gather", "reduce-scatter") else []
    more += [f"to_apply={name}"] if opcode in ("all-reduce", "reduce-scatter") else []
    before = body if "to_apply" in str(more) else ""
    results = {"all-gather": wide, "reduce-scatter": narrow}.get(opcode, [])
    text = ", ".join(shape(d) for d in results)
    result = f"({text})" if len(results) > 1 else text
    return _one(opcode, [shape(d) for d in operands], space, *more, before=before, result=result)


@st.composite
def permute(draw: Draw) -> str:
    """Pairs of replicas, or of partitions where there is a channel; some are no target, some no source."""
    replicas, partitions = draw(st.sampled_from(((1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 2))))
    header = draw(st.sampled_from((f", replica_count={replicas}, num_partitions={partitions}", "")))
    across = draw(st.booleans())
    named = partitions if across else replicas
    targets = draw(st.permutations(range(named)))[: draw(st.integers(0, named))]
    pairs = braces([braces(p) for p in zip(draw(st.permutations(range(named))), targets, strict=False)])
    attributes = f"source_target_pairs={pairs}" + (", channel_id=1" if across else "")
    s = shape(draw(boxes(maximum=2, most=6)))
    if draw(st.booleans()):
        form = draw(st.sampled_from((f"({s}, {s})", f"({s}, {s}, u32[], u32[])", s)))
        return one("collective-permute-start", [s], attributes, header=header, result=form)
    if draw(st.integers(0, 3)) == 0:
        return one("collective-permute", [s, s], attributes, header=header)
    return one("collective-permute", [s], attributes, header=header)


@st.composite
def permute_shifted(draw: Draw) -> str:
    """Runs of devices that each hand on to one at the same distance; some of the pairs are missing."""
    devices, distance = draw(st.integers(3, 6)), draw(st.integers(-2, 2))
    around = draw(st.booleans())
    pairs = [(k, (k + distance) % devices) for k in range(devices) if around or 0 <= k + distance < devices]
    kept = [p for p in pairs if draw(st.integers(0, 5))]
    if draw(st.integers(0, 2)) == 0:
        kept = [(s, t) for s, t in kept if s > 1] + [(1, 0)] if (1, 0) not in kept else kept
    kept = list({t: (s, t) for s, t in kept}.values())
    text = braces([braces(p) for p in draw(st.permutations(kept))])
    header = f", replica_count={devices}"
    s = shape(draw(boxes(maximum=1, most=3)))
    return one("collective-permute", [s], f"source_target_pairs={text}", header=header)


@st.composite
def started(draw: Draw) -> str:
    """The starts of asynchronous collectives."""
    space = draw(spaces(flagged=True, most=3))
    dims = draw(boxes(minimum=1, maximum=2, most=6))
    axis = draw(st.integers(0, len(dims) - 1))
    s, count = shape(dims), draw(st.integers(1, 2))
    if draw(st.booleans()):
        name, body = draw(fold())
        return _one("all-reduce-start", [s] * count, space, f"to_apply={name}", before=body)
    wide = shape([*dims[:axis], dims[axis] * space.group, *dims[axis + 1 :]])
    result = f"({s}, {wide})" if count == 1 else f"(({s}, {s}), ({wide}, {wide}))"
    return _one("all-gather-start", [s] * count, space, f"dimensions={braces([axis])}", result=result)


@st.composite
def counted_by_shapes(draw: Draw) -> str:
    """No count of devices and no groups: the shapes say how many there are."""
    dims = draw(boxes(minimum=1, maximum=2, most=6))
    axis, devices = draw(st.integers(0, len(dims) - 1)), draw(st.integers(1, 3))
    wide = shape([*dims[:axis], dims[axis] * devices, *dims[axis + 1 :]])
    attributes = f"dimensions={braces([axis])}" + draw(st.sampled_from(("", ", replica_groups={}")))
    if draw(st.booleans()):
        return one("all-gather", [shape(dims)], attributes, result=wide)
    return one("reduce-scatter", [wide], f"{attributes}, to_apply=add", ADD, result=shape(dims))


@st.composite
def ragged_exchange(draw: Draw) -> str:
    """Pieces of rows, several for each device."""
    space = draw(spaces(flagged=False, most=3))
    tail = draw(boxes(maximum=1, most=2))
    given, taken = (shape([draw(st.integers(1, 4)), *tail]) for _ in range(2))
    offsets = shape([space.group * draw(st.integers(1, 2))], draw(st.sampled_from(("s32", "s64"))))
    return _one("ragged-all-to-all", [given, taken, offsets, offsets, offsets, offsets], space)
