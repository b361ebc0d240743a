"""Proofs while they are looked for, and their writing as the list of steps that the checker reads."""

from __future__ import annotations

from dataclasses import dataclass

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Step


@dataclass(frozen=True)
class Proof:
    """A step and the proofs of the goals it leaves; where `wider` is given, the proof of that general goal instead."""

    step: Step
    parts: tuple[Proof, ...] = ()
    wider: Goal | None = None


def written(proofs: list[Proof]) -> list[Step]:
    """The steps, depth first. A general goal is shown where it is met first."""
    steps: list[Step] = []
    shown: set[Goal] = set()
    stack: list[Proof | Goal] = list(reversed(proofs))
    while stack:
        item = stack.pop()
        if isinstance(item, Goal):
            shown.add(item)
        elif item.wider is None:
            steps.append(item.step)
            stack.extend(reversed(item.parts))
        elif item.wider in shown:
            steps.append(["lemma"])
        else:
            steps.append(["generalise"])
            stack += [item.wider, *item.parts]
    return steps
