"""Target `async`: which places of a module hold one value or lie in one buffer, read off instruction by instruction.

Each instruction says what it hands on: pairs of a place and the place that then holds the same. Values spread along
these pairs until nothing changes. Classes grow by joining lists of places. Nothing is asked backwards, and nothing is
shared with the code that is judged but the data types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hloproof.models.hlo.attributes import Aliasing, ComputationRef, Quoted, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import Index, Shape, TupleShape

Spot = tuple[str, str, Index]
"""Computation, instruction, position in the tuple tree."""
Handing = tuple[Spot, Spot]


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


def _named(i: Instruction, *attributes: str) -> list[str]:
    found = [i.attributes.get(a) for a in attributes]
    return [v.name for v in found if isinstance(v, ComputationRef)]


def _branches(i: Instruction) -> list[str]:
    several = i.attributes.get("branch_computations")
    if isinstance(several, tuple):
        return [v.name for v in several if isinstance(v, ComputationRef)]
    return [*_named(i, "true_computation"), *_named(i, "false_computation")]


def _number(i: Instruction, attribute: str) -> int:
    return i.attributes.integer(attribute, 0)


def _declared(value: object) -> list[Aliasing]:
    return [e for e in value if isinstance(e, Aliasing)] if isinstance(value, tuple) else []


@dataclass
class Aliases:
    """What one module says. `main_only`: what runs in other threads is not looked into; `new_bitcasts`: a bitcast makes
    a value."""

    module: Module
    main_only: bool = False
    new_bitcasts: bool = False
    pairs: list[Handing] = field(default_factory=list)

    def __post_init__(self) -> None:
        plain = [i for i in self._all() if _role(i[1].opcode) is None]
        for c, i in plain:
            self.pairs += self._plain(c, i)
        self.starts = self._starts()
        for c, i in self._all():
            if _role(i.opcode) is not None:
                self.pairs += self._linked(c, i)
        self.pairs = list(dict.fromkeys(self.pairs))
        self.spots = [(c.name, i.name, at) for c, i in self._all() for at in tree(i.shape)]

    def _all(self) -> list[tuple[Computation, Instruction]]:
        return [(c, i) for c in self.module.computations for i in c.instructions]

    def shape(self, computation: str, name: str) -> Shape:
        return self.module.by_name[computation].by_name[name].shape

    # -- what is handed on --------------------------------------------------------------------------------------------

    def _tree_pairs(self, a: Spot, b: Spot, leaves_only: bool = False) -> Iterator[Handing]:
        """From everything at `a` to what stands at the same position at `b`, where both have it."""
        held, given = part(self.shape(*a[:2]), a[2]), part(self.shape(*b[:2]), b[2])
        if held is None or given is None:
            return
        for at in tree(given):
            inside = part(held, at)
            if inside is not None and not (leaves_only and isinstance(part(given, at), TupleShape)):
                yield (*a[:2], (*a[2], *at)), (*b[:2], (*b[2], *at))

    def _into(self, c: str, operand: str, body: str, number: int) -> Iterator[Handing]:
        for p in self.module.by_name[body].instructions:
            if p.opcode == "parameter" and p.parameter_number == number:
                yield from self._tree_pairs((c, operand, ()), (body, p.name, ()))

    def _out_of(self, body: str, to: Spot, leaves_only: bool = False) -> Iterator[Handing]:
        yield from self._tree_pairs((body, self.module.by_name[body].root_name, ()), to, leaves_only)

    def _plain(self, computation: Computation, i: Instruction) -> Iterator[Handing]:
        c, me = computation.name, (computation.name, i.name, ())
        match i.opcode:
            case "tuple":
                for k, o in enumerate(i.operands):
                    yield from self._tree_pairs((c, o, ()), (c, i.name, (k,)))
            case "get-tuple-element":
                yield from self._tree_pairs((c, i.operands[0], (_number(i, "index"),)), me)
            case "copy":
                elements = i.shape.elements if isinstance(i.shape, TupleShape) else ()
                for k in range(len(elements)):
                    yield from self._tree_pairs((c, i.operands[0], (k,)), (c, i.name, (k,)))
            case "opt-barrier" | "domain" | "add-dependency" | "bitcast":
                if i.operands and not (i.opcode == "bitcast" and self.new_bitcasts):
                    yield from self._tree_pairs((c, i.operands[0], ()), me)
            case "call" | "fusion":
                (body,) = _named(i, "to_apply") or _named(i, "calls")
                for k, o in enumerate(i.operands):
                    yield from self._into(c, o, body, k)
                if i.opcode == "call":
                    yield from self._out_of(body, me)
            case "while":
                (body,) = _named(i, "body")
                yield from self._tree_pairs((c, i.operands[0], ()), me)
                yield from self._out_of(body, me)
                for inner in (body, *_named(i, "condition")):
                    yield from self._into(c, i.operands[0], inner, 0)
                    for p in self.module.by_name[inner].parameters:
                        yield from self._out_of(body, (inner, p.name, ()))
            case "conditional":
                for k, body in enumerate(_branches(i)):
                    yield from self._into(c, i.operands[k + 1], body, 0)
                    yield from self._out_of(body, me)

    def _starts(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """For each update and done the starts whose state can reach it."""
        reached: dict[Spot, set[tuple[str, str]]] = {}
        links = [(c.name, i) for c, i in self._all() if _role(i.opcode) is not None]
        pairs = list(self.pairs)
        for c, i in links:
            if _role(i.opcode) == "start":
                reached[c, i.name, ()] = {(c, i.name)}
            elif _role(i.opcode) == "update":
                pairs.append(((c, i.operands[0], ()), (c, i.name, ())))
        while True:
            before = sum(map(len, reached.values()))
            for a, b in pairs:
                if a in reached:
                    reached.setdefault(b, set()).update(reached[a])
            if before == sum(map(len, reached.values())):
                break
        return {
            (c, i.name): sorted(reached.get((c, i.operands[0], ()), set()))
            for c, i in links
            if _role(i.opcode) != "start"
        }

    def bound(self, start: tuple[str, str]) -> list[tuple[str, str]]:
        """What is bound to the operation of a start, by itself and by its updates in the order of the text."""
        found = [(start[0], o) for o in self.module.by_name[start[0]].by_name[start[1]].operands]
        for c, i in self._all():
            if _role(i.opcode) == "update" and start in self.starts[c.name, i.name]:
                found += [(c.name, o) for o in i.operands[1:]]
        return found

    def _body(self, start: tuple[str, str]) -> str | None:
        """What a start runs, if it is shown and may be looked into."""
        i = self.module.by_name[start[0]].by_name[start[1]]
        shown = {"async-start": _named(i, "calls"), "call-start": _named(i, "to_apply")}.get(i.opcode, [])
        return shown[0] if shown and self._is_open(i) else None

    def _is_open(self, i: Instruction) -> bool:
        if not self.main_only:
            return True
        said = [i.attributes.get("async_execution_thread")]
        said += [self.module.by_name[n].attributes.get("execution_thread") for n in _named(i, "calls", "to_apply")]
        threads = [v.text for v in said if isinstance(v, (Word, Quoted))]
        return threads[:1] in ([], ["main"])

    def _linked(self, computation: Computation, i: Instruction) -> Iterator[Handing]:
        c, role = computation.name, _role(i.opcode)
        if i.opcode in _OWN:
            yield from self._own(c, i)
            return
        if role == "done":
            yield from self._promised(c, i, (1,), ())
            return
        yield from self._operands(c, i)
        if role == "update":
            yield from self._promised(c, i, (1,), (1,))
            return
        start = (c, i.name)
        body = self._body(start)
        if body is not None:
            yield from self._out_of(body, (c, i.name, (1,)), leaves_only=True)
        inside = body or next(iter(_named(i, "calls") if i.opcode == "fusion-start" and self._is_open(i) else ()), None)
        if inside is not None:
            for k, (where, o) in enumerate(self.bound(start)):
                yield from self._into(where, o, inside, k)

    def _promised(self, c: str, i: Instruction, before: Index, here: Index) -> Iterator[Handing]:
        """The result as the state before names it; what it does not name comes from what the starts run."""
        state = self.shape(c, i.operands[0])
        for at in tree(part(i.shape, here) or TupleShape()):
            if isinstance(part(i.shape, (*here, *at)), TupleShape) or part(i.shape, here) is None:
                continue
            held = part(state, (*before, *at))
            if held is not None and not isinstance(held, TupleShape):
                yield (c, i.operands[0], (*before, *at)), (c, i.name, (*here, *at))
                continue
            for start in self.starts[c, i.name]:
                body = self._body(start)
                if body is not None and part(self.module.by_name[body].root.shape, at) is not None:
                    yield (body, self.module.by_name[body].root_name, at), (c, i.name, (*here, *at))

    def _operands(self, c: str, i: Instruction) -> Iterator[Handing]:
        """Position {0} of a start or update: what is bound so far, one by one; older text has the only one itself."""
        held = part(i.shape, (0,))
        if held is None:
            return
        listed = list(enumerate(held.elements)) if isinstance(held, TupleShape) else [(0, held)]
        new, old = list(i.operands), 0
        if _role(i.opcode) == "update":
            before = part(self.shape(c, i.operands[0]), (0,))
            old = len(before.elements) if isinstance(before, TupleShape) else len(listed)
            new = new[1:]
        for k, _ in listed:
            at = (0, k) if isinstance(held, TupleShape) else (0,)
            if k < old:
                yield from self._tree_pairs((c, i.operands[0], at), (c, i.name, at), leaves_only=True)
            elif k - old < len(new):
                yield from self._tree_pairs((c, new[k - old], ()), (c, i.name, at), leaves_only=True)

    def _own(self, c: str, i: Instruction) -> Iterator[Handing]:
        """Starts and dones with opcodes of their own."""
        me = (c, i.name)
        first = (c, i.operands[0])
        match i.opcode:
            case "copy-start":
                yield from self._tree_pairs((*first, ()), (*me, (1,)), True)
            case "copy-done":
                yield from self._tree_pairs((*first, (0,)), (*me, ()), True)
            case "all-reduce-done":
                yield from self._tree_pairs((*first, ()), (*me, ()), True)
            case "send" if isinstance(i.shape, TupleShape):
                yield from self._tree_pairs((*first, ()), (*me, (0,)), True)
            case "recv-done":
                yield from self._tree_pairs((*first, (0,)), (*me, (0,)), True)
            case "all-gather-start" | "collective-permute-start":
                sources = part(i.shape, (0,))
                written = "slice_sizes" in i.attributes
                if len(i.operands) > 1 and isinstance(sources, TupleShape) and not written:
                    for k, o in enumerate(i.operands):
                        yield from self._tree_pairs((c, o, ()), (*me, (0, k)), True)
                else:
                    yield from self._tree_pairs((*first, ()), (*me, (0,)), True)
                if written and len(i.operands) > 1:
                    yield from self._tree_pairs((c, i.operands[1], ()), (*me, (1,)), True)
            case "all-gather-done" | "collective-permute-done":
                at = (1,) if isinstance(self.shape(*first), TupleShape) else ()
                yield from self._tree_pairs((*first, at), (*me, ()), True)

    # -- values and classes -------------------------------------------------------------------------------------------

    def values(self) -> dict[Spot, set[Spot]]:
        """What is made where nothing is handed on to, spread until nothing changes."""
        given = {b for _, b in self.pairs}
        out: dict[Spot, set[Spot]] = {s: set() if s in given else {s} for s in self.spots}
        changed = True
        while changed:
            changed = False
            for a, b in self.pairs:
                if not out[a] <= out[b]:
                    out[b] |= out[a]
                    changed = True
        return out

    def merges(self) -> set[Spot]:
        """States of loops and results of branches that more than one value can reach."""
        meeting = {(c.name, i.name) for c, i in self._all() if i.opcode in ("while", "conditional")}
        for _, i in self._all():
            if i.opcode == "while":
                for body in _named(i, "body", "condition"):
                    meeting |= {(body, p.name) for p in self.module.by_name[body].parameters}
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
            for e in _declared(self.module.attributes.get("input_output_alias"))
            if e.operand in numbered
        ]

    def shared(self, may: bool) -> list[set[Spot]]:
        """The classes of places in one buffer, in no order."""
        pairs = list(self.pairs)
        for c, i in self._all():
            pairs += self._written_into(c, i)
            if may:
                pairs += self._updated(c, i)
        for output, parameter, must in self.donated():
            if must or may:
                pairs += self._tree_pairs(parameter, output)
        label = {s: n for n, s in enumerate(self.spots)}
        changed = True
        while changed:
            changed = False
            for a, b in pairs:
                if label[a] != label[b]:
                    label[a] = label[b] = min(label[a], label[b])
                    changed = True
        found: dict[int, set[Spot]] = {}
        for s in self.spots:
            found.setdefault(label[s], set()).add(s)
        return list(found.values())

    def _written_into(self, computation: Computation, i: Instruction) -> Iterator[Handing]:
        """What the text declares of an instruction. Results of an operation in flight are those of its dones."""
        c = computation.name
        for e in _declared(i.attributes.get("output_to_operand_aliasing")):
            is_start = _role(i.opcode) == "start"
            operands = self.bound((c, i.name)) if is_start else [(c, o) for o in i.operands]
            if e.operand not in range(len(operands)):
                continue
            source = (*operands[e.operand], e.operand_index)
            yield from self._tree_pairs(source, (c, i.name, e.output_index))
            if not is_start or e.output_index[:1] != (1,):
                continue
            for d, other in self._all():
                if (c, i.name) in self.starts.get((d.name, other.name), []):
                    at = e.output_index[1:] if _role(other.opcode) == "done" else e.output_index
                    yield from self._tree_pairs(source, (d.name, other.name, at))

    def _updated(self, computation: Computation, i: Instruction) -> Iterator[Handing]:
        """What a compiler writes where an operand lies."""
        c = computation.name
        several = isinstance(i.shape, TupleShape)
        match i.opcode:
            case "dynamic-update-slice" | "set-dimension-size":
                yield from self._tree_pairs((c, i.operands[0], ()), (c, i.name, ()))
            case "sort" | "scatter":
                count = len(i.operands) if i.opcode == "sort" else len(i.operands) // 2
                for k in range(count):
                    yield from self._tree_pairs((c, i.operands[k], ()), (c, i.name, (k,) if several else ()))
            case "fusion":
                body = self.module.by_name[_named(i, "calls")[0]]
                results = body.root.operands if body.root.opcode == "tuple" else (body.root_name,)
                for k, name in enumerate(results):
                    update = _behind_bitcasts(body, name)
                    if update.opcode in ("dynamic-update-slice", "scatter"):
                        base = _behind_bitcasts(body, update.operands[0])
                        if base.opcode == "parameter":
                            operand = i.operands[base.parameter_number or 0]
                            yield from self._tree_pairs((c, operand, ()), (c, i.name, (k,) if several else ()))


def _behind_bitcasts(body: Computation, name: str) -> Instruction:
    i = body.by_name[name]
    return _behind_bitcasts(body, i.operands[0]) if i.opcode == "bitcast" else i


_OWN = frozenset(
    {
        "copy-start",
        "copy-done",
        "all-reduce-start",
        "all-reduce-done",
        "all-gather-start",
        "all-gather-done",
        "collective-permute-start",
        "collective-permute-done",
        "send",
        "send-done",
        "recv",
        "recv-done",
    }
)


def _role(opcode: str) -> str | None:
    if opcode in ("send", "recv"):
        return "start"
    last = opcode.rsplit("-", 1)[-1]
    return last if last in ("start", "update", "done") and opcode != last else None
