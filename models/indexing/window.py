"""Operations with windows: reduce-window, select-and-scatter, convolution.

A window position k of output index o touches place p = o * stride + k * window_dilation - padding_low of the operand as
it is spread by its base dilation: p is element p / base_dilation where that division is exact and inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension
from hloproof.models.hlo.library_shapes import why_no_sum
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    data_outputs,
    divided,
    one,
    output_shape,
    placed,
    plus,
    remainder,
    sizes,
    times,
    to_scalar,
    total,
    whole,
    within,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, boxed, dim


def touched(place: Expr, position: Expr, w: WindowDimension, size: int, constraints: list[Constraint]) -> Expr:
    """The operand index that window position `position` of output index `place` touches.

    Appends what must hold for it to be an element: not in the padding, not in a hole of the base dilation.
    """
    p = plus(total((times(place, w.stride), times(position, w.window_dilation))), -w.padding_low)
    # Without padding the shape rule keeps every window inside.
    if w.padding_low or w.padding_high:
        constraints.append(within(p, 0, (size - 1) * w.base_dilation))
    if w.base_dilation > 1:
        constraints.append(within(p % w.base_dilation, 0, 0))
    return divided(p, w.base_dilation)


def touching(element: Expr, position: Expr, w: WindowDimension, size: int, constraints: list[Constraint]) -> Expr:
    """The output index (of `size`) whose window position `position` touches operand element `element`.

    Appends what must hold for it to exist: the stride hits it and it is inside.
    """
    q = plus(times(element, w.base_dilation), w.padding_low)
    q = q if isinstance(position, Const) and position.value == 0 else q - times(position, w.window_dilation)
    if w.stride > 1:
        constraints.append(within(q % w.stride, 0, 0))
    constraints.append(within(q, 0, (size - 1) * w.stride))
    return divided(q, w.stride)


def reduce_window_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """One range variable per window dimension of more than one position. Padding and holes contribute the initial
    value, which every output element may use. With several operands every output depends on all of them."""
    out, operands = sizes(output_shape(op, output)), len(op.operands) // 2
    found = []
    for n in range(operands):
        ranges, constraints = RangeVariables(), list[Constraint]()
        results = tuple(
            touched(dim(i), ranges.new(w.size), w, size, constraints)
            for i, (w, size) in enumerate(zip(_window(op), sizes(op.operands[n]), strict=True))
        )
        found.append(one(n, "reads", IndexingMap(boxed(out), results, ranges.done(), constraints=tuple(constraints))))
    return (*found, *(one(n, "reads", to_scalar(out)) for n in range(operands, 2 * operands)))


def reduce_window_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Each place where the window touches it; an initial value goes to every element. Both in every output."""
    found = []
    for n, shape in data_outputs(op):
        out = sizes(shape)
        if operand >= len(op.operands) // 2:
            found.append(one(n, "reads", whole((), out)))
            continue
        ranges, constraints = RangeVariables(), list[Constraint]()
        results = tuple(
            touching(dim(i), ranges.new(w.size), w, size, constraints)
            for i, (w, size) in enumerate(zip(_window(op), out, strict=True))
        )
        box = boxed(sizes(op.operands[operand]))
        found.append(one(n, "reads", IndexingMap(box, results, ranges.done(), constraints=tuple(constraints))))
    return tuple(found)


def select_and_scatter_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """An element gathers the sources of the windows that contain it; which of them selected it depends on all operand
    elements of those windows."""
    out, windows = sizes(op.shape), _window(op)
    source = sizes(op.operands[1])
    ranges, constraints = RangeVariables(), list[Constraint]()
    chosen = tuple(
        touching(dim(i), ranges.new(w.size), w, n, constraints)
        for i, (w, n) in enumerate(zip(windows, source, strict=True))
    )
    of_source = IndexingMap(boxed(out), chosen, ranges.done(), constraints=tuple(constraints))
    seen = tuple(
        touched(e, ranges.new(w.size), w, n, constraints) for e, w, n in zip(chosen, windows, out, strict=True)
    )
    of_operand = IndexingMap(boxed(out), seen, ranges.done(), constraints=tuple(constraints))
    return one(0, "reads", of_operand), one(1, "reads", of_source), one(2, "reads", to_scalar(out))


