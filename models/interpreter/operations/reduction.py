"""Operations that fold or order whole lines: reduce, sort, topk, map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cmp_to_key
from itertools import pairwise
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.semantics.semantics import Function
from hloproof.models.interpreter.step import Execute, Step, as_result, result_shapes
from hloproof.models.interpreter.value import Array, Element, Value, offsets, strides


def reduce(step: Step) -> Value:
    """Variadic: from the initial values on, the body folds in the elements along `dimensions` in row-major order."""
    count = len(step.operands) // 2
    operands, initial = step.arrays()[:count], tuple(a.data[0] for a in step.arrays()[count:])
    dims, sizes, body = step.attributes.integers("dimensions"), operands[0].sizes, step.called()
    steps = strides(sizes)
    kept = [d for d in range(len(sizes)) if d not in dims]
    line = offsets([sizes[d] for d in sorted(dims)], [steps[d] for d in sorted(dims)])
    columns: list[list[Element]] = [[] for _ in operands]
    for base in offsets([sizes[d] for d in kept], [steps[d] for d in kept]):
        total = initial
        for k in line:
            total = body((*total, *(x.data[base + k] for x in operands)))
        for column, value in zip(columns, total, strict=True):
            column.append(value)
    arrays = [Array(s.element_type, s.dimensions, c) for s, c in zip(result_shapes(step), columns, strict=True)]
    return as_result(step, arrays)


def lines(sizes: tuple[int, ...], axis: int) -> list[list[int]]:
    """The flat indices of every line along an axis."""
    steps = strides(sizes)
    others = [d for d in range(len(sizes)) if d != axis]
    bases = offsets([sizes[d] for d in others], [steps[d] for d in others])
    return [[base + i * steps[axis] for i in range(sizes[axis])] for base in bases]


def sort(step: Step) -> Value:
    """Lines along the dimension, all operands together, ordered by the comparator; equal elements keep their order."""
    operands = step.arrays()
    (axis,) = step.attributes.integers("dimensions")
    body = step.called()
    columns = [list(x.data) for x in operands]

    def less(a: tuple[Element, ...], b: tuple[Element, ...]) -> bool:
        (answer,) = body([v for pair in zip(a, b, strict=True) for v in pair])
        return bool(answer)

    def compare(a: tuple[Element, ...], b: tuple[Element, ...]) -> int:
        return less(b, a) - less(a, b)

    for line in lines(operands[0].sizes, axis):
        rows = [tuple(x.data[k] for x in operands) for k in line]
        if step.scalars.reorders(operands[0].element_type):
            rows.sort(key=cmp_to_key(compare))
        else:
            total = step.joined(operands[0].element_type, [v for row in rows for v in row])
            rows = [tuple(total for _ in row) for row in rows]
        for k, row in zip(line, rows, strict=True):
            for column, value in zip(columns, row, strict=True):
                column[k] = value
    return as_result(step, [Array(x.element_type, x.sizes, c) for x, c in zip(operands, columns, strict=True)])


_Row = list[tuple[Element, int]]
"""The elements of a line in their order, and where they stood."""


def top_k(step: Step) -> Value:
    """The k first elements of every line along the last dimension in descending (or ascending) order, and their
    positions; equal elements keep their order."""
    return _first_of_lines(step, lambda row: None)


def top_k_call(step: Step) -> Value:
    """The same of a call of `TopK`, which gives the largest. Raises NotModelled where its comparator, of two elements
    or of these and their positions, puts a line in another order."""
    names, kind = step.attributes.computations(), step.array(0).element_type
    shapes = step.parameters(names[0]) if len(names) == 1 else ()
    results, sizes = result_shapes(step), step.array(0).sizes
    taken = results[0].dimensions[-1:] if len(results) == 2 else ()
    fit = taken and sizes and taken[0] <= sizes[-1] and results[1].element_type == "s32"
    if not fit or any(s.dimensions != (*sizes[:-1], *taken) for s in results):
        raise NotModelled("a call of TopK with other results than elements and positions")
    positions = results[1].element_type
    kinds = [s.element_type for s in shapes if isinstance(s, ArrayShape) and not s.rank]
    if len(kinds) != len(shapes) or kinds not in ([kind, kind], [kind, kind, positions, positions]):
        raise NotModelled("a call of TopK without one comparator of two elements")
    body, largest = step.body(names[0]), _total_order(step, "GT")

    def before(one: tuple[Element, int], other: tuple[Element, int]) -> bool:
        at = [step.scalars.constant(positions, n) for _, n in (one, other)]
        (answer,) = body([one[0], other[0], *at][: len(shapes)])
        return bool(answer)

    def require(row: _Row) -> None:
        for one, other in pairwise(row):
            if before(other, one) or (largest(one[0], other[0]) and not before(one, other)):
                raise NotModelled("a call of TopK whose comparator is not the descending order")

    return _first_of_lines(step, require)


def _total_order(step: Step, direction: str) -> Function:
    kind = step.array(0).element_type
    said = Attributes((("direction", Word(direction)), ("type", Word("TOTALORDER"))))
    return step.scalars.function("compare", [kind, kind], "pred", said)


def _first_of_lines(step: Step, require: Callable[[_Row], None]) -> Value:
    x, axis = step.array(0), len(step.array(0).sizes) - 1
    values_shape, index_shape = result_shapes(step)
    k = values_shape.dimensions[-1]
    before = _total_order(step, "LT" if step.attributes.get("largest") is False else "GT")

    def compare(a: tuple[Element, int], b: tuple[Element, int]) -> int:
        (first, _), (second, _) = a, b
        return bool(before(second, first)) - bool(before(first, second))

    values: list[Element] = []
    positions: list[Element] = []
    for line in lines(x.sizes, axis):
        if not step.scalars.reorders(x.element_type):
            total = step.joined(x.element_type, [x.data[i] for i in line])
            values += [total] * k
            positions += [total] * k
            continue
        row = [(x.data[i], n) for n, i in enumerate(line)]
        row.sort(key=cmp_to_key(compare))
        require(row)
        values += [v for v, _ in row[:k]]
        positions += [step.scalars.constant(index_shape.element_type, n) for _, n in row[:k]]
    return (
        Array(x.element_type, values_shape.dimensions, values),
        Array(index_shape.element_type, index_shape.dimensions, positions),
    )


def map_(step: Step) -> Value:
    """The computation on the elements at each index, one of each operand."""
    body, operands = step.called(), step.arrays()
    return step.result([body(elements)[0] for elements in zip(*(x.data for x in operands), strict=True)])


EXECUTIONS: Final[Mapping[str, Execute]] = {"map": map_, "reduce": reduce, "sort": sort, "topk": top_k}
"""By opcode."""
