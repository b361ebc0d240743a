"""scan: a computation consumes slices of its inputs one after the other, handing carries on, and returns slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.interpreter.compact.classed import written_out
from hloproof.models.interpreter.value import Array, Element, Value, offsets, strides

Evaluate = Callable[[list[tuple[Value, ...]]], list[Value]]
"""The called computation, on the arguments of every device."""


def run_scan(i: Instruction, operands: Sequence[tuple[Value, ...]], evaluate: Evaluate) -> list[Value]:
    """The result of every device. Operands are inputs, then initial carries; the computation takes a slice of each
    input without the scanned dimension, then the carries, and returns slices of the outputs, then carries; the result
    is outputs, then final carries."""
    carries, axes = i.attributes.integer("num_carries", 0), i.attributes.integers("dimensions")
    inputs = len(i.operands) - carries
    shapes = i.shape.elements if isinstance(i.shape, TupleShape) else (i.shape,)
    outputs = [s for s in shapes[: len(shapes) - carries] if isinstance(s, ArrayShape)]
    if len(axes) != 1 or len(outputs) + carries != len(shapes):
        raise NotModelled("scan over other than one dimension, or with results that are not arrays")
    axis = axes[0]
    operands = [tuple(written_out(v) for v in o) for o in operands]
    scanned = [v.sizes[axis] for v in operands[0][:inputs] if isinstance(v, Array)]
    scanned += [s.dimensions[axis] for s in outputs]
    length = scanned[0] if scanned else i.attributes.integer("scan_dim_size", 0)
    steps = range(length - 1, -1, -1) if i.attributes.flag("is_reverse") else range(length)
    state = [o[inputs:] for o in operands]
    found: list[list[dict[int, Array]]] = [[{} for _ in outputs] for _ in operands]
    for n in steps:
        given = [(*(_slice(v, axis, n) for v in o[:inputs]), *s) for o, s in zip(operands, state, strict=True)]
        for d, result in enumerate(evaluate(given)):
            parts = result if isinstance(result, tuple) else (result,)
            state[d] = parts[len(outputs) :]
            for k, part in enumerate(parts[: len(outputs)]):
                found[d][k][n] = _plain(part)
    whole = isinstance(i.shape, TupleShape)
    results = [
        (*(_joined(s, axis, f) for s, f in zip(outputs, found[d], strict=True)), *state[d])
        for d in range(len(operands))
    ]
    return [r if whole else r[0] for r in results]


def _plain(value: Value) -> Array:
    found = written_out(value)
    if not isinstance(found, Array):
        raise NotModelled("scan of something that is not an array")
    return found


def _slice(value: Value, axis: int, at: int) -> Array:
    value = _plain(value)
    steps, others = strides(value.sizes), [d for d in range(len(value.sizes)) if d != axis]
    sizes = tuple(value.sizes[d] for d in others)
    places = offsets(sizes, [steps[d] for d in others], at * steps[axis])
    return Array(value.element_type, sizes, [value.data[p] for p in places])


def _joined(shape: ArrayShape, axis: int, slices: dict[int, Array]) -> Array:
    data: list[Element] = [None] * shape.elements
    steps, others = strides(shape.dimensions), [d for d in range(len(shape.dimensions)) if d != axis]
    for n, part in slices.items():
        places = offsets([shape.dimensions[d] for d in others], [steps[d] for d in others], n * steps[axis])
        for place, element in zip(places, part.data, strict=True):
            data[place] = element
    return Array(shape.element_type, shape.dimensions, data)
