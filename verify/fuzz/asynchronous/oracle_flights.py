"""Target `async`: hazards of one computation, found by walking through every order in which it can run.

Every value is given a buffer and a version, operation by operation, as its form says; then the orders are walked, and
in each the operations that run between a start and its done are looked at one by one. In a scheduled module there is
the one order, and versions that are read after their buffer was written again are found as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hloproof.models.hlo.attributes import Aliasing, ComputationRef, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import TupleShape

Hazards = set[tuple[str, str]]
"""(claim, the instruction that it is about)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What an array lies in: a buffer, and which content of it."""

    buffer: int
    version: int


Tree = Cell | tuple["Tree", ...]


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
    links: frozenset[str]
    reads: frozenset[int]
    writes: frozenset[Cell]


def _declared(value: object) -> list[Aliasing]:
    return [e for e in value if isinstance(e, Aliasing)] if isinstance(value, tuple) else []


def _at(tree: Tree, index: tuple[int, ...]) -> Tree:
    for k in index:
        assert isinstance(tree, tuple)
        tree = tree[k]
    return tree


def cells(tree: Tree) -> list[Cell]:
    return [tree] if isinstance(tree, Cell) else [c for part in tree for c in cells(part)]


@dataclass(slots=True)
class _Chain:
    """An operation in flight while the steps are made: the openings so far, each with what it reads."""

    output: Tree
    openings: list[tuple[str, list[Cell]]]
    links: list[str]


class Program:
    """The steps of a computation and its flights."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.scheduled = module.attributes.flag("is_scheduled")
        self.steps: list[Step] = []
        self.flights: list[Flight] = []
        self.maker: dict[int, str] = {}
        """The instruction that made a version."""
        self.same: dict[int, int] = {}
        """Buffers of results that are those of parameters."""
        self._count = 0
        self._chain: dict[str, _Chain] = {}
        values: dict[str, Tree] = {}
        for i in module.entry.instructions:
            control = i.attributes.get("control-predecessors")
            after = [w.text for w in control if isinstance(w, Word)] if isinstance(control, tuple) else []
            step = Step(i.name, frozenset((*i.operands, *after)))
            values[i.name] = self._run(i, [values[o] for o in i.operands], step)
            self.steps.append(step)
        self.result = cells(values[module.entry.root_name])
        self.values = values
        for said in _declared(module.attributes.get("input_output_alias")):
            if said.kind == "must-alias" and self.scheduled:
                parameters = {p.parameter_number: values[p.name] for p in module.entry.parameters}
                (output,) = cells(_at(values[module.entry.root_name], said.output_index))
                (given,) = cells(_at(parameters[said.operand], said.operand_index))
                self.same[output.buffer] = given.buffer

    def buffer(self, cell: Cell) -> int:
        return self.same.get(cell.buffer, cell.buffer)

    def _fresh(self, step: Step) -> Cell:
        self._count += 1
        return self._made(Cell(self._count, self._count), step)

    def _again(self, cell: Cell, step: Step) -> Cell:
        """A new version in the buffer of an old one."""
        self._count += 1
        return self._made(Cell(cell.buffer, self._count), step)

    def _made(self, cell: Cell, step: Step) -> Cell:
        self.maker[cell.version] = step.name
        step.writes.append(cell)
        return cell

    def _run(self, i: Instruction, given: list[Tree], step: Step) -> Tree:
        match i.opcode:
            case "parameter":
                count = len(i.shape.elements) if isinstance(i.shape, TupleShape) else 0
                given_cells = tuple(self._fresh(step) for _ in range(max(count, 1)))
                step.writes.clear()
                return given_cells if count else given_cells[0]
            case "after-all" | "token":
                return ()
            case "get-tuple-element":
                whole = given[0]
                assert isinstance(whole, tuple)
                return whole[i.attributes.integer("index", 0)]
            case "tuple":
                return tuple(given)
            case "opt-barrier":
                if i.operands[0] in self._chain:
                    self._chain[i.name] = self._chain[i.operands[0]]
                return given[0]
            case "while" if isinstance(given[0], tuple):
                return self._loop_of_two(i, given[0], step)
            case "call" | "while":
                return self._body(i, given, step)
            case "conditional":
                return self._branches(i, given[1:], step)
            case opcode if opcode.endswith("-done"):
                return self._done(i, given)
            case opcode if opcode.endswith(("-start", "-update")) or opcode in ("send", "recv"):
                return self._link(i, given, step)
        arrays = [g for g in given if isinstance(g, Cell)]
        step.reads += arrays
        declared = _declared(i.attributes.get("output_to_operand_aliasing"))
        if declared and isinstance(i.shape, TupleShape):
            return tuple(self._again(arrays[0], step) for _ in i.shape.elements)
        if declared:
            return self._again(arrays[0], step)
        return self._in_place(arrays[0], step) if i.opcode == "dynamic-update-slice" else self._fresh(step)

    def _in_place(self, cell: Cell, step: Step) -> Cell:
        """A new version where the old one lies; where orders are open, a copy may come between."""
        if self.scheduled:
            return self._again(cell, step)
        step.spared.append(cell)
        return self._fresh(step)

    def _computation(self, i: Instruction, attribute: str) -> Computation:
        named = i.attributes.get(attribute)
        assert isinstance(named, ComputationRef)
        return self.module.by_name[named.name]

    def _body(self, i: Instruction, given: list[Tree], step: Step) -> Tree:
        """A call or a loop of one array. A loop that changes its state writes it back where it came from."""
        (argument,) = given
        assert isinstance(argument, Cell)
        root = self._computation(i, "to_apply" if i.opcode == "call" else "body").root
        if root.opcode == "opt-barrier":
            return argument
        step.reads.append(argument)
        in_place = i.opcode == "while" or _declared(root.attributes.get("output_to_operand_aliasing"))
        return self._again(argument, step) if in_place else self._fresh(step)

    def _loop_of_two(self, i: Instruction, state: tuple[Tree, ...], step: Step) -> Tree:
        """Each part is left as it is, or written anew where it lies."""
        out: list[Tree] = []
        root = self._computation(i, "body").root
        for k, part in enumerate(state):
            assert isinstance(part, Cell)
            if root.opcode == "tuple" and not root.operands[k].startswith("kept"):
                step.reads.append(part)
                out.append(self._again(part, step))
            else:
                out.append(part)
        return tuple(out)

    def _branches(self, i: Instruction, given: list[Tree], step: Step) -> Tree:
        """One array for each branch. What only some branches hand on is copied into the result."""
        named = i.attributes.get("branch_computations")
        assert isinstance(named, tuple)
        roots = [self.module.by_name[n.name].root for n in named if isinstance(n, ComputationRef)]
        arrays = [g for g in given if isinstance(g, Cell)]
        if all(r.opcode == "opt-barrier" for r in roots) and len(set(arrays)) == 1:
            return arrays[0]
        step.reads += arrays
        written = [
            a for a, r in zip(arrays, roots, strict=True) if _declared(r.attributes.get("output_to_operand_aliasing"))
        ]
        return self._in_place(written[0], step) if written else self._fresh(step)

    def _link(self, i: Instruction, given: list[Tree], step: Step) -> Tree:
        if i.opcode.endswith("-update"):
            chain = self._chain[i.name] = self._chain[i.operands[0]]
            bound = [g for g in given[1:] if isinstance(g, Cell)]
            step.reads += bound
            chain.links.append(i.name)
            before = given[0]
            assert isinstance(before, tuple)
            if not bound:
                return before
            chain.openings.append((i.name, bound))
            held = before[0]
            assert isinstance(held, tuple)
            return ((*held, *bound), before[1], ())
        arrays = [g for g in given if isinstance(g, Cell)]
        step.reads += arrays
        output: Tree = () if i.opcode == "send" else self._output(i, arrays, step)
        self._chain[i.name] = _Chain(output, [(i.name, arrays)], [i.name])
        match i.opcode:
            case "copy-start":
                return (output, arrays[0], ())
            case "all-gather-start" | "collective-permute-start":
                return (arrays[0], output)
            case "all-reduce-start":
                return output
            case "send":
                return (arrays[0], (), ())
            case "recv":
                return (output, (), ())
        return (tuple(arrays), output, ())

    def _output(self, i: Instruction, arrays: list[Cell], step: Step) -> Cell:
        if _declared(i.attributes.get("output_to_operand_aliasing")):
            return self._again(arrays[0], step)
        if i.opcode == "async-start" and arrays:
            root = self._computation(i, "calls").root
            if _declared(root.attributes.get("output_to_operand_aliasing")):
                return self._in_place(arrays[0], step)
        return self._fresh(step)

    def _done(self, i: Instruction, given: list[Tree]) -> Tree:
        chain = self._chain[i.operands[0]]
        chain.links.append(i.name)
        written = frozenset(cells(chain.output))
        for opening, read in chain.openings:
            reads = frozenset(c.buffer for c in read)
            self.flights.append(Flight(opening, i.name, frozenset(chain.links), reads, written))
        return (chain.output, ()) if i.opcode == "recv-done" else chain.output


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


