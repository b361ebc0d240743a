"""Facts about indices that the forms do not show, proved by the engines.

Trusted, as far as it states obligations: variables range over their boxes, values of terms over their types, each value
a number of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hloproof.engines.budget import Budget
from hloproof.engines.door import How, prove_one
from hloproof.equivalence.goals import Goal, KnownForms
from hloproof.equivalence.indices import Atom, Clamp, Digit, Lin, TermValue, Var
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.terms import Elem
from hloproof.logic.formula import FALSE, Formula, conj, eq, le
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr
from hloproof.models.expressions.expr import Var as NamedVar
from hloproof.models.expressions.interval import Interval


@dataclass
class _Stated:
    """Forms as expressions over named variables."""

    variables: dict[Var | TermValue, str] = field(default_factory=dict)

    def expression(self, form: Lin) -> Expr:
        out: Expr = Const(form.constant)
        for atom, c in form.terms.items():
            out = out + self.atom(atom) * c
        return out

    def atom(self, atom: Atom) -> Expr:
        match atom:
            case Var() | TermValue():
                return NamedVar(self.variables.setdefault(atom, f"v{len(self.variables)}"))
            case Digit(of, divisor, modulus):
                out = self.expression(of) // divisor
                return out % modulus if modulus else out
            case Clamp(of, lo, hi):
                return Binary("max", Binary("min", self.expression(of), Const(hi)), Const(lo))

    def obligation(self, facts: KnownForms, conclusion: Formula) -> Obligation:
        known = conj(*(le(0, self.expression(f)) for f in facts))
        named = tuple((name, Interval(atom.lo, atom.hi)) for atom, name in self.variables.items())
        return Obligation(named, conclusion, known)


def proved(facts: KnownForms, pairs: list[tuple[Lin, Lin]] | None, memory: dict[object, bool]) -> bool:
    """Whether the forms of each pair are equal under the facts; with None, whether the facts contradict each other."""
    stated = _Stated()
    conclusion = FALSE if pairs is None else conj(*(eq(stated.expression(a), stated.expression(b)) for a, b in pairs))
    obligation = stated.obligation(facts, conclusion)
    # The whole obligation is the key, not the goal: goals with other terms and the same indices ask the same.
    if obligation not in memory:
        memory[obligation] = prove_one(obligation, HOW).verdict == "proved"
    return memory[obligation]


HOW: Final = How(Budget(isl_operations=300_000, z3_rlimit=300_000), where="here")


def absurd(rules: Rules, goal: Goal) -> list[Goal]:
    """No index meets all facts."""
    # Boxes are never empty (`equal_tensors` makes no goal for them), so without facts there is nothing to contradict.
    if not goal.facts or not proved(goal.facts, None, rules.obligations):
        raise Denied("the facts may hold")
    return []


def indices(rules: Rules, goal: Goal) -> list[Goal]:
    """The same tensor at indices that are equal under the facts."""
    left, right = rules.elements(goal)
    if left.node is not right.node:
        raise Denied("two tensors")
    pairs = [(a, b) for a, b in zip(left.at, right.at, strict=True) if a != b]
    if not proved(goal.facts, pairs, rules.obligations):
        raise Denied("the indices may differ")
    return []


def aligned(rules: Rules, goal: Goal) -> list[Goal]:
    """Two tensors of one shape at indices that are equal under the facts: the right one is read at the left's."""
    left, right = rules.elements(goal)
    if left.node.sizes != right.node.sizes or left.at == right.at:
        raise Denied("two shapes, or nothing to do")
    pairs = [(a, b) for a, b in zip(left.at, right.at, strict=True) if a != b]
    if not proved(goal.facts, pairs, rules.obligations):
        raise Denied("the indices may differ")
    return [goal.about(left, Elem(right.node, left.at))]


ENGINE_RULES: Final[dict[str, Callable[..., list[Goal]]]] = {"absurd": absurd, "indices": indices, "aligned": aligned}
