"""Modules, computations and instructions as data. Operands and called computations are names, resolved by the owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from hloproof.models.errors import Position
from hloproof.models.hlo.attributes import NON_SEMANTIC, Attributes, Word
from hloproof.models.hlo.shape import Shape


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. Names are without `%`."""

    name: str
    opcode: str
    shape: Shape
    operands: tuple[str, ...] = ()
    attributes: Attributes = Attributes()
    parameter_number: int | None = None
    literal: str | None = None
    """The text between the parentheses of `constant(...)`, white space folded."""
    position: Position = field(default=Position(0, 0), compare=False)


@dataclass(frozen=True)
class Computation:
    """Instructions in the order of the text (the schedule, when the module is scheduled), and the root's name."""

    name: str
    instructions: tuple[Instruction, ...]
    root_name: str
    attributes: Attributes = Attributes()
    """What stands behind the closing brace or in the head, such as `execution_thread="parallel"`."""
    position: Position = field(default=Position(0, 0), compare=False)

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        return {i.name: i for i in self.instructions}

    @property
    def root(self) -> Instruction:
        return self.by_name[self.root_name]

    @cached_property
    def parameters(self) -> tuple[Instruction, ...]:
        """Parameters by number."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return tuple(sorted(found, key=lambda i: i.parameter_number or 0))

    @cached_property
    def users(self) -> Mapping[str, tuple[Instruction, ...]]:
        """For each instruction's name, who uses it, in order, each user once."""
        out: dict[str, list[Instruction]] = {i.name: [] for i in self.instructions}
        for i in self.instructions:
            for operand in dict.fromkeys(i.operands):
                out[operand].append(i)
        return {name: tuple(users) for name, users in out.items()}

    @cached_property
    def operands_first(self) -> tuple[Instruction, ...]:
        """All instructions, each behind its operands: the order of the text where that is so, else as close to it as
        they let. Raises ValueError where operands form a cycle, which no text is read with."""
        done: dict[str, Instruction] = {}
        begun: set[str] = set()
        waiting = list(reversed(self.instructions))
        while waiting:
            i = waiting[-1]
            missing = [] if i.name in done else [self.by_name[o] for o in i.operands if o not in done]
            if not missing:
                waiting.pop()
                done.setdefault(i.name, i)
            elif i.name in begun:
                raise ValueError(f"{i.name} of {self.name} is computed from itself")
            else:
                begun.add(i.name)
                waiting.extend(reversed(missing))
        return tuple(done.values())

    def operand_shapes(self, instruction: Instruction) -> tuple[Shape, ...]:
        return tuple(self.by_name[o].shape for o in instruction.operands)


@dataclass(frozen=True)
class Module:
    """Computations in the order of the text; one of them is the entry."""

    name: str
    computations: tuple[Computation, ...]
    entry_name: str
    attributes: Attributes = Attributes()
    """What follows the name in the header: `is_scheduled=true`, `input_output_alias=...`, `replica_count=4`."""
    preamble: tuple[str, ...] = ()
    """Blocks between header and computations (FileNames, ...), as lines."""
    position: Position = field(default=Position(1, 1), compare=False)

    @cached_property
    def by_name(self) -> Mapping[str, Computation]:
        return {c.name: c for c in self.computations}

    @property
    def entry(self) -> Computation:
        return self.by_name[self.entry_name]

    def find(self, name: str | None) -> Computation | None:
        """The computation of this name, or None where no name is given or the module has no such computation."""
        return None if name is None else self.by_name.get(name)


Uses = tuple[frozenset[int], ...]
"""For each result of a body the numbers of the parameters that it is computed from."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction without names: all that its maps and its owed claims depend on. Equal operations owe equal claims.

    Called computations take part by what they use alone: an operation whose meaning is that of a body (fusion, call,
    while, ...) is treated where the module is at hand.
    """

    opcode: str
    shape: Shape
    operands: tuple[Shape, ...]
    attributes: Attributes = Attributes()
    replicas: int = 1
    partitions: int = 1
    uses: Uses | None = None
    """What the body of a sort, map or scatter uses of its parameters; None: all of them, or not known."""

    @classmethod
    def of(
        cls,
        instruction: Instruction,
        computation: Computation,
        replicas: int = 1,
        partitions: int = 1,
        uses: Uses | None = None,
    ) -> Operation:
        """The operation that `instruction` of `computation` performs; attributes that move no data are left out."""
        kept = tuple(p for p in instruction.attributes.pairs if p[0] not in NON_SEMANTIC)
        return cls(
            instruction.opcode,
            instruction.shape,
            computation.operand_shapes(instruction),
            Attributes(kept),
            replicas,
            partitions,
            uses,
        )


def device_counts(module: Module) -> tuple[int, int]:
    """`replica_count` and `num_partitions` of the module's header; 1 where it does not say."""
    return _count(module, "replica_count"), _count(module, "num_partitions")


def _count(module: Module, name: str) -> int:
    value = module.attributes.get(name)
    if isinstance(value, Word) and value.text.isdecimal():
        return int(value.text)
    return value if isinstance(value, int) and not isinstance(value, bool) else 1
