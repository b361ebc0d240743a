"""Where two modules part: the instructions, one of each, at which what they compute from equal values begins to differ.

Values are compared by their digests under the hashed semantics, so that rounding does not count. A value of one module
that the other has nowhere is new; the guilty instruction is found from the root down, as the first whose value is new
while none of its operands' is. A pass makes new values of its own along the way, so an operand that the other module
has under the same name, with another value, is followed first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hloproof.equivalence.answer import Place
from hloproof.equivalence.refuting.machine import Site
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module

Digests = Mapping[Site, list[int]]


@dataclass(frozen=True)
class _Side:
    module: Module
    digests: Digests
    known: frozenset[int]
    """Digests of the values that the other module computes."""
    named: Mapping[str, tuple[str, list[int]]]
    """What the other module computes: name to opcode and digests."""

    def new(self, site: Site) -> bool:
        found = self.digests.get(site)
        return found is not None and not self.known.issuperset(found)

    def renamed(self, site: Site, i: Instruction) -> bool:
        """The other module has the instruction under this name, with other values."""
        other = self.named.get(i.name)
        return other is not None and other[0] == i.opcode and other[1] != self.digests.get(site)


def guilty(
    before: Module, after: Module, ours: Digests, theirs: Digests, position: tuple[int, ...]
) -> tuple[Place | None, Place | None]:
    """The guilty instruction in `before` and in `after`; `position` is the place in the root's tuple that differs."""
    known_b = frozenset(d for found in ours.values() for d in found)
    known_a = frozenset(d for found in theirs.values() for d in found)
    left = _Side(before, ours, known_a, _named(after, theirs))
    right = _Side(after, theirs, known_b, _named(before, ours))
    there = _walk(right, position)
    here = _counterpart(left, there, after) if there is not None else None
    return _place(before, here or _walk(left, position)), _place(after, there)


def _named(module: Module, digests: Digests) -> dict[str, tuple[str, list[int]]]:
    by_name = module.by_name
    return {site[1]: (by_name[site[0]].by_name[site[1]].opcode, found) for site, found in digests.items()}


def _walk(side: _Side, position: tuple[int, ...]) -> Site | None:
    """From the root down along new values; the last of them."""
    computation = side.module.entry
    at = computation.root
    if at.opcode == "tuple" and position and position[0] < len(at.operands):
        at = computation.by_name[at.operands[position[0]]]
    callers: list[tuple[Computation, Instruction]] = []
    seen: set[Site] = set()
    while True:
        seen.add((computation.name, at.name))
        if at.opcode == "parameter" and callers:
            computation, caller = callers.pop()
            number = at.parameter_number or 0
            if number < len(caller.operands):
                at = computation.by_name[caller.operands[number]]
                continue
            return computation.name, caller.name
        if at.opcode in ("fusion", "call"):
            called = at.attributes.get("calls" if at.opcode == "fusion" else "to_apply")
            inner = side.module.by_name.get(called.name) if isinstance(called, ComputationRef) else None
            if inner is not None and len(callers) < 50:
                callers.append((computation, at))
                computation, at = inner, inner.root
                continue
        below = _next(side, computation, at, seen)
        if below is None:
            return computation.name, at.name
        at = below


def _next(side: _Side, computation: Computation, at: Instruction, seen: set[Site]) -> Instruction | None:
    """The operand to follow: one that is new, those known by name to have changed first."""
    operands = [computation.by_name[o] for o in at.operands if (computation.name, o) not in seen]
    fresh = [o for o in operands if side.new((computation.name, o.name)) and o.opcode != "constant"]
    changed = [o for o in fresh if side.renamed((computation.name, o.name), o)]
    return next(iter(changed or fresh), None)


def _counterpart(side: _Side, there: Site, after: Module) -> Site | None:
    """The instruction of `before` that stands for one of `after`: of its name, or else of its origin, opcode and shape;
    among several the first whose value `after` does not have."""
    wanted = after.by_name[there[0]].by_name[there[1]]
    same_name: list[Site] = []
    similar: list[Site] = []
    for site in side.digests:
        i = side.module.by_name[site[0]].by_name[site[1]]
        if i.opcode != wanted.opcode or i.opcode == "parameter":
            continue
        if i.name == wanted.name:
            same_name.append(site)
        elif i.shape == wanted.shape and side.new(site):
            similar.append(site)
    origin = wanted.attributes.get("metadata")
    similar.sort(key=lambda site: side.module.by_name[site[0]].by_name[site[1]].attributes.get("metadata") != origin)
    return next(iter((*same_name, *similar)), None)


def _place(module: Module, site: Site | None) -> Place | None:
    if site is None:
        return None
    i = module.by_name[site[0]].by_name[site[1]]
    return Place(site[0], i.name, i.opcode, i.position.line)
