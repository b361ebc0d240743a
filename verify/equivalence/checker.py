"""Reads a certificate: a list of steps, each for the goal that is next, depth first.

Trusted, and all that stands between the matcher and `proved`: every step is applied by `rules`, and the certificate is
accepted when no goal is left. It holds no terms and no nodes, so there is nothing in it to believe.
"""

from __future__ import annotations

from dataclasses import dataclass

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Denied, ProofStep, Rules
from hloproof.equivalence.rules import general, subgoals


@dataclass(frozen=True, slots=True)
class _Shown:
    """Stands behind the steps that show a goal that is used again."""

    goal: Goal


def check(rules: Rules, goals: list[Goal], steps: list[ProofStep]) -> None:
    """Returns when `steps` prove all goals. Raises Denied otherwise."""
    stack: list[Goal | _Shown] = list(reversed(goals))
    shown: set[Goal] = set()
    for number, step in enumerate(steps):
        while stack and isinstance(stack[-1], _Shown):
            done = stack.pop()
            assert isinstance(done, _Shown)
            # Only here, when the steps of the goal itself are all read, does it count as shown. Added where it is
            # begun, a goal could be closed by `again` inside of its own proof.
            shown.add(done.goal)
        if not stack:
            raise Denied(f"steps are left after the last goal, from number {number} on")
        goal = stack.pop()
        assert isinstance(goal, Goal)
        if not isinstance(step, list) or not step or not isinstance(step[0], str) or not _is_plain(step):
            raise Denied("not a step")
        if step[0] == "keep":
            # The marker lies below the goal, so that it comes up when nothing of the goal is left.
            stack += [_Shown(goal), goal]
        elif step[0] == "again":
            if goal not in shown:
                raise Denied("not shown before")
        elif step[0] in ("generalise", "lemma"):
            # The checker generalises by itself: a wider goal that is written in the certificate could be any goal.
            wider = general(rules, goal)
            if wider is None:
                raise Denied("the goal is no instance")
            if step[0] == "lemma":
                if wider not in shown:
                    raise Denied("not shown before")
            else:
                stack += [_Shown(wider), wider]
        else:
            stack.extend(reversed(subgoals(rules, goal, step)))
    # A certificate that ends early proves a part; markers alone may be left, for goals that were finished by the last
    # step.
    if any(isinstance(item, Goal) for item in stack):
        raise Denied("goals are left after the last step")


def _is_plain(step: object) -> bool:
    """Whether there are only words, truth values, lists, and whole numbers from 0 on: sides, dimensions and places that
    are counted from the end would be read once as one thing and once as another."""
    stack = [step]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif not (item is None or isinstance(item, str) or (isinstance(item, int) and item >= 0)):
            return False
    return True
