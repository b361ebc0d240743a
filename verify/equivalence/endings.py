"""Loops that a proof does not compare with others: it says nothing of their end, which is asked for here.

Trusted. A result of a loop that no turn changes is what the loop was given, and a result that nobody uses is none at
all; others may be used where they do not matter. A loop of the module after that nobody compares ends where the module
before runs the same loop, or where it can be followed to its last turn; of any other a proof takes for granted that it
ends, and says so. How many turns a text says that a loop takes is a promise of the same kind.

A loop is the same only with all that stands around it: in the turns of another loop, or in a branch, it may be given
something else, or not be run at all.

That a loop ends is seen, though nobody reads what it gives: what is stated of what decides on it matters to that loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Terms
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.kernel import Denied
from hloproof.equivalence.statements import Branch, Statements
from hloproof.equivalence.terms import Elem

TAKEN_FOR_GRANTED: Final = "assumed: a loop ends"
_TURNS: Final = 100
"""As many turns are followed."""


class LoopTurns(NamedTuple):
    """The turns of a loop, with those of its states that matter."""

    level: int
    states: tuple[int, ...]
    begins: tuple[Node, ...]
    """What the states are at first."""
    bodies: tuple[Node, ...]
    """The condition, and the states after a turn."""

    def node(self, graph: Graph, inside: Sequence[Node] = (), *more: object) -> Node:
        """A node that nobody computes, and that is the same where the turns are, and what is `inside` of them."""
        return graph.node("ending", "pred", (), self.begins, (self.level, self.states, *more), (*self.bodies, *inside))


@dataclass(frozen=True)
class Ending:
    """A loop: `decides` is the condition with the states that it depends on, as a node that nobody computes; `results`
    are those that turns may change."""

    decides: Node
    results: tuple[Node, ...]
    whole: Node
    """`decides` in all that runs it several times: turns of loops around it, operations that apply a function."""
    branches: frozenset[Branch] = frozenset()
    """Those that it stands in with all loops around it; what chooses one in their turns is in `whole`."""
    alone: bool = True
    """It stands in no other loop and no function, so that `results` are values of the module."""
    counted: bool = True
    """Its turns may be counted: nothing is said of it that nobody knows."""
    stated: int | None = None
    """How many turns the text says that it takes, which whoever runs it may take without asking the condition."""
    counts: Statements = 0
    """The statement that says so."""
    ends: Statements = 0
    """Those that decide on its turns, and on whether it is run."""

    @property
    def name(self) -> tuple[Node, frozenset[Branch]]:
        """The same of two loops that are the same, and stand in the same."""
        return self.whole, self.branches

    @property
    def below(self) -> tuple[Node, ...]:
        """What decides whether it is run, and on its turns."""
        return (self.whole, *(b.selector for b in self._chosen))

    @property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """Which of how many its branches are, in the order of `below`."""
        return tuple((b.number, b.of) for b in self._chosen)

    @property
    def _chosen(self) -> tuple[Branch, ...]:
        return tuple(sorted(self.branches, key=lambda b: (b.selector.serial, b.number, b.of)))

    def is_run_in(self, other: Ending) -> bool:
        """Whether the other one is the same loop, and runs only where this one does."""
        return self.whole is other.whole and self.branches <= other.branches


def in_branch(loop: Ending, branch: Branch, ends: Statements) -> Ending:
    """The loop in a branch of a conditional; `ends`, here and below, are those that decide on it there."""
    return replace(loop, branches=loop.branches | {branch}, ends=ends)


def in_turns(loop: Ending, graph: Graph, turns: LoopTurns, to_decide: bool, ends: Statements) -> Ending:
    """The loop in the turns of another, or in what decides whether there is one more."""
    return _inside(loop, turns.node(graph, loop.below, loop.numbers, to_decide), ends)


def in_function(
    loop: Ending, graph: Graph, given: Sequence[Node], operation: object, results: Sequence[Node], ends: Statements
) -> Ending:
    """The loop in a function with these results, which an operation applies to what it is given; `operation` is all
    else that tells it from others."""
    key = (operation, loop.numbers)
    return _inside(loop, graph.node("ending", "pred", (), given, key, (*results, *loop.below)), ends)


def with_unknown_words(loop: Ending, graph: Graph, given: Sequence[Node], words: object, ends: Statements) -> Ending:
    """The loop where words stand beside it, or beside what runs it and is given this, of which nobody knows what they
    change."""
    whole = graph.node("ending", "pred", (), given, (words, loop.numbers), loop.below)
    return replace(_inside(loop, whole, ends), results=(), counted=False)


def _inside(loop: Ending, whole: Node, ends: Statements) -> Ending:
    return replace(loop, whole=whole, branches=frozenset(), alone=False, ends=ends)


def may_not_end(graph: Graph, before: Iterable[Ending], after: Iterable[Ending]) -> tuple[Ending, ...]:
    """The loops of the module after that the module before does not run, and that nobody can follow to their last
    turn."""
    before = tuple(before)
    return tuple(e for e in after if not any(b.is_run_in(e) for b in before) and _turns_of(graph, e) is None)


def is_taken_for_granted(
    before: Iterable[Ending], loops: Iterable[Ending], follows: Iterable[tuple[Node, Node]], ended: Set[Node]
) -> bool:
    """Whether one of the `loops` may not end, as far as is known: a result that is used may be multiplied by 0, or lie
    where nobody reads.

    `before` are those of the module before. A proof has shown of the pairs in `follows` that the second ends where the
    first one does, and of those in `ended` that they end.
    """
    before, after_it = tuple(before), dict[Node, list[Node]]()
    for one, other in follows:
        after_it.setdefault(one, []).append(other)
    for loop in loops:
        stack = [*ended, *(r for b in before if b.alone and b.branches <= loop.branches for r in b.results)]
        seen = set(stack)
        while stack:
            new = [n for n in after_it.get(stack.pop(), ()) if n not in seen]
            seen.update(new)
            stack += new
        if seen.isdisjoint(loop.results):
            return True
    return False


def promised_by_text(graph: Graph, loops: Iterable[Ending]) -> bool:
    """Whether a text promises how many turns one of these takes, and nobody counts them here. Raises Denied where a
    loop can be followed to its last turn, and takes another number of them."""
    uncounted = False
    for e in loops:
        turns = _turns_of(graph, e)
        if turns is not None and turns != e.stated:
            raise Denied(f"a loop is said to take {e.stated} turns, and takes {turns}")
        uncounted |= turns is None
    return uncounted


def _turns_of(graph: Graph, loop: Ending) -> int | None:
    """The number of turns of a loop that can be followed to its last one."""
    if not loop.counted:
        return None
    decides = loop.decides
    level, states = decides.key
    bound = [
        graph.node("bound", o.type, o.sizes, (), ("state", level, k))
        for k, o in zip(states, decides.operands, strict=True)
    ]
    now = list(decides.operands)
    terms = Terms()
    try:
        for turns in range(_TURNS):
            holds, *now = graph.replaced(decides.bodies, dict(zip(bound, now, strict=True)))
            answer = terms.settle(Elem(holds, ()), ())
            if answer != TRUE:
                return turns if answer == FALSE else None
    except RecursionError:  # what is nested so deeply nobody follows
        return None
    return None
