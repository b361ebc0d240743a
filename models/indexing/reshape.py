"""Operations that keep positions: reshape (row-major), bitcast and bitcast-convert (bits in memory)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import COMBINE, ELEMENT_BITS, ArrayShape, Layout
from hloproof.models.indexing.box import Builders, RangeVariables, array, delinear, linear, one, placed, sizes
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.layouts.bitcast import same_bits_map
from hloproof.models.layouts.memory_size import check_one_memory
from hloproof.models.maps.indexing_map import IndexingMap, boxed, dim


def reshape_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The row-major position is kept."""
    return (one(0, "moves", _reshaped(sizes(op.shape), sizes(op.operands[0]))),)


def reshape_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The element with the same place in row-major order."""
    return (one(0, "moves", _reshaped(sizes(op.operands[0]), sizes(op.shape))),)


def _reshaped(box: Sequence[int], to: Sequence[int]) -> IndexingMap:
    return IndexingMap(boxed(box), reindexed(tuple(dim(i) for i in range(len(box))), box, to))


def reindexed(index: Sequence[Expr], box: Sequence[int], to: Sequence[int]) -> tuple[Expr, ...]:
    """The index in box `to` at the row-major position that `index` has in `box`.

    Dimensions are taken in the smallest groups of equal element count, so that dimensions that stay whole keep plain
    expressions. A box without elements has no positions; then any index does.
    """
    if prod(box) != prod(to):
        raise NotModelled("reshape between different element counts")
    out: list[Expr] = [Const(0)] * len(to)
    if 0 in box:
        return tuple(out)
    left = [(e, n) for e, n in zip(index, box, strict=True) if n != 1]
    right = [(j, n) for j, n in enumerate(to) if n != 1]
    i = j = 0
    while i < len(left):
        first_i, first_j, have, want = i, j, left[i][1], right[j][1]
        i, j = i + 1, j + 1
        while have != want:
            if have < want:
                have, i = have * left[i][1], i + 1
            else:
                want, j = want * right[j][1], j + 1
        parts = left[first_i:i]
        position = linear([e for e, _ in parts], [n for _, n in parts])
        for (k, _), e in zip(right[first_j:j], delinear(position, [n for _, n in right[first_j:j]]), strict=True):
            out[k] = e
    return tuple(out)


def bitcast_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The element (or elements, when the operand's are smaller) at the same bits of memory.

    Without layouts the default one, row-major, is meant.
    """
    return (one(0, _kind(element_bits, op), _same_bits(array(op.shape), array(op.operands[0]))),)


def bitcast_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The elements that lie over it in memory, by both layouts."""
    return (one(0, _kind(element_bits, op), _same_bits(array(op.operands[0]), array(op.shape))),)


def _kind(bits: Callable[[ArrayShape], int], op: Operation) -> Kind:
    """A part of an element, or an element made of several, is none that is moved."""
    return "moves" if bits(array(op.shape)) == bits(array(op.operands[0])) else "reads"


def _same_bits(source: ArrayShape, target: ArrayShape) -> IndexingMap:
    """Elements of `source` to the elements of `target` that lie at the same bits. Raises NotModelled."""
    check_one_memory(source, target)
    box, to = sizes(source), sizes(target)
    order, to_order = physical_order(source), physical_order(target)
    physical_box = [box[i] for i in order]
    physical_to = [to[i] for i in to_order]
    if not _tiles_agree(source, target, physical_box, physical_to):
        return same_bits_map(source, target)
    bits = element_bits(source), element_bits(target)
    smaller = min(bits)
    if max(bits) % smaller:
        raise NotModelled(f"bitcast from {source.element_type} to {target.element_type}")
    # Elements are counted in the smaller ones; the last dimension is that of the parts of a larger one.
    parts, ranges = [n // smaller for n in bits], RangeVariables()
    index = [*(dim(i) for i in order), ranges.new(parts[0])]
    *physical, _ = reindexed(index, [*physical_box, parts[0]], [*physical_to, parts[1]])
    return IndexingMap(boxed(box), placed(dict(zip(to_order, physical, strict=True))), ranges.done())


def element_bits(shape: ArrayShape) -> int:
    """Bits from one element to the next in memory: `E(n)` of the layout, else the whole bytes of the type."""
    if shape.layout is not None and shape.layout.element_bits:
        return shape.layout.element_bits
    return max(8, _value_bits(shape))


def _value_bits(shape: ArrayShape) -> int:
    """Bits of an element's value. Raises NotModelled for types without a size."""
    bits = ELEMENT_BITS.get(shape.element_type)
    if bits is None:
        raise NotModelled(f"element type {shape.element_type} has no size")
    return bits


