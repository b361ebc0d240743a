"""Strategies for collectives over up to three replicas, in groups whose order is not that of the ids."""

from __future__ import annotations

from hypothesis import strategies as st

from verify.fuzz.operation_text import ADD, Draw, braces, one, positive, shape, sizes


@st.composite
def collective(draw: Draw) -> str:
    devices = draw(st.integers(1, 3))
    groups = "{" + braces(draw(st.permutations(range(devices)))) + "}"
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    header = f", replica_count={devices}"
    wide = [*dims[:axis], dims[axis] * devices, *dims[axis + 1 :]]
    match draw(st.sampled_from(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"))):
        case "all-gather":
            return one(shape(wide), "all-gather", [shape(dims)],
                       f"replica_groups={groups}, dimensions={braces([axis])}", header=header)
        case "reduce-scatter":
            return one(shape(dims), "reduce-scatter", [shape(wide)],
                       f"replica_groups={groups}, dimensions={braces([axis])}, to_apply=add", ADD, header)
        case "all-to-all":
            return one(shape(wide), "all-to-all", [shape(wide)],
                       f"replica_groups={groups}, dimensions={braces([axis])}", header=header)
        case "collective-permute":
            targets = draw(st.permutations(range(devices)))[: draw(st.integers(0, devices))]
            sources = draw(st.permutations(range(devices)))
            pairs = braces([braces(p) for p in zip(sources, targets, strict=False)])
            return one(shape(dims), "collective-permute", [shape(dims)], f"source_target_pairs={pairs}", header=header)
    return one(shape(dims), "all-reduce", [shape(dims)], f"replica_groups={groups}, to_apply=add", ADD, header)


@st.composite
def collective_more(draw: Draw) -> str:
    devices = draw(st.integers(1, 3))
    group = draw(st.permutations(range(devices)))
    groups, header = "{" + braces(group) + "}", f", replica_count={devices}"
    s = shape(draw(sizes(minimum=1, maximum=2, of=positive)))
    if draw(st.booleans()):
        return one(s, "collective-broadcast", [s], f"replica_groups={groups}", header=header)
    if devices == 1:
        return one(s, "all-reduce", [s], f"replica_groups={groups}, to_apply=add", ADD, header)
    result = f"({', '.join([s] * devices)})"
    return one(result, "all-to-all", [s] * devices, f"replica_groups={groups}", header=header)
