"""Digits with symbolic radices: quotients by variables and products of variables, taken apart with sub-goals.

Terms become polynomials over variables and quotients. `e mod k` is `e - k * (e floordiv k)`, multiples of the divisor
come out of a quotient, `(k * f + g) floordiv k = f + g floordiv k`, and quotients of quotients join,
`(x floordiv a) floordiv k = x floordiv (a * k)`. Each use is a sub-goal under the obligation's hypothesis, with inner
quotients as free variables, and an engine proves it: where a sign or a zero is in the way it is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.nonlinear.polynomial import Monomial, Poly, add, multiply
from hloproof.engines.structural.intervals import Ask
from hloproof.logic.formula import And, Compare, Formula, eq, ne
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

MOST_MONOMIALS: Final = 200
"""A polynomial with more is left alone."""


def find_counterexample(obligation: Obligation, ask: Ask) -> None:
    """None when the engine `ask` proves the sub-goals and what is left. Never finds counterexamples: what is left
    forgets that quotients are quotients.

    Raises NotExpressible when there is no symbolic quotient, GaveUp when a sub-goal or what is left is not proved.
    """
    left, goals = take_apart(obligation)
    for goal in (left, *goals):
        if ask(goal) is not None:
            raise GaveUp(f"symbolic digits: not so: {goal.label}")


def take_apart(obligation: Obligation) -> tuple[Obligation, list[Obligation]]:
    """What is left to prove, and the sub-goals. Raises NotExpressible when there is no step to take."""
    work = _Work(obligation)
    atoms = list(_atoms(obligation.conclusion))
    parts = tuple(Compare(a.op, work.expr(work.poly(a.lhs)), work.expr(work.poly(a.rhs))) for a in atoms)
    if not work.goals:
        raise NotExpressible("no symbolic digits to take apart")
    left = Obligation(work.variables(), And(parts), obligation.hypothesis, f"{obligation.label}, in symbolic digits")
    return left, work.goals


def _atoms(f: Formula) -> Iterator[Compare]:
    if isinstance(f, Compare):
        yield f
    elif isinstance(f, And):
        for part in f.parts:
            yield from _atoms(part)
    else:
        raise NotExpressible("not a conjunction of comparisons")


class _Work:
    def __init__(self, obligation: Obligation) -> None:
        self.obligation = obligation
        self.goals: list[Obligation] = []
        self.quotients: dict[tuple[tuple[tuple[Monomial, int], ...], tuple[tuple[Monomial, int], ...]], str] = {}
        self.meaning: dict[str, tuple[Poly, Poly]] = {}
        self.done: dict[Expr, Poly] = {}

    def variables(self) -> tuple[tuple[str, Interval | None], ...]:
        """The obligation's variables and the quotients."""
        return (*self.obligation.variables, *((q, None) for q in self.meaning))

    def poly(self, root: Expr) -> Poly:
        for e in postorder(root):
            if e not in self.done:
                self.done[e] = self.node(e)
                if len(self.done[e]) > MOST_MONOMIALS:
                    raise GaveUp("a polynomial of too many terms")
        return self.done[root]

    def node(self, e: Expr) -> Poly:
        match e:
            case Const(value):
                return {(): value} if value else {}
            case Var(name):
                return {(name,): 1}
            case Binary(op, lhs, rhs):
                x, y = self.done[lhs], self.done[rhs]
                if op == "floordiv":
                    return self.quotient(x, y)
                if op in ("+", "*"):
                    made = add(x, y, 1) if op == "+" else multiply(x, y)
                    self.same(Binary(op, self.expr(x), self.expr(y)), made)
                    return made
                if op == "mod":
                    dividend, divisor, quotient = self.expr(x), self.expr(y), self.quotient(x, y)
                    made = add(x, multiply(y, quotient), -1)
                    self.owe(eq(dividend % divisor, dividend - divisor * (dividend // divisor)), "mod by its quotient")
                    self.same(dividend - divisor * self.expr(quotient), made)
                    return made
        raise NotExpressible("a minimum, a maximum or a quotient rounded up")

    def same(self, before: Expr, p: Poly) -> None:
        """An identity of polynomials, whatever the variables are."""
        if before is not self.expr(p):
            self.owe(eq(before, self.expr(p)), "an identity of polynomials")

    def quotient(self, x: Poly, k: Poly) -> Poly:
        """x floordiv k as a polynomial: what comes out of it, and the quotient of the rest."""
        self.owe(ne(self.expr(k), 0), "a divisor is not zero")
        if len(k) != 1:
            return self.named(x, k)
        (divisor, factor), out, rest = next(iter(k.items())), Poly(), Poly()
        for monomial, c in x.items():
            without = _without(monomial, divisor)
            if without is not None and c % factor == 0:
                out[without] = c // factor
            else:
                rest[monomial] = c
        whole = out
        if rest:
            last = _single(rest)
            if last in self.meaning:  # a quotient by itself: the two join
                inner, by = self.meaning[last]
                joined = multiply(by, k)
                inner_expr, by_expr, k_expr = self.expr(inner), self.expr(by), self.expr(k)
                self.owe(eq(inner_expr // by_expr // k_expr, inner_expr // self.expr(joined)), "quotients join")
                whole = add(out, self.quotient(inner, joined), 1)
            else:
                whole = add(out, self.named(rest, k), 1)
        if out:
            below, apart = self.expr(k), self.expr(out)
            after = apart + self.expr(rest) // below if rest else apart
            self.owe(eq(self.expr(x) // below, after), "multiples come out")
        return whole

    def named(self, x: Poly, k: Poly) -> Poly:
        key = tuple(sorted(x.items())), tuple(sorted(k.items()))
        name = self.quotients.get(key)
        if name is None:
            # Under a name of the obligation's own the quotient would be what the two are asked to be: one.
            taken = {n for n, _ in self.obligation.variables} | self.meaning.keys()
            name = self.quotients[key] = next(n for k in count() if (n := f"q'{k}") not in taken)
            self.meaning[name] = (x, k)
        return {(name,): 1}

    def owe(self, conclusion: Formula, label: str) -> None:
        goal = Obligation(self.variables(), conclusion, self.obligation.hypothesis, label)
        if goal not in self.goals:
            self.goals.append(goal)

    def expr(self, p: Poly) -> Expr:
        total: Expr | None = None
        for monomial, c in p.items():
            term: Expr | None = None
            for name in monomial:
                term = Var(name) if term is None else term * Var(name)
            scaled: Expr = Const(c) if term is None else term if c == 1 else term * c
            total = scaled if total is None else total + scaled
        return Const(0) if total is None else total


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """The monomial divided by another, or None."""
    left = list(monomial)
    for name in divisor:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def _single(p: Poly) -> str:
    """The name of the one variable that the polynomial is, else ''."""
    (monomial, c), *more = p.items()
    return monomial[0] if not more and c == 1 and len(monomial) == 1 else ""
