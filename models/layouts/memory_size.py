"""How much memory an array takes: padded size, padding, bits and bytes; and in which order its elements lie there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import COMBINE, ELEMENT_BITS, ArrayShape, Layout
from hloproof.models.layouts.physical import layout_of, max_split_size, part_count
from hloproof.models.layouts.tiling import expanded_dimensions, position_of


def padded_elements(shape: ArrayShape) -> int:
    """Elements of memory, padding included, rounded up to `L(n)`; of one part where dimensions are split."""
    size = prod(expanded_dimensions(shape))
    return _round_up(size, layout_of(shape).tail_padding or 1)


def padding_elements(shape: ArrayShape) -> int:
    """Positions that hold no element, over all parts."""
    return padded_elements(shape) * part_count(shape) - shape.elements


def padding_share(shape: ArrayShape) -> Fraction:
    """The share of the memory that is padding; 0 for an empty array."""
    total = padded_elements(shape) * part_count(shape)
    return Fraction(padding_elements(shape), total) if total else Fraction(0)


def check_one_memory(one: ArrayShape, other: ArrayShape) -> None:
    """Positions in the one are positions in the other. Raises NotModelled for two memory spaces, `S(n)`, where equal
    offsets are different bits, and for metadata before the data, `M(n)`, of different size."""
    first, second = layout_of(one), layout_of(other)
    if first.memory_space != second.memory_space:
        spaces = " and ".join(map(str, sorted((first.memory_space, second.memory_space))))
        raise NotModelled(f"equal offsets in the memory spaces {spaces} as the same bits")
    if first.dynamic_prefix_bytes != second.dynamic_prefix_bytes:
        raise NotModelled("offsets behind metadata M(n) of different size")


def check_no_metadata(shape: ArrayShape) -> None:
    """Memory begins with the data. Raises NotModelled where metadata of dynamic sizes, `M(n)`, lies before it."""
    if layout_of(shape).dynamic_prefix_bytes:
        raise NotModelled("bytes of memory with metadata M(n) before the data")


def element_bits(shape: ArrayShape) -> int:
    """Bits that an element takes in memory: `E(n)`, else the whole bytes of its type. Raises NotModelled where these
    are too few for its value."""
    said, bits = layout_of(shape).element_bits, ELEMENT_BITS.get(shape.element_type)
    if bits is not None and 0 < said < (1 if shape.element_type == "pred" else bits):
        raise NotModelled(f"an element of type {shape.element_type} in {said} bits")
    if said:
        return said
    if bits is None:
        raise NotModelled(f"the size of an element of type {shape.element_type}")
    return _round_up(bits, 8)


def bit_offset(shape: ArrayShape, index: Sequence[int]) -> int:
    """The first bit of an element: position times bits per element."""
    return position_of(shape, index) * element_bits(shape)


def data_bytes(shape: ArrayShape) -> int:
    """Bytes of the elements alone, without padding."""
    return _bytes(shape.elements * element_bits(shape))


def transfer_bytes(shape: ArrayShape) -> int:
    """Bytes that move when the whole buffer is copied: every part, padding included."""
    return part_count(shape) * _bytes(padded_elements(shape) * element_bits(shape))


def upstream_bytes(shape: ArrayShape) -> int | None:
    """The size that XLA's ArraySize reports.

    With tiles it rounds up by the first tile alone and counts one part; without tiles it counts the elements and leaves
    `L(n)` out. None where the first tile combines dimensions: the sum has no meaning there.
    """
    layout = layout_of(shape)
    # Kept as XLA has it, for comparison with what it prints; what is true is `transfer_bytes`.
    if not layout.tiles:
        return data_bytes(shape)
    tile = layout.tiles[0].dimensions
    if COMBINE in tile:
        return None
    sizes = [max_split_size(shape, i) for i in layout.minor_to_major]
    sizes += [1] * len(tile)  # at least as many as the tile has
    for k, t in enumerate(reversed(tile)):
        sizes[k] = _round_up(sizes[k], t)
    return _bytes(_round_up(prod(sizes), layout.tail_padding or 1) * element_bits(shape))


def _round_up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def _bytes(bits: int) -> int:
    return -(-bits // 8)


def order_of_elements(shape: ArrayShape) -> Layout:
    """The layout without what says nothing of the order: the place of dimensions of size 1 where there are no tiles."""
    layout = layout_of(shape)
    order = layout.minor_to_major
    if not layout.tiles:
        order = tuple(d for d in order if shape.dimensions[d] != 1)
    return replace(layout, minor_to_major=order, element_bits=element_bits(shape), memory_space=0)


def is_indexed_alike(a: ArrayShape, b: ArrayShape) -> bool:
    """Equal indices of the two count to equal places, however wide their elements are."""
    one, two = (replace(order_of_elements(s), element_bits=0) for s in (a, b))
    return a.dimensions == b.dimensions and one == two


def is_sized(shape: ArrayShape) -> bool:
    """A size is kept beside the elements."""
    return shape.is_dynamic or layout_of(shape).dynamic_prefix_bytes > 0
