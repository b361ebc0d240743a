"""Batch normalisation, spelled out in elementwise operations and sums over all dimensions but the feature one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Element, Value, indices


def _by_feature(x: Array, feature: int) -> list[list[int]]:
    """For each feature the flat indices of its elements."""
    groups: list[list[int]] = [[] for _ in range(x.sizes[feature])]
    for k, index in enumerate(indices(x.sizes)):
        groups[index[feature]].append(k)
    return groups


def _epsilon(step: Step, kind: str) -> Element:
    value = step.attributes.get("epsilon")
    return step.scalars.constant(kind, float(value) if isinstance(value, (int, float)) else 0.0)


def _total(step: Step, kind: str, values: list[Element]) -> Element:
    one = step.scalars.constant(kind, 1.0)
    return step.scalars.sum_of_products(kind, values, [one] * len(values))


def training(step: Step) -> Value:
    """(output, mean, variance): output = (x - mean) * scale / sqrt(variance + epsilon) + offset."""
    x, scale, offset = step.arrays()
    groups = _by_feature(x, step.attributes.integer("feature_index", 0))
    kind = x.element_type
    add, subtract, multiply, divide = (step.function(o, kind) for o in ("add", "subtract", "multiply", "divide"))
    root = step.function("rsqrt", kind, 1)
    epsilon, data = _epsilon(step, kind), list(x.data)
    means: list[Element] = []
    variances: list[Element] = []
    for f, group in enumerate(groups):
        count = step.scalars.constant(kind, float(len(group)))
        mean = divide(_total(step, kind, [x.data[k] for k in group]), count)
        centred = [subtract(x.data[k], mean) for k in group]
        variance = divide(step.scalars.sum_of_products(kind, centred, centred), count)
        factor = multiply(root(add(variance, epsilon)), scale.data[f])
        for k, c in zip(group, centred, strict=True):
            data[k] = add(multiply(c, factor), offset.data[f])
        means.append(mean)
        variances.append(variance)
    return Array(kind, x.sizes, data), Array(kind, scale.sizes, means), Array(kind, scale.sizes, variances)


def inference(step: Step) -> Value:
    """output = (x - mean) * scale / sqrt(variance + epsilon) + offset."""
    x, scale, offset, mean, variance = step.arrays()
    kind, epsilon, data = x.element_type, _epsilon(step, x.element_type), list(x.data)
    add, subtract, multiply = (step.function(o, kind) for o in ("add", "subtract", "multiply"))
    root = step.function("rsqrt", kind, 1)
    for f, group in enumerate(_by_feature(x, step.attributes.integer("feature_index", 0))):
        factor = multiply(root(add(variance.data[f], epsilon)), scale.data[f])
        for k in group:
            data[k] = add(multiply(subtract(x.data[k], mean.data[f]), factor), offset.data[f])
    return step.result(data)


def gradient(step: Step) -> Value:
    """(gradient of the operand, of the scale, of the offset), from the operand, scale, mean, variance and the gradient
    of the output. With n elements per feature, c = x - mean, r = 1 / sqrt(variance + epsilon):

    offset' = sum(g); scale' = sum(g * c) * r; x' = scale * r * (g - (offset' + c * r * scale') / n).
    """
    x, scale, mean, variance, grad = step.arrays()
    kind, epsilon, data = x.element_type, _epsilon(step, x.element_type), list(x.data)
    add, subtract, multiply, divide = (step.function(o, kind) for o in ("add", "subtract", "multiply", "divide"))
    root = step.function("rsqrt", kind, 1)
    scales: list[Element] = []
    shifts: list[Element] = []
    for f, group in enumerate(_by_feature(x, step.attributes.integer("feature_index", 0))):
        count = step.scalars.constant(kind, float(len(group)))
        r = root(add(variance.data[f], epsilon))
        centred = [subtract(x.data[k], mean.data[f]) for k in group]
        given = [grad.data[k] for k in group]
        shift = _total(step, kind, given)
        scaled = multiply(step.scalars.sum_of_products(kind, given, centred), r)
        for k, c, g in zip(group, centred, given, strict=True):
            mean_part = divide(add(shift, multiply(multiply(c, r), scaled)), count)
            data[k] = multiply(multiply(scale.data[f], r), subtract(g, mean_part))
        scales.append(scaled)
        shifts.append(shift)
    return Array(kind, x.sizes, data), Array(kind, scale.sizes, scales), Array(kind, scale.sizes, shifts)


EXECUTIONS: Final[Mapping[str, Execute]] = {
    "batch-norm-grad": gradient,
    "batch-norm-inference": inference,
    "batch-norm-training": training,
}
"""By opcode."""
