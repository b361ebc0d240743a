"""Steps about loops: induction over the turns of two, turns taken one by one, scatters as loops.

Trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from hloproof.equivalence.bits_read import ZEROS, below, read_beyond_numbers
from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import Lin
from hloproof.equivalence.kernel import Denied, Rules, equal_tensors, owed_beside, with_side
from hloproof.equivalence.loop_states import FreeState, LoopState
from hloproof.equivalence.reductions import COMMUTATIVE, associates, operation_of
from hloproof.equivalence.rules_polynomials import seen
from hloproof.equivalence.scatter_loop import as_loop, may_meet
from hloproof.equivalence.terms import Elem


def loop(rules: Rules, goal: Goal, pairs: list[Any], zeros: bool = False) -> list[Goal]:
    """Two loops whose paired states are equal at the start, stay equal through a turn, and so lead both conditions to
    the same answer. A state may be paired with several: then all of them are equal. With
    `zeros` both zeros are one.

    In the middle of the loops each class of equal states is a free value, and what is shown of free values holds for
    any, but that what they begin with is looked at where it may be a start without a sign. So they need no name but one
    that no other in the turns has, and the results of loops that begin alike share what is shown.
    """
    left, right = rules.elements(goal)
    if left.at != right.at or left.node.head != "while" or right.node.head != "while":
        raise Denied("not two loops at one index")
    loops = left.node, right.node
    if [loops[0].key[1], loops[1].key[1]] not in [list(p) for p in pairs]:
        # The two results must be states that are shown to stay equal. Any others would be equal at the start and never
        # again.
        raise Denied("the results are not paired")
    positions = [{k: n for n, k in enumerate(node.key[2])} for node in loops]
    classes = connected([((0, int(i)), (1, int(j))) for i, j in pairs])
    depth = turns_around(rules, loops)
    bodies: list[list[Node]] = []
    free: list[dict[int, Node]] = [{}, {}]
    for side, node in enumerate(loops):
        level, _, kept, shapes = node.key
        bound: dict[Node, Node] = {}
        for k, (type_, sizes) in zip(kept, shapes, strict=True):
            members = classes.get((side, k), ((side, k),))
            # A class is one free state for all of its members. They are of one shape: of each pair it is owed below
            # that both are equal at the start.
            state = rules.graph.node("bound", type_, sizes, (), ("state", level, k))
            # States outside of any pair get a free node of their own side: nothing may be assumed of them, and not that
            # the two loops agree on them.
            # Equal states have a value where the left one has, so a state of the right loop alone may have none.
            valued = not rules.definedness.partial(loops[members[0][0]])
            begins = tuple(loops[s].operands[positions[s][i]] for s, i in members)
            free[side][k] = rules.graph.node("free", type_, sizes, (), FreeState(depth, members, valued, begins))
            bound[state] = free[side][k]
        key = (node.bodies, tuple(bound.items()))
        if key not in rules.turned:
            rules.turned[key] = rules.graph.replaced(node.bodies, bound)
        bodies.append(rules.turned[key])
    rules.follows.add(loops)
    # Equal conditions first: without them the loops could end after different numbers of turns, with states that were
    # equal as long as both ran.
    goals = equal_tensors(bodies[0][0], bodies[1][0])
    numbered = [(free[0][i], positions[0][i], positions[1][j]) for i, j in pairs]
    if zeros:
        rules.use(ZEROS, "real", rules.heads(goal))
    # The left turn speaks for both, as the right one is shown to be equal to it from whatever states.
    read = read_beyond_numbers(bodies[0], lambda x: seen(rules, goal, x), zeros)
    exact = owed_bit_for_bit(read, {state: bodies[0][1 + a] for state, a, _ in numbered})
    for state, a, b in numbered:
        equal = equal_tensors(loops[0].operands[a], loops[1].operands[b])
        equal += equal_tensors(bodies[0][1 + a], bodies[1][1 + b])
        goals += [replace(g, exact=True) for g in equal] if state in exact else equal
    return goals


def owed_bit_for_bit(read: frozenset[Node], turn: dict[Node, Node]) -> set[Node]:
    """The states of which more than their numbers is read, and those that these are made of from turn to turn; `turn`
    holds what a state becomes in one."""
    found, before = {*read}, -1
    while len(found) > before:
        before = len(found)
        for state, after in turn.items():
            if state in found:
                found |= below([after])
    return found


def turns_around(rules: Rules, loops: tuple[Node, Node]) -> int:
    """In how many turns of other loops these two stand: one more than any free state in their bodies has around it."""
    known = rules.turns
    stack = [b for node in loops for b in node.bodies]
    roots = list(stack)
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            continue
        below = (*node.operands, *node.bodies)
        waiting = [n for n in below if n not in known]
        if waiting:
            stack += waiting
            continue
        own = node.key.depth + 1 if isinstance(node.key, FreeState) else 0
        known[node] = max(own, max((known[n] for n in below), default=0))
    return max(known[root] for root in roots)


def connected(pairs: list[tuple[LoopState, LoopState]]) -> dict[LoopState, tuple[LoopState, ...]]:
    """For each state, all that are tied to it through pairs, ascending."""
    classes: dict[LoopState, set[LoopState]] = {}
    for a, b in pairs:
        merged = classes.get(a, {a}) | classes.get(b, {b})
        for state in merged:
            classes[state] = merged
    return {state: tuple(sorted(members)) for state, members in classes.items()}


def turn(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A loop whose condition holds at the start is the same loop one turn later."""
    node, at, holds, after = _turned(rules, goal, side)
    # Without the facts of the goal: whether a loop turns once more does not depend on which element is looked at.
    truth = owed_beside(Goal(0, (), TRUE, TRUE), side, Elem(holds, ()), TRUE)
    new = rules.graph.node(node.head, node.type, node.sizes, after, node.key, node.bodies, node.attributes)
    rules.follows |= {(node, new), (new, node)}
    return [truth, with_side(goal, side, Elem(new, at))]


