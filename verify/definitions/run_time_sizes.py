"""The sizes of dynamic dimensions, as runtime variables of a definition. What lies beyond a size is no element."""

from __future__ import annotations

from hloproof.definitions.definition import RuntimeRead
from hloproof.definitions.variables import operand_array, r
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape


class SizesRead:
    """The sizes that a definition speaks of: r0.. in the order in which they are asked for."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self._reads: list[RuntimeRead] = []

    def size(self, operand: int, dimension: int) -> Expr:
        """The size of a dimension: a number where it is static."""
        shape = operand_array(self._op, operand)
        if not is_dynamic(shape, dimension):
            return Const(shape.dimensions[dimension])
        read = RuntimeRead(operand, (Const(dimension),), Interval(0, shape.dimensions[dimension]), of_sizes=True)
        if read not in self._reads:
            self._reads.append(read)
        return r(self._reads.index(read))

    @property
    def reads(self) -> tuple[RuntimeRead, ...]:
        return tuple(self._reads)


def is_dynamic(shape: ArrayShape, dimension: int) -> bool:
    """Whether the size of the dimension is known at run time only; the shape then has its bound."""
    return bool(shape.dynamic) and shape.dynamic[dimension]


def require_dynamic(what: str, shape: ArrayShape, dimension: int) -> None:
    """The result has a dynamic size where it depends on one. Raises NotModelled otherwise."""
    if not is_dynamic(shape, dimension):
        raise NotModelled(f"{what} into the fixed size of dimension {dimension}")
