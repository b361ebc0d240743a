"""Operations that fold a product over contracting dimensions, and reduce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.definitions.definition import Define, Definition
from hloproof.definitions.run_time_sizes import SizesRead, is_dynamic
from hloproof.definitions.variables import d, operand_array, output_array, require_static, x
from hloproof.logic.formula import FALSE, TRUE, Formula, conj, eq, lt
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation


def reduce(op: Operation, output: int, operand: int) -> Definition:
    """Every output reads, of every array, the elements that agree in the dimensions that stay, and the initial values.

    The dimensions that stay keep their order. How often an initial value is used is not observable. Padding behind the
    size of a dynamic dimension is not folded in.
    """
    arrays = len(op.operands) // 2
    out, into = output_array(op, output), operand_array(op, operand)
    if operand >= arrays:
        return Definition("reads", out.dimensions, into.dimensions, TRUE, multiplicity=False)
    gone = op.attributes.integers("dimensions")
    if any(is_dynamic(operand_array(op, k), j) != is_dynamic(into, j) for k in range(arrays) for j in gone):
        raise NotModelled("reduce of arrays one of which has a dynamic dimension where the others have none")
    sizes = SizesRead(op)
    there = [lt(x(j), sizes.size(operand, j)) for j in gone if is_dynamic(into, j)]
    kept = [j for j in range(into.rank) if j not in gone]
    if len(kept) != out.rank:
        raise NotModelled(f"reduce of rank {into.rank} over {gone} into rank {out.rank}")
    predicate = conj(*(eq(x(j), d(i)) for i, j in enumerate(kept)), *there)
    return Definition("reads", out.dimensions, into.dimensions, predicate, runtime=sizes.reads)


def dot(op: Operation, output: int, operand: int) -> Definition:
    """Output dimensions are the batch dimensions in the order of the left list, then what is left of the left operand,
    then of the right one; contracting dimensions run free."""
    out, into = output_array(op, output), operand_array(op, operand)
    parts = [eq(x(j), d(i)) for j, i in _followed(op, output, operand).items()]
    return Definition("reads", out.dimensions, into.dimensions, conj(*parts))


def _followed(op: Operation, output: int, operand: int) -> dict[int, int]:
    """By dimension of a dot's operand, the output dimension that follows it; contracting ones have none."""
    if "sparsity" in op.attributes:
        raise NotModelled("sparse dot")
    sides = ("lhs", "rhs")
    batch = [op.attributes.integers(f"{side}_batch_dims") for side in sides]
    contracting = [op.attributes.integers(f"{side}_contracting_dims") for side in sides]
    free: list[list[int]] = []
    for n, (along, gone) in enumerate(zip(batch, contracting, strict=True)):
        shape = operand_array(op, n)
        require_static("dot", shape, gone)
        free.append([j for j in range(shape.rank) if j not in along and j not in gone])
    left, right = free
    shared = batch[operand]
    if len(shared) + len(left) + len(right) != output_array(op, output).rank:
        raise NotModelled("dot whose output rank does not follow from its operands")
    first = len(shared) + (len(left) if operand == 1 else 0)
    return {j: i for i, j in enumerate(shared)} | {j: first + i for i, j in enumerate(free[operand])}


def ragged_dot(op: Operation, output: int, operand: int) -> Definition:
    """A dot whose left operand is cut into groups along one dimension at run time.

    Cut along a free dimension, each row meets the slice of the right operand of its group; along a contracting one, the
    result has one slice per group, first of its dimensions, that sums its part. Where groups end is known at run time
    only, and what lies beyond the last group is not read, so of all operands only a bound is known: any group may be
    the one. Cut along a batch dimension the groups change nothing, and it is a plain dot.
    """
    (ragged,) = op.attributes.integers("lhs_ragged_dims")  # no other number of them is read
    lhs, rhs, out = operand_array(op, 0), operand_array(op, 1), output_array(op, output)
    for shape in (lhs, rhs):
        require_static("ragged-dot", shape)
    batch = [op.attributes.integers(f"{side}_batch_dims") for side in ("lhs", "rhs")]
    contracting = [op.attributes.integers(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
    if ragged in batch[0]:
        if operand < 2:
            return dot(op, output, operand)
        return Definition("reads", out.dimensions, operand_array(op, 2).dimensions, FALSE)
    groups = op.attributes.integers("rhs_group_dims")
    first = 1 if ragged in contracting[0] else 0  # the slice of a group comes first
    free = [j for j in range(lhs.rank) if j not in batch[0] and j not in contracting[0]]
    place = {j: first + i for i, j in enumerate((*batch[0], *free))}
    own = [j for j in range(rhs.rank) if j not in batch[1] and j not in contracting[1] and j not in groups]
    if first + len(place) + len(own) != out.rank:
        raise NotModelled("ragged-dot whose output rank does not follow from its operands")
    parts: list[Formula] = []
    if operand == 0:
        parts = [eq(x(j), d(i)) for j, i in place.items()]
    elif operand == 1:
        parts = [eq(x(j), d(first + i)) for i, j in enumerate(batch[1])]
        parts += [eq(x(j), d(first + len(place) + i)) for i, j in enumerate(own)]
    return Definition("bound", out.dimensions, operand_array(op, operand).dimensions, conj(*parts))


def scaled_dot(op: Operation, output: int, operand: int) -> Definition:
    """A dot whose operands are multiplied by scales first; one scale serves a block of operand elements along each
    dimension, of the size of operand by scale. A scale that is one number serves all."""
    if operand < 2:
        return dot(op, output, operand)
    side = operand - 2
    base = operand_array(op, side)
    scale, out = operand_array(op, operand), output_array(op, output)
    followed = _followed(op, output, side)
    if scale.rank not in (0, base.rank):
        raise NotModelled("scaled-dot with a scale of another rank than its operand")
    blocks: list[int] = []
    for n, m in zip(base.dimensions, scale.dimensions, strict=bool(scale.rank)):
        if m == 0 or n % m:
            raise NotModelled("scaled-dot whose scale does not divide its operand")
        blocks.append(n // m)
    contracting = [j for j in range(base.rank) if j not in followed]
    # One read per element of the operand: along contracting dimensions w runs, elsewhere the output chooses.
    at = {j: d(i) for j, i in followed.items()} | {j: Var(f"w{k}") for k, j in enumerate(contracting)}
    parts = [eq(x(j), _block_of(at[j], size)) for j, size in enumerate(blocks)]
    iteration = tuple((f"w{k}", Interval.of_size(base.dimensions[j])) for k, j in enumerate(contracting))
    return Definition("reads", out.dimensions, scale.dimensions, conj(*parts), iteration=iteration)


def _block_of(e: Expr, size: int) -> Expr:
    return e if size == 1 else e // size


DEFINITIONS: Final[Mapping[str, Define]] = {
    "dot": dot,
    "ragged-dot": ragged_dot,
    "reduce": reduce,
    "scaled-dot": scaled_dot,
}
"""By opcode."""
