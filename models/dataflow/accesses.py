"""What a computation does to its buffers, as others need to know it: accesses to parameters, updates in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.shape import ShapeIndex

Spot = tuple[str, ShapeIndex]
"""An instruction's name and a shape index of its result: an HLO position within one computation."""

UNSEEN: Final = -1
"""Begins the index of a version that a body leaves in an operand's buffer and does not hand back; the operand's number
and the position in it follow."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a computation does to a part of one of its parameters: the instructions that do it, in the order of the
    text."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def reader(self) -> str | None:
        return self.reads[0] if self.reads else None

    @property
    def writer(self) -> str | None:
        return self.writes[0] if self.writes else None


@dataclass(frozen=True, slots=True)
class InPlaceWrite:
    """Instruction `writer` makes a version at `result` in the buffer that held the version at `operand`."""

    writer: str
    result: Spot
    operand: Spot
    optional: bool = False
    """Only where nothing collides: a copy keeps the two apart otherwise."""


@dataclass(frozen=True)
class OneBuffer:
    """What may lie in one buffer in a computation."""

    parts: tuple[tuple[int, ShapeIndex], ...]
    """Those of parameters, each with the parameter's number."""
    results: tuple[ShapeIndex, ...]
    """Those of the result."""


@dataclass(frozen=True)
class Summary:
    """What callers of a computation need to know: accesses to parts of parameters, and which part of which parameter a
    part of the result passes on, unchanged or overwritten in place."""

    accesses: Mapping[tuple[int, ShapeIndex], Access]
    passes: Mapping[ShapeIndex, tuple[int, ShapeIndex]]
    unchanged: frozenset[ShapeIndex]
    """The parts of the result that pass on what a parameter held. Who overwrites one in place and needs what it held
    is among those who read it."""
    one: Mapping[ShapeIndex, ShapeIndex]
    """For a part of the result the first part that is the same array; only where that is another one."""
    together: tuple[OneBuffer, ...]
    """Where parts of parameters and of the result may lie together once copies have been inserted."""
    shared: tuple[OneBuffer, ...]
    """Where several parts of parameters do, with those of the result."""

    def is_written(self, part: tuple[int, ShapeIndex] | None) -> bool:
        """Whether the computation writes this part of a parameter."""
        access = self.accesses.get(part) if part is not None else None
        return access is not None and access.writer is not None
