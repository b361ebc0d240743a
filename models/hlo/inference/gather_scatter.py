"""Shapes of gather, scatter, sort, topk, and the linear-algebra and random-number operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.inference.common import (
    COMPLEX,
    INTEGERS,
    Request,
    ShapeError,
    check_dimensions,
    same_size,
    same_sizes,
    shown,
    tuple_unless_one,
)
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape

_TRANSPOSES: Final = frozenset({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})


def _index_vector(request: Request, indices: ArrayShape) -> tuple[int, list[int], int]:
    """index_vector_dim, the other sizes of the index array in order, and the length of one index vector."""
    if indices.element_type not in INTEGERS:
        raise ShapeError(f"the indices of {request.opcode} are integers, found {indices.element_type}")
    dimension = request.attributes.integer("index_vector_dim", -1)
    if not 0 <= dimension <= indices.rank:
        raise ShapeError(f"index_vector_dim={dimension} of indices with {indices.rank} dimensions")
    if dimension == indices.rank:
        return dimension, list(indices.dimensions), 1
    others = [s for i, s in enumerate(indices.dimensions) if i != dimension]
    return dimension, others, indices.dimensions[dimension]


def _ascending(request: Request, rank: int, name: str) -> tuple[int, ...]:
    """The list of dimension numbers `name`, in order and none twice."""
    found = request.dimensions(rank, name)
    if list(found) != sorted(found):
        raise ShapeError(f"{name} of {request.opcode} are in ascending order")
    return found


def _batching(
    request: Request, operand: ArrayShape, indices: ArrayShape, index_vector: int, names: tuple[str, str]
) -> tuple[int, ...]:
    """The operand's batching dimensions, after checking that they pair up with those of the indices."""
    first = request.dimensions(operand.rank, names[0])
    second = request.dimensions(indices.rank, names[1])
    if len(first) != len(second) or index_vector in second:
        raise ShapeError(f"{names[0]} and {names[1]} of {request.opcode} do not pair up")
    for a, b in zip(first, second, strict=True):
        if not same_size(operand.dimensions[a], indices.dimensions[b]):
            raise ShapeError(f"batching dimensions {a} and {b} of {request.opcode} have different sizes")
    return first


def gather(request: Request) -> Shape:
    """The batch sizes of the indices, and at `offset_dims` the slice sizes that are neither collapsed nor batching."""
    operand, indices = request.array(0), request.array(1)
    index_vector, batch, length = _index_vector(request, indices)
    batching = _batching(
        request, operand, indices, index_vector, ("operand_batching_dims", "start_indices_batching_dims")
    )
    collapsed = _ascending(request, operand.rank, "collapsed_slice_dims")
    index_map = request.dimensions(operand.rank, "start_index_map")
    check_dimensions([*collapsed, *batching], operand.rank, "collapsed and batching dimensions of gather")
    check_dimensions([*index_map, *batching], operand.rank, "indexed and batching dimensions of gather")
    if length not in (len(index_map), UNBOUNDED):
        raise ShapeError(f"start_index_map of gather names {len(index_map)} dimensions, an index vector has {length}")
    slice_sizes = request.integers("slice_sizes")
    if len(slice_sizes) != operand.rank:
        raise ShapeError(f"gather of an operand of {operand.rank} dimensions needs as many slice_sizes")
    for i, (size, bound) in enumerate(zip(slice_sizes, operand.dimensions, strict=True)):
        if size < 0 or (bound != UNBOUNDED and size > bound):
            raise ShapeError(f"gather takes {size} elements of dimension {i}, which has {bound}")
        if (i in collapsed or i in batching) and size > 1:
            raise ShapeError(f"gather collapses dimension {i}, but its slice has {size} elements")
    window = [s for i, s in enumerate(slice_sizes) if i not in collapsed and i not in batching]
    rank = len(batch) + len(window)
    offsets = _ascending(request, rank, "offset_dims")
    if len(offsets) != len(window):
        raise ShapeError(f"gather has {len(window)} window dimensions, offset_dims names {len(offsets)}")
    sizes, next_window, next_batch = [0] * rank, iter(window), iter(batch)
    for i in range(rank):
        sizes[i] = next(next_window) if i in offsets else next(next_batch)
    return ArrayShape(operand.element_type, tuple(sizes))


