"""Elements of scatter: the operand's element, combined with every update whose window puts it there.

Trusted. Windows are not clamped: one that does not fit is dropped whole. Where updates meet, their order is not
specified; so a fold over the box of the updates, in which an update that goes elsewhere is `NOTHING`.
"""

from __future__ import annotations

from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, At, Lin, constant, variable
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, value_form

NOTHING: Final = "nothing"


def scatter(node: Node, at: At, place: int) -> Term | None:
    """The element of the operand combined with the updates that land on it; None with several operands."""
    if len(node.operands) != 3:
        return None
    operand, indices, updates = node.operands
    a = node.attributes
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
        target = start + of[window[d]] if d in window else start
        tests += [target - at[d], at[d] - target]
        if width > 1:
            tests += [start, constant(size - width) - start]
    for test in reversed(tests):
        term = Cond(test, term, nothing)
    return Fold(("scatter", node.bodies, 0), node.type, place, updates.sizes, (term,), (Elem(operand, at),))
