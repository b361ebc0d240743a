"""Parts of a computation's parameters that hold one value whenever it is entered, and so lie in one buffer.

Two parts of a loop's state are such parts where they begin as one value and each turn leaves one value in both, though
it need not be the one that they began with. All parts of a computation are taken for one at first, and told apart
where some entry hands them two values: what is never told apart holds one value by induction over the turns. A value is
one only where it stands in one place of one run of a computation: what two calls of the same computation return are
two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from hloproof.models.dataflow.alias_classes import Buffers, positions, shape_at
from hloproof.models.dataflow.async_chain import link_of, work_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, BufferShape, ShapeIndex

_Part = tuple[int, ShapeIndex]
"""A parameter's number and a position in it."""

_MOST_ROUNDS: Final = 100
"""Parts that are told apart one after the other; of what is left then nothing is taken for one."""


@dataclass(frozen=True)
class EqualParts:
    """Classes of parts of parameters, per computation, callees first."""

    first: Mapping[str, Mapping[_Part, _Part]]
    """For each part the first part that holds the same value; only where that is another one."""
    roots: _Roots

    def same(self, computation: str, a: _Part, b: _Part) -> bool:
        """Both parts hold one value whenever the computation is entered."""
        found = self.first.get(computation, {})
        return found.get(a, a) == found.get(b, b)

    def may_be_one(self, a: HloPosition, b: HloPosition, *, through: bool) -> bool:
        """Two places of one computation hold one value in some run of it, or nobody knows what a way in hands over.
        With `through` what a call, a branch or a loop gives, of which nobody knows what it is, may be either."""
        pending, seen = [(a, b)], set[tuple[HloPosition, HloPosition]]()
        while pending:
            pair = pending.pop()
            one, other = (self.roots.ways(place, through) for place in pair)
            if not one or not other or not one.isdisjoint(other):
                return True
            for x, y in product(one, other):
                p, q = self.roots.part(x), self.roots.part(y)
                computation = self.roots.module.by_name[x.computation]
                if p is None or q is None or (x, y) in seen or computation is self.roots.module.entry:
                    continue
                seen.add((x, y))
                for given in _entered(self.roots.buffers, computation) or [{}]:
                    handed = _handed(self.roots, given, p), _handed(self.roots, given, q)
                    if handed[0] is None or handed[1] is None:
                        return True
                    pending.append((handed[0], handed[1]))
        return False


def equal_parts(buffers: Buffers, callees_first: Sequence[str]) -> EqualParts:
    """The classes for these computations, which are all that run instruction by instruction."""
    roots = _Roots(buffers)
    sites: dict[str, list[list[HloPosition | None]]] = {}
    parts: dict[str, list[_Part]] = {}
    for name in callees_first:
        roots.add(name)
        computation = buffers.module.by_name[name]
        own = list(_parts(computation))
        if name != buffers.module.entry_name and len(own) > 1:
            parts[name] = own
    for name, own in parts.items():
        entered = _entered(buffers, buffers.module.by_name[name])
        if entered is not None:
            sites[name] = [[_handed(roots, given, part) for part in own] for given in entered]
    classes = {name: dict.fromkeys(parts[name], 0) for name in sites}
    for _ in range(_MOST_ROUNDS):
        values = _Values(classes, roots)
        told = {name: _told_apart(parts[name], sites[name], classes[name], values) for name in sites}
        if all(len(set(told[name].values())) == len(set(classes[name].values())) for name in sites):
            break
        # Only a partition that a whole round leaves as it is holds by induction over the turns.
        classes = told
    else:
        classes = {}
    first: dict[str, dict[_Part, _Part]] = {}
    for name, found in classes.items():
        leaders: dict[int, _Part] = {}
        joined = {part: leaders.setdefault(number, part) for part, number in found.items()}
        first[name] = {part: leader for part, leader in joined.items() if leader != part}
    return EqualParts(first, roots)