def stop(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A loop whose condition fails at the start gives its initial state."""
    node, at, holds, _ = _turned(rules, goal, side)
    false = owed_beside(Goal(0, (), FALSE, FALSE), side, Elem(holds, ()), FALSE)
    _, k, kept, _ = node.key
    rules.ended.add(node)
    return [false, with_side(goal, side, Elem(node.operands[kept.index(k)], at))]


def _turned(rules: Rules, goal: Goal, side: int) -> tuple[Node, tuple[Lin, ...], Node, list[Node]]:
    head = rules.heads(goal)[side]
    if not isinstance(head, Elem) or head.node.head != "while":
        raise Denied("not a loop")
    node = head.node
    level, _, kept, shapes = node.key
    by = {
        rules.graph.node("bound", t, s, (), ("state", level, k)): start
        for k, (t, s), start in zip(kept, shapes, node.operands, strict=True)
    }
    holds, *after = rules.graph.replaced(node.bodies, by)
    return node, head.at, holds, after


def looped(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A scatter is a loop over its index vectors. Their order is one of those that a scatter may take, so that it may
    become the loop, and the loop the scatter only where no order shows."""
    head = rules.heads(goal)[side]
    loop_ = as_loop(rules.graph, head.node) if isinstance(head, Elem) else None
    if loop_ is None or not isinstance(head, Elem):
        raise Denied("not a scatter that is a loop")
    if side == 1 and may_meet(head.node):
        op = operation_of(head.node.bodies)
        if op not in COMMUTATIVE:
            raise Denied("the order of updates is left open afterwards")
        associates(rules, op, head.node.type, head)
    rules.tell("scatter as a loop")
    rules.ended.add(loop_)
    return [with_side(goal, side, Elem(loop_, head.at))]


LOOP_RULES: Final[dict[str, Callable[..., list[Goal]]]] = {"loop": loop, "turn": turn, "stop": stop, "looped": looped}
