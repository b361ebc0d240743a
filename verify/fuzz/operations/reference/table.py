"""What every operation of one device computes, read a second time; gather and scatter, folds and orders among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hloproof.fuzz.operations.reference import sums as plain_sums
from hloproof.fuzz.operations.reference import values as plain_values
from hloproof.fuzz.operations.reference.values import Call, Tensor, box


def gather(c: Call) -> list[Tensor]:
    offset_dims, window = c.ints("offset_dims"), c.ints("slice_sizes")
    gone = (*c.ints("collapsed_slice_dims"), *c.ints("operand_batching_dims"))
    kept = [j for j in range(len(window)) if j not in gone]
    out: Tensor = {}
    for d in box(c.result().dimensions):
        batch = [i for k, i in enumerate(d) if k not in offset_dims]
        at = [0] * len(window)
        for k, j in enumerate(c.ints("start_index_map")):
            i = _component(c, 1, batch, k)
            at[j] = sorted((0, i, c.sizes(0)[j] - window[j]))[1]
        _place_batch(c, at, batch, c.ints("operand_batching_dims"), c.ints("start_indices_batching_dims"))
        for j, k in zip(kept, offset_dims, strict=True):
            at[j] += d[k]
        out[d] = c.operands[0][tuple(at)]
    return [out]


def _component(c: Call, operand: int, batch: Sequence[int], k: int) -> int:
    """Component k of the index vector at a batch position."""
    place = c.op.attributes.integer("index_vector_dim", len(c.sizes(operand)))
    if place == len(c.sizes(operand)):
        return c.number(operand, tuple(batch))
    return c.number(operand, (*batch[:place], k, *batch[place:]))


def _place_batch(c: Call, at: list[int], batch: Sequence[int], to: Sequence[int], of: Sequence[int]) -> None:
    rank = len(c.sizes(len(c.operands) // 2))
    place = c.op.attributes.integer("index_vector_dim", rank)
    without = [j for j in range(rank) if j != place]
    for j, i in zip(to, of, strict=True):
        at[j] = batch[without.index(i)]


def scatter(c: Call) -> list[Tensor]:
    """Windows in row-major order of the updates; one that is not wholly inside is dropped."""
    arrays, sizes = len(c.operands) // 2, c.sizes(0)
    out = [dict(x) for x in c.operands[:arrays]]
    updates, window_dims = c.operands[arrays + 1 :], c.ints("update_window_dims")
    gone = (*c.ints("inserted_window_dims"), *c.ints("input_batching_dims"))
    kept = [j for j in range(len(sizes)) if j not in gone]
    for u in box(c.sizes(arrays + 1)):
        batch = [i for k, i in enumerate(u) if k not in window_dims]
        first, last, at = [0] * len(sizes), [0] * len(sizes), [0] * len(sizes)
        for k, j in enumerate(c.ints("scatter_dims_to_operand_dims")):
            first[j] = _component(c, arrays, batch, k)
        _place_batch(c, first, batch, c.ints("input_batching_dims"), c.ints("scatter_indices_batching_dims"))
        for j in range(len(sizes)):
            wide = c.sizes(arrays + 1)[window_dims[kept.index(j)]] if j in kept else 1
            last[j] = first[j] + wide - 1
            at[j] = first[j] + (u[window_dims[kept.index(j)]] if j in kept else 0)
        if all(a >= 0 and b < n for a, b, n in zip(first, last, sizes, strict=True)):
            x = tuple(at)
            for column, v in zip(out, c.body()([*(o[x] for o in out), *(y[u] for y in updates)]), strict=True):
                column[x] = v
    return list(out)


def reduce(c: Call) -> list[Tensor]:
    """Elements in row-major order, from the initial values on."""
    arrays, gone = len(c.operands) // 2, c.ints("dimensions")
    out: list[Tensor] = [dict.fromkeys(box(c.result().dimensions), c.operands[arrays + k][()]) for k in range(arrays)]
    for x in box(c.sizes(0)):
        d = tuple(i for k, i in enumerate(x) if k not in gone)
        folded = c.body()([*(o[d] for o in out), *(a[x] for a in c.operands[:arrays])])
        for o, v in zip(out, folded, strict=True):
            o[d] = v
    return out


def sort(c: Call) -> list[Tensor]:
    """Every element goes behind those that were before it and that it is not less than."""
    (axis,) = c.ints("dimensions")
    less, out = c.body(), [dict(x) for x in c.operands]
    for base in box([1 if k == axis else n for k, n in enumerate(c.sizes(0))]):
        line = [(*base[:axis], i, *base[axis + 1 :]) for i in range(c.sizes(0)[axis])]
        rows: list[tuple[Any, ...]] = []
        for x in line:
            row = tuple(a[x] for a in c.operands)
            k = len(rows)
            while k and less([v for pair in zip(row, rows[k - 1], strict=True) for v in pair])[0]:
                k -= 1
            rows.insert(k, row)
        for x, row in zip(line, rows, strict=True):
            for o, v in zip(out, row, strict=True):
                o[x] = v
    return list(out)


def topk(c: Call) -> list[Tensor]:
    """By the total order of floats, in which -0 is before +0 and NaN of either sign at its end."""
    smallest = c.op.attributes.get("largest") is False
    count = c.result().dimensions[-1]
    values: Tensor = {}
    places: Tensor = {}
    for base in box(c.sizes(0)[:-1]):
        row = [c.operands[0][*base, i] for i in range(c.sizes(0)[-1])]
        turn = 1 if smallest else -1
        keys = [(*(turn * r for r in _rank(v)), i) for i, v in enumerate(row)]
        for k, (*_, i) in enumerate(sorted(keys)[:count]):
            values[*base, k], places[*base, k] = row[int(i)], int(i)
    return [values, places]


def _rank(v: float) -> tuple[float, float, float]:
    sign = math.copysign(1.0, v)
    return (2 * sign, 0.0, sign) if math.isnan(v) else (0.0, v, sign)


PLAIN: Final[Mapping[str, Callable[[Call], list[Tensor]]]] = {
    "bitcast": plain_values.bitcast,
    "bitcast-convert": plain_values.bitcast_convert,
    "broadcast": plain_values.broadcast,
    "concatenate": plain_values.concatenate,
    "convolution": plain_sums.convolution,
    "copy": plain_values.copy,
    "dot": plain_sums.dot,
    "dynamic-slice": plain_values.dynamic_slice,
    "dynamic-update-slice": plain_values.dynamic_update_slice,
    "gather": gather,
    "get-dimension-size": plain_values.get_dimension_size,
    "iota": plain_values.iota,
    "map": plain_values.elementwise,
    "pad": plain_values.pad,
    "ragged-dot": plain_sums.ragged_dot,
    "reduce": reduce,
    "reduce-window": plain_sums.reduce_window,
    "reshape": plain_values.reshape,
    "reverse": plain_values.reverse,
    "scaled-dot": plain_sums.scaled_dot,
    "scatter": scatter,
    "select-and-scatter": plain_sums.select_and_scatter,
    "slice": plain_values.slice_,
    "sort": sort,
    "topk": topk,
    "transpose": plain_values.transpose,
}
"""What each opcode computes on one device: the arrays of its result."""
