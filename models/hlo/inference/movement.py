"""Shapes of operations that move elements: broadcast, reshape, transpose, slices, pad, concatenate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.inference.common import INTEGERS, Request, ShapeError, same_size, same_sizes, shown
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, Shape
from hloproof.models.hlo.text.shapes import print_shape


def broadcast(request: Request) -> Shape:
    """`dimensions[i]` is where operand dimension i goes; sizes agree there, or the operand's is 1."""
    operand, result = request.array(0), request.declared_array()
    dimensions = request.dimensions(result.rank)
    if len(dimensions) != operand.rank:
        raise ShapeError(f"broadcast of an operand of {operand.rank} dimensions names {len(dimensions)} in dimensions=")
    for i, target in enumerate(dimensions):
        size = operand.dimensions[i]
        if size != 1 and not same_size(size, result.dimensions[target]):
            raise ShapeError(
                f"broadcast puts operand dimension {i} of {size} elements into dimension {target} of "
                f"{result.dimensions[target]} elements"
            )
    return ArrayShape(operand.element_type, result.dimensions)


def _same_count(operand: ArrayShape, result: ArrayShape) -> None:
    if UNBOUNDED not in operand.dimensions + result.dimensions and operand.elements != result.elements:
        raise ShapeError(
            f"expects the same number of elements in result shape {print_shape(result)} and operand shape "
            f"{print_shape(operand)}, found {result.elements} and {operand.elements}"
        )


def reshape(request: Request) -> Shape:
    """As declared, with as many elements as the operand and its element type."""
    operand, result = request.array(0), request.declared_array()
    _same_count(operand, result)
    return ArrayShape(operand.element_type, result.dimensions)


def dynamic_reshape(request: Request) -> Shape:
    """As `reshape`, with a scalar operand for the size of each result dimension."""
    operand, result = request.array(0), request.declared_array()
    sizes = len(request.operands) - 1
    if sizes != result.rank:
        raise ShapeError(
            f"expects one dim size operand per result dimension; got {sizes} for {result.rank} result dimensions"
        )
    _same_count(operand, result)
    return ArrayShape(operand.element_type, result.dimensions)


def transpose(request: Request) -> Shape:
    """Result dimension i is operand dimension `dimensions[i]`."""
    operand = request.array(0)
    order = request.dimensions(operand.rank)
    if len(order) != operand.rank:
        raise ShapeError(f"transpose of {operand.rank} dimensions needs all of them in dimensions=, found {len(order)}")
    return ArrayShape(operand.element_type, tuple(operand.dimensions[d] for d in order))


def reverse(request: Request) -> Shape:
    """The operand's shape."""
    operand = request.array(0)
    request.dimensions(operand.rank)
    return operand


