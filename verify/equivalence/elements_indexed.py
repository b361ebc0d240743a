"""Elements of operations whose index depends on values: dynamic-slice, dynamic-update-slice, gather, scatter.

Trusted. Starts are clamped per dimension to [0, dimension - size], in the index type's signedness; only the windows of
a scatter are not: one that does not fit is dropped whole. Where its updates meet, their order is not specified; so its
element is the operand's, combined by a fold over the box of the updates with each whose window puts it there, in which
an update that goes elsewhere is `NOTHING`.
"""

from __future__ import annotations

from typing import Final

from hloproof.elements import movement
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, At, Lin, clamp, constant, variable
from hloproof.equivalence.placing import placed
from hloproof.equivalence.starts_without_sign import may_be_negative
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, value_form
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.gathered import require_slices
from hloproof.models.interpreter.semantics.element_type import highest


def start(node: Node, at: At, most: int) -> Lin:
    """The start read from an index tensor, clamped to [0, most]."""
    return ZERO if most == 0 else clamp(value_form(Elem(node, at)), 0, most)


def dynamic_slice(node: Node, at: At) -> Term:
    """The operand at the index plus the clamped start."""
    operand, *starts = node.operands
    places = clamped(starts_of(starts, len(at)), operand.sizes, node.sizes)
    return placed(movement.dynamic_slice(at, places), node.operands)


def clamped(starts: list[Node], sizes: tuple[int, ...], window: tuple[int, ...]) -> list[Lin]:
    """Where a window starts in each dimension: cut to [0, size - window], so that it lies inside."""
    return [start(s, (), size - own) for s, size, own in zip(starts, sizes, window, strict=True)]


def starts_of(starts: list[Node], rank: int) -> list[Node]:
    """The starts, one scalar for each of `rank` dimensions. Raises NotModelled for the older form, one tensor of
    them, and for constants of which XLA reads one thing when it runs and another when it folds."""
    if len(starts) != rank or any(s.sizes for s in starts):
        raise NotModelled("starts given as one tensor")
    for s in starts:
        require_one_reading(s)
    return starts


def require_one_reading(start: Node) -> None:
    """Raises NotModelled for starts, or a tensor of them, which XLA takes for other ones where it folds."""
    if may_be_negative(start):
        raise NotModelled("a constant start without a sign, which may be read as a negative one")


def require_room(start: Node, size: int, width: int) -> None:
    """Raises NotModelled where the type of the start does not hold the last place of an update: XLA computes it in that
    type, and writes elsewhere."""
    if size - width > int(highest(start.type)):
        raise NotModelled(f"a start of {start.type} where updates may begin at {size - width}")


def dynamic_update_slice(node: Node, at: At) -> Term:
    """The update where the index lies in it, from the clamped start on; the operand elsewhere."""
    operand, update, *starts = node.operands
    places = clamped(starts_of(starts, len(at)), operand.sizes, update.sizes)
    for s, size, own in zip(starts, operand.sizes, update.sizes, strict=True):
        require_room(s, size, own)
    return placed(movement.dynamic_update_slice(at, operand.sizes, update.sizes, places), node.operands)


def gather(node: Node, at: At) -> Term:
    """The operand at the clamped start that the index vector of the batch place gives, plus the offset."""
    operand, indices = node.operands
    a = node.attributes
    require_slices(a, node.sizes)
    require_one_reading(indices)
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


NOTHING: Final = "nothing"


def scatter(node: Node, at: At, place: int) -> Term | None:
    """The element of the operand combined with the updates that land on it; None with several operands."""
    if len(node.operands) != 3:
        return None
    operand, indices, updates = node.operands
    a = node.attributes
    require_one_reading(indices)
    window_dims, inserted = a.integers("update_window_dims"), a.integers("inserted_window_dims")
    batching, index_batching = a.integers("input_batching_dims"), a.integers("scatter_indices_batching_dims")
    to_operand, vector = a.integers("scatter_dims_to_operand_dims"), a.integer("index_vector_dim", len(indices.sizes))
    of = tuple(variable(place + k, n) for k, n in enumerate(updates.sizes))
    batch = [x for d, x in enumerate(of) if d not in window_dims]
    kept = [d for d in range(len(operand.sizes)) if d not in inserted and d not in batching]
    window = dict(zip(kept, sorted(window_dims), strict=True))
    others = [d for d in range(len(indices.sizes)) if d != vector]
    term: Term = Elem(updates, of)
    nothing = App(NOTHING, node.type, ())
    tests: list[Lin] = []
    for d, size in enumerate(operand.sizes):
        start = ZERO
        if d in to_operand:
            read = list(batch)
            if vector < len(indices.sizes):
                read.insert(vector, constant(to_operand.index(d)))
            start = value_form(Elem(indices, tuple(read)))
        elif d in batching:
            start = batch[others.index(index_batching[batching.index(d)])]
        width = updates.sizes[window[d]] if d in window else 1
        if d in to_operand:
            require_room(indices, size, width)
        target = start + of[window[d]] if d in window else start
        tests += [target - at[d], at[d] - target]
        if width > 1:
            tests += [start, constant(size - width) - start]
    for test in reversed(tests):
        term = Cond(test, term, nothing)
    return Fold(("scatter", node.bodies, 0), node.type, place, updates.sizes, (term,), (Elem(operand, at),))
