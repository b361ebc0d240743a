"""Target `async`: chains judged by running them.

The module is run once for every way through its branches, and for no round of each loop, one, two and so on. A start
makes an operation, which its updates and dones meet as a value. What the runs show (who met which operation, how often)
and the shapes in the text say which claims hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from hloproof.models.hlo.attributes import ComputationRef, Quoted, Word
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape

Where = tuple[str, str]
"""A computation and an instruction in it."""

OWN: Final = ("copy", "all-reduce", "all-gather", "collective-permute")
"""Kinds whose starts and dones are opcodes of their own."""
ELEMENTWISE: Final = ("negate",)
"""Kinds of sugar whose result has the shape of the operands."""
_PLACE: Final = {"copy": (0,), "all-reduce": (), "all-gather": (1,), "collective-permute": (1,)}


def rounds(state: Shape) -> int:
    """Loops run 0 times, and up to one time less than this: every operation that the state can hold may come to stand
    at every place of it twice."""
    places = state.elements if isinstance(state, TupleShape) else ()
    return 2 * sum(isinstance(s, TupleShape) or k == 0 for k, s in enumerate(places)) + 2


@dataclass(slots=True, eq=False)
class Operation:
    """One run of a start."""

    start: Where
    dones: int = 0


@dataclass(slots=True, eq=False)
class State:
    """An operation as a value: what the start or an update at `maker` returns. None where no start began it."""

    operation: Operation | None
    maker: Where
    before: State | None = None
    """What an update went on from."""
    finished: bool = False
    """A done met it, or what went on from it."""

    def line(self) -> Iterator[State]:
        """The state and those before it."""
        yield self
        if self.before is not None:
            yield from self.before.line()


Value = State | tuple["Value", ...] | None
"""None is an array."""


def role_of(opcode: str) -> tuple[str, str] | None:
    """The kind and role of a link."""
    for role in ("start", "update", "done"):
        if opcode.endswith("-" + role):
            return opcode[: -len(role) - 1], role
    return None


@dataclass(slots=True)
class Seen:
    """What all runs together show."""

    before: dict[Where, set[Where | None]] = field(default_factory=dict)
    """For each update and done that ran, who made the value that it met; None for something that is no operation."""
    most: dict[Where, int] = field(default_factory=dict)
    """For each start, the most dones that one of its operations met."""
    carried: set[Where] = field(default_factory=set)
    """Starts and updates whose operation was the state of a loop, going in or coming out."""
    finished: set[Where] = field(default_factory=set)
    """Starts and updates with a done behind them in some run."""
    dropped: set[Where] = field(default_factory=set)
    """Those without one in some run that made them, and that does not end with a loop's state in its result."""


class _Runner:
    """One run, along given choices; where they end, the first possibility is taken and noted."""

    def __init__(self, module: Module, choices: list[int], seen: Seen) -> None:
        self.module, self.choices, self.seen = module, choices, seen
        self.taken: list[tuple[int, int]] = []
        self.operations: list[Operation] = []
        self.states: list[State] = []

    def choose(self, among: int) -> int:
        n = len(self.taken)
        chosen = self.choices[n] if n < len(self.choices) else 0
        self.taken.append((chosen, among))
        return chosen

    def run(self, computation: Computation, given: list[Value]) -> Value:
        values: dict[str, Value] = {}
        for i in computation.instructions:
            operands = [values[o] for o in i.operands]
            if i.opcode == "parameter":
                values[i.name] = given[i.parameter_number or 0] if given else None
            else:
                values[i.name] = self._step((computation.name, i.name), i, operands)
        return values[computation.root_name]

    def _named(self, i: Instruction, attribute: str) -> Computation:
        value = i.attributes.get(attribute)
        assert isinstance(value, ComputationRef)
        return self.module.by_name[value.name]

    def _step(self, where: Where, i: Instruction, given: list[Value]) -> Value:
        match i.opcode:
            case "tuple":
                return tuple(given)
            case "get-tuple-element":
                return given[0][i.attributes.integer("index", 0)] if isinstance(given[0], tuple) else None
            case "opt-barrier":
                return given[0]
            case "call":
                return self.run(self._named(i, "to_apply"), given)
            case "conditional":
                named = i.attributes.get("branch_computations")
                assert isinstance(named, tuple)
                k = self.choose(len(named))
                branch = named[k]
                assert isinstance(branch, ComputationRef)
                return self.run(self.module.by_name[branch.name], [given[1 + k]])
            case "while":
                state = given[0]
                self._carry(state)
                for _ in range(self.choose(rounds(i.shape))):
                    state = self.run(self._named(i, "body"), [state])
                    self._carry(state)
                return state
        found = role_of(i.opcode)
        return self._link(where, found[1], given) if found else None

    def _carry(self, value: Value) -> None:
        if isinstance(value, tuple):
            for part in value:
                self._carry(part)
        elif isinstance(value, State) and value.operation is not None:
            self.seen.carried |= {value.operation.start, *(s.maker for s in value.line())}

    def _link(self, where: Where, role: str, given: list[Value]) -> Value:
        if role == "start":
            self.operations.append(Operation(where))
            self.states.append(State(self.operations[-1], where))
            return self.states[-1]
        met = given[0]
        self.seen.before.setdefault(where, set()).add(met.maker if isinstance(met, State) else None)
        operation = met.operation if isinstance(met, State) else None
        if role == "update":
            self.states.append(State(operation, where, met if isinstance(met, State) else None))
            return self.states[-1]
        if operation is not None:
            operation.dones += 1
        if isinstance(met, State):
            for s in met.line():
                s.finished = True
        return None