def _told_apart(
    parts: Sequence[_Part], sites: Sequence[Sequence[HloPosition | None]], classes: Mapping[_Part, int], values: _Values
) -> dict[_Part, int]:
    """One round: parts stay together that every entry hands one value, by the classes so far."""
    numbers: dict[object, int] = {}
    out: dict[_Part, int] = {}
    for k, part in enumerate(parts):
        given = [values.at(handed[k]) for handed in sites]
        # What is not known is equal to nothing but itself.
        key = part if any(v is None for v in given) else (classes[part], *given)
        out[part] = numbers.setdefault(key, len(numbers))
    return out


class _Values:
    """What tells the value at a place from others of the same run, by classes of parts."""

    def __init__(self, classes: Mapping[str, Mapping[_Part, int]], roots: _Roots) -> None:
        self._classes, self._roots = classes, roots
        self._found: dict[HloPosition, tuple[object, ...]] = {}

    def at(self, place: HloPosition | None) -> tuple[object, ...] | None:
        """None where it is not known."""
        if place is None:
            return None
        pending = [] if place in self._found else [place]
        while pending:
            choices = self._roots.choices(pending[-1])
            unknown = [choice for choice in choices if choice not in self._found]
            if unknown:
                pending += unknown
            else:
                last = pending.pop()
                self._found[last] = self._look(last, choices)
        return self._found[place]

    def _look(self, place: HloPosition, choices: Sequence[HloPosition]) -> tuple[object, ...]:
        part = self._roots.part(place)
        if part is None:
            # Whichever of several it is: by the classes they may be one.
            several = {self._found[choice] for choice in choices}
            return several.pop() if len(several) == 1 else (place,)
        if place.computation not in self._classes:
            return (place,)
        return (place.computation, self._classes[place.computation][part])


def _parts(computation: Computation) -> Iterator[_Part]:
    for p in computation.parameters:
        for at in positions(p.shape):
            if isinstance(shape_at(p.shape, at), ArrayShape | BufferShape):
                yield (p.parameter_number or 0, at)


_Given = Mapping[int, HloPosition]
"""What an entry hands each parameter, by its number."""


def _entered(buffers: Buffers, computation: Computation) -> list[_Given] | None:
    """Every way into a computation; None where one is not followed."""
    out: list[_Given] = []
    for outer, caller in buffers.chains.flow.callers[computation.name]:
        operands = [HloPosition(outer.name, name) for name in caller.operands]
        link = link_of(caller.opcode)
        match caller.opcode:
            case "while":
                out.append({0: operands[0]})
                body = buffers.module.find(called(caller, "body"))
                if body is None:
                    return None
                out.append({0: HloPosition(body.name, body.root_name)})
            case "conditional":
                names = branches(caller)
                out += [{0: operands[k + 1]} for k, name in enumerate(names) if name == computation.name]
            case "call":
                out.append(dict(enumerate(operands)))
            case _ if link is not None and link.role == "start" and len(operands) == len(computation.parameters):
                out.append(dict(enumerate(operands)))
            case _ if link is not None and link.role != "start" and len(operands) == 1:
                continue  # its start has handed over everything
            case _:
                return None
    return out or None


def _handed(roots: _Roots, given: _Given, part: _Part) -> HloPosition | None:
    number, at = part
    if number not in given:
        return None
    place = given[number]
    return roots.stands(HloPosition(place.computation, place.instruction, at))


