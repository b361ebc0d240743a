"""Elementwise operations and folds by classes: what is alike is computed once, and added up as often as it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef, ConvolutionDimensions, WindowDimension
from hloproof.models.hlo.library_shapes import why_no_sum
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.interpreter.compact.classed import (
    Classes,
    all_different,
    checked,
    common,
    common_classes,
    lifted,
    made,
    numbered,
    parts,
    picked,
    weights_of,
    whole,
    written_out,
)
from hloproof.models.interpreter.operations import reduction
from hloproof.models.interpreter.operations.library_calls import (
    convolution_form,
    plain_convolution,
    result_of,
    with_scratch,
)
from hloproof.models.interpreter.operations.window import HOLE, PADDING, source, window_of
from hloproof.models.interpreter.step import Body, Step, as_result, result_shapes
from hloproof.models.interpreter.value import Array, Classed, Element, Value, strides

ASSOCIATIVE: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
MOST_REPEATED: Final = 4096
"""How often a body that is not known to be associative is applied to the same element."""

Single = Callable[[str], str]
"""The opcode of a computation that is one operation on its two parameters, in their order; '' of any other."""


def elementwise(step: Step, single: Single) -> Value:
    """A scalar operand beside larger ones goes with every element."""
    operands, sizes = [lifted(x) for x in step.operands], step.shape.dimensions
    function = step.scalars.function(
        step.instruction.opcode, [x.element_type for x in operands], step.shape.element_type, step.attributes
    )
    large = [x for x in operands if x.sizes or not sizes]
    if not large:
        raise NotModelled(f"{step.instruction.opcode} of scalars whose result is not one")
    classes, columns = common(large)
    rest = iter(columns)
    count = len(columns[0])
    data = [next(rest) if x.sizes or not sizes else [x.data[0]] * count for x in operands]
    return made(step.shape.element_type, classes, list(map(function, *data)))


def joined_by(body: Body, left: Classed, right: Classed) -> Classed:
    """Two arrays element by element."""
    classes, (a, b) = common([left, right])
    data = [body(pair)[0] for pair in zip(a, b, strict=True)]
    return Classed(left.element_type, left.sizes, tuple(classes), data)


def reduce(step: Step, single: Single) -> Value:
    """Folds over a class at a time: elements of one class are equal, and are counted."""
    count = len(step.operands) // 2
    operands = [lifted(x) for x in step.operands[:count]]
    initial = tuple(lifted(x).data[0] for x in step.operands[count:])
    dims, body = sorted(step.attributes.integers("dimensions")), step.called()
    named = step.attributes.get("to_apply")
    associative = count == 1 and isinstance(named, ComputationRef) and single(named.name) in ASSOCIATIVE
    classes, columns = common(operands)
    counts = [parts(c) for c in classes]
    steps = strides(counts)
    kept = [d for d in range(len(classes)) if d not in dims]
    line: list[tuple[int, int]] = [(0, 1)]
    for d in dims:
        own = weights_of(classes[d])
        line = [(at + c * steps[d], times * w) for at, times in line for c, w in enumerate(own)]
    results: list[list[Element]] = [[] for _ in operands]
    for index in product(*(range(counts[d]) for d in kept)):
        base = sum(k * steps[d] for k, d in zip(index, kept, strict=True))
        total = initial
        for at, times in line:
            total = repeated(body, total, tuple(c[base + at] for c in columns), times, associative)
        for column, value in zip(results, total, strict=True):
            column.append(value)
    shapes, own_classes = result_shapes(step), [classes[d] for d in kept]
    made_ones = [made(s.element_type, own_classes, data) for s, data in zip(shapes, results, strict=True)]
    return made_ones[0] if isinstance(step.instruction.shape, ArrayShape) else tuple(made_ones)


def repeated(
    body: Body, total: tuple[Element, ...], value: tuple[Element, ...], times: int, associative: bool
) -> tuple[Element, ...]:
    """The body applied to the same value so many times; an associative one to what doubles of the value give."""
    if times == 1:
        return body((*total, *value))
    if associative:
        while times:
            if times & 1:
                total = body((*total, *value))
            times >>= 1
            if times:
                value = body((*value, *value))
        return total
    for _ in range(times if times <= MOST_REPEATED else MOST_REPEATED):
        after = body((*total, *value))
        if after == total:
            return after
        total = after
    if times > MOST_REPEATED:
        raise NotModelled(f"a fold over {times} equal elements")
    return total


def _times(value: Element, weight: int) -> Element:
    if weight == 1:
        return value
    return tuple(v * weight for v in value) if isinstance(value, tuple) else value * weight


def dot(step: Step, single: Single) -> Value:
    """Result dimensions: batch, then the free ones of the left, then the free ones of the right operand."""
    if "sparsity" in step.attributes:
        raise NotModelled("dot with sparsity")
    lhs, rhs, a = lifted(step.operands[0]), lifted(step.operands[1]), step.attributes
    lb, rb = a.integers("lhs_batch_dims"), a.integers("rhs_batch_dims")
    lc, rc = a.integers("lhs_contracting_dims"), a.integers("rhs_contracting_dims")
    left_picks, right_picks = whole(lhs), whole(rhs)
    classes: list[Classes] = []
    weights = [1]
    for dims in (zip(lb, rb, strict=True), zip(lc, rc, strict=True)):
        for ld, rd in dims:
            found, (left_picks[ld], right_picks[rd]) = common_classes([lhs.classes[ld], rhs.classes[rd]])
            if ld in lb:
                classes.append(found)
            else:
                weights = [w * v for w in weights for v in weights_of(found)]
    lf = [d for d in range(len(lhs.sizes)) if d not in lb and d not in lc]
    rf = [d for d in range(len(rhs.sizes)) if d not in rb and d not in rc]
    classes += [*(lhs.classes[d] for d in lf), *(rhs.classes[d] for d in rf)]
    checked([parts(c) for c in classes])
    left = picked(lhs, left_picks, [*lb, *lf, *lc])
    right = picked(rhs, right_picks, [*rb, *rf, *rc])
    length = len(weights)
    batches = prod(len(left_picks[d]) for d in lb)
    rows, columns = prod(lhs.parts[d] for d in lf), prod(rhs.parts[d] for d in rf)
    total, kind = step.scalars.sum_of_products, step.shape.element_type
    data: list[Element] = []
    for batch in range(batches):
        tails = [right[(batch * columns + c) * length : (batch * columns + c + 1) * length] for c in range(columns)]
        for row in range(rows):
            begin = (batch * rows + row) * length
            head = [_times(v, w) for v, w in zip(left[begin : begin + length], weights, strict=True)]
            data.extend([total(kind, head, tail) for tail in tails])
    return made(kind, classes, data)


def convolution(step: Step, single: Single) -> Value:
    """Raises NotModelled without `dim_labels`."""
    labels = step.attributes.get("dim_labels")
    if not isinstance(labels, ConvolutionDimensions):
        raise NotModelled("convolution without dim_labels")
    return convolved(step, labels, window_of(step, len(labels.output_spatial)), step.shape)


def convolved(
    step: Step, labels: ConvolutionDimensions, window: Sequence[WindowDimension], result: ArrayShape
) -> Value:
    """A convolution of the first two operands, of this shape."""
    if any(step.attributes.integer(name, 1) != 1 for name in ("feature_group_count", "batch_group_count")):
        raise NotModelled("convolution in groups, by classes")
    if (why := why_no_sum(step.attributes)) is not None:
        raise NotModelled(why)
    lhs, rhs = lifted(step.operands[0]), lifted(step.operands[1])
    sizes, kind = result.dimensions, result.element_type
    classes: list[Classes] = [()] * len(sizes)
    classes[labels.output_batch] = lhs.classes[labels.input_batch]
    classes[labels.output_feature] = rhs.classes[labels.kernel_output_feature]
    features, (l_pick, r_pick) = common_classes(
        [lhs.classes[labels.input_feature], rhs.classes[labels.kernel_input_feature]]
    )
    weights = weights_of(features)
    patterns: list[list[dict[tuple[int, int], int]]] = []
    for d, i, k, o in zip(window, labels.input_spatial, labels.kernel_spatial, labels.output_spatial, strict=True):
        own, taps = lhs.classes[i], rhs.classes[k]
        keys = []
        for at in range(sizes[o]):
            reads = [source(d, len(own), at, t) for t in range(d.size)]
            tap = [taps[d.size - 1 - t if d.reversal else t] for t in range(d.size)]
            keys.append(tuple((own[r] if r >= 0 else -1, t) for r, t in zip(reads, tap, strict=True)))
        classes[o], firsts = numbered(keys)
        counted: list[dict[tuple[int, int], int]] = []
        for f in firsts:
            counts: dict[tuple[int, int], int] = {}
            for pair in keys[f]:
                counts[pair] = counts.get(pair, 0) + 1
            counted.append(counts)
        patterns.append(counted)
    checked([parts(c) for c in classes])
    l_step, r_step = strides(lhs.parts), strides(rhs.parts)
    zero, total = step.scalars.constant(lhs.element_type, 0), step.scalars.sum_of_products
    reads_of: dict[tuple[int, ...], list[tuple[int | None, int, int]]] = {}
    for spatial in product(*(range(len(p)) for p in patterns)):
        pairs: list[tuple[int | None, int, int]] = [(0, 0, 1)]
        for p, s, i, k in zip(patterns, spatial, labels.input_spatial, labels.kernel_spatial, strict=True):
            pairs = [
                (None if left is None or c < 0 else left + c * l_step[i], right + t * r_step[k], n * m)
                for left, right, n in pairs
                for (c, t), m in p[s].items()
            ]
        reads_of[spatial] = pairs
    l_feature, r_feature = l_step[labels.input_feature], r_step[labels.kernel_input_feature]
    channels = [(lf * l_feature, rf * r_feature, w) for lf, rf, w in zip(l_pick, r_pick, weights, strict=True)]
    # Where a window reads the operand, and which weights meet padding: from the first element of each.
    inside = {
        spatial: [
            (left + l_at, right + r_at, n * w)
            for left, right, n in pairs
            if left is not None
            for l_at, r_at, w in channels
        ]
        for spatial, pairs in reads_of.items()
    }
    outside = {
        spatial: [(right + r_at, n * w) for left, right, n in pairs if left is None for _, r_at, w in channels]
        for spatial, pairs in reads_of.items()
    }
    data: list[Element] = []
    read, weigh = lhs.data, rhs.data
    for out in product(*(range(parts(c)) for c in classes)):
        l_base = out[labels.output_batch] * l_step[labels.input_batch]
        r_base = out[labels.output_feature] * r_step[labels.kernel_output_feature]
        place = tuple([out[d] for d in labels.output_spatial])
        met, padded = inside[place], outside[place]
        head = [read[l_base + k] if n == 1 else _times(read[l_base + k], n) for k, _, n in met]
        tail = [weigh[r_base + k] for _, k, _ in met]
        if padded:
            head += [_times(zero, n) for _, n in padded]
            tail += [weigh[r_base + k] for k, _ in padded]
        data.append(total(kind, head, tail))
    return made(kind, classes, data)


def library_call(step: Step, single: Single) -> Value:
    """A convolution of a vendor's library, and its gradients; the others are written out."""
    if not plain_convolution(step):
        raise NotModelled("this custom-call, by classes")
    labels, window = convolution_form(step, lifted(step.operands[1]).sizes)
    return with_scratch(step, convolved(step, labels, window, result_of(step)))


