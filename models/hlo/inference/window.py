"""Shapes of reductions, windows, convolution, dot and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension
from hloproof.models.hlo.inference.common import (
    Request,
    ShapeError,
    Signature,
    check_dimensions,
    same_size,
    same_sizes,
    shown,
    tuple_unless_one,
)
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape


def _reducer(request: Request, arrays: Sequence[ArrayShape], inits: Sequence[ArrayShape]) -> list[str]:
    """The element types that the reducing computation gives, one per input array. Its first parameters take what was
    gathered so far, of the initial values' types, its others elements of the arrays."""
    callee: Signature | None = request.callee("to_apply")
    if callee is None:
        raise ShapeError(f"{request.opcode} needs to_apply=")
    gathered = [i.element_type for i in inits]
    request.check_scalars(callee, [*gathered, *(a.element_type for a in arrays)])
    results = callee.result.elements if isinstance(callee.result, TupleShape) else (callee.result,)
    types = [r.element_type for r in results if isinstance(r, ArrayShape) and not r.dimensions]
    if len(types) != len(arrays) or len(results) != len(arrays):
        raise ShapeError(f"the computation of {request.opcode} must give {len(arrays)} scalars, found {shown(results)}")
    for given, wanted in zip(types, gathered, strict=True):
        if not request.same_type(given, wanted):
            raise ShapeError(f"the computation of {request.opcode} gives {given}, the initial value is {wanted}")
    return types


def _inputs_and_inits(request: Request) -> tuple[tuple[ArrayShape, ...], tuple[ArrayShape, ...]]:
    """The arrays and their initial values; all arrays of the same sizes, all initial values scalars."""
    operands = request.arrays()
    if len(operands) % 2:
        raise ShapeError(f"{request.opcode} takes as many initial values as arrays, found {len(operands)} operands")
    half = len(operands) // 2
    arrays, inits = operands[:half], operands[half:]
    for array in arrays[1:]:
        if not same_sizes(array.dimensions, arrays[0].dimensions):
            raise ShapeError(f"{request.opcode} of arrays of different sizes: {shown(arrays)}")
    for init in inits:
        if init.dimensions:
            raise ShapeError(f"an initial value of {request.opcode} is a scalar, found {shown((init,))}")
    for array, init in zip(arrays, inits, strict=True):
        if not request.same_type(init.element_type, array.element_type):
            raise ShapeError(f"the initial value of {request.opcode} has another element type: {shown((array, init))}")
    return arrays, inits


def reduce(request: Request) -> Shape:
    """The sizes without the reduced dimensions; a tuple where several arrays are reduced."""
    arrays, inits = _inputs_and_inits(request)
    dimensions = request.dimensions(arrays[0].rank)
    kept = tuple(size for i, size in enumerate(arrays[0].dimensions) if i not in dimensions)
    return tuple_unless_one([ArrayShape(t, kept) for t in _reducer(request, arrays, inits)])


def _window(request: Request, rank: int) -> tuple[WindowDimension, ...]:
    window = request.attributes.get("window")
    dimensions = window.dimensions if isinstance(window, Window) else ()
    if len(dimensions) != rank:
        raise ShapeError(f"{request.opcode} over {rank} dimensions needs a window of as many, found {len(dimensions)}")
    for i, d in enumerate(dimensions):
        if d.size < 1 or d.stride < 1 or d.base_dilation < 1 or d.window_dilation < 1:
            raise ShapeError(f"size, stride and dilations of a window are positive; dimension {i} has {d}")
    return dimensions


def window_output(size: int, window: WindowDimension) -> int:
    """How many positions a window has over a dimension of `size` elements."""
    if size == UNBOUNDED:
        return UNBOUNDED
    dilated = (size - 1) * window.base_dilation + 1 if size > 0 else 0
    padded = dilated + window.padding_low + window.padding_high
    reach = (window.size - 1) * window.window_dilation + 1
    return 0 if padded < reach else (padded - reach) // window.stride + 1


def reduce_window(request: Request) -> Shape:
    """The number of places of the window in each dimension; a tuple where several arrays are reduced."""
    arrays, inits = _inputs_and_inits(request)
    window = _window(request, arrays[0].rank)
    sizes = tuple(window_output(s, w) for s, w in zip(arrays[0].dimensions, window, strict=True))
    return tuple_unless_one([ArrayShape(t, sizes) for t in _reducer(request, arrays, inits)])


