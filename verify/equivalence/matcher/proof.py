"""Proofs while they are looked for, and their writing as the list of steps that the checker reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import ProofStep


@dataclass(frozen=True)
class Proof:
    """A step and the proofs of the goals it leaves; where `wider` is given, the proof of that general goal instead."""

    step: ProofStep
    parts: tuple[Proof, ...] = ()
    wider: Goal | None = None


def written(proofs: list[Proof]) -> list[ProofStep]:
    """The steps, depth first. What is used several times is shown where it is met first."""
    steps: list[ProofStep] = []
    shown: set[Goal | int] = set()
    uses = counted(proofs)
    stack: list[Proof | Goal | int] = list(reversed(proofs))
    while stack:
        item = stack.pop()
        if isinstance(item, Goal | int):
            shown.add(item)
        elif item.wider is not None:
            if item.wider in shown:
                steps.append(["lemma"])
            else:
                steps.append(["generalise"])
                stack += [item.wider, *item.parts]
        elif uses[id(item)] > 1 and item.parts:
            if id(item) in shown:
                steps.append(["again"])
            else:
                steps += [["keep"], item.step]
                stack += [id(item), *reversed(item.parts)]
        else:
            steps.append(item.step)
            stack.extend(reversed(item.parts))
    return steps


def counted(proofs: list[Proof]) -> Counter[int]:
    """How often each proof is used, by its identity."""
    uses: Counter[int] = Counter()
    stack = list(proofs)
    while stack:
        item = stack.pop()
        uses[id(item)] += 1
        if uses[id(item)] == 1:
            stack.extend(item.parts)
    return uses
