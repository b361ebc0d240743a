"""Loops that a proof does not compare with others: it says nothing of their end, which is asked for here.

Trusted. A result of a loop that no turn changes is what the loop was given, and a result that nobody uses is none at
all; others may be used where they do not matter. A loop of the module after that nobody compares ends where the module
before has the same loop, or where it can be followed to its last turn; of any other a proof takes for granted that it
ends, and says so. How many turns a text says that a loop takes is a promise of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final

from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Terms
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.kernel import Denied
from hloproof.equivalence.terms import Elem

TAKEN_FOR_GRANTED: Final = "assumed: a loop ends"
COUNTED: Final = "known_trip_count"

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
    states: tuple[tuple[str, str], ...] = ()
    """What the text says of its states: where one begins and by how much it grows."""


def may_not_end(graph: Graph, before: Iterable[Ending], after: Iterable[Ending]) -> tuple[Ending, ...]:
    """The loops of the module after that the module before does not have, and that nobody can follow to their last
    turn."""
    known = {e.decides for e in before}
    return tuple(e for e in after if e.decides not in known and _turns_of(graph, e.decides) is None)


def is_taken_for_granted(loops: Iterable[Ending], compared: Set[Node]) -> bool:
    """Whether one of the loops may not end, as far as is known, and a proof that `compared` these did not look at it: a
    result that is used may be multiplied by 0, or lie where nobody reads."""
    return any(compared.isdisjoint(e.results) for e in loops)


def promised_by_text(graph: Graph, before: Iterable[Ending], after: Iterable[Ending]) -> frozenset[str]:
    """What the module after says of a loop and its turns, the module before does not say of the same loop, and nobody
    counts here. Raises Denied where a loop can be followed to its last turn, and takes another number of them."""
    before = tuple(before)
    counted = {(e.decides, e.stated) for e in before}
    known = {(e.decides, said) for e in before for said in e.states}
    told: set[str] = set()
    for e in after:
        told.update(name for name, value in e.states if (e.decides, (name, value)) not in known)
        if e.stated is None or (e.decides, e.stated) in counted:
            continue
        turns = _turns_of(graph, e.decides)
        if turns is not None and turns != e.stated:
            raise Denied(f"a loop is said to take {e.stated} turns, and takes {turns}")
        if turns is None:
            told.add(COUNTED)
    return frozenset(told)


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