def select_and_scatter(request: Request) -> Shape:
    """The operand's sizes; the source has an element for each place of the window."""
    operand, source, init = request.arrays()
    window = _window(request, operand.rank)
    sizes = tuple(window_output(s, w) for s, w in zip(operand.dimensions, window, strict=True))
    if not same_sizes(source.dimensions, sizes):
        raise ShapeError(
            f"the source of select-and-scatter has sizes {list(source.dimensions)}, the window gives {list(sizes)}"
        )
    if init.dimensions:
        raise ShapeError("the initial value of select-and-scatter is a scalar")
    kind = operand.element_type
    if not request.same_type(source.element_type, kind) or not request.same_type(init.element_type, kind):
        raise ShapeError(f"select-and-scatter of different element types: {shown((operand, source, init))}")
    for name, wanted in (("select", "pred"), ("scatter", kind)):
        body = request.callee(name)
        if body is None:
            raise ShapeError(f"select-and-scatter needs {name}=")
        request.check_scalars(body, (kind, kind), f"the computation {name}")
        result = body.result
        if (
            not isinstance(result, ArrayShape)
            or result.dimensions
            or not request.same_type(result.element_type, wanted)
        ):
            raise ShapeError(f"the computation {name} of select-and-scatter gives {wanted}[], found {shown((result,))}")
    return operand


def _result_type(request: Request, default: str) -> str:
    """Dot and convolution may accumulate into another type than the operands', which the declared shape names."""
    return request.declared.element_type if isinstance(request.declared, ArrayShape) else default


def convolution(request: Request) -> Shape:
    """Batch, output features and places of the window, in the order that `dim_labels` gives the output."""
    operand, kernel = request.array(0), request.array(1)
    labels = request.attributes.get("dim_labels")
    if not isinstance(labels, ConvolutionDimensions):
        raise ShapeError("convolution needs dim_labels= without '?'")
    spatial = len(labels.input_spatial)
    if operand.rank != spatial + 2 or kernel.rank != spatial + 2:
        raise ShapeError(f"dim_labels name {spatial + 2} dimensions, the operands are {shown((operand, kernel))}")
    window = _window(request, spatial)
    groups = request.attributes.integer("feature_group_count", 1)
    batch_groups = request.attributes.integer("batch_group_count", 1)
    if groups < 1 or batch_groups < 1 or (groups > 1 and batch_groups > 1):
        raise ShapeError("feature_group_count and batch_group_count are positive, and at most one of them exceeds 1")
    features, batch = operand.dimensions[labels.input_feature], operand.dimensions[labels.input_batch]
    kernel_in = kernel.dimensions[labels.kernel_input_feature]
    kernel_out = kernel.dimensions[labels.kernel_output_feature]
    if UNBOUNDED not in (features, kernel_in) and features != kernel_in * groups:
        raise ShapeError(f"convolution: {features} input features are not {groups} groups of the kernel's {kernel_in}")
    if kernel_out != UNBOUNDED and (kernel_out % groups or kernel_out % batch_groups):
        raise ShapeError(f"convolution: {kernel_out} output features do not divide into the groups")
    if batch != UNBOUNDED and batch % batch_groups:
        raise ShapeError(f"convolution: a batch of {batch} does not divide into {batch_groups} groups")
    sizes = [0] * (spatial + 2)
    sizes[labels.output_batch] = batch if batch == UNBOUNDED else batch // batch_groups
    sizes[labels.output_feature] = kernel_out
    for i, part in enumerate(window):
        size = kernel.dimensions[labels.kernel_spatial[i]]
        if not same_size(size, part.size):
            raise ShapeError(f"convolution: window size {part.size} in spatial dimension {i}, kernel size {size}")
        sizes[labels.output_spatial[i]] = window_output(operand.dimensions[labels.input_spatial[i]], part)
    return ArrayShape(_result_type(request, operand.element_type), tuple(sizes))


def _paired(request: Request, lhs: ArrayShape, rhs: ArrayShape, name: str) -> tuple[Sequence[int], Sequence[int]]:
    left = request.dimensions(lhs.rank, f"lhs_{name}_dims")
    right = request.dimensions(rhs.rank, f"rhs_{name}_dims")
    if len(left) != len(right):
        raise ShapeError(f"{request.opcode}: {len(left)} {name} dimensions on the left, {len(right)} on the right")
    # Of a sparse operand, which holds 2 of 4 elements say, a sum goes over more than there are.
    sparse = name == "contracting" and "sparsity" in request.attributes
    for a, b in zip(left, right, strict=True):
        if not sparse and not same_size(lhs.dimensions[a], rhs.dimensions[b]):
            raise ShapeError(
                f"{request.opcode}: {name} dimensions of different sizes, {lhs.dimensions[a]} (left dimension {a}) and "
                f"{rhs.dimensions[b]} (right dimension {b})"
            )
    return left, right


def dot(request: Request) -> Shape:
    """Batch dimensions, then the left operand's free ones, then the right operand's. Also `scaled-dot`."""
    if request.opcode == "dot" and len(request.operands) > 2 and "sparsity" not in request.attributes:
        raise ShapeError(f"dot of {len(request.operands)} operands: only a sparse one has more than two")
    lhs, rhs = request.array(0), request.array(1)
    left_batch, right_batch = _paired(request, lhs, rhs, "batch")
    left_sum, right_sum = _paired(request, lhs, rhs, "contracting")
    check_dimensions([*left_batch, *left_sum], lhs.rank, "the left dimensions of dot")
    check_dimensions([*right_batch, *right_sum], rhs.rank, "the right dimensions of dot")
    sizes = [lhs.dimensions[d] for d in left_batch]
    sizes += [s for d, s in enumerate(lhs.dimensions) if d not in left_batch and d not in left_sum]
    sizes += [s for d, s in enumerate(rhs.dimensions) if d not in right_batch and d not in right_sum]
    return ArrayShape(_result_type(request, lhs.element_type), tuple(sizes))


