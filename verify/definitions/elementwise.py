"""Operations whose output element depends on the operand elements at the same coordinates."""

from __future__ import annotations

from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import identity, operand_array, output_array
from hloproof.logic.formula import TRUE
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation

ELEMENTWISE = frozenset(
    {
        "abs",
        "acos",
        "acosh",
        "add",
        "and",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "clamp",
        "compare",
        "complex",
        "convert",
        "cosine",
        "cosh",
        "count-leading-zeros",
        "divide",
        "erf",
        "exponential",
        "exponential-minus-one",
        "floor",
        "imag",
        "is-finite",
        "log",
        "log-plus-one",
        "logistic",
        "map",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "popcnt",
        "power",
        "real",
        "reduce-precision",
        "remainder",
        "round-nearest-afz",
        "round-nearest-even",
        "rsqrt",
        "select",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "sign",
        "sine",
        "sinh",
        "sqrt",
        "stochastic-convert",
        "subtract",
        "tan",
        "tanh",
        "xor",
    }
)

SCALAR_OPERANDS = {"select": frozenset({0}), "clamp": frozenset({0, 2})}
"""Operands that may be scalar where the others are not: the predicate of select, the bounds of clamp. A scalar is read
at () by every output element."""


def elementwise(op: Operation, output: int, operand: int) -> Definition:
    """Output element d reads operand element d. Dynamic sizes change nothing: each element stands for itself."""
    out, into = output_array(op, output), operand_array(op, operand)
    if into.rank == 0 and out.rank and operand in SCALAR_OPERANDS.get(op.opcode, frozenset()):
        return Definition("reads", out.dimensions, (), TRUE)
    if into.dimensions != out.dimensions:
        raise NotModelled(f"{op.opcode} of {into.dimensions} into {out.dimensions}")
    return Definition("reads", out.dimensions, into.dimensions, identity(out.rank))
