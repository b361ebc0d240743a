"""Arrays as the bytes that they are in memory: by layout, little-endian, elements of less than a byte packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.value import Array, indices
from hloproof.models.layouts.memory_size import element_bits
from hloproof.models.layouts.physical import layout_of, part_count
from hloproof.models.layouts.tiling import position_of


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits of memory as one number, the first byte lowest; `mask` says which of them mean anything (not padding)."""

    data: int
    mask: int


@lru_cache(maxsize=256)
def positions(shape: ArrayShape) -> tuple[int, ...]:
    """The position in memory of every element, row-major by logical index. Raises NotModelled."""
    if part_count(shape) > 1 or layout_of(shape).dynamic_prefix_bytes or shape.is_dynamic:
        raise NotModelled("an array of dynamic size or split over memories, as bytes")
    return tuple(position_of(shape, index) for index in indices(shape.dimensions))


def encoded(array: Array, shape: ArrayShape, scalars: Scalars, chosen: Sequence[int] | None = None) -> Bits:
    """The bits of an array, or of the elements whose row-major numbers are chosen."""
    width, places, kind = element_bits(shape), positions(shape), shape.element_type
    one = (1 << width) - 1
    size = (max(places, default=0) + 1) * width // 8 + 1
    if width % 8 == 0 and chosen is None:
        data, mask = bytearray(size), bytearray(size)
        step = width // 8
        full = b"\xff" * step
        for element, place in zip(array.data, places, strict=True):
            at = place * step
            data[at : at + step] = (scalars.to_bits(kind, element) & one).to_bytes(step, "little")
            mask[at : at + step] = full
        return Bits(int.from_bytes(data, "little"), int.from_bytes(mask, "little"))
    value = covered = 0
    for k in range(len(places)) if chosen is None else chosen:
        value |= (scalars.to_bits(kind, array.data[k]) & one) << places[k] * width
        covered |= one << places[k] * width
    return Bits(value, covered)


def decoded(memory: int, shape: ArrayShape, scalars: Scalars) -> Array:
    """The array that lies in the lowest bits of a number."""
    width, kind = element_bits(shape), shape.element_type
    one = (1 << width) - 1
    data = [scalars.from_bits(kind, _value(kind, memory >> place * width & one)) for place in positions(shape)]
    return Array(kind, shape.dimensions, data)


def _value(kind: str, bits: int) -> int:
    """A pred is one bit of its byte."""
    return bits & 1 if kind == "pred" else bits
