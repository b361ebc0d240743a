"""Loops: which states to pair, and turns taken one by one."""

from __future__ import annotations

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.rules import loop_name
from hloproof.equivalence.terms import Elem, Term

MOST_TURNS = 64


def loop_proof(search: Search, goal: Goal, a: Elem, b: Elem) -> Asking:
    """Begins with the results paired; a goal that ends at two states pairs them, and all starts again."""
    first: tuple[int, int] = (a.node.key[1], b.node.key[1])
    if a.node.key[1:] == b.node.key[1:]:
        found = yield from search.step(goal, ["loop", [[k, k] for k in a.node.key[2]]])
        if found is not None:
            return found
    pairs = [first]
    before = len(search.dead_ends)
    for _ in range(len(a.node.operands) + len(b.node.operands)):
        name = loop_name(a.node, b.node, [list(p) for p in pairs])
        del search.dead_ends[before:]
        found = yield from search.step(goal, ["loop", [list(p) for p in pairs]])
        if found is not None:
            return found
        new: list[tuple[int, int]] = []
        for end in search.dead_ends[before:]:
            left, right = search.rules.heads(end)
            if isinstance(left, Elem) and isinstance(right, Elem) and left.node.head == right.node.head == "free":
                i, j = _state(left, name, 0), _state(right, name, 1)
                if i is not None and j is not None and (i, j) not in pairs and left.at == right.at:
                    new.append((i, j))
                    break
        if not new:
            return None
        pairs += new
    return None


def selected_proof(search: Search, goal: Goal, left: Term, right: Term) -> Asking:
    """A select-and-scatter against something else."""
    kinds = [isinstance(h, Elem) and h.node.head == "select-and-scatter" for h in (left, right)]
    if kinds[0] == kinds[1]:
        return None
    return (yield from search.step(goal, ["selected", 0 if kinds[0] else 1]))


def _state(element: Elem, name: object, side: int) -> int | None:
    """The first state of this side that the value stands for."""
    key = element.node.key
    if isinstance(key, tuple) and len(key) == 3 and key[0] == "loop" and key[1] == name:
        return next((k for s, k in key[2] if s == side), None)
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
