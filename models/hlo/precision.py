"""Instructions that take floating-point numbers of one precision for those of another.

XLA's verifier lets such pass between two passes that change precisions, and so does the reader. Where it happens the
numbers are rounded, and nothing in the module says so: `bf16[4] reshape(f32[4] %p)` moves no elements, but loses half
of the bits of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.models.hlo.inference.infer import signatures_of, what_is_wrong
from hloproof.models.hlo.module import Computation, Instruction, Module


def mixed(module: Module) -> Iterator[tuple[Computation, Instruction]]:
    """The instructions whose operands, result or called computations differ in precision where the operation itself
    changes none, in the order of the text."""
    signatures = signatures_of(module)
    for c in module.computations:
        for i in c.instructions:
            if what_is_wrong(i.opcode, c.operand_shapes(i), i.attributes, i.shape, signatures, exactly=True):
                yield c, i
