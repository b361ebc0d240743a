"""Asynchronous chains: which start, updates and done belong together, and what each computes.

An asynchronous operation is a start, any number of updates, and a done. Three spellings exist: generic
(`async-start` ... with `calls=`), sugar (`X-start`, `X-update`, `X-done` for an opcode X), and the explicit pairs of
copy, all-reduce, all-gather, collective-permute, send and recv. The links of a chain may be joined through tuples,
loops, branches and calls; `hloproof.models.dataflow.value_flow` says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from hloproof.models.dataflow.value_flow import HloPosition, ValueFlow, called
from hloproof.models.hlo.attributes import Aliasing, Quoted, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import Shape, ShapeIndex, TupleShape

Role = Literal["start", "update", "done"]
_Form = Literal["generic", "sugared", "explicit"]

MAIN_THREAD: Final = "main"

EXPLICIT: Final[Mapping[str, tuple[Role, str]]] = {
    "copy-start": ("start", "copy"),
    "copy-done": ("done", "copy"),
    "all-reduce-start": ("start", "all-reduce"),
    "all-reduce-done": ("done", "all-reduce"),
    "all-gather-start": ("start", "all-gather"),
    "all-gather-done": ("done", "all-gather"),
    "collective-permute-start": ("start", "collective-permute"),
    "collective-permute-done": ("done", "collective-permute"),
    "send": ("start", "send"),
    "send-done": ("done", "send"),
    "recv": ("start", "recv"),
    "recv-done": ("done", "recv"),
}
"""Opcodes with start and done instructions of their own."""

RESULT_INDEX: Final[Mapping[str, ShapeIndex]] = {
    "copy": (0,),
    "all-reduce": (),
    "all-gather": (1,),
    "collective-permute": (1,),
    "recv": (0,),
}
"""Where the result lies in what the explicit start returns. send has none; a recv-done returns (data, token)."""


@dataclass(frozen=True, slots=True)
class Link:
    """The part that an instruction plays in an asynchronous operation."""

    role: Role
    form: _Form
    opcode: str
    """The wrapped opcode; `async` for the generic form, which names a computation instead."""


def link_of(opcode: str) -> Link | None:
    """The link that an opcode stands for, or None for an ordinary operation."""
    if opcode in EXPLICIT:
        role, wrapped = EXPLICIT[opcode]
        return Link(role, "explicit", wrapped)
    for role in ("start", "update", "done"):
        if opcode.endswith(f"-{role}"):
            wrapped = opcode[: -len(role) - 1]
            return Link(role, "generic" if wrapped == "async" else "sugared", wrapped)
    return None


def work_of(opcode: str) -> str:
    """The opcode of what is done, at once or in flight; `async` for the generic form."""
    link = link_of(opcode)
    return opcode if link is None else link.opcode


def declared_aliases(i: Instruction) -> tuple[Aliasing, ...]:
    """The entries of `output_to_operand_aliasing`, each with the position in what the instruction itself returns.

    Sugar around a start, `custom-call-start`, writes the attribute of the operation inside, whose result is at {1}.
    """
    entries = i.attributes.get("output_to_operand_aliasing")
    found = tuple(e for e in entries if isinstance(e, Aliasing)) if isinstance(entries, tuple) else ()
    link = link_of(i.opcode)
    if link is None or (link.role, link.form) != ("start", "sugared"):
        return found
    return tuple(replace(e, output_index=(1, *e.output_index)) for e in found)


def text_of(instruction: Instruction, attribute: str) -> str | None:
    """The text of an attribute that is a word or a string."""
    value = instruction.attributes.get(attribute)
    return value.text if isinstance(value, Word | Quoted) else None


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What a chain computes: parameter shapes (None where only the operands tell), result shape, and who computes it.

    `computation` is None for sugar around a single opcode, whose computation the text leaves out.
    """

    opcode: str
    parameters: tuple[Shape, ...] | None
    result: Shape | None
    computation: str | None
    thread: str


