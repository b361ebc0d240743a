"""Movement by classes: each operation says what becomes of the classes of every dimension."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.gathered import require_slices
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.compact.classed import (
    MOST_WRITTEN_OUT,
    Classes,
    all_alike,
    all_different,
    checked,
    common_classes,
    lifted,
    made,
    numbered,
    parts,
    picked,
    whole,
)
from hloproof.models.interpreter.operations.movement import clamped, start_indices
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Classed, Token, Value, strides


def selected(x: Classed, indices: Sequence[Sequence[int]]) -> Value:
    """The elements at these indices along each dimension."""
    picks: list[Sequence[int]] = []
    classes: list[Classes] = []
    for own, wanted in zip(x.classes, indices, strict=True):
        keys = [own[k] for k in wanted]
        found, firsts = numbered(keys)
        classes.append(found)
        picks.append([keys[k] for k in firsts])
    return made(x.element_type, classes, picked(x, picks))


def broadcast(step: Step) -> Value:
    """The indices of a new dimension are all alike."""
    x = lifted(step.operands[0])
    sizes, targets = step.shape.dimensions, step.attributes.integers("dimensions")
    classes = [all_alike(n) for n in sizes]
    for d, target in enumerate(targets):
        classes[target] = x.classes[d]
    order = sorted(range(len(targets)), key=lambda d: targets[d])
    return made(x.element_type, classes, picked(x, whole(x), order))


def transposed(x: Classed, order: Sequence[int]) -> Classed:
    """Result dimension i is operand dimension `order[i]`."""
    data = picked(x, whole(x), order)
    return Classed(x.element_type, tuple(x.sizes[d] for d in order), tuple(x.classes[d] for d in order), data)


def transpose(step: Step) -> Value:
    """The classes go with their dimensions."""
    found = transposed(lifted(step.operands[0]), step.attributes.integers("dimensions"))
    return made(found.element_type, found.classes, found.data)


def reverse(step: Step) -> Value:
    """The classes of the reversed dimensions from the last to the first."""
    x, turned = lifted(step.operands[0]), step.attributes.integers("dimensions")
    return selected(x, [range(n - 1, -1, -1) if d in turned else range(n) for d, n in enumerate(x.sizes)])


def slice_(step: Step) -> Value:
    """Every `stride`-th index from `start` on. Raises NotModelled without bounds."""
    bounds = step.attributes.get("slice")
    if not isinstance(bounds, tuple):
        raise NotModelled("slice without bounds")
    limits = [b for b in bounds if isinstance(b, SliceDimension)]
    sizes = step.shape.dimensions
    rows = [range(b.start, b.start + n * b.stride, b.stride) for b, n in zip(limits, sizes, strict=True)]
    return selected(lifted(step.operands[0]), rows)


def dynamic_slice(step: Step) -> Value:
    """Start indices are clamped, so that the slice lies inside the operand."""
    x, sizes = lifted(step.operands[0]), step.shape.dimensions
    starts = start_indices(step, 1, len(x.sizes))
    begins = [clamped(s, n, w) for s, n, w in zip(starts, x.sizes, sizes, strict=True)]
    return selected(x, [range(b, b + w) for b, w in zip(begins, sizes, strict=True)])


def dynamic_update_slice(step: Step) -> Value:
    """Start indices are clamped, so that the update lies inside the operand."""
    x, update = lifted(step.operands[0]), lifted(step.operands[1])
    starts = start_indices(step, 2, len(x.sizes))
    begins = [clamped(s, n, w) for s, n, w in zip(starts, x.sizes, update.sizes, strict=True)]
    keys = [
        [(own[k], new[k - b] if b <= k < b + len(new) else -1) for k in range(len(own))]
        for own, new, b in zip(x.classes, update.classes, begins, strict=True)
    ]
    return _overlaid(x, update, keys)


def _overlaid(below: Classed, above: Classed, keys: Sequence[Sequence[tuple[int, int]]]) -> Value:
    """Per index the class in `below`, and that in `above` or -1: `above` counts where no dimension says -1."""
    found = [numbered(k) for k in keys]
    named = [[k[i] for i in firsts] for k, (_, firsts) in zip(keys, found, strict=True)]
    checked([len(n) for n in named])
    under = picked(below, [[b for b, _ in n] for n in named]) if below.data else []
    over = picked(above, [[max(a, 0) for _, a in n] for n in named]) if above.data else under
    inside = [True]
    for n in named:
        inside = [ok and a >= 0 for ok in inside for _, a in n]
    data = [a if ok else b for ok, a, b in zip(inside, over, under or over, strict=True)]
    return made(below.element_type, [c for c, _ in found], data)


def pad(step: Step) -> Value:
    """The padding value, and over it the operand; negative padding cuts off."""
    x, fill = lifted(step.operands[0]), lifted(step.operands[1]).data[0]
    sizes, given = step.shape.dimensions, step.attributes.get("padding")
    padding = [p for p in given if isinstance(p, PaddingDimension)] if isinstance(given, tuple) else []
    keys: list[list[tuple[int, int]]] = []
    for own, n, p in zip(x.classes, sizes, padding, strict=True):
        row = [(0, -1)] * n
        for k, c in enumerate(own):
            at = p.low + k * (p.interior + 1)
            if 0 <= at < n:
                row[at] = (0, c)
        keys.append(row)
    ground = Classed(x.element_type, sizes, tuple(all_alike(n) for n in sizes), [fill] if prod(sizes) else [])
    return _overlaid(ground, x, keys)


def concatenated(arrays: Sequence[Classed], axis: int) -> Value:
    """The arrays behind each other along `axis`; in other dimensions classes are split until they fit all of them."""
    classes: list[Classes] = []
    picks: list[list[Sequence[int]]] = [[] for _ in arrays]
    for d in range(len(arrays[0].sizes)):
        if d == axis:
            base, joined = 0, []
            for x, pick in zip(arrays, picks, strict=True):
                joined += [base + c for c in x.classes[d]]
                base += x.parts[d]
                pick.append(range(x.parts[d]))
            classes.append(tuple(joined))
            continue
        found, own = common_classes([x.classes[d] for x in arrays])
        classes.append(found)
        for pick, one in zip(picks, own, strict=True):
            pick.append(one)
    counts = [parts(c) for c in classes]
    checked(counts)
    columns = [(picked(x, p), prod(len(q) for q in p[axis:])) for x, p in zip(arrays, picks, strict=True)]
    data = [v for row in range(prod(counts[:axis])) for c, n in columns for v in c[row * n : (row + 1) * n]]
    return made(arrays[0].element_type, classes, data)


def concatenate(step: Step) -> Value:
    """The operands behind each other along the one dimension of `dimensions`."""
    (axis,) = step.attributes.integers("dimensions")
    return concatenated([lifted(x) for x in step.operands], axis)


def iota(step: Step) -> Value:
    """All indices differ along `iota_dimension`, and are alike along the others. Raises NotModelled without it."""
    sizes, kind, axis = step.shape.dimensions, step.shape.element_type, step.attributes.get("iota_dimension")
    if not isinstance(axis, int):
        raise NotModelled("iota without iota_dimension")
    classes = [all_different(n) if d == axis else all_alike(n) for d, n in enumerate(sizes)]
    numbers = [step.scalars.constant(kind, k if kind in types.INTEGERS else float(k)) for k in range(sizes[axis])]
    return made(kind, classes, numbers if prod(sizes) else [])


def reshaped(x: Classed, sizes: Sequence[int]) -> Classed:
    """The row-major position of every element is kept: dimensions are merged and split between the places where the
    products of old and new sizes meet."""
    if not prod(sizes):
        return Classed(x.element_type, tuple(sizes), tuple(all_different(n) for n in sizes), [])
    classes: list[Classes] = []
    moves: list[list[int]] = []
    steps = strides(x.parts)
    old = new = 0
    while old < len(x.sizes) or new < len(sizes):
        first, begin, left, right = old, new, 1, 1
        if old < len(x.sizes):
            left, old = x.sizes[old], old + 1
        if new < len(sizes):
            right, new = sizes[new], new + 1
        while left != right:
            if left < right:
                left, old = left * x.sizes[old], old + 1
            else:
                right, new = right * sizes[new], new + 1
        found, places = _regrouped(x.classes[first:old], steps[first:old], sizes[begin:new])
        classes += found
        moves.append(places)
    checked([parts(c) for c in classes])
    where = [0]
    for places in moves:
        where = [base + move for base in where for move in places]
    return Classed(x.element_type, tuple(sizes), tuple(classes), [x.data[k] for k in where])


def _regrouped(old: Sequence[Classes], steps: Sequence[int], sizes: Sequence[int]) -> tuple[list[Classes], list[int]]:
    """The classes of the new dimensions of one group; and for each combination of them, the last running fastest, where
    its element lies in the data: `steps` says how far the classes of the old dimensions lie apart there."""
    if len(old) == 1 and len(sizes) == 1:
        return [old[0]], [c * steps[0] for c in range(parts(old[0]))]
    if prod(len(c) for c in old) > MOST_WRITTEN_OUT:
        raise NotModelled("a reshape of dimensions that are too large, by classes")
    flat = [0]
    for own, step in zip(old, steps, strict=True):
        inside = [c * step for c in own]
        flat = [base + move for base in flat for move in inside]
    found: list[Classes] = []
    rows, inner = [flat], len(flat)
    for n in sizes:
        inner //= n
        columns = [tuple(tuple(row[k * inner : (k + 1) * inner]) for row in rows) for k in range(n)]
        named, firsts = numbered(columns)
        found.append(named)
        rows = [row[k * inner : (k + 1) * inner] for row in rows for k in firsts]
    return found, [row[0] for row in rows]


def reshape(step: Step) -> Value:
    """The same elements in row-major order."""
    found = reshaped(lifted(step.operands[0]), step.shape.dimensions)
    return made(found.element_type, found.classes, found.data)


def bitcast(step: Step) -> Value:
    """Of one type, without tiles: the dimensions are put in the order of memory, most major first, and read back."""
    if isinstance(step.operands[0], Token):
        return Token()
    x, source, result = lifted(step.operands[0]), step.operand_shapes[0], step.shape
    if not isinstance(source, ArrayShape) or source.element_type != result.element_type:
        raise NotModelled("bitcast to another type, by classes")
    for shape in (source, result):
        if shape.layout is not None and (shape.layout.tiles or shape.layout.split_configs):
            raise NotModelled("bitcast between tiled layouts, by classes")
    physical = transposed(x, _major_first(source))
    order = _major_first(result)
    back = [order.index(d) for d in range(len(order))]
    found = transposed(reshaped(physical, [result.dimensions[d] for d in order]), back)
    return made(found.element_type, found.classes, found.data)


def _major_first(shape: ArrayShape) -> list[int]:
    if shape.layout is None or len(shape.layout.minor_to_major) != shape.rank:
        return list(range(shape.rank))
    return list(reversed(shape.layout.minor_to_major))


def gather(step: Step) -> Value:
    """As in the plain operation, without batching dimensions: windows of all starts decide what is alike."""
    x, given, a = lifted(step.operands[0]), lifted(step.operands[1]), step.attributes
    require_slices(a, step.shape.dimensions)
    if a.integers("operand_batching_dims"):
        raise NotModelled("gather with batching dimensions, by classes")
    offsets, start_map, window = a.integers("offset_dims"), a.integers("start_index_map"), a.integers("slice_sizes")
    vector = a.integer("index_vector_dim", len(given.sizes))
    collapsed, sizes = set(a.integers("collapsed_slice_dims")), step.shape.dimensions
    batch = [d for d in range(len(given.sizes)) if d != vector]
    rows = product(*(range(given.parts[d]) for d in batch))
    length = 1 if vector == len(given.sizes) else given.sizes[vector]
    starts: list[list[int]] = []
    for row in rows:
        at = [0] * len(x.sizes)
        for d, k in zip(start_map, range(length), strict=True):
            place = {**dict(zip(batch, row, strict=True))}
            if vector < len(given.sizes):
                place[vector] = given.classes[vector][k]
            flat = 0
            for dim, n in enumerate(given.parts):
                flat = flat * n + place[dim]
            at[d] = clamped(step.scalars.integer(given.data[flat]), x.sizes[d], window[d])
        starts.append(at)
    kept = [d for d in range(len(x.sizes)) if d not in collapsed]
    different = [sorted({s[d] for s in starts}) for d in range(len(x.sizes))]
    if any(len(different[d]) * window[d] > 1 << 20 for d in kept):
        raise NotModelled("gather of too many windows, by classes")
    own = {d: numbered([tuple(x.classes[d][s + k] for s in different[d]) for k in range(window[d])]) for d in kept}
    result_batch = [d for d in range(len(sizes)) if d not in offsets]
    classes: list[Classes] = [()] * len(sizes)
    for d, source in zip(result_batch, batch, strict=True):
        classes[d] = given.classes[source]
    for d, source in zip(offsets, kept, strict=True):
        classes[d] = own[source][0]
    counts = checked([parts(c) for c in classes])
    steps = [prod(x.parts[d + 1 :]) for d in range(len(x.sizes))]
    batch_counts = [counts[d] for d in result_batch]
    firsts = {d: own[source][1] for d, source in zip(offsets, kept, strict=True)}
    source_of = dict(zip(offsets, kept, strict=True))
    data = []
    for index in product(*(range(n) for n in counts)):
        number = 0
        for d, n in zip(result_batch, batch_counts, strict=True):
            number = number * n + index[d]
        at = list(starts[number])
        for d, source in source_of.items():
            at[source] += firsts[d][index[d]]
        data.append(x.data[sum(x.classes[d][k] * s for d, (k, s) in enumerate(zip(at, steps, strict=True)))])
    return made(x.element_type, classes, data)


__all__ = [
    "bitcast",
    "broadcast",
    "concatenate",
    "concatenated",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "iota",
    "pad",
    "reshape",
    "reverse",
    "selected",
    "slice_",
    "transpose",
]
