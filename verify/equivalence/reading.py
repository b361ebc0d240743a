"""From modules to the graph: names, calls, fusions, tuples, copies and asynchronous pairs vanish.

Trusted. What is not understood stays an operation of its own, equal only to itself; what cannot be given any value
raises NotModelled, and the answer is then `unknown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hloproof.equivalence.answer import Place
from hloproof.equivalence.beside import (
    form_of,
    of_unknown,
    promises_of,
    promises_of_module,
    unknown_key,
    written_beside,
)
from hloproof.equivalence.constant_folds import ConstantFolds
from hloproof.equivalence.effects import HANDED_ON, NOTHING, Earlier, Effects, Standing, after_turns, mark, waited_for
from hloproof.equivalence.endings import Ending
from hloproof.equivalence.graph import Graph, Node, Side
from hloproof.equivalence.literals import NEGATIVE_ZERO, literal_key, writes_negative_zero
from hloproof.equivalence.loop_states import needed_states
from hloproof.equivalence.meaning import (
    CARRIED,
    EFFECTS,
    OF_DEVICES,
    PROMISES,
    attribute_key,
    carried_when,
    combined,
    layout_key,
    memory_key,
    room,
    shapes_key,
    signature,
)
from hloproof.equivalence.sorting import ordered
from hloproof.equivalence.value_trees import Pending, ValueTree, in_parts, leaves_of, nesting_of, parts_of, rebuilt
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.async_syntax import step_of
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, async_sugar
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.shard_shapes import is_shard_call, parts_of_call, written_elsewhere
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.indexing.composition.trip_count import stated_count, stated_states
from hloproof.models.interpreter.semantics.element_type import INTEGERS


@dataclass(frozen=True)
class ReadModule:
    """What a module gives and does, as nodes of the graph."""

    results: list[Node]
    """The leaves of the entry's result."""
    effects: Effects
    promises: frozenset[tuple[Any, ...]]
    """What the module promises: the name, the opcode, and all that decides whether it holds."""
    endings: tuple[Ending, ...]
    """Its loops, those of the functions that its operations apply included."""


