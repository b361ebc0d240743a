"""Gathers and scatters: indices of several types, index vectors of several ranks, batching dimensions, several arrays
at once."""

from __future__ import annotations

from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import FOLDS, INDEX_TYPES, POSITIVE, Builder, Write, shape


def _vectors(b: Builder, batch: list[int], length: int) -> tuple[list[int], int]:
    """Sizes of the indices, and where their vectors lie: in any dimension, or left out where they are of one number."""
    if length == 1 and b.chance(2):
        return batch, len(batch)
    place = b.number(0, len(batch))
    return [*batch[:place], length, *batch[place:]], place


def gather(b: Builder) -> None:
    """With collapsed and batching dimensions, and the index vector in any dimension."""
    operand, batch = b.sizes(1, 3, POSITIVE), b.sizes(most=2, of=POSITIVE)
    batched = b.number(0, min(1, len(operand) - 1, len(batch)))
    paired = b.shuffled(range(len(operand)), batched)
    others = [d for d in range(len(operand)) if d not in paired]
    # A batching dimension of the indices has the operand's size there.
    positions = b.shuffled(range(len(batch)), batched)
    for d, p in zip(paired, positions, strict=True):
        batch[p] = operand[d]
    start_map = b.some(others)
    window = [1 if d in paired else b.number(1, n) for d, n in enumerate(operand)]
    collapsed = [d for d in others if window[d] == 1 and b.chance(2)]
    indices, place = _vectors(b, batch, len(start_map))
    offsets = len(others) - len(collapsed)
    attributes: dict[str, Any] = {
        "offset_dims": sorted(b.shuffled(range(len(batch) + offsets), offsets)),
        "collapsed_slice_dims": collapsed,
        "start_index_map": start_map,
    }
    if batched:
        attributes["operand_batching_dims"] = paired
        attributes["start_indices_batching_dims"] = [p + (p >= place) for p in positions]
    attributes |= {"index_vector_dim": place, "slice_sizes": window}
    b.op("gather", shape(operand), shape(indices, b.one_of(INDEX_TYPES)), **attributes)


def scatter(b: Builder) -> None:
    """One operand, with inserted dimensions, and the index vector in any dimension or left out."""
    operand, batch = b.sizes(1, 3, POSITIVE), b.sizes(most=2, of=POSITIVE)
    to_operand = b.some(range(len(operand)))
    inserted = [d for d in range(len(operand)) if b.chance(2)]
    window = [b.number(1, n) for d, n in enumerate(operand) if d not in inserted]
    indices, place = _vectors(b, batch, len(to_operand))
    rank = len(batch) + len(window)
    window_dims = sorted(b.shuffled(range(rank), len(window)))
    batch_left, window_left = iter(batch), iter(window)
    b.op(
        "scatter",
        shape(operand),
        shape(indices, b.one_of(INDEX_TYPES)),
        shape([next(window_left if d in window_dims else batch_left) for d in range(rank)]),
        update_window_dims=window_dims,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=to_operand,
        index_vector_dim=place,
        to_apply=b.one_of(FOLDS),
    )


def scatter_variadic(b: Builder) -> None:
    operand, count = b.one_of(POSITIVE), b.one_of(POSITIVE)
    s, u = shape([operand]), shape([count, b.number(1, operand)])
    b.op(
        "scatter",
        *(s, s, shape([count, 1], b.one_of(INDEX_TYPES)), u, u),
        update_window_dims=[1],
        inserted_window_dims=[],
        scatter_dims_to_operand_dims=[0],
        index_vector_dim=1,
        to_apply="pair_sum",
    )


def scatter_batched(b: Builder) -> None:
    """One batching dimension or two, anywhere in the operand and in the indices; windows beside them."""
    batch = {name: b.number(1, 3) for name in b.one_of(("a", "a", "ab"))}
    n, window = b.one_of(POSITIVE), b.chance(2)
    names = {**batch, "n": n, "c": b.number(1, 2), "w": b.number(1, n), "v": 1}
    operand, positions = b.shuffled([*batch, "n"]), b.shuffled([*batch, "c"])
    place, at = b.number(0, len(positions)), b.number(0, len(positions))
    vector = [*positions[:place], "v", *positions[place:]] if b.chance(2) else positions
    updates = [*positions[:at], "w", *positions[at:]] if window else positions
    paired = sorted(batch, key=operand.index)
    given, indices, more = ([names[c] for c in some] for some in (operand, vector, updates))
    b.op(
        "scatter",
        *(shape(given), shape(indices, b.one_of(INDEX_TYPES)), shape(more)),
        update_window_dims=[at] if window else [],
        inserted_window_dims=[] if window else [operand.index("n")],
        scatter_dims_to_operand_dims=[operand.index("n")],
        input_batching_dims=[operand.index(c) for c in paired],
        scatter_indices_batching_dims=[vector.index(c) for c in paired],
        index_vector_dim=place if "v" in vector else len(vector),
        to_apply="add",
    )


DRAWN: Final[tuple[Write, ...]] = (gather, scatter, scatter_variadic, scatter_batched)
