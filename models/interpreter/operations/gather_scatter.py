"""gather and scatter in full: batching dimensions, variadic scatter, indices of any integer type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.models.hlo.gathered import require_slices
from hloproof.models.interpreter.operations.movement import clamped
from hloproof.models.interpreter.step import Execute, Step, as_result
from hloproof.models.interpreter.value import Array, Value, flat_index, indices, strides


def _index_vector(step: Step, index_array: Array, batch: Sequence[int], vector_dim: int) -> list[int]:
    """The numbers along `vector_dim` of the index array at a batch position; a scalar counts as a vector of one."""
    steps = strides(index_array.sizes)
    if vector_dim == len(index_array.sizes):
        return [step.scalars.integer(index_array.data[flat_index(batch, steps)])]
    others = [s for d, s in enumerate(steps) if d != vector_dim]
    base = flat_index(batch, others)
    places = range(base, base + index_array.sizes[vector_dim] * steps[vector_dim], steps[vector_dim])
    return [step.scalars.integer(index_array.data[place]) for place in places]


def _batch_positions(batching: Sequence[int], index_array: Array, vector_dim: int) -> list[int]:
    """Where batching dimensions of the index array stand among its dimensions other than the vector's."""
    others = [d for d in range(len(index_array.sizes)) if d != vector_dim]
    return [others.index(d) for d in batching]


def gather(step: Step) -> Value:
    """Each index vector says where a window of `slice_sizes` starts, clamped so that the window fits."""
    x, index_array, a = step.array(0), step.array(1), step.attributes
    require_slices(a, step.shape.dimensions)
    offset_dims, start_map = a.integers("offset_dims"), a.integers("start_index_map")
    dropped = {*a.integers("collapsed_slice_dims"), *a.integers("operand_batching_dims")}
    batching = a.integers("operand_batching_dims")
    vector_dim, window = a.integer("index_vector_dim", len(index_array.sizes)), a.integers("slice_sizes")
    batch_at = _batch_positions(a.integers("start_indices_batching_dims"), index_array, vector_dim)
    sizes, steps = step.shape.dimensions, strides(x.sizes)
    batch_dims = [d for d in range(len(sizes)) if d not in offset_dims]
    window_dims = [d for d in range(len(x.sizes)) if d not in dropped]
    starts: dict[tuple[int, ...], int] = {}
    for batch in indices([sizes[d] for d in batch_dims]):
        at = [0] * len(x.sizes)
        for d, i in zip(start_map, _index_vector(step, index_array, batch, vector_dim), strict=True):
            at[d] = clamped(i, x.sizes[d], window[d])
        for d, k in zip(batching, batch_at, strict=True):
            at[d] = batch[k]
        starts[batch] = flat_index(at, steps)
    moves = [steps[d] for d in window_dims]
    data = []
    for out in indices(sizes):
        start = starts[tuple(out[d] for d in batch_dims)]
        data.append(x.data[start + sum(out[d] * m for d, m in zip(offset_dims, moves, strict=True))])
    return step.result(data)


def scatter(step: Step) -> Value:
    """Each index vector says where a window of the updates goes; a window that does not fit is dropped whole.

    Updates are combined in row-major order, one of the orders that the operation allows.
    """
    count, a = len(step.operands) // 2, step.attributes
    operands, index_array, updates = step.arrays()[:count], step.array(count), step.arrays()[count + 1 :]
    window_dims, inserted = a.integers("update_window_dims"), a.integers("inserted_window_dims")
    batching = a.integers("input_batching_dims")
    to_operand = a.integers("scatter_dims_to_operand_dims")
    vector_dim = a.integer("index_vector_dim", len(index_array.sizes))
    batch_at = _batch_positions(a.integers("scatter_indices_batching_dims"), index_array, vector_dim)
    sizes, update_sizes = operands[0].sizes, updates[0].sizes
    steps, body = strides(sizes), step.called()
    kept = [d for d in range(len(sizes)) if d not in inserted and d not in batching]
    window = [1] * len(sizes)
    for d, u in zip(kept, window_dims, strict=True):
        window[d] = update_sizes[u]
    batch_dims = [d for d in range(len(update_sizes)) if d not in window_dims]
    starts: dict[tuple[int, ...], int | None] = {}
    for batch in indices([update_sizes[d] for d in batch_dims]):
        at = [0] * len(sizes)
        for d, i in zip(to_operand, _index_vector(step, index_array, batch, vector_dim), strict=True):
            at[d] = i
        for d, k in zip(batching, batch_at, strict=True):
            at[d] = batch[k]
        fits = all(i >= 0 and i + w <= n for i, w, n in zip(at, window, sizes, strict=True))
        starts[batch] = flat_index(at, steps) if fits else None
    data = [list(x.data) for x in operands]
    moves = [steps[d] for d in kept]
    for flat, update in enumerate(indices(update_sizes)):
        start = starts[tuple(update[d] for d in batch_dims)]
        if start is None:
            continue
        at_flat = start + sum(update[d] * m for d, m in zip(window_dims, moves, strict=True))
        combined = body((*(column[at_flat] for column in data), *(u.data[flat] for u in updates)))
        for column, value in zip(data, combined, strict=True):
            column[at_flat] = value
    return as_result(step, [Array(x.element_type, x.sizes, column) for x, column in zip(operands, data, strict=True)])


EXECUTIONS: Final[Mapping[str, Execute]] = {"gather": gather, "scatter": scatter}
"""By opcode."""
