"""Loops: which states to pair, and turns taken one by one."""

from __future__ import annotations

from hloproof.equivalence.bits_read import functions_look_at
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node
from hloproof.equivalence.loop_states import FreeState
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.scalars import allowed
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.rules_loops import turns_around
from hloproof.equivalence.rules_polynomials import seen
from hloproof.equivalence.terms import Elem, Term

MOST_TURNS = 64


def loop_proof(search: Search, goal: Goal, a: Elem, b: Elem) -> Asking:
    """Begins with the results paired; a goal that ends at two states pairs them, and all starts again."""
    first: tuple[int, int] = (a.node.key[1], b.node.key[1])
    if a.node.key[1:] == b.node.key[1:]:
        found = yield from _by(search, goal, a, b, [[k, k] for k in a.node.key[2]])
        if found is not None:
            return found
    pairs = [first]
    before, known = len(search.dead_ends), len(search.apart)
    depth = turns_around(search.rules, (a.node, b.node))
    for _ in range(len(a.node.operands) + len(b.node.operands)):
        del search.dead_ends[before:], search.apart[known:]
        found = yield from _by(search, goal, a, b, [list(p) for p in pairs])
        if found is not None:
            return found
        for left, right in search.apart[known:]:
            i, j = _state(left, depth, a.node, 0), _state(right, depth, b.node, 1)
            if i is not None and j is not None and (i, j) not in pairs:
                pairs.append((i, j))
                break
        else:
            return None
    return None


def _by(search: Search, goal: Goal, a: Elem, b: Elem, pairs: list[list[int]]) -> Asking:
    """Two loops by the states that are equal, both zeros for one where nothing else helps and an order is looked at."""
    found: Proof | None = yield from search.step(goal, ["loop", pairs])
    if found is None and allowed(search, goal, "real"):
        looks = functions_look_at(a.node.bodies, lambda x: seen(search.rules, goal, x))
        if looks:
            found = yield from search.step(goal, ["loop", pairs, True])
    return found


def selected_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """A select-and-scatter against something else."""
    kinds = [isinstance(h, Elem) and h.node.head == "select-and-scatter" for h in (left, right)]
    if kinds[0] == kinds[1]:
        return None
    return (yield from search.step(goal, ["selected", 0 if kinds[0] else 1]))


def _state(element: Elem, depth: int, loop: Node, side: int) -> int | None:
    """The first state of this side of the loop that the free state stands for; None where it belongs to another."""
    key = element.node.key
    if isinstance(key, FreeState) and key.depth == depth:
        return next((k for s, k in key.members if s == side and k in loop.key[2]), None)
    return None


def turned_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """A loop against something else: the loop takes its turns."""
    loops = [isinstance(h, Elem) and h.node.head == "while" for h in (left, right)]
    if loops[0] == loops[1]:
        return None
    side = 0 if loops[0] else 1
    other = (right, left)[side]
    if isinstance(other, Elem) and other.node.head == "scatter":
        return (yield from search.step(goal, ["looped", 1 - side]))
    for name in ("turn", "stop"):
        found: Proof | None = yield from search.step(goal, [name, side])
        if found is not None:
            return found
    return None