def ragged_dot(request: Request) -> Shape:
    """Ragged rows: `[b,m,k] x [g,b,k,n]` gives `[b,m,n]`. Ragged contraction: `[b,m,k] x [b,k,n]` gives `[g,b,m,n]`.
    Ragged batch: as dot."""
    lhs, rhs, groups = request.arrays()
    left_batch, right_batch = _paired(request, lhs, rhs, "batch")
    left_sum, right_sum = _paired(request, lhs, rhs, "contracting")
    ragged = request.dimensions(lhs.rank, "lhs_ragged_dims")
    group = request.dimensions(rhs.rank, "rhs_group_dims")
    if len(ragged) != 1 or not groups.rank:
        raise ShapeError("ragged-dot needs one entry in lhs_ragged_dims and a vector of group sizes")
    check_dimensions([*left_batch, *left_sum], lhs.rank, "the left dimensions of ragged-dot")
    check_dimensions([*right_batch, *right_sum, *group], rhs.rank, "the right dimensions of ragged-dot")
    sizes = [lhs.dimensions[d] for d in left_batch]
    sizes += [s for d, s in enumerate(lhs.dimensions) if d not in left_batch and d not in left_sum]
    sizes += [s for d, s in enumerate(rhs.dimensions) if d not in right_batch and d not in right_sum and d not in group]
    if ragged[0] in left_sum:
        sizes.insert(0, groups.dimensions[-1])
    is_free = ragged[0] not in left_batch and ragged[0] not in left_sum
    if is_free != (len(group) == 1):
        raise ShapeError("ragged-dot names a group dimension of the right operand exactly when the rows are ragged")
    if group and not same_size(rhs.dimensions[group[0]], groups.dimensions[-1]):
        raise ShapeError("ragged-dot: the group dimension and the group sizes differ in length")
    return ArrayShape(_result_type(request, lhs.element_type), tuple(sizes))


def batch_norm(request: Request) -> Shape:
    """The operand's shape, beside it (but in inference) statistics or gradients with an element per feature."""
    operand = request.array(0)
    feature = request.attributes.integer("feature_index", -1)
    if not 0 <= feature < operand.rank:
        raise ShapeError(f"feature_index={feature} of an operand with {operand.rank} dimensions")
    vector = (operand.dimensions[feature],)
    for other in request.arrays():
        if not request.same_type(other.element_type, operand.element_type):
            raise ShapeError(f"{request.opcode} of different element types: {shown((operand, other))}")
    last = 4 if request.opcode == "batch-norm-grad" else len(request.operands)
    for number in range(1, last):
        if not same_sizes(request.array(number).dimensions, vector):
            raise ShapeError(f"operand {number} of {request.opcode} has one element per feature, {vector[0]}")
    if request.opcode == "batch-norm-grad" and not same_sizes(request.array(4).dimensions, operand.dimensions):
        raise ShapeError("the gradient of batch-norm-grad has the operand's sizes")
    if request.opcode == "batch-norm-inference":
        return operand
    statistics = ArrayShape(request.array(1).element_type, vector)
    return TupleShape((operand.without_layout(), statistics, statistics))


ROWS: Final = """
batch-norm-grad           | 5    |                      | epsilon feature_index          |
batch-norm-inference      | 5    |                      | epsilon feature_index          |
batch-norm-training       | 3    |                      | epsilon feature_index          |
convolution               | 2    |                      | dim_labels                     | window feature_group_count batch_group_count operand_precision algorithm sparsity_config conv_kind
dot                       | 2+   |                      |                                | @contraction operand_precision algorithm sparsity
ragged-dot                | 3    |                      | lhs_ragged_dims                | @contraction rhs_group_dims operand_precision algorithm
reduce                    | 2+   |                      | dimensions to_apply            |
reduce-window             | 2+   |                      | to_apply                       | window
scaled-dot                | 4    |                      |                                | @contraction operand_precision algorithm
select-and-scatter        | 3    |                      | select scatter                 | window
"""  # noqa: E501
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""

RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    "reduce": reduce,
    "reduce-window": reduce_window,
    "select-and-scatter": select_and_scatter,
    "convolution": convolution,
    "dot": dot,
    "scaled-dot": dot,
    "ragged-dot": ragged_dot,
    "batch-norm-training": batch_norm,
    "batch-norm-inference": batch_norm,
    "batch-norm-grad": batch_norm,
}
"""Their shapes."""
