"""Operations of a module as nodes of the graph: those that keep their heads, with all that tells them from others.

Trusted. What is not understood stays an operation of its own, equal only to itself; what cannot be given any value
raises NotModelled, and the answer is then `unknown`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hloproof.equivalence.answer import Place
from hloproof.equivalence.configurations import Promise, label_of
from hloproof.equivalence.constant_folds import ConstantFolds
from hloproof.equivalence.effects import Effects, Standing
from hloproof.equivalence.endings import Ending, in_function
from hloproof.equivalence.graph import Graph, Node, Side
from hloproof.equivalence.literals import NEGATIVE_ZERO, literal_key, writes_negative_zero
from hloproof.equivalence.meaning import (
    CARRIED,
    EFFECTS,
    PROMISES,
    attribute_key,
    called_in_order,
    carried_when,
    combined,
    layout_key,
    layouts_of,
    memory_key,
    room,
    shapes_key,
    signature,
)
from hloproof.equivalence.sorting import ordered
from hloproof.equivalence.statements import Branch, Sources, Statements, StatementTable
from hloproof.equivalence.value_trees import ValueTree, leaves_of, nesting_of
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, having
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, BufferShape, Shape, TupleShape, leaves
from hloproof.models.hlo.shard_shapes import is_shard_call, parts_of_call, written_elsewhere
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.interpreter.semantics.element_type import INTEGERS

_UNKNOWN: Final = having("opaque")
"""Nobody knows what their attributes mean, so two that look alike may be two."""


@dataclass
class OperationReader(ABC):
    """What a reader of modules knows while it reads one, and how it reads an operation that no call, loop or tuple
    is."""

    graph: Graph = field(default_factory=Graph)
    module: Module = field(init=False)
    side: Side = 0
    effects: Effects = field(default_factory=Effects)
    occurrences: Counter[Any] = field(default_factory=Counter)
    functions: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    endings: list[Ending] = field(default_factory=list)
    """The loops of what is read, and in `endings_in` those of functions, which are read once."""
    endings_in: dict[str, list[Ending]] = field(default_factory=dict)
    exchanges: int = 0
    """How many exchanges between devices have been read."""
    deciding: tuple[Node, ...] = ()
    """What decides on the turns that are read, of all loops around."""
    depth: int = 0
    standing: Sequence[Standing] = ()
    """What is over where the operands of the instruction that is read are."""
    inside: Standing | None = None
    """What is over where the computation that it runs is."""
    statements: StatementTable = field(default_factory=StatementTable)
    """Those of all modules that are read."""
    stated: Statements = 0
    """All that is promised in the module that is read."""
    acts: Statements = 0
    """Those that the effects are made of, in what is read so far of the branch, or of the entry."""
    stated_in: dict[str, Statements] = field(default_factory=dict)
    """All that is promised in each function that operations apply, which is read once."""
    made_in: dict[str, list[Statements]] = field(default_factory=dict)
    """Those that each tensor is made of which a function gives."""
    sources: Sources = field(default_factory=lambda: Sources(()))
    """Of what the instruction that is read is made."""
    gives: list[Statements] = field(default_factory=list)
    """Of what each tensor of the computation is made that was read last."""
    folds: ConstantFolds = field(init=False)

    def __post_init__(self) -> None:
        self.folds = ConstantFolds(self.graph)

    @abstractmethod
    def function(self, name: str) -> tuple[Node, ...]:
        """What a computation that an operation applies gives, over bound nodes. Raises NotModelled."""

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
        if opcode in _UNKNOWN:  # its attributes may name or choose anything
            raise NotModelled(f"{opcode} {i.name}: nothing is known of what it computes")
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
        if opcode == "outfeed" and "outfeed_shape" not in i.attributes:
            assert computation is not None  # what is given then says how its bytes lie
            key = (key, *layouts_of(computation.by_name[i.operands[0]].shape))
        told = [name for name in PROMISES if i.attributes.flag(name)]
        if told:
            # A promise is about the indices alone, which stand in the middle of what a gather or scatter is given.
            where = operands[len(operands) // 2 :][:1] if opcode in ("gather", "scatter") else operands
            about = (opcode, key, tuple(where), tuple(o.sizes for o in operands))
            for name in told:
                self.promise((name, *about))
        when = carried_when(i)
        if when:
            self.promise((CARRIED, opcode, key, path, tuple(operands), when))
        applied = called_in_order(i)
        bodies = tuple(node for name in applied for node in self.function(name))
        # Which devices take part in an exchange depends on where it stands. What chooses the branch, or decides on the
        # turn, may be a loop's state, so that it stands where turns are taken: not in the key.
        met = path if opcode in COLLECTIVES else ()
        chosen = (*(p.selector for p in met if isinstance(p, Branch)), *(self.deciding if met else ()))
        self.exchanges += opcode in COLLECTIVES
        met = tuple(p[1:] if isinstance(p, Branch) else p for p in met)
        # To what a custom call applies a function nobody knows.
        use = (opcode, key, self.side if opcode == "custom-call" else None)
        below = (*bodies, *chosen)
        if applied:
            self.applied([*applied], use, operands, below, shape)
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
        elif met:
            key, bodies = (key, met), (*bodies, *chosen)
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
            self.sources.acts = True
        return value

    def applied(
        self, functions: list[str], use: object, operands: Sequence[Node], below: Sequence[Node], shape: Shape
    ) -> None:
        """Of what each result is made of an operation that applies functions, which are `below` with all that chooses
        where it stands; and the loops in them."""
        said = [of for name in functions for of in self.made_in[name]]
        given_all = self.sources.all_given | self.sources.own
        by = "applied", use, *operands, None, *below
        # Of several results each may be made of something else that is said there; all read what is given.
        self.sources.parts = [given_all | self.statements.repeated((by, at), said, ()) for at, _ in leaves(shape)]
        if not self.sources.parts:  # an effect that gives nothing
            self.sources.own |= self.statements.repeated((by, ()), said, ())
        for n, name in enumerate(functions):
            self.stated |= self.stated_in[name]
            for e in self.endings_in[name]:
                # What a function gives it is given again, and another function may be asked where.
                around = (*self.sources.each_given, self.sources.own)
                ends = self.statements.repeated(("ends", by, n, e.name), (e.ends, *said), around)
                key = "applied", n, use
                self.endings.append(in_function(e, self.graph, operands, key, below, ends))

    def promise(self, promise: Promise) -> None:
        """What the instruction that is read promises of what it gives."""
        self.sources.own |= self.said(promise)

    def said(self, promise: Promise) -> Statements:
        """The statement of a promise."""
        one = self.statements.said(label_of(promise), promise)
        self.stated |= one
        return one

    def opaque_key(self, i: Instruction, key: Any, given: list[ValueTree], computation: Computation | None) -> Any:
        """What tells an opaque call from others beside its attributes and operands."""
        if is_shard_call(i):
            assert computation is not None
            key = (key, written_elsewhere(self.module, computation, i))
        functions = called_in_order(i)
        if functions:
            # Nothing is known of who applies them: of a function that leaves out a parameter, or gives a tuple, that
            # counts as well.
            key = (key, "functions", *(signature(self.module.by_name[name]) for name in functions))
        if any(isinstance(value, list) for value in given):
            key = (key, *map(nesting_of, given))  # a tuple is one operand, and not as many as it has elements
        assert computation is not None
        return key, memory_key(i, computation)

    def place(self, node: Node, i: Instruction, computation: Computation | None) -> None:
        if node.places[self.side] is None:
            node.places[self.side] = Place(computation.name if computation else "", i.name, i.opcode, i.position.line)

    def called(self, i: Instruction) -> list[Computation]:
        return [self.module.by_name[name] for name in i.attributes.computations()]
