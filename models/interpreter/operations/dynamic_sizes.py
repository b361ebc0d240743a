"""Arrays whose size is known at run time only: held at the size that they have, without their padding.

An operation on them is that operation on arrays of these sizes. What the size of its result is follows from the sizes
of the operands; an operation that is not listed here is not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import PaddingDimension
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Value, flat_index, indices, strides

_Operation = Callable[[Step], Value]

_HANDED_ON: Final = frozenset(
    {"add-dependency", "after-all", "copy", "domain", "get-dimension-size", "get-tuple-element", "opt-barrier"}
    | {"outfeed", "set-dimension-size", "tuple"}
)
"""Operations that do not look at the shape of the result."""


def has_dynamic_sizes(shapes: Sequence[Shape]) -> bool:
    """Whether an array among the shapes or inside of them has a dimension whose size is known at run time only."""
    return any(isinstance(leaf, ArrayShape) and leaf.is_dynamic for s in shapes for _, leaf in leaves(s))


def at_actual_sizes(step: Step, operation: _Operation) -> Value:
    """The operation on arrays of the sizes that they have. Raises NotModelled."""
    i = step.instruction
    if i.opcode in _HANDED_ON:
        return operation(step)
    operands = step.arrays()
    shapes = tuple(_with_sizes(s, x.sizes) for s, x in zip(step.operand_shapes, operands, strict=True))
    sizes = _result_sizes(step, operands)
    if any(n < 0 for n in sizes):
        raise NotModelled(f"{i.opcode} that cuts away more than there is")
    shape: Shape
    if isinstance(i.shape, TupleShape):
        shape = TupleShape(tuple(_with_sizes(s, sizes) for s in i.shape.elements))
    else:
        shape = _with_sizes(i.shape, sizes)
    return operation(replace(step, instruction=replace(i, shape=shape), operand_shapes=shapes))


def _with_sizes(shape: Shape, sizes: tuple[int, ...]) -> Shape:
    if not isinstance(shape, ArrayShape):
        raise NotModelled("a dynamic dimension inside of a tuple")
    fits = len(sizes) == shape.rank and all(
        n <= bound and (n == bound or bool(shape.dynamic and shape.dynamic[k]))
        for k, (n, bound) in enumerate(zip(sizes, shape.dimensions, strict=True))
    )
    if not fits:
        raise NotModelled(f"sizes {sizes} for {shape.dimensions}")
    return replace(shape, dimensions=sizes, dynamic=(), layout=None)


def _result_sizes(step: Step, operands: Sequence[Array]) -> tuple[int, ...]:
    i = step.instruction
    if not operands:
        raise NotModelled(f"{i.opcode} of a size that is known at run time only")
    first = operands[0].sizes
    match i.opcode:
        case opcode if opcode in ELEMENTWISE:
            found = {x.sizes for x in operands if x.sizes} or {()}
            if len(found) > 1:
                raise NotModelled(f"{i.opcode} of arrays of different sizes")
            return found.pop()
        case "transpose":
            return tuple(first[d] for d in i.attributes.integers("dimensions"))
        case "broadcast":
            sizes = list(step.shape.dimensions)
            for d, n in zip(i.attributes.integers("dimensions"), first, strict=True):
                sizes[d] = n
            return tuple(sizes)
        case "reduce":
            gone = i.attributes.integers("dimensions")
            return tuple(n for d, n in enumerate(first) if d not in gone)
        case "concatenate":
            (axis,) = i.attributes.integers("dimensions")
            return tuple(sum(x.sizes[d] for x in operands) if d == axis else n for d, n in enumerate(first))
        case "pad":
            padding = i.attributes.get("padding")
            parts = [p for p in padding if isinstance(p, PaddingDimension)] if isinstance(padding, tuple) else []
            return tuple(n + max(n - 1, 0) * p.interior + p.low + p.high for n, p in zip(first, parts, strict=True))
    raise NotModelled(f"{i.opcode} of an array whose size is known at run time only")


def get_dimension_size(step: Step) -> Value:
    """The size as it is at run time, as s32[]."""
    (axis,) = step.attributes.integers("dimensions")
    return step.result([step.scalars.constant("s32", step.array(0).sizes[axis])])


def set_dimension_size(step: Step) -> Value:
    """The first elements along the dimension. Raises NotModelled for a size beyond what there is."""
    x, size = step.array(0), step.scalars.integer(step.array(1).data[0])
    (axis,) = step.attributes.integers("dimensions")
    if not 0 <= size <= x.sizes[axis]:
        raise NotModelled(f"the size {size} of a dimension of {x.sizes[axis]}")
    sizes = tuple(size if d == axis else n for d, n in enumerate(x.sizes))
    steps = strides(x.sizes)
    return Array(x.element_type, sizes, [x.data[flat_index(at, steps)] for at in indices(sizes)])


EXECUTIONS: Final[Mapping[str, Execute]] = {
    "get-dimension-size": get_dimension_size,
    "set-dimension-size": set_dimension_size,
}
"""By opcode."""
