"""Operations that slide a window: reduce-window, select-and-scatter, convolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension
from hloproof.models.hlo.library_shapes import why_no_sum
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.step import Execute, Step, as_result, result_shapes
from hloproof.models.interpreter.value import Array, Element, Value, indices, strides

HOLE = -1
"""A window position on a hole between dilated elements."""
PADDING = -2
"""A window position before the first or behind the last element."""

_NOTHING = -1
"""The offset of a zero that stands for padding or a hole."""


def source(d: WindowDimension, size: int, output: int, tap: int) -> int:
    """Which element of a dimension of `size` elements tap `tap` of the window at `output` reads; HOLE or PADDING."""
    place = output * d.stride + tap * d.window_dilation - d.padding_low
    last = (size - 1) * d.base_dilation
    if size == 0 or place < 0 or place > last:
        return PADDING
    return place // d.base_dilation if place % d.base_dilation == 0 else HOLE


def window_of(step: Step, rank: int) -> tuple[WindowDimension, ...]:
    """One entry for each of `rank` dimensions. Raises NotModelled otherwise."""
    window = step.attributes.get("window")
    found = window.dimensions if isinstance(window, Window) else ()
    if len(found) != rank:
        raise NotModelled(f"{step.instruction.opcode} without a window over {rank} dimensions")
    return found


def reduce_window(step: Step) -> Value:
    """Holes of the base dilation are ignored; padding contributes the initial value."""
    count = len(step.operands) // 2
    operands, initial = step.arrays()[:count], [a.data[0] for a in step.arrays()[count:]]
    window, body, sizes = window_of(step, len(operands[0].sizes)), step.called(), result_shapes(step)[0].dimensions
    taps = list(indices([d.size for d in window]))
    steps = strides(operands[0].sizes)
    # One table per dimension: for each output index the elements that the taps read.
    table = [
        [[source(d, n, o, t) for t in range(d.size)] for o in range(size)]
        for d, n, size in zip(window, operands[0].sizes, sizes, strict=True)
    ]
    outputs: list[list[Element]] = [[] for _ in operands]
    for out in indices(sizes):
        rows = [table[k][i] for k, i in enumerate(out)]
        total = tuple(initial)
        for tap in taps:
            read = [rows[k][t] for k, t in enumerate(tap)]
            if HOLE in read and PADDING not in read:
                continue
            if PADDING in read:
                total = body((*total, *initial))
                continue
            at = sum(i * s for i, s in zip(read, steps, strict=True))
            total = body((*total, *(x.data[at] for x in operands)))
        for k, value in enumerate(total):
            outputs[k].append(value)
    arrays = [Array(s.element_type, s.dimensions, o) for s, o in zip(result_shapes(step), outputs, strict=True)]
    return as_result(step, arrays)


def select_and_scatter(step: Step) -> Value:
    """Each window of the operand selects one element (the first that `select` never rejects); the source's element is
    scattered there. Padding cannot be selected."""
    operand, src, initial = step.arrays()
    window = window_of(step, len(operand.sizes))
    select, scatter = step.called("select"), step.called("scatter")
    steps = strides(operand.sizes)
    data = [initial.data[0]] * prod(operand.sizes)
    taps = list(indices([d.size for d in window]))
    reorders = step.scalars.reorders(operand.element_type)
    for out, value in zip(indices(src.sizes), src.data, strict=True):
        chosen: int | None = None
        seen: list[int] = []
        for tap in taps:
            read = [source(d, n, o, t) for d, n, o, t in zip(window, operand.sizes, out, tap, strict=True)]
            if HOLE in read or PADDING in read:
                continue
            at = sum(i * s for i, s in zip(read, steps, strict=True))
            seen.append(at)
            if chosen is None or (reorders and not select((operand.data[chosen], operand.data[at]))[0]):
                chosen = at
        if not reorders:  # which one is selected depends on all of them, and each may be
            join = step.function("add", operand.element_type)
            value = join(value, *(operand.data[at] for at in seen))
            for at in seen:
                data[at] = join(data[at], value)
        elif chosen is not None:
            data[chosen] = scatter((data[chosen], value))[0]
    return step.result(data)


def convolution(step: Step) -> Value:
    """output[b, f, x] = sum over taps t and input features i of the group: input[b, i, source(x, t)] * kernel[t, i, f].

    With `feature_group_count` the output features are split into as many groups, each reading its own input features;
    with `batch_group_count` they are split into groups, each reading its own part of the batch. Padding and holes read
    zero, which is multiplied like any other number (the real compiler sometimes leaves these products out, which shows
    only where the kernel is not finite).
    """
    labels = step.attributes.get("dim_labels")
    if not isinstance(labels, ConvolutionDimensions):
        raise NotModelled("convolution without dim_labels")
    window = window_of(step, len(labels.output_spatial))
    return step.result(convolved(step, step.array(0), step.array(1), labels, window, step.shape))


def convolved(
    step: Step,
    lhs: Array,
    rhs: Array,
    labels: ConvolutionDimensions,
    window: Sequence[WindowDimension],
    result: ArrayShape,
) -> list[Element]:
    """The elements of a convolution of this shape; `step` gives the groups and the means to compute."""
    if (why := why_no_sum(step.attributes)) is not None:
        raise NotModelled(why)
    feature_groups = step.attributes.integer("feature_group_count", 1)
    batch_groups = step.attributes.integer("batch_group_count", 1)
    sizes = result.dimensions
    group_features = rhs.sizes[labels.kernel_input_feature]
    out_features = sizes[labels.output_feature]
    if min(feature_groups, batch_groups) < 1:
        raise NotModelled("convolution in no groups")
    per_feature_group, per_batch_group = out_features // feature_groups, out_features // batch_groups
    group_batch = lhs.sizes[labels.input_batch] // batch_groups

    reads = _spatial_reads(sizes, lhs, rhs, labels, window)
    l_step, r_step = strides(lhs.sizes), strides(rhs.sizes)
    l_feature, r_feature = l_step[labels.input_feature], r_step[labels.kernel_input_feature]
    data: list[Element] = []
    kind, zero = result.element_type, step.scalars.constant(lhs.element_type, 0)
    for out in indices(sizes):
        b, f = out[labels.output_batch], out[labels.output_feature]
        first = f // per_feature_group * group_features
        batch = f // per_batch_group * group_batch + b
        l_base = batch * l_step[labels.input_batch] + first * l_feature
        r_base = f * r_step[labels.kernel_output_feature]
        spatial = reads[tuple(out[d] for d in labels.output_spatial)]
        left = [
            zero if k == _NOTHING else lhs.data[l_base + k + i * l_feature]
            for k, _ in spatial
            for i in range(group_features)
        ]
        right = [rhs.data[r_base + r + i * r_feature] for _, r in spatial for i in range(group_features)]
        data.append(step.scalars.sum_of_products(kind, left, right))
    return data


def _spatial_reads(
    sizes: Sequence[int], lhs: Array, rhs: Array, labels: ConvolutionDimensions, window: Sequence[WindowDimension]
) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """For each spatial output index the pairs of flat offsets (input or _NOTHING, kernel) that are multiplied."""
    l_step, r_step = strides(lhs.sizes), strides(rhs.sizes)
    per_dimension: list[list[list[tuple[int, int]]]] = []
    for d, i_dim, k_dim, o_dim in zip(
        window, labels.input_spatial, labels.kernel_spatial, labels.output_spatial, strict=True
    ):
        rows: list[list[tuple[int, int]]] = []
        for o in range(sizes[o_dim]):
            row: list[tuple[int, int]] = []
            for t in range(d.size):
                read = source(d, lhs.sizes[i_dim], o, t)
                tap = (d.size - 1 - t if d.reversal else t) * r_step[k_dim]
                row.append((read * l_step[i_dim] if read >= 0 else _NOTHING, tap))
            rows.append(row)
        per_dimension.append(rows)
    out: dict[tuple[int, ...], list[tuple[int, int]]] = {(): [(0, 0)]}
    for rows in per_dimension:
        out = {
            (*index, o): [
                (_NOTHING if _NOTHING in (left, dl) else left + dl, right + dr)
                for left, right in pairs
                for dl, dr in row
            ]
            for index, pairs in out.items()
            for o, row in enumerate(rows)
        }
    return out


EXECUTIONS: Final[Mapping[str, Execute]] = {
    "convolution": convolution,
    "reduce-window": reduce_window,
    "select-and-scatter": select_and_scatter,
}
"""By opcode."""
