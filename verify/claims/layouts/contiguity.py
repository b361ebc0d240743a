"""How far a dimension runs through memory without a gap: the facts, and the claims behind them."""

from __future__ import annotations

from dataclasses import dataclass

from hloproof.claims.layouts.claims import LayoutClaim, Model, index_box
from hloproof.claims.layouts.judge import JudgedClaim, first_counterexample, judge_one
from hloproof.engines.door import Prove
from hloproof.logic.formula import TRUE, conj, eq, lt
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Var, substitute
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.physical import part_count
from hloproof.models.layouts.tiling import position_expression, position_of
from hloproof.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ContiguousRun:
    """Within each aligned block of `length` indices of a dimension, the next index lies `stride` positions further.

    A dimension is contiguous in memory where the stride is 1; wholly so where `length` is also its size.
    """

    dimension: int
    length: int
    stride: int

    def bits(self, element: int) -> int:
        """Bits that can move at once along the dimension: the run's where it is contiguous, else one element's."""
        return self.length * element if self.stride == 1 else element


def judged_runs(shape: ArrayShape, prove: Prove) -> tuple[tuple[ContiguousRun, JudgedClaim], ...]:
    """The longest run that is proved, with its claim, of each dimension of two indices or more.

    A dimension without one is left out (a combined dimension may start in the middle of a tile), and so is one where no
    engine answers. Nothing for split dimensions.
    """
    if part_count(shape) > 1 or not shape.elements:
        return ()
    found = (_longest(shape, k, prove) for k, n in enumerate(shape.dimensions) if n > 1)
    return tuple(f for f in found if f is not None)


def _longest(shape: ArrayShape, dimension: int, prove: Prove) -> tuple[ContiguousRun, JudgedClaim] | None:
    """The whole dimension is tried first, then what the smallest counterexample leaves of it."""
    stride = position_of(shape, tuple(int(k == dimension) for k in range(shape.rank)))
    length = shape.dimensions[dimension]
    while length > 1:
        run = ContiguousRun(dimension, length, stride)
        asked = claim(shape, run)
        judged = judge_one(asked, prove)
        if judged.found.verdict is Verdict.UNKNOWN:
            return None
        if judged.found.verdict is not Verdict.REFUTED:
            return run, judged
        assert asked.direct is not None
        broken = first_counterexample(asked.direct, prove(asked.direct), prove)
        before = dict(broken.model)[f"d{dimension}"] + 1
        # What the smallest counterexample leaves is the longest candidate; where it cuts nothing off, the next smaller
        # divisor is tried, so that the loop ends.
        length = before if before < length else max(n for n in range(1, length // 2 + 1) if length % n == 0)
    return None


def claim(shape: ArrayShape, run: ContiguousRun) -> LayoutClaim:
    """That a run holds at every index."""
    position = position_expression(shape)
    d, size = Var(f"d{run.dimension}"), shape.dimensions[run.dimension]
    following = substitute(position, {d.name: d + 1})
    inside = TRUE if run.length == size else lt(d % Const(run.length), run.length - 1)
    box = sorted(index_box(shape), key=lambda v: v[0] != d.name)  # what it is about first, to be made smallest first
    direct = Obligation(
        tuple(box),
        eq(following, position + run.stride),
        conj(lt(d, size - 1), inside),
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