def watch(module: Module) -> Seen:
    """All runs."""
    seen, choices = Seen(), list[int]()
    while True:
        runner = _Runner(module, choices, seen)
        _note_ends(runner, runner.run(module.entry, []))
        for o in runner.operations:
            seen.most[o.start] = max(seen.most.get(o.start, 0), o.dones)
        taken = runner.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return seen
        choices = [c for c, _ in taken[:-1]] + [taken[-1][0] + 1]


def _note_ends(runner: _Runner, result: Value) -> None:
    """Which starts and updates were finished in a run, and which were not."""
    held, waiting = set[int](), [result]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            waiting += value
        elif isinstance(value, State):
            held |= {id(s) for s in value.line() if s.maker in runner.seen.carried}
    for s in runner.states:
        if s.finished or (s.operation is not None and s.before is None and s.operation.dones):
            runner.seen.finished.add(s.maker)
        elif id(s) not in held:
            runner.seen.dropped.add(s.maker)


def plain(shape: Shape | None) -> object:
    """A shape as nested lists of type and sizes."""
    if isinstance(shape, TupleShape):
        return [plain(s) for s in shape.elements]
    return (shape.element_type, shape.dimensions) if isinstance(shape, ArrayShape) else type(shape)


def begins(part: object, whole: object) -> bool:
    """What is bound so far begins what is bound in the end: tuples may be short at their right ends."""
    if not isinstance(part, list):
        return part == whole
    if not isinstance(whole, list):
        return not part
    return len(part) <= len(whole) and all(begins(a, b) for a, b in zip(part, whole, strict=False))


