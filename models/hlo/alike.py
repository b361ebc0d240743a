"""Computations that are equal but for names: numbered, so that what is found of one is known of the others.

A network of many layers has thousands of computations and a few dozen different ones. Two are alike where they are
equal instruction by instruction, in the order of the text: opcode, shape, attributes, which result feeds which operand,
and the same of all that they call. The literals of constants count where they may place elements: not those of floats.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from hloproof.models.hlo.attributes import NON_SEMANTIC, Attributes, AttributeValue, ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.stages import checkpoint


@dataclass(frozen=True, slots=True)
class Likeness:
    """What computations that are alike have in common."""

    number: int
    """The same for all that are alike, and for no others of the module."""
    opcodes: frozenset[str]
    """All that occur, in what is called too."""
    is_static: bool
    """No size of any array is known at run time only."""


class AlikeComputations:
    """Numbers the computations of one module, each when it is first asked for."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._numbers: dict[Hashable, int] = {}
        self._found: dict[str, Likeness | None] = {}

    def of(self, computation: Computation) -> Likeness | None:
        """None where computations call each other in a circle, or one that is called is not there."""
        waiting = [computation]
        opened: set[str] = set()
        while waiting:
            current = waiting[-1]
            called = [n for i in current.instructions for n in i.attributes.computations()]
            missing = [n for n in dict.fromkeys(called) if n not in self._found]
            inner = [self._module.by_name.get(n) for n in missing]
            if current.name in self._found or any(c is None or c.name in opened for c in inner):
                self._found.setdefault(current.name, None)
            elif inner:
                opened.add(current.name)
                waiting += [c for c in inner if c is not None]
                continue
            else:
                self._found[current.name] = self._likeness(current, called)
            opened.discard(current.name)
            waiting.pop()
        return self._found[computation.name]

    def _likeness(self, computation: Computation, called: list[str]) -> Likeness | None:
        checkpoint()
        inner = [self._found[name] for name in dict.fromkeys(called)]
        alike = [one for one in inner if one is not None]
        if len(alike) < len(inner):
            return None
        places = {i.name: n for n, i in enumerate(computation.instructions)}
        rows = tuple((self._row(i), tuple(places[o] for o in i.operands)) for i in computation.instructions)
        number = self._numbers.setdefault((rows, places[computation.root_name]), len(self._numbers))
        opcodes = frozenset(i.opcode for i in computation.instructions).union(*(one.opcodes for one in alike))
        static = all(one.is_static for one in alike) and not any(_is_dynamic(i) for i in computation.instructions)
        return Likeness(number, opcodes, static)

    def _row(self, i: Instruction) -> Hashable:
        literal = None if i.literal is None or _is_float(i) else i.literal
        return i.opcode, i.shape, self.without_names(i.attributes), i.parameter_number, literal

    def without_names(self, attributes: Attributes) -> Hashable:
        """Attributes that decide what is computed, with the numbers of computations in place of their names. Those that
        are called have been asked for before."""
        return tuple((k, self._unnamed(v)) for k, v in attributes.pairs if k not in NON_SEMANTIC)

    def _unnamed(self, value: AttributeValue) -> Hashable:
        if isinstance(value, ComputationRef):
            found = self._found[value.name]
            return None if found is None else ("called", found.number)
        if isinstance(value, tuple) and value and isinstance(value[0], ComputationRef):
            return tuple(self._unnamed(v) for v in value if isinstance(v, ComputationRef))
        return value


def _is_float(i: Instruction) -> bool:
    return isinstance(i.shape, ArrayShape) and i.shape.element_type.startswith(("f", "bf", "c"))


def _is_dynamic(i: Instruction) -> bool:
    return any(isinstance(leaf, ArrayShape) and leaf.is_dynamic for _, leaf in leaves(i.shape))
