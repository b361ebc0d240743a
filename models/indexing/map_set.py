"""What indexing analysis answers: per operand, a set of maps and how much the set promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hloproof.models.maps.indexing_map import IndexingMap

Kind = Literal["moves", "reads", "bound"]
"""moves: the output element is that operand element. reads: exactly the elements that the result depends on, with
multiplicity in the maps of one operation, as a relation in composed ones. bound: a superset."""


@dataclass(frozen=True, slots=True)
class OperandMaps:
    """The maps between one output and one operand, as a set: their union is what is promised.

    For output-to-input `operand` is the operand number; for input-to-output it is the output number (0 for an
    array result, the tuple position otherwise; arrays in nested tuples are counted in order). An operand that is never
    read has no maps.
    """

    operand: int
    kind: Kind
    maps: tuple[IndexingMap, ...]
    position: tuple[int, ...] = ()
    """Where the array lies in the operand's tuple; () for operands that are arrays."""
    unknown: str = ""
    """Why nothing is known of this operand, in which case there are no maps: the opcode on the way without a map. Only
    composed answers have it; a single operation without maps raises NotModelled."""
    tables: tuple[tuple[object, ...], ...] = ()
    """For each map the group tables in which the steps of its replica part are positions, where composed maps pass
    other devices."""
