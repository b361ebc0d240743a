"""Operations that depend on whole lines of their operands: sorting, scans, transforms, solvers, statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.definitions.definition import Define, Definition, Kind
from hloproof.definitions.variables import arrays_of, d, identity, operand_array, output_array, require_static, x
from hloproof.logic.formula import FALSE, TRUE, Formula, conj, eq, le, lt
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Operation


def sort(op: Operation, output: int, operand: int) -> Definition:
    """Where an element ends up depends on the whole line along the dimension, of all operands that are compared:
    operand k is parameters 2k and 2k + 1 of the comparator."""
    out, into = output_array(op, output), operand_array(op, operand)
    (axis,) = op.attributes.integers("dimensions")
    require_static("sort", into, (axis,))
    # A payload that the comparator does not look at follows the others and moves nothing.
    if op.uses is not None and operand != output and op.uses[0].isdisjoint({2 * operand, 2 * operand + 1}):
        return Definition("reads", out.dimensions, into.dimensions, FALSE)
    return _lines(out.dimensions, into.dimensions, (axis,))


def topk(op: Operation, output: int, operand: int) -> Definition:
    """The k largest or smallest of a line along the last dimension, and where they were."""
    out, into = output_array(op, output), operand_array(op, operand)
    require_static("topk", into, (into.rank - 1,))
    return _lines(out.dimensions, into.dimensions, (into.rank - 1,))


def fft(op: Operation, output: int, operand: int) -> Definition:
    """Each element depends on all elements along the transformed dimensions, which are the last ones."""
    out, into = output_array(op, output), operand_array(op, operand)
    count = len(op.attributes.integers("fft_length"))
    if not 1 <= count <= into.rank:
        raise NotModelled("fft without fft_length")
    require_static("fft", into)
    return _lines(out.dimensions, into.dimensions, range(into.rank - count, into.rank))


def _lines(output: tuple[int, ...], operand: tuple[int, ...], free: Sequence[int]) -> Definition:
    """All elements that agree outside the free dimensions."""
    parts = [eq(x(i), d(i)) for i in range(len(operand)) if i not in free]
    return Definition("reads", output, operand, conj(*parts))


def scan(op: Operation, output: int, operand: int) -> Definition:
    """Element i along the dimension depends on elements 0 to i of every input (on i and later ones when reversed, on i
    alone without carries) and on the initial carries; the final carries depend on whole lines, or are the initial ones
    where there are no slices. Outputs come before carries, inputs before initial
    carries. The body sees whole slices, so across the other dimensions only a bound is known."""
    (axis,) = op.attributes.integers("dimensions")
    carries = op.attributes.integer("num_carries", 0)
    out, into = output_array(op, output), operand_array(op, operand)
    initial = operand >= len(op.operands) - carries
    is_carry = output >= len(arrays_of(op.shape)) - carries
    for n in range(len(op.operands) - carries):
        require_static("scan", operand_array(op, n))
    # Over scalars a slice is one element; a body over longer slices may read any part of them, which only the body
    # tells.
    kind: Kind = "reads" if operand_array(op, 0).rank == 1 else "bound"
    if is_carry and operand_array(op, 0).dimensions[axis] == 0:
        own = len(op.operands) - operand == len(arrays_of(op.shape)) - output
        return Definition("moves", out.dimensions, into.dimensions, identity(out.rank) if own else FALSE)
    if initial or is_carry:
        return Definition(kind, out.dimensions, into.dimensions, TRUE)
    if not carries:
        return Definition(kind, out.dimensions, into.dimensions, eq(x(axis), d(axis)))
    order = le(d(axis), x(axis)) if op.attributes.flag("is_reverse") else le(x(axis), d(axis))
    return Definition(kind, out.dimensions, into.dimensions, order)


def cholesky(op: Operation, output: int, operand: int) -> Definition:
    """With lower: row i, column j of the result depends on the rows up to j of the lower triangle, and on row i up to
    column j. What stands in the other triangle of the result is unspecified, and so is what it reads: only a bound."""
    out, into = output_array(op, output), operand_array(op, operand)
    require_static("cholesky", into)
    return Definition("bound", out.dimensions, into.dimensions, conj(*(eq(x(i), d(i)) for i in range(out.rank - 2))))


def triangular_solve(op: Operation, output: int, operand: int) -> Definition:
    """Solves a x = b (left) or x a = b for triangular a, possibly transposed, along lines of b.

    Substitution goes through the triangle in one order: element i of a line depends on the elements of b that come
    before it in that order and on the triangle between them, its diagonal included unless it is taken to be one.
    """
    out, into = output_array(op, output), operand_array(op, operand)
    require_static("triangular-solve", into)
    left, lower = op.attributes.flag("left_side"), op.attributes.flag("lower")
    transpose = op.attributes.get("transpose_a")
    turned = isinstance(transpose, Word) and transpose.text in ("TRANSPOSE", "ADJOINT")
    # Row i of op(a) x = b needs x at the columns below i where op(a) is lower; x op(a) = b is its transpose.
    ascending = (lower != turned) == left
    last = out.rank - 1
    line, other = (last - 1, last) if left else (last, last - 1)
    batch: list[Formula] = [eq(x(i), d(i)) for i in range(out.rank - 2)]
    if operand == 1:
        reach = le(x(line), d(line)) if ascending else le(d(line), x(line))
        return Definition("reads", out.dimensions, into.dimensions, conj(*batch, eq(x(other), d(other)), reach))
    row, column = x(last - 1), x(last)
    first, second = (column, row) if lower else (row, column)  # the stored triangle: first <= second
    strict = op.attributes.flag("unit_diagonal")
    triangle = lt(first, second) if strict else le(first, second)
    far = second if ascending else first
    reach = le(far, d(line)) if ascending else le(d(line), far)
    return Definition("reads", out.dimensions, into.dimensions, conj(*batch, triangle, reach), multiplicity=False)


def batch_norm_training(op: Operation, output: int, operand: int) -> Definition:
    """Outputs: the normalised array, and mean and variance per feature. Operands: array, scale, offset."""
    out, into = output_array(op, output), operand_array(op, operand)
    feature = _feature(op)
    if output > 0 and operand > 0:
        return Definition("reads", out.dimensions, into.dimensions, FALSE)
    require_static("batch-norm", operand_array(op, 0))
    return _per_feature(out.dimensions, into.dimensions, feature)


def batch_norm_inference(op: Operation, output: int, operand: int) -> Definition:
    """Operands: array, scale, offset, mean, variance; each element is normalised by itself."""
    out, into = output_array(op, output), operand_array(op, operand)
    feature = _feature(op)
    if operand == 0:
        return Definition("reads", out.dimensions, into.dimensions, identity(out.rank))
    return _per_feature(out.dimensions, into.dimensions, feature)


def batch_norm_grad(op: Operation, output: int, operand: int) -> Definition:
    """Operands: array, scale, mean, variance, gradient of the output. Outputs: the gradients of array, scale, offset.

    The gradient of the offset is the sum of the output's gradient; that of the scale needs the normalised array too,
    and that of the array everything.
    """
    out, into = output_array(op, output), operand_array(op, operand)
    feature = _feature(op)
    used = ((0, 1, 2, 3, 4), (0, 2, 3, 4), (4,))[output]
    if operand not in used:
        return Definition("reads", out.dimensions, into.dimensions, FALSE)
    require_static("batch-norm", operand_array(op, 0))
    return _per_feature(out.dimensions, into.dimensions, feature)


def _feature(op: Operation) -> int:
    """The dimension that features lie along."""
    value = op.attributes.get("feature_index")
    if not isinstance(value, int):
        raise NotModelled(f"{op.opcode} without feature_index")
    return value


def _per_feature(output: tuple[int, ...], operand: tuple[int, ...], feature: int) -> Definition:
    """All elements with the output's feature. An element that enters both by itself and through statistics is one
    element read."""
    at_output = d(feature) if len(output) > 1 else d(0)
    at_operand = x(feature) if len(operand) > 1 else x(0)
    return Definition("reads", output, operand, eq(at_operand, at_output), multiplicity=False)


DEFINITIONS: Final[Mapping[str, Define]] = {
    "batch-norm-grad": batch_norm_grad,
    "batch-norm-inference": batch_norm_inference,
    "batch-norm-training": batch_norm_training,
    "cholesky": cholesky,
    "fft": fft,
    "scan": scan,
    "sort": sort,
    "topk": topk,
    "triangular-solve": triangular_solve,
}
"""By opcode."""
