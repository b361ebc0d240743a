"""Which steps are tried on a goal, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hloproof.equivalence.bits_read import looks_at, node_looks_at, ordered_floats
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import Var
from hloproof.equivalence.kernel import ProofStep
from hloproof.equivalence.matcher.bijections import candidates, pins
from hloproof.equivalence.matcher.booleans import boolean_proof, decided
from hloproof.equivalence.matcher.loops import loop_proof, selected_proof, turned_proof
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.scalars import (
    SIMPLIFYING,
    applicable,
    expanded,
    fold_proof,
    positions_proof,
    ring_proof,
    rounded,
    simplified,
)
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.matcher.support import term_support
from hloproof.equivalence.reductions import COMMUTATIVE
from hloproof.equivalence.rules import LARGEST_ENUMERATION, general, values_of
from hloproof.equivalence.rules_polynomials import seen
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, is_static, type_of, variables_of

LARGEST_TABLE = 64
"""Rows that are looked at one by one."""


def strategy(search: Search, goal: Goal) -> Asking:
    """What is tried on a goal: goals to be shown on the way are yielded, the proof is returned, or None."""
    rules = search.rules
    left, right = rules.heads(goal)
    if left == right:
        return Proof(["same"])
    # Before anything is tried: most goals that are asked for on the way are not equal, and numbers say so at once.
    # Unless the facts contradict each other, which numbers do not see.
    if search.hopeless(goal.about(left, right)):
        if goal.facts:
            return (yield from search.step(goal, ["absurd"]))
        search.ended(goal, left, right)
        return None
    renamed = yield from values_proof(search, goal, left, right)
    if renamed is not None:
        return renamed
    for side, head in ((0, left), (1, right)):
        if isinstance(head, Cond):
            looked_up = yield from table_proof(search, goal, head)
            return looked_up or (yield from search.step(goal, ["split", side]))
    # At all indices instead of these: proved once, the general goal answers for every element that is asked for later.
    wider = general(rules, goal)
    if wider is not None and (wider.left, wider.right) != (goal.left, goal.right):
        found = yield wider
        if found is not None:
            return Proof([], (found,), wider)
        # The goal was as general as the other: what failed there fails here.
        if not goal.facts and not _special(left) and not _special(right):
            return None
    if (
        isinstance(left, Elem)
        and isinstance(right, Elem)
        and left.node.head == right.node.head in ("scatter", "output")
    ):
        found = yield from whole_proof(search, goal, left.node)
        if found is not None:
            return found
    a, b = rules.opened(goal)
    if isinstance(a, App) or isinstance(b, App):
        a, b = (seen(rules, goal, t) if isinstance(t, App) else t for t in (a, b))
        for side, head in ((0, a), (1, b)):
            if isinstance(head, Cond):
                return (yield from search.step(goal, ["split", side]))
        found = yield from simplified(search, goal, a, b)
        if found is not None:
            return found
    found = yield from boolean_proof(search, goal, a, b)
    if found is not None:
        return found
    if isinstance(a, App) and isinstance(b, App) and a.op == b.op:
        found = yield from search.first_of(goal, _orders(search, goal, a, b))
    elif isinstance(a, Fold) and isinstance(b, Fold):
        found = yield from search.first_of(goal, candidates(search, goal, a, b))
        if found is None and not search.plain:
            found = yield from search.first_of(goal, pins(search, goal, a, b))
    elif isinstance(a, Elem) and isinstance(b, Elem) and a.at == b.at and a.node is not b.node:
        if a.node.head == b.node.head == "while":
            found = yield from loop_proof(search, goal, a, b)
        elif a.node.head == b.node.head:
            found = yield from whole_proof(search, goal, a.node)
    if found is None and not search.plain:
        found = yield from library_proof(search, goal, left, right)
    for more in MORE[:1] if search.plain else MORE:
        if found is None:
            found = yield from more(search, goal, a, b)
    if found is None and not search.plain:
        found = yield from selected_proof(search, goal, left, right)
    if found is None and not search.plain:
        found = yield from turned_proof(search, goal, left, right)
    if found is None:
        found = yield from counted_proof(search, goal, left, right)
    for head in (left, right):
        if found is None:
            found = yield from table_proof(search, goal, head)
    if found is None:
        search.ended(goal, left, right)
    return found


def _special(term: Term) -> bool:
    """Whether the element is read at less than all indices, so that it may have a proof of its own."""
    return isinstance(term, Elem) and any(
        x.constant or [(isinstance(a, Var) and a.size == n, c) for a, c in x.terms.items()] != [(True, 1)]
        for x, n in zip(term.at, term.node.sizes, strict=True)
        if n > 1
    )


def engine_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Indices that are equal under the facts, and facts that cannot hold."""
    if isinstance(a, Elem) and isinstance(b, Elem):
        if a.node is b.node:
            found = yield from search.step(goal, ["indices"])
            if found is not None:
                return found
        elif a.at != b.at and a.node.sizes == b.node.sizes and a.node.head == b.node.head and goal.facts:
            found = yield from search.step(goal, ["aligned"])
            if found is not None:
                return found
    alike = isinstance(a, Fold | App) and type(a) is type(b) and getattr(a, "op", "") == getattr(b, "op", "")
    if goal.facts and not alike:
        return (yield from search.step(goal, ["absurd"]))
    return None