def select_and_scatter_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An operand's element to all elements of the windows that contain it, a source to those of its window, the initial
    value to every element."""
    out, windows, source = sizes(op.shape), _window(op), sizes(op.operands[1])
    if operand == 2:
        return (one(0, "reads", whole((), out)),)
    ranges, constraints = RangeVariables(), list[Constraint]()
    box = sizes(op.operands[operand])
    start: tuple[Expr, ...] = tuple(dim(i) for i in range(len(box)))
    if operand == 0:
        start = tuple(
            touching(e, ranges.new(w.size), w, n, constraints) for e, w, n in zip(start, windows, source, strict=True)
        )
    results = tuple(
        touched(e, ranges.new(w.size), w, n, constraints) for e, w, n in zip(start, windows, out, strict=True)
    )
    return (one(0, "reads", IndexingMap(boxed(box), results, ranges.done(), constraints=tuple(constraints))),)


def _window(op: Operation) -> tuple[WindowDimension, ...]:
    window = op.attributes.get("window")
    if window is None and not sizes(op.operands[0]):
        return ()
    if not isinstance(window, Window):
        raise NotModelled(f"{op.opcode} without its window")
    rank = len(sizes(op.operands[0]))
    if len(window.dimensions) != rank:
        raise NotModelled(f"{op.opcode} with a window of another rank")
    return window.dimensions


class _Convolution:
    """The attributes of a convolution and its sizes by role."""

    def __init__(self, op: Operation) -> None:
        labels = op.attributes.get("dim_labels")
        if not isinstance(labels, ConvolutionDimensions):
            raise NotModelled("convolution without dim_labels")
        if (why := why_no_sum(op.attributes)) is not None:
            raise NotModelled(why)
        window = op.attributes.get("window")
        self.labels = labels
        self.window = window.dimensions if isinstance(window, Window) else ()
        if len(self.window) != len(labels.input_spatial):
            raise NotModelled("convolution with a window of another rank")
        self.lhs, self.rhs, self.out = sizes(op.operands[0]), sizes(op.operands[1]), sizes(op.shape)
        self.feature_groups = op.attributes.integer("feature_group_count", 1)
        self.batch_groups = op.attributes.integer("batch_group_count", 1)
        if self.feature_groups > 1 and self.batch_groups > 1:
            raise NotModelled("convolution with feature groups and batch groups")
        self.in_features = self.rhs[labels.kernel_input_feature]
        self.out_features = self.out[labels.output_feature]
        self.batch = self.out[labels.output_batch]


def convolution_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Output feature f belongs to feature group f / (features / feature_group_count), which reads its own stretch of
    input features, and to batch group f / (features / batch_group_count), which reads its own stretch of the input
    batch. Padding reads zero against a kernel element, so the kernel is read at all window positions."""
    c = _Convolution(op)
    labels, ranges, constraints = c.labels, RangeVariables(), list[Constraint]()
    lhs: dict[int, Expr] = {}
    rhs: dict[int, Expr] = {}
    for i, w in enumerate(c.window):
        k = ranges.new(w.size)
        place = dim(labels.output_spatial[i])
        lhs[labels.input_spatial[i]] = touched(place, k, w, c.lhs[labels.input_spatial[i]], constraints)
        # A reversed window meets the kernel from its last element on.
        rhs[labels.kernel_spatial[i]] = plus(times(k, -1), w.size - 1) if w.reversal else k
    feature, out_feature = ranges.new(c.in_features), dim(labels.output_feature)
    group = _group_of(out_feature, c.out_features, c.feature_groups)
    lhs[labels.input_feature] = total((times(group, c.in_features), feature))
    batch_group = _group_of(out_feature, c.out_features, c.batch_groups)
    lhs[labels.input_batch] = total((times(batch_group, c.batch), dim(labels.output_batch)))
    rhs[labels.kernel_input_feature] = feature
    rhs[labels.kernel_output_feature] = out_feature
    box = boxed(c.out)
    of_lhs = IndexingMap(box, placed(lhs), ranges.done(), constraints=tuple(constraints))
    return one(0, "reads", of_lhs), one(1, "reads", IndexingMap(box, placed(rhs), ranges.done()))


def convolution_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """A kernel element to all batches and places of its output feature, an input element to the places where the window
    touches it, in all output features of its group."""
    c = _Convolution(op)
    labels, ranges, constraints = c.labels, RangeVariables(), list[Constraint]()
    out: dict[int, Expr] = {}
    if operand == 1:
        out[labels.output_batch] = ranges.new(c.batch)
        # At every place, also where it only meets padding: it is multiplied by zero there, and read.
        out[labels.output_feature] = dim(labels.kernel_output_feature)
        for i in labels.output_spatial:
            out[i] = ranges.new(c.out[i])
        return (one(0, "reads", IndexingMap(boxed(c.rhs), placed(out), ranges.done())),)
    for i, w in enumerate(c.window):
        place = labels.output_spatial[i]
        out[place] = touching(dim(labels.input_spatial[i]), ranges.new(w.size), w, c.out[place], constraints)
    batch, group, groups = dim(labels.input_batch), None, c.feature_groups * c.batch_groups
    if c.batch_groups > 1:
        batch, group = remainder(batch, c.batch), divided(batch, c.batch)
    elif c.feature_groups > 1:
        group = divided(dim(labels.input_feature), c.in_features)
    out[labels.output_batch] = batch
    inside = ranges.new(c.out_features // groups)
    out[labels.output_feature] = inside if group is None else total((times(group, c.out_features // groups), inside))
    m = IndexingMap(boxed(c.lhs), placed(out), ranges.done(), constraints=tuple(constraints))
    return (one(0, "reads", m),)


def _group_of(feature: Expr, features: int, groups: int) -> Expr:
    """The number of the group that an output feature belongs to."""
    return Const(0) if groups == 1 else divided(feature, features // groups)


BUILDERS: Final[Mapping[str, Builders]] = {
    "convolution": Builders(convolution_output_to_input, convolution_input_to_output),
    "reduce-window": Builders(reduce_window_output_to_input, reduce_window_input_to_output),
    "select-and-scatter": Builders(select_and_scatter_output_to_input, select_and_scatter_input_to_output),
}
"""By opcode, both directions."""
