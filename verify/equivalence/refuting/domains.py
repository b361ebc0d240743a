"""Parameters that a module takes the root or the logarithm of: they are given positive numbers."""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Module

_POSITIVE: Final = frozenset({"sqrt", "rsqrt", "log", "power"})
"""Their first operand has to be positive."""
_KEEPS_THE_SIGN: Final = frozenset(
    {
        "add",
        "bitcast",
        "broadcast",
        "convert",
        "copy",
        "divide",
        "get-tuple-element",
        "maximum",
        "multiply",
        "reshape",
        "slice",
        "transpose",
    }
)
"""Operations whose result is positive when all their operands are."""
_CALLS: Final = {"fusion": "calls", "call": "to_apply"}


def positive_parameters(module: Module) -> frozenset[int]:
    """Numbers of the entry's parameters that flow into a root or a logarithm by operations that keep the sign."""
    found: set[str] = set()
    wanted: dict[str, set[int]] = {}
    for c in _callees_first(module):
        found = _parameters(c, wanted)
        by_name = c.by_name
        wanted[c.name] = {by_name[name].parameter_number or 0 for name in found}
    return frozenset(wanted.get(module.entry.name, ()))


def _callees_first(module: Module) -> list[Computation]:
    order: list[Computation] = []
    seen: set[str] = set()
    stack = [(module.entry, False)]
    while stack:
        c, ready = stack.pop()
        if ready:
            order.append(c)
        elif c.name not in seen:
            seen.add(c.name)
            stack.append((c, True))
            called = [i.attributes.get(_CALLS[i.opcode]) for i in c.instructions if i.opcode in _CALLS]
            stack.extend((module.by_name[r.name], False) for r in called if isinstance(r, ComputationRef))
    return order


def _parameters(c: Computation, wanted: dict[str, set[int]]) -> set[str]:
    """Names of the parameters of one computation; `wanted` has those of what it calls, by number."""
    stack: list[str] = []
    for i in c.instructions:
        if i.opcode in _POSITIVE:
            stack.append(i.operands[0])
        called = i.attributes.get(_CALLS.get(i.opcode, ""))
        if isinstance(called, ComputationRef):
            stack.extend(i.operands[n] for n in wanted.get(called.name, ()) if n < len(i.operands))
    seen: set[str] = set()
    found: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        i = c.by_name[name]
        if i.opcode == "parameter":
            found.add(name)
        elif i.opcode in _KEEPS_THE_SIGN:
            stack.extend(i.operands)
    return found
