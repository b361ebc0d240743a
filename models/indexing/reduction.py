"""Operations over whole lines of their operands: reduce, sort, topk, scan, batch normalisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr
from hloproof.models.hlo.body_use import uses_parameter
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    bounds,
    data_outputs,
    dynamic_dimensions,
    one,
    output_shape,
    sizes,
    to_scalar,
    whole,
    within,
)
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.indexing.run_time_sizes import RunTimeSizes, below
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, boxed, dim, identity


def reduce_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Range variables run over the reduced dimensions, up to their sizes. With several operands every output depends on
    all of them."""
    reduced = _reduced(op)
    out, operands = bounds(output_shape(op, output)), len(op.operands) // 2
    found = []
    for n in range(operands):
        ranges, kept = RangeVariables(), iter(range(len(out)))
        results = tuple(
            ranges.new(size) if i in reduced else dim(next(kept)) for i, size in enumerate(bounds(op.operands[n]))
        )
        runtime, constraints = _there(op, n, reduced, results, out)
        found.append(one(n, "reads", IndexingMap(boxed(out), results, ranges.done(), runtime, constraints)))
    return (*found, *(one(n, "reads", to_scalar(out)) for n in range(operands, 2 * operands)))


def reduce_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The index without the reduced dimensions; an initial value goes to every element. Both in every output."""
    reduced, box = _reduced(op), bounds(op.operands[operand])
    if operand >= len(op.operands) // 2:
        return tuple(one(n, "reads", whole((), bounds(shape))) for n, shape in data_outputs(op))
    results = tuple(dim(i) for i in range(len(box)) if i not in reduced)
    runtime, constraints = _there(op, operand, reduced, [dim(i) for i in range(len(box))], box)
    m = IndexingMap(boxed(box), results, runtime=runtime, constraints=constraints)
    return tuple(one(n, "reads", m) for n, _ in data_outputs(op))


def _reduced(op: Operation) -> frozenset[int]:
    """The dimensions that go. Raises NotModelled where arrays that are folded together end at different places."""
    reduced = frozenset(op.attributes.integers("dimensions"))
    arrays = op.operands[: len(op.operands) // 2]
    if len({dynamic_dimensions(s) & reduced for s in arrays}) > 1:
        raise NotModelled("reduce of arrays one of which has a dynamic dimension where the others have none")
    return reduced


def _there(
    op: Operation, operand: int, reduced: frozenset[int], element: Sequence[Expr], box: Sequence[int]
) -> tuple[tuple[RuntimeVariable, ...], tuple[Constraint, ...]]:
    """The element is none of the padding along the reduced dimensions; with the sizes that say so."""
    held, at_most = RunTimeSizes(op, box), bounds(op.operands[operand])
    constraints = tuple(
        below(element[i], held.of(operand, i), at_most[i])
        for i in sorted(dynamic_dimensions(op.operands[operand]) & reduced)
    )
    return held.done(), constraints


def sort_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Which element comes to a place depends on the whole line along the dimension: of every operand that the
    comparator looks at, and of the operand that is sorted along."""
    (axis,) = op.attributes.integers("dimensions")
    return tuple(
        _line(n, sizes(shape), sizes(shape), axis) if n == output or _is_key(op, n) else OperandMaps(n, "reads", ())
        for n, shape in enumerate(op.operands)
    )


def _is_key(op: Operation, operand: int) -> bool:
    """The comparator of a sort looks at this operand: it has two parameters for each."""
    return uses_parameter(op, 2 * operand) or uses_parameter(op, 2 * operand + 1)


def sort_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The whole line along the dimension, in the operand's own output, and in all outputs for a key."""
    (axis,) = op.attributes.integers("dimensions")
    box = sizes(op.operands[operand])
    return tuple(
        _line(n, box, sizes(shape), axis) if n == operand or _is_key(op, operand) else OperandMaps(n, "reads", ())
        for n, shape in data_outputs(op)
    )


def topk_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Both the values and the indices depend on the whole line along the last dimension."""
    out, operand = sizes(output_shape(op, output)), sizes(op.operands[0])
    return (_line(0, out, operand, len(operand) - 1),)


def topk_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The whole line along the last dimension, of values and of indices."""
    box = sizes(op.operands[operand])
    return tuple(_line(n, box, sizes(shape), len(box) - 1) for n, shape in data_outputs(op))


