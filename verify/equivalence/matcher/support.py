"""Which inputs a term depends on: a cheap hint at what to pair with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hloproof.equivalence.graph import Node, operands_first
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term

if TYPE_CHECKING:
    from hloproof.equivalence.matcher.search import Search


def node_support(search: Search, root: Node) -> int:
    """A bit for each leaf below the node."""
    known = search.supports
    for node in operands_first(root, known):
        bits = 0
        for o in node.operands:
            bits |= known[o]
        if not node.operands and not node.static:
            bits = 1 << (node.serial % 4093)
        known[node] = bits
    return known[root]


def term_support(search: Search, term: Term) -> int:
    """A bit for each leaf that the term may read, as `node_support` gives them."""
    out, stack = 0, [search.rules.terms.settle(term, ())]
    while stack:
        match stack.pop():
            case Elem(node, _):
                out |= node_support(search, node)
            case App(args=args):
                stack.extend(args)
            case Cond(_, then, other):
                stack += [then, other]
            case Fold(bodies=bodies):
                stack.extend(bodies)
    return out
