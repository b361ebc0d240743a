"""What follows from facts about sizes and indices: the one place where tensor rules ask the engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final

from hloproof.engines.budget import Budget
from hloproof.engines.door import HOW, How, prove_one
from hloproof.logic.formula import FALSE, TRUE, And, Compare, Formula, Not, conj, conjuncts, free_variables
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, to_text
from hloproof.tensor_rules.digits import polynomial, same_polynomial
from hloproof.tensor_rules.laws import LAWS, LawUses, of_unknowns

BUDGET: Final = Budget(isl_operations=200_000, z3_rlimit=3_000_000, enumeration_points=2_000)


class RuleTimeOver(Exception):
    """The time for this rule is over."""


@dataclass
class Facts:
    """Asks whether formulas follow; remembers the answers. `deadline` is on the monotonic clock."""

    deadline: float
    how: How = HOW
    asked: dict[tuple[tuple[Formula, ...], Formula], bool] = field(default_factory=dict)
    bounds: dict[Formula, tuple[frozenset[Any], int] | None] = field(default_factory=dict)
    engines: set[str] = field(default_factory=set)
    only: frozenset[str] | None = None
    """Where a certificate is read: the obligations that it has shown, by their normal forms; no engine is asked."""
    shown: set[str] = field(default_factory=set)
    """The obligations that were proved, by their normal forms."""
    open: str = ""
    """The last goal that was neither proved nor refuted, for the reader."""

    def follows(self, facts: Sequence[Formula], goal: Formula) -> bool:
        """Whether the goal holds wherever the facts do. False where that is not known."""
        if goal == TRUE:
            return True
        if isinstance(goal, Compare) and goal.op in ("==", "<=") and goal.lhs is goal.rhs:
            return True
        if isinstance(goal, Compare) and goal.op == "==" and self._same(facts, goal.lhs, goal.rhs):
            return True
        if isinstance(goal, And):
            return all(self.follows(facts, part) for part in goal.parts) if goal.parts else True
        question = (tuple(facts), goal)
        found = self.asked.get(question)
        if found is None:
            stated = self._stated(facts, goal) and not self.how.cross
            found = self.asked[question] = stated or self.ask(facts, goal).verdict == "proved"
        return found

    def unsaid(self, uses: LawUses) -> str:
        """What was used of digits and is not said by the engines, for the reader; empty where all of it is."""
        for name in uses.laws:
            if self.ask(LAWS[name].given, LAWS[name].says).verdict != "proved":
                return f"the law of digits {name!r} is not shown"
        for a, b in dict.fromkeys(map(of_unknowns, uses.identities)):
            if a is not b and self.ask((), Compare("==", a, b)).verdict != "proved":
                return f"sums of products are not shown equal: {to_text(a)} and {to_text(b)}"
        return ""

    def _stated(self, facts: Sequence[Formula], goal: Formula) -> bool:
        """Whether a fact says so: the goal itself, or the same with a smaller bound."""
        wanted = self.at_least(goal)
        for part in (p for f in facts for p in conjuncts(f)):
            if part == goal:
                return True
            said = None if wanted is None else self.at_least(part)
            if said is not None and wanted is not None and said[0] == wanted[0] and said[1] <= wanted[1]:
                return True
        return False

    def _said(self, facts: Sequence[Formula], goal: Formula) -> bool:
        """Whether a fact says so; where two engines are wanted they say so too."""
        return self._stated(facts, goal) and (not self.how.cross or self.follows(facts, goal))

    def at_least(self, formula: Formula) -> tuple[frozenset[Any], int] | None:
        """A comparison as a polynomial without its constant, and the constant: together they are at least 0."""
        if formula in self.bounds:
            return self.bounds[formula]
        found = None
        if isinstance(formula, Compare) and formula.op in ("<=", "<"):
            p = polynomial(formula.rhs - formula.lhs)
            constant = p.pop((), 0) - (formula.op == "<")
            found = frozenset(p.items()), constant
        self.bounds[formula] = found
        return found

    def ask(self, facts: Sequence[Formula], goal: Formula) -> Outcome:
        """The engines' answer, over all integers."""
        if monotonic() > self.deadline:
            raise RuleTimeOver
        relevant = _relevant(facts, goal)
        names = sorted(free_variables(goal).union(*(free_variables(f) for f in relevant)))
        obligation = Obligation(tuple((n, None) for n in names), goal, conj(*relevant), "tensor rule")
        if self.only is not None:
            return Outcome("proved" if key(obligation) in self.only else "unknown", reason="not in the certificate")
        outcome = prove_one(obligation, replace(self.how, budget=BUDGET, where="here", cache=None))
        if outcome.verdict == "proved":
            self.engines |= set(outcome.engines)
            self.shown.add(key(obligation))
        elif outcome.verdict != "refuted":
            self.open = outcome.reason or outcome.verdict
        return outcome

    def contradict(self, facts: Sequence[Formula]) -> bool:
        return self.follows(facts, FALSE)

    def equal(self, facts: Sequence[Formula], a: Expr, b: Expr) -> bool:
        positive = _positive(facts)
        if self._same(facts, a, b, positive):
            return True
        x, y = self.settled(facts, a), self.settled(facts, b)
        return self._same(facts, x, y, positive) or self.follows(facts, Compare("==", x, y))

    def _same(self, facts: Sequence[Formula], a: Expr, b: Expr, positive: frozenset[Expr] = frozenset()) -> bool:
        """Whether both are the same sum of products; where two engines are wanted they say so too."""
        if a is b or not same_polynomial(a, b, positive):
            return a is b
        if not self.how.cross:
            return True
        question = (tuple(facts), Compare("==", a, b))
        if question not in self.asked:
            self.asked[question] = self.ask(facts, question[1]).verdict == "proved"
        return self.asked[question]

    def settled(self, facts: Sequence[Formula], e: Expr, digits: bool = True) -> Expr:
        """The expression without quotients that are 0 and remainders that change nothing, as far as that follows, and
        with minima and maxima decided that facts decide; without `digits` these only."""
        done: dict[Expr, Expr] = {}
        for node in postorder(e):
            if not isinstance(node, Binary):
                done[node] = node
                continue
            x, y = done[node.lhs], done[node.rhs]
            digit = digits and node.op in ("floordiv", "mod")
            if node.op in ("min", "max"):
                done[node] = self._chosen(facts, node, x, y)
            elif digit and self.follows(facts, conj(Compare("<=", Const(0), x), Compare("<", x, y))):
                done[node] = Const(0) if node.op == "floordiv" else x
            else:
                done[node] = node if x is node.lhs and y is node.rhs else Binary(node.op, x, y)
        return done[e]

    def _chosen(self, facts: Sequence[Formula], node: Binary, x: Expr, y: Expr) -> Expr:
        """A minimum or maximum, which is one of the two where a fact says so."""
        for small, large in ((x, y), (y, x)):
            if self._said(facts, Compare("<=", small, large)):
                return small if node.op == "min" else large
        return node if x is node.lhs and y is node.rhs else Binary(node.op, x, y)

    def is_positive(self, facts: Sequence[Formula], e: Expr) -> bool:
        """Whether the facts say so: a sum without minus, of factors that are at least 0, and one of them at least 1."""
        found = polynomial(e)
        if any(c < 0 for c in found.values()):
            return False
        least = [min((self._least(facts, f) for _, f in m), default=1) for m in found]
        return all(n >= 0 for n in least) and any(n >= 1 for n in least)

    def _least(self, facts: Sequence[Formula], factor: Expr) -> int:
        """1 or 0 where the facts say that the factor is at least that, else -1."""
        for n in (1, 0):
            if self._said(facts, Compare("<=", Const(n), factor)):
                return n
        return -1

    def decides(self, facts: Sequence[Formula], test: Formula) -> bool | None:
        """True or false where the test always or never holds, None otherwise."""
        if self.follows(facts, test):
            return True
        return False if self.follows(facts, Not(test)) else None


def _positive(facts: Sequence[Formula]) -> frozenset[Expr]:
    """What the facts say is at least 1."""
    parts = (p for f in facts for p in conjuncts(f))
    return frozenset(p.rhs for p in parts if isinstance(p, Compare) and p.op == "<=" and p.lhs is Const(1))


def _relevant(facts: Sequence[Formula], goal: Formula) -> list[Formula]:
    """Facts that share variables with the goal, directly or through others; all of them for a contradiction."""
    parts = [p for f in facts for p in conjuncts(f)]
    reached = set(free_variables(goal))
    if not reached:
        return parts
    left = [(p, free_variables(p)) for p in parts]
    kept: list[Formula] = []
    grown = True
    while grown:
        grown = False
        rest = []
        for p, names in left:
            if not names or names & reached:
                kept.append(p)
                reached |= names
                grown = True
            else:
                rest.append((p, names))
        left = rest
    return kept
