"""Sorts, scatters and reductions of constants are the constants that they give.

Trusted, with the executable reading, of which nothing is used but what every implementation gives bit for bit:
movement, the operations of `evaluation.EVALUATED`, and folds whose order shows nowhere. These are stable sorts by what
orders the elements that there are, scatters that reach no element twice, and reductions of integers, or the largest and
smallest of floats among which there are neither NaNs nor zeros of both signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import copysign, prod
from typing import Final

from hloproof.equivalence.elements_indexed import may_be_negative
from hloproof.equivalence.evaluation import EVALUATED, alike, only_bits_tell
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.literals import literal_of
from hloproof.equivalence.reductions import is_neutral
from hloproof.equivalence.terms import from_value
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, from_bits, to_bits
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function, word
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Array, Element, Value

MOST_ELEMENTS: Final = 4096
"""Larger arrays are not computed."""
LONGEST_LINE: Final = 64
"""Of a sort: the comparator is asked about all pairs of a line."""
MOVED: Final = frozenset(
    {"broadcast", "concatenate", "dynamic-slice", "gather", "iota", "pad", "reshape", "reverse", "slice", "transpose"}
)
FOLDED: Final = frozenset({"reduce", "scatter", "sort"})
_KNOWN: Final = EVALUATED - {"bitcast-convert"}
_ANY_ORDER: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


class _Alike(Real):
    """Numbers, as far as all implementations have the same. Raises NotModelled for others."""

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain = super().function(opcode, operands, result, attributes)
        by_bits = word(attributes, "type") == "TOTALORDER"

        def checked(*arguments: Element) -> Element:
            found = plain(*arguments)
            if (by_bits and only_bits_tell(arguments)) or not alike(opcode, operands, arguments, result, found):
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
        simple = i.opcode in MOVED or (i.opcode in EVALUATED and i.opcode in SCALAR)
        simple = simple and not (i.opcode == "dynamic-slice" and any(map(may_be_negative, operands[1:])))
        if simple and node not in self._written and _small(i.shape) and all(self._known(o) for o in operands):
            self._written[node] = _Written(module, i, operands)

    def folded(self, module: Module, i: Instruction, operands: tuple[Node, ...]) -> list[Node] | None:
        """The constants that a fold gives, one for each result; None where it stays an operation."""
        if i.opcode not in FOLDED or not _small(i.shape) or not all(self._known(o) for o in operands):
            return None
        body = _called(module, i)
        if body is None or not _exact(body):
            return None
        values = [self._value(o) for o in operands]
        arrays = [v for v in values if v is not None]
        if len(arrays) != len(values):
            return None
        results = _run(module, i, arrays)
        if (
            results is None
            or any(v != v for x in results for v in x.data)
            or not _determined(module, i, body, arrays, results)
        ):
            return None
        return [self._constant(x) for x in results]

    def _known(self, node: Node) -> bool:
        if node.head == "constant":
            return literal_of(node.key, 0) is not None and prod(node.sizes) <= MOST_ELEMENTS
        return node in self._written

    def _value(self, node: Node) -> Array | None:
        if node not in self._values:
            found = self._computed(node)
            # A NaN has bits, which are not computed here.
            self._values[node] = found if found is not None and all(v == v for v in found.data) else None
        return self._values[node]

    def _computed(self, node: Node) -> Array | None:
        if node.type in COMPLEX:
            return None
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


def _exact(body: Computation) -> bool:
    """Whether every operation of the function is one that `_Alike` knows, and looks into no bits."""
    return all(
        i.opcode in _KNOWN or i.opcode in ("parameter", "constant", "tuple") for i in body.instructions
    ) and not any(
        isinstance(s, ArrayShape) and s.element_type in COMPLEX for i in body.instructions for _, s in leaves(i.shape)
    )


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


def _determined(module: Module, i: Instruction, body: Computation, operands: list[Array], results: list[Array]) -> bool:
    """Whether every implementation gives these results."""
    match i.opcode:
        case "reduce":
            # XLA leaves out what a reduction begins with where nothing is folded with anything; and with it the
            # combination, which shows unless it is neutral.
            return (
                len(operands) == 2
                and _in_any_order(body, operands)
                and (len(results[0].data) < len(operands[0].data) or _neutral(body, operands[1]))
            )
        case "scatter":
            return len(operands) == 3 and _reaches_once(module, i, operands)
        case _:
            return i.attributes.flag("is_stable") and _orders(module, i, body, operands)


def _neutral(body: Computation, start: Array) -> bool:
    return is_neutral(body.root.opcode, start.element_type, from_value(start.element_type, start.data[0]))


def _in_any_order(body: Computation, operands: list[Array]) -> bool:
    root, kind = body.root, operands[0].element_type
    if root.opcode not in _ANY_ORDER or sorted(root.operands) != sorted(p.name for p in body.parameters):
        return False
    if kind in INTEGERS or kind == "pred":
        return True
    if kind not in FLOATS or root.opcode not in ("maximum", "minimum"):
        return False
    numbers = [v for x in operands for v in x.data]
    return all(v == v for v in numbers) and len({copysign(1.0, v) for v in numbers if v == 0}) < 2


def _reaches_once(module: Module, i: Instruction, operands: list[Array]) -> bool:
    """Whether no element is combined twice: ones that are added to zeros leave no two."""
    target, indices, updates = operands
    zeros = Array("s32", target.sizes, [0] * len(target.data))
    ones = Array("s32", updates.sizes, [1] * len(updates.data))
    counting = replace(
        i,
        shape=ArrayShape("s32", target.sizes),
        attributes=Attributes(
            tuple((k, ComputationRef("count") if k == "to_apply" else v) for k, v in i.attributes.pairs)
        ),
    )
    scalar = ArrayShape("s32", ())
    count = Computation(
        "count",
        (
            Instruction("a", "parameter", scalar, parameter_number=0),
            Instruction("b", "parameter", scalar, parameter_number=1),
            Instruction("c", "add", scalar, ("a", "b")),
        ),
        "c",
    )
    found = _run(Module("counting", (count,), "count"), counting, [zeros, indices, ones])
    return found is not None and len(found) == 1 and max(found[0].data, default=0) <= 1


def _orders(module: Module, i: Instruction, body: Computation, operands: list[Array]) -> bool:
    """Whether the comparator orders the elements of every line, ties aside: then a stable sort has one result."""
    dimensions = i.attributes.integers("dimensions")
    axis = dimensions[0] if dimensions else len(operands[0].sizes) - 1
    length = operands[0].sizes[axis]
    if length > LONGEST_LINE:
        return False
    machine = Machine(module, _Alike(), Devices(1, 1), 0)
    step = prod(operands[0].sizes[axis + 1 :])

    def below(a: int, b: int) -> bool:
        pairs = [Array(x.element_type, (), [x.data[k]]) for x in operands for k in (a, b)]
        (value,) = machine.evaluate(body, [tuple(pairs)], [0])
        return isinstance(value, Array) and bool(value.data[0])

    for first in range(len(operands[0].data)):
        if first // step % length:
            continue
        line = [first + k * step for k in range(length)]
        try:
            less = {(a, b) for a in line for b in line if below(a, b)}
        except (NotModelled, ArithmeticError, LookupError, TypeError, ValueError):
            return False
        rank = {a: sum((b, a) in less for b in line) for a in line}
        # A strict weak order is that of how many lie below.
        if any(
            ((a, b) in less) != (rank[a] < rank[b]) or ((b, a) in less) != (rank[b] < rank[a])
            for a, b in combinations(line, 2)
        ):
            return False
        if any((a, a) in less for a in line):
            return False
    return True