def _line(number: int, box: Sequence[int], to: Sequence[int], axis: int) -> OperandMaps:
    ranges = RangeVariables()
    results = tuple(ranges.new(n) if i == axis else dim(i) for i, n in enumerate(to))
    return one(number, "reads", IndexingMap(boxed(box), results, ranges.done()))


def scan_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Slices along the dimension are consumed in order, with carries: an output slice depends on its own and all
    earlier input slices (later ones, when reversed), a final carry on all, and everything on the initial carries.
    Without carries it depends on its own slice; without slices the carries are the initial ones.

    Exact where slices are scalars; else a bound, since the body may leave elements of a slice apart.
    """
    axis, inputs = _scanned(op)
    shape = output_shape(op, output)
    out, outputs = sizes(shape), len(data_outputs(op))
    is_carry = output >= outputs - (len(op.operands) - inputs)
    if is_carry and sizes(op.operands[0])[axis] == 0:
        own = len(op.operands) - outputs + output
        return tuple(
            one(n, "moves", identity(out)) if n == own else OperandMaps(n, "moves", ()) for n in range(len(op.operands))
        )
    found = []
    for n, operand in enumerate(op.operands):
        to, ranges = sizes(operand), RangeVariables()
        results: list[Expr] = [ranges.new(size) for size in to]
        constraints: list[Constraint] = []
        # Without carries nothing leads from slice to slice: each depends on its own.
        if inputs == len(op.operands):
            ranges = RangeVariables()
            results = [dim(axis) if i == axis else ranges.new(size) for i, size in enumerate(to)]
        elif n < inputs and not is_carry:
            constraints = _order(op, dim(axis), results[axis], to[axis])
        kind: Kind = "reads" if len(sizes(op.operands[0])) == 1 else "bound"
        m = IndexingMap(boxed(out), tuple(results), ranges.done(), constraints=tuple(constraints))
        found.append(one(n, kind, m))
    return tuple(found)


def scan_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """A slice to its own and all later output slices (earlier ones, when reversed) and to all of the final carries; an
    initial carry to everything. Exact where slices are scalars; else a bound."""
    axis, inputs = _scanned(op)
    box, outputs = sizes(op.operands[operand]), data_outputs(op)
    carries = op.attributes.integer("num_carries", 0)
    kind: Kind = "reads" if len(sizes(op.operands[0])) == 1 else "bound"
    found = []
    for n, shape in outputs:
        if n >= len(outputs) - carries and sizes(op.operands[0])[axis] == 0:
            own = len(outputs) - n == len(op.operands) - operand
            found.append(one(n, "moves", identity(box)) if own else OperandMaps(n, "moves", ()))
            continue
        to, ranges = sizes(shape), RangeVariables()
        results: list[Expr] = [ranges.new(size) for size in to]
        constraints: list[Constraint] = []
        if not carries:
            ranges = RangeVariables()
            results = [dim(axis) if i == axis else ranges.new(size) for i, size in enumerate(to)]
        elif operand < inputs and n < len(outputs) - carries:
            constraints = _order(op, results[axis], dim(axis), to[axis])
        m = IndexingMap(boxed(box), tuple(results), ranges.done(), constraints=tuple(constraints))
        found.append(one(n, kind, m))
    return tuple(found)


def _order(op: Operation, later: Expr, earlier: Expr, length: int) -> list[Constraint]:
    """later - earlier is not negative (not positive, when the scan runs backwards)."""
    interval = (-(length - 1), 0) if op.attributes.flag("is_reverse") else (0, length - 1)
    return [within(later - earlier, *interval)] if length > 1 else []


def _scanned(op: Operation) -> tuple[int, int]:
    """The scanned dimension and the number of scanned operands (the others are initial carries)."""
    (axis,) = op.attributes.integers("dimensions")
    return axis, len(op.operands) - op.attributes.integer("num_carries", 0)


FEATURE, CHANNEL = "feature", "channel"
"""How a batch normalisation reads an operand: all elements with the output's feature; the feature's own entry."""

_TRAINING = (((0, FEATURE), (1, CHANNEL), (2, CHANNEL)), ((0, FEATURE),), ((0, FEATURE),))
_GRAD = (
    ((0, FEATURE), (1, CHANNEL), (2, CHANNEL), (3, CHANNEL), (4, FEATURE)),
    ((0, FEATURE), (2, CHANNEL), (3, CHANNEL), (4, FEATURE)),
    ((4, FEATURE),),
)


def batch_norm_training_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Outputs: normalised operand, mean, variance. The first reads a whole feature (through mean and variance) and the
    feature's scale and offset; mean and variance read the whole feature."""
    return _batch_norm_reads(op, output, _TRAINING[output])


