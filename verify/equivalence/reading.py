"""From modules to the graph: names, calls, fusions, tuples, copies and asynchronous pairs vanish.

Trusted. What is not understood stays an operation of its own, equal only to itself; what cannot be given any value
raises NotModelled, and the answer is then `unknown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

from hloproof.equivalence.answer import Place
from hloproof.equivalence.configurations import (
    Promise,
    called_forms,
    form_of,
    labels_in,
    of_unknown,
    promises_of,
    promises_of_module,
    stated_by,
    unknown_key,
    written_beside,
)
from hloproof.equivalence.effects import HANDED_ON, NOTHING, Earlier, Effects, Standing, after_turns, mark, waited_for
from hloproof.equivalence.endings import Ending, LoopTurns, in_branch, in_turns, with_unknown_words
from hloproof.equivalence.graph import Node, Side
from hloproof.equivalence.handed_on import otherwise, settled, turned
from hloproof.equivalence.loop_reads import LoopReads
from hloproof.equivalence.loop_states import NeededStates
from hloproof.equivalence.meaning import CARRIED, COUNTED, OF_DEVICES, carried_when
from hloproof.equivalence.operations import OperationReader
from hloproof.equivalence.statements import Branch, Sources, Statements, union
from hloproof.equivalence.value_trees import (
    Pending,
    ValueTree,
    count_of,
    flies,
    has_shape,
    in_flight,
    in_parts,
    leaves_of,
    nesting_of,
    open_starts,
    parts_of,
    rebuilt,
)
from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.async_syntax import step_of
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, async_sugar
from hloproof.models.hlo.precision import mixed
from hloproof.models.hlo.shape import Shape, TupleShape, leaves
from hloproof.models.indexing.composition.trip_count import stated_count, stated_states, states_spoken_of

_TOKEN: Final = "token[]"


@dataclass(frozen=True)
class ReadModule:
    """What a module gives and does, as nodes of the graph."""

    results: list[Node]
    """The leaves of the entry's result."""
    effects: Effects
    stated: Statements
    """All that it promises, whoever reads it."""
    needed: Statements
    """Of what its results and effects are made, and what decides whether its loops end."""
    endings: tuple[Ending, ...]
    """Its loops, those of the functions that its operations apply included."""


class SoFar(NamedTuple):
    """How much of a module has been read: so many effects, loops and exchanges, and what these state."""

    effects: int
    loops: int
    exchanges: int
    stated: Statements