def reduce_window(step: Step, single: Single) -> Value:
    """Holes of the base dilation are ignored; padding contributes the initial value."""
    count = len(step.operands) // 2
    operands = [lifted(x) for x in step.operands[:count]]
    initial = tuple(lifted(x).data[0] for x in step.operands[count:])
    shapes, body = result_shapes(step), step.called()
    sizes, window = shapes[0].dimensions, window_of(step, len(operands[0].sizes))
    if any(n * d.size > 1 << 20 for n, d in zip(sizes, window, strict=True)):
        raise NotModelled("a window of this size, by classes")
    own, columns = common(operands)
    steps = strides([parts(c) for c in own])
    classes: list[Classes] = []
    patterns: list[list[list[int]]] = []
    for d, c, n in zip(window, own, sizes, strict=True):
        keys = []
        for at in range(n):
            reads = [source(d, len(c), at, t) for t in range(d.size)]
            keys.append(tuple(c[r] if r >= 0 else r for r in reads))
        named, firsts = numbered(keys)
        classes.append(named)
        patterns.append([list(keys[f]) for f in firsts])
    checked([parts(c) for c in classes])
    if prod(parts(c) for c in classes) * prod(d.size for d in window) > 1 << 22:
        raise NotModelled("a window of this size, by classes")
    # Of each dimension, for each class of windows: what lies where it reads, as a distance in the operands.
    offsets = [
        [[k * by if k >= 0 else k for k in reads] for reads in pattern]
        for pattern, by in zip(patterns, steps, strict=True)
    ]
    results: list[list[Element]] = [[] for _ in operands]
    for out in product(*(range(parts(c)) for c in classes)):
        total = initial
        for place in _met([o[k] for o, k in zip(offsets, out, strict=True)]):
            total = body((*total, *initial) if place is None else (*total, *[c[place] for c in columns]))
        for column, value in zip(results, total, strict=True):
            column.append(value)
    made_ones = [made(s.element_type, classes, data) for s, data in zip(shapes, results, strict=True)]
    return made_ones[0] if isinstance(step.instruction.shape, ArrayShape) else tuple(made_ones)


