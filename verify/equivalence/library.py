"""What calls of vendors' libraries compute, in folds and elementwise operations.

Trusted. The attributes of a cuDNN convolution are those of the forward convolution y = conv(x, w); backward calls give
the gradient by x (operands: that of y, and w) or by w (operands: x, and the gradient by y). A call that is not in the
table, or whose configuration is not understood, is opaque.
"""

from __future__ import annotations

from hloproof.elements.movement import Test, spread
from hloproof.equivalence.elements_folds import convolution, precision, windowed
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import At, Lin, constant, variable
from hloproof.equivalence.placing import guarded
from hloproof.equivalence.terms import App, Elem, Fold, Term, from_value, has_zero
from hloproof.models.hlo.attributes import ConvolutionDimensions, Quoted, Window, WindowDimension, Word
from hloproof.models.hlo.beside import unread_of_call
from hloproof.models.hlo.library_shapes import READ, convolution_settings, is_convolution


def call(element: Elem, place: int) -> tuple[str, Term, int] | None:
    """The target, the element of a call's first result, and how many places its fold takes."""
    node = element.node
    if node.head != "output" or node.key != (0,) or node.operands[0].head != "custom-call":
        return None
    whole = node.operands[0]
    target = whole.attributes.get("custom_call_target")
    name = target.text if isinstance(target, Quoted | Word) else ""
    labels, window = whole.attributes.get("dim_labels"), whole.attributes.get("window")
    if not name.startswith("__cudnn$conv") or not isinstance(labels, ConvolutionDimensions):
        return None
    # What a library makes of numbers of several types is its own affair.
    if not has_zero(node.type) or {o.type for o in whole.operands} != {node.type}:
        return None
    if whole.attributes.integer("batch_group_count", 1) != 1:
        return None
    if unread_of_call(whole.attributes, *READ):
        return None
    settings = convolution_settings(whole.attributes)
    rank = len(labels.input_spatial)
    dims = window.dimensions if isinstance(window, Window) else (WindowDimension(1),) * rank
    if settings is None or settings.get("conv_result_scale", 0) != 1 or len(dims) != rank:
        return None
    groups, sizes = whole.attributes.integer("feature_group_count", 1), [o.sizes for o in whole.operands]
    if not is_convolution(name, labels, dims, groups, sizes, node.sizes):
        return None
    activation, side_scale = settings.get("activation_mode", "kNone"), settings.get("side_input_scale", 0)
    if name == "__cudnn$convBiasActivationForward":
        found = _convolved(whole, node, element.at, place)
        if found is None or activation not in ("kNone", "kRelu") or len(whole.operands) not in (3, 4):
            return None
        return name, _activated(whole, node, element.at, found, activation, side_scale), place + len(found.sizes)
    if activation != "kNone" or side_scale != 0 or len(whole.operands) != 2:
        return None
    if name == "__cudnn$convForward":
        found = _convolved(whole, node, element.at, place)
    elif whole.attributes.integer("feature_group_count", 1) != 1:
        return None
    elif name == "__cudnn$convBackwardInput":
        found = by_input(whole, node, element.at, place, labels, dims)
    elif name == "__cudnn$convBackwardFilter":
        found = by_filter(whole, node, element.at, place, labels, dims)
    else:
        return None
    return None if found is None else (name, found, place + len(found.sizes))


def _convolved(whole: Node, node: Node, at: At, place: int) -> Fold | None:
    found = convolution(whole, at, place, node.type, whole.operands[:2])
    return found if isinstance(found, Fold) else None


def _activated(whole: Node, node: Node, at: At, conv: Fold, activation: str, side_scale: float) -> Term:
    labels = whole.attributes.get("dim_labels")
    assert isinstance(labels, ConvolutionDimensions)
    bias = whole.operands[2]
    out: Term = App("add", node.type, (conv, Elem(bias, (at[labels.output_feature],))))
    if len(whole.operands) == 4 and side_scale:
        side: Term = Elem(whole.operands[3], at)
        if side_scale != 1:
            side = App("multiply", node.type, (side, from_value(node.type, side_scale)))
        out = App("add", node.type, (out, side))
    if activation == "kRelu":
        out = App("maximum", node.type, (out, from_value(node.type, 0)))
    return out


def by_input(
    whole: Node, node: Node, at: At, place: int, labels: ConvolutionDimensions, dims: tuple[WindowDimension, ...]
) -> Fold | None:
    """dx[b, p, i] = sum over o, k of dy[b, y, o] * w[k, i, o], where y * stride = p + pad - k * dilation."""
    gradient, weights = whole.operands
    sizes = (weights.sizes[labels.kernel_output_feature], *(d.size for d in dims))
    feature, *positions = (variable(place + k, n) for k, n in enumerate(sizes))
    left, right = [constant(0)] * len(gradient.sizes), [constant(0)] * len(weights.sizes)
    left[labels.output_batch], left[labels.output_feature] = at[labels.input_batch], feature
    right[labels.kernel_input_feature], right[labels.kernel_output_feature] = at[labels.input_feature], feature
    tests: list[Test[Lin]] = []
    for k, d in enumerate(dims):
        if d.base_dilation != 1:
            return None
        shifted = at[labels.input_spatial[k]] + d.padding_low - positions[k] * d.window_dilation
        y, reads = spread(shifted, gradient.sizes[labels.output_spatial[k]], d.stride)
        tests += reads
        left[labels.output_spatial[k]] = y
        right[labels.kernel_spatial[k]] = d.size - 1 - positions[k] if d.reversal else positions[k]
    body = guarded(tests, Elem(gradient, tuple(left)), from_value(gradient.type, 0))
    return Fold(("contract", precision(whole)), node.type, place, sizes, (body, Elem(weights, tuple(right))))


def by_filter(
    whole: Node, node: Node, at: At, place: int, labels: ConvolutionDimensions, dims: tuple[WindowDimension, ...]
) -> Fold | None:
    """dw[k, i, o] = sum over b, y of x[b, y * stride + k * dilation - pad, i] * dy[b, y, o]."""
    source, gradient = whole.operands
    sizes = (gradient.sizes[labels.output_batch], *(gradient.sizes[d] for d in labels.output_spatial))
    batch, *positions = (variable(place + k, n) for k, n in enumerate(sizes))
    left, right = [constant(0)] * len(source.sizes), [constant(0)] * len(gradient.sizes)
    left[labels.input_batch], left[labels.input_feature] = batch, at[labels.kernel_input_feature]
    right[labels.output_batch], right[labels.output_feature] = batch, at[labels.kernel_output_feature]
    tests: list[Test[Lin]] = []
    for k, d in enumerate(dims):
        w = at[labels.kernel_spatial[k]]
        size = source.sizes[labels.input_spatial[k]]
        index, reads = windowed(positions[k], d.size - 1 - w if d.reversal else w, size, d)
        tests += reads
        left[labels.input_spatial[k]] = index
        right[labels.output_spatial[k]] = positions[k]
    body = guarded(tests, Elem(source, tuple(left)), from_value(source.type, 0))
    return Fold(("contract", precision(whole)), node.type, place, sizes, (body, Elem(gradient, tuple(right))))
