"""Calls of vendors' libraries, by what their documentation says that they compute.

`__cudnn$conv...`: the attributes are those of the forward convolution y = conv(x, w); the backward calls give its
gradient by x (operands: that of y, and w) or by w (operands: x, and that of y). `__cublas$gemm` and
`__cublas$lt$matmul`: alpha * A * B + beta * C, then a bias along the last dimension and an activation. The second
result of such a call is scratch memory: it has no value, so nothing may read it. Configurations that are not
understood whole raise NotModelled, under every semantics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, ConvolutionDimensions, Quoted, Window, WindowDimension
from hloproof.models.hlo.beside import factor, settings_of_call, unread_of_call
from hloproof.models.hlo.library_shapes import READ, READ_OF_PRODUCTS, convolution_settings, is_convolution
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.interpreter.operations.contraction import contracted
from hloproof.models.interpreter.operations.window import convolved
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Array, Element, Token, Value, filled, indices

_Dimensions = tuple[int, ...]
_DIMENSION: Final = re.compile(r"[0-9]{1,2}", re.ASCII)
_GEMM: Final = frozenset(
    {
        "alpha_real",
        "alpha_imag",
        "beta",
        "dot_dimension_numbers",
        "epilogue",
        "precision_config",
        "selected_algorithm",
        "algorithm",
        "lhs_stride",
        "rhs_stride",
        "grad_x",
        "grad_y",
        "damax_output",
        "autotune_workspace_size",
    }
)
"""Settings that are understood, or that do not change the result."""
_PAIRS: Final = (
    ("lhs_batch_dims", "lhs_batch_dimensions"),
    ("rhs_batch_dims", "rhs_batch_dimensions"),
    ("lhs_contracting_dims", "lhs_contracting_dimensions"),
    ("rhs_contracting_dims", "rhs_contracting_dimensions"),
)
"""The dimension numbers of a dot, and what they are called in a configuration."""
_PRECISION: Final = frozenset({"operand_precision", "algorithm"})


def _convolution_settings(step: Step) -> dict[str, Any]:
    _require_read(step, READ)
    found = convolution_settings(step.attributes)
    if found is None:
        raise NotModelled("a library convolution without settings, or with others than are known")
    return found


def _product_settings(step: Step) -> dict[str, Any]:
    _require_read(step, READ_OF_PRODUCTS)
    found = settings_of_call(step.attributes, "gemm_backend_config")
    if found is None:
        raise NotModelled("a library product without gemm_backend_config, or with more than that")
    inside = {"dot_dimension_numbers": frozenset(name for _, name in _PAIRS), "precision_config": _PRECISION}
    for said, known in ((found, _GEMM), *((found.get(name, {}), names) for name, names in inside.items())):
        if not isinstance(said, dict) or not said.keys() <= known:
            raise NotModelled(f"a library product with other settings than {', '.join(sorted(known))}")
    return found


def _require_read(step: Step, read: Sequence[str]) -> None:
    if unread := unread_of_call(step.attributes, *read):
        raise NotModelled(f"a library call with {unread[0]}")


def result_of(step: Step) -> ArrayShape:
    """The shape of the first result."""
    shape = step.instruction.shape
    first = shape.elements[0] if isinstance(shape, TupleShape) and shape.elements else shape
    if not isinstance(first, ArrayShape):
        raise NotModelled("a library call whose result is not an array")
    return first


def _with_scratch(step: Step, data: list[Element]) -> Value:
    first = result_of(step)
    array = Array(first.element_type, first.dimensions, data)
    return with_scratch(step, array)


def with_scratch(step: Step, result: Value) -> Value:
    """The result, and the scratch memory where there is any."""
    shape = step.instruction.shape
    if not isinstance(shape, TupleShape):
        return result
    empty = [isinstance(s, ArrayShape) and not prod(s.dimensions) for s in shape.elements]
    rest = zip(shape.elements[1:], empty[1:], strict=True)
    return (result, *(filled(s) if nothing else Token() for s, nothing in rest))


def _activated(step: Step, data: list[Element], activation: str, kind: str) -> list[Element]:
    zero, maximum = step.scalars.constant(kind, 0), step.function("maximum", kind)
    match activation:
        case "kNone":
            return data
        case "kRelu":
            return [maximum(v, zero) for v in data]
        case "kRelu6":
            six, minimum = step.scalars.constant(kind, 6), step.function("minimum", kind)
            return [minimum(maximum(v, zero), six) for v in data]
    raise NotModelled(f"the activation {activation}")


def _scaled(step: Step, data: list[Element], factor: float, kind: str) -> list[Element]:
    if factor == 1:
        return data
    times, by = step.function("multiply", kind), step.scalars.constant(kind, float(factor))
    return [times(v, by) for v in data]


def _factor(settings: dict[str, Any], name: str) -> float:
    found = factor(settings, name)
    if found is None:
        raise NotModelled(f"a library call whose {name} is no number")
    return float(found)


def _dimensions(said: Any) -> tuple[int, ...]:
    """Numbers of dimensions, which may stand in quotes."""
    if not isinstance(said, list) or not all(_DIMENSION.fullmatch(str(d)) for d in said):
        raise NotModelled("a library product whose dimension numbers are no numbers")
    return tuple(int(d) for d in said)


def _size_of_product(
    a: Array, b: Array, a_batch: _Dimensions, b_batch: _Dimensions, a_along: _Dimensions, b_along: _Dimensions
) -> tuple[int, ...] | None:
    """The sizes of a dot with these dimension numbers; None where there is none. Apart from shape inference, as all of
    the interpreter is."""
    named = ((a, a_batch + a_along), (b, b_batch + b_along))
    for x, dims in named:
        if len(set(dims)) < len(dims) or any(d >= len(x.sizes) for d in dims):
            return None
    for one, other in ((a_batch, b_batch), (a_along, b_along)):
        if [a.sizes[d] for d in one] != [b.sizes[d] for d in other]:
            return None
    free = (n for x, dims in named for d, n in enumerate(x.sizes) if d not in dims)
    return (*(a.sizes[d] for d in a_batch), *free)


def _added(step: Step, left: list[Element], right: list[Element], kind: str) -> list[Element]:
    return list(map(step.function("add", kind), left, right))


def _convolution(step: Step) -> Value:
    name = _name(step)
    settings = _convolution_settings(step)
    activation, side = settings.get("activation_mode", "kNone"), _factor(settings, "side_input_scale")
    scale, shape = _factor(settings, "conv_result_scale"), result_of(step)
    if len(step.operands) < 2:
        raise NotModelled("a library convolution of these operands")
    x, w, kind = step.array(0), step.array(1), shape.element_type
    if {x.element_type, w.element_type} != {kind} or kind not in FLOATS:
        raise NotModelled("a library convolution of these types")
    if name != "BiasActivationForward" and (activation != "kNone" or side or len(step.operands) != 2):
        raise NotModelled("a library convolution with an activation or a side input")
    if not scale:  # a number that is left out is 0
        raise NotModelled("a library convolution times nothing")
    labels, window = convolution_form(step, w.sizes)
    data = _scaled(step, convolved(step, x, w, labels, window, shape), scale, kind)
    if name != "BiasActivationForward":
        return _with_scratch(step, data)
    if len(step.operands) not in (3, 4) or step.array(2).element_type != kind:
        raise NotModelled("a fused convolution of these operands")
    if len(step.operands) == 4 and side:
        data = _added(step, data, _scaled(step, step.array(3).data, side, kind), kind)
    bias = step.array(2).data
    spread = [bias[at[labels.output_feature]] for at in indices(shape.dimensions)]
    return _with_scratch(step, _activated(step, _added(step, data, spread, kind), activation, kind))


_Form = tuple[ConvolutionDimensions, tuple[WindowDimension, ...]]
"""Labels and window of an ordinary convolution."""


def convolution_form(step: Step, sizes: Sequence[int]) -> _Form:
    """The convolution of the two first operands that a call stands for; `sizes` are those of the second. Raises
    NotModelled."""
    labels, window = step.attributes.get("dim_labels"), step.attributes.get("window")
    if not isinstance(labels, ConvolutionDimensions):
        raise NotModelled("a convolution without dim_labels")
    rank = len(labels.input_spatial)
    dims = window.dimensions if isinstance(window, Window) and window.dimensions else (WindowDimension(1),) * rank
    if len(dims) != rank:
        raise NotModelled("a convolution with a window of another rank")
    if step.attributes.integer("batch_group_count", 1) != 1:
        raise NotModelled("a library convolution whose batch is in groups")
    shapes = [s.dimensions for s in step.operand_shapes if isinstance(s, ArrayShape)]
    groups = step.attributes.integer("feature_group_count", 1)
    target = step.attributes.get("custom_call_target")
    named = target.text if isinstance(target, Quoted) else ""
    if not is_convolution(named, labels, dims, groups, shapes, result_of(step).dimensions):
        raise NotModelled("a library call whose sizes are not those of its convolution")
    match _name(step):
        case "BackwardInput":
            return _by_input(step, labels, dims)
        case "BackwardFilter":
            return _by_filter(step, labels, dims, sizes)
    return labels, dims


def _name(step: Step) -> str:
    target = step.attributes.get("custom_call_target")
    return (target.text if isinstance(target, Quoted) else "").removeprefix("__cudnn$conv")


def plain_convolution(step: Step) -> bool:
    """Whether a call is a convolution and nothing more."""
    if _name(step) not in ("Forward", "BackwardInput", "BackwardFilter"):
        return False
    settings = _convolution_settings(step)
    kinds = {result_of(step).element_type, *(s.element_type for s in step.operand_shapes if isinstance(s, ArrayShape))}
    return (
        settings.get("activation_mode", "kNone") == "kNone"
        and not _factor(settings, "side_input_scale")
        and _factor(settings, "conv_result_scale") == 1
        and len(step.operands) == 2
        and len(kinds) == 1
        and kinds <= FLOATS
    )


def _by_input(step: Step, labels: ConvolutionDimensions, window: tuple[WindowDimension, ...]) -> _Form:
    """dx[b, p, i] = sum over o, k of dy[b, y, o] * w[k, i, o] with y * stride = p + pad - k * dilation: a convolution
    of dy, spread by the stride, with the mirrored kernel."""
    _no_groups(step)
    turned = replace(
        labels,
        input_batch=labels.output_batch,
        input_feature=labels.output_feature,
        input_spatial=labels.output_spatial,
        kernel_input_feature=labels.kernel_output_feature,
        kernel_output_feature=labels.kernel_input_feature,
        output_batch=labels.input_batch,
        output_feature=labels.input_feature,
        output_spatial=labels.input_spatial,
    )
    dims = []
    for d in window:
        if d.base_dilation != 1:
            raise NotModelled("the gradient of a convolution of a dilated operand")
        low = (d.size - 1) * d.window_dilation - d.padding_low
        dims.append(
            WindowDimension(
                d.size,
                padding_low=low,
                base_dilation=d.stride,
                window_dilation=d.window_dilation,
                reversal=not d.reversal,
            )
        )
    return turned, tuple(dims)


def _by_filter(
    step: Step, labels: ConvolutionDimensions, window: tuple[WindowDimension, ...], sizes: Sequence[int]
) -> _Form:
    """dw[k, i, o] = sum over b, y of x[b, y * stride + k * dilation - pad, i] * dy[b, y, o]: a convolution of x with
    dy, in which batch and features have changed places."""
    _no_groups(step)
    turned = replace(
        labels,
        input_batch=labels.input_feature,
        input_feature=labels.input_batch,
        kernel_input_feature=labels.output_batch,
        kernel_output_feature=labels.output_feature,
        kernel_spatial=labels.output_spatial,
        output_batch=labels.kernel_input_feature,
        output_feature=labels.kernel_output_feature,
        output_spatial=labels.kernel_spatial,
    )
    dims = []
    for d, out in zip(window, labels.output_spatial, strict=True):
        if d.reversal:
            raise NotModelled("the gradient by a mirrored kernel")
        dims.append(
            WindowDimension(
                sizes[out],
                stride=d.window_dilation,
                padding_low=d.padding_low,
                base_dilation=d.base_dilation,
                window_dilation=d.stride,
            )
        )
    return turned, tuple(dims)


def _no_groups(step: Step) -> None:
    if step.attributes.integer("feature_group_count", 1) != 1:
        raise NotModelled("the gradient of a library convolution in groups")


def _product(step: Step) -> Value:
    settings = _product_settings(step)
    shape = result_of(step)
    kind, epilogue = shape.element_type, settings.get("epilogue", "DEFAULT")
    alpha, beta = _factor(settings, "alpha_real"), _factor(settings, "beta")
    if _factor(settings, "alpha_imag") or kind not in FLOATS:
        raise NotModelled("a library product of complex or integer numbers")
    if epilogue not in ("DEFAULT", "RELU", "BIAS", "BIAS_RELU"):
        raise NotModelled(f"the epilogue {epilogue}")
    if len(step.operands) < 2:
        raise NotModelled("a library product of these operands")
    a, b, *rest = step.arrays()
    if any(x.element_type != kind for x in (a, b, *rest)) or len(rest) != bool(beta) + epilogue.startswith("BIAS"):
        raise NotModelled("a library product of these operands")
    numbers = settings.get("dot_dimension_numbers")
    if not isinstance(numbers, dict):
        raise NotModelled("a library product without dimension numbers")
    dims = {short: _dimensions(numbers.get(name, [])) for short, name in _PAIRS}
    if _size_of_product(a, b, *dims.values()) != shape.dimensions:
        raise NotModelled("dimension numbers that do not fit a library product of these operands")
    plain = replace(
        step, instruction=replace(step.instruction, shape=shape, attributes=Attributes(tuple(dims.items())))
    )
    data = _scaled(plain, contracted(plain, a, b), alpha, kind)
    if beta:
        if rest[0].sizes != shape.dimensions:
            raise NotModelled("a library product and a summand of another size")
        data = _added(step, data, _scaled(step, rest.pop(0).data, beta, kind), kind)
    if rest:
        n = shape.dimensions[-1] if shape.dimensions else 0
        if rest[0].sizes != (n,) or not shape.layout or shape.layout.minor_to_major[:1] != (len(shape.dimensions) - 1,):
            raise NotModelled("a bias that does not lie along the last dimension")
        data = _added(step, data, [rest[0].data[k % n] for k in range(len(data))], kind)
    return _with_scratch(step, _activated(step, data, "kRelu" if epilogue.endswith("RELU") else "kNone", kind))


LIBRARY_CALLS: Final[dict[str, Callable[[Step], Value]]] = {
    "__cudnn$convForward": _convolution,
    "__cudnn$convBackwardInput": _convolution,
    "__cudnn$convBackwardFilter": _convolution,
    "__cudnn$convBiasActivationForward": _convolution,
    "__cublas$gemm": _product,
    "__cublas$lt$matmul": _product,
}