def slice_(request: Request) -> Shape:
    """ceil((limit - start) / stride) elements in each dimension, with 0 <= start <= limit <= size."""
    operand = request.array(0)
    ranges = request.attributes.get("slice")
    if not isinstance(ranges, tuple) or len(ranges) != operand.rank:
        count = len(ranges) if isinstance(ranges, tuple) else 0
        raise ShapeError(f"slice of {operand.rank} dimensions needs as many ranges in slice=, found {count}")
    sizes: list[int] = []
    for i, part in enumerate(ranges):
        assert isinstance(part, SliceDimension)
        size = operand.dimensions[i]
        if part.stride < 1:
            raise ShapeError(f"the stride {part.stride} of slice in dimension {i} is not positive")
        if part.start < 0 or part.limit < part.start or (size != UNBOUNDED and part.limit > size):
            raise ShapeError(
                f"the range [{part.start}:{part.limit}] of slice is out of bounds in dimension {i}, which has "
                f"{size} elements"
            )
        sizes.append(-(-(part.limit - part.start) // part.stride))
    return ArrayShape(operand.element_type, tuple(sizes))


def _check_starts(request: Request, first: int, rank: int) -> None:
    """Start indices are `rank` scalars, or one vector of `rank` elements in older text."""
    starts = [request.array(i) for i in range(first, len(request.operands))]
    for start in starts:
        if start.element_type not in INTEGERS:
            raise ShapeError(f"start indices of {request.opcode} are integers, found {start.element_type}")
        if start.element_type != starts[0].element_type:
            raise ShapeError(f"start indices of {request.opcode} are of one type: {shown((starts[0], start))}")
    if len(starts) == 1 and starts[0].rank == 1:
        if not same_sizes(starts[0].dimensions, (rank,)):
            raise ShapeError(f"{request.opcode} of {rank} dimensions needs as many start indices")
    elif len(starts) != rank or any(s.rank for s in starts):
        raise ShapeError(
            f"{request.opcode} of {rank} dimensions needs as many scalar start indices, found {shown(starts)}"
        )


def dynamic_slice(request: Request) -> Shape:
    """`dynamic_slice_sizes`, none larger than the operand's."""
    operand = request.array(0)
    _check_starts(request, 1, operand.rank)
    sizes = request.integers("dynamic_slice_sizes")
    if len(sizes) != operand.rank:
        raise ShapeError(f"dynamic-slice of {operand.rank} dimensions needs as many dynamic_slice_sizes")
    for i, (size, bound) in enumerate(zip(sizes, operand.dimensions, strict=True)):
        if size < 0 or (bound != UNBOUNDED and size > bound):
            raise ShapeError(f"dynamic-slice takes {size} elements of dimension {i}, which has {bound}")
    return ArrayShape(operand.element_type, sizes)


def dynamic_update_slice(request: Request) -> Shape:
    """The operand's shape; the update is not larger in any dimension."""
    operand, update = request.array(0), request.array(1)
    _check_starts(request, 2, operand.rank)
    if update.rank != operand.rank or not request.same_type(update.element_type, operand.element_type):
        raise ShapeError(f"the update of dynamic-update-slice does not fit the operand: {shown((update, operand))}")
    for i, (size, bound) in enumerate(zip(update.dimensions, operand.dimensions, strict=True)):
        if bound != UNBOUNDED and size > bound:
            raise ShapeError(f"dynamic-update-slice writes {size} elements of dimension {i}, which has {bound}")
    return operand


def pad(request: Request) -> Shape:
    """low + n + max(n - 1, 0) * interior + high elements in a dimension of n; low and high may be negative."""
    operand, value = request.array(0), request.array(1)
    if value.dimensions or not request.same_type(value.element_type, operand.element_type):
        raise ShapeError(f"the padding value is a scalar of the operand's element type: {shown((operand, value))}")
    padding = request.attributes.get("padding")
    if not isinstance(padding, tuple) or len(padding) != operand.rank:
        raise ShapeError(f"pad of {operand.rank} dimensions needs as many in padding=")
    sizes: list[int] = []
    for i, part in enumerate(padding):
        assert isinstance(part, PaddingDimension)
        size = operand.dimensions[i]
        if part.interior < 0:
            raise ShapeError(f"the interior padding {part.interior} of dimension {i} is negative")
        if size == UNBOUNDED:
            sizes.append(UNBOUNDED)
            continue
        padded = size + part.low + part.high + max(size - 1, 0) * part.interior
        if padded < 0:
            raise ShapeError(f"pad leaves {padded} elements of dimension {i}")
        sizes.append(padded)
    return ArrayShape(operand.element_type, tuple(sizes))


def concatenate(request: Request) -> Shape:
    """The sum of the sizes along one dimension; in the others the sizes are equal."""
    operands = request.arrays()
    first = operands[0]
    dimension = request.one_dimension(first.rank)
    total = 0
    for operand in operands:
        if operand.rank != first.rank or not request.same_type(operand.element_type, first.element_type):
            raise ShapeError(f"concatenate of different kinds of array: {shown((first, operand))}")
        for i, (a, b) in enumerate(zip(first.dimensions, operand.dimensions, strict=True)):
            if i != dimension and not same_size(a, b):
                raise ShapeError(f"concatenate along dimension {dimension} of {shown((first, operand))}")
        size = operand.dimensions[dimension]
        total = UNBOUNDED if UNBOUNDED in (size, total) else total + size
    sizes = list(first.dimensions)
    sizes[dimension] = total
    return ArrayShape(first.element_type, tuple(sizes))


def bitcast(request: Request) -> Shape | None:
    """Without the layouts nothing is known but that both are arrays; what it claims about bits is proved elsewhere."""
    if isinstance(request.operands[0], ArrayShape):
        request.declared_array()
    elif request.declared is None:
        raise ShapeError("the shape of bitcast must be written")
    return None


def get_dimension_size(request: Request) -> Shape:
    """s32[]."""
    request.one_dimension(request.array(0).rank)
    return ArrayShape("s32")


def set_dimension_size(request: Request) -> Shape:
    """The operand's shape; the size is s32[]."""
    operand, size = request.array(0), request.array(1)
    request.one_dimension(operand.rank)
    if size.dimensions or size.element_type != "s32":
        raise ShapeError(f"the size of set-dimension-size is s32[], found {print_shape(size)}")
    return operand


ROWS: Final = """
bitcast                   | 1    |                      |                                |
broadcast                 | 1    |                      |                                | dimensions
concatenate               | 1+   |                      | dimensions                     |
dynamic-reshape           | 1+   |                      |                                |
dynamic-slice             | 1+   |                      | dynamic_slice_sizes            |
dynamic-update-slice      | 2+   |                      |                                |
get-dimension-size        | 1    |                      | dimensions                     |
pad                       | 2    |                      | padding                        |
reshape                   | 1    |                      |                                | inferred_dimension
reverse                   | 1    |                      | dimensions                     |
set-dimension-size        | 2    |                      | dimensions                     |
slice                     | 1    |                      | slice                          |
transpose                 | 1    |                      | dimensions                     |
"""
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""

RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    "broadcast": broadcast,
    "reshape": reshape,
    "dynamic-reshape": dynamic_reshape,
    "transpose": transpose,
    "reverse": reverse,
    "slice": slice_,
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "pad": pad,
    "concatenate": concatenate,
    "bitcast": bitcast,
    "get-dimension-size": get_dimension_size,
    "set-dimension-size": set_dimension_size,
}
"""Their shapes."""