def scatter(request: Request) -> Shape:
    """n operands, one array of indices, n updates; the result has the operands' sizes."""
    count = len(request.operands) // 2
    if len(request.operands) != 2 * count + 1:
        raise ShapeError("scatter takes n operands, one array of indices and n updates")
    arrays = request.arrays()
    operands, indices, updates = arrays[:count], arrays[count], arrays[count + 1 :]
    index_vector, batch, length = _index_vector(request, indices)
    first = operands[0]
    for other in operands[1:]:
        if not same_sizes(other.dimensions, first.dimensions):
            raise ShapeError(f"scatter into arrays of different sizes: {shown(operands)}")
    batching = _batching(
        request, first, indices, index_vector, ("input_batching_dims", "scatter_indices_batching_dims")
    )
    inserted = _ascending(request, first.rank, "inserted_window_dims")
    targets = request.dimensions(first.rank, "scatter_dims_to_operand_dims")
    check_dimensions([*inserted, *batching], first.rank, "inserted and batching dimensions of scatter")
    if length not in (len(targets), UNBOUNDED):
        raise ShapeError(f"scatter_dims_to_operand_dims names {len(targets)} dimensions, an index vector has {length}")
    for operand, update in zip(operands, updates, strict=True):
        if not same_sizes(update.dimensions, updates[0].dimensions):
            raise ShapeError(f"scatter of updates of different sizes: {shown(updates)}")
        if not request.same_type(update.element_type, operand.element_type):
            raise ShapeError(f"scatter of updates of another element type: {shown((operand, update))}")
        window_dims = _ascending(request, update.rank, "update_window_dims")
        window = [s for i, s in enumerate(first.dimensions) if i not in inserted and i not in batching]
        if len(window_dims) != len(window) or update.rank != len(batch) + len(window):
            raise ShapeError(
                f"the updates of scatter, {shown((update,))}, need {len(batch)} dimensions of the indices "
                f"and {len(window)} of the window"
            )
        rest = [s for i, s in enumerate(update.dimensions) if i not in window_dims]
        if not same_sizes(rest, batch):
            raise ShapeError(f"the updates of scatter have {rest} outside the window, the indices have {batch}")
        for dimension, bound in zip(sorted(window_dims), window, strict=True):
            size = update.dimensions[dimension]
            if UNBOUNDED not in (size, bound) and size > bound:
                raise ShapeError(f"a window of scatter has {size} elements where the operand has {bound}")
    callee = request.callee("to_apply")
    if callee is None:
        raise ShapeError("scatter needs to_apply=")
    types = [o.element_type for o in operands]
    request.check_scalars(callee, types + types)
    results = callee.result.elements if isinstance(callee.result, TupleShape) else (callee.result,)
    if len(results) != count or not all(
        isinstance(r, ArrayShape) and not r.dimensions and request.same_type(r.element_type, t)
        for r, t in zip(results, types, strict=True)
    ):
        raise ShapeError(f"the computation of scatter gives elements of {', '.join(types)}, found {shown(results)}")
    return tuple_unless_one([o.without_layout() for o in operands])


def sort(request: Request) -> Shape:
    """The operands' shapes, which have equal sizes; the comparator takes two scalars of each and gives pred[]."""
    operands = request.arrays()
    for operand in operands[1:]:
        if not same_sizes(operand.dimensions, operands[0].dimensions):
            raise ShapeError(f"sort of arrays of different sizes: {shown(operands)}")
    request.one_dimension(operands[0].rank)
    callee = request.callee("to_apply")
    if callee is None:
        raise ShapeError("sort needs to_apply=")
    request.check_scalars(callee, [o.element_type for o in operands for _ in range(2)])
    if callee.result != ArrayShape("pred") and not (
        isinstance(callee.result, ArrayShape) and callee.result.element_type == "pred" and not callee.result.dimensions
    ):
        raise ShapeError(f"the computation of sort gives pred[], found {shown((callee.result,))}")
    return tuple_unless_one([o.without_layout() for o in operands])


def topk(request: Request) -> Shape:
    """(values, s32 indices) with k elements in the last dimension."""
    operand = request.array(0)
    k = request.attributes.integer("k", -1)
    if not operand.rank or k < 0 or (operand.dimensions[-1] != UNBOUNDED and k > operand.dimensions[-1]):
        raise ShapeError(f"topk takes k={k} of the last dimension of {shown((operand,))}")
    sizes = (*operand.dimensions[:-1], k)
    return TupleShape((ArrayShape(operand.element_type, sizes), ArrayShape("s32", sizes)))


