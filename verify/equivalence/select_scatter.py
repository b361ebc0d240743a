"""Select-and-scatter as a scatter to the elements that windows select.

Trusted. Each window is folded in row-major order, every element together with its index vector; the element that has
been selected so far stays while `select` says so of it and the next. Padding comes with an index vector of -1, loses
against all elements, and where it is left nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hloproof.equivalence.graph import Graph, Node, applies_functions
from hloproof.equivalence.literals import bits_of
from hloproof.models.hlo.attributes import Attributes, Window


def as_scatter(graph: Graph, node: Node) -> Node | None:
    """The scatter whose result is that of a select-and-scatter; None where its parts are not understood."""
    if node.head != "select-and-scatter" or len(node.operands) != 3 or len(node.bodies) != 2:
        return None
    operand, source, initial = node.operands
    scatter, select = node.bodies  # in the order of the attributes' names
    window = node.attributes.get("window")
    rank = len(operand.sizes)
    if not isinstance(window, Window) or len(window.dimensions) != rank or not rank:
        return None
    if (
        applies_functions(select)
        or len(source.sizes) != rank
        or initial.sizes
        or 0 in operand.sizes
        or 0 in source.sizes
    ):
        return None
    if {source.type, initial.type, node.type} != {operand.type} or node.sizes != operand.sizes:
        return None

    def made(
        head: str, type_: str, sizes: tuple[int, ...], operands: Sequence[Node], pairs: Any, more: Any = ()
    ) -> Node:
        return graph.node(head, type_, sizes, operands, pairs, more, Attributes(pairs))

    counted = [made("iota", "s32", operand.sizes, (), (("iota_dimension", d),)) for d in range(rank)]
    nowhere = graph.node("constant", "s32", (), (), ("all", bits_of("s32", -1)))
    chosen = made(
        "reduce-window",
        "tuple",
        (),
        [operand, *counted, initial, *[nowhere] * rank],
        (("in_order", True), ("window", window)),
        _kept(graph, operand.type, rank, select),
    )
    where = [
        made("reshape", "s32", (*source.sizes, 1), [graph.node("output", "s32", source.sizes, (chosen,), (1 + d,))], ())
        for d in range(rank)
    ]
    indices = made("concatenate", "s32", (*source.sizes, rank), where, (("dimensions", (rank,)),))
    everywhere = made("broadcast", operand.type, operand.sizes, [initial], (("dimensions", ()),))
    dimensions = tuple(range(rank))
    pairs = (
        ("index_vector_dim", rank),
        ("inserted_window_dims", dimensions),
        ("scatter_dims_to_operand_dims", dimensions),
        ("update_window_dims", ()),
    )
    return made("scatter", node.type, node.sizes, [everywhere, indices, source], pairs, (scatter,))


def _kept(graph: Graph, type_: str, rank: int, select: Node) -> tuple[Node, ...]:
    """The function of the fold over (value, index vector): the left pair where it is an element and either is selected
    or stands against padding."""

    def argument(number: int, of: str) -> Node:
        return graph.node("bound", of, (), (), ("argument", number, ()))

    types = [type_, *["s32"] * rank]
    left = [argument(k, t) for k, t in enumerate(types)]
    right = [argument(1 + rank + k, t) for k, t in enumerate(types)]
    before = {argument(k, type_): v for k, v in ((0, left[0]), (1, right[0]))}
    (selected,) = graph.replaced([select], before)
    nowhere = graph.node("constant", "s32", (), (), ("all", bits_of("s32", -1)))
    is_element, next_is = (
        graph.node("compare", "pred", (), (x[1], nowhere), (("direction", "NE"),)) for x in (left, right)
    )
    both = graph.node("and", "pred", (), (selected, is_element))
    stays = graph.node("or", "pred", (), (both, graph.node("not", "pred", (), (next_is,))))
    return tuple(graph.node("select", t, (), (stays, a, b)) for t, a, b in zip(types, left, right, strict=True))
