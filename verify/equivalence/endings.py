"""Loops of which nothing is left but that they end: nobody compares them, so that their end is asked for here.

Trusted. A result of a loop that no turn changes is what the loop was given, and a result that nobody uses is none at
all. A loop of the module after of which only such are left ends where the module before has the same loop, or where it
can be followed to its last turn; of any other a proof takes for granted that it ends, and says so. How many turns a
text says that a loop takes is a promise of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Terms
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.kernel import Denied
from hloproof.equivalence.terms import Elem

TAKEN_FOR_GRANTED: Final = "assumed: a loop ends"
COUNTED: Final = "promised: known_trip_count of while"

_TURNS: Final = 100
"""As many turns are followed."""


@dataclass(frozen=True)
class Ending:
    """A loop: `decides` is the condition with the states that it depends on, as a node that nobody computes; `results`
    are those that turns may change."""

    decides: Node
    results: tuple[Node, ...]
    stated: int | None = None
    """How many turns the text says that it takes, which whoever runs it may take without asking the condition."""


def taken_for_granted(graph: Graph, before: Iterable[Ending], after: Iterable[Ending], roots: Iterable[Node]) -> bool:
    """Whether a loop of the module after may not end, as far as is known, and no proof about `roots`, all that this
    module gives and does, has to look at it."""
    known = {e.decides for e in before}
    new = [e for e in after if e.decides not in known]
    if not new:
        return False
    seen, stack = set(roots), [*roots]
    while stack:
        node = stack.pop()
        below = [o for o in (*node.operands, *node.bodies) if o not in seen]
        seen.update(below)
        stack += below
    return any(seen.isdisjoint(e.results) and _turns_of(graph, e.decides) is None for e in new)


def counted_by_text(graph: Graph, before: Iterable[Ending], after: Iterable[Ending]) -> bool:
    """Whether the module after says of a loop how many turns it takes, the module before does not say so of the same
    loop, and it cannot be followed to its last turn. Raises Denied where it can, and takes another number of them."""
    known = {(e.decides, e.stated) for e in before}
    told = False
    for e in after:
        if e.stated is None or (e.decides, e.stated) in known:
            continue
        turns = _turns_of(graph, e.decides)
        if turns is not None and turns != e.stated:
            raise Denied(f"a loop is said to take {e.stated} turns, and takes {turns}")
        told = told or turns is None
    return told


def _turns_of(graph: Graph, decides: Node) -> int | None:
    """The number of turns of a loop that can be followed to its last one."""
    level, states = decides.key
    bound = [
        graph.node("bound", o.type, o.sizes, (), ("state", level, k))
        for k, o in zip(states, decides.operands, strict=True)
    ]
    now = list(decides.operands)
    terms = Terms()
    for turns in range(_TURNS):
        holds, *now = graph.replaced(decides.bodies, dict(zip(bound, now, strict=True)))
        answer = terms.settle(Elem(holds, ()), ())
        if answer != TRUE:
            return turns if answer == FALSE else None
    return None
