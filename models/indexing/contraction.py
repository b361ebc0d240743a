"""Sums of products: dot, scaled dot, ragged dot; and dense linear algebra: fft, cholesky, triangular-solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    bounds,
    divided,
    dynamic_dimensions,
    one,
    placed,
    sizes,
    times,
    total,
    whole,
    within,
)
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, boxed, dim


@dataclass(frozen=True)
class _Side:
    """One side of a dot: its sizes, its batch and contracting dimensions in order, and its free ones."""

    sizes: tuple[int, ...]
    batch: tuple[int, ...]
    contracting: tuple[int, ...]

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(i for i in range(len(self.sizes)) if i not in self.batch and i not in self.contracting)


def _sides(op: Operation) -> tuple[_Side, _Side]:
    if "sparsity" in op.attributes:
        raise NotModelled("sparse dot")
    found = []
    for n, name in enumerate(("lhs", "rhs")):
        contracting = op.attributes.integers(f"{name}_contracting_dims")
        if dynamic_dimensions(op.operands[n]).intersection(contracting):
            raise NotModelled("dot that contracts a dynamic dimension")
        found.append(_Side(bounds(op.operands[n]), op.attributes.integers(f"{name}_batch_dims"), contracting))
    return found[0], found[1]


def _dot_reads(op: Operation, ranges: RangeVariables) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The indices of both sides that an output element reads. Output dimensions are batch, free of lhs, free of rhs."""
    lhs, rhs = _sides(op)
    summed = [ranges.new(lhs.sizes[i]) for i in lhs.contracting]
    batch = len(lhs.batch)
    indices = []
    for side, first_free in ((lhs, batch), (rhs, batch + len(lhs.free))):
        index = {i: dim(position) for position, i in enumerate(side.batch)}
        index |= {i: dim(first_free + position) for position, i in enumerate(side.free)}
        index |= dict(zip(side.contracting, summed, strict=True))
        indices.append(placed(index))
    return indices[0], indices[1]


def dot_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Range variables run over the contracting dimensions, in the order of lhs_contracting_dims."""
    ranges = RangeVariables()
    lhs, rhs = _dot_reads(op, ranges)
    box = boxed(bounds(op.shape))
    return tuple(one(n, "reads", IndexingMap(box, index, ranges.done())) for n, index in enumerate((lhs, rhs)))


def dot_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An element goes to all output elements that differ in the free dimensions of the other side."""
    sides = _sides(op)
    ranges = RangeVariables()
    index = tuple(dim(i) for i in range(len(sides[operand].sizes)))
    results = _dot_output(sides, operand, index, ranges)
    return (one(0, "reads", IndexingMap(boxed(sides[operand].sizes), results, ranges.done())),)


def _dot_output(
    sides: tuple[_Side, _Side], operand: int, index: Sequence[Expr], ranges: RangeVariables
) -> tuple[Expr, ...]:
    """The output index where element `index` of one side goes; new range variables for the free ones of the other."""
    own, other = sides[operand], sides[1 - operand]
    batch = [index[i] for i in own.batch]
    free = [index[i] for i in own.free]
    others = [ranges.new(other.sizes[i]) for i in other.free]
    return tuple([*batch, *free, *others] if operand == 0 else [*batch, *others, *free])


def scaled_dot_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Operands: lhs, rhs, scale of lhs, scale of rhs. One scale element serves a run of operand elements: its index is
    the operand's divided by the ratio of the sizes."""
    ranges = RangeVariables()
    indices = _dot_reads(op, ranges)
    box, found = boxed(bounds(op.shape)), []
    for n, index in enumerate(indices):
        found.append(one(n, "reads", IndexingMap(box, index, ranges.done())))
    for n, shape in enumerate(op.operands[2:]):
        # A scale of rank 0 serves all of the operand.
        if not sizes(shape):
            found.append(one(n + 2, "reads", IndexingMap(box, (), ranges.done())))
            continue
        scaled = tuple(divided(e, ratio) for e, ratio in zip(indices[n], _ratios(op, n), strict=True))
        found.append(one(n + 2, "reads", IndexingMap(box, scaled, ranges.done())))
    return tuple(found)


def scaled_dot_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """A scale element goes where its run of operand elements goes: once for each of the run's contracted ones."""
    if operand < 2:
        return dot_input_to_output(op, operand)
    side, ranges = operand - 2, RangeVariables()
    sides, box = _sides(op), sizes(op.operands[operand])
    if not box:
        index: tuple[Expr, ...] = tuple(ranges.new(n) for n in sides[side].sizes)
    else:
        index = tuple(total((times(dim(i), ratio), ranges.new(ratio))) for i, ratio in enumerate(_ratios(op, side)))
    results = _dot_output(sides, side, index, ranges)
    return (one(0, "reads", IndexingMap(boxed(box), results, ranges.done())),)


