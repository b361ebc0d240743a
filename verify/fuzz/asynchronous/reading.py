"""What instructions hand on, read off one by one: which places of a module hold one value or lie in one buffer.

Each instruction hands parts of its operands on to parts of its result, and so do bodies and their callers. Values
spread along these pairs until nothing changes, and classes grow by joining. Nothing is asked backwards, and nothing is
shared with the code that is judged but the data types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.attributes import Aliasing, ComputationRef, Quoted, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import Index, Shape, TupleShape

Spot = tuple[str, str, Index]
"""Computation, instruction, position in the tuple tree."""
Handed = tuple[int, Index, Index]
"""The number of an operand, a position in it, and the position of the result that then holds the same."""


def tree(shape: Shape) -> list[Index]:
    """All positions, outer ones first."""
    if not isinstance(shape, TupleShape):
        return [()]
    return [(), *((k, *rest) for k, part in enumerate(shape.elements) for rest in tree(part))]


def part(shape: Shape, index: Index) -> Shape | None:
    for k in index:
        if not isinstance(shape, TupleShape) or k not in range(len(shape.elements)):
            return None
        shape = shape.elements[k]
    return shape


def role(opcode: str) -> str | None:
    if opcode in ("send", "recv"):
        return "start"
    last = opcode.rsplit("-", 1)[-1]
    return last if last in ("start", "update", "done") and opcode != last else None


def named(i: Instruction, *attributes: str) -> list[str]:
    """The computations that these attributes name, in their order."""
    values = [i.attributes.get(a) for a in attributes]
    listed = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
    return [v.name for v in listed if isinstance(v, ComputationRef)]


def declared(value: object) -> list[Aliasing]:
    return [e for e in value if isinstance(e, Aliasing)] if isinstance(value, tuple) else []


def written_in(i: Instruction) -> list[Aliasing]:
    """Which part of what an instruction returns lies in which operand. What is written like the operation that it
    starts speaks of that one's result, the second part of what the start returns."""
    entries = declared(i.attributes.get("output_to_operand_aliasing"))
    if role(i.opcode) != "start" or i.opcode == "async-start":
        return entries
    return [Aliasing((1, *e.output_index), e.operand, e.operand_index, e.kind) for e in entries]


_SAME: Final[tuple[Handed, ...]] = ((0, (), ()),)
_HANDED: Final[dict[str, tuple[Handed, ...]]] = {
    **dict.fromkeys(("opt-barrier", "domain", "add-dependency", "bitcast", "while", "all-reduce-done"), _SAME),
    "copy-start": ((0, (), (1,)),),
    "copy-done": ((0, (0,), ()),),
    "send": ((0, (), (0,)),),
    "recv-done": ((0, (0,), (0,)),),
    **dict.fromkeys(("recv", "send-done", "all-reduce-start"), ()),
}


def handed(i: Instruction, given: Sequence[Shape]) -> Sequence[Handed]:
    """What an instruction itself hands on, whatever it runs. `given`: the shapes of its operands."""
    if i.opcode in _HANDED:
        return _HANDED[i.opcode]
    match i.opcode:
        case "tuple":
            return [(k, (), (k,)) for k in range(len(given))]
        case "get-tuple-element":
            return [(0, (i.attributes.integer("index", 0),), ())]
        case "copy":  # only the outermost table of a tuple is copied
            return [(0, (k,), (k,)) for k in range(len(i.shape.elements))] if isinstance(i.shape, TupleShape) else ()
        case "all-gather-start" | "collective-permute-start":
            sliced = "slice_sizes" in i.attributes
            if len(given) > 1 and not sliced and isinstance(part(i.shape, (0,)), TupleShape):
                return [(k, (), (0, k)) for k in range(len(given))]
            return [(0, (), (0,)), *([(1, (), (1,))] if sliced and len(given) > 1 else [])]
        case "all-gather-done" | "collective-permute-done":
            return [(0, (1,) if isinstance(given[0], TupleShape) else (), ())]
    match role(i.opcode):
        case "start":
            return [(k, (), at) for k, at in enumerate(_listed(i.shape)) if k < len(given)]
        case "update":
            # The state before lists what is bound so far; older text has the only one itself.
            now, before = _listed(i.shape), part(given[0], (0,))
            old = len(before.elements) if isinstance(before, TupleShape) else len(now)
            late = [(k - old + 1, (), at) for k, at in enumerate(now) if old <= k < old + len(given) - 1]
            return [(0, at, at) for at in now[:old]] + late + [(0, (1,), (1,))]
        case "done":
            return [(0, (1,), ())]
    return ()


def _listed(state: Shape) -> list[Index]:
    """Where a state of the generic form has its operands."""
    held = part(state, (0,))
    return [(0, k) for k in range(len(held.elements))] if isinstance(held, TupleShape) else [(0,)]