def whole_proof(search: Search, goal: Goal, node: Node) -> Asking:
    """Equal operations on equal tensors."""
    while node.head == "output":
        (node,) = node.operands
    ordered = node_looks_at(node, lambda x: seen(search.rules, goal, x)) == "order"
    steps: list[ProofStep] = [["whole"], ["whole", True]] if ordered else [["whole"]]
    return (yield from search.first_of(goal, iter(steps)))


def library_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """Calls of libraries by their meaning."""
    for side, head in ((0, left), (1, right)):
        if isinstance(head, Elem) and head.node.head == "output":
            found: Proof | None = yield from search.step(goal, ["library", side])
            if found is not None:
                return found
    return None


def decidable(search: Search, goal: Goal, predicate: Term) -> bool:
    """Whether a predicate may always hold or fail: it depends on no input, or an identity applies to it."""
    if not term_support(search, predicate):
        return True
    head = seen(search.rules, goal, predicate)
    names = SIMPLIFYING.get(head.op, []) if isinstance(head, App) else []
    return next(applicable(search, goal, head, names), None) is not None or decided(search, goal, predicate)


def chosen_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """A choice whose predicate always holds, or never."""
    for side, head in ((0, a), (1, b)):
        if isinstance(head, App) and head.op == "select" and decidable(search, goal, head.args[0]):
            for truth in (True, False):
                found: Proof | None = yield from search.step(goal, ["chosen", side, truth])
                if found is not None:
                    return found
    return None


def _orders(search: Search, goal: Goal, a: App, b: App) -> Iterator[ProofStep]:
    by_bits = looks_at(a.op, a.type, [type_of(x) for x in a.args], a.key) == "order"
    commutes = len(a.args) == 2 and (a.op in COMMUTATIVE or a.op == "compare")
    if not commutes:
        yield from (["arguments"], ["arguments", False, True]) if by_bits else (["arguments"],)
        return
    mine, theirs = ([term_support(search, x) for x in t.args] for t in (a, b))
    # What depends on the same inputs is tried first; a wrong pair may cost a whole search.
    crossed = mine == theirs[::-1] and mine != theirs
    orders: list[ProofStep] = [["arguments", True], ["arguments"]] if crossed else [["arguments"], ["arguments", True]]
    yield from orders
    if by_bits or ordered_floats(a, lambda x: seen(search.rules, goal, x)):
        yield from (["arguments", len(step) > 1, True] for step in orders)


def values_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """Renames values on the right that are equal to values on the left."""
    if isinstance(left, App | Fold) or isinstance(right, App | Fold):
        return None
    ours, theirs = values_of(left), values_of(right)
    pairs: list[list[int]] = []
    for j, b in enumerate(theirs):
        if b in ours:
            continue
        for i, a in enumerate(ours):
            if a in theirs:
                continue
            found = yield goal.about(a, b)
            if found is not None:
                pairs.append([i, j])
                break
    return (yield from search.step(goal, ["values", pairs])) if pairs else None


def table_proof(search: Search, goal: Goal, head: Term) -> Asking:
    """Indices and cases that follow from a table of constants: each row by itself."""
    static = [v for v in values_of(head) if is_static(v)]
    found = sorted({x for v in static for x in variables_of(v)}, key=lambda v: v.size)
    if not found or found[0].size > LARGEST_TABLE:
        return None
    return (yield from search.step(goal, ["enumerate", found[0].place]))


def counted_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """Constants and counted numbers that no form expresses: each index by itself."""
    heads = (left, right)
    if not all(isinstance(h, Num | Lit) or (isinstance(h, Elem) and h.node.static) or _static_app(h) for h in heads):
        return None
    found = sorted(variables_of(left) | variables_of(right), key=lambda v: v.size)
    if not found or found[0].size > LARGEST_ENUMERATION:
        return None
    return (yield from search.step(goal, ["enumerate", found[0].place]))


def _static_app(term: Term) -> bool:
    return isinstance(term, App) and is_static(term)


MORE: Final = (engine_proof, expanded, chosen_proof, positions_proof, fold_proof, ring_proof, rounded)
"""Tried in this order; in plain searches only the first."""
