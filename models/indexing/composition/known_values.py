"""Single integers of a module whose values are known: by place, by the names that composed maps have for them, by turn.

What a parameter holds is known where one call alone hands it a constant, and in the body of a loop while one of its
turns is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition.known_scalars import GivenScalar, KnownScalars, is_single_integer
from hloproof.models.maps.indexing_map import instruction_of

_Site = Callable[[Computation, Instruction], str]
"""What tells a called computation's values apart, by computation and caller; "" where nothing has to."""
Turn = tuple[str, str, int]
"""A loop, by its computation's and its own name, and the number of the turn."""

_Calls = tuple[tuple[Computation, Instruction], ...]
_DEEPEST: Final = 60
"""Calls inside calls through which values are followed."""
_DECIDE: Final = frozenset({"conditional", "while"})
"""Opcodes whose maps depend on values that are known."""


def has_own_name(i: Instruction) -> bool:
    """The instruction is named as a provider by its name, not as `parameter(n)` or `constant(literal)`."""
    return i.opcode not in ("parameter", "constant")


class KnownValues:
    """What is known in one module; `site` names callers as the providers of composed maps do."""

    def __init__(self, module: Module, site: _Site) -> None:
        self._module, self._site = module, site
        self.scalars = KnownScalars(module)
        self._located: dict[tuple[str, str], tuple[_Calls, Computation, Instruction] | None] = {}
        self._calls: dict[str, list[tuple[Computation, Instruction]]] | None = None
        self._deciding: frozenset[str] | None = None
        self._turns: tuple[Turn, ...] = ()
        self._bodies: dict[str, GivenScalar] = {}

    def value(self, computation: Computation, name: str, position: ShapeIndex = ()) -> int | None:
        """What an array of an instruction holds, as far as that is known of where its computation is called."""
        return self.scalars.value(computation, name, position, self.given_to(computation))

    def given_to(self, computation: Computation, depth: int = 0) -> GivenScalar:
        """What is known of a computation's parameters: of a loop's body what its turn says, else what the one call or
        fusion hands it that alone calls it."""
        turn = self._bodies.get(computation.name)
        if turn is not None:
            return turn
        found = self._callers().get(computation.name, [])
        if len(found) != 1 or computation.name == self._module.entry_name or depth >= _DEEPEST:
            return _nothing
        ((caller, call),) = found
        if call.opcode == "conditional":
            branch = branch_names(call).index(computation.name) + 1
            operands: tuple[str, ...] = call.operands[branch : branch + 1]
        else:
            operands = call.operands if call.opcode in ("call", "fusion") else ()
        if len(operands) != len(computation.parameters):
            return _nothing
        return self._handed(caller, operands, self.given_to(caller, depth + 1))

    @contextmanager
    def in_turn(self, turn: Turn, body: Computation, given: GivenScalar) -> Iterator[None]:
        """While a turn of a loop is followed, what its body is given is known."""
        before = self._turns, self._bodies.get(body.name)
        self._turns = (*self._turns, turn)
        self._bodies[body.name] = given
        try:
            yield
        finally:
            self._turns = before[0]
            if before[1] is None:
                del self._bodies[body.name]
            else:
                self._bodies[body.name] = before[1]

    def turns_for(self, computation: Computation) -> tuple[Turn, ...]:
        """The turns being followed, if what a computation's maps are depends on them: it holds a loop or a conditional,
        or calls what does."""
        if not self._turns:
            return ()
        if self._deciding is None:
            found = {c.name for c in self._module.computations if any(i.opcode in _DECIDE for i in c.instructions)}
            waiting = list(found)
            while waiting:
                for caller, _ in self._callers().get(waiting.pop(), ()):
                    if caller.name not in found:
                        found.add(caller.name)
                        waiting.append(caller.name)
            self._deciding = frozenset(found)
        return self._turns if computation.name in self._deciding else ()

    def named(self, computation: Computation, provider: str, given: GivenScalar) -> int | None:
        """What a provider holds that the maps of a computation name, `name` or `site/name`; None: unknown."""
        key = (computation.name, provider)
        if key not in self._located:
            self._located[key] = self._locate(computation, provider)
        found = self._located[key]
        if found is None or not is_single_integer(found[2].shape):
            return None
        calls, inside, i = found
        for caller, call in calls:
            given = self._handed(caller, call.operands, given)
        return self.scalars.value(inside, i.name, (), given)

    def _handed(self, caller: Computation, operands: tuple[str, ...], given: GivenScalar) -> GivenScalar:
        """What is known of the operands that a caller hands over; each is looked up once."""
        return cache(lambda number, at: self.scalars.value(caller, operands[number], at, given))

    def _locate(self, computation: Computation, provider: str) -> tuple[_Calls, Computation, Instruction] | None:
        """A computation that needs no site is called once, so that each is looked at once."""
        waiting: list[tuple[Computation, list[str], _Calls]] = [(computation, provider.split("/"), ())]
        while waiting:
            current, names, calls = waiting.pop()
            named = current.by_name.get(instruction_of(names[0])) if len(names) == 1 else None
            if named is not None and has_own_name(named):
                return calls, current, named
            for i in current.instructions:
                if i.opcode not in ("call", "fusion"):
                    continue
                for name in i.attributes.computations():
                    callee = self._module.by_name.get(name)
                    if callee is None or len(callee.parameters) != len(i.operands) or len(calls) >= _DEEPEST:
                        continue
                    site = self._site(callee, i)
                    if not site or (len(names) > 1 and names[0] == site):
                        waiting.append((callee, names[1:] if site else names, (*calls, (current, i))))
        return None

    def _callers(self) -> dict[str, list[tuple[Computation, Instruction]]]:
        if self._calls is None:
            self._calls = {}
            for c in self._module.computations:
                for i in c.instructions:
                    for name in i.attributes.computations():
                        self._calls.setdefault(name, []).append((c, i))
        return self._calls


def branch_names(instruction: Instruction) -> tuple[str, ...]:
    """The computations of a conditional by their number; of a predicate's the one for true is the first."""
    value = instruction.attributes.get("branch_computations")
    if isinstance(value, tuple):
        return tuple(v.name for v in value if isinstance(v, ComputationRef))
    pair = (instruction.attributes.get(name) for name in ("true_computation", "false_computation"))
    return tuple(v.name for v in pair if isinstance(v, ComputationRef))


def _nothing(number: int, at: ShapeIndex) -> None:
    """Nothing is known."""
