"""Elements of operations whose index depends on values: dynamic-slice, dynamic-update-slice, gather.

Trusted. Starts are clamped per dimension to [0, dimension - size], in the index type's signedness.
"""

from __future__ import annotations

from hloproof.elements import movement
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, At, Lin, clamp, constant
from hloproof.equivalence.placing import placed
from hloproof.equivalence.terms import Elem, Term, value_form
from hloproof.models.errors import NotModelled


def start(node: Node, at: At, most: int) -> Lin:
    """The start read from an index tensor, clamped to [0, most]."""
    return ZERO if most == 0 else clamp(value_form(Elem(node, at)), 0, most)


def dynamic_slice(node: Node, at: At) -> Term:
    """The operand at the index plus the clamped start."""
    operand, *starts = node.operands
    places = clamped(starts_of(starts, len(at)), operand.sizes, node.sizes)
    return placed(movement.dynamic_slice(at, places), node.operands)


def clamped(starts: list[Node], sizes: tuple[int, ...], window: tuple[int, ...]) -> list[Lin]:
    return [start(s, (), size - own) for s, size, own in zip(starts, sizes, window, strict=True)]


def starts_of(starts: list[Node], rank: int) -> list[Node]:
    if len(starts) != rank or any(s.sizes for s in starts):
        raise NotModelled("starts given as one tensor")
    return starts


def dynamic_update_slice(node: Node, at: At) -> Term:
    """The update where the index lies in it, from the clamped start on; the operand elsewhere."""
    operand, update, *starts = node.operands
    places = clamped(starts_of(starts, len(at)), operand.sizes, update.sizes)
    return placed(movement.dynamic_update_slice(at, operand.sizes, update.sizes, places), node.operands)


def gather(node: Node, at: At) -> Term:
    """The operand at the clamped start that the index vector of the batch place gives, plus the offset."""
    operand, indices = node.operands
    a = node.attributes
    offset_dims, collapsed = a.integers("offset_dims"), a.integers("collapsed_slice_dims")
    batching = a.integers("operand_batching_dims")
    index_batching = a.integers("start_indices_batching_dims")
    index_map, vector = a.integers("start_index_map"), a.integer("index_vector_dim", len(indices.sizes))
    sizes = a.integers("slice_sizes")
    batch = [x for d, x in enumerate(at) if d not in offset_dims]
    offsets = iter([at[d] for d in sorted(offset_dims)])
    out: list[Lin] = []
    for d, size in enumerate(sizes):
        if d in batching:
            where = index_batching[batching.index(d)]
            place = where - (where > vector)
            x = batch[place]
        else:
            x = ZERO if d in collapsed else next(offsets)
        if d in index_map:
            read = list(batch)
            if vector < len(indices.sizes):
                read.insert(vector, constant(index_map.index(d)))
            x = x + start(indices, tuple(read), operand.sizes[d] - size)
        out.append(x)
    return Elem(operand, tuple(out))