class _Roots:
    """Where in its own computation the value at a place was made, or which parameter it is."""

    def __init__(self, buffers: Buffers) -> None:
        self.buffers, self.module = buffers, buffers.module
        self._found: dict[tuple[str, ShapeIndex], HloPosition | None] = {}
        self._choices: dict[HloPosition, tuple[HloPosition, ...]] = {}
        self._in_sight: set[str] = set()
        """What runs instruction by instruction, and no fusion or custom call runs alone."""

    def add(self, name: str) -> None:
        """Notes the parts of a computation's root; its callees have been added."""
        self._in_sight.add(name)
        computation = self.module.by_name[name]
        # In the order of the text, so that those before are known: of a choice among choices, and so on.
        for i in computation.instructions:
            if i.opcode in ("while", "conditional"):
                for at in positions(i.shape):
                    self.choices(HloPosition(name, i.name, at))
        root = computation.root
        for at in positions(root.shape):
            if isinstance(shape_at(root.shape, at), ArrayShape | BufferShape):
                self._found[name, at] = self.stands(HloPosition(name, root.name, at))

    def part(self, place: HloPosition) -> _Part | None:
        """The part of a parameter that the place is."""
        i = self._instruction(place)
        return (i.parameter_number or 0, place.index) if i.opcode == "parameter" else None

    def stands(self, place: HloPosition) -> HloPosition | None:
        """The place of the same computation whose value this is, or this place; None where no such place exists."""
        while True:
            i = self._instruction(place)
            if shape_at(i.shape, place.index) is None:
                return None
            back = self._back(place, i)
            if back is None:
                return place
            place = back

    def _instruction(self, place: HloPosition) -> Instruction:
        return self.module.by_name[place.computation].by_name[place.instruction]

    def _back(self, place: HloPosition, i: Instruction) -> HloPosition | None:
        match i.opcode:
            case "parameter":
                return None
            case "call":
                return self._through(place, called(i, "to_apply") or called(i, "calls"), i.operands)
            case "while" | "conditional":
                one = set(self.choices(place))
                return one.pop() if len(one) == 1 else None
            case _:
                sources = self.buffers.sources[place]
                local = [s for s in sources if s.computation == place.computation]
                if local or place.index[:1] != (1,):
                    return local[0] if len(local) == 1 else None
                # The result of what is started here.
                return self._through(place, self.buffers.chains.runs(i), i.operands, place.index[1:])

    def ways(self, place: HloPosition, through: bool) -> frozenset[HloPosition]:
        """The places of the same computation one of which holds the value at this one; empty where nobody knows. Not
        `through`: what is given by others, nobody knows from where, counts as made there, but for what runs out of
        sight."""
        stands = self.stands(place)
        if stands is None:
            return frozenset()
        through = through or place.computation not in self._in_sight
        found = frozenset(self.choices(stands)) or frozenset({stands})
        return frozenset() if through and any(map(self._runs_others, found)) else found

    def _runs_others(self, place: HloPosition) -> bool:
        """What stands there may be what its instruction is given, handed on by what that runs."""
        return work_of(self._instruction(place).opcode) in IN_STEPS | {"async"}

    def choices(self, place: HloPosition) -> tuple[HloPosition, ...]:
        """The places of the same computation one of which holds the value of what a loop or a conditional gives, which
        one is not known; empty where these are not all, or it is neither."""
        if place not in self._choices:
            self._choices[place] = self._chosen(place, self._instruction(place))
        return self._choices[place]

    def _chosen(self, place: HloPosition, i: Instruction) -> tuple[HloPosition, ...]:
        match i.opcode:
            case "conditional":
                ways = [self._through(place, b, i.operands[k + 1 : k + 2]) for k, b in enumerate(branches(i))]
            case "while":
                ways = self._first_states(place, i)
            case _:
                return ()
        known = [None if way is None else self.stands(way) for way in ways]
        return tuple(way for way in known if way is not None) if None not in known else ()

    def _first_states(self, place: HloPosition, loop: Instruction) -> list[HloPosition | None]:
        """The parts of a loop's first state that this part of its result is, each after other numbers of turns: those
        that a turn takes it from, one after the other. Which one it is changes from turn to turn."""
        out: list[HloPosition | None] = [HloPosition(place.computation, loop.operands[0], place.index)]
        at, seen = place, {place.index}
        while True:
            handed = self._through(at, called(loop, "body"), loop.operands)
            out.append(handed)
            if handed is None or handed.index in seen:
                return out
            seen.add(handed.index)
            at = HloPosition(place.computation, loop.name, handed.index)

    def _through(
        self, place: HloPosition, callee: str | None, operands: Sequence[str], at: ShapeIndex | None = None
    ) -> HloPosition | None:
        """The part of an operand that a body hands back untouched at `at` of its root, which is the same part of the
        result where nothing else is said."""
        inside = self._found.get((callee or "", place.index if at is None else at))
        part = None if inside is None else self.part(inside)
        if part is None or part[0] >= len(operands):
            return None
        return HloPosition(place.computation, operands[part[0]], part[1])
