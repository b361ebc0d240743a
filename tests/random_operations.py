"""Random small operations of the opcodes with many attributes, always well formed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from hloproof.models.hlo.attributes import (
    Attributes,
    AttributeValue,
    ConvolutionDimensions,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape

SCALAR = ArrayShape("f32")


def array(sizes: Sequence[int], element_type: str = "f32") -> ArrayShape:
    return ArrayShape(element_type, tuple(sizes))


def operation(
    opcode: str, out: Sequence[int], operands: Sequence[ArrayShape], **attributes: AttributeValue
) -> Operation:
    return Operation(opcode, array(out), tuple(operands), Attributes(tuple(attributes.items())))


def window_dimension(random: Random) -> WindowDimension:
    low, high = random.randint(-1, 3), random.randint(-1, 3)
    size, stride, base, window = (random.randint(1, 3) for _ in range(4))
    return WindowDimension(size, stride, low, high, base, window, random.random() < 0.3)


def windows(n: int, w: WindowDimension) -> int:
    """How many windows fit along a dimension of n elements."""
    length = max(0, (n - 1) * w.base_dilation + 1) + w.padding_low + w.padding_high
    reach = (w.size - 1) * w.window_dilation + 1
    return max(0, (length - reach) // w.stride + 1)


def pad(random: Random) -> Operation:
    sizes: list[int] = []
    out: list[int] = []
    padding: list[PaddingDimension] = []
    while len(sizes) < random.randint(1, 3):
        n = random.randint(0, 5)
        p = PaddingDimension(random.randint(-3, 3), random.randint(-3, 3), random.randint(0, 3))
        length = p.low + p.high + n + max(0, n - 1) * p.interior
        if length >= 0:
            sizes.append(n)
            out.append(length)
            padding.append(p)
    return operation("pad", out, (array(sizes), SCALAR), padding=tuple(padding))


def slice_(random: Random) -> Operation:
    sizes, out, bounds = [], [], []
    for _ in range(random.randint(1, 3)):
        n = random.randint(0, 8)
        start = random.randint(0, n)
        limit, stride = random.randint(start, n), random.randint(1, 3)
        sizes.append(n)
        out.append(-(-(limit - start) // stride))
        bounds.append(SliceDimension(start, limit, stride))
    return operation("slice", out, (array(sizes),), slice=tuple(bounds))


def reduce_window(random: Random) -> Operation:
    sizes = [random.randint(1, 6) for _ in range(random.randint(1, 2))]
    window = tuple(window_dimension(random) for _ in sizes)
    return operation(
        "reduce-window",
        [windows(n, w) for n, w in zip(sizes, window, strict=True)],
        (array(sizes), SCALAR),
        window=Window(window),
    )


def convolution(random: Random) -> Operation:
    """Dimensions in any order; feature groups or batch groups."""
    sizes = [random.randint(1, 5) for _ in range(random.randint(1, 2))]
    window = tuple(window_dimension(random) for _ in sizes)
    features = random.choice([1, 1, 2, 3])
    batches = random.choice([1, 2, 3]) if features == 1 else 1
    inputs, batch = random.randint(1, 2) * features, random.randint(1, 2) * batches
    outputs = random.randint(1, 3) * features * batches
    rank = len(sizes) + 2
    orders = [random.sample(range(rank), rank) for _ in range(3)]

    def laid_out(order: Sequence[int], values: Sequence[int]) -> list[int]:
        return [values[order.index(i)] for i in range(rank)]

    labels = ConvolutionDimensions(
        *(part for o in orders for part in (o[0], o[1], tuple(o[2:])))  # type: ignore[arg-type]
    )
    lhs = laid_out(orders[0], [batch, inputs, *sizes])
    rhs = laid_out(orders[1], [inputs // features, outputs, *(w.size for w in window)])
    spatial = [windows(n, w) for n, w in zip(sizes, window, strict=True)]
    return operation(
        "convolution",
        laid_out(orders[2], [batch // batches, outputs, *spatial]),
        (array(lhs), array(rhs)),
        window=Window(window),
        dim_labels=labels,
        feature_group_count=features,
        batch_group_count=batches,
    )


def dynamic_slice(random: Random) -> Operation:
    sizes = [random.randint(1, 5) for _ in range(random.randint(0, 3))]
    part = [random.randint(1, n) for n in sizes]
    starts = [array((), random.choice(["s32", "u8"])) for _ in sizes]
    return operation("dynamic-slice", part, (array(sizes), *starts), dynamic_slice_sizes=tuple(part))


def dynamic_update_slice(random: Random) -> Operation:
    sizes = [random.randint(1, 5) for _ in range(random.randint(0, 3))]
    part = [random.randint(0 if random.random() < 0.1 else 1, n) for n in sizes]
    starts = [array((), "s32") for _ in sizes]
    return operation("dynamic-update-slice", sizes, (array(sizes), array(part), *starts))


def gather(random: Random) -> Operation:
    return _windows_by_index(random, "gather")


def scatter(random: Random) -> Operation:
    return _windows_by_index(random, "scatter")


def _windows_by_index(random: Random, opcode: str) -> Operation:
    """Batching, dropped and indexed dimensions chosen at random; index vectors along any dimension, or none."""
    sizes = [random.randint(1, 5) for _ in range(random.randint(1, 4))]
    order = random.sample(range(len(sizes)), len(sizes))
    batching = order[: random.randint(0, min(1, len(sizes) - 1))]
    rest = order[len(batching) :]
    dropped = sorted(rest[: random.randint(0, len(rest))])
    mapped = random.sample(rest, random.randint(1, len(rest)))
    window = [1 if i in batching or i in dropped else random.randint(1, n) for i, n in enumerate(sizes)]
    batch = [random.randint(1, 3) for _ in range(len(batching) + random.randint(0, 2))]
    followed = random.sample(range(len(batch)), len(batching))
    for i, j in zip(batching, followed, strict=True):
        batch[j] = sizes[i]
    vector = random.randint(0, len(batch))
    indices = [*batch[:vector], len(mapped), *batch[vector:]]
    if len(mapped) == 1 and random.random() < 0.3:
        vector, indices = len(batch), batch
    walked = [window[i] for i in range(len(sizes)) if i not in batching and i not in dropped]
    places = sorted(random.sample(range(len(batch) + len(walked)), len(walked)))
    windowed = list(batch)
    for place, n in zip(places, walked, strict=True):
        windowed.insert(place, n)
    follows = tuple(j if j < vector else j + 1 for j in followed)
    index = array(indices, random.choice(["s32", "u8", "s64"]))
    if opcode == "gather":
        return operation(
            "gather",
            windowed,
            (array(sizes), index),
            offset_dims=tuple(places),
            collapsed_slice_dims=tuple(dropped),
            operand_batching_dims=tuple(batching),
            start_indices_batching_dims=follows,
            start_index_map=tuple(mapped),
            index_vector_dim=vector,
            slice_sizes=tuple(window),
        )
    return operation(
        "scatter",
        sizes,
        (array(sizes), index, array(windowed)),
        update_window_dims=tuple(places),
        inserted_window_dims=tuple(dropped),
        input_batching_dims=tuple(batching),
        scatter_indices_batching_dims=follows,
        scatter_dims_to_operand_dims=tuple(mapped),
        index_vector_dim=vector,
    )


def reshape(random: Random) -> Operation:
    factors = [random.choice([1, 2, 2, 3, 5]) for _ in range(random.randint(1, 5))]
    return operation("reshape", _joined(random, factors), (array(_joined(random, factors)),))


def _joined(random: Random, factors: Sequence[int]) -> list[int]:
    """Sizes made by multiplying runs of the factors, in a new order now and then."""
    order = random.sample(factors, len(factors)) if random.random() < 0.4 else list(factors)
    sizes = [1]
    for f in order:
        if random.random() < 0.5:
            sizes.append(1)
        sizes[-1] *= f
    return sizes


KINDS: dict[str, Callable[[Random], Operation]] = {
    "pad": pad,
    "slice": slice_,
    "reduce-window": reduce_window,
    "convolution": convolution,
    "gather": gather,
    "scatter": scatter,
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "reshape": reshape,
}
