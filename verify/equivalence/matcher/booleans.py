"""Predicates as functions of atoms: which atoms of the two sides to pair."""

from __future__ import annotations

from typing import Final

from hloproof.equivalence.booleans import TooManyParts, atoms_of
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.matcher.support import term_support
from hloproof.equivalence.rules import booleans
from hloproof.equivalence.terms import App, Fold, Term, type_of

CONNECTIVES: Final = frozenset({"and", "or", "not", "xor", "select"})


def boolean_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Where one side at least is made of several predicates."""
    if not any(_connects(t) for t in (a, b)):
        return None
    found = booleans(search.rules, goal)
    try:
        left, right = found.read(goal.left), found.read(goal.right)
    except TooManyParts:
        return None
    mine, theirs = set(atoms_of(left)), set(atoms_of(right))
    pairs: list[list[int]] = []
    free = sorted(mine - theirs)
    for j in sorted(theirs - mine):
        for i in free:
            first, second = found.atoms[i], found.atoms[j]
            if type_of(first) != type_of(second) or _shape(first) != _shape(second):
                continue
            if term_support(search, first) != term_support(search, second):
                continue
            pair = goal.about(first, second)
            if search.fingerprints.differ(pair):
                continue
            shown = yield pair
            if shown is not None:
                pairs.append([i, j])
                break
        else:
            if len(mine) == len(theirs):
                return None
    return (yield from search.step(goal, ["boolean", pairs]))


def decided(search: Search, goal: Goal, predicate: Term) -> bool:
    """Whether a predicate that is made of others is always true, or always false."""
    found = booleans(search.rules, goal)
    try:
        expression = found.read(predicate)
        return not isinstance(expression, int) and any(found.equal(expression, truth) for truth in (True, False))
    except TooManyParts:
        return False


def _connects(term: Term) -> bool:
    if isinstance(term, Fold):
        return term.type == "pred"
    return isinstance(term, App) and term.type == "pred" and term.op in CONNECTIVES


def _shape(term: Term) -> object:
    return (term.op, term.key) if isinstance(term, App) else type(term)
