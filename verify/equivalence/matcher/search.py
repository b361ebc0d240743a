"""The search for a proof, goal by goal, from the results down. Strategies are generators that ask for the proofs of
other goals, so that depth is limited by memory only."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from math import inf
from time import perf_counter, thread_time

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Denied, ProofStep, Rules
from hloproof.equivalence.matcher.fingerprint import Fingerprints
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.samples import Samples
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import Elem, Term

Asking = Generator[Goal, "Proof | None", "Proof | None"]
Strategy = Callable[["Search", Goal], Asking]

MOST_CAUSES = 32
"""Pairs of states remembered for a goal that failed."""


class BudgetSpent(Exception):
    """The budget is spent."""


@dataclass
class Aside:
    """What a long search is interrupted for, once: it may show that there is no proof."""

    due: float
    """On the clock of the deadlines."""
    look: Callable[[], bool]
    """True ends all searches."""
    ended: bool = False
    took: float = 0.0
    """Seconds that do not count for the search."""

    def ends(self, now: float) -> bool:
        if now > self.due:
            self.due = inf
            self.ended = self.look()
            self.took = perf_counter() - now
        return self.ended


@dataclass
class Search:
    """Looks for proofs with the steps of `rules`; remembers what was found and what was not."""

    rules: Rules
    strategy: Strategy
    deadline: float
    memory: dict[Goal, Proof | None] = field(default_factory=dict)
    dead_ends: list[Goal] = field(default_factory=list)
    """Goals on which no strategy had anything to try, in the order met."""
    apart: list[tuple[Elem, Elem]] = field(default_factory=list)
    """The dead ends that are two free states at one index: had they been paired, they would be none."""
    causes: dict[Goal, tuple[tuple[Elem, Elem], ...]] = field(default_factory=dict)
    """For goals that failed, those of these that were met below."""
    supports: dict[object, int] = field(default_factory=dict)
    processor_seconds: float | None = None
    """How long the search may compute in all, whatever else runs; None for any time."""
    plain: bool = False
    """Only movement, equal operations on equal elements and folds in other coordinates: what most goals need."""
    shown: list[tuple[Goal, Proof]] = field(default_factory=list)
    """What was proved since another search took it over."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    aside: Aside | None = None
    samples: Samples | None = None
    """Where given, goals whose sides differ at a sample are dead ends: quick, and now and then too strict."""

    def prove(self, first: Goal) -> Proof | None:
        """A proof of the goal, None when none was found. Raises BudgetSpent."""
        begun = thread_time()
        try:
            return self._proved(first, begun)
        finally:
            if self.processor_seconds is not None:
                self.processor_seconds -= thread_time() - begun

    def _proved(self, first: Goal, begun: float) -> Proof | None:
        open_: set[Goal] = set()
        stack: list[tuple[Goal, Asking, int]] = []
        answer: Proof | None = None
        asked: Goal | None = first
        count, started = 0, False
        while True:
            if asked is not None:
                if asked in self.memory:
                    answer = self.memory[asked]
                    if answer is None:
                        self.apart += self.causes.get(asked, ())
                # A goal that leads back to itself is not proved by itself; the answer holds for this way only and is
                # not remembered.
                elif asked in open_:
                    answer = None
                else:
                    open_.add(asked)
                    stack.append((asked, self.strategy(self, asked), len(self.apart)))
                    asked = None
                    answer = None
                    started = True
            count += 1
            # The clock costs more than a step.
            if count % 16 == 0:
                now = perf_counter()
                aside = self.aside
                if (aside is not None and aside.ends(now)) or now > self.deadline + (aside.took if aside else 0):
                    raise BudgetSpent
            if self.processor_seconds is not None and thread_time() - begun > self.processor_seconds:
                raise BudgetSpent
            if not stack:
                return answer
            goal, asking, before = stack[-1]
            try:
                if asked is None and started:
                    started = False
                    asked = next(asking)
                else:
                    asked = asking.send(answer)
            except StopIteration as end:
                stack.pop()
                open_.discard(goal)
                answer = self.memory[goal] = end.value
                if answer is not None:
                    self.shown.append((goal, answer))
                elif len(self.apart) > before:
                    self.causes[goal] = tuple(dict.fromkeys(self.apart[before:]))[:MOST_CAUSES]
                # Who asked gets the causes of this goal from memory, above; left here as well they would count twice.
                del self.apart[before:]
                asked = goal  # answered from memory for whoever asked
                if not stack:
                    return answer

    def ended(self, goal: Goal, left: Term, right: Term) -> None:
        """Notes a dead end; the terms are its heads."""
        self.dead_ends.append(goal)
        states = [t for t in (left, right) if isinstance(t, Elem) and t.node.head == "free"]
        if len(states) == 2 and states[0].at == states[1].at:
            self.apart.append((states[0], states[1]))

    def learn(self, other: Search) -> None:
        """Takes over what the other search has proved."""
        self.memory.update(other.shown)
        self.shown += other.shown
        other.shown.clear()

    def hopeless(self, goal: Goal) -> bool:
        """Whether numbers tell the two sides apart."""
        return self.fingerprints.differ(goal) or (self.samples is not None and self.samples.differ(goal))

    def step(self, goal: Goal, step: ProofStep) -> Generator[Goal, Proof | None, Proof | None]:
        """The proof that begins with this step, None where it does not apply or leaves what is not proved."""
        try:
            goals = subgoals(self.rules, goal, step)
        except Denied:
            return None
        parts: list[Proof] = []
        for g in goals:
            found = yield g
            if found is None:
                return None
            parts.append(found)
        return Proof(step, tuple(parts))

    def first_of(self, goal: Goal, steps: Iterator[ProofStep]) -> Generator[Goal, Proof | None, Proof | None]:
        for step in steps:
            found = yield from self.step(goal, step)
            if found is not None:
                return found
        return None