@dataclass
class GraphReader:
    """Reads modules into one graph; parameters of the same number and position are the same node."""

    graph: Graph = field(default_factory=Graph)
    module: Module = field(init=False)
    side: Side = 0
    effects: Effects = field(default_factory=Effects)
    occurrences: Counter[Any] = field(default_factory=Counter)
    functions: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    promises: set[tuple[Any, ...]] = field(default_factory=set)
    endings: list[Ending] = field(default_factory=list)
    """The loops of the module, and in `endings_inside` those of functions, which are read once."""
    endings_inside: list[Ending] = field(default_factory=list)
    depth: int = 0
    standing: Sequence[Standing] = ()
    """What is over where the operands of the instruction that is read are."""
    inside: Standing | None = None
    """What is over where the computation that it runs is."""
    folds: ConstantFolds = field(init=False)

    def __post_init__(self) -> None:
        self.folds = ConstantFolds(self.graph)

    def read(self, module: Module, side: Side) -> ReadModule:
        """One module. Raises NotModelled."""
        self.module, self.side = module, side
        self.effects, self.occurrences, self.functions = Effects(), Counter(), {}
        self.promises = set(promises_of_module(module))
        self.endings, self.endings_inside = [], []
        parameters = [self.parameter(p.shape, (number,)) for number, p in enumerate(module.entry.parameters)]
        result = self.computation(module.entry, parameters, 0, ())
        endings = (*self.endings, *self.endings_inside)
        return ReadModule(list(leaves_of(result)), self.effects, frozenset(self.promises), endings)

    def parameter(self, shape: Shape, path: tuple[int, ...]) -> ValueTree:
        return self.tree(shape, lambda inner, at: self.leaf("parameter", inner, (), (*path, *at)))

    def tree(self, shape: Shape, leaf: Any, at: tuple[int, ...] = ()) -> ValueTree:
        """A value of the shape with leaf(shape, path) at each place."""
        if isinstance(shape, TupleShape):
            return [self.tree(inner, leaf, (*at, k)) for k, inner in enumerate(shape.elements)]
        return leaf(shape, at)

    def leaf(self, head: str, shape: Shape, operands: Sequence[Node], key: Any, **more: Any) -> Node:
        """One node of a shape that is no tuple."""
        array = shape.inner if isinstance(shape, BufferShape) else shape
        if isinstance(array, ArrayShape) and (array.is_dynamic or any(n < 0 for n in array.dimensions)):
            raise NotModelled("dynamic dimensions")
        if isinstance(shape, ArrayShape):
            return self.graph.node(head, shape.element_type, shape.dimensions, operands, key, **more)
        if isinstance(shape, BufferShape):  # a call may give one of any size, and who is given it may look
            shape = BufferShape(shape.inner.without_layout())
        return self.graph.node(head, print_shape(shape), (), operands, key, **more)

    def computation(
        self,
        computation: Computation,
        arguments: Sequence[ValueTree],
        level: int,
        path: tuple[Any, ...],
        standing: Sequence[Standing] = (),
    ) -> ValueTree:
        """The value of the root. `level` counts the loops around; `path` the conditions under which this runs;
        `standing` says what is over where the arguments are."""
        values: dict[str, ValueTree] = {}
        earlier: dict[str, Standing] = {}
        for instruction in computation.operands_first:
            first = len(self.effects.nodes)
            if instruction.opcode == "parameter":
                number = instruction.parameter_number or 0
                values[instruction.name] = self.with_words(instruction, [], arguments[number], computation, path, first)
                if number < len(standing):
                    earlier[instruction.name] = standing[number]
                continue
            given = [values[o] for o in instruction.operands]
            self.standing, self.inside = [earlier.get(o, NOTHING) for o in instruction.operands], None
            value = self.instruction(instruction, given, computation, level, path)
            value = self.with_words(instruction, given, value, computation, path, first)
            values[instruction.name] = value
            if not values.keys() >= {*waited_for(instruction)}:
                self.effects.unordered = instruction.name
            if self.effects.nodes:
                earlier[instruction.name] = self.effects.after(instruction, earlier, first, self.inside)
            place = Place(computation.name, instruction.name, instruction.opcode, instruction.position.line)
            for node in leaves_of(value):
                if node.places[self.side] is None:
                    node.places[self.side] = place
        self.inside = earlier.get(computation.root_name, NOTHING)
        return values[computation.root_name]

    def with_words(
        self,
        i: Instruction,
        given: list[ValueTree],
        value: ValueTree,
        computation: Computation,
        path: tuple[Any, ...],
        first: int,
    ) -> ValueTree:
        """What the instruction gives, with what is written beside it; its effects are those from number `first` on."""
        if not i.attributes.pairs:
            return value
        found, about = written_beside(i, computation)
        operands = [node for tree in given for node in leaves_of(tree)] if found else []
        self.promises.update(promises_of(found, about, path, operands))
        key = unknown_key(found, about)
        if not key:
            return value
        self.graph.unknown.update(f"{b.name} of {i.opcode}" for b in found if b.kind == "unknown")
        key = (*key, *(form_of(self.module, name) for name in _called_in_order(i)))
        if len(self.effects.nodes) > first:
            name = next(b.name for b in found if b.kind == "unknown")
            raise NotModelled(f"{name} of {i.opcode}, which has effects")
        return of_unknown(self.graph, value, key, operands)

    def instruction(
        self, i: Instruction, given: list[ValueTree], computation: Computation, level: int, path: tuple[Any, ...]
    ) -> ValueTree:
        opcode = i.opcode
        sugar = async_sugar(opcode)
        step = step_of(opcode)
        if opcode in HANDED_ON:
            if opcode == "all-reduce-done":
                self.ended(i, given, computation, path)
            return given[0].result if isinstance(given[0], Pending) and opcode == "copy-done" else given[0]
        if opcode == "tuple":
            return list(given)
        if opcode == "get-tuple-element":
            if isinstance(given[0], Pending):
                raise NotModelled("an element of an asynchronous state")
            return given[0][i.attributes.integer("index", 0)]
        if opcode in ("call", "fusion"):
            return self.computation(self.called(i)[0], given, level, path, self.standing)
        if step == "start":
            return Pending(self.started(i, sugar[0] if sugar else "", given, computation, level, path))
        if step in ("update", "done"):
            if not isinstance(given[0], Pending):
                raise NotModelled("an asynchronous operation whose start is out of sight")
            self.ended(i, given, computation, path)
            return given[0] if step == "update" else given[0].result
        if opcode == "copy-start":
            return Pending(given[0])
        if opcode in ("all-gather-start", "collective-permute-start"):
            return Pending(self.collective(i, opcode.removesuffix("-start"), given, path))
        if opcode == "all-reduce-start":
            return self.collective(i, "all-reduce", given, path)
        if opcode in ("all-gather-done", "collective-permute-done"):
            if not isinstance(given[0], Pending):
                raise NotModelled("an asynchronous operation whose start is out of sight")
            self.ended(i, given, computation, path)
            return given[0].result
        if opcode == "conditional":
            return self.conditional(i, given, level, path)
        if opcode == "while":
            return self.loop(i, given[0], level, path)
        return self.operation(i, opcode, i.shape, given, computation, path)

    def ended(self, i: Instruction, given: list[ValueTree], computation: Computation, path: tuple[Any, ...]) -> None:
        """What an end or update says of what is carried, where its start says something else. Raises NotModelled where
        it says so of who takes part."""
        start = computation.by_name[i.operands[0]]
        for name in OF_DEVICES:
            own = i.attributes.get(name)
            if own not in (None, False, start.attributes.get(name)):
                raise NotModelled(f"{name} of {i.opcode} {i.name}, which {start.name} does not say")
        when = carried_when(i)
        if when and when != carried_when(start):
            operands = tuple(node for value in given for node in leaves_of(value))
            self.promises.add((CARRIED, i.opcode, path, operands, when))

    def started(
        self,
        i: Instruction,
        wrapped: str,
        given: list[ValueTree],
        computation: Computation,
        level: int,
        path: tuple[Any, ...],
    ) -> ValueTree:
        if not wrapped or wrapped == "call":
            if when := carried_when(i):
                key = tuple((j.opcode, attribute_key(j, j.opcode)) for j in self.called(i)[0].instructions)
                operands = tuple(node for value in given for node in leaves_of(value))
                self.promises.add((CARRIED, i.opcode, key, path, operands, when))
            return self.computation(self.called(i)[0], given, level, path, self.standing)
        raise NotModelled(f"{i.opcode} without a computation of its own")

    def collective(self, i: Instruction, opcode: str, given: list[ValueTree], path: tuple[Any, ...]) -> ValueTree:
        shape = i.shape
        if opcode != "all-reduce":
            if not isinstance(shape, TupleShape) or len(shape.elements) < 2:
                raise NotModelled(f"{i.opcode} of this shape")
            shape = shape.elements[1]
        return self.operation(i, opcode, shape, given, None, path)

    def operation(
        self,
        i: Instruction,
        opcode: str,
        shape: Shape,
        given: list[ValueTree],
        computation: Computation | None,
        path: tuple[Any, ...],
    ) -> ValueTree:
        """An operation that keeps its head. One with several results becomes a node and its outputs."""
        operands = [node for value in given for node in leaves_of(value)]
        if opcode == "constant":
            if not isinstance(shape, ArrayShape):
                raise NotModelled("a constant that is a tuple")
            if writes_negative_zero(i.literal or "", shape.element_type):
                self.graph.assumed.add(NEGATIVE_ZERO)
            key: Any = literal_key(i.literal or "", shape, (self.side, i.position.line, i.name))
            return self.leaf("constant", shape, (), key)
        key = attribute_key(i, opcode)
        if opcode == "compare" and operands[0].type in INTEGERS:
            key = tuple(pair for pair in key if pair[0] != "type")  # integers have one order
        if opcode == "bitcast":
            assert computation is not None
            source = computation.by_name[i.operands[0]].shape
            key = (key, layout_key(source), layout_key(i.shape))
            if ELEMENT_BITS[key[1][0]] == ELEMENT_BITS[key[2][0]] and room(source) != room(i.shape):
                raise NotModelled("a bitcast between elements that take different room in memory")
            if key[1][1:] == key[2][1:]:  # in place: nothing moves
                opcode, key = "bitcast-convert", ()
        told = [name for name in PROMISES if i.attributes.flag(name)]
        if told:
            # A promise is about the indices alone, which stand in the middle of what a gather or scatter is given.
            where = operands[len(operands) // 2 :][:1] if opcode in ("gather", "scatter") else operands
            about = (opcode, key, path, tuple(where), tuple(o.sizes for o in operands))
            self.promises.update((name, *about) for name in told)
        when = carried_when(i)
        if when:
            self.promises.add((CARRIED, opcode, key, path, tuple(operands), when))
        bodies = tuple(node for name in _called_in_order(i) for node in self.function(name))
        self.inside = None
        constants = self.folds.folded(self.module, i, tuple(operands)) if computation is not None else None
        if constants is not None:
            for node in constants:
                self.place(node, i, computation)
            return constants if isinstance(shape, TupleShape) else constants[0]
        if opcode in ("sort", "topk", "custom-call"):
            found = ordered(self.graph, opcode, i.attributes, shape, operands, key, bodies)
            for node in found or ():
                self.place(node.operands[0], i, computation)
            if found is not None:
                return found if isinstance(shape, TupleShape) else found[0]
            parted = parts_of_call(self.module, computation, i) if computation is not None else None
            if parted is not None:
                arrays = shape.elements if isinstance(shape, TupleShape) else (shape,)
                made = [
                    self.leaf("custom-call", one, [node], (parted[0], at))
                    for one, node, at in zip(arrays, operands, parted[1], strict=True)
                ]
                return made if isinstance(shape, TupleShape) else made[0]
        if opcode == "custom-call":
            key = self.opaque_key(i, key, given, computation)
        effect = opcode in EFFECTS or i.attributes.flag("custom_call_has_side_effect")
        if effect:
            key = (key, path)
        elif path and opcode in COLLECTIVES:
            # Which devices take part in an exchange depends on where it stands. What chooses the branch may be a loop's
            # state, so that it stands where turns are taken: not in the key.
            key = (key, tuple(None if isinstance(p, Node) else p for p in path))
            bodies = (*bodies, *(p for p in path if isinstance(p, Node)))
        if effect:
            # Two occurrences are two events, told apart by their order: also where what they are given is written
            # in two ways and can be shown to be equal.
            self.occurrences[opcode, key] += 1
            key = (key, self.occurrences[opcode, key])
        parts = combined(opcode, shape, operands)
        if parts is not None:
            return [
                self.leaf(opcode, part, [node], key, bodies=bodies, attributes=i.attributes)
                for part, node in zip(parts, operands, strict=True)
            ]
        if isinstance(shape, TupleShape):
            key = (key, *shapes_key(opcode, shape))
            whole = self.graph.node(opcode, "tuple", (), operands, key, bodies, i.attributes)
            value = self.tree(shape, lambda inner, at: self.leaf("output", inner, (whole,), at))
            self.place(whole, i, computation)
        else:
            value = self.leaf(opcode, shape, operands, key, bodies=bodies, attributes=i.attributes)
            whole = value
            self.folds.note(whole, self.module, i, tuple(operands))
        if effect:
            self.effects.nodes.append(whole)
        return value

    def opaque_key(self, i: Instruction, key: Any, given: list[ValueTree], computation: Computation | None) -> Any:
        """What tells an opaque call from others beside its attributes and operands."""
        if is_shard_call(i):
            assert computation is not None
            key = (key, written_elsewhere(self.module, computation, i))
        functions = _called_in_order(i)
        if functions:
            # Nothing is known of who applies them: of a function that leaves out a parameter, or gives a tuple, that
            # counts as well.
            key = (key, "functions", *(signature(self.module.by_name[name]) for name in functions))
        if any(isinstance(value, list) for value in given):
            key = (key, *map(nesting_of, given))  # a tuple is one operand, and not as many as it has elements
        demanded = memory_key(i)
        return (key, demanded) if demanded else key

    def place(self, node: Node, i: Instruction, computation: Computation | None) -> None:
        if node.places[self.side] is None:
            node.places[self.side] = Place(computation.name if computation else "", i.name, i.opcode, i.position.line)

    def called(self, i: Instruction) -> list[Computation]:
        return [self.module.by_name[name] for name in i.attributes.computations()]

    def function(self, name: str) -> tuple[Node, ...]:
        """A computation that an operation applies, over bound nodes. HLO computations capture nothing: it is closed."""
        if name not in self.functions:
            computation = self.module.by_name[name]
            arguments = [
                self.tree(p.shape, lambda inner, at, k=k: self.leaf("bound", inner, (), ("argument", k, at)))
                for k, p in enumerate(computation.parameters)
            ]
            before = len(self.effects.nodes)
            promises, self.promises = self.promises, set()
            endings, self.endings = self.endings, []
            self.depth += 1  # loops inside have states of their own names
            self.functions[name] = tuple(
                leaves_of(self.computation(computation, arguments, 1000 * self.depth, ("function",)))
            )
            self.depth -= 1
            self.endings_inside += self.endings
            self.endings = endings
            # What it is given differs from use to use, so that nobody else makes the same promise.
            self.promises = promises | {(*p, self.side, name) for p in self.promises}
            if len(self.effects.nodes) != before:
                raise NotModelled(f"effects inside {name}")
        return self.functions[name]

    def conditional(self, i: Instruction, given: list[ValueTree], level: int, path: tuple[Any, ...]) -> ValueTree:
        selector, *arguments = given
        branches = self.called(i)
        if "branch_computations" not in i.attributes:  # the two names may stand in any order
            names = [i.attributes.get(k) for k in ("true_computation", "false_computation")]
            branches = [self.module.by_name[n.name] for n in names if isinstance(n, ComputationRef)]
        choice, *standing = self.standing
        values: list[ValueTree] = []
        over: list[list[Earlier]] = []
        for k, (b, a) in enumerate(zip(branches, arguments, strict=True)):
            values.append(self.computation(b, [a], level, (*path, selector, k), [standing[k]]))
            over.append(parts_of((self.inside or NOTHING).value, values[-1]))
        flat = [list(leaves_of(v)) for v in values]
        chosen: list[Node] = []
        after: list[Earlier] = []
        for nodes, ways in zip(zip(*flat, strict=True), zip(*over, strict=True), strict=True):
            node, waits = nodes[0], Earlier()  # what is the same in all branches waits for no choice
            if any(n is not node for n in nodes):
                node = self.graph.node("conditional", node.type, node.sizes, (selector, *nodes))
                waits = choice.every
            chosen.append(node)
            after.append(waits.joined(*ways))
        self.inside = Standing(in_parts(values[0], iter(after)))
        return rebuilt(values[0], iter(chosen))

    def loop(self, i: Instruction, initial: ValueTree, level: int, path: tuple[Any, ...]) -> ValueTree:
        """One node per state that the loop gives back. States that the body passes on unchanged are their initial
        value, and a result depends only on the states that lead to it or to the condition."""
        body = self.module.by_name[_name(i, "body")]
        condition = self.module.by_name[_name(i, "condition")]
        start = list(leaves_of(initial))
        over = parts_of(self.standing[0].value, initial)
        bound = [self.graph.node("bound", n.type, n.sizes, (), ("state", level, k)) for k, n in enumerate(start)]
        state: list[Node] = list(bound)
        marks = Standing(in_parts(initial, iter([mark(k) for k in range(len(start))])))
        turn = replace(marks, whole=marks.every.all)
        saved = len(self.effects.nodes), Counter(self.occurrences)
        endings = len(self.endings)
        promises, self.promises = self.promises, set()
        while True:
            del self.effects.nodes[saved[0] :]
            del self.endings[endings:]
            self.occurrences = Counter(saved[1])
            inside = (*path, "loop")
            given = rebuilt(initial, iter(state))
            after = list(leaves_of(self.computation(body, [given], level + 1, inside, [turn])))
            left = parts_of((self.inside or NOTHING).value, initial)
            (holds,) = leaves_of(self.computation(condition, [given], level + 1, inside, [turn]))
            decided = (self.inside or NOTHING).every
            unchanged = [k for k, n in enumerate(after) if n is bound[k] and state[k] is bound[k]]
            if not unchanged:
                break
            for k in unchanged:
                state[k] = start[k]
        if len(self.effects.nodes) != saved[0]:
            raise NotModelled("effects inside a loop")
        varying = [k for k in range(len(state)) if state[k] is bound[k]]
        deciding, reach = needed_states(after, holds, {bound[k]: k for k in varying})
        out = list(start)
        for k in varying:
            kept = reach[k]
            key = (level, k, kept, tuple((start[m].type, start[m].sizes) for m in kept))
            operands = [start[m] for m in kept]
            bodies = [holds, *(after[m] for m in kept)]
            out[k] = self.graph.node("while", start[k].type, start[k].sizes, operands, key, bodies, i.attributes)
        first = [start[k] for k in deciding]
        bodies = [holds, *(after[k] for k in deciding)]
        decides = self.graph.node("ending", "pred", (), first, (level, deciding), bodies)
        self.endings.append(Ending(decides, tuple(out[k] for k in varying), stated_count(i), stated_states(i)))
        # What a state holds in the turns is said by the loop, not by the state's name.
        self.promises = promises | {(*p, *out) for p in self.promises}
        turns = {k: left[k].joined(decided) for k in varying}
        self.inside = Standing(in_parts(initial, iter(after_turns(over, turns))))
        return rebuilt(initial, iter(out))


def _name(i: Instruction, attribute: str) -> str:
    value = i.attributes.get(attribute)
    if not isinstance(value, ComputationRef):
        raise NotModelled(f"a loop without {attribute}")
    return value.name


def _called_in_order(i: Instruction) -> tuple[str, ...]:
    """The computations that an instruction calls, by the names of the attributes, not by their order in the text."""
    sorted_pairs = tuple(sorted(i.attributes.pairs, key=lambda pair: pair[0]))
    return tuple(Attributes(sorted_pairs).computations())
