"""Sums of products over contracting dimensions: dot, ragged-dot, scaled-dot."""

from __future__ import annotations

from collections.abc import Sequence

from models.errors import NotModelled
from models.interpreter.step import Step
from models.interpreter.value import Array, Element, Value, indices, offsets, strides


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
    return step.result(_products(step, lhs, rhs))


def _products(step: Step, lhs: Array, rhs: Array) -> list[Element]:
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
    return step.result(_products(step, _scaled(step, lhs, lhs_scale), _scaled(step, rhs, rhs_scale)))


def _scaled(step: Step, x: Array, scale: Array) -> Array:
    if not scale.sizes:
        places = [0] * len(x.data)
    else:
        steps = strides(scale.sizes)
        block = [n // s if s else 1 for n, s in zip(x.sizes, scale.sizes, strict=True)]
        places = [sum(i // b * s for i, b, s in zip(index, block, steps, strict=True)) for index in indices(x.sizes)]
    # The product is taken in the result's type, which holds it where the narrow operand types would round it away.
    kind = step.shape.element_type
    wide = [step.scalars.function("convert", [a.element_type], kind, step.attributes) for a in (x, scale)]
    multiply = step.function("multiply", kind)
    factors = [wide[1](scale.data[p]) for p in places]
    return Array(kind, x.sizes, [multiply(wide[0](v), f) for v, f in zip(x.data, factors, strict=True)])


def ragged_dot(step: Step) -> Value:
    """Rows of the left operand's ragged dimension fall into consecutive groups of the given sizes.

    Ragged free dimension: row i is multiplied with the right operand's slice of its group (nothing, so zero, behind the
    last group). Ragged contracting dimension: the result has one slice per group, summed over the rows of the group.
    Ragged batch dimension: an ordinary dot.
    """
    lhs, rhs, sizes = step.arrays()
    a = step.attributes
    lb, rb = a.integers("lhs_batch_dims"), a.integers("rhs_batch_dims")
    lc, rc = a.integers("lhs_contracting_dims"), a.integers("rhs_contracting_dims")
    (ragged,), group_dims = a.integers("lhs_ragged_dims"), a.integers("rhs_group_dims")
    if ragged in lb:
        return step.result(_products(step, lhs, rhs))
    kind, total = step.shape.element_type, step.scalars.sum_of_products
    groups = sizes.sizes[-1]
    rows_free, l_steps = _free(lhs, lb, lc), strides(lhs.sizes)
    columns = _offsets_along(rhs, _free(rhs, rb, rc, group_dims))
    data: list[Element] = []
    batches = list(zip(_offsets_along(lhs, lb), _offsets_along(rhs, rb), strict=True))
    outer = list(indices([lhs.sizes[d] for d in lb]))
    if ragged in lc:
        for group in range(groups):
            for (l_base, r_base), where in zip(batches, outer, strict=True):
                first, last = _group_bounds(step, sizes, where, group)
                picks = [
                    k for k, index in enumerate(indices([lhs.sizes[d] for d in lc]))
                    if first <= index[lc.index(ragged)] < last
                ]  # fmt: skip
                left, right = _offsets_along(lhs, lc), _offsets_along(rhs, rc)
                for row in _offsets_along(lhs, rows_free):
                    for column in columns:
                        x = [lhs.data[l_base + row + left[k]] for k in picks]
                        y = [rhs.data[r_base + column + right[k]] for k in picks]
                        data.append(total(kind, x, y))
        return step.result(data)
    (group_dim,) = group_dims
    group_step = strides(rhs.sizes)[group_dim]
    along_left, along_right = _offsets_along(lhs, lc), _offsets_along(rhs, rc)
    for (l_base, r_base), where in zip(batches, outer, strict=True):
        bounds = [_group_bounds(step, sizes, where, g) for g in range(groups)]
        for index in indices([lhs.sizes[d] for d in rows_free]):
            row = sum(i * l_steps[d] for i, d in zip(index, rows_free, strict=True))
            i = index[rows_free.index(ragged)]
            owner = next((g for g, (first, last) in enumerate(bounds) if first <= i < last), None)
            for column in columns:
                if owner is None:
                    data.append(step.scalars.constant(kind, 0.0 if kind[0] not in "su" else 0))
                    continue
                base = r_base + column + owner * group_step
                x = [lhs.data[l_base + row + k] for k in along_left]
                y = [rhs.data[base + k] for k in along_right]
                data.append(total(kind, x, y))
    return step.result(data)


def _group_bounds(step: Step, sizes: Array, where: tuple[int, ...], group: int) -> tuple[int, int]:
    """The half-open range of rows of a group; group sizes are given once, or per batch."""
    groups = sizes.sizes[-1]
    base = 0
    if len(sizes.sizes) > 1:
        base = sum(i * s for i, s in zip(where, strides(sizes.sizes)[:-1], strict=True))
    counts = [step.scalars.integer(v) for v in sizes.data[base : base + groups]]
    return sum(counts[:group]), sum(counts[: group + 1])
