"""Operations that fold a product over contracting dimensions, and reduce."""

from __future__ import annotations

from models.errors import NotModelled
from models.hlo.module import Operation
from verify.definitions.definition import Definition
from verify.definitions.variables import d, operand_array, output_array, require_static, x
from verify.formula import TRUE, conj, eq


def reduce(op: Operation, output: int, operand: int) -> Definition:
    """Every output reads, of every array, the elements that agree in the dimensions that stay, and the initial values.

    The dimensions that stay keep their order. How often an initial value is used is not observable.
    """
    arrays = len(op.operands) // 2
    out, into = output_array(op, output), operand_array(op, operand)
    if operand >= arrays:
        return Definition("reads", out.dimensions, into.dimensions, TRUE, multiplicity=False)
    gone = op.attributes.integers("dimensions")
    require_static("reduce", into, gone)
    kept = [j for j in range(into.rank) if j not in gone]
    if len(kept) != out.rank:
        raise NotModelled(f"reduce of rank {into.rank} over {gone} into rank {out.rank}")
    return Definition("reads", out.dimensions, into.dimensions, conj(*(eq(x(j), d(i)) for i, j in enumerate(kept))))


def dot(op: Operation, output: int, operand: int) -> Definition:
    """Output dimensions are the batch dimensions in the order of the left list, then what is left of the left operand,
    then of the right one; contracting dimensions run free."""
    if "sparsity" in op.attributes:
        raise NotModelled("sparse dot")
    out, into = output_array(op, output), operand_array(op, operand)
    sides = ("lhs", "rhs")
    if operand > 1:
        raise NotModelled(f"dot with operand {operand}")
    batch = [op.attributes.integers(f"{side}_batch_dims") for side in sides]
    contracting = [op.attributes.integers(f"{side}_contracting_dims") for side in sides]
    for n in (0, 1):
        require_static("dot", operand_array(op, n), contracting[n])
    free = [
        [j for j in range(operand_array(op, n).rank) if j not in batch[n] and j not in contracting[n]] for n in (0, 1)
    ]
    first = len(batch[0]) + (len(free[0]) if operand == 1 else 0)
    if len(batch[0]) + len(free[0]) + len(free[1]) != out.rank:
        raise NotModelled("dot whose output rank does not follow from its operands")
    parts = [eq(x(j), d(i)) for i, j in enumerate(batch[operand])]
    parts += [eq(x(j), d(first + i)) for i, j in enumerate(free[operand])]
    return Definition("reads", out.dimensions, into.dimensions, conj(*parts))