def _ratios(op: Operation, side: int) -> tuple[int, ...]:
    operand, scale = sizes(op.operands[side]), sizes(op.operands[2:][side])
    if len(operand) != len(scale) or any(m == 0 or n % m for n, m in zip(operand, scale, strict=True)):
        raise NotModelled("scaled-dot with a scale that does not divide its operand")
    return tuple(n // m for n, m in zip(operand, scale, strict=True))


def ragged_dot_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Which group a row belongs to is decided by operand 2, the group sizes, so all groups may be read: a bound.

    Where the ragged dimension is a batch dimension the sizes play no part, and it is a plain dot.
    """
    lhs, rhs = _sides(op)
    ragged = op.attributes.integers("lhs_ragged_dims")
    if len(ragged) != 1:
        raise NotModelled("ragged-dot with several ragged dimensions")
    if ragged[0] in lhs.batch:
        return *dot_output_to_input(op, output), OperandMaps(2, "reads", ())
    out = sizes(op.shape)
    ranges = RangeVariables()
    groups = op.attributes.integers("rhs_group_dims")
    first = 0
    if ragged[0] in lhs.contracting:
        # Contracted along groups, the result has one matrix for each of them, in a dimension in front.
        if len(out) != len(lhs.batch) + len(lhs.free) + len(rhs.free) + 1:
            raise NotModelled("ragged-dot with an output of another rank")
        first = 1
    summed = [ranges.new(lhs.sizes[i]) for i in lhs.contracting]
    of_lhs: dict[int, Expr] = {}
    of_rhs: dict[int, Expr] = {}
    rhs_free = tuple(i for i in rhs.free if i not in groups)
    for side, index, free, at in (
        (lhs, of_lhs, lhs.free, first + len(lhs.batch)),
        (rhs, of_rhs, rhs_free, first + len(lhs.batch) + len(lhs.free)),
    ):
        for position, i in enumerate(side.batch):
            index[i] = dim(first + position)
        for position, i in enumerate(free):
            index[i] = dim(at + position)
        for e, i in zip(summed, side.contracting, strict=True):
            index[i] = e
    lhs_ranges = ranges.done()
    for i in groups:
        of_rhs[i] = ranges.new(rhs.sizes[i])
    box = boxed(out)
    return (
        one(0, "bound", IndexingMap(box, placed(of_lhs), lhs_ranges)),
        one(1, "bound", IndexingMap(box, placed(of_rhs), ranges.done())),
        one(2, "bound", whole(out, sizes(op.operands[2]))),
    )


def ragged_dot_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """To any place along the free dimensions of the other side. Raises NotModelled for several ragged dimensions."""
    lhs, rhs = _sides(op)
    ragged, groups = op.attributes.integers("lhs_ragged_dims"), op.attributes.integers("rhs_group_dims")
    if len(ragged) != 1:
        raise NotModelled("ragged-dot with several ragged dimensions")
    out, box = sizes(op.shape), sizes(op.operands[operand])
    if ragged[0] in lhs.batch:
        return dot_input_to_output(op, operand) if operand < 2 else (OperandMaps(0, "reads", ()),)
    if operand == 2:
        return (one(0, "bound", whole(box, out)),)
    ranges = RangeVariables()
    first = [ranges.new(out[0])] if ragged[0] in lhs.contracting else []
    own, other = (lhs, rhs) if operand == 0 else (rhs, lhs)
    free = [dim(i) for i in own.free if operand == 0 or i not in groups]
    others = [ranges.new(other.sizes[i]) for i in other.free if operand == 1 or i not in groups]
    batch = [dim(i) for i in own.batch]
    results = [*first, *batch, *free, *others] if operand == 0 else [*first, *batch, *others, *free]
    return (one(0, "bound", IndexingMap(boxed(box), tuple(results), ranges.done())),)


def fft_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The transformed dimensions, the last ones, are read whole."""
    return (one(0, "reads", _lines(sizes(op.shape), sizes(op.operands[0]), len(op.attributes.integers("fft_length")))),)


def fft_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The whole transformed line, box or cube that the element lies in."""
    return (one(0, "reads", _lines(sizes(op.operands[0]), sizes(op.shape), len(op.attributes.integers("fft_length")))),)


def _lines(box: Sequence[int], to: Sequence[int], last: int) -> IndexingMap:
    ranges = RangeVariables()
    results = tuple(dim(i) if i < len(to) - last else ranges.new(n) for i, n in enumerate(to))
    return IndexingMap(boxed(box), results, ranges.done())


def cholesky_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The matrix of the same batch. What stands in the other triangle of the output is not specified: a bound."""
    return (one(0, "bound", _lines(sizes(op.shape), sizes(op.operands[0]), 2)),)


def cholesky_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """Any element of the same matrix: a bound."""
    return (one(0, "bound", _lines(sizes(op.operands[0]), sizes(op.shape), 2)),)


@dataclass(frozen=True)
class _Triangle:
    """How `op(A) X = B` (or `X op(A) = B`) substitutes: `forward` when rows are solved from the first on."""

    left: bool
    forward: bool
    transposed: bool
    unit_diagonal: bool


def _triangle(op: Operation) -> _Triangle:
    kind = op.attributes.get("transpose_a")
    transposed = isinstance(kind, Word) and kind.text in ("TRANSPOSE", "ADJOINT")
    left, lower = op.attributes.flag("left_side"), op.attributes.flag("lower")
    # The transpose of a lower triangle is an upper one; and from the right the columns of X are solved where from the
    # left its rows are, which turns the order round.
    effective_lower = lower != transposed
    return _Triangle(left, effective_lower == left, transposed, op.attributes.flag("unit_diagonal"))


def triangular_solve_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Element X[i, j] of a solve from the left depends on its column of B up to row i (from row i on, when solved
    backwards) and on the entries of the triangle that this substitution uses; from the right likewise with rows."""
    t, out = _triangle(op), sizes(op.shape)
    n, line, other = out[-2] if t.left else out[-1], len(out) - (2 if t.left else 1), len(out) - (1 if t.left else 2)
    ranges = RangeVariables()
    p, q = ranges.new(n), ranges.new(n)
    constraints = [*_not_after(t, p, dim(line), n), *_used(t, p, q, n)]
    batch = tuple(dim(i) for i in range(len(out) - 2))
    of_a = IndexingMap(boxed(out), (*batch, *_entry(t, p, q)), ranges.done(), constraints=tuple(constraints))
    solved = RangeVariables()
    k = solved.new(n)
    # Of the right sides only those that were solved before this one, in its own column.
    column = {**dict(enumerate(batch)), line: k, other: dim(other)}
    of_b = IndexingMap(boxed(out), placed(column), solved.done(), constraints=tuple(_not_after(t, k, dim(line), n)))
    if n == 1 and t.unit_diagonal:
        return OperandMaps(0, "reads", ()), one(1, "reads", of_b)
    return one(0, "reads", of_a), one(1, "reads", of_b)


def triangular_solve_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """A right side to the places of its line that are not solved before it; so an entry of the used triangle."""
    t, out = _triangle(op), sizes(op.shape)
    n, line, other = out[-2] if t.left else out[-1], len(out) - (2 if t.left else 1), len(out) - (1 if t.left else 2)
    box = sizes(op.operands[operand])
    ranges = RangeVariables()
    row = ranges.new(n)
    place = {**{i: dim(i) for i in range(len(out) - 2)}, line: row}
    if operand == 1:
        place[other] = dim(other)
        constraints = _not_after(t, dim(line), row, n)
    else:
        place[other] = ranges.new(out[other])
        p, q = _entry(t, dim(len(box) - 2), dim(len(box) - 1))
        constraints = [*_not_after(t, p, row, n), *_used(t, p, q, n)]
        if n == 1 and t.unit_diagonal:
            return (OperandMaps(0, "reads", ()),)
    return (one(0, "reads", IndexingMap(boxed(box), placed(place), ranges.done(), constraints=tuple(constraints))),)


def _entry(t: _Triangle, p: Expr, q: Expr) -> tuple[Expr, Expr]:
    """Where A holds the coefficient with which unknown q enters equation p: `op(A)[p, q]` from the left, `op(A)[q, p]`
    from the right. Its own inverse."""
    return (q, p) if t.transposed == t.left else (p, q)


def _not_after(t: _Triangle, earlier: Expr, later: Expr, n: int) -> list[Constraint]:
    """`earlier` is solved before `later` or is `later`, of n unknowns."""
    if n == 1:
        return []
    return [within(later - earlier, 0, n - 1) if t.forward else within(earlier - later, 0, n - 1)]


def _used(t: _Triangle, p: Expr, q: Expr, n: int) -> list[Constraint]:
    """Unknown q of n enters equation p: it is solved earlier, or is p itself unless the diagonal is one by
    definition."""
    if n == 1:
        return []
    nearest = 1 if t.unit_diagonal else 0
    return [within(p - q if t.forward else q - p, nearest, n - 1)]


BUILDERS: Final[Mapping[str, Builders]] = {
    "cholesky": Builders(cholesky_output_to_input, cholesky_input_to_output),
    "dot": Builders(dot_output_to_input, dot_input_to_output),
    "fft": Builders(fft_output_to_input, fft_input_to_output),
    "ragged-dot": Builders(ragged_dot_output_to_input, ragged_dot_input_to_output),
    "scaled-dot": Builders(scaled_dot_output_to_input, scaled_dot_input_to_output),
    "triangular-solve": Builders(triangular_solve_output_to_input, triangular_solve_input_to_output),
}
"""By opcode, both directions."""
