"""Part of target `ops`: operations that are not run by themselves; their maps are held to their definition.

How large a dimension is set to moves no elements.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.plain_maps import not_plain
from hloproof.fuzz.operations.predicate import count_reads
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.interpreter.maps import relation

OPCODES: Final = frozenset({"set-dimension-size"})


def examine_stated(op: Operation) -> tuple[str, ...]:
    """Raises Failure where the maps of an operation are not its definition, in kind and in what they relate."""
    for output in range(len(list(leaves(op.shape)))):
        for operand in range(len(op.operands)):
            definition = define(op, output, operand)
            stated = Counter((d, x) for d, x, _ in count_reads(definition, lambda k, index: 0))
            for forwards in (True, False):
                sets = output_to_input(op, output) if forwards else input_to_output(op, operand)
                (s,) = (s for s in sets if s.operand == (operand if forwards else output))
                found = Counter(p if forwards else p[::-1] for m in s.maps for p in relation(m).elements())
                if found != stated or s.kind != definition.kind:
                    said = f"output {output}, operand {operand} of {op}: {s}"
                    raise Failure(f"{op.opcode}: maps are not what the definition says", said)
                for why in filter(None, (not_plain(m, op.opcode) for m in s.maps)):
                    raise Failure(f"{op.opcode}: maps are not plain", f"{why}: {s}")
    return (op.opcode,)
