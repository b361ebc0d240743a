"""Indexing maps over dimensions in the order of memory.

Upstream's tests ask for maps either between logical indices, or, with physical layouts, between indices whose
dimensions are in the order of memory, the most major first: those of the output first taken to its logical index, those
of each operand last taken to its own order. Only the order of dimensions takes part, as there: tiles, padding and the
layouts of arrays that are read for runtime variables do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Var
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.indexing import OperandMaps
from hloproof.models.layouts.physical import physical_order
from hloproof.models.maps.indexing_map import IndexingMap, boxed, compose
from hloproof.models.simplifier.simplify import simplify


def in_memory_order(
    sets: Sequence[OperandMaps],
    computation: Computation,
    instruction: Instruction,
    direction: str,
    number: int,
    followed: bool,
) -> tuple[OperandMaps, ...]:
    """The maps of an output (or from an operand) `number` of an instruction, both sides in the order of memory.

    Raises NotModelled where a side is no array.
    """
    backwards = direction == "output-to-input"
    found = []
    for s in sets:
        if backwards or followed:
            here = array_at(instruction, number)
        else:
            here = _array(dict(leaves(computation.by_name[instruction.operands[number]].shape)).get(s.position))
        if backwards:
            source = computation.parameters[s.operand].name if followed else instruction.operands[s.operand]
            there = _array(dict(leaves(computation.by_name[source].shape)).get(s.position))
        else:
            there = array_at(computation.root if followed else instruction, s.operand)
        first, last = to_logical(here), to_physical(there)
        found.append(replace(s, maps=tuple(simplify(compose(compose(first, m), last)).map for m in s.maps)))
    return tuple(found)


def to_physical(shape: ArrayShape) -> IndexingMap:
    """From a logical index to the same with its dimensions in the order of memory, the most major first."""
    return IndexingMap(boxed(shape.dimensions), tuple(Var(f"d{k}") for k in physical_order(shape)))


def to_logical(shape: ArrayShape) -> IndexingMap:
    """The way back."""
    order = physical_order(shape)
    places = {k: n for n, k in enumerate(order)}
    return IndexingMap(
        boxed([shape.dimensions[k] for k in order]), tuple(Var(f"d{places[k]}") for k in range(shape.rank))
    )


def array_at(instruction: Instruction, number: int) -> ArrayShape:
    """The array of this number in what an instruction gives. Raises NotModelled where it is none."""
    return _array(dict(enumerate(leaf for _, leaf in leaves(instruction.shape))).get(number))


def _array(found: Shape | None) -> ArrayShape:
    if not isinstance(found, ArrayShape):
        raise NotModelled("the order of dimensions of what is no array")
    return found
