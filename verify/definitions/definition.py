"""The form of a definition: which operand elements an output element reads, as a predicate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hloproof.logic.formula import TRUE, Formula
from hloproof.models.expressions.expr import Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation

Kind = Literal["moves", "reads", "bound"]


@dataclass(frozen=True, slots=True)
class RuntimeRead:
    """Runtime variable `r<k>` of a predicate: element `index` (over d0.. and x0..) of operand `operand`, clamped into
    `interval` where `clamped`, else unclamped and `interval` holds all values of its type (the operation drops what is
    out of bounds). With `of_sizes` what is read is the vector of the operand's sizes, one for each dimension."""

    operand: int
    index: tuple[Expr, ...]
    interval: Interval
    clamped: bool = True
    of_sizes: bool = False
    held: Interval | None = None
    """The values that the element can hold, by its type; None where any number is taken into account."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Output element d0.. of one output reads operand element x0.. exactly when, for some values of the iteration
    variables w0.. in their intervals, `predicate` holds. Each iteration point counts as one read (multiplicity).

    `d` ranges over the box `output_sizes`, `x` over `operand_sizes`, `r<k>` over the interval of its read. For
    collectives, `q` is the position in the reader's group of the device read and `p` that of the reader itself; the
    predicate may speak of both.
    """

    kind: Kind
    output_sizes: tuple[int, ...]
    operand_sizes: tuple[int, ...]
    predicate: Formula
    iteration: tuple[tuple[str, Interval], ...] = ()
    runtime: tuple[RuntimeRead, ...] = ()
    group_size: int = 0
    """Devices per group where the operand is another device's; 0 where it is the own one."""
    assumptions: tuple[str, ...] = ()
    exists: Formula = TRUE
    """Which output elements there are: along a dynamic dimension those before its size."""
    multiplicity: bool = True
    """False where how often an element is read is not observable (an init value, a whole-operand read)."""


Define = Callable[[Operation, int, int], Definition]
"""Operation, output number, operand number."""
DefineInTuple = Callable[[Operation, int, int, tuple[int, ...]], Definition]
"""The same, and where in the operand's tuple the array lies."""