def hazards(program: Program) -> Hazards:
    """What is broken in the given order of a scheduled module, or in some order of another."""
    found: Hazards = set()
    if program.scheduled:
        done: set[str] = set()
        for step in program.steps:
            _in_flight(program, done, step, found)
            done.add(step.name)
        _stale(program, found)
        return found
    first = [s for s in program.steps if not s.waits and not s.reads and not s.writes]
    names = {s.name for s in first}
    rest = [Step(s.name, s.waits - names, s.reads, s.writes) for s in program.steps if s.name not in names]
    for before, step in moments(rest):
        _in_flight(program, before, step, found)
    return found


def _in_flight(program: Program, done: set[str] | frozenset[str], step: Step, found: Hazards) -> None:
    for flight in program.flights:
        if flight.opening not in done or flight.closing in done or step.name in flight.links:
            continue
        held = {program.buffer(c) for c in flight.writes}
        read = {program.same.get(b, b) for b in flight.reads}
        for cell in step.writes:
            if program.buffer(cell) in read:
                found.add(("hazard-operand", flight.opening))
            if program.buffer(cell) in held:
                found.add(("hazard-output", flight.opening))
        for cell in step.reads:
            # Before copies are inserted an older content of the buffer is not there to be read: a copy is.
            if program.buffer(cell) in held and (program.scheduled or cell in flight.writes):
                found.add(("hazard-output", flight.opening))


def _stale(program: Program, found: Hazards) -> None:
    """Contents that are read when their buffer holds others, and two that one instruction wrote into one buffer and
    that are both read."""
    holds: dict[int, set[int]] = {}
    donated = set(program.same.values())
    needed: set[int] = set()

    def claim(cell: Cell) -> str:
        return "hazard-donation" if program.buffer(cell) in donated else "hazard-overwrite"

    def read(cell: Cell) -> None:
        needed.add(cell.version)
        if cell.version not in holds.get(program.buffer(cell), {cell.version}):
            found.add((claim(cell), program.maker[cell.version]))

    for step in program.steps:
        for cell in step.reads:
            read(cell)
        for cell in step.writes:
            holds[program.buffer(cell)] = {c.version for c in step.writes if program.buffer(c) == program.buffer(cell)}
    for cell in program.result:
        read(cell)
    for step in program.steps:
        for cell in step.writes:
            beside = [c for c in step.writes if c.version in needed and program.buffer(c) == program.buffer(cell)]
            if cell.version in needed and len(beside) > 1:
                found.add((claim(cell), step.name))
