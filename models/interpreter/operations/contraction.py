"""Sums of products over contracting dimensions: dot, ragged-dot, scaled-dot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Element, Value, flat_index, indices, offsets, strides


def _offsets_along(x: Array, dims: Sequence[int]) -> list[int]:
    """Flat offsets of all index vectors of some dimensions, in the order in which these are given."""
    steps = strides(x.sizes)
    return offsets([x.sizes[d] for d in dims], [steps[d] for d in dims])


def _free(x: Array, *taken: Sequence[int]) -> list[int]:
    used = {d for dims in taken for d in dims}
    return [d for d in range(len(x.sizes)) if d not in used]


def dot(step: Step) -> Value:
    """Result dimensions: batch, then the free ones of the left, then the free ones of the right operand."""
    if "sparsity" in step.attributes:
        raise NotModelled("dot with sparsity")
    lhs, rhs = step.array(0), step.array(1)
    return step.result(contracted(step, lhs, rhs))


def contracted(step: Step, lhs: Array, rhs: Array) -> list[Element]:
    """The elements of a dot with the dimension numbers of the instruction."""
    lb, rb = step.attributes.integers("lhs_batch_dims"), step.attributes.integers("rhs_batch_dims")
    lc, rc = step.attributes.integers("lhs_contracting_dims"), step.attributes.integers("rhs_contracting_dims")
    rows, columns = _offsets_along(lhs, _free(lhs, lb, lc)), _offsets_along(rhs, _free(rhs, rb, rc))
    along_left, along_right = _offsets_along(lhs, lc), _offsets_along(rhs, rc)
    kind, total = step.shape.element_type, step.scalars.sum_of_products
    data: list[Element] = []
    for l_base, r_base in zip(_offsets_along(lhs, lb), _offsets_along(rhs, rb), strict=True):
        left = [[lhs.data[l_base + row + k] for k in along_left] for row in rows]
        right = [[rhs.data[r_base + column + k] for k in along_right] for column in columns]
        data.extend(total(kind, x, y) for x in left for y in right)
    return data


def scaled_dot(step: Step) -> Value:
    """Each operand is first multiplied by its scale; a scale of size 1 or a divisor of the operand's size along a
    dimension holds for as many neighbours each."""
    lhs, rhs, lhs_scale, rhs_scale = step.arrays()
    return step.result(contracted(step, _scaled(step, lhs, lhs_scale), _scaled(step, rhs, rhs_scale)))


def _scaled(step: Step, x: Array, scale: Array) -> Array:
    if not scale.sizes:
        places = [0] * len(x.data)
    else:
        steps = strides(scale.sizes)
        places = [
            sum(i * m // n * s for i, n, m, s in zip(index, x.sizes, scale.sizes, steps, strict=True))
            for index in indices(x.sizes)
        ]
    # The product is taken in the result's type, which holds it where the narrow operand types would round it away.
    kind = step.shape.element_type
    widened, factor, multiply = _converted(step, x), _converted(step, scale), step.function("multiply", kind)
    return Array(kind, x.sizes, [multiply(v, factor[p]) for v, p in zip(widened, places, strict=True)])


def _converted(step: Step, x: Array) -> list[Element]:
    """In the result's type."""
    convert = step.scalars.function("convert", [x.element_type], step.shape.element_type, step.attributes)
    return [convert(v) for v in x.data]


def ragged_dot(step: Step) -> Value:
    """Rows of the left operand's ragged dimension fall into consecutive groups of the given sizes.

    Ragged free dimension: row i is multiplied with the right operand's slice of its group (nothing, so zero, behind the
    last group). Ragged contracting dimension: the result has one slice per group, summed over the rows of the group.
    Ragged batch dimension: an ordinary dot. The sizes are given once, or for every index of the batch dimensions and of
    those dimensions of the ragged one's kind that stand before it.
    """
    lhs, rhs, sizes = step.arrays()
    a = step.attributes
    (ragged,) = a.integers("lhs_ragged_dims")
    if ragged in a.integers("lhs_batch_dims"):
        return step.result(contracted(step, lhs, rhs))
    if ragged in a.integers("lhs_contracting_dims"):
        return step.result(_ragged_contracting(step, lhs, rhs, sizes, ragged))
    return step.result(_ragged_rows(step, lhs, rhs, sizes, ragged))


