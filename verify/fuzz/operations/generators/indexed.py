"""Strategies for operations that are told at run time where to read or write.

Indices of several types, index vectors of several ranks, batching dimensions, several arrays at once.
"""

from __future__ import annotations

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw
from hloproof.fuzz.operations.generators.operation_text import (
    boxes,
    braces,
    fold,
    index_types,
    one,
    pair_sum,
    positive,
    shape,
    sizes,
)


@st.composite
def _starts(draw: Draw, rank: int, kind: str) -> list[str]:
    """One number each, or one vector, as older modules have it."""
    if rank and draw(st.integers(0, 3)) == 0:
        return [shape([rank], kind)]
    return [shape([], kind)] * rank


@st.composite
def dynamic_slice(draw: Draw) -> str:
    """Windows up to the operand, sizes of 0 included."""
    dims, kind = draw(boxes(maximum=3, most=30)), draw(index_types)
    window = [draw(st.sampled_from((n, max(0, n - 1), draw(st.integers(0, n)), min(1, n)))) for n in dims]
    operands = [shape(dims), *draw(_starts(len(dims), kind))]
    return one("dynamic-slice", operands, f"dynamic_slice_sizes={braces(window)}")


@st.composite
def dynamic_update_slice(draw: Draw) -> str:
    """Updates up to the operand, sizes of 0 included."""
    dims, kind = draw(boxes(maximum=3, most=30)), draw(index_types)
    window = [draw(st.sampled_from((n, max(0, n - 1), draw(st.integers(0, n)), min(1, n)))) for n in dims]
    starts = draw(_starts(len(dims), kind))
    return one("dynamic-update-slice", [shape(dims), shape(window), *starts])


@st.composite
def gather(draw: Draw) -> str:
    """With collapsed and batching dimensions, and the index vector in any dimension."""
    operand = draw(sizes(minimum=1, maximum=3, of=positive))
    batch = draw(sizes(maximum=2, of=positive))
    kind = draw(index_types)
    batched = draw(st.integers(0, min(1, len(operand) - 1, len(batch)))) if len(operand) > 1 else 0
    operand_batching = draw(st.permutations(range(len(operand))))[:batched]
    others = [d for d in range(len(operand)) if d not in operand_batching]
    start_map = draw(st.permutations(others))[: draw(st.integers(0, len(others)))]
    window = [1 if d in operand_batching else draw(st.integers(1, n)) for d, n in enumerate(operand)]
    collapsed = sorted(d for d in others if window[d] == 1 and draw(st.booleans()))
    offsets = len(others) - len(collapsed)
    vector_dim = draw(st.integers(0, len(batch)))
    index_dims = [*batch[:vector_dim], len(start_map), *batch[vector_dim:]]
    # A batching dimension of the indices has the operand's size there.
    positions = draw(st.permutations(range(len(batch))))[:batched]
    index_batching = [p if p < vector_dim else p + 1 for p in positions]
    batch = list(batch)
    for d, p, at in zip(operand_batching, positions, index_batching, strict=True):
        batch[p] = operand[d]
        index_dims[at] = operand[d]
    if len(start_map) == 1 and draw(st.booleans()):
        index_dims, vector_dim = batch, len(batch)
        index_batching = list(positions)
    offset_dims = sorted(draw(st.permutations(range(len(batch) + offsets)))[:offsets])
    attributes = (
        f"offset_dims={braces(offset_dims)}, collapsed_slice_dims={braces(collapsed)}, "
        f"start_index_map={braces(start_map)}"
    )
    if batched:
        pairs = sorted(zip(operand_batching, index_batching, strict=True))
        attributes += f", operand_batching_dims={braces([a for a, _ in pairs])}"
        attributes += f", start_indices_batching_dims={braces([b for _, b in pairs])}"
    attributes += f", index_vector_dim={vector_dim}, slice_sizes={braces(window)}"
    return one("gather", [shape(operand), shape(index_dims, kind)], attributes)


@st.composite
def scatter(draw: Draw) -> str:
    """One operand, with inserted dimensions, and the index vector in any dimension or left out."""
    operand = draw(sizes(minimum=1, maximum=3, of=positive))
    batch = draw(sizes(maximum=2, of=positive))
    kind = draw(index_types)
    to_operand = draw(st.permutations(range(len(operand))))[: draw(st.integers(0, len(operand)))]
    inserted = sorted(d for d in range(len(operand)) if draw(st.booleans()))
    window = [draw(st.integers(1, n)) for d, n in enumerate(operand) if d not in inserted]
    vector_dim = draw(st.integers(0, len(batch)))
    index_dims = [*batch[:vector_dim], len(to_operand), *batch[vector_dim:]]
    if len(to_operand) == 1 and draw(st.booleans()):
        index_dims, vector_dim = batch, len(batch)
    rank = len(batch) + len(window)
    window_dims = sorted(draw(st.permutations(range(rank)))[: len(window)])
    updates, batch_left, window_left = [], iter(batch), iter(window)
    for d in range(rank):
        updates.append(next(window_left) if d in window_dims else next(batch_left))
    name, body = draw(fold())
    attributes = (
        f"update_window_dims={braces(window_dims)}, inserted_window_dims={braces(inserted)}, "
        f"scatter_dims_to_operand_dims={braces(to_operand)}, index_vector_dim={vector_dim}, to_apply={name}"
    )
    return one("scatter", [shape(operand), shape(index_dims, kind), shape(updates)], attributes, body)


@st.composite
def scatter_variadic(draw: Draw) -> str:
    operand, count = draw(positive), draw(positive)
    width = draw(st.integers(1, operand))
    s, u = shape([operand]), shape([count, width])
    return one(
        "scatter",
        [s, s, shape([count, 1], draw(index_types)), u, u],
        "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=both",
        pair_sum(),
    )


@st.composite
def scatter_batched(draw: Draw) -> str:
    """One batching dimension or two, anywhere in the operand and in the indices; windows beside them."""
    batch = {name: draw(st.integers(1, 3)) for name in draw(st.sampled_from(("a", "a", "ab")))}
    n, count, window = draw(positive), draw(st.integers(1, 2)), draw(st.integers(0, 1))
    width = draw(st.integers(1, n)) if window else 1
    operand = draw(st.permutations([*batch, "n"]))
    positions = draw(st.permutations([*batch, "c"]))
    names = {**batch, "n": n, "c": count, "w": width, "v": 1}
    vector = [*positions]
    place = draw(st.integers(0, len(vector)))
    if draw(st.booleans()):
        vector.insert(place, "v")
    else:
        place = len(vector)
    updates = [*positions]
    at = draw(st.integers(0, len(updates)))
    if window:
        updates.insert(at, "w")
    pairs = [(operand.index(c), vector.index(c)) for c in sorted(batch, key=operand.index)]
    attributes = (
        f"update_window_dims={braces([at] if window else [])}, "
        f"inserted_window_dims={braces([] if window else [operand.index('n')])}, "
        f"scatter_dims_to_operand_dims={braces([operand.index('n')])}, "
        f"input_batching_dims={braces([a for a, _ in pairs])}, "
        f"scatter_indices_batching_dims={braces([b for _, b in pairs])}, index_vector_dim={place}, to_apply=add"
    )
    given, indices, more = ([names[c] for c in some] for some in (operand, vector, updates))
    return one("scatter", [shape(given), shape(indices, draw(index_types)), shape(more)], attributes, ADD)
