"""Where a fold's box is worth cutting."""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.indices import Lin, Var
from hloproof.equivalence.kernel import ProofStep
from hloproof.equivalence.matcher.search import Search
from hloproof.equivalence.terms import App, Cond, Fold, Term

DEEPEST = 3
"""Operations between a fold and a condition."""


def cuts(search: Search, goal: Goal, side: int, fold: Fold) -> Iterator[ProofStep]:
    """Steps that cut the box where a condition in the body changes with one variable of it."""
    own = range(fold.place, fold.place + len(fold.sizes))
    for body in fold.bodies:
        for test in _tests(search, goal, body, DEEPEST):
            if len(test.terms) != 1:
                continue
            ((atom, c),) = test.terms.items()
            if not isinstance(atom, Var) or atom.place not in own:
                continue
            # c * v + constant >= 0 changes at this value of v.
            at = -(test.constant // c) if c > 0 else test.constant // -c + 1
            if 0 < at < atom.size:
                yield ["cut", side, atom.place - fold.place, at]
                return


def _tests(search: Search, goal: Goal, term: Term, depth: int) -> Iterator[Lin]:
    head = search.rules.terms.settle(term, goal.facts)
    if isinstance(head, Cond):
        yield head.test
        yield from _tests(search, goal, head.then, depth)
        yield from _tests(search, goal, head.other, depth)
        return
    opened = search.rules.terms.opened(head, goal.next + 100)
    if isinstance(opened, App) and depth:
        for a in opened.args:
            yield from _tests(search, goal, a, depth - 1)
