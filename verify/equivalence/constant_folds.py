"""Reductions of constants are the constants that they give, where they are of integers or predicates.

Trusted, with the executable reading, of which nothing is used but what every implementation gives bit for bit:
movement, the operations of `foldable.ROWS`, and reductions whose order shows nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from hloproof.equivalence.foldable import FOLDABLE, ComputedNumber, row_of
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.literals import literal_of
from hloproof.equivalence.reductions import is_neutral
from hloproof.equivalence.terms import from_value
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.beside import unknown_beside
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS, from_bits, to_bits
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function, word
from hloproof.models.interpreter.value import Array, Element, Value

MOST_ELEMENTS: Final = 4096
"""Larger arrays are not computed."""
MOVED: Final = frozenset({"broadcast", "concatenate", "pad", "reshape", "reverse", "slice", "transpose"})
_ANY_ORDER: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


class _Alike(Real):
    """NumbersTaken, as far as all implementations have the same. Raises NotModelled for others."""

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain, types = super().function(opcode, operands, result, attributes), tuple(operands)
        row = row_of(opcode, types, result)
        total = word(attributes, "type") == "TOTALORDER"

        def checked(*arguments: Element) -> Element:
            found = plain(*arguments)
            if row is None or not row.numbers(ComputedNumber(types, arguments, result, found, total)):
                raise NotModelled(f"{opcode} as every implementation has it")
            return found

        return checked


@dataclass(frozen=True)
class _Written:
    """An operation on constants, as it stands in its module."""

    module: Module
    instruction: Instruction
    operands: tuple[Node, ...]


class ConstantFolds:
    """What is known of nodes that follow from constants alone. Values are computed when a fold asks for them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._written: dict[Node, _Written] = {}
        self._values: dict[Node, Array | None] = {}

    def note(self, node: Node, module: Module, i: Instruction, operands: tuple[Node, ...]) -> None:
        """That the node was made for this instruction, whose operands are arrays."""
        # What reads bits is no scalar operation: the bits of a NaN are not computed here.
        simple = i.opcode in MOVED or (i.opcode in FOLDABLE and i.opcode in SCALAR)
        if simple and node not in self._written and _small(i.shape) and all(self._known(o) for o in operands):
            self._written[node] = _Written(module, i, operands)

    def folded(self, module: Module, i: Instruction, operands: tuple[Node, ...]) -> list[Node] | None:
        """The constants that a fold gives, one for each result; None where it stays an operation."""
        if i.opcode != "reduce" or len(operands) != 2 or not _small(i.shape) or not all(map(self._known, operands)):
            return None
        body = _called(module, i)
        if body is None or not _in_any_order(body, operands[0].type):
            return None
        if any(unknown_beside(k) for k in body.instructions):  # which may change what it computes
            return None
        values = [self._value(o) for o in operands]
        arrays = [v for v in values if v is not None]
        results = _run(module, i, arrays) if len(arrays) == len(values) else None
        # XLA leaves out what a reduction begins with where nothing is folded with anything; and with it the
        # combination, which shows unless it is neutral.
        if results is None or not (len(results[0].data) < len(arrays[0].data) or _neutral(body, arrays[1])):
            return None
        return [self._constant(x) for x in results]

    def _known(self, node: Node) -> bool:
        if node.head == "constant":
            return literal_of(node.key, 0) is not None and prod(node.sizes) <= MOST_ELEMENTS
        return node in self._written

    def _value(self, node: Node) -> Array | None:
        if node not in self._values:
            self._values[node] = self._computed(node)
        return self._values[node]

    def _computed(self, node: Node) -> Array | None:
        if node.head == "constant":
            bits = literal_of(node.key, prod(node.sizes))
            return None if bits is None else Array(node.type, node.sizes, [from_bits(node.type, b) for b in bits])
        written = self._written[node]
        values = [self._value(o) for o in written.operands]
        arrays = [v for v in values if v is not None]
        found = _run(written.module, written.instruction, arrays) if len(arrays) == len(values) else None
        return found[0] if found is not None and len(found) == 1 else None

    def _constant(self, x: Array) -> Node:
        bits = tuple(to_bits(x.element_type, v) for v in x.data)
        key = ("all", bits[0]) if bits and all(b == bits[0] for b in bits) else ("bits", bits)
        return self._graph.node("constant", x.element_type, x.sizes, (), key)


def _small(shape: Shape) -> bool:
    found = [leaf for _, leaf in leaves(shape)]
    return all(isinstance(s, ArrayShape) and 0 < prod(s.dimensions) <= MOST_ELEMENTS for s in found)


def _called(module: Module, i: Instruction) -> Computation | None:
    name = i.attributes.get("to_apply")
    return module.by_name.get(name.name) if isinstance(name, ComputationRef) else None


def _run(module: Module, i: Instruction, operands: list[Array]) -> list[Array] | None:
    """The arrays that one instruction gives."""
    names = tuple(f"p{n}" for n in range(len(operands)))
    given = tuple(
        Instruction(name, "parameter", ArrayShape(x.element_type, x.sizes), parameter_number=n)
        for n, (name, x) in enumerate(zip(names, operands, strict=True))
    )
    alone = Computation("alone", (*given, replace(i, name="root", operands=names)), "root")
    try:
        (value,) = Machine(module, _Alike(), Devices(1, 1), 0).evaluate(alone, [tuple(operands)], [0])
    except (NotModelled, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    found: tuple[Value, ...] = value if isinstance(value, tuple) else (value,)
    arrays = [x for x in found if isinstance(x, Array)]
    return arrays if len(arrays) == len(found) else None


def _neutral(body: Computation, start: Array) -> bool:
    return is_neutral(body.root.opcode, start.element_type, from_value(start.element_type, start.data[0]))


def _in_any_order(body: Computation, kind: str) -> bool:
    """Whether the function combines integers or predicates by one operation that associates and commutes."""
    root = body.root
    both = sorted(root.operands) == sorted(p.name for p in body.parameters)
    return both and root.opcode in _ANY_ORDER and (kind in INTEGERS or kind == "pred")
