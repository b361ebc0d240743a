"""What the parser collects before names, shapes and roots are settled."""

from __future__ import annotations

from dataclasses import dataclass, field

from hloproof.models.hlo.attributes import AttributeValue
from hloproof.models.hlo.shape import Shape


class DraftInstruction:
    """One instruction as read. `shape` is None where the text leaves it to inference; `name` is "" for an instruction
    written inside an operand list, until its computation is complete."""

    __slots__ = (
        "attributes",
        "declared_operands",
        "literal",
        "name",
        "opcode",
        "operands",
        "parameter_number",
        "pos",
        "shape",
    )

    def __init__(self, name: str, opcode: str, shape: Shape | None, pos: int) -> None:
        self.name, self.opcode, self.shape, self.pos = name, opcode, shape, pos
        self.operands: list[str | DraftInstruction] = []
        self.attributes: list[tuple[str, AttributeValue]] = []
        self.declared_operands: list[tuple[int, Shape, int]] | None = None
        """Shapes written before operands: operand number, shape, place."""
        self.parameter_number: int | None = None
        self.literal: str | None = None


@dataclass
class DraftComputation:
    """Instructions as read, and what the head and the foot of the computation say."""

    name: str
    pos: int
    instructions: list[DraftInstruction] = field(default_factory=list)
    roots: list[DraftInstruction] = field(default_factory=list)
    attributes: list[tuple[str, AttributeValue]] = field(default_factory=list)
    result_shape: Shape | None = None
    result_pos: int = 0
    is_entry: bool = False
    is_nested: bool = False
    free_operands: bool = False
    """A single instruction outside any computation: its operands are its parameters."""


@dataclass
class DraftModule:
    """A module as written; `pos` is the offset of its first character in the text."""

    name: str
    pos: int
    attributes: list[tuple[str, AttributeValue]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    """Where in the text each attribute of the header stands."""
    preamble: list[str] = field(default_factory=list)
    computations: list[DraftComputation] = field(default_factory=list)
