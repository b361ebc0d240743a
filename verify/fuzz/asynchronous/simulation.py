"""One computation carried out step by step on cells: which array lies in which buffer, who reads and writes it, and
what is in flight meanwhile.

A cell is a buffer with one content. What an instruction hands on is the same cell; what it makes is a new content, in a
new buffer or in that of an operand. Bodies are carried out where they are called. The orders of the steps are walked
without their number, as the sets of steps that can have run when one runs; a schedule is the only order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Final

from hloproof.fuzz.asynchronous.reading import declared, handed, named, role, tree, updated, written_in
from hloproof.fuzz.asynchronous.reading import part as part_of
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Index, Shape


@dataclass(frozen=True, slots=True)
class Cell:
    """What an array lies in: a buffer, and which content of it."""

    buffer: int
    version: int


Cells = dict[Index, Cell]
"""The arrays of a value, by position; scalars and tokens are not followed."""


Lies = dict[Index, tuple[Cell, bool]]
"""Parts of a result in the buffers of operands, and whether a copy may come between."""


@dataclass(slots=True)
class Step:
    """What one instruction does to buffers."""

    name: str
    waits: frozenset[str]
    reads: list[Cell] = field(default_factory=list)
    writes: list[Cell] = field(default_factory=list)
    spared: list[Cell] = field(default_factory=list)
    """What a compiler may write over, unless it puts a copy between."""


@dataclass(frozen=True, slots=True)
class Flight:
    """From the step `opening` to the step `closing`, neither included, and not the links themselves."""

    opening: str
    closing: str
    links: tuple[str, ...]
    reads: frozenset[Cell]
    writes: frozenset[Cell]


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller knows of a computation's arguments. Their parts are counted by the parameter's number first."""

    equal: dict[Index, list[Index]]
    """For each part all that are one array with it."""
    lies: list[tuple[Index, Index]]
    """Parts of the result that lie in the buffer of a part of an argument."""


@dataclass(slots=True)
class _Chain:
    """An operation in flight while the steps are made: the openings so far, each with what it reads."""

    output: frozenset[Cell]
    openings: list[tuple[str, list[Cell]]]
    links: list[str]


def waits_of(i: Instruction) -> frozenset[str]:
    """Who has to run before."""
    control = i.attributes.get("control-predecessors")
    after = [w.text for w in control if isinstance(w, Word)] if isinstance(control, tuple) else []
    return frozenset((*i.operands, *after))


def _arrays(shape: Shape) -> list[Index]:
    leaves = [(at, part_of(shape, at)) for at in tree(shape)]
    return [at for at, s in leaves if isinstance(s, ArrayShape) and s.dimensions]


_MOVING: Final = ("parameter", "tuple", "get-tuple-element", "opt-barrier", "constant", "after-all")
"""What touches no element."""


