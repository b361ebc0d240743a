"""Operations that slide a window: convolution, reduce-window, select-and-scatter.

Along one dimension, operand element x stands at position `x * base_dilation + padding_low`, and tap w of the window of
output element d looks at position `d * stride + w * window_dilation`. Positions where no element stands are holes or
padding; what they supply is no operand element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.definitions.definition import Define, Definition
from hloproof.definitions.variables import d, operand_array, output_array, require_static, x
from hloproof.logic.formula import FALSE, TRUE, Formula, conj, eq, le, within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, maximum, minimum
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension
from hloproof.models.hlo.library_shapes import why_no_sum
from hloproof.models.hlo.module import Operation

_ONE_TAP = WindowDimension(1)
"""A window that leaves its dimension as it is."""


def reduce_window(op: Operation, output: int, operand: int) -> Definition:
    """Every output element reads, of every array, the elements under its window, and the initial values."""
    arrays = len(op.operands) // 2
    out, into = output_array(op, output), operand_array(op, operand)
    if operand >= arrays:
        return Definition("reads", out.dimensions, into.dimensions, TRUE, multiplicity=False)
    window = _window(op, out.rank)
    require_static("reduce-window", into, _windowed(window))
    parts = [_under_window(d(i), x(i), w) for i, w in enumerate(window)]
    return Definition("reads", out.dimensions, into.dimensions, conj(*parts))


def select_and_scatter(op: Operation, output: int, operand: int) -> Definition:
    """Output element d folds the source elements whose windows over the operand hold d, as far as d was selected there;
    the selection compares all operand elements of those windows."""
    out, into = output_array(op, output), operand_array(op, operand)
    if operand == 2:
        return Definition("reads", out.dimensions, into.dimensions, TRUE, multiplicity=False)
    source = operand_array(op, 1)
    window = _window(op, out.rank)
    require_static("select-and-scatter", out)
    require_static("select-and-scatter", source)
    # With dilation the windows that hold an element have gaps, and the two ends below would not tell of them.
    if any(w.base_dilation != 1 or w.window_dilation != 1 for w in window):
        raise NotModelled("select-and-scatter with dilation")
    if operand == 1:
        parts = [_under_window(x(i), d(i), w) for i, w in enumerate(window)]
        return Definition("reads", out.dimensions, into.dimensions, conj(*parts))
    # Some window, that of source element s, holds both d and x. From low to high s runs without gaps.
    shared: list[Formula] = []
    for i, (w, n) in enumerate(zip(window, source.dimensions, strict=True)):
        high = maximum(d(i), x(i)) + (w.padding_low - w.size + 1)
        low = minimum(d(i), x(i)) + w.padding_low
        first = maximum(high.ceildiv(w.stride), 0)
        last = minimum(low // w.stride, n - 1)
        shared.append(le(first, last))
    return Definition("reads", out.dimensions, into.dimensions, conj(*shared), multiplicity=False)


def convolution(op: Operation, output: int, operand: int) -> Definition:
    """Output element (b, f, s) sums, over the taps of its window and the input features of its group, products of one
    input element and one kernel element. Padding and holes supply zeros, which are multiplied like any other input, so
    all taps of the kernel are read everywhere.

    With feature groups, output feature f belongs to group f floordiv (F / groups) and reads that group's input
    features. With batch groups it belongs to group f floordiv (F / groups) likewise and reads that group's batches.
    """
    out, into, other = output_array(op, output), operand_array(op, operand), operand_array(op, 1 - operand)
    labels = op.attributes.get("dim_labels")
    if not isinstance(labels, ConvolutionDimensions):
        raise NotModelled("convolution without dim_labels")
    if (why := why_no_sum(op.attributes)) is not None:
        raise NotModelled(why)
    lhs, rhs = (into, other) if operand == 0 else (other, into)
    for shape in (out, lhs, rhs):
        require_static("convolution", shape)
    feature = d(labels.output_feature)
    if operand == 1:
        return Definition("reads", out.dimensions, into.dimensions, eq(x(labels.kernel_output_feature), feature))
    parts: list[Formula] = []
    window = _window(op, len(labels.output_spatial))
    for w, i, j in zip(window, labels.output_spatial, labels.input_spatial, strict=True):
        parts.append(_under_window(d(i), x(j), w))
    features = out.dimensions[labels.output_feature]
    feature_groups = op.attributes.integer("feature_group_count", 1)
    batch_groups = op.attributes.integer("batch_group_count", 1)
    in_group = rhs.dimensions[labels.kernel_input_feature]
    if feature_groups < 1 or batch_groups < 1 or features % feature_groups or features % batch_groups:
        raise NotModelled("convolution whose groups do not divide the output features")
    if in_group * feature_groups != lhs.dimensions[labels.input_feature]:
        raise NotModelled("convolution whose groups do not divide the input features")
    if feature_groups != 1:
        group = _quotient(feature, features // feature_groups)
        parts.append(_block(x(labels.input_feature), group, in_group))
    batch = d(labels.output_batch)
    if batch_groups != 1:
        batch = batch + _quotient(feature, features // batch_groups) * out.dimensions[labels.output_batch]
    parts.append(eq(x(labels.input_batch), batch))
    return Definition("reads", out.dimensions, into.dimensions, conj(*parts))


def _under_window(at_output: Expr, at_operand: Expr, w: WindowDimension) -> Formula:
    """Some tap of the window at one output coordinate looks at the operand coordinate; there is at most one."""
    distance = _scaled(at_operand, w.base_dilation) - _scaled(at_output, w.stride)
    if w.padding_low:
        distance = distance + w.padding_low
    if w.size < 1:
        return FALSE
    reach = within(distance, Interval(0, (w.size - 1) * w.window_dilation))
    if w.window_dilation == 1:
        return reach
    # A tap stands at every multiple of the dilation, so that one distance belongs to one tap: nothing is quantified.
    return conj(reach, eq(distance % w.window_dilation, 0))


def _scaled(e: Expr, factor: int) -> Expr:
    return e if factor == 1 else e * factor


def _quotient(e: Expr, divisor: int) -> Expr:
    return e if divisor == 1 else e // divisor


def _block(e: Expr, number: Expr, size: int) -> Formula:
    """e lies in block `number` of blocks of one size."""
    return eq(e, number) if size == 1 else within(e - number * size, Interval.of_size(size))


def _window(op: Operation, rank: int) -> Sequence[WindowDimension]:
    value = op.attributes.get("window")
    if value is None and rank == 0:
        return ()
    if not isinstance(value, Window) or len(value.dimensions) != rank:
        raise NotModelled(f"{op.opcode} without one window entry per dimension")
    for w in value.dimensions:
        if w.stride < 1 or w.base_dilation < 1 or w.window_dilation < 1:
            raise NotModelled(f"{op.opcode} with a stride or dilation below 1")
    return value.dimensions


def _windowed(window: Sequence[WindowDimension]) -> list[int]:
    return [i for i, w in enumerate(window) if w != _ONE_TAP]


DEFINITIONS: Final[Mapping[str, Define]] = {
    "convolution": convolution,
    "reduce-window": reduce_window,
    "select-and-scatter": select_and_scatter,
}
"""By opcode."""
