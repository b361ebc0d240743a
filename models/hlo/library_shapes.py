"""Convolutions that are not, or not only, the sum of products that the opcode stands for: calls of a library, and
what attributes make of an instruction. The ordinary one is y = conv(x, w)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hloproof.models.hlo.attributes import Attributes, ConvolutionDimensions, Quoted, WindowDimension, Word
from hloproof.models.hlo.beside import factor, settings_of_call

_ORDINARY: Final = frozenset({"fprop", "unset", "unknown"})


READ_OF_PRODUCTS: Final = ("backend_config", "operand_precision")
"""What the meaning of a product of a library is read from, its operands aside."""
READ: Final = (*READ_OF_PRODUCTS, "window", "dim_labels", "feature_group_count", "batch_group_count")
"""What that of a convolution is."""


_FACTORS: Final = ("conv_result_scale", "side_input_scale", "leakyrelu_alpha")
_SETTINGS: Final = frozenset({"activation_mode", "algorithm", *_FACTORS})
_KERNEL: Final = frozenset({"algo_id", "algo_type", "is_cudnn_frontend", "math_type", "tuning_knobs", "workspace_size"})
"""What is said of a kernel, by whose fields it is chosen and not what it computes."""


def convolution_settings(attributes: Attributes) -> dict[str, Any] | None:
    """What the configuration of a call of a library's convolution says; None where there is none, or it says more than
    is known."""
    found = settings_of_call(attributes, "cudnn_conv_backend_config")
    if found is None or not found.keys() <= _SETTINGS or any(factor(found, n) is None for n in _FACTORS):
        return None
    kernel = found.get("algorithm", {})
    return found if isinstance(kernel, dict) and kernel.keys() <= _KERNEL else None


def why_no_sum(attributes: Attributes) -> str | None:
    """Why a convolution with these attributes is not the sum of products over its window; None where it is.

    One that is told to be a gradient (`conv_kind=dgrad`, `wgrad`) is written as a library wants it: the reversal of the
    filter, for one, is no instruction any more.
    """
    if "sparsity_config" in attributes:
        return "convolution with sparsity"
    kind = attributes.get("conv_kind")
    if kind is None or (isinstance(kind, Word | Quoted) and kind.text.lower() in _ORDINARY):
        return None
    return "convolution of a kind for a library"


def is_convolution(
    target: str,
    labels: ConvolutionDimensions,
    window: Sequence[WindowDimension],
    groups: int,
    operands: Sequence[Sequence[int]],
    result: Sequence[int],
) -> bool:
    """Whether the sizes are those of the convolution that a call named `target` stands for; a compiler checks no call.

    `operands` are the sizes of the call's operands: two arrays, and with an activation a bias and perhaps a side input;
    `result` those of its first result.
    """
    if len(operands) < 2:
        return False
    if target.endswith("convBackwardInput"):
        y, w, x = operands[0], operands[1], result
    elif target.endswith("convBackwardFilter"):
        x, y, w = operands[0], operands[1], result
    else:
        x, w, y = operands[0], operands[1], result
    if target.endswith("convBiasActivationForward"):
        fit = tuple(result[labels.output_feature : labels.output_feature + 1]), tuple(result)
        if any(tuple(sizes) != wanted for sizes, wanted in zip(operands[2:], fit, strict=False)):
            return False
    rank = len(labels.input_spatial)
    if any(len(sizes) != rank + 2 for sizes in (x, w, y)) or len(window) != rank or groups < 1:
        return False
    if any(min(d.size, d.stride, d.base_dilation, d.window_dilation) < 1 for d in window):
        return False
    if x[labels.input_batch] != y[labels.output_batch]:
        return False
    features = x[labels.input_feature], w[labels.kernel_input_feature] * groups
    if features[0] != features[1] or w[labels.kernel_output_feature] != y[labels.output_feature]:
        return False
    if w[labels.kernel_output_feature] % groups:
        return False
    for k, d in enumerate(window):
        size = x[labels.input_spatial[k]]
        spread = (size - 1) * d.base_dilation + 1 if size else 0
        room = spread + d.padding_low + d.padding_high - ((d.size - 1) * d.window_dilation + 1)
        places = room // d.stride + 1 if room >= 0 else 0
        if d.size != w[labels.kernel_spatial[k]] or y[labels.output_spatial[k]] != places:
            return False
    return True