def _ragged_contracting(step: Step, lhs: Array, rhs: Array, sizes: Array, ragged: int) -> list[Element]:
    a = step.attributes
    lb, rb = a.integers("lhs_batch_dims"), a.integers("rhs_batch_dims")
    lc, rc = a.integers("lhs_contracting_dims"), a.integers("rhs_contracting_dims")
    before = [k for k, d in enumerate(lc) if d < ragged]
    along = list(indices([lhs.sizes[d] for d in lc]))
    left, right = _offsets_along(lhs, lc), _offsets_along(rhs, rc)
    rows, columns = _offsets_along(lhs, _free(lhs, lb, lc)), _offsets_along(rhs, _free(rhs, rb, rc))
    data: list[Element] = []
    for group in range(sizes.sizes[-1]):
        for l_base, r_base, where in _batches(lhs, rhs, lb, rb):
            picks = []
            for k, index in enumerate(along):
                first, last = _group_bounds(step, sizes, (*where, *(index[b] for b in before)), group)
                if first <= index[lc.index(ragged)] < last:
                    picks.append(k)
            for row in rows:
                x = [lhs.data[l_base + row + left[k]] for k in picks]
                for column in columns:
                    y = [rhs.data[r_base + column + right[k]] for k in picks]
                    data.append(step.scalars.sum_of_products(step.shape.element_type, x, y))
    return data


def _ragged_rows(step: Step, lhs: Array, rhs: Array, sizes: Array, ragged: int) -> list[Element]:
    a = step.attributes
    lb, rb = a.integers("lhs_batch_dims"), a.integers("rhs_batch_dims")
    lc, rc = a.integers("lhs_contracting_dims"), a.integers("rhs_contracting_dims")
    group_dims = a.integers("rhs_group_dims")
    kind, total, groups = step.shape.element_type, step.scalars.sum_of_products, sizes.sizes[-1]
    group_step = strides(rhs.sizes)[group_dims[0]]
    free, l_steps = _free(lhs, lb, lc), strides(lhs.sizes)
    before = [k for k, d in enumerate(free) if d < ragged]
    columns = _offsets_along(rhs, _free(rhs, rb, rc, group_dims))
    left, right = _offsets_along(lhs, lc), _offsets_along(rhs, rc)
    data: list[Element] = []
    for l_base, r_base, where in _batches(lhs, rhs, lb, rb):
        for index in indices([lhs.sizes[d] for d in free]):
            row = l_base + sum(i * l_steps[d] for i, d in zip(index, free, strict=True))
            place = (*where, *(index[b] for b in before))
            bounds = [_group_bounds(step, sizes, place, g) for g in range(groups)]
            i = index[free.index(ragged)]
            owner = next((g for g, (first, last) in enumerate(bounds) if first <= i < last), None)
            for column in columns:
                if owner is None:
                    data.append(total(kind, [], []))
                    continue
                base = r_base + column + owner * group_step
                x = [lhs.data[row + k] for k in left]
                y = [rhs.data[base + k] for k in right]
                data.append(total(kind, x, y))
    return data


def _batches(
    lhs: Array, rhs: Array, lb: Sequence[int], rb: Sequence[int]
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The flat offsets of a batch in both operands, and its index."""
    where = indices([lhs.sizes[d] for d in lb])
    return zip(_offsets_along(lhs, lb), _offsets_along(rhs, rb), where, strict=True)


def _group_bounds(step: Step, sizes: Array, where: tuple[int, ...], group: int) -> tuple[int, int]:
    """The half-open range of rows of a group."""
    groups = sizes.sizes[-1]
    base = 0
    if len(sizes.sizes) > 1:
        if len(where) != len(sizes.sizes) - 1:
            raise NotModelled("ragged-dot with group sizes of an unexpected rank")
        base = flat_index(where, strides(sizes.sizes)[:-1])
    counts = [step.scalars.integer(v) for v in sizes.data[base : base + groups]]
    return sum(counts[:group]), sum(counts[: group + 1])


EXECUTIONS: Final[Mapping[str, Execute]] = {"dot": dot, "ragged-dot": ragged_dot, "scaled-dot": scaled_dot}
"""By opcode."""
