"""The matcher: looks for proofs, and is not trusted; nothing outside this folder but `decide` imports it."""

from __future__ import annotations

from time import perf_counter

from hloproof.equivalence.answer import Mismatch, Place
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import ProofStep, Rules
from hloproof.equivalence.matcher.proof import Proof, written
from hloproof.equivalence.matcher.samples import Samples
from hloproof.equivalence.matcher.search import Aside, BudgetSpent, Search
from hloproof.equivalence.matcher.strategies import strategy
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term

PLAIN_SECONDS, PLAIN_SHARE, PLAIN_AGAIN = 0.1, 0.0005, 0.25
"""How long plain searches go on: so much processor time, and so much for each node; of what is left this part is kept
after a goal for which they did not do, as the others will mostly be like it."""
LED_SHARE = 0.75
"""The part of the time that searches led by numbers may use up."""


def find_proof(
    rules: Rules, goals: list[Goal], deadline: float, aside: Aside | None = None
) -> tuple[list[ProofStep] | None, Mismatch | None, str]:
    """The steps that prove all goals; else None, the first pair of terms that does not match, and why.

    Each goal is tried plainly first, then where numbers lead, which is quick, and then, as these are too strict now and
    then, without. Each search begins with what the one before has proved.
    """
    now = perf_counter()
    plain = Search(rules, strategy, deadline, plain=True, aside=aside)
    plain.processor_seconds = PLAIN_SECONDS + PLAIN_SHARE * len(rules.graph.nodes)
    led = Search(rules, strategy, now + LED_SHARE * (deadline - now), aside=aside, samples=Samples())
    free = Search(rules, strategy, deadline, aside=aside)
    alike = same_loops(rules)
    proofs: list[Proof] = []
    for goal in goals:
        found = where = None
        for search, former in ((plain, None), (led, plain), (free, led)) if alike else ((plain, None), (free, plain)):
            if former is not None:
                search.learn(former)
            try:
                found = search.prove(goal)
            except BudgetSpent:
                if search is free:
                    return None, where or mismatch(search, goal), "out of time"
            if found is not None:
                proofs.append(found)
                break
            if search is not plain:
                where = mismatch(search, goal)
            elif search.processor_seconds is not None:
                search.processor_seconds *= PLAIN_AGAIN
        if found is None:
            assert where is not None
            return None, where, where.said
    return written(proofs), None, ""


def same_loops(rules: Rules) -> bool:
    """Whether both modules have as many loops: of one that was unrolled or made, a number says nothing."""
    loops = [n for n in rules.graph.nodes.values() if n.head == "while"]
    return sum(n.places[0] is not None for n in loops) == sum(n.places[1] is not None for n in loops)


def mismatch(search: Search, goal: Goal) -> Mismatch:
    """The first dead end below the goal."""
    end = search.dead_ends[0] if search.dead_ends else goal
    left, right = search.rules.heads(end)
    return Mismatch(place(left, 0), place(right, 1), f"no known identity leads from {said(left)} to {said(right)}")


def place(term: Term, side: int) -> Place | None:
    """Where a term stands in the module of a side, 0 or 1, or else in the other; None where it is no element of a
    tensor."""
    return term.node.places[side] or term.node.places[1 - side] if isinstance(term, Elem) else None


def said(term: Term) -> str:
    """A term in a few words, by its outermost operation."""
    match term:
        case Elem(node, _):
            return f"{node.head} {node.type}{list(node.sizes)}"
        case App(op=op):
            return op
        case Cond(_, then, other):
            return f"a case of {said(then)} and {said(other)}"
        case Fold(head=head):
            return f"a fold {head[0] if isinstance(head, tuple) else head}"
        case _:
            return "a number"
