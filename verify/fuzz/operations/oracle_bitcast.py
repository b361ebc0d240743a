"""Part of target `ops`: bitcasts between layouts, by the definition: elements that share bits in memory.

Where both arrays fill whole rows of equal tiles, or none has tiles, the map of a bitcast is that of a reshape of the
dimensions in the order of memory, without constraints.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hloproof.definitions import define
from hloproof.fuzz.operations.plain_maps import not_plain
from hloproof.fuzz.operations.predicate import count_reads
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, Layout, SplitConfig
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.interpreter.maps import relation


def examine_bitcast(op: Operation) -> tuple[str, ...]:
    """Raises Failure where the maps are not what the definition says, or not as plain as they can be."""
    stated = Counter((d, x) for d, x, _ in count_reads(define(op, 0, 0), lambda k, index: 0))
    whole = rows_are_whole(*_arrays(op))
    kind = "moves" if len(set(map(_bits, _arrays(op)))) == 1 else "reads"  # a part of an element is not moved
    for forwards in (True, False):
        (s,) = output_to_input(op) if forwards else input_to_output(op)
        (m,) = s.maps
        if s.operand or s.kind != kind:
            raise Failure("bitcast: maps of what it is not", f"{s.kind}, operand {s.operand}")
        found = relation(m)
        if Counter(p if forwards else p[::-1] for p in found.elements()) != stated:
            raise Failure("bitcast: maps are not what the definition says", f"{op}: {m}")
        why = not_plain(m, op.opcode) if whole else ""
        if whole and (m.constraints or why):
            raise Failure("bitcast: maps are not plain", f"{op}: {m}: {why}")
    for changed in _refused(op):
        for ask in (output_to_input, input_to_output):
            try:
                raise Failure("bitcast: maps of what is not modelled", f"{changed}: {ask(changed)}")
            except NotModelled:
                continue
    return ("bitcast", "bitcast: whole" if whole else "bitcast: by positions")


def _arrays(op: Operation) -> tuple[ArrayShape, ArrayShape]:
    operand, result = op.operands[0], op.shape
    assert isinstance(operand, ArrayShape) and isinstance(result, ArrayShape)
    return operand, result


def _in_memory(shape: ArrayShape) -> list[int]:
    """The sizes, most major in memory first."""
    order = range(shape.rank) if shape.layout is None else reversed(shape.layout.minor_to_major)
    return [shape.dimensions[d] for d in order]


def _tiles(shape: ArrayShape) -> list[tuple[int, ...]]:
    return [] if shape.layout is None else [t.dimensions for t in shape.layout.tiles]


def _bits(shape: ArrayShape) -> int:
    own = shape.layout.element_bits if shape.layout is not None else 0
    return own or max(8, ELEMENT_BITS[shape.element_type])


def rows_are_whole(operand: ArrayShape, result: ArrayShape) -> bool:
    """Positions can be counted without regard to tiles: there are none; or equal ones over equal sizes; or equal ones,
    the first spanning all the others, over sizes that differ only at or above the first tile's most major dimension,
    where both are multiples of the tile."""
    here, there, tiles = _in_memory(operand), _in_memory(result), _tiles(operand)
    if tiles != _tiles(result):
        return False
    if not tiles or here == there:
        return True
    reach = len(tiles[0])
    if reach < max(map(len, tiles)) or -1 in tiles[0] or len(here) < reach or len(there) < reach:
        return False
    below = reach - 1
    same_below = here[len(here) - below :] == there[len(there) - below :]
    multiples = all(sizes[-reach] % tiles[0][0] == 0 for sizes in (here, there))
    return same_below and multiples and _bits(operand) == _bits(result)


def _refused(op: Operation) -> list[Operation]:
    """The same over split memory, over elements whose sizes do not divide, over types without a size, and with an order
    that leaves dimensions out."""
    operand, result = _arrays(op)
    layout = operand.layout or Layout(tuple(reversed(range(operand.rank))))
    found = [replace(op, operands=(replace(operand, element_type="unheard"),))]
    if not layout.element_bits:
        uneven = replace(layout, element_bits=_bits(result) // 2 * 3)
        found.append(replace(op, operands=(replace(operand, layout=uneven),)))
    if operand.rank:
        found.append(replace(op, operands=(replace(operand, layout=replace(layout, minor_to_major=())),)))
        split = replace(layout, split_configs=(SplitConfig(0, (1,)),))
        found.append(replace(op, operands=(replace(operand, layout=split),)))
    return found
