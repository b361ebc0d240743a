"""How far a dimension runs through memory without a gap: the facts, and the claims behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.expr import Const, Var, substitute
from models.hlo.shape import ArrayShape
from models.interpreter.expression import evaluate
from models.physical import part_count
from models.tiling import position_expression, position_of
from verify.claim import Verdict
from verify.formula import TRUE, conj, eq, lt
from verify.layout_claims import LayoutClaim, Model, index_box
from verify.layout_judge import JudgedClaim, Prove, judge_one
from verify.obligation import Obligation

_LOOKED_AT = 1 << 16
"""Indices of a dimension that are tried before its run is cut off there: what is said stays true, if not the most."""


@dataclass(frozen=True, slots=True)
class Run:
    """Within each aligned block of `length` indices of a dimension, the next index lies `stride` positions further.

    A dimension is contiguous in memory where the stride is 1; wholly so where `length` is also its size.
    """

    dimension: int
    length: int
    stride: int


def runs(shape: ArrayShape) -> tuple[Run, ...]:
    """One run per dimension of two indices or more. None for split dimensions."""
    if part_count(shape) > 1 or not shape.elements:
        return ()
    return tuple(_run(shape, k) for k, n in enumerate(shape.dimensions) if n > 1)


def _run(shape: ArrayShape, dimension: int) -> Run:
    """Measured where all other indices are 0; that it holds everywhere is a claim."""

    def at(i: int) -> int:
        return position_of(shape, tuple(i if k == dimension else 0 for k in range(shape.rank)))

    size = shape.dimensions[dimension]
    stride, length = at(1), 1
    while length < min(size, _LOOKED_AT) and at(length) == length * stride:
        length += 1
    return Run(dimension, length, stride)


def judged_runs(shape: ArrayShape, prove: Prove) -> tuple[tuple[Run, JudgedClaim], ...]:
    """Each dimension's longest run that is proved, with its claim. Where what was measured does not hold at every index
    (a combined dimension may start in the middle of a tile), a shorter block is tried; a dimension without any is left out."""
    out: list[tuple[Run, JudgedClaim]] = []
    for run in runs(shape):
        judged = judge_one(claim(shape, run), prove)
        while judged.verdict is Verdict.REFUTED and run.length > 1:
            shorter = max(n for n in range(1, run.length // 2 + 1) if run.length % n == 0)
            run = replace(run, length=shorter)
            judged = judge_one(claim(shape, run), prove)
        if run.length > 1:
            out.append((run, judged))
    return tuple(out)


def claim(shape: ArrayShape, run: Run) -> LayoutClaim:
    """That a run holds at every index."""
    position = position_expression(shape)
    d, size = Var(f"d{run.dimension}"), shape.dimensions[run.dimension]
    following = substitute(position, {d.name: d + 1})
    inside = TRUE if run.length == size else lt(d % Const(run.length), run.length - 1)
    direct = Obligation(
        index_box(shape), eq(following, position + run.stride), conj(lt(d, size - 1), inside),
        f"dimension {run.dimension} goes on by {run.stride}",
    )

    def describe(model: Model) -> str:
        at = ", ".join(str(model[f"d{i}"]) for i in range(shape.rank))
        return (
            f"from element [{at}] on, dimension {run.dimension} moves from position {evaluate(position, model)} "
            f"to {evaluate(following, model)}"
        )

    block = "" if run.length == size else f" within each block of {run.length}"
    statement = f"the next index of dimension {run.dimension} lies {run.stride} further{block}"
    return LayoutClaim("contiguous", statement, (direct,), direct, describe)