def physical_order(shape: ArrayShape) -> tuple[int, ...]:
    """Logical dimension numbers, most major in memory first."""
    if shape.layout is None:
        return tuple(range(shape.rank))
    if len(shape.layout.minor_to_major) != shape.rank:
        raise NotModelled("layout without an order of dimensions")
    return tuple(reversed(shape.layout.minor_to_major))


def _tiles_agree(source: ArrayShape, target: ArrayShape, box: Sequence[int], to: Sequence[int]) -> bool:
    """Tiles change positions. They can be left alone where there are none; where equal tiles lie over physical
    dimensions that agree; and where equal tiles lie over equal sizes below the tile's most major dimension, which both
    sides fill with whole tiles: then the dimensions above are merged or split without touching the order inside a row
    of tiles."""
    tiles = _tiles(source.layout)
    if tiles != _tiles(target.layout):
        return False
    if not tiles or tuple(box) == tuple(to):
        return True
    rank = len(tiles[0])
    if any(len(t) > rank for t in tiles) or COMBINE in tiles[0]:
        return False
    # Where there are fewer dimensions than the tile has, those below agree only between equal boxes and one element.
    tail, tail_to = box[-rank:], to[-rank:]
    if tail[1:] != tail_to[1:] or element_bits(source) != element_bits(target):
        return False
    return not any(n % tiles[0][0] for n in (*tail[:1], *tail_to[:1]))


def _tiles(layout: Layout | None) -> tuple[tuple[int, ...], ...]:
    if layout is None:
        return ()
    if layout.split_configs:
        raise NotModelled("bitcast of a shape that is split over memories")
    return tuple(t.dimensions for t in layout.tiles)


def bitcast_convert_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The same bits; when the sizes of the elements differ, the side with the smaller ones has one dimension more, the
    most minor, that counts the parts of an element of the other side."""
    return (one(0, _kind(_value_bits, op), _converted(array(op.shape), array(op.operands[0]))),)


def bitcast_convert_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """The elements that are made of its bits."""
    return (one(0, _kind(_value_bits, op), _converted(array(op.operands[0]), array(op.shape))),)


def _converted(source: ArrayShape, target: ArrayShape) -> IndexingMap:
    box, to, ranges = sizes(source), sizes(target), RangeVariables()
    of_source, of_target = _value_bits(source), _value_bits(target)
    index = tuple(dim(i) for i in range(len(box)))
    if of_source == of_target and box == to:
        return IndexingMap(boxed(box), index)
    if of_source < of_target and box == (*to, of_target // of_source):
        return IndexingMap(boxed(box), index[:-1])
    if of_source > of_target and to == (*box, of_source // of_target):
        return IndexingMap(boxed(box), (*index, ranges.new(to[-1])), ranges.done())
    raise NotModelled(f"bitcast-convert of shapes {box} and {to}")


BUILDERS: Final[Mapping[str, Builders]] = {
    "bitcast": Builders(bitcast_output_to_input, bitcast_input_to_output),
    "bitcast-convert": Builders(bitcast_convert_output_to_input, bitcast_convert_input_to_output),
    "reshape": Builders(reshape_output_to_input, reshape_input_to_output),
}
"""By opcode, both directions."""
