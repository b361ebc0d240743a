"""Top-k as a sort, and sorts without the operands that play no part.

Trusted. `topk` takes the first elements of each line along the last dimension, sorted stably by the total order of the
type, and their positions; one that is said not to be stable takes any of equal elements, and stays what it is. A call
of the library's `TopK` is the same where the comparator that it names is that order, and nothing else is said of it.
A stable sort is one permutation of each line, which only the operands decide that the comparator reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hloproof.equivalence.computed_identities import TOTAL_BITS
from hloproof.equivalence.graph import Graph, Node, applies_functions
from hloproof.equivalence.literals import bits_of
from hloproof.models.hlo.attributes import Attributes, Quoted, SliceDimension, Word
from hloproof.models.hlo.beside import unread_of_call
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest
from hloproof.models.interpreter.semantics.small_float import FLOATS


def ordered(
    graph: Graph,
    opcode: str,
    attributes: Attributes,
    shape: Shape,
    operands: Sequence[Node],
    key: tuple[Any, ...],
    bodies: Sequence[Node],
) -> list[Node] | None:
    """The results of a sort or top-k; None for what is neither."""
    if opcode == "sort":
        return sorted_lines(graph, operands, key, bodies[0], attributes) if len(bodies) == 1 else None
    if len(operands) != 1 or attributes.flag("custom_call_has_side_effect"):
        return None
    if opcode == "topk":
        if attributes.get("is_stable") is False:
            return None
        return top_k(graph, operands[0], shape, attributes.get("largest") is not False)
    return top_k_call(graph, operands[0], shape, attributes, bodies)


def top_k(graph: Graph, operand: Node, shape: Shape, largest: bool) -> list[Node] | None:
    """The results of `topk`; None where their shapes are not understood."""
    comparator = total_order(graph, operand.type, "GT" if largest else "LT")
    return None if comparator is None else _first(graph, operand, shape, comparator)


def top_k_call(
    graph: Graph, operand: Node, shape: Shape, attributes: Attributes, bodies: Sequence[Node]
) -> list[Node] | None:
    """The results of a call of `TopK`; None where the comparator is not the descending total order."""
    target = attributes.get("custom_call_target")
    if not isinstance(target, Quoted | Word) or target.text != "TopK" or len(bodies) != 1:
        return None
    if unread_of_call(attributes, "called_computations", "to_apply"):
        return None
    known = (total_order(graph, operand.type, "GT"), total_order_of_bits(graph, operand.type, "GT"))
    return _first(graph, operand, shape, bodies[0]) if bodies[0] in known else None


def _first(graph: Graph, operand: Node, shape: Shape, comparator: Node) -> list[Node] | None:
    if not isinstance(shape, TupleShape) or len(shape.elements) != 2 or not operand.sizes:
        return None
    values, positions = shape.elements
    if not isinstance(values, ArrayShape) or not isinstance(positions, ArrayShape):
        return None
    sizes = values.dimensions
    if (
        sizes != positions.dimensions
        or values.element_type != operand.type
        or positions.element_type != "s32"
        or sizes[:-1] != operand.sizes[:-1]
        or len(sizes) != len(operand.sizes)
        or not 0 <= sizes[-1] <= operand.sizes[-1]
    ):
        return None
    last = len(sizes) - 1
    counted = Attributes((("iota_dimension", last),))
    iota = graph.node("iota", "s32", operand.sizes, (), counted.pairs, (), counted)
    attributes = Attributes((("dimensions", (last,)), ("is_stable", True)))
    whole = sorted_lines(graph, [operand, iota], attributes.pairs, comparator, attributes)
    cut = Attributes((("slice", tuple(SliceDimension(0, n, 1) for n in sizes)),))
    return [graph.node("slice", w.type, sizes, (w,), cut.pairs, (), cut) for w in whole]


def sorted_lines(
    graph: Graph, operands: Sequence[Node], key: tuple[Any, ...], comparator: Node, attributes: Attributes
) -> list[Node]:
    """The results of a sort, each sorted with those operands only that the comparator reads."""
    read = _read(comparator)
    key = tuple(pair for pair in key if pair[0] != "to_apply")
    stable = dict(key).get("is_stable") is True
    out: list[Node] = []
    for k, operand in enumerate(operands):
        # By a total order of the operand itself equal elements are the same bits, and no permutation of them shows.
        ordered = read == {k} and _orders_itself(graph, comparator, operand.type, k)
        kept = [j for j in range(len(operands)) if j in read or j == k]
        # Without a promise for ties another operand may decide between them: all stay in.
        if not (stable or ordered) or applies_functions(comparator):
            kept = [*range(len(operands))]
        function = _renumbered(graph, comparator, kept)
        given = [operands[j] for j in kept]
        own = (*[p for p in key if p[0] != "is_stable"], ("is_stable", True)) if ordered else key
        own = tuple(sorted(own, key=lambda pair: str(pair[0])))
        if len(given) == 1:
            out.append(graph.node("sort", operand.type, operand.sizes, given, own, (function,), attributes))
        else:
            whole = graph.node("sort", "tuple", (), given, own, (function,), attributes)
            out.append(graph.node("output", operand.type, operand.sizes, (whole,), (kept.index(k),)))
    return out


def _read(comparator: Node) -> set[int]:
    """The operands that the comparator reads: arguments 2k and 2k + 1 are two elements of operand k."""
    out: set[int] = set()
    seen, stack = {comparator}, [comparator]
    while stack:
        node = stack.pop()
        if node.head == "bound" and node.key[0] == "argument":
            out.add(node.key[1] // 2)
        for o in (*node.operands, *node.bodies):
            if o not in seen:
                seen.add(o)
                stack.append(o)
    return out


def _orders_itself(graph: Graph, comparator: Node, type_: str, k: int) -> bool:
    """Whether the comparator is a total order of operand k: elements that it does not tell apart are the same bits."""
    orders = (order(graph, type_, d, 2 * k) for d in ("LT", "GT") for order in (total_order, total_order_of_bits))
    return any(comparator is found for found in orders)


def _renumbered(graph: Graph, comparator: Node, kept: list[int]) -> Node:
    by: dict[Node, Node] = {}
    for new, old in enumerate(kept):
        if new == old:
            continue
        for side in (0, 1):
            for node in _arguments(comparator, 2 * old + side):
                by[node] = graph.node("bound", node.type, node.sizes, (), ("argument", 2 * new + side, ()))
    return graph.replaced([comparator], by)[0] if by else comparator


def _arguments(comparator: Node, number: int) -> list[Node]:
    seen, stack = {comparator}, [comparator]
    while stack:
        node = stack.pop()
        for o in (*node.operands, *node.bodies):
            if o not in seen:
                seen.add(o)
                stack.append(o)
    return [n for n in seen if n.head == "bound" and n.key == ("argument", number, ())]


def total_order(graph: Graph, type_: str, direction: str, first: int = 0) -> Node | None:
    """The comparison of arguments `first` and `first + 1` in the total order of the type."""
    if type_ not in INTEGERS and type_ not in FLOATS:
        return None
    key = (("direction", direction),) if type_ in INTEGERS else (("direction", direction), ("type", "TOTALORDER"))
    pair = [graph.node("bound", type_, (), (), ("argument", first + k, ())) for k in (0, 1)]
    return graph.node("compare", "pred", (), pair, key)


def total_order_of_bits(graph: Graph, type_: str, direction: str, first: int = 0) -> Node | None:
    """The same as compilers write it out: the bits as integers, those of negative numbers turned over."""
    bits = TOTAL_BITS.get(type_)
    if bits is None:
        return None
    zero = graph.node("constant", bits, (), (), ("all", 0))
    turn = graph.node("constant", bits, (), (), ("all", bits_of(bits, highest(bits))))
    sides: list[Node] = []
    for k in (0, 1):
        x = graph.node("bound", type_, (), (), ("argument", first + k, ()))
        pattern = graph.node("bitcast-convert", bits, (), (x,))
        negative = graph.node("compare", "pred", (), (pattern, zero), (("direction", "LT"),))
        turned = graph.node("xor", bits, (), (turn, pattern))
        sides.append(graph.node("select", bits, (), (negative, turned, pattern)))
    return graph.node("compare", "pred", (), sides, (("direction", direction),))