def updated(module: Module, i: Instruction) -> Iterator[Handed]:
    """What a compiler writes where an operand lies."""
    several = isinstance(i.shape, TupleShape)
    match i.opcode:
        case "dynamic-update-slice" | "set-dimension-size":
            yield from _SAME
        case "sort" | "scatter" | "all-reduce-start":
            for k in range(len(i.operands) // 2 if i.opcode == "scatter" else len(i.operands)):
                yield k, (), (k,) if several else ()
        case "fusion":
            body = module.by_name[named(i, "calls")[0]]
            for k, name in enumerate(body.root.operands if body.root.opcode == "tuple" else (body.root_name,)):
                update = _behind_bitcasts(body, name)
                if update.opcode in ("dynamic-update-slice", "scatter"):
                    base = _behind_bitcasts(body, update.operands[0])
                    if base.opcode == "parameter":
                        yield base.parameter_number or 0, (), (k,) if several else ()


def _behind_bitcasts(body: Computation, name: str) -> Instruction:
    i = body.by_name[name]
    return _behind_bitcasts(body, i.operands[0]) if i.opcode == "bitcast" else i


def spread(pairs: Iterable[tuple[Spot, Spot]], found: dict[Spot, set[Spot]]) -> dict[Spot, set[Spot]]:
    """What stands at the first of a pair stands at the second as well, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            if not found.get(a, set()) <= found.setdefault(b, set()):
                found[b] |= found[a]
                changed = True
    return found


@dataclass
class Reading:
    """What one module says. `main_only`: what runs in other threads is not looked into; `new_bitcasts`: a bitcast makes
    a value."""

    module: Module
    main_only: bool = False
    new_bitcasts: bool = False

    def __post_init__(self) -> None:
        self.all = [(c.name, i) for c in self.module.computations for i in c.instructions]
        self.spots = [(c, i.name, at) for c, i in self.all for at in tree(i.shape)]
        self.starts: dict[tuple[str, str], list[Spot]] = {}
        """For each update and done the starts whose state can reach it."""
        pairs = [p for c, i in self.all if role(i.opcode) is None for p in self._pairs(c, i)]
        starts: list[Spot] = [(c, i.name, ()) for c, i in self.all if role(i.opcode) == "start"]
        through = [((c, i.operands[0], ()), (c, i.name, ())) for c, i in self.all if role(i.opcode) == "update"]
        reached = spread([*pairs, *through], {s: {s} for s in starts})
        for c, i in self.all:
            if role(i.opcode) in ("update", "done"):
                self.starts[c, i.name] = sorted(reached.get((c, i.operands[0], ()), ()))
        pairs += [p for c, i in self.all if role(i.opcode) is not None for p in self._pairs(c, i)]
        self.pairs = list(dict.fromkeys(pairs))

    def _at(self, spot: Spot) -> Shape | None:
        return part(self.module.by_name[spot[0]].by_name[spot[1]].shape, spot[2])

    def tree_pairs(self, a: Spot, b: Spot, leaves_only: bool = False) -> Iterator[tuple[Spot, Spot]]:
        """From everything at `a` to what stands at the same position at `b`, where both have it. An empty tuple stands
        for what is not there yet."""
        held, given = self._at(a), self._at(b)
        if held is None or given is None or held == TupleShape():
            return
        for at in tree(given):
            if part(held, at) is not None and not (leaves_only and isinstance(part(given, at), TupleShape)):
                yield (*a[:2], (*a[2], *at)), (*b[:2], (*b[2], *at))

    def _root(self, body: str) -> Spot:
        return (body, self.module.by_name[body].root_name, ())

    def _pairs(self, c: str, i: Instruction) -> Iterator[tuple[Spot, Spot]]:
        """All that an instruction hands on. Links write their tables anew; what these point to is handed on."""
        link, me = role(i.opcode), (c, i.name, ())
        given = [self.module.by_name[c].by_name[o].shape for o in i.operands]
        for k, a, b in handed(i, given) if not (i.opcode == "bitcast" and self.new_bitcasts) else ():
            yield from self.tree_pairs((c, i.operands[k], a), (c, i.name, b), link is not None)
        operands = [(n, (c, o)) for n, o in enumerate(i.operands)]
        match i.opcode:
            case "call" | "fusion":
                bodies = [(body, operands) for body in named(i, "to_apply", "calls")]
            case "while":
                bodies = [(body, operands) for body in named(i, "body", "condition")]
            case "conditional":
                branches = named(i, "branch_computations", "true_computation", "false_computation")
                bodies = [(body, [(0, o) for n, o in operands if n == k]) for k, body in enumerate(branches, 1)]
            case "async-start" | "call-start" | "fusion-start" if self._is_open(i):
                bodies = [(body, self.bound(me)) for body in named(i, "calls", "to_apply")]
            case _:
                bodies = []
        for body, passed in bodies:
            for p in self.module.by_name[body].parameters:
                for source in (o for n, o in passed if n == (p.parameter_number or 0)):
                    yield from self.tree_pairs((*source, ()), (body, p.name, ()))
                if i.opcode == "while":
                    yield from self.tree_pairs(self._root(bodies[0][0]), (body, p.name, ()))
        for body, _ in bodies[:1] if i.opcode == "while" else bodies:
            if i.opcode not in ("fusion", "fusion-start"):
                yield from self.tree_pairs(self._root(body), (*me[:2], (1,)) if link else me, link is not None)
        if link in ("update", "done") and (c, i.name) in self.starts and i.opcode not in _HANDED:
            yield from self._unpromised(c, i, (1,) if link == "update" else ())

    def _unpromised(self, c: str, i: Instruction, here: Index) -> Iterator[tuple[Spot, Spot]]:
        """What the state before does not name of the result comes from what the starts run."""
        for at in tree(part(i.shape, here) or TupleShape()):
            if isinstance(self._at((c, i.operands[0], (1, *at))), TupleShape | None):
                for start in self.starts[c, i.name]:
                    begun = self.module.by_name[start[0]].by_name[start[1]]
                    for body in named(begun, "calls", "to_apply") if begun.opcode in _SHOWN else ():
                        if self._is_open(begun):
                            a, b = (*self._root(body)[:2], at), (c, i.name, (*here, *at))
                            if self._at(a) is not None and not isinstance(self._at(b), TupleShape | None):
                                yield a, b

    def _is_open(self, start: Instruction) -> bool:
        said = [start.attributes.get("async_execution_thread")]
        runs = named(start, "calls", "to_apply")
        said += [self.module.by_name[body].attributes.get("execution_thread") for body in runs]
        threads = [v.text for v in said if isinstance(v, (Word, Quoted))]
        return not self.main_only or threads[:1] in ([], ["main"])

    def bound(self, start: Spot) -> list[tuple[int, tuple[str, str]]]:
        """What is bound to the operation of a start, by itself and by its updates: each after what it is handed."""
        found = [(n, (start[0], o)) for n, o in enumerate(self.module.by_name[start[0]].by_name[start[1]].operands)]
        for c, i in self.all:
            if role(i.opcode) == "update" and start in self.starts[c, i.name]:
                held = part(self.module.by_name[c].by_name[i.operands[0]].shape, (0,))
                before = len(held.elements) if isinstance(held, TupleShape) else 1
                found += [(n, (c, o)) for n, o in enumerate(i.operands[1:], before)]
        return sorted(found, key=lambda entry: entry[0])

    # -- values and classes -------------------------------------------------------------------------------------------

    def values(self) -> dict[Spot, set[Spot]]:
        """What is made where nothing is handed on to, spread."""
        given = {b for _, b in self.pairs}
        return spread(self.pairs, {s: set() if s in given else {s} for s in self.spots})

    def merges(self) -> set[Spot]:
        """States of loops and results of branches that more than one value can reach."""
        meeting = {(c, i.name) for c, i in self.all if i.opcode in ("while", "conditional")}
        bodies = {b for _, i in self.all if i.opcode == "while" for b in named(i, "body", "condition")}
        meeting |= {(b, p.name) for b in bodies for p in self.module.by_name[b].parameters}
        return {s for s, found in self.values().items() if s[:2] in meeting and len(found) > 1}

    def donated(self) -> list[tuple[Spot, Spot, bool]]:
        """What the module declares, each with whether it must."""
        entry = self.module.entry
        numbered = {p.parameter_number: p.name for p in entry.parameters}
        return [
            (
                (entry.name, entry.root_name, e.output_index),
                (entry.name, numbered[e.operand], e.operand_index),
                e.kind == "must-alias",
            )
            for e in declared(self.module.attributes.get("input_output_alias"))
            if e.operand in numbered
        ]

    def shared(self, may: bool) -> list[set[Spot]]:
        """The classes of places in one buffer, in no order."""
        pairs = [*self.pairs, *(p for c, i in self.all for p in self._declared(c, i))]
        for c, i in self.all if may else ():
            for k, a, b in updated(self.module, i):
                pairs += self.tree_pairs((c, i.operands[k], a), (c, i.name, b))
        for output, parameter, must in self.donated():
            if must or may:
                pairs += self.tree_pairs(parameter, output)
        joined = spread([*pairs, *((b, a) for a, b in pairs)], {s: {s} for s in self.spots})
        return [set(c) for c in {frozenset(found) for found in joined.values()}]

    def _declared(self, c: str, i: Instruction) -> Iterator[tuple[Spot, Spot]]:
        """What the text declares of an instruction. Results of an operation in flight are those of its links."""
        me = (c, i.name, ())
        is_start = role(i.opcode) == "start"
        operands = self.bound(me) if is_start else [(n, (c, o)) for n, o in enumerate(i.operands)]
        for e in written_in(i):
            for source in (o for n, o in operands if n == e.operand):
                yield from self.tree_pairs((*source, e.operand_index), (c, i.name, e.output_index))
                for (d, name), starts in self.starts.items() if is_start and e.output_index[:1] == (1,) else ():
                    if me in starts:
                        ended = role(self.module.by_name[d].by_name[name].opcode) == "done"
                        at = e.output_index[1:] if ended else e.output_index
                        yield from self.tree_pairs((*source, e.operand_index), (d, name, at))


_SHOWN: Final = ("async-start", "call-start")
