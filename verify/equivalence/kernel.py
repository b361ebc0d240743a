"""What the steps of a proof share: the tier asked for, the identities used, and terms brought to a head.

Trusted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from hloproof.equivalence.answer import TIERS, Tier
from hloproof.equivalence.constant_parts import ConstantParts
from hloproof.equivalence.constants_alone import ConstantsAlone, factors
from hloproof.equivalence.definedness import Definedness
from hloproof.equivalence.goals import Goal, Terms
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.indices import variable
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, type_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX
from hloproof.models.interpreter.semantics.small_float import FLOATS

ProofStep = list[Any]
_APART: Final = 1 << 20
"""A place for variables of folds that are looked at beside a goal, far from all others."""
NAN_BITS: Final = "the bits of a NaN are left open where bits are looked at"
"""The name of what is assumed, of the tier real: arithmetic says nothing of the sign and the payload of a NaN, and XLA
makes other ones of x * -1 when it compiles than when it runs one operation after the other."""


class Denied(Exception):
    """The step does not apply to the goal."""


@dataclass
class Rules:
    """The graph, and what may be used; `used` collects the identities beyond movement."""

    graph: Graph
    tier: Tier = "exact"
    terms: Terms = field(default_factory=Terms)
    used: dict[str, Tier] = field(default_factory=dict)
    turned: dict[object, list[Node]] = field(default_factory=dict)
    """The condition and the states after a turn of a loop, over free states."""
    turns: dict[Node, int] = field(default_factory=dict)
    """For each node, how many loops have free states in it or around those."""
    follows: set[tuple[Node, Node]] = field(default_factory=set)
    """Results of two loops, of which the second is shown to end where the first one does."""
    ended: set[Node] = field(default_factory=set)
    """Results of loops that are shown to end."""
    obligations: dict[object, bool] = field(default_factory=dict)
    """What the engines were asked, and whether they proved it."""
    definedness: Definedness = field(default_factory=Definedness)
    parts: ConstantParts = field(default_factory=ConstantParts)
    numbers: dict[Term, bool] = field(default_factory=dict)
    """Of which terms it is known whether what constants alone compute in them are numbers, and none is lost."""
    owed_exactly: bool = False
    """Whether the goal to which a step is being applied is owed bit for bit."""

    def heads(self, goal: Goal) -> tuple[Term, Term]:
        settle = self.terms.settle
        return settle(goal.left, goal.facts), settle(goal.right, goal.facts)

    def opened(self, goal: Goal) -> tuple[Term, Term]:
        left, right = self.heads(goal)
        return self.terms.opened(left, goal.next), self.terms.opened(right, goal.next)

    def elements(self, goal: Goal) -> tuple[Elem, Elem]:
        left, right = self.heads(goal)
        if not (isinstance(left, Elem) and isinstance(right, Elem)):
            raise Denied("not two elements")
        return left, right

    def tell(self, name: str) -> None:
        """Something is used that is exact, or assumed whatever the tier."""
        self.used[name] = "exact"

    def leave_nan_open(self, type_: str) -> None:
        """What is used next keeps numbers of this type bit for bit, but no NaN: where bits are looked at, this is told,
        and denied at the tier exact."""
        if not self.owed_exactly or type_ not in FLOATS | COMPLEX:
            return
        if self.tier == "exact":
            raise Denied(f"{NAN_BITS}: of the tier real")
        self.used[NAN_BITS] = "real"

    def use(self, name: str, tier: Tier, terms: Iterable[Term]) -> None:
        """Something of the tier is used on the terms: all that it takes apart, and all that it makes. Denied where it
        is weaker than exact and constants alone may compute in them what is no number, or what their types lose."""
        # Denied here and not noted for later: a step of a weaker tier that is applied and only counted would let the
        # certificate of an exact proof hold it.
        if TIERS.index(tier) > TIERS.index("exact" if self.owed_exactly else self.tier):
            raise Denied(f"{name} is of the tier {tier}")
        if tier != "exact" and not all(map(self._are_numbers, terms)):
            raise Denied("what is computed from constants alone may be no number")
        self.used[name] = tier

    def keep(self, tier: Tier, terms: Iterable[Term]) -> None:
        """The same of terms that owe no numbers, as those on the left: denied where constants alone may compute in them
        what their types lose."""
        if tier != "exact" and any(map(self._is_lost, terms)):
            raise Denied("what is computed from constants alone may be lost")

    def _are_numbers(self, term: Term) -> bool:
        if term not in self.numbers:
            alone = ConstantsAlone(lambda part: self.terms.settle(part, ()), self.definedness)
            self.numbers[term] = alone.are_numbers(self.terms.opened(term, _APART)) and not self._is_lost(term)
        return self.numbers[term]

    def _is_lost(self, whole: Term) -> bool:
        """Whether it may be in the term, and in what it is written to be made of."""
        stack, seen = [self.terms.opened(whole, _APART)], set[Term]()
        while stack:
            term = stack.pop()
            if term in seen:
                continue
            seen.add(term)
            # As it is written: brought to its head, what is lost is a number as any other.
            if type_of(term) in FLOATS | COMPLEX and self.parts.loses(term):
                return True
            match term:
                case App(args=args):
                    stack += args
                case Fold(bodies=bodies) as fold:
                    stack += (factors(fold),) if fold.head[0] == "contract" else bodies
                case Cond(_, then, other):
                    stack += (then, other)
        return False


def equal_tensors(a: Node, b: Node) -> list[Goal]:
    """The goal that two tensors agree everywhere."""
    if a is b:
        return []
    # Sizes are compared before "nothing in them" is asked: two empty tensors of different shapes are two results for
    # whoever calls the module.
    if a.type != b.type or a.sizes != b.sizes:
        raise Denied("tensors of two shapes")
    if 0 in a.sizes:
        return []
    at = tuple(variable(k, n) for k, n in enumerate(a.sizes))
    return [Goal(len(at), (), Elem(a, at), Elem(b, at))]


def owed_beside(goal: Goal, side: int, term: Term, other: Term, next_: int | None = None) -> Goal:
    """The goal that a term of one side of the goal is equal to another, so that it may be left out. What the right side
    leaves out has to have a value wherever the other has one, so there it stands on the right."""
    left, right = (term, other) if side == 0 else (other, term)
    return goal.about(left, right, next_)


def with_side(goal: Goal, side: int, term: Term, next_: int | None = None) -> Goal:
    """The goal with the term in place of its left (0) or right side (1). Denied for any other side, which would be read
    here as one of the two and elsewhere as the other."""
    if side not in (0, 1):
        raise Denied("neither side")
    left, right = (term, goal.right) if side == 0 else (goal.left, term)
    return goal.about(left, right, next_)
