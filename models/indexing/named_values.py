"""The instruction that a provider's name stands for, seen from a computation, and what it holds where that is known."""

from __future__ import annotations

from collections.abc import Callable

from models.hlo.module import Computation, Instruction, Module
from models.indexing.known_scalars import Given, KnownScalars, is_single_integer

Site = Callable[[Computation, Instruction], str]
"""What tells a called computation's values apart, by computation and caller; "" where nothing has to."""
_Calls = tuple[tuple[Computation, Instruction], ...]


class NamedValues:
    """Values by the names that composed maps have for them: `name`, or `site/name` inside of a call or fusion."""

    def __init__(self, module: Module, scalars: KnownScalars, site: Site) -> None:
        self._module, self._scalars, self._site = module, scalars, site
        self._located: dict[tuple[str, str], tuple[_Calls, Computation, Instruction] | None] = {}

    def value(self, computation: Computation, provider: str, given: Given) -> int | None:
        """The single integer that a provider named in a computation's maps holds; None where it is unknown."""
        key = (computation.name, provider)
        if key not in self._located:
            self._located[key] = self._locate(computation, provider)
        found = self._located[key]
        if found is None:
            return None
        calls, inside, i = found
        if not is_single_integer(i.shape):
            return None
        for caller, call in calls:
            given = self._argument(caller, call, given)
        return self._scalars.value(inside, i.name, (), given)

    def _argument(self, caller: Computation, call: Instruction, given: Given) -> Given:
        """What the parameters of a called computation hold."""
        return lambda number, at: self._scalars.value(caller, call.operands[number], at, given)

    def _locate(self, computation: Computation, provider: str) -> tuple[_Calls, Computation, Instruction] | None:
        """A computation that needs no site is called once, so that each is looked at once."""
        waiting: list[tuple[Computation, list[str], _Calls]] = [(computation, provider.split("/"), ())]
        while waiting:
            current, names, calls = waiting.pop()
            if len(names) == 1 and names[0] in current.by_name:
                return calls, current, current.by_name[names[0]]
            for i in current.instructions:
                if i.opcode not in ("call", "fusion"):
                    continue
                for name in i.attributes.computations():
                    callee = self._module.by_name.get(name)
                    if callee is None or len(callee.parameters) != len(i.operands) or len(calls) > 60:
                        continue
                    site = self._site(callee, i)
                    if not site or (len(names) > 1 and names[0] == site):
                        waiting.append((callee, names[1:] if site else names, (*calls, (current, i))))
        return None