class Reading:
    """The claims about one module, read off its runs and its text: `broken()` names those that do not hold."""

    def __init__(self, module: Module) -> None:
        self.module, self.seen = module, watch(module)
        self.at: dict[Where, Instruction] = {(c.name, i.name): i for c in module.computations for i in c.instructions}
        self.links = {w: found for w, i in self.at.items() if (found := role_of(i.opcode))}
        self.starts: dict[Where, list[Where]] = {}
        for w in self.links:
            reached, pending = {w}, [w]
            while pending:
                for b in self.seen.before.get(pending.pop(), ()):
                    if b is not None and b not in reached:
                        reached.add(b)
                        pending.append(b)
            self.starts[w] = [x for x in self.links if x in reached and self.links[x][1] == "start"]

    def broken(self) -> tuple[set[tuple[str, Where]], set[tuple[str, Where]]]:
        """The claims that do not hold; and those that are not judged, because a link before theirs is wrong."""
        broken: set[tuple[str, Where]] = set()
        blind: set[tuple[str, Where]] = set()
        for w, (_, role) in self.links.items():
            if self._chain(w, role):
                broken.add(("async-chain", w))
            if self._linear(w, role):
                broken.add(("async-linear", w))
            if self._thread(w):
                broken.add(("async-thread", w))
            if self._computation(w):
                broken.add(("async-computation", w))
        for w, (_, role) in self.links.items():
            if role == "start" and self._shape(w):
                broken.add(("async-shape", w))
        for w, (_, role) in self.links.items():
            if role != "start" and self._sound_before(w, broken):
                checks = (("async-shape", self._shape),) if role == "update" else (("async-done", self._done),)
                for claim, check in (*checks, ("async-binding", self._binding)):
                    if check(w):
                        broken.add((claim, w))
            elif role != "start":
                blind |= {
                    (claim, w)
                    for claim in ("async-shape", "async-done", "async-binding", "async-thread", "async-computation")
                }
        return broken, blind

    def _sound_before(self, w: Where, broken: set[tuple[str, Where]]) -> bool:
        """Every link on the way to this one is right, as far as chain and shape go."""
        if ("async-chain", w) in broken:
            return False
        reached, pending = {w}, [w]
        while pending:
            for b in self.seen.before.get(pending.pop(), ()):
                if b is None or any((claim, b) in broken for claim in ("async-shape", "async-binding")):
                    return False
                if self.links[b][1] == "update" and b not in reached and self._shape(b):
                    return False
                if self.links[b][1] != "start" and ("async-chain", b) in broken:
                    return False
                if b not in reached:
                    reached.add(b)
                    pending.append(b)
        return True

    # -- the course of the chain ------------------------------------------------------------------------------------

    def _chain(self, w: Where, role: str) -> bool:
        kind = self.links[w][0]
        if role == "start":
            return self.seen.most.get(w, 0) > 1 or self._open(w)
        for b in self.seen.before.get(w, ()):
            if b is None:
                return True
            theirs = self.links[b][0]
            if kind != theirs and ("async" not in (kind, theirs) or kind in OWN or theirs in OWN):
                return True
        return role == "update" and self._open(w)

    def _open(self, w: Where) -> bool:
        """Some run leaves it open, and another finishes it or no loop carries it."""
        return w in self.seen.dropped and (w in self.seen.finished or w not in self.seen.carried)

    def _linear(self, w: Where, role: str) -> bool:
        if role == "done":
            return False
        users = [i for i in self.module.by_name[w[0]].instructions if w[1] in i.operands]
        follows = [role_of(i.opcode) for i in users]
        return len(users) != 1 or follows[0] is None or follows[0][1] == "start"

    # -- what is computed -------------------------------------------------------------------------------------------

    def _called(self, w: Where, attribute: str = "calls") -> Computation | None:
        value = self.at[w].attributes.get(attribute)
        return self.module.by_name[value.name] if isinstance(value, ComputationRef) else None

    def _wrapped(self, start: Where) -> Computation | None:
        kind = self.links[start][0]
        return self._called(start, "to_apply" if kind == "call" else "calls") if kind not in OWN else None

    def _result(self, start: Where) -> object:
        """The shape of what the operation computes; sugar leaves it to the first done in the text, or the start."""
        inner = self._wrapped(start)
        if inner is not None:
            return plain(inner.root.shape)
        dones = [w for w in self.links if self.links[w][1] == "done" and start in self.starts[w]]
        return plain(self.at[dones[0]].shape) if dones else self._parts(start)[1]

    def _own_thread(self, w: Where) -> str | None:
        value = self.at[w].attributes.get("async_execution_thread")
        return value.text if isinstance(value, Word | Quoted) else None

    def _thread_of(self, start: Where) -> str:
        inner = self._called(start) or self._called(start, "to_apply")
        value = inner.attributes.get("execution_thread") if inner is not None else None
        return self._own_thread(start) or (value.text if isinstance(value, Word | Quoted) else "main")

    def _thread(self, w: Where) -> bool:
        if self.links[w][0] in OWN:
            return False
        own = self._own_thread(w)
        if own is not None and any(own != self._thread_of(s) for s in self.starts[w]):
            return True
        inner = self._called(w) or self._called(w, "to_apply")
        if inner is None or self.links[w][1] != "start":
            return False
        thread, value = self._thread_of(w), inner.attributes.get("execution_thread")
        if isinstance(value, Word | Quoted) and value.text != thread:
            return True
        others = (x for x in self.at if inner in (self._called(x), self._called(x, "to_apply")))
        return any(self._own_thread(x) not in (None, thread) for x in others)

    def _computation(self, w: Where) -> bool:
        inner = self._called(w)
        if self.links[w][0] in OWN or inner is None:
            return False
        if self.links[w][1] == "start":
            for x, i in self.at.items():
                if x not in self.links and inner in (self._called(x), self._called(x, "to_apply")):
                    return bool(i)
            busy = [i for i in inner.instructions if i.opcode != "parameter" and i.name != inner.root_name]
            return self._thread_of(w) == "main" and bool(busy)
        return any((other := self._wrapped(s)) is not None and _listed(other) != _listed(inner) for s in self.starts[w])

    # -- shapes -----------------------------------------------------------------------------------------------------

    def _parts(self, w: Where) -> list[object]:
        shape = plain(self.at[w].shape)
        return shape if isinstance(shape, list) and len(shape) > 1 else [None, None]

    def _carried(self, w: Where) -> list[object] | None:
        """The operands that the state of a generic or sugared chain holds."""
        shape = plain(self.at[w].shape)
        if not isinstance(shape, list) or not shape:
            return None
        return shape[0] if isinstance(shape[0], list) else [shape[0]]

    def _bound(self, w: Where | None) -> list[object]:
        return [] if w is None else self._carried(w) or []

    def _operands(self, w: Where) -> list[object]:
        by_name = self.module.by_name[w[0]].by_name
        return [plain(by_name[o].shape) for o in self.at[w].operands]

    def _shape(self, w: Where) -> bool:
        kind, role = self.links[w]
        given, shape = self._operands(w), plain(self.at[w].shape)
        parts = shape if isinstance(shape, list) else []
        match kind:
            case "copy":
                return len(parts) != 3 or parts[0] != given[0] or parts[1] != given[0]
            case "all-reduce":
                return shape != given[0]
            case "all-gather" | "collective-permute":
                if len(parts) < 2:
                    return True
                grouped = isinstance(parts[0], list)
                if parts[0] != (given if grouped else given[0]) or grouped != isinstance(parts[1], list):
                    return True
                return kind == "collective-permute" and parts[0] != parts[1]
        carried = self._carried(w)
        if carried is None or len(parts) < 2:
            return True
        if role == "start":
            expected = [given]
        else:
            earlier = [self._carried(b) for b in self.seen.before.get(w, ()) if b is not None]
            expected = [[*b, *given[1:]] for b in earlier if b is not None]
        if any(carried != e for e in expected):
            return True
        for b in self.seen.before.get(w, ()) if role == "update" else ():
            contexts = self._parts(b)[2:] if b is not None else parts[2:]
            if len(contexts) != len(parts) - 2:
                return True
            if any(a != x and [] not in (a, x) for a, x in zip(contexts, parts[2:], strict=True)):
                return True
        for s in self.starts[w]:
            inner = self._wrapped(s)
            if inner is not None and not begins(carried, [plain(p.shape) for p in inner.parameters]):
                return True
            if not begins(parts[1], self._result(s)):
                return True
        return False

    def _binding(self, w: Where) -> bool:
        kind, role = self.links[w]
        if kind in OWN:
            return False
        for b in self.seen.before.get(w, ()):
            assert b is not None
            carried = self._carried(b) or []
            if role == "update" and not begins(self._parts(b)[1], self._parts(w)[1]):
                return True
            for s in self.starts[w] if role == "done" else ():
                inner = self._wrapped(s)
                if inner is not None and len(carried) < len(inner.parameters):
                    return True
        return False

    def _done(self, w: Where) -> bool:
        kind, shape = self.links[w][0], plain(self.at[w].shape)
        if kind not in OWN:
            if kind in ELEMENTWISE and any(c != shape for b in self.seen.before.get(w, ()) for c in self._bound(b)):
                return True
            return any(self._result(s) != shape for s in self.starts[w])
        for b in self.seen.before.get(w, ()):
            assert b is not None
            promised = plain(self.at[b].shape)
            for k in _PLACE[kind]:
                promised = promised[k] if isinstance(promised, list) and k < len(promised) else None
            if promised != shape:
                return True
        return False


def _listed(computation: Computation) -> list[object]:
    """What a computation does, without its names."""
    number = {i.name: n for n, i in enumerate(computation.instructions)}
    return [
        (i.opcode, plain(i.shape), [number[o] for o in i.operands], i.parameter_number)
        for i in computation.instructions
    ]


def links_of(module: Module) -> Iterator[str]:
    """The opcodes of the module's links."""
    return (i.opcode for c in module.computations for i in c.instructions if role_of(i.opcode))
