"""Part of target `ops`: what a definition says besides its predicate, and what it must not say.

Which counts can be observed at all; how many devices a group has; where a bound is as tight as what is read at run time
allows; and over which dimensions of run-time size there is a definition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.malformed import refused
from hloproof.fuzz.operations.tagged_run import Observed, Reads, observe
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.attributes import PaddingDimension, Window, WindowDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.value import Array, indices


def examine_definitions(found: Observed) -> None:
    """Raises Failure where the definitions of an operation are not as they should be."""
    tagged = found.tagged
    op = tagged.op
    for (device, output, source), stated in found.defined.items():
        definition, operand = define(op, output, *source), source[0]
        if definition.group_size not in (0, len(found.groups[device])):
            raise Failure(f"{op.opcode}: definition over a group of another size", str(definition.group_size))
        if stated and definition.multiplicity != counts_are_told(op, operand):
            raise Failure(f"{op.opcode}: definition of counts", f"output {output}, operand {operand}")
        is_counted_by_shapes = tagged.across.count > op.replicas * op.partitions
        assumes = op.opcode in ("all-gather", "reduce-scatter") and definition.group_size and output == operand
        if assumes and bool(definition.assumptions) != is_counted_by_shapes:
            raise Failure(f"{op.opcode}: assumptions of a definition", str(definition.assumptions))
    _bounds(found)
    _dynamic(op)


_TOLD: Final[dict[str, frozenset[int]]] = {
    "select-and-scatter": frozenset({1}),
    "triangular-solve": frozenset({1}),
    "batch-norm-training": frozenset(),
    "batch-norm-grad": frozenset(),
    "batch-norm-inference": frozenset({0}),
}


def counts_are_told(op: Operation, operand: int) -> bool:
    """Whether how often an element is read can be observed: not of initial values, of what only a comparison or a
    statistic sees, of what is solved with, nor of indices that decide whether something is written."""
    arrays = len(op.operands) // 2
    if op.opcode == "scatter":
        return operand != arrays
    return operand in _TOLD.get(op.opcode, range(arrays if op.opcode in ("reduce", "reduce-window") else operand + 1))


def _bounds(found: Observed) -> None:
    tagged, op = found.tagged, found.tagged.op
    if op.opcode == "iota":  # integers are the numbers that they are, since they may be indices; others count nothing
        ((made,),), axis = tagged.run({}), op.attributes.integer("iota_dimension", 0)
        if made.data != [d[axis] if made.element_type in INTEGERS else 0 for d in indices(made.sizes)]:
            raise Failure("iota: counts as something that is read", str(made))
    if op.opcode == "cholesky":
        for d, x, _ in found.defined[0, 0, (0, ())]:
            if d[:-2] != x[:-2]:
                raise Failure("cholesky: the definition reads another matrix", f"{d}: {x}")
    if op.opcode == "ragged-all-to-all":
        none = {k: Array(a.element_type, a.sizes, [0] * len(a.data)) for k, a in found.indices.items()}
        seen = observe(tagged, none).seen
        for device in range(tagged.across.count):
            _equal(op, found.defined[device, 0, (1, ())], seen[device, 0, (1, ())], 1)
    if op.opcode == "ragged-dot":
        sizes = found.indices[2]
        together: dict[int, Reads] = {0: Reads(), 1: Reads()}
        for group in range(sizes.sizes[-1]):
            every = [100 if k % sizes.sizes[-1] == group else 0 for k in range(len(sizes.data))]
            seen = observe(tagged, {2: Array(sizes.element_type, sizes.sizes, every)}).seen
            for operand, reads in together.items():
                reads.update(seen[0, 0, (operand, ())])
        for operand, reads in together.items():
            _equal(op, found.defined[0, 0, (operand, ())], reads, operand)


def _equal(op: Operation, stated: Reads, seen: Reads, operand: int) -> None:
    loose = [k for k in stated if k not in seen]
    if loose:
        raise Failure(f"{op.opcode}: the definition of operand {operand} is wider than need be", str(loose[0]))


def _dynamic(op: Operation) -> None:
    """One dimension of the first operand gets its size at run time, and of those that have its sizes where operands are
    alike. No definition is another for it; along a dimension that is folded it leaves out the elements beyond the size;
    where a place depends on the size there is none."""
    first = op.operands[0] if op.operands else None
    free = _left_alone(op, first) if isinstance(first, ArrayShape) else None
    if not isinstance(first, ArrayShape) or free is None:
        return
    plain = define(op, 0, 0).predicate
    for dimension in range(first.rank):
        marked = tuple(k == dimension for k in range(first.rank))
        operands = tuple(
            replace(s, dynamic=marked)
            if isinstance(s, ArrayShape) and s.dimensions == first.dimensions and (op.opcode != "dot" or not k)
            else s
            for k, s in enumerate(op.operands)
        )
        changed = replace(
            op, operands=operands, shape=operands[0] if op.opcode == "reshape" and dimension in free else op.shape
        )
        is_folded = op.opcode == "reduce" and dimension not in free
        if dimension not in free and not is_folded:
            refused(f"{op.opcode}: a definition of a dynamic dimension", lambda o: define(o, 0, 0), changed)
            continue
        found = define(changed, 0, 0)
        if is_folded and (found.predicate == plain or not any(r.of_sizes for r in found.runtime)):
            raise Failure("reduce: the definition reads the padding", str(changed))
        if not is_folded and found.predicate != plain:
            raise Failure(f"{op.opcode}: another definition over a dynamic dimension", str(changed))


def _left_alone(op: Operation, shape: ArrayShape) -> set[int] | None:
    """The dimensions that no element's place depends on the size of; None for opcodes not looked at here."""
    every = set(range(shape.rank))
    match op.opcode:
        case "pad":
            padding = op.attributes.get("padding")
            assert isinstance(padding, tuple)
            return {k for k, p in enumerate(padding) if p == PaddingDimension(0, 0)}
        case "reduce-window":
            window = op.attributes.get("window")
            dims = window.dimensions if isinstance(window, Window) else ()
            return {k for k, w in enumerate(dims) if w == WindowDimension(1)}
        case "reshape":
            return every if isinstance(op.shape, ArrayShape) and op.shape.dimensions == shape.dimensions else set()
        case "topk":
            return every - {shape.rank - 1}
        case "batch-norm-training" | "batch-norm-grad" | "fft":
            return set()
        case "sort" | "reduce" | "reverse" | "dot":
            return every - set(op.attributes.integers("lhs_contracting_dims" if op.opcode == "dot" else "dimensions"))
    return None