def batch_norm_training_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The outputs that read the operand, turned around."""
    return _batch_norm_writes(op, operand, _TRAINING)


def batch_norm_grad_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Operands: operand, scale, mean, variance, gradient of the output; outputs: gradients of operand, scale, offset.
    The gradient of the operand and of the scale correlate operand and gradient over the feature; the gradient of the
    offset sums the gradient over the feature."""
    return _batch_norm_reads(op, output, _GRAD[output])


def batch_norm_grad_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The outputs that read the operand, turned around."""
    return _batch_norm_writes(op, operand, _GRAD)


def batch_norm_inference_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """Element by element, with the feature's scale, offset, mean and variance."""
    out, feature = sizes(op.shape), _feature(op)
    per_feature = IndexingMap(boxed(out), (dim(feature),))
    own = IndexingMap(boxed(out), tuple(dim(i) for i in range(len(out))))
    return (one(0, "reads", own), *(one(n, "reads", per_feature) for n in range(1, len(op.operands))))


def batch_norm_inference_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The operand element by element; a scale, offset, mean or variance to all elements of its feature."""
    box, out, feature = sizes(op.operands[operand]), sizes(op.shape), _feature(op)
    if operand == 0:
        return (one(0, "reads", IndexingMap(boxed(box), tuple(dim(i) for i in range(len(box))))),)
    return (one(0, "reads", _over_feature(box, out, dim(0), feature)),)


def _batch_norm_reads(op: Operation, output: int, reads: Iterable[tuple[int, str]]) -> tuple[OperandMaps, ...]:
    out, feature = sizes(output_shape(op, output)), _feature(op)
    own = dim(feature) if output == 0 else dim(0)
    how = dict(reads)
    found = []
    for n, shape in enumerate(op.operands):
        if n not in how:
            found.append(OperandMaps(n, "reads", ()))
        elif how[n] == CHANNEL:
            found.append(one(n, "reads", IndexingMap(boxed(out), (own,))))
        else:
            found.append(one(n, "reads", _over_feature(out, sizes(shape), own, feature)))
    return tuple(found)


def _batch_norm_writes(
    op: Operation, operand: int, table: Sequence[Sequence[tuple[int, str]]]
) -> tuple[OperandMaps, ...]:
    box, feature = sizes(op.operands[operand]), _feature(op)
    is_data = any((operand, FEATURE) in reads for reads in table)
    own = dim(feature) if is_data else dim(0)
    found = []
    for n, shape in data_outputs(op):
        out = sizes(shape)
        if operand not in dict(table[n]):
            found.append(OperandMaps(n, "reads", ()))
        elif n == 0:
            found.append(one(n, "reads", _over_feature(box, out, own, feature)))
        else:
            found.append(one(n, "reads", IndexingMap(boxed(box), (own,))))
    return tuple(found)


def _over_feature(box: Sequence[int], to: Sequence[int], own: Expr, feature: int) -> IndexingMap:
    """From `box` to all elements of `to` whose feature is `own`."""
    ranges = RangeVariables()
    results = tuple(own if i == feature else ranges.new(n) for i, n in enumerate(to))
    return IndexingMap(boxed(box), results, ranges.done())


def _feature(op: Operation) -> int:
    feature = op.attributes.get("feature_index")
    if not isinstance(feature, int):
        raise NotModelled(f"{op.opcode} without its feature_index")
    return feature


BUILDERS: Final[Mapping[str, Builders]] = {
    "batch-norm-grad": Builders(batch_norm_grad_output_to_input, batch_norm_grad_input_to_output),
    "batch-norm-inference": Builders(batch_norm_inference_output_to_input, batch_norm_inference_input_to_output),
    "batch-norm-training": Builders(batch_norm_training_output_to_input, batch_norm_training_input_to_output),
    "reduce": Builders(reduce_output_to_input, reduce_input_to_output),
    "scan": Builders(scan_output_to_input, scan_input_to_output),
    "sort": Builders(sort_output_to_input, sort_input_to_output),
    "topk": Builders(topk_output_to_input, topk_input_to_output),
}
"""By opcode, both directions."""
