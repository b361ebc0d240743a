"""Index boxes of shapes, and the maps between boxes that many operations share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.remembered import remembered
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, leaves
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, boxed, dim, rng

Builder = Callable[[Operation, int], tuple[OperandMaps, ...]]
"""From an operation and an output number (or an operand number) to its maps. Raises NotModelled."""


@dataclass(frozen=True, slots=True)
class Builders:
    """The two builders of an opcode."""

    output_to_input: Builder
    input_to_output: Builder


def holds_data(shape: Shape) -> bool:
    """The shape is an array or a buffer: something with elements, unlike a tuple, a token or an opaque value."""
    return isinstance(shape, ArrayShape | BufferShape)


def array(shape: Shape) -> ArrayShape:
    """The array itself, or the array a buffer holds. Raises NotModelled for anything else."""
    if isinstance(shape, BufferShape):
        return shape.inner
    if isinstance(shape, ArrayShape):
        return shape
    raise NotModelled(f"{type(shape).__name__} has no elements to index")


def check_whole(op: Operation) -> None:
    """A permutation of whole arrays. Raises NotModelled for one that moves slices into given arrays."""
    if "slice_sizes" in op.attributes:
        raise NotModelled(f"{op.opcode} of slices, whose operands are source, target, and the offsets in both")


def bounds(shape: Shape) -> tuple[int, ...]:
    """The sizes of an array; dynamic dimensions count with their bound. Raises NotModelled when one is unbounded."""
    sizes = array(shape).dimensions
    if UNBOUNDED in sizes:
        raise NotModelled("unbounded dynamic dimension")
    return sizes


def dynamic_dimensions(shape: Shape) -> frozenset[int]:
    """The numbers of the dynamic dimensions (`<=n`)."""
    return frozenset(i for i, flag in enumerate(array(shape).dynamic) if flag)


def sizes(shape: Shape) -> tuple[int, ...]:
    """The sizes of an array without dynamic dimensions. Raises NotModelled when there are some."""
    if dynamic_dimensions(shape):
        raise NotModelled("dynamic dimension")
    return bounds(shape)


@remembered
def _leaf_shapes(shape: Shape) -> list[Shape]:
    return [leaf for _, leaf in leaves(shape)]


def output_shape(op: Operation, output: int) -> Shape:
    """The shape of output number `output`: the array result, or the n-th array, token ... of the result tuple."""
    found = _leaf_shapes(op.shape)
    if not 0 <= output < len(found):
        raise ValueError(f"{op.opcode} has {len(found)} outputs, there is no output {output}")
    return found[output]


def data_outputs(op: Operation) -> list[tuple[int, ArrayShape]]:
    """Number and shape of every output that has elements."""
    return [(n, array(shape)) for n, (_, shape) in enumerate(leaves(op.shape)) if holds_data(shape)]


def data_operands(op: Operation) -> list[tuple[int, tuple[int, ...], ArrayShape]]:
    """Operand number, tuple position and shape of every array among the operands."""
    return [
        (n, position, array(leaf))
        for n, shape in enumerate(op.operands)
        for position, leaf in leaves(shape)
        if holds_data(leaf)
    ]


def to_scalar(from_sizes: Sequence[int]) -> IndexingMap:
    """(d0, ..., dn) -> (): every element goes with the single element of a rank 0 array."""
    return IndexingMap(boxed(from_sizes), ())


def whole(from_sizes: Sequence[int], to_sizes: Sequence[int]) -> IndexingMap:
    """(d0, ...)[s0, ...] -> (s0, ...): every element goes with every element."""
    ranges = RangeVariables()
    results = tuple(ranges.new(n) for n in to_sizes)
    return IndexingMap(boxed(from_sizes), results, ranges.done())


def one(operand: int, kind: Kind, m: IndexingMap, position: tuple[int, ...] = ()) -> OperandMaps:
    """A set of one map."""
    return OperandMaps(operand, kind, (m,), position)


def plus(e: Expr, constant: int) -> Expr:
    """e + constant, without a term that is zero."""
    return e + constant if constant else e


def times(e: Expr, factor: int) -> Expr:
    """e * factor, without a factor that is one."""
    if isinstance(e, Const):
        return Const(e.value * factor)
    return e * factor if factor != 1 else e


def divided(e: Expr, divisor: int) -> Expr:
    """e floordiv divisor, without a divisor that is one."""
    return e // divisor if divisor != 1 else e


def remainder(e: Expr, divisor: int) -> Expr:
    """e mod divisor; 0 where the divisor is one."""
    return e % divisor if divisor != 1 else Const(0)


def total(terms: Iterable[Expr]) -> Expr:
    """The sum of the terms, zeros left out."""
    out: Expr | None = None
    for e in terms:
        if isinstance(e, Const) and e.value == 0:
            continue
        out = e if out is None else out + e
    return out if out is not None else Const(0)


def linear(index: Sequence[Expr], box: Sequence[int]) -> Expr:
    """The row-major position of `index` in a box of these sizes."""
    return total(times(e, prod(box[i + 1 :])) for i, e in enumerate(index))


def delinear(position: Expr, box: Sequence[int]) -> tuple[Expr, ...]:
    """The index in a box of these sizes at a row-major position that is known to lie inside."""
    digits = [divided(position, prod(box[i + 1 :])) for i in range(len(box))]
    # The position lies inside, so that the first digit needs no remainder.
    return (*digits[:1], *(e % size for e, size in zip(digits[1:], box[1:], strict=True)))


def placed(index: Mapping[int, Expr]) -> tuple[Expr, ...]:
    """An index that is given by the numbers of its dimensions, all of them."""
    return tuple(index[i] for i in range(len(index)))


class RangeVariables:
    """Range variables in the making: `new(size)` gives the next one. Sizes of 1 need none and give 0."""

    def __init__(self) -> None:
        self.variables: list[Variable] = []

    def new(self, size: int) -> Expr:
        """A variable for [0, size - 1]; the constant 0 when the size is 1."""
        if size == 1:
            return Const(0)
        self.variables.append(Variable(Interval.of_size(size)))
        return rng(len(self.variables) - 1)

    def done(self) -> tuple[Variable, ...]:
        return tuple(self.variables)


def narrowed(sizes_of_dims: Sequence[int], intervals: dict[int, Interval]) -> tuple[Variable, ...]:
    """Dims over a box, some of them cut down to an interval."""
    return tuple(
        Variable(Interval.of_size(n).intersect(intervals[i]) if i in intervals else Interval.of_size(n))
        for i, n in enumerate(sizes_of_dims)
    )


def within(e: Expr, lower: int, upper: int) -> Constraint:
    """e in [lower, upper], both inclusive."""
    return Constraint(e, Interval(lower, upper))


def dims(count: int) -> tuple[Expr, ...]:
    """(d0, ..., d<count - 1>)."""
    return tuple(dim(i) for i in range(count))
