"""Operands that say where to read or write: an output element depends on a number in them when, for some numbers in the
others, another number there changes what the element is made of. What definitions say of the numbers read at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.tagged_run import Observed, Tagged
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape, Index
from hloproof.models.interpreter.semantics.element_type import highest, lowest
from hloproof.models.interpreter.value import Array, indices

MOST: Final = 24
"""Pairs of an output element and a number that are tried."""

Dependence = tuple[int, Index, int, int]
"""Output, index of its element, operand that says where, position in its data."""


def sizes(op: Operation, operand: int) -> Index:
    shape = op.operands[operand]
    assert isinstance(shape, ArrayShape)
    return shape.dimensions


def examine_indices(found: Observed) -> None:
    """Raises Failure where the definitions of operands that say where to read are others than what is seen."""
    tagged = found.tagged
    op = tagged.op
    _examine_reads(found)
    if not found.indices or op.opcode == "ragged-all-to-all":  # whose numbers have no meaning out of bounds
        return
    (first,) = tagged.run(found.indices)
    elements = [(o, d) for o in range(len(first)) for d in indices(first[o].sizes)]
    positions = [(k, n) for k, x in found.indices.items() for n in range(len(x.data))]
    pairs: list[Dependence] = [(*e, *p) for e, p in product(elements, positions)]
    for o, d, k, n in Random(tagged.seed).sample(pairs, min(MOST, len(pairs))):
        given = _covering(op, found.indices, d)
        seen = _changed(tagged, given, k, n)
        x = list(indices(found.indices[k].sizes))[n]
        for other, at in seen:
            if (at, x, 0) not in found.defined[0, other, (k, ())]:
                said = f"{at} depends on {list(x)}"
                raise Failure(f"{op.opcode}: the definition of indices misses one", said)
        stated = (d, x, 0) in found.defined[0, o, (k, ())]
        if stated and (o, d) not in seen and _matters(op, k, x) and define(op, o, k).kind != "bound":
            raise Failure(f"{op.opcode}: the definition of indices states one that is none", f"{d}: {list(x)}")


def _changed(tagged: Tagged, given: Mapping[int, Array], operand: int, position: int) -> set[tuple[int, Index]]:
    """The output elements that another number at this position changes."""
    (before,) = tagged.run(given)
    x, found = given[operand], set[tuple[int, Index]]()
    value, low, high = x.data[position], lowest(x.element_type), highest(x.element_type)
    for other in {max(low, value - 1), min(high, value + 1), max(low, -1), min(high, 100)} - {value}:
        data = [*x.data[:position], other, *x.data[position + 1 :]]
        (after,) = tagged.run({**given, operand: Array(x.element_type, x.sizes, data)})
        for o, (a, b) in enumerate(zip(before, after, strict=True)):
            found |= {(o, d) for d, u, v in zip(indices(a.sizes), a.data, b.data, strict=True) if u != v}
    return found


def _covering(op: Operation, given: Mapping[int, Array], d: Index) -> dict[int, Array]:
    """Numbers such that windows lie inside and reach this output element, as far as any do."""
    if op.opcode == "dynamic-update-slice":
        free = [n - w for n, w in zip(sizes(op, 0), sizes(op, 1), strict=True)]
        starts = [min(i, room) for i, room in zip(d, free, strict=True)]
        if [x.sizes for x in given.values()] == [(len(starts),)]:
            return {k: Array(x.element_type, x.sizes, list(starts)) for k, x in given.items()}
        return {k: Array(x.element_type, x.sizes, [starts[k - 2]]) for k, x in given.items()}
    if op.opcode != "scatter":
        return {k: Array(x.element_type, x.sizes, [1] * len(x.data)) for k, x in given.items()}
    ((operand, x),) = given.items()
    mapped, extent = op.attributes.integers("scatter_dims_to_operand_dims"), _extent(op)
    starts = [min(d[j], sizes(op, 0)[j] - extent[j]) for j in mapped]
    place = op.attributes.integer("index_vector_dim", len(x.sizes))
    component = [at[place] if place < len(x.sizes) else 0 for at in indices(x.sizes)]
    return {operand: Array(x.element_type, x.sizes, [starts[c] for c in component])}


def _extent(op: Operation) -> dict[int, int]:
    """Of a scatter, the size of a window along each dimension of the operand."""
    gone = (*op.attributes.integers("inserted_window_dims"), *op.attributes.integers("input_batching_dims"))
    kept = [j for j in range(len(sizes(op, 0))) if j not in gone]
    windows = op.attributes.integers("update_window_dims")
    update = sizes(op, len(op.operands) // 2 + 1)
    return dict.fromkeys(gone, 1) | {j: update[i] for j, i in zip(kept, windows, strict=True)}


def _matters(op: Operation, operand: int, x: Index) -> bool:
    """Whether there is a choice: a window as large as its dimension starts at 0 whatever the number, and an empty one
    writes nothing."""
    match op.opcode:
        case "dynamic-slice":
            vector = len(op.operands) == 2 and len(x) == 1
            j, shape = (x[0] if vector else operand - 1), op.shape
            assert isinstance(shape, ArrayShape)
            return shape.dimensions[j] < sizes(op, 0)[j]
        case "dynamic-update-slice":
            vector = len(op.operands) == 3 and len(x) == 1
            j, update = (x[0] if vector else operand - 2), sizes(op, 1)
            return 0 not in update and update[j] < sizes(op, 0)[j]
        case "gather":
            place = op.attributes.integer("index_vector_dim", len(x))
            j = op.attributes.integers("start_index_map")[x[place] if place < len(x) else 0]
            return op.attributes.integers("slice_sizes")[j] < sizes(op, 0)[j]
    return 0 not in sizes(op, len(op.operands) // 2 + 1)


def _examine_reads(found: Observed) -> None:
    """Numbers that a window is moved by are clamped, those that drop a window are not, and range over their type."""
    op = found.tagged.op
    for _, output, source in found.seen:
        for r in define(op, output, *source).runtime:
            if r.clamped == (op.opcode == "scatter"):
                raise Failure(f"{op.opcode}: a number is clamped, or is not", f"output {output}, operand {source}")
            kind = found.indices[r.operand].element_type
            if not r.clamped and (r.interval.lower, r.interval.upper) != (lowest(kind), highest(kind)):
                raise Failure(f"{op.opcode}: other values than those of {kind}", str(r.interval))