class AsyncChains:
    """The asynchronous operations of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.flow = ValueFlow(module)
        self._of_roles: dict[tuple[Role, ...], tuple[HloPosition, ...]] = {}
        self._arrivals: dict[HloPosition, tuple[HloPosition, ...]] = {}

    @cached_property
    def links(self) -> Mapping[HloPosition, Link]:
        """Every start, update and done, in the order of the text."""
        out: dict[HloPosition, Link] = {}
        for c in self.module.computations:
            for i in c.instructions:
                link = link_of(i.opcode)
                if link is not None:
                    out[HloPosition(c.name, i.name)] = link
        return out

    def of_role(self, *roles: Role) -> tuple[HloPosition, ...]:
        if roles not in self._of_roles:
            self._of_roles[roles] = tuple(p for p, link in self.links.items() if link.role in roles)
        return self._of_roles[roles]

    @cached_property
    def previous(self) -> Mapping[HloPosition, frozenset[HloPosition]]:
        """For each update and done, where the value it continues is made (starts and updates, when all is well)."""
        out: dict[HloPosition, frozenset[HloPosition]] = {}
        for place in self.of_role("update", "done"):
            operands = self.flow.instruction(place).operands
            out[place] = self.flow.origins(HloPosition(place.computation, operands[0])) if operands else frozenset()
        return out

    @cached_property
    def starts(self) -> Mapping[HloPosition, frozenset[HloPosition]]:
        """For each update and done, the starts that it may belong to."""
        out: dict[HloPosition, frozenset[HloPosition]] = {}
        for place in self.previous:
            seen, stack, found = {place}, [place], set()
            while stack:
                for before in self.previous.get(stack.pop(), frozenset()):
                    link = self.links.get(before)
                    if link is None or before in seen or before.index:
                        continue
                    seen.add(before)
                    if link.role == "start":
                        found.add(before)
                    else:
                        stack.append(before)
            out[place] = frozenset(found)
        return out

    @cached_property
    def members(self) -> Mapping[HloPosition, tuple[HloPosition, ...]]:
        """For each start, the updates and dones that may belong to it, in the order of the text."""
        out: dict[HloPosition, list[HloPosition]] = {p: [] for p in self.of_role("start")}
        for place, starts in self.starts.items():
            for start in starts:
                out[start].append(place)
        return {start: tuple(found) for start, found in out.items()}

    def arrivals(self, start: HloPosition) -> tuple[HloPosition, ...]:
        """All places to which the state of a chain is forwarded: neither its links nor where they make it."""
        if start not in self._arrivals:
            links = (start, *self.members[start])
            found = dict.fromkeys(m for m in links if self.links[m].role != "done")
            stack = sorted(found)
            made = len(found)
            while stack:
                for target in self.flow.targets(stack.pop()):
                    if target not in found:
                        found[target] = None
                        stack.append(target)
            self._arrivals[start] = tuple(found)[made:]
        return self._arrivals[start]

    @cached_property
    def _held(self) -> frozenset[HloPosition]:
        seen = {p for p, link in self.links.items() if link.role != "done" and link.form != "explicit"}
        stack = sorted(seen)
        while stack:
            for target in self.flow.targets(stack.pop()):
                ends = target in self.links and self.links[target].role == "done"
                if target not in seen and not ends:
                    seen.add(target)
                    stack.append(target)
        return frozenset(HloPosition(p.computation, p.instruction, (*p.index, 0)) for p in seen)

    def is_held(self, place: HloPosition) -> bool:
        """Whether the state of a chain holds an operand there, which its links alone read, and the operation itself
        until it is done."""
        above = (
            HloPosition(place.computation, place.instruction, place.index[:n]) for n in range(len(place.index) + 1)
        )
        return bool(self._held) and not self._held.isdisjoint(above)

    def bound_before(self, update: HloPosition) -> int:
        """How many operands the chain has bound when this update comes, as the state shows that it continues."""
        i = self.flow.instruction(update)
        state = self.module.by_name[update.computation].by_name[i.operands[0]].shape
        held = state.elements[0] if isinstance(state, TupleShape) and state.elements else TupleShape()
        # Older text has the only operand itself at {0}.
        return len(held.elements) if isinstance(held, TupleShape) else 1

    def binds(self, start: HloPosition) -> tuple[tuple[int, HloPosition], ...]:
        """The operands that the start and its updates bind, each with its number, counted over the chain. Where a chain
        goes one of several ways, several are bound as one number. Neither the text nor the computations follow in the
        order of the binding."""
        out = [
            (n, HloPosition(start.computation, name)) for n, name in enumerate(self.flow.instruction(start).operands)
        ]
        for member in self.members[start]:
            if self.links[member].role == "update":
                names = self.flow.instruction(member).operands[1:]
                before = self.bound_before(member)
                out += [(before + n, HloPosition(member.computation, name)) for n, name in enumerate(names)]
        return tuple(sorted(out, key=lambda bound: bound[0]))

    def bound_beside(self, start: HloPosition) -> tuple[str, ...] | None:
        """The operands of a chain by their numbers, where the updates that bind some stand in the computation of the
        start and follow it in one run of that; None where they do not, or may bind several as one number."""
        updates = [m for m in self.members[start] if self.links[m].role == "update"]
        binding = [m for m in updates if len(self.flow.instruction(m).operands) > 1]
        if not all(self._follows_beside(m, start) for m in binding):
            return None
        bound = self.binds(start)
        numbered = [n for n, _ in bound] == list(range(len(bound)))
        return tuple(place.instruction for _, place in bound) if numbered else None

    def _follows_beside(self, update: HloPosition, start: HloPosition) -> bool:
        """What an update continues does not come through loops, branches, calls or callers."""
        place = update
        while place != start:
            i = self.flow.instruction(place)
            before = (HloPosition(place.computation, i.operands[0]),) if place in self.links else ()
            sources = before or self.flow.sources(place)
            if len(sources) != 1 or sources[0].computation != start.computation:
                return False
            place = sources[0]
        return True

    def bound(self, start: HloPosition) -> tuple[HloPosition, ...]:
        """One operand of a chain for each number, in order."""
        first: dict[int, HloPosition] = {}
        for number, place in self.binds(start):
            first.setdefault(number, place)
        return tuple(first.values())

    @staticmethod
    def runs(start: Instruction) -> str | None:
        """The computation that a start runs, where the text shows it; None for other instructions, too. What other
        sugar than that of a call names belongs to the operation inside, such as the sum of a reduction."""
        match start.opcode:
            case "async-start":
                return called(start, "calls")
            case "call-start":
                return called(start, "to_apply")
        return None

    def thread(self, instruction: Instruction) -> str:
        """The execution thread of a chain that begins with this start."""
        named = text_of(instruction, "async_execution_thread")
        if named is not None:
            return named
        inner = self.module.find(called(instruction, "calls") or called(instruction, "to_apply"))
        return self.thread_of(inner) if inner is not None else MAIN_THREAD

    @staticmethod
    def thread_of(computation: Computation) -> str:
        value = computation.attributes.get("execution_thread")
        return value.text if isinstance(value, Word | Quoted) else MAIN_THREAD

    def wrapped(self, start: HloPosition) -> Wrapped:
        """What the chain of a start computes; of an explicit start only what its links show."""
        i, link = self.flow.instruction(start), self.links[start]
        thread = self.thread(i)
        inner = self.module.find(self.runs(i))
        if inner is not None:
            shapes = tuple(p.shape for p in inner.parameters)
            return Wrapped(link.opcode, shapes, inner.root.shape, inner.name, thread)
        done = [self.flow.instruction(p).shape for p in self.members[start] if self.links[p].role == "done"]
        shape = i.shape
        promised = shape.elements[1] if isinstance(shape, TupleShape) and len(shape.elements) > 1 else None
        return Wrapped(link.opcode, None, done[0] if done else promised, None, thread)

    def bound_operands(self, start: HloPosition) -> tuple[Shape, ...]:
        """The shapes of all operands bound by the start and its updates, in order of binding."""
        return tuple(self.flow.instruction(place).shape for place in self.bound(start))
