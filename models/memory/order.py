"""The flattened order of a scheduled module, as instants.

Every instruction has an even instant at which it reads and the odd one after it at which it writes. What a loop, call
or conditional runs stands before the instruction itself, between the instant at which it begins and the instant at
which it returns; a loop's condition before its body. Each computation has an
instant at which it begins and one at which it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.memory.forwarding import CALLS

BEFORE: Final = -1
"""The instant at which the caller has written parameters and constants."""


@dataclass(frozen=True)
class Order:
    """Instants by name. `after` is later than everything: the caller reads the results then."""

    reads: Mapping[str, int]
    """When an instruction reads; it writes at the instant after. For a loop, call or conditional: when it returns."""
    enters: Mapping[str, int]
    """When a loop, call or conditional begins."""
    begins: Mapping[str, int]
    ends: Mapping[str, int]
    """When a computation begins and ends."""
    caller: Mapping[str, Instruction]
    """Who runs a computation."""
    after: int


def runs(i: Instruction) -> tuple[str, ...]:
    """What an instruction runs in its place in the order, first to last."""
    match i.opcode:
        case "while":
            found: tuple[str | None, ...] = (called(i, "condition"), called(i, "body"))
        case "conditional":
            found = branches(i)
        case "call":
            found = (called(i, "to_apply") or called(i, "calls"),)
        case _:
            found = ()
    return tuple(name for name in found if name is not None)


def order_of(module: Module) -> Order:
    """The order of the entry and of all that it runs. Raises NotModelled where a computation is run from two places."""
    reads: dict[str, int] = {}
    enters: dict[str, int] = {}
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    caller: dict[str, Instruction] = {}
    instant = 0

    def tick() -> int:
        nonlocal instant
        instant += 2
        return instant - 2

    def enter(c: Computation) -> list[tuple[Computation, int, int]]:
        begins[c.name] = tick()
        return [(c, 0, 0)]

    stack = enter(module.entry)
    while stack:  # a computation, the number of its next instruction, how much of what that one runs is done
        computation, n, done = stack.pop()
        if n == len(computation.instructions):
            ends[computation.name] = tick()
            continue
        i = computation.instructions[n]
        inner = runs(i) if i.opcode in CALLS else ()
        if inner and done == 0:
            enters[i.name] = tick()
        if done < len(inner):
            body = module.by_name[inner[done]]
            if body.name in caller or body.name == module.entry_name:
                raise NotModelled(f"{body.name} is run from two places: the order is not flat")
            caller[body.name] = i
            stack.append((computation, n, done + 1))
            stack += enter(body)
            continue
        reads[i.name] = tick()
        stack.append((computation, n + 1, 0))
    return Order(reads, enters, begins, ends, caller, instant)
