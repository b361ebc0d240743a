"""Polynomials that are planned before anything is proved: numbers say which terms of the two sides may be equal, there
both are cut, and only when the polynomials over these cuts agree the pairs are proved."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from hloproof.equivalence.answer import TIERS
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Denied
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.samples import Sample, Samples, apart
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.polynomials import Polynomial, Polynomials, TooManyMonomials
from hloproof.equivalence.rules_polynomials import after, equal_polynomials, polynomials, seen, summand
from hloproof.equivalence.terms import App, Fold, Term, type_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS

NEAR = 1e-6
"""Numbers that may belong to equal terms: much closer than what is told apart, as both sides are computed alike."""
MOST_TERMS = 400
PLANS = 4
"""Plans that are tried after a pair of the first one was not proved."""


@dataclass
class Known:
    """The numbers of the terms on one side, from the root down."""

    values: list[float] = field(default_factory=list)

    def holds(self, value: Sample) -> bool:
        if not isinstance(value, int | float) or value != value:
            return False
        where = bisect_left(self.values, value - NEAR * abs(value))
        return where < len(self.values) and self.values[where] <= value + NEAR * abs(value)


def planned_proof(search: Search, goal: Goal, a: Term, b: Term, samples: Samples) -> Asking:
    """A step `ring` whose pairs of atoms are chosen by their values at a point; None where no plan is proved."""
    if search.rules.tier == "exact" and type_of(goal.left) not in INTEGERS:
        return None
    point = samples.point(goal)
    if point is None:
        point = 0
    refuted: set[tuple[Term, Term]] = set()
    for through in (False, True):
        if through and "rounding" not in TIERS[: TIERS.index(search.rules.tier) + 1]:
            return None
        probe = polynomials(search.rules, goal, through)
        if not any((isinstance(t, App) and probe.is_arithmetic(t)) or _is_sum(t) for t in (a, b)):
            return None
        for cut in (True, False):
            for _ in range(PLANS):
                plan = planned(search, goal, samples, point, through, cut, refuted)
                if plan is None:
                    break
                pairs, opened, goals = plan
                failed = None
                for pair in goals:
                    shown = yield pair
                    if shown is None:
                        failed = pair
                        break
                if failed is None:
                    proof: Proof | None = yield from search.step(goal, ["ring", pairs, through, 1000, opened])
                    if proof is not None:
                        return proof
                    break
                refuted.add((failed.left, failed.right))
    return None


def _is_sum(term: Term) -> bool:
    return isinstance(term, Fold) and term.head[0] in ("contract", "reduce")


def planned(
    search: Search, goal: Goal, samples: Samples, point: int, through: bool, cut: bool, refuted: set[tuple[Term, Term]]
) -> tuple[list[list[int]], list[int], list[Goal]] | None:
    """The pairs of atoms, the operations looked into and the goals of the pairs; None where the polynomials differ."""
    rules = search.rules
    roots = {_head(search, goal, goal.left), _head(search, goal, goal.right)}
    sides = [_numbers(search, goal, samples, point, through, t) for t in (goal.left, goal.right)] if cut else []
    opened: dict[int, bool] = {}

    def opening(number: int, head: Term) -> bool:
        if number not in opened:
            opened[number] = head in roots or not cut or not _meets(head)
        return opened[number]

    def _meets(head: Term) -> bool:
        value = samples.term(head, point)
        return all(side.holds(value) for side in sides)

    found = polynomials(rules, goal, through, opening)
    try:
        left, right = found.read(goal.left), found.read(goal.right)
        if through and "rounding" not in found.seen:
            return None
        mine, theirs = atoms_in(found, left), atoms_in(found, right)
        pairs: list[list[int]] = []
        goals: list[Goal] = []
        for j in sorted(theirs - mine):
            for i in sorted(mine - theirs):
                a, b = found.atoms[i], found.atoms[j]
                if type_of(a) != type_of(b) or (a, b) in refuted:
                    continue
                x, y = samples.term(a, point), samples.term(b, point)
                if x is None or y is None or apart(x, y):
                    continue
                try:
                    next_ = max(after(goal, a), after(goal, b))
                except Denied:
                    continue
                pairs.append([i, j])
                goals.append(goal.about(a, b, next_))
                found.renamed[j] = i
                break
        left, right = found.read(goal.left), found.read(goal.right)
    except (Denied, TooManyMonomials, OverflowError, ValueError, RecursionError):
        return None
    if equal_polynomials(type_of(goal.left), left, right, found.passed) is None:
        return None
    return pairs, [n for n, yes in opened.items() if yes], goals


def _head(search: Search, goal: Goal, term: Term) -> Term:
    return summand(search.rules, goal, seen(search.rules, goal, term))


def _numbers(search: Search, goal: Goal, samples: Samples, point: int, through: bool, root: Term) -> Known:
    """The numbers of what lies under arithmetic, the root left out."""
    reader = polynomials(search.rules, goal, through)
    out: list[float] = []
    known: set[Term] = set()
    stack = [root]
    while stack and len(known) < MOST_TERMS:
        head = _head(search, goal, stack.pop())
        if head in known:
            continue
        known.add(head)
        value = samples.term(head, point)
        if isinstance(value, int | float) and len(known) > 1:
            out.append(float(value))
        if isinstance(head, App) and reader.is_arithmetic(head):
            stack.extend(head.args)
    return Known(sorted(v for v in out if v == v))


def atoms_in(found: Polynomials, polynomial: Polynomial) -> set[int]:
    """The numbers of the atoms, inside powers of sums too."""
    powers = {number: key[0] for key, number in found.sums.items()}
    out: set[int] = set()
    todo = [n for m in polynomial for n, _ in m]
    while todo:
        n = todo.pop()
        if n not in out:
            out.add(n)
            if n < 0:
                todo += [inner for m, _ in powers[n] for inner, _ in m]
    return {n for n in out if n >= 0}
