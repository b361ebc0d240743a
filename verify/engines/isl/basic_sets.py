"""Rows to isl and back: the context of the process, basic sets of rows, and a point of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import islpy as isl

from hloproof.engines.gave_up import GaveUp
from hloproof.engines.isl.affine_rows import CONSTANT, AffineRow

_MACHINE: Final = 2**63
"""islpy takes integers below this as they are."""


_context: isl.Context | None = None


def context() -> isl.Context:
    """The one isl context of this process."""
    global _context
    if _context is None:
        _context = isl.Context()
        _context.set_on_error(1)  # continue: errors become exceptions, not prints and aborts
    return _context


def basic_set(columns: Sequence[int], rows: Iterable[AffineRow]) -> isl.BasicSet:
    """The basic set of the rows, column i of `columns` at position i."""
    ctx = context()
    position = {c: i for i, c in enumerate(columns)}
    position[CONSTANT] = len(columns)
    space = isl.Space.set_alloc(ctx, 0, len(columns))
    matrices: list[Any] = []
    unique = dict.fromkeys(rows)
    for is_equality in (True, False):
        chosen = [r for r in unique if r.is_equality == is_equality]
        matrix = isl.Mat.alloc(ctx, 0, len(position)).add_zero_rows(len(chosen))
        for i, row in enumerate(chosen):
            for c, v in row.form:
                matrix = matrix.set_element_val(i, position[c], v if abs(v) < _MACHINE else isl.Val(str(v), ctx))
        matrices.append(matrix)
    kind = isl.dim_type
    return isl.BasicSet.from_constraint_matrices(space, *matrices, kind.set, kind.div, kind.param, kind.cst)


def sample_component(rows: list[AffineRow]) -> dict[int, int] | None:
    """An integer point of the rows, by column; None where there is none. isl's errors pass through."""
    columns = sorted({c for r in rows for c in r.columns})
    point = basic_set(columns, rows).sample_point()
    if point.is_void():
        return None
    return {c: integer(point.get_coordinate_val(isl.dim_type.set, i)) for i, c in enumerate(columns)}


def integer(value: isl.Val) -> int:
    """The number as Python has it. Raises GaveUp: writing it out is work that counts, so isl may reach its limit."""
    text: str | None = value.to_str()
    if text is None:
        raise GaveUp("isl stopped within its limit of operations")
    return int(text)