def fft(request: Request) -> Shape:
    """The operand's sizes; RFFT gives, and IRFFT takes, length // 2 + 1 in the last dimension."""
    operand = request.array(0)
    kind, lengths = request.attributes.get("fft_type"), request.integers("fft_length")
    name = kind.text if isinstance(kind, Word) else ""
    if any(length < 0 for length in lengths):
        raise ShapeError(f"the lengths of fft are not negative, found {list(lengths)}")
    if name not in ("FFT", "IFFT", "RFFT", "IRFFT") or not 1 <= len(lengths) <= min(3, operand.rank):
        raise ShapeError("fft needs fft_type= with FFT, IFFT, RFFT or IRFFT and fft_length= with 1 to 3 lengths")
    half = lengths[-1] // 2 + 1
    expected = (*lengths[:-1], half) if name == "IRFFT" else lengths
    if not same_sizes(operand.dimensions[operand.rank - len(lengths) :], expected):
        raise ShapeError(
            f"{name} of lengths {list(lengths)} takes last dimensions {list(expected)}, found {shown((operand,))}"
        )
    if (operand.element_type in COMPLEX) == (name == "RFFT"):
        wanted = "real" if name == "RFFT" else "complex"
        raise ShapeError(f"{name} takes {wanted} numbers, found {operand.element_type}")
    if name == "RFFT":
        to = "c128" if operand.element_type == "f64" else "c64"
        return ArrayShape(to, (*operand.dimensions[:-1], half))
    if name == "IRFFT":
        return ArrayShape("f64" if operand.element_type == "c128" else "f32", (*operand.dimensions[:-1], lengths[-1]))
    return operand


def cholesky(request: Request) -> Shape:
    """The operand's shape: square matrices in the last two dimensions."""
    operand = request.array(0)
    if operand.rank < 2 or not same_size(operand.dimensions[-1], operand.dimensions[-2]):
        raise ShapeError(f"cholesky takes square matrices, found {shown((operand,))}")
    return operand


def triangular_solve(request: Request) -> Shape:
    """The shape of the right side, whose rows (columns, with the matrix on the right) the matrix fits."""
    matrix, right = request.array(0), request.array(1)
    left_side = "left_side" in request.attributes and request.attributes.flag("left_side")
    if matrix.rank < 2 or matrix.rank != right.rank or not same_size(matrix.dimensions[-1], matrix.dimensions[-2]):
        raise ShapeError(f"triangular-solve takes square matrices and as many dimensions: {shown((matrix, right))}")
    side = -2 if left_side else -1
    if not same_sizes(matrix.dimensions[:-2], right.dimensions[:-2]) or not same_size(
        matrix.dimensions[-1], right.dimensions[side]
    ):
        raise ShapeError(f"the operands of triangular-solve do not fit: {shown((matrix, right))}")
    kind = request.attributes.get("transpose_a")
    if kind is not None and (not isinstance(kind, Word) or kind.text not in _TRANSPOSES):
        raise ShapeError("transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT")
    if not request.same_type(matrix.element_type, right.element_type):
        raise ShapeError(f"triangular-solve of different element types: {shown((matrix, right))}")
    if matrix.element_type[:1] in "sup":
        raise ShapeError(f"triangular-solve of numbers that cannot be divided: {shown((matrix, right))}")
    return right


def rng_bit_generator(request: Request) -> Shape | None:
    """(state, bits) with the bits as declared, or the bits alone."""
    state = request.array(0)
    shape = request.declared
    if isinstance(shape, TupleShape):
        if len(shape.elements) != 2:
            raise ShapeError("rng-bit-generator gives (state, bits)")
        return TupleShape((state.without_layout(), shape.elements[1]))
    if shape is None:
        raise ShapeError("the shape of rng-bit-generator must be written")
    return None


ROWS: Final = """
gather                    | 2    |                      | offset_dims collapsed_slice_dims start_index_map index_vector_dim slice_sizes | operand_batching_dims start_indices_batching_dims indices_are_sorted
scatter                   | 3+   |                      | update_window_dims inserted_window_dims scatter_dims_to_operand_dims index_vector_dim to_apply | input_batching_dims scatter_indices_batching_dims indices_are_sorted unique_indices
cholesky                  | 1    |                      |                                | lower
fft                       | 1    |                      | fft_type fft_length            |
rng-bit-generator         | 1    | source               | algorithm                      |
sort                      | 1+   |                      | dimensions to_apply            | is_stable
topk                      | 1    |                      | k                              | largest is_stable
triangular-solve          | 2    |                      |                                | left_side lower unit_diagonal transpose_a
"""  # noqa: E501
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""

RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    "gather": gather,
    "scatter": scatter,
    "sort": sort,
    "topk": topk,
    "fft": fft,
    "cholesky": cholesky,
    "triangular-solve": triangular_solve,
    "rng-bit-generator": rng_bit_generator,
}
"""Their shapes."""