class Program:
    """The steps of a computation, its flights, and what each value lies in. Parameters lie apart from one another."""

    def __init__(self, module: Module, computation: Computation, given: Sequence[Given] = ()) -> None:
        """`given`: what callers say of the arguments."""
        self.module, self.computation = module, computation
        self.scheduled = module.attributes.flag("is_scheduled")
        self.flights: list[Flight] = []
        self.maker: dict[int, str] = {}
        """The instruction that made a content."""
        self.donated: set[int] = set()
        """Buffers of parameters that are those of results."""
        self._same: dict[int, int] = {}
        """Buffers that are one with another one."""
        self._ran: list[tuple[str, Cells, Cells]] = []
        """Computations that calls and conditionals run: what each is given, and where its result lies afterwards."""
        self._count = self._depth = 0
        self._arguments: dict[Index, Cell] = {}
        self._equal: dict[Index, Index] = {}
        """Parts of arguments that are one array whoever calls, each with the first of them."""
        for part in given[0].equal if given else ():
            self._equal[part] = min(set(given[0].equal[part]).intersection(*(g.equal[part] for g in given)))
        self._chain: dict[str, _Chain] = {}
        self.steps = [Step(i.name, waits_of(i)) for i in computation.instructions]
        self.values = self._carried_out(computation, [], self.steps)
        self.returned = self.values[computation.root_name]
        self.result = list(self.returned.values())
        parameters = {p.parameter_number: self.values[p.name] for p in computation.parameters}
        for said in declared(module.attributes.get("input_output_alias")) if computation is module.entry else ():
            if self.scheduled:
                taken = parameters[said.operand][said.operand_index]
                self._join(taken, self.returned[said.output_index])
                self.donated.add(taken.buffer)
        for at, (number, *inside) in (pair for g in given for pair in g.lies):
            self._join(parameters[number][tuple(inside)], self.returned[at])
        self.donated = {self._one(buffer) for buffer in self.donated}

    def _one(self, buffer: int) -> int:
        while buffer in self._same:
            buffer = self._same[buffer]
        return buffer

    def _join(self, a: Cell, b: Cell) -> None:
        if self.buffer(a) != self.buffer(b):
            self._same[self.buffer(b)] = self.buffer(a)

    def buffer(self, cell: Cell) -> int:
        return self._one(cell.buffer)

    def inside(self) -> Iterator[tuple[str, Given]]:
        """Computations that this one calls or branches to, each with what is said of its arguments and result."""
        for name, given, result in self._ran:
            equal = {a: [b for b in given if given[a] == given[b]] for a in given}
            made = [(at, cell) for at, cell in result.items() if cell not in given.values()]
            lies = [(at, a) for at, cell in made for a in given if self.buffer(given[a]) == self.buffer(cell)]
            yield name, Given(equal, lies if self.scheduled else [])

    @cached_property
    def moments(self) -> list[tuple[frozenset[str], Step]]:
        """Those of the order that is given, or of all that can be."""
        if self.scheduled or not self.flights:
            names = [s.name for s in self.steps]
            return [(frozenset(names[:n]), s) for n, s in enumerate(self.steps)]
        own = {s.name: s for s in self.steps}
        gone = {s.name for s in self.steps if not s.waits and not s.reads and not s.writes}
        rest = [Step(s.name, s.waits - gone) for s in self.steps if s.name not in gone]
        return [(before, own[s.name]) for before, s in moments(rest)]

    def _carried_out(self, body: Computation, given: Sequence[Cells], steps: Sequence[Step]) -> dict[str, Cells]:
        """The cells of every value; what is done is noted in the step of each instruction. Parameters that are not
        given lie in buffers of their own."""
        values: dict[str, Cells] = {}
        for i, step in zip(body.instructions, steps, strict=True):
            if i.opcode == "parameter":
                values[i.name] = given[i.parameter_number or 0] if given else self._own(i)
            else:
                values[i.name] = self._result(body, i, [values[o] for o in i.operands], step)
        return values

    def _own(self, i: Instruction) -> Cells:
        """A parameter, which lies apart from all others, but for what is one array whoever calls."""
        number = i.parameter_number or 0
        for at in _arrays(i.shape):
            first = self._equal.get((number, *at), (number, *at))
            if first not in self._arguments:
                names = {p.parameter_number: p.name for p in self.computation.parameters}
                self._arguments[first] = self._made(Step(names[first[0]], frozenset()))
            self._arguments[number, *at] = self._arguments[first]
        return {at: self._arguments[number, *at] for at in _arrays(i.shape)}

    def _made(self, step: Step, buffer: int | None = None) -> Cell:
        """A new content, in a new buffer or in this one."""
        self._count += 1
        cell = Cell(self._count if buffer is None else buffer, self._count)
        self.maker[cell.version] = step.name
        step.writes.append(cell)
        return cell

    def _result(self, body: Computation, i: Instruction, given: list[Cells], step: Step) -> Cells:
        link = role(i.opcode)
        shapes = [body.by_name[o].shape for o in i.operands]
        out = {
            (*b, *at[len(a) :]): cell
            for k, a, b in handed(i, shapes)
            for at, cell in given[k].items()
            if at[: len(a)] == a and i.opcode != "while"
        }
        if i.opcode in ("call", "while", "conditional"):
            out, lies = self._bodies(i, given, step)
        else:
            lies = self._in_place(i, given)
            if link != "done" and i.opcode not in _MOVING:
                step.reads += [c for g in given[link == "update" :] for c in g.values()]
        fresh: list[Cell] = []
        for at in _arrays(i.shape):
            if at not in out:
                where, may = lies.get(at, (None, False))
                if where is not None and may and not self.scheduled:
                    step.spared.append(where)
                    where = None
                out[at] = self._made(step, None if where is None else where.buffer)
                fresh.append(out[at])
        self._fly(i, given, fresh, step)
        return {at: out[at] for at in _arrays(i.shape)}

    def _in_place(self, i: Instruction, given: Sequence[Cells]) -> Lies:
        """What the instruction writes into operands: as it declares, as compilers do, and as what it starts does."""
        lies: Lies = {b: (given[k][a], True) for k, a, b in updated(self.module, i)}
        for e in written_in(i):
            lies[e.output_index] = (given[e.operand][e.operand_index], False)
        for body in named(i, "calls", "to_apply") if i.opcode in _RUN else ():
            if len(self.module.by_name[body].parameters) <= len(given):
                root = self._inside(body, given, Step("", frozenset()))[()]
                for cell in (c for g in given for c in g.values() if c.buffer == root.buffer):
                    lies.setdefault((1,), (cell, True))
        return lies

    def _inside(self, name: str, given: Sequence[Cells], step: Step) -> Cells:
        """Carries out a body as a part of one step; what its result lies in."""
        body = self.module.by_name[name]
        self._depth += 1
        found = self._carried_out(body, given, [step] * len(body.instructions))[body.root_name]
        self._depth -= 1
        return found

    def _run(self, name: str, given: Sequence[Cells], result: Cells) -> None:
        if not self._depth:
            self._ran.append((name, {(n, *at): c for n, g in enumerate(given) for at, c in g.items()}, result))

    def _bodies(self, i: Instruction, given: list[Cells], step: Step) -> tuple[Cells, Lies]:
        """What a call, loop or conditional hands on, and which of the rest lies in the buffers of operands."""
        if i.opcode == "call":
            (name,) = named(i, "to_apply")
            out = self._inside(name, given, step)
            self._run(name, given, out)
            return out, {}
        if i.opcode == "while":
            # A loop that changes a part of its state writes it back where it came from.
            after = self._inside(named(i, "body")[0], given, Step("", frozenset()))
            step.reads += [c for at, c in given[0].items() if after[at] != c]
            kept = {at: c for at, c in given[0].items() if after[at] == c}
            return kept, {at: (c, False) for at, c in given[0].items() if at not in kept}
        names = named(i, *_BRANCHES)
        ends: list[Cells] = []
        for name, g in zip(names, given[1:], strict=True):
            within = Step(step.name, frozenset())
            ends.append(self._inside(name, [g], within))
            step.reads += [c for c in g.values() if c in within.reads]
            outside = {self.buffer(c) for c in g.values()}
            step.writes += [c for c in within.writes if self.scheduled and self.buffer(c) in outside]
        if self.scheduled:
            out = self._meeting(given[1:], ends, step)
            for name, g in zip(names, given[1:], strict=True):
                self._run(name, [g], out)
            return out, {}
        out = {at: c for at, c in ends[0].items() if all(end[at] == c for end in ends)}
        if len(out) < len(ends[0]):  # what only some branches hand on is copied into the result
            step.reads += [c for g in given[1:] for c in g.values()]
        lies = {
            at: (c, True)
            for at in ends[0]
            for g, end in reversed(list(zip(given[1:], ends, strict=True)))
            for c in g.values()
            if end[at] != c and end[at].buffer == c.buffer
        }
        return out, lies

    def _meeting(self, given: Sequence[Cells], ends: Sequence[Cells], step: Step) -> Cells:
        """What branches leave as one result. Once copies are inserted nothing moves it from where each of them left it,
        and what they were given and what they return is one buffer."""
        made: dict[tuple[Cell, ...], Cell] = {}
        out: Cells = {}
        for at in ends[0]:
            left = tuple(end[at] for end in ends)
            if len(set(left)) == 1:
                out[at] = left[0]
                continue
            if left not in made:
                made[left] = self._made(step)
                for cell, g in zip(left, given, strict=True):
                    step.reads += [c for c in g.values() if c == cell]
                    if self.buffer(cell) in {self.buffer(c) for c in g.values()}:
                        self._join(cell, made[left])
            out[at] = made[left]
        return out

    def _fly(self, i: Instruction, given: Sequence[Cells], fresh: Sequence[Cell], step: Step) -> None:
        """Notes what is in flight."""
        link = role(i.opcode)
        if link == "start":
            self._chain[i.name] = _Chain(frozenset(fresh), [(i.name, list(step.reads))], [i.name])
            return
        chain = self._chain.get(i.operands[0]) if i.operands else None
        if chain is None or (link is None and i.opcode != "opt-barrier"):
            return
        self._chain[i.name] = chain
        if link is not None:
            chain.links.append(i.name)
        if link == "update" and step.reads:
            chain.openings.append((i.name, list(step.reads)))
        for opening, reads in chain.openings if link == "done" else ():
            self.flights.append(Flight(opening, i.name, tuple(chain.links), frozenset(reads), chain.output))


