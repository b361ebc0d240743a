"""The variables that predicates speak of, and the array shapes that they range over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hloproof.logic.formula import TRUE, Formula, conj, eq
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, ShapeIndex, TupleShape, leaves

SOURCE_POSITION = Var("q")
"""Collectives: the position in the reader's group of the device that is read."""
OWN_POSITION = Var("p")
"""Collectives: the position of the reader in its own group."""


def d(i: int) -> Expr:
    """Coordinate i of the output element."""
    return Var(f"d{i}")


def x(j: int) -> Expr:
    """Coordinate j of the operand element."""
    return Var(f"x{j}")


def r(k: int) -> Expr:
    """The k-th value read at run time."""
    return Var(f"r{k}")


_ARRAYS: list[tuple[Shape, list[tuple[tuple[int, ...], ArrayShape]]]] = []
"""The tuple shapes asked about last; tuples of a thousand arrays are asked about a thousand times."""


def arrays_of(shape: Shape) -> list[tuple[tuple[int, ...], ArrayShape]]:
    """The arrays inside a shape, each with its tuple position, in order. Outputs are numbered so."""
    if isinstance(shape, ArrayShape):
        return [((), shape)]
    if isinstance(shape, BufferShape):
        return [((), shape.inner)]
    for known, found in _ARRAYS:
        if known is shape:
            return found
    found = [(at, held) for at, leaf in leaves(shape) if (held := array_in(leaf)) is not None]
    _ARRAYS.insert(0, (shape, found))
    del _ARRAYS[8:]
    return found


def array_at(shape: Shape, position: ShapeIndex) -> ArrayShape | None:
    """The array at a position, as `arrays_of` lists it; None where it lists none."""
    for i in position:
        if not isinstance(shape, TupleShape) or not 0 <= i < len(shape.elements):
            return None
        shape = shape.elements[i]
    return array_in(shape)


def array_in(leaf: Shape) -> ArrayShape | None:
    """The array that a leaf of a shape is, or that a buffer holds; None for tokens and opaque values."""
    if isinstance(leaf, BufferShape):
        return leaf.inner
    return leaf if isinstance(leaf, ArrayShape) else None


def output_array(op: Operation, output: int) -> ArrayShape:
    """Output number `output`: outputs count the arrays of the result in order.

    Raises NotModelled where there is no such output or its size is not known.
    """
    found = arrays_of(op.shape)
    if not 0 <= output < len(found):
        raise NotModelled(f"{op.opcode} has no output {output}")
    return array(found[output][1], f"output {output} of {op.opcode}")


def operand_array(op: Operation, operand: int, position: tuple[int, ...] = ()) -> ArrayShape:
    """The array that an operand is, or that lies at a position of its tuple. Raises NotModelled where there is none."""
    if not 0 <= operand < len(op.operands):
        raise NotModelled(f"{op.opcode} has no operand {operand}")
    shape = op.operands[operand]
    for i in position:
        if not isinstance(shape, TupleShape) or not 0 <= i < len(shape.elements):
            raise NotModelled(f"operand {operand} of {op.opcode} has no element {position}")
        shape = shape.elements[i]
    return array(shape, f"operand {operand} of {op.opcode}")


def array(shape: Shape, what: str) -> ArrayShape:
    """The array itself, or the array a buffer holds; `what` names it. Raises NotModelled for anything else, and for one
    with an unbounded dimension."""
    shape = shape.inner if isinstance(shape, BufferShape) else shape
    if not isinstance(shape, ArrayShape):
        raise NotModelled(f"{what} is no array")
    if UNBOUNDED in shape.dimensions:
        raise NotModelled(f"{what} has an unbounded dimension")
    return shape


def require_static(what: str, shape: ArrayShape, dimensions: Iterable[int] | None = None) -> None:
    """These dimensions (None: all) have sizes known at compile time. Raises NotModelled otherwise."""
    for i in range(shape.rank) if dimensions is None else dimensions:
        if shape.dynamic and shape.dynamic[i]:
            raise NotModelled(f"{what} over the dynamic dimension {i}")


def identity(rank: int) -> Formula:
    """Output and operand element have the same coordinates."""
    return conj(*(eq(d(i), x(i)) for i in range(rank))) if rank else TRUE


def linear(coordinates: Sequence[Expr], sizes: Sequence[int]) -> Expr:
    """The row-major position of an element, first coordinate slowest. Dimensions of one element contribute nothing."""
    total: Expr | None = None
    stride = 1
    for coordinate, size in zip(reversed(coordinates), reversed(sizes), strict=True):
        if size != 1:
            term = coordinate if stride == 1 else coordinate * stride
            total = term if total is None else term + total
        stride *= size
    return Const(0) if total is None else total


def values_of(integers: ArrayShape) -> Interval | None:
    """All values of the element type; None where it is no integer."""
    kind, bits = integers.element_type[:1], integers.element_type[1:]
    if kind not in "su" or not bits.isdecimal():
        return None
    n = int(bits)
    return Interval(0, 2**n - 1) if kind == "u" else Interval(-(2 ** (n - 1)), 2 ** (n - 1) - 1)
