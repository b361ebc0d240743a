"""Operations that move elements and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.layout import Memory, place, read_memory, write_memory
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Element, Token, Value, indices, offsets, strides


def take(x: Array, sizes: tuple[int, ...], steps: tuple[int, ...], start: int = 0) -> list[Element]:
    """The elements at `start + sum(i * step)` for every index vector of `sizes`."""
    return [x.data[k] for k in offsets(sizes, steps, start)]


def broadcast(step: Step) -> Value:
    """`dimensions` says for each operand dimension which result dimension runs over it."""
    x, sizes = step.array(0), step.shape.dimensions
    steps = [0] * len(sizes)
    for result_dim, stride in zip(step.attributes.integers("dimensions"), strides(x.sizes), strict=True):
        steps[result_dim] = stride
    return step.result(take(x, sizes, tuple(steps)))


def reshape(step: Step) -> Value:
    """The row-major position of every element is kept."""
    return step.result(step.array(0).data)


def transpose(step: Step) -> Value:
    """Result dimension i is operand dimension `dimensions[i]`."""
    x = step.array(0)
    steps, order = strides(x.sizes), step.attributes.integers("dimensions")
    return step.result(take(x, tuple(x.sizes[p] for p in order), tuple(steps[p] for p in order)))


def reverse(step: Step) -> Value:
    """Index i of a reversed dimension of n comes from n - 1 - i."""
    x, reversed_dims = step.array(0), step.attributes.integers("dimensions")
    steps, start = list(strides(x.sizes)), 0
    for d in reversed_dims:
        start += (x.sizes[d] - 1) * steps[d]
        steps[d] = -steps[d]
    return step.result(take(x, x.sizes, tuple(steps), start))


def slice_(step: Step) -> Value:
    """Index i of a dimension comes from start + i * stride. Raises NotModelled without bounds."""
    x, bounds = step.array(0), step.attributes.get("slice")
    if not isinstance(bounds, tuple):
        raise NotModelled("slice without bounds")
    limits = [b for b in bounds if isinstance(b, SliceDimension)]
    steps = strides(x.sizes)
    start = sum(b.start * s for b, s in zip(limits, steps, strict=True))
    strided = tuple(b.stride * s for b, s in zip(limits, steps, strict=True))
    return step.result(take(x, step.shape.dimensions, strided, start))


def pad(step: Step) -> Value:
    """Element i of a dimension goes to `low + i * (interior + 1)`, and is dropped where that lies outside."""
    x, fill, sizes = step.array(0), step.array(1).data[0], step.shape.dimensions
    padding = [p for p in _tuple(step, "padding") if isinstance(p, PaddingDimension)]
    if prod(sizes) == 0:
        return step.result([])
    data = [fill] * prod(sizes)
    kept: list[list[tuple[int, int]]] = []
    for n, size, p, source, target in zip(x.sizes, sizes, padding, strides(x.sizes), strides(sizes), strict=True):
        places = ((i, p.low + i * (p.interior + 1)) for i in range(n))
        kept.append([(i * source, place * target) for i, place in places if 0 <= place < size])
    for pairs in product(*kept):
        data[sum(t for _, t in pairs)] = x.data[sum(s for s, _ in pairs)]
    return step.result(data)


def concatenate(step: Step) -> Value:
    """The operands behind each other along the one dimension of `dimensions`."""
    (axis,) = step.attributes.integers("dimensions")
    parts = step.arrays()
    data: list[Element] = []
    for row in range(prod(step.shape.dimensions[:axis])):
        for part in parts:
            run = prod(part.sizes[axis:])
            data.extend(part.data[row * run : (row + 1) * run])
    return step.result(data)


def iota(step: Step) -> Value:
    """The index along `iota_dimension`, as a number of the type. Raises NotModelled without it."""
    sizes, kind, axis = step.shape.dimensions, step.shape.element_type, step.attributes.get("iota_dimension")
    if not isinstance(axis, int):
        raise NotModelled("iota without iota_dimension")
    values = [step.scalars.constant(kind, i if kind in types.INTEGERS else float(i)) for i in range(sizes[axis])]
    inner = prod(sizes[axis + 1 :])
    run = [v for v in values for _ in range(inner)]
    return step.result(run * prod(sizes[:axis]))


def start_indices(step: Step, first: int, rank: int) -> list[int]:
    """The start index of each dimension: scalar operands from `first` on, or one operand of rank 1."""
    given = [step.array(k) for k in range(first, len(step.operands))]
    found = [step.scalars.integer(v) for x in given for v in x.data]
    if len(found) != rank:
        raise NotModelled(f"{step.instruction.opcode} without one start per dimension")
    return found


def clamped(start: int, size: int, window: int) -> int:
    """A start index moved so that `window` elements from it lie inside [0, size)."""
    return max(0, min(start, size - window))


def dynamic_slice(step: Step) -> Value:
    """Start indices are clamped to [0, size - slice size], both included."""
    x, sizes = step.array(0), step.shape.dimensions
    starts = start_indices(step, 1, len(x.sizes))
    steps = strides(x.sizes)
    start = sum(clamped(i, n, w) * s for i, n, w, s in zip(starts, x.sizes, sizes, steps, strict=True))
    return step.result(take(x, sizes, steps, start))


def dynamic_update_slice(step: Step) -> Value:
    """Start indices are clamped to [0, size - update size], both included."""
    x, update = step.array(0), step.array(1)
    starts = start_indices(step, 2, len(x.sizes))
    steps = strides(x.sizes)
    start = sum(clamped(i, n, w) * s for i, n, w, s in zip(starts, x.sizes, update.sizes, steps, strict=True))
    data = list(x.data)
    for k, value in zip(offsets(update.sizes, steps, start), update.data, strict=True):
        data[k] = value
    return step.result(data)


def copy(step: Step) -> Value:
    """The operand as it is."""
    return step.operands[0]


def bitcast(step: Step) -> Value:
    """The bytes in memory are kept: the operand is written by its layout and read back by the result's. Memory that
    holds nothing stays so."""
    if isinstance(step.operands[0], Token):
        return Token()
    x, result = step.array(0), step.shape
    source = step.operand_shapes[0]
    if not isinstance(source, ArrayShape):
        raise NotModelled("bitcast of an operand that is not an array")
    sizes = {(s.elements, types.width(s.element_type)) for s in (source, result)}
    if len(sizes) == 1 and all(_is_row_major(s) for s in (source, result)):
        return step.result(_same_bits(step, x, result.element_type))
    memory = write_memory(source, x.data)
    found = read_memory(result, memory)
    if found is not None and source.element_type == result.element_type:
        return step.result(found)
    if source.element_type != result.element_type:
        other = _through_memory(step, source, memory)
        if other is not None:
            return step.result(other)
    raise NotModelled(f"bitcast from {source.element_type} to {result.element_type} between these layouts")


def _through_memory(step: Step, source: ArrayShape, memory: Memory) -> list[Element] | None:
    """The result's elements from the bits that lie in one memory, the least significant part of an element first; None
    where elements share bytes, where it would read padding, and where elements do not stand for bits."""
    result, old = step.shape, source.element_type
    wide, narrow = types.width(old), types.width(result.element_type)
    if "pred" in (old, result.element_type) or min(wide, narrow) < 8 or any(m for m, _ in memory):
        return None
    if not step.scalars.reorders(old):
        return None
    unit = min(wide, narrow)
    bits: dict[int, int] = {}
    for (_, at), value in memory.items():
        whole = step.scalars.to_bits(old, value)
        for k in range(wide // unit):
            bits[at * (wide // unit) + k] = whole >> (unit * k) & ((1 << unit) - 1)
    pieces = narrow // unit
    found: list[Element] = []
    for index in indices(result.dimensions):
        which, at = place(result, index)
        parts = [bits.get(at * pieces + k) for k in range(pieces)]
        if which or None in parts:
            return None
        whole = sum((part or 0) << (unit * k) for k, part in enumerate(parts))
        found.append(step.scalars.from_bits(result.element_type, whole))
    return found


def _is_row_major(shape: ArrayShape) -> bool:
    layout = shape.layout
    if layout is None:
        return True
    return layout.minor_to_major == tuple(reversed(range(shape.rank))) and not (layout.tiles or layout.split_configs)


def _same_bits(step: Step, x: Array, target: str) -> list[Element]:
    if x.element_type == target:
        return x.data
    return [step.scalars.from_bits(target, step.scalars.to_bits(x.element_type, v)) for v in x.data]


def bitcast_convert(step: Step) -> Value:
    """The bits of the elements, least significant part first where the rank changes."""
    x, target = step.array(0), step.shape.element_type
    wide, narrow = types.width(x.element_type), types.width(target)
    if wide == narrow:
        return step.result(_same_bits(step, x, target))
    pieces, parts = wide // narrow, narrow // wide  # one of them is 0
    if not step.scalars.reorders(x.element_type):  # elements stand for what was read, not for bits
        if pieces:
            return step.result([v for v in x.data for _ in range(pieces)])
        return step.result([step.joined(target, group) for group in _runs(x.data, parts)])
    bits = [step.scalars.to_bits(x.element_type, v) for v in x.data]
    if pieces:
        made = [b >> (narrow * k) & ((1 << narrow) - 1) for b in bits for k in range(pieces)]
    else:
        made = [sum(b << (wide * k) for k, b in enumerate(group)) for group in _runs(bits, parts)]
    return step.result([step.scalars.from_bits(target, b) for b in made])


def _runs(elements: list[Element], length: int) -> list[list[Element]]:
    """Runs of neighbours of one length."""
    return [elements[i : i + length] for i in range(0, len(elements), length)]


def _tuple(step: Step, name: str) -> tuple[object, ...]:
    value = step.attributes.get(name)
    if not isinstance(value, tuple):
        raise NotModelled(f"{step.instruction.opcode} without {name}")
    return value


EXECUTIONS: Final[Mapping[str, Execute]] = {
    "bitcast": bitcast,
    "bitcast-convert": bitcast_convert,
    "broadcast": broadcast,
    "concatenate": concatenate,
    "copy": copy,
    "dynamic-reshape": reshape,
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "iota": iota,
    "pad": pad,
    "reshape": reshape,
    "reverse": reverse,
    "slice": slice_,
    "transpose": transpose,
}
"""By opcode."""
