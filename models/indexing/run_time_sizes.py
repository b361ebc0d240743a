"""Dimensions whose size is known at run time only (`<=n`), where elements are folded, joined or moved along them.

The elements from the size on are padding and take no part: a reduce leaves them out, a concatenate puts the next
operand in their place, a pad its value. The size of a dimension is a runtime variable that reads the vector of an
operand's sizes, `sizes(operand(n))`, at the number of the dimension; it lies in [0, bound], since a larger one has no
meaning. Elements beyond the size of the result are nobody's. (In XLA: its dynamic padder, and
its inference of dynamic dimensions.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, maximum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import PaddingDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.box import bounds, dynamic_dimensions, plus, times, within
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, boxed, rt, sizes_of


class RunTimeSizes:
    """Runtime variables in the making, of a map whose dims range over `box`: `of(operand, dimension)` gives a size."""

    def __init__(self, op: Operation, box: Sequence[int]) -> None:
        self._op, self._box = op, box
        self._numbers: dict[tuple[int, int], int] = {}

    def of(self, operand: int, dimension: int) -> Expr:
        """The size of a dimension: a number, or a runtime variable where it is dynamic."""
        shape = self._op.operands[operand]
        if dimension not in dynamic_dimensions(shape):
            return Const(bounds(shape)[dimension])
        return rt(self._numbers.setdefault((operand, dimension), len(self._numbers)))

    def done(self) -> tuple[RuntimeVariable, ...]:
        return tuple(
            RuntimeVariable(
                Interval(0, bounds(self._op.operands[operand])[dimension]),
                provider=sizes_of(f"operand({operand})"),
                index=IndexingMap(boxed(self._box), (Const(dimension),)),
            )
            for operand, dimension in self._numbers
        )


def below(e: Expr, size: Expr, bound: int) -> Constraint:
    """e < size, where both lie in [0, bound]."""
    return within(e - size, -bound, -1)


def stretch(p: PaddingDimension, size: Expr) -> Expr:
    """How far the first `size` elements reach with holes between them; nothing for none."""
    return size if not p.interior else maximum(plus(times(size, p.interior + 1), -p.interior), Const(0))


def require_dynamic(op: Operation, dimension: int) -> None:
    """Raises NotModelled where the result is said to have a size that does not depend on the run."""
    if dimension not in dynamic_dimensions(op.shape):
        raise NotModelled(f"{op.opcode} along a dynamic dimension into one of a fixed size")


def with_sizes_used(m: IndexingMap) -> IndexingMap:
    """The map with only those of its runtime variables that a constraint speaks of. Its results speak of none."""
    spoken = frozenset[str]().union(*(c.expr.free for c in m.constraints))
    kept = [k for k in range(len(m.runtime)) if f"rt{k}" in spoken]
    if len(kept) == len(m.runtime):
        return m
    into = {f"rt{k}": rt(j) for j, k in enumerate(kept)}
    constraints = tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints)
    return replace(m, runtime=tuple(m.runtime[k] for k in kept), constraints=constraints)
