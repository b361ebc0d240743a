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
from hloproof.equivalence.refuting.machine import MachineSite
from hloproof.models.hlo.attributes import NON_SEMANTIC, ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.interpreter.run import branch_names

Digests = Mapping[MachineSite, list[int]]


@dataclass(frozen=True)
class _Side:
    module: Module
    digests: Digests
    known: frozenset[int]
    """Digests of the values that the other module computes."""
    named: Mapping[str, tuple[str, list[int]]]
    """What the other module computes: name to opcode and digests."""

    def new(self, site: MachineSite, first: bool = False) -> bool:
        """`first`: of the first turn of a loop alone, as what differs in one turn spoils the next."""
        found = self.digests.get(site)
        return found is not None and not self.known.issuperset(found[:1] if first else found)

    def renamed(self, site: MachineSite, i: Instruction) -> bool:
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
    here = (_counterpart(left, there, after) if there is not None else None) or _walk(left, position)
    if here is not None and there is not None:
        here, there = _inside(left, here, right, there)
    return _place(before, here), _place(after, there)


def _inside(left: _Side, here: MachineSite, right: _Side, there: MachineSite) -> tuple[MachineSite, MachineSite]:
    """Two instructions that are alike but for a constant, or for the computation that they apply: what it is there."""
    ours = left.module.by_name[here[0]].by_name[here[1]]
    theirs = right.module.by_name[there[0]].by_name[there[1]]
    if ours.opcode != theirs.opcode or len(ours.operands) != len(theirs.operands):
        return here, there
    apart = [
        (a, b)
        for a, b in zip(ours.operands, theirs.operands, strict=True)
        if left.digests.get((here[0], a)) != right.digests.get((there[0], b))
    ]
    if len(apart) == 1:
        a, b = apart[0]
        opcodes = {left.module.by_name[here[0]].by_name[a].opcode, right.module.by_name[there[0]].by_name[b].opcode}
        return ((here[0], a), (there[0], b)) if opcodes == {"constant"} else (here, there)
    bodies = [
        side.module.by_name.get(called.name) if isinstance(called, ComputationRef) else None
        for side, called in ((left, ours.attributes.get("to_apply")), (right, theirs.attributes.get("to_apply")))
    ]
    if apart or bodies[0] is None or bodies[1] is None:
        return here, there
    lines = [_lines(body) for body in bodies if body is not None]
    if len(lines[0]) == len(lines[1]):
        for (a, one), (b, other) in zip(*lines, strict=True):
            if one != other:
                return (bodies[0].name, a), (bodies[1].name, b)
    return here, there


def _lines(c: Computation) -> list[tuple[str, object]]:
    """Each instruction's name, and what it is but for names."""
    place = {i.name: k for k, i in enumerate(c.instructions)}
    return [
        (
            i.name,
            (
                i.opcode,
                i.parameter_number,
                i.literal,
                tuple(place[o] for o in i.operands),
                [(k, v) for k, v in i.attributes.pairs if k not in NON_SEMANTIC and not isinstance(v, ComputationRef)],
            ),
        )
        for i in c.instructions
    ]


def _named(module: Module, digests: Digests) -> dict[str, tuple[str, list[int]]]:
    by_name = module.by_name
    return {site[1]: (by_name[site[0]].by_name[site[1]].opcode, found) for site, found in digests.items()}


def _walk(side: _Side, position: tuple[int, ...]) -> MachineSite | None:
    """From the root down along new values; the last of them."""
    computation = side.module.entry
    at = computation.root
    if at.opcode == "tuple" and position and position[0] < len(at.operands):
        at = computation.by_name[at.operands[position[0]]]
    callers: list[tuple[Computation, Instruction]] = []
    seen: set[MachineSite] = set()
    turning = False
    while True:
        seen.add((computation.name, at.name))
        if at.opcode == "parameter" and callers:
            if callers[-1][1].opcode in ("while", "conditional"):
                computation, caller = callers[-1]
                return computation.name, caller.name
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
        body = _turn(side, at)
        if body is not None and len(callers) < 50:
            callers.append((computation, at))
            computation, at, turning = body, body.root, True
            continue
        below = _next(side, computation, at, seen, turning)
        if below is None:
            return computation.name, at.name
        at = below


def _turn(side: _Side, at: Instruction) -> Computation | None:
    """The body of a loop whose first turn gives something new; the branch of a conditional that was taken."""
    if at.opcode == "while":
        called = at.attributes.get("body")
        found = side.module.by_name.get(called.name) if isinstance(called, ComputationRef) else None
        new = found is not None and side.new((found.name, found.root_name), first=True)
        return found if new else None
    if at.opcode == "conditional":
        branches = [side.module.by_name[name] for name in branch_names(at)]
        taken = [c for c in branches if side.new((c.name, c.root_name), first=True)]
        return taken[0] if len(taken) == 1 else None
    return None


def _next(
    side: _Side, computation: Computation, at: Instruction, seen: set[MachineSite], turning: bool
) -> Instruction | None:
    """The operand to follow: one that is new, those known by name to have changed first."""
    operands = [computation.by_name[o] for o in at.operands if (computation.name, o) not in seen]
    fresh = [o for o in operands if side.new((computation.name, o.name), turning) and o.opcode != "constant"]
    changed = [o for o in fresh if side.renamed((computation.name, o.name), o)]
    return next(iter(changed or fresh), None)


def _counterpart(side: _Side, there: MachineSite, after: Module) -> MachineSite | None:
    """The instruction of `before` that stands for one of `after`: of its name, or else of its origin, opcode and shape;
    among several the first whose value `after` does not have."""
    wanted = after.by_name[there[0]].by_name[there[1]]
    same_name: list[MachineSite] = []
    similar: list[MachineSite] = []
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


def _place(module: Module, site: MachineSite | None) -> Place | None:
    if site is None:
        return None
    i = module.by_name[site[0]].by_name[site[1]]
    return Place(site[0], i.name, i.opcode, i.position.line)
