"""Whether all devices go one way at a branch or a loop: what the value depends on that decides there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hloproof.models.dataflow.async_chain import AsyncChains, Link, text_of
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.hlo.attributes import ReplicaGroups, Word
from hloproof.models.hlo.beside import unknown_beside
from hloproof.models.hlo.between_devices import part_of, parting
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import leaves

_ALIKE: Final = frozenset({"all-reduce", "all-gather", "copy"})
"""What gives all devices that give it one operand one result, where their groups are of one size, in flight, too. A
broadcast gives zeros to those that stand in no group."""
_FOLLOWED: Final = IN_STEPS | {"fusion"}
"""What hands back what its computations do."""
_FUNCTIONS: Final = parting("function") | _ALIKE | _FOLLOWED | {"after-all", "add-dependency"}
"""What gives every device the same result for the same operands, as the table says; of all others nothing is known."""


class Choices:
    """What branches and loops of a module depend on."""

    def __init__(self, chains: AsyncChains) -> None:
        self.chains, self.module = chains, chains.module

    def decided_by(self, place: HloPosition) -> tuple[HloPosition | None, list[HloPosition]]:
        """What a value depends on: something that may differ between devices, and parameters of the program."""
        seen, stack, given = {place}, [place], list[HloPosition]()
        while stack:
            at = stack.pop()
            i = self.chains.flow.instruction(at)
            link = self.chains.links.get(HloPosition(at.computation, at.instruction))
            if self._differs(i, link):
                return at, given
            back: Iterable[HloPosition] = self.chains.flow.sources(at)
            if i.opcode == "parameter" and at.computation == self.module.entry_name:
                if _is_said_to_differ(i):
                    return at, given
                given.append(at)
            elif i.opcode == "parameter" and not (back and self._is_only_called(at.computation)):
                return at, given  # of a computation in flight
            elif i.opcode in ("while", "conditional"):
                back = (*back, self._chosen_by(at.computation, i))
            elif not back:
                back = self._all_of(at.computation, i.operands)
            for source in back:
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return None, sorted(given)

    def _chosen_by(self, computation: str, i: Instruction) -> HloPosition:
        test = self.module.find(called(i, "condition") if i.opcode == "while" else None)
        return HloPosition(computation, i.operands[0]) if test is None else HloPosition(test.name, test.root_name)

    def _differs(self, i: Instruction, link: Link | None) -> bool:
        """An instruction may give devices other results for one operand."""
        opcode = i.opcode if link is None else link.opcode
        if _has_its_own(i, opcode) or (link is not None and opcode not in _ALIKE):
            return True
        return opcode not in _FOLLOWED and any(map(self._gives_others, self._callees(i)))

    def _gives_others(self, computation: Computation) -> bool:
        """The same of what is applied to elements, with whatever it calls."""
        return any(
            _has_its_own(i, i.opcode) or any(map(self._gives_others, self._callees(i)))
            for i in computation.instructions
        )

    def _callees(self, i: Instruction) -> list[Computation]:
        return [c for c in map(self.module.find, i.attributes.computations()) if c is not None]

    def _is_only_called(self, name: str) -> bool:
        return all(caller.opcode in _FOLLOWED for _, caller in self.chains.flow.callers[name])

    def _all_of(self, computation: str, names: Iterable[str]) -> Iterator[HloPosition]:
        for name in names:
            shape = self.module.by_name[computation].by_name[name].shape
            for at, _ in leaves(shape):
                yield HloPosition(computation, name, at)


def _has_its_own(i: Instruction, opcode: str) -> bool:
    groups = i.attributes.get("replica_groups")
    if isinstance(groups, ReplicaGroups) and len(set(map(len, groups.groups))) > 1:
        return True  # sums over more devices are others
    is_in_order = part_of(opcode) == "varies" and i.attributes.flag("unique_indices")
    return not (opcode in _FUNCTIONS or is_in_order) or bool(unknown_beside(i))


def _is_said_to_differ(parameter: Instruction) -> bool:
    """A parameter of the program is split between devices, or is said not to be the same on all of them."""
    told = parameter.attributes.get("parameter_replication")
    if isinstance(told, tuple) and any(isinstance(word, Word) and word.text != "true" for word in told):
        return True
    sharding = text_of(parameter, "sharding")
    return sharding is not None and bool(sharding.replace("{replicated}", "").strip("{}, "))
