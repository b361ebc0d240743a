"""What two modules compute alike is computed once: the values of operations already applied to equal operands.

Operands are compared as objects, so that looking up costs nothing; two instructions of which the second finds the value
of the first have equal operands, and an operation of the same opcode, type and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

from hloproof.models.hlo.attributes import NON_SEMANTIC, ComputationRef
from hloproof.models.hlo.beside import OF_ANY_CALL
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.shard_shapes import is_shard_call
from hloproof.models.interpreter.operations.collective import COLLECTIVES
from hloproof.models.interpreter.operations.dispatch import OPERATIONS
from hloproof.models.interpreter.value import Value

_PURE: Final = frozenset(OPERATIONS) | frozenset(COLLECTIVES)
"""Opcodes whose results follow from their operands and attributes alone."""
_KEEPS_LAYOUT: Final = frozenset({"bitcast", "custom-call"})
_UNREAD: Final = NON_SEMANTIC - {"backend_config"}
_UNREAD_OF_CALLS: Final = _UNREAD & OF_ANY_CALL
"""Whether a call is run at all is asked of all else that stands beside it."""
_UNREAD_BETWEEN: Final = _UNREAD - {"frontend_attributes"}
"""Of what goes between devices these may say when it does."""


class SharedValues:
    """Values under one semantics and one choice of inputs, for any number of modules."""

    def __init__(self, noted: set[Hashable] | None = None) -> None:
        """`noted` is what the semantics notes down as it computes; what was noted for a value counts for all who share
        it."""
        self.literals: dict[Any, Value] = {}
        self._noted: set[Hashable] = set() if noted is None else noted
        self._found: dict[Hashable, tuple[Sequence[Sequence[Value]], list[Value], frozenset[Hashable]]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._computations: dict[tuple[int, str], int] = {}
        self._modules: list[Module] = []

    def value(
        self,
        module: Module,
        computation: Computation,
        i: Instruction,
        operands: list[tuple[Value, ...]],
        devices: Sequence[int],
        compute: Callable[[], list[Value]],
    ) -> list[Value]:
        """The value of an instruction on each device, computed where it is not yet known."""
        if i.opcode not in _PURE or is_shard_call(i):  # what such calls do stands in part at their operands
            return compute()
        key = (self._operation(module, computation, i), tuple(devices), *(id(v) for o in operands for v in o))
        known = self._found.get(key)
        if known is not None:
            self._noted |= known[2]
            return known[1]
        before = self.taken()
        result = compute()
        # The operands are kept, as their identities are the key.
        self._found[key] = (operands, result, frozenset(self._noted))
        self._noted |= before
        return result

    def taken(self) -> frozenset[Hashable]:
        """What was noted since this was asked before."""
        found = frozenset(self._noted)
        self._noted.clear()
        return found

    def _operation(self, module: Module, computation: Computation, i: Instruction) -> Hashable:
        layouts: Hashable = None
        if i.opcode in _KEEPS_LAYOUT:
            layouts = (i.shape, computation.operand_shapes(i))
        shape: Hashable = i.shape
        if isinstance(i.shape, ArrayShape):
            shape = (i.shape.element_type, i.shape.dimensions, i.shape.is_dynamic)
        unread = _UNREAD_BETWEEN if i.opcode in COLLECTIVES else _UNREAD
        unread = _UNREAD_OF_CALLS if i.opcode == "custom-call" else unread
        attributes = tuple((k, self._attribute(module, v)) for k, v in i.attributes.pairs if k not in unread)
        return (i.opcode, shape, layouts, attributes)

    def _attribute(self, module: Module, value: Hashable) -> Hashable:
        if isinstance(value, ComputationRef):
            return self._called(module, value.name)
        return tuple(self._attribute(module, v) for v in value) if isinstance(value, tuple) else value

    def _called(self, module: Module, name: str) -> int:
        """A number that computations have in common when they are the same but for names."""
        if not any(m is module for m in self._modules):
            self._modules.append(module)
        key = (id(module), name)
        found = self._computations.get(key)
        if found is None:
            computation = module.by_name[name]
            place = {i.name: k for k, i in enumerate(computation.instructions)}
            lines = tuple(
                (
                    self._operation(module, computation, i),
                    replace(i.shape, layout=None) if isinstance(i.shape, ArrayShape) else i.shape,
                    tuple(place[o] for o in i.operands),
                    i.parameter_number,
                    i.literal,
                )
                for i in computation.instructions
            )
            whole = (lines, place[computation.root_name])
            found = self._computations[key] = self._numbers.setdefault(whole, len(self._numbers))
        return found