_BRANCHES: Final = ("branch_computations", "true_computation", "false_computation")
_RUN: Final = ("async-start", "call-start")

Disagreement = tuple[str, str, str, Index, Index]
"""A conditional, a branch that puts two parts of the result into one buffer, one that does not, and the parts."""


def programs(module: Module, alone: bool = False) -> tuple[dict[str, Program], dict[str, list[Disagreement]]]:
    """The computations that a module runs, each with what its callers say of where its result lies; and of each the
    conditionals with branches that disagree on what is one buffer. `alone`: bodies do not hear where results lie."""
    told: dict[str, list[Given]] = {c.name: [] for c in module.computations}
    own: dict[str, Program] = {}
    named_so_far = {module.entry_name}
    for c in reversed(module.computations):  # what is called stands before its callers
        if c.name not in named_so_far:
            continue  # nobody runs it
        named_so_far.update(name for i in c.instructions for name in i.attributes.computations())
        own[c.name] = Program(module, c, told[c.name])
        for name, given in own[c.name].inside():
            told[name].append(replace(given, lies=[]) if alone else given)
    shown = {name: own[name] for name in module.by_name if name in own}
    return shown, {name: list(_disagreements(module.by_name[name], own)) for name in own}


def _disagreements(computation: Computation, own: dict[str, Program]) -> Iterator[Disagreement]:
    for i in computation.instructions:
        names = named(i, *_BRANCHES) if i.opcode == "conditional" else ()
        lie = {name: {at: own[name].buffer(c) for at, c in own[name].returned.items()} for name in names}
        for one, other in product(names, repeat=2):
            for p, q in combinations(lie[one], 2):
                if lie[one][p] == lie[one][q] and lie[other][p] != lie[other][q]:
                    yield i.name, one, other, p, q


def moments(steps: Sequence[Step]) -> Iterator[tuple[frozenset[str], Step]]:
    """Every step together with every set of steps that can have run when it runs: all orders, without their number."""
    at = {s.name: n for n, s in enumerate(steps)}
    waits = [sum(1 << at[name] for name in s.waits) for s in steps]
    seen, stack = {0}, [0]
    while stack:
        done = stack.pop()
        names: frozenset[str] | None = None
        for n, step in enumerate(steps):
            if not done >> n & 1 and waits[n] & ~done == 0:
                names = names or frozenset(s.name for k, s in enumerate(steps) if done >> k & 1)
                yield names, step
                after = done | 1 << n
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
