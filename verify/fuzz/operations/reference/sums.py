"""Windows and sums of products, read a second time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hloproof.fuzz.operations.reference.values import Call, Tensor, box
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension
from hloproof.models.hlo.shape import Index


def _window(c: Call) -> tuple[WindowDimension, ...]:
    window = c.op.attributes.get("window")
    return window.dimensions if isinstance(window, Window) else ()


def _looked_at(w: WindowDimension, size: int, output: int, tap: int) -> int | str:
    """The element that a tap looks at, or "hole" or "padding"."""
    standing = {w.padding_low + i * w.base_dilation: i for i in range(size)}
    place = output * w.stride + tap * w.window_dilation
    if place in standing:
        return standing[place]
    return "hole" if standing and min(standing) < place < max(standing) else "padding"


def reduce_window(c: Call) -> list[Tensor]:
    """Taps in row-major order, from the initial values on; padding supplies the initial values, a hole nothing."""
    arrays, window = len(c.operands) // 2, _window(c)
    initial = tuple(x[()] for x in c.operands[arrays:])
    out: list[Tensor] = [{} for _ in range(arrays)]
    for d in box(c.result().dimensions):
        total = initial
        for tap in box([w.size for w in window]):
            at = [_looked_at(w, n, i, t) for w, n, i, t in zip(window, c.sizes(0), d, tap, strict=True)]
            if "padding" in at:
                total = c.body()([*total, *initial])
            elif "hole" not in at:
                x = tuple(int(i) for i in at)
                total = c.body()([*total, *(a[x] for a in c.operands[:arrays])])
        for k, v in enumerate(total):
            out[k][d] = v
    return out


def select_and_scatter(c: Call) -> list[Tensor]:
    operand, source, initial = c.operands
    out: Tensor = dict.fromkeys(operand, initial[()])
    for s in box(c.sizes(1)):
        best: Index | None = None
        for tap in box([w.size for w in _window(c)]):
            at = [_looked_at(w, n, i, t) for w, n, i, t in zip(_window(c), c.sizes(0), s, tap, strict=True)]
            if "padding" in at or "hole" in at:
                continue
            x = tuple(int(i) for i in at)
            if best is None or not c.body("select")([operand[best], operand[x]])[0]:
                best = x
        if best is not None:
            (out[best],) = c.body("scatter")([out[best], source[s]])
    return [out]


def convolution(c: Call) -> list[Tensor]:
    labels, window = c.op.attributes.get("dim_labels"), _window(c)
    assert isinstance(labels, ConvolutionDimensions)
    groups = c.op.attributes.integer("feature_group_count", 1)
    batch_groups = c.op.attributes.integer("batch_group_count", 1)
    out_sizes, features = c.result().dimensions, c.sizes(1)[labels.kernel_input_feature]
    out: Tensor = {}
    for d in box(out_sizes):
        f, n = d[labels.output_feature], out_sizes[labels.output_feature]
        total: Any = 0
        for k in range(features):
            for tap in box([w.size for w in window]):
                x, y = [0] * len(c.sizes(0)), [0] * len(c.sizes(1))
                x[labels.input_feature] = f * groups // n * features + k
                per_group = c.sizes(0)[labels.input_batch] // batch_groups
                x[labels.input_batch] = d[labels.output_batch] + f * batch_groups // n * per_group
                y[labels.kernel_input_feature], y[labels.kernel_output_feature] = k, f
                inside = True
                for i, w in enumerate(window):
                    into = labels.input_spatial[i]
                    at = _looked_at(w, c.sizes(0)[into], d[labels.output_spatial[i]], tap[i])
                    inside = inside and not isinstance(at, str)
                    x[into] = 0 if isinstance(at, str) else at
                    y[labels.kernel_spatial[i]] = w.size - 1 - tap[i] if w.reversal else tap[i]
                total += c.operands[0][tuple(x)] * c.operands[1][tuple(y)] if inside else 0
        out[d] = total
    return [out]


def _sides(c: Call) -> tuple[list[Index], list[Index], list[Index]]:
    """Batch, contracting and other dimensions of the two operands."""
    batch = [c.ints("lhs_batch_dims"), c.ints("rhs_batch_dims")]
    contracting = [c.ints("lhs_contracting_dims"), c.ints("rhs_contracting_dims")]
    rest = [tuple(j for j in range(len(c.sizes(k))) if j not in (*batch[k], *contracting[k])) for k in (0, 1)]
    return batch, contracting, rest


def _index(*parts: tuple[Sequence[int], Sequence[int]]) -> Index:
    """The index with these coordinates along these dimensions."""
    at = {j: i for dims, values in parts for j, i in zip(dims, values, strict=True)}
    return tuple(at[j] for j in range(len(at)))


def dot(c: Call) -> list[Tensor]:
    batch, contracting, rest = _sides(c)
    out: Tensor = {}
    for d in box(c.result().dimensions):
        b, left = d[: len(batch[0])], d[len(batch[0]) : len(batch[0]) + len(rest[0])]
        right = d[len(b) + len(left) :]
        out[d] = sum(
            c.operands[0][_index((batch[0], b), (rest[0], left), (contracting[0], k))]
            * c.operands[1][_index((batch[1], b), (rest[1], right), (contracting[1], k))]
            for k in box([c.sizes(0)[j] for j in contracting[0]])
        )
    return [out]


def scaled_dot(c: Call) -> list[Tensor]:
    scaled: list[Tensor] = []
    for k in (0, 1):
        sizes, blocks = c.sizes(k), c.sizes(k + 2)
        scaled.append(
            {
                x: v * c.operands[k + 2][tuple(i * m // n for i, n, m in zip(x, sizes, blocks, strict=bool(blocks)))]
                for x, v in c.operands[k].items()
            }
        )
    return dot(Call(c.op, (*scaled, *c.operands[2:]), c.module))


def ragged_dot(c: Call) -> list[Tensor]:
    """The group of a place along the ragged dimension is the first whose sizes, summed up, exceed it."""
    batch, contracting, rest = _sides(c)
    (ragged,) = c.ints("lhs_ragged_dims")
    if ragged in batch[0]:
        return dot(c)
    groups, along = c.sizes(2)[-1], c.ints("rhs_group_dims")
    rest[1] = tuple(j for j in rest[1] if j not in along)
    in_sum = ragged in contracting[0]
    kind = contracting[0] if in_sum else rest[0]
    keyed = [*batch[0], *(j for j in kind if j < ragged)]

    def group(x: Index) -> int | None:
        key = tuple(x[j] for j in keyed) if len(c.sizes(2)) > 1 else ()
        end = 0
        for g in range(groups):
            end += c.number(2, (*key, g))
            if x[ragged] < end:
                return g
        return None

    out: Tensor = {}
    for d in box(c.result().dimensions):
        own, tail = (d[0], d[1:]) if in_sum else (None, d)
        b, left = tail[: len(batch[0])], tail[len(batch[0]) : len(batch[0]) + len(rest[0])]
        right = tail[len(b) + len(left) :]
        total: Any = 0
        for k in box([c.sizes(0)[j] for j in contracting[0]]):
            x = _index((batch[0], b), (rest[0], left), (contracting[0], k))
            g = group(x)
            if g is None or (in_sum and g != own):
                continue
            y = _index((batch[1], b), (rest[1], right), (contracting[1], k), (along, (g,) * len(along)))
            total += c.operands[0][x] * c.operands[1][y]
        out[d] = total
    return [out]