def _met(reads: Sequence[Sequence[int]]) -> list[int | None]:
    """Where a window reads, row-major: distances in the operand, None for padding, nothing for a hole."""
    met: list[int | None] = [0]
    holes = [False]
    for dimension in reads:
        holes = [h or k == HOLE for h in holes for k in dimension]
        met = [None if at is None or k == PADDING else at + max(k, 0) for at in met for k in dimension]
    return [at for at, hole in zip(met, holes, strict=True) if at is None or not hole]


def sort(step: Step, single: Single) -> Value:
    """Lines that are alike are sorted once: the plain operation on one line of each class."""
    (axis,) = step.attributes.integers("dimensions") or (len(lifted(step.operands[0]).sizes) - 1,)
    operands = [lifted(x) for x in step.operands]
    classes, columns = common(operands)
    lines = [Classed(x.element_type, x.sizes, tuple(classes), data) for x, data in zip(operands, columns, strict=True)]
    inside = tuple(len(c) if d == axis else parts(c) for d, c in enumerate(classes))
    checked(inside)
    picks: list[Sequence[int]] = [c if d == axis else range(parts(c)) for d, c in enumerate(classes)]
    plain: list[Value] = [Array(x.element_type, inside, picked(x, picks)) for x in lines]
    shape = step.instruction.shape
    smaller = tuple(ArrayShape(x.element_type, inside) for x in lines)
    instruction = replace(step.instruction, shape=TupleShape(smaller) if isinstance(shape, TupleShape) else smaller[0])
    found = reduction.sort(replace(step, instruction=instruction, operands=tuple(plain), operand_shapes=smaller))
    wide = [all_different(len(c)) if d == axis else c for d, c in enumerate(classes)]

    def widened(x: Value) -> Value:
        if not isinstance(x, Array):
            raise NotModelled("sort of something that is not an array")
        return made(x.element_type, wide, x.data)

    return tuple(widened(x) for x in found) if isinstance(found, tuple) else widened(found)


__all__ = [
    "as_result",
    "convolution",
    "dot",
    "elementwise",
    "joined_by",
    "reduce",
    "reduce_window",
    "sort",
    "written_out",
]
