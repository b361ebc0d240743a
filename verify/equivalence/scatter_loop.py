"""Scatter as the loop that compilers expand it to.

Trusted. Updates are carried out in the row-major order of the index vectors. A turn reads the operand's window,
combines it with the update where the whole window fits, and writes it back; one that does not fit changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.literals import bits_of
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest


def as_loop(graph: Graph, node: Node) -> Node | None:
    """A loop whose result is that of a scatter into one array; None where it has batching dimensions or no updates."""
    if node.head != "scatter" or len(node.operands) != 3 or len(node.bodies) != 1:
        return None
    operand, indices, updates = node.operands
    a = node.attributes
    window_dims, inserted = a.integers("update_window_dims"), a.integers("inserted_window_dims")
    to_operand, vector = a.integers("scatter_dims_to_operand_dims"), a.integer("index_vector_dim", len(indices.sizes))
    if a.integers("input_batching_dims") or indices.type not in INTEGERS:
        return None
    if 0 in updates.sizes or 0 in operand.sizes or 0 in indices.sizes or operand.type != updates.type:
        return None
    batch = [d for d in range(len(updates.sizes)) if d not in window_dims]
    count = prod(updates.sizes[d] for d in batch)
    if count > int(highest("s32")) or node.type != operand.type or node.sizes != operand.sizes:
        return None
    make = _Maker(graph)
    # Index vectors as rows, updates with the index vectors first.
    rest = [d for d in range(len(indices.sizes)) if d != vector]
    vectors = make.transpose(indices, [*rest, *([vector] if vector < len(indices.sizes) else [])])
    vectors = make.reshape(vectors, (count, len(to_operand)))
    widths = tuple(updates.sizes[d] for d in sorted(window_dims))
    rows = make.reshape(make.transpose(updates, [*batch, *sorted(window_dims)]), (count, *widths))
    level = -1 - node.serial  # a name of its own
    turn = graph.node("bound", "s32", (), (), ("state", level, 0))
    state = graph.node("bound", operand.type, operand.sizes, (), ("state", level, 1))
    zero = make.number(indices.type, 0)
    none = make.number("s32", 0)
    starts: list[Node] = []
    fits: Node | None = None
    window: list[int] = []
    of_window = iter(widths)
    for d, size in enumerate(operand.sizes):
        width = 1 if d in inserted else next(of_window)
        window.append(width)
        if d not in to_operand:
            starts.append(zero)
            continue
        column = make.number("s32", to_operand.index(d))
        start = make.reshape(make.dynamic_slice(vectors, [turn, column], (1, 1)), ())
        starts.append(start)
        tests = [make.compare(start, zero, "GE")]
        if size - width <= int(highest(indices.type)):
            tests.append(make.compare(start, make.number(indices.type, size - width), "LE"))
        for test in tests:
            fits = test if fits is None else graph.node("and", "pred", (), (fits, test))
    sizes = tuple(window)
    old = make.dynamic_slice(state, starts, sizes)
    row = make.reshape(make.dynamic_slice(rows, [turn, *[none] * len(widths)], (1, *widths)), sizes)
    new = graph.node("map", operand.type, sizes, (old, row), (), node.bodies)
    if fits is not None:
        everywhere = make.made("broadcast", "pred", sizes, [fits], (("dimensions", ()),))
        new = graph.node("select", operand.type, sizes, (everywhere, new, old))
    after = graph.node("dynamic-update-slice", operand.type, operand.sizes, (state, new, *starts))
    holds = make.compare(turn, make.number("s32", count), "LT")
    next_ = graph.node("add", "s32", (), (turn, make.number("s32", 1)))
    shapes = (("s32", ()), (operand.type, operand.sizes))
    key = (level, 1, (0, 1), shapes)
    return graph.node("while", node.type, node.sizes, (none, operand), key, (holds, next_, after))


def may_meet(node: Node) -> bool:
    """Whether two updates of a scatter may reach one element: it has more than one index vector."""
    updates, window_dims = node.operands[2].sizes, node.attributes.integers("update_window_dims")
    return prod(n for d, n in enumerate(updates) if d not in window_dims) > 1


class _Maker:
    """Makes nodes as the reader does."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def made(
        self, head: str, type_: str, sizes: tuple[int, ...], operands: Sequence[Node], pairs: tuple[Any, ...]
    ) -> Node:
        return self.graph.node(head, type_, sizes, operands, pairs, (), Attributes(pairs))

    def number(self, type_: str, value: int) -> Node:
        return self.graph.node("constant", type_, (), (), ("all", bits_of(type_, value)))

    def transpose(self, x: Node, order: list[int]) -> Node:
        if order == list(range(len(x.sizes))):
            return x
        sizes = tuple(x.sizes[d] for d in order)
        return self.made("transpose", x.type, sizes, [x], (("dimensions", tuple(order)),))

    def reshape(self, x: Node, sizes: tuple[int, ...]) -> Node:
        return x if x.sizes == sizes else self.made("reshape", x.type, sizes, [x], ())

    def dynamic_slice(self, x: Node, starts: list[Node], sizes: tuple[int, ...]) -> Node:
        return self.made("dynamic-slice", x.type, sizes, [x, *starts], (("dynamic_slice_sizes", sizes),))

    def compare(self, x: Node, y: Node, direction: str) -> Node:
        return self.graph.node("compare", "pred", (), (x, y), (("direction", direction),))