@dataclass
class GraphReader(OperationReader):
    """Reads modules into one graph; parameters of the same number and position are the same node."""

    def read(self, module: Module, side: Side) -> ReadModule:
        """One module. Raises NotModelled."""
        self.module, self.side = module, side
        for computation, i in mixed(module):
            raise NotModelled(f"{i.opcode} {i.name} of {computation.name}, where numbers change their precision")
        for computation, i in turned(module):
            raise NotModelled(f"{i.opcode} {i.name} of {computation.name}, which hands on an array in another layout")
        if settled(module) and (found := otherwise(module)):
            raise NotModelled(f"{found[0][0]}, which lies otherwise than is demanded")
        self.effects, self.occurrences, self.functions = Effects(), Counter(), {}
        self.stated, self.acts, self.made_in, self.stated_in = 0, 0, {}, {}
        self.endings, self.endings_in = [], {}
        self.exchanges, self.deciding = 0, ()
        self.sources = Sources(())
        parameters = [self.parameter(p.shape, (number,)) for number, p in enumerate(module.entry.parameters)]
        result = self.computation(module.entry, parameters, 0, ())
        if flies(result):
            raise NotModelled("a result that is in flight")
        for promise in promises_of_module(module):
            self.promise(promise)
        needed = self.sources.own | self.acts | union(self.gives) | union(e.ends for e in self.endings)
        return ReadModule(list(leaves_of(result)), self.effects, self.stated, needed, tuple(self.endings))

    def computation(
        self,
        computation: Computation,
        arguments: Sequence[ValueTree],
        level: int,
        path: tuple[Any, ...],
        standing: Sequence[Standing] = (),
        made_of: Sequence[list[Statements]] = (),
    ) -> ValueTree:
        """The value of the root. `level` counts the loops around; `path` the conditions under which this runs;
        `standing` says what is over where the arguments are, and `made_of` of what each of their tensors is made."""
        values: dict[str, ValueTree] = {}
        earlier: dict[str, Standing] = {}
        made: dict[str, list[Statements]] = {}
        around = self.sources
        for instruction in computation.operands_first:
            before = self.so_far()
            self.sources = sources = Sources([made[o] for o in instruction.operands])
            if instruction.opcode == "parameter":
                number = instruction.parameter_number or 0
                if number >= len(arguments) or not has_shape(arguments[number], instruction.shape):
                    raise NotModelled(f"{instruction.name} of {computation.name}, which is given something else")
                given = arguments[number]
                sources.parts = made_of[number] if number < len(made_of) else None
                sources.given = [sources.of_result(count_of(given))]
                # Words beside it may make any part of it of all.
                value = self.with_words(instruction, [given], given, computation, path, before)
                values[instruction.name], made[instruction.name] = value, self.made_of(value)
                if number < len(standing):
                    earlier[instruction.name] = standing[number]
                continue
            given = [values[o] for o in instruction.operands]
            self.standing, self.inside = [earlier.get(o, NOTHING) for o in instruction.operands], None
            value = self.instruction(instruction, given, computation, level, path)
            if not has_shape(value, instruction.shape):
                raise NotModelled(f"{instruction.opcode} {instruction.name}, which gives something else than it says")
            value = self.with_words(instruction, given, value, computation, path, before)
            values[instruction.name], made[instruction.name] = value, self.made_of(value)
            if not values.keys() >= {*waited_for(instruction)}:
                self.effects.unordered = instruction.name
            if self.effects.nodes:
                earlier[instruction.name] = self.effects.after(instruction, earlier, before.effects, self.inside)
            place = Place(computation.name, instruction.name, instruction.opcode, instruction.position.line)
            for node in leaves_of(value):
                if node.places[self.side] is None:
                    node.places[self.side] = place
        self.inside = earlier.get(computation.root_name, NOTHING)
        self.sources, self.gives = around, made[computation.root_name]
        return values[computation.root_name]

    def so_far(self) -> SoFar:
        return SoFar(len(self.effects.nodes), len(self.endings), self.exchanges, self.stated)

    def made_of(self, value: ValueTree) -> list[Statements]:
        """Of what each tensor of an instruction is made that is read now."""
        if self.sources.acts:
            self.acts |= self.sources.all_given | self.sources.own | union(self.sources.parts or ())
        made = self.sources.of_result(count_of(value))
        # Nobody reads a token: who is given it waits.
        return [
            self.statements.whole(("waited for", node), of) if node.type == _TOKEN else of
            for node, of in zip(leaves_of(value), made, strict=True)
        ]

    def with_words(
        self,
        i: Instruction,
        given: list[ValueTree],
        value: ValueTree,
        computation: Computation,
        path: tuple[Any, ...],
        before: SoFar,
    ) -> ValueTree:
        """What the instruction gives, with what is written beside it; all that was not read `before` is its own."""
        found, about = written_beside(i, computation)
        operands = [*leaves_of(given)] if found else []
        forms = called_forms(self.module, i) if found else ()
        about = (*about, i.parameter_number, forms, self.started_before(i, given)) if found else ()
        for promise in promises_of(found, about, path, operands):
            self.promise(promise)
        key = unknown_key(found, about)
        if not key:
            return value
        self.graph.unknown.update(f"{b.name} of {i.opcode}" for b in found if b.kind == "unknown")
        name = next(b.name for b in found if b.kind == "unknown")
        if len(self.effects.nodes) > before.effects:
            raise NotModelled(f"{name} of {i.opcode}, which has effects")
        if path and self.exchanges > before.exchanges:
            raise NotModelled(f"{name} of {i.opcode}, which exchanges between devices in a branch or turn")
        # Any part may be made of all that is given, and need not be; and of all that is promised in what is called, and
        # of which of several that are alike nobody knows either.
        made = self.sources.of_result(count_of(value))
        known = "words", key, *operands, stated_by(self.module, i) if forms else ()
        inside = [self.statements.said(label, known) for label in sorted(labels_in(self.module, i))] if forms else []
        if forms:
            self.stated = before.stated | union(inside) | self.sources.own & self.stated
        around = (*made, *self.sources.each_given)
        self.sources.parts = [
            self.statements.repeated((known, n), inside, around, 0 if inside else self.statements.always(part))
            for n, part in enumerate(made)
        ]
        for at, e in enumerate(self.endings[before.loops :], before.loops):
            ends = self.statements.repeated(("ends", known, e.name), (e.ends, *inside), around)
            self.endings[at] = with_unknown_words(e, self.graph, operands, key, ends)
        return of_unknown(self.graph, value, key, operands)

    def instruction(
        self, i: Instruction, given: list[ValueTree], computation: Computation, level: int, path: tuple[Any, ...]
    ) -> ValueTree:
        opcode = i.opcode
        sugar = async_sugar(opcode)
        step = step_of(opcode)
        sources = self.sources
        if opcode == "copy":
            self.check_over(i, given)
        if opcode in HANDED_ON:
            if opcode == "all-reduce-done":
                self.ended(i, given[0], computation, path)
            ends = opcode in ("copy-done", "all-reduce-done")
            waited = union(map(union, sources.given[1:]))
            sources.parts = [s | waited for s in sources.given[0]]
            return given[0].result if isinstance(given[0], Pending) and ends else given[0]
        if opcode == "tuple":
            sources.parts = sources.each_given
            return list(given)
        if opcode == "get-tuple-element":
            if isinstance(given[0], Pending):
                raise NotModelled("an element of an asynchronous state")
            index = i.attributes.integer("index", 0)
            first = count_of(given[0][:index])
            sources.parts = sources.given[0][first : first + count_of(given[0][index])]
            return given[0][index]
        if opcode in ("call", "fusion"):
            value = self.computation(self.called(i)[0], given, level, path, self.standing, sources.given)
            sources.parts = self.gives
            return value
        if step == "start":
            return self.started(i, sugar[0] if sugar else "", given, level, path)
        if step in ("update", "done") or opcode in ("all-gather-done", "collective-permute-done"):
            if not isinstance(given[0], Pending):
                raise NotModelled("an asynchronous operation whose start is out of sight")
            self.ended(i, given[0], computation, path)
            sources.parts = sources.given[0]
            return given[0] if step == "update" else given[0].result
        if opcode == "copy-start":
            sources.parts = sources.given[0]
            return Pending(given[0])
        if opcode in ("all-gather-start", "collective-permute-start"):
            return Pending(self.collective(i, opcode.removesuffix("-start"), given, path))
        if opcode == "all-reduce-start":
            return Pending(self.collective(i, "all-reduce", given, path))
        if opcode == "conditional":
            return self.conditional(i, given, level, path)
        if opcode == "while":
            return self.loop(i, given[0], level, path)
        self.check_over(i, given)
        value = self.operation(i, opcode, i.shape, given, computation, path)
        return self.exchanged(value, path) if opcode in COLLECTIVES else value

    def check_over(self, i: Instruction, given: list[ValueTree]) -> None:
        """Raises NotModelled where an operation reads what is still in flight."""
        if any(map(flies, given)):
            raise NotModelled(f"{i.opcode} {i.name}, which is given what is in flight")

    def ended(self, i: Instruction, given: ValueTree, computation: Computation, path: tuple[Any, ...]) -> None:
        """What an end or update says of what is carried, where its start says something else. Raises NotModelled where
        it says so of who takes part."""
        start = computation.by_name[i.operands[0]]
        for name in OF_DEVICES:
            own = i.attributes.get(name)
            if own not in (None, False, start.attributes.get(name)):
                raise NotModelled(f"{name} of {i.opcode} {i.name}, which {start.name} does not say")
        when = carried_when(i)
        if when and when != carried_when(start):
            runs = self.started_before(i, given)
            self.promise((CARRIED, i.opcode, path, runs, tuple(leaves_of(given)), when))

    def started_before(self, i: Instruction, given: ValueTree) -> tuple[tuple[Any, ...], ...]:
        """What each start runs that the instruction is given in flight, for what is said beside it. Raises
        NotModelled where it may be one of several."""
        runs = [runs for runs in in_flight(given) if runs is not None]
        if len(runs) != len(in_flight(given)):
            raise NotModelled(f"what is said of {i.opcode} {i.name}, which may be given one of several starts")
        return tuple(runs)

    def started(
        self, i: Instruction, wrapped: str, given: list[ValueTree], level: int, path: tuple[Any, ...]
    ) -> Pending:
        """What a start with a computation of its own has in flight. Raises NotModelled."""
        if wrapped and wrapped != "call":
            raise NotModelled(f"{i.opcode} without a computation of its own")
        body = self.called(i)[0]
        runs = None
        if (when := carried_when(i)) or None not in in_flight(given):
            runs = (form_of(self.module, body.name), self.started_before(i, given), *leaves_of(given))
        if when:
            self.promise((CARRIED, i.opcode, path, runs, when))
        result = self.computation(body, given, level, path, self.standing, self.sources.given)
        self.sources.parts = self.gives
        # Older text writes a single operand without its parentheses.
        if not has_shape(result, _carried(i, given, *given[:1] if len(given) == 1 else ())):
            raise NotModelled(f"{i.opcode} of this shape")
        return Pending(result, runs)

    def collective(self, i: Instruction, opcode: str, given: list[ValueTree], path: tuple[Any, ...]) -> ValueTree:
        shape = i.shape if opcode == "all-reduce" else _carried(i, given if len(given) > 1 else given[0])
        return self.exchanged(self.operation(i, opcode, shape, given, None, path), path)

    def exchanged(self, value: ValueTree, path: tuple[Any, ...]) -> ValueTree:
        """What an exchange between devices gives is made of what all of them give it."""
        sources, leaves = self.sources, list(leaves_of(value))
        of = union(sources.of_result(len(leaves)))
        by = "exchanged", *leaves, *sources.each_given
        # In a branch, or a turn, the devices that give it may be others than those that read it: what chooses there is
        # chosen for them, too.
        of |= self.statements.met(by) if path else 0
        sources.parts = [self.statements.whole((by, at), of) for at in range(len(leaves))]
        sources.own = 0
        return value

    def function(self, name: str) -> tuple[Node, ...]:
        """A computation that an operation applies, over bound nodes. HLO computations capture nothing: it is closed."""
        if name not in self.functions:
            computation = self.module.by_name[name]
            arguments = [
                self.tree(p.shape, lambda inner, at, k=k: self.leaf("bound", inner, (), ("argument", k, at)))
                for k, p in enumerate(computation.parameters)
            ]
            given = [
                [self.statements.given(("argument", k, at)) for at, _ in leaves(p.shape)]
                for k, p in enumerate(computation.parameters)
            ]
            before = len(self.effects.nodes), self.exchanges
            endings, self.endings = self.endings, []
            stated, self.stated = self.stated, 0
            self.depth += 1  # loops inside have states of their own names
            level = 1000 * self.depth
            result = self.computation(computation, arguments, level, ("function",), (), given)
            self.functions[name] = tuple(leaves_of(result))
            self.depth -= 1
            self.made_in[name] = self.gives
            self.endings_in[name], self.endings = self.endings, endings
            self.stated_in[name], self.stated = self.stated, stated
            if len(self.effects.nodes) != before[0]:
                raise NotModelled(f"effects inside {name}")
            if self.exchanges != before[1]:  # who takes part depends on where it is applied, and how often
                raise NotModelled(f"an exchange between devices inside {name}")
        return self.functions[name]

    def conditional(self, i: Instruction, given: list[ValueTree], level: int, path: tuple[Any, ...]) -> ValueTree:
        selector, *arguments = given
        taken = [self.module.by_name[name] for name in branches(i)]
        choice, *standing = self.standing
        values: list[ValueTree] = []
        over: list[list[Earlier]] = []
        choice_of, *made_of = self.sources.given
        chosen_by = union(choice_of)
        made: list[list[Statements]] = []
        acts, acts_there = self.acts, list[Statements]()
        effects = [len(self.effects.nodes)]
        for k, (b, a) in enumerate(zip(taken, arguments, strict=True)):
            branch, first, self.acts = Branch(selector, k, len(taken)), len(self.endings), 0
            values.append(self.computation(b, [a], level, (*path, branch), [standing[k]], [made_of[k]]))
            made.append(self.gives)
            acts_there.append(self.acts)
            effects.append(len(self.effects.nodes))
            for at, e in enumerate(self.endings[first:], first):
                ends = self.statements.whole(("in branch", branch, e.name, chosen_by), chosen_by | e.ends)
                self.endings[at] = in_branch(e, branch, ends)
            over.append(parts_of((self.inside or NOTHING).value, values[-1]))
        # Which effects take place is seen, where they are not as many in all branches.
        acted = {last - first for first, last in pairwise(effects)}
        chosen_acts = self.statements.chosen(selector, chosen_by, acts_there, differ=True, surely=len(acted) > 1)
        self.acts = acts | (chosen_acts if acted != {0} else 0)
        if any(nesting_of(v) != nesting_of(values[0]) for v in values):
            raise NotModelled(f"{i.opcode} {i.name}, of which one branch gives what is in flight")
        flat = [list(leaves_of(v)) for v in values]
        chosen: list[Node] = []
        after: list[Earlier] = []
        parts: list[Statements] = []
        for nodes, ways, of in zip(
            zip(*flat, strict=True), zip(*over, strict=True), zip(*made, strict=True), strict=True
        ):
            node, waits = nodes[0], Earlier()  # what is the same in all branches waits for no choice
            differ = any(n is not node for n in nodes)
            if differ:
                node = self.graph.node("conditional", node.type, node.sizes, (selector, *nodes))
                waits = choice.every
            chosen.append(node)
            after.append(waits.joined(*ways))
            # Of which of them it is made is chosen also where they are the same.
            parts.append(self.statements.chosen(selector, chosen_by, of, differ))
        self.sources.parts = parts
        self.inside = Standing(in_parts(values[0], iter(after)))
        flying = zip(*map(in_flight, values), strict=True)
        runs = (way[0] if len(set(way)) == 1 else None for way in flying)
        return rebuilt(values[0], iter(chosen), runs)

    def loop(self, i: Instruction, initial: ValueTree, level: int, path: tuple[Any, ...]) -> ValueTree:
        """One node per state that the loop gives back. States that the body passes on unchanged are their initial
        value, and a result depends only on the states that lead to it or to the condition."""
        body, condition = (self.module.by_name[str(called(i, name))] for name in ("body", "condition"))
        start = list(leaves_of(initial))
        over = parts_of(self.standing[0].value, initial)
        bound = [self.graph.node("bound", n.type, n.sizes, (), ("state", level, k)) for k, n in enumerate(start)]
        state: list[Node] = list(bound)
        marks = Standing(in_parts(initial, iter([mark(k) for k in range(len(start))])))
        turn = replace(marks, whole=marks.every.all)
        (begins,) = self.sources.given
        tags = [self.statements.given(("state", level, k)) for k in range(len(start))]
        saved = len(self.effects.nodes), Counter(self.occurrences)
        endings, exchanges, around, stated = len(self.endings), self.exchanges, self.deciding, self.stated
        decided_by: tuple[int, ...] = ()
        # In each turn it may be another start.
        flying = open_starts(initial)
        while True:
            self.stated = stated
            self.deciding = (*around, *(state[k] for k in decided_by))
            del self.effects.nodes[saved[0] :]
            del self.endings[endings:]
            self.occurrences = Counter(saved[1])
            given = rebuilt(initial, iter(state), iter(flying))
            returned = self.computation(body, [given], level + 1, (*path, "turn"), [turn], [tags])
            turned = self.gives
            met = len(self.endings)
            if nesting_of(returned) != nesting_of(initial) or open_starts(returned) != flying:
                raise NotModelled(f"{i.opcode} {i.name}, in which something else is in flight after a turn")
            after = list(leaves_of(returned))
            left = parts_of((self.inside or NOTHING).value, initial)
            # Once more than the turn: promises and loops of the one are not those of the other.
            asked = (*path, "condition")
            (holds,) = leaves_of(self.computation(condition, [given], level + 1, asked, [turn], [tags]))
            (decided_of,) = self.gives
            decided = (self.inside or NOTHING).every
            unchanged = [k for k, n in enumerate(after) if n is bound[k] and state[k] is bound[k]]
            for k in unchanged:
                state[k] = start[k]
            if unchanged:
                continue
            varying = [k for k in range(len(state)) if state[k] is bound[k]]
            needed = NeededStates.of(after, holds, {bound[k]: k for k in varying})
            # Which devices are in a turn is said by what decides on it.
            if self.exchanges == exchanges or decided_by == needed.deciding:
                break
            decided_by = needed.deciding
        self.deciding = around
        if len(self.effects.nodes) != saved[0]:
            raise NotModelled("effects inside a loop")
        out = list(start)
        for k in varying:
            kept = needed.last_value(k)
            key = (level, k, kept, tuple((start[m].type, start[m].sizes) for m in kept))
            operands = [start[m] for m in kept]
            bodies = [holds, *(after[m] for m in kept)]
            out[k] = self.graph.node("while", start[k].type, start[k].sizes, operands, key, bodies, i.attributes)

        def turns(of: Sequence[int]) -> LoopTurns:
            return LoopTurns(level, tuple(of), tuple(start[k] for k in of), (holds, *(after[k] for k in of)))

        decides = turns(needed.deciding).node(self.graph)
        # What a state holds in the turns is said by the loop, not by its name: what it becomes, or that it stays.
        held = [(k in varying, node) for k, node in enumerate(out)]
        spoken_of = states_spoken_of(i)
        about = (decides, tuple(held if spoken_of is None else [held[k] for k in spoken_of]))
        said: list[Promise] = [(name, i.opcode, value, *about) for name, value in stated_states(i)]
        by = union(map(self.said, said))
        turns_taken = stated_count(i)
        counts = 0 if turns_taken is None else self.said((COUNTED, i.opcode, turns_taken, decides))
        values = turns(range(len(start))).node(self.graph)
        reads = LoopReads(self.statements, values, tags, begins, turned, decided_of, by | counts)
        for at, e in enumerate(self.endings[endings:], endings):
            ends = reads.what_ends_inside((at >= met, e.name), e.ends)
            self.endings[at] = in_turns(e, self.graph, turns(needed.below(e.below)), at >= met, ends)
        results = tuple(out[k] for k in varying)
        ends = reads.what_ends(decides)
        self.endings.append(Ending(decides, results, decides, stated=turns_taken, counts=counts, ends=ends))
        self.sources.parts = [reads.result(k, k in varying) for k in range(len(out))]
        waits = {k: left[k].joined(decided) for k in varying}
        self.inside = Standing(in_parts(initial, iter(after_turns(over, waits))))
        return rebuilt(initial, iter(out), iter(flying))


def _carried(i: Instruction, *given: ValueTree) -> Shape:
    """The shape of the result in what a start has in flight, which names first what it is given, in one of these ways.
    Raises NotModelled where it names something else."""
    state = i.shape.elements if isinstance(i.shape, TupleShape) else ()
    if len(state) < 2 or not any(has_shape(way, state[0]) for way in given):
        raise NotModelled(f"{i.opcode} of this shape")
    return state[1]
