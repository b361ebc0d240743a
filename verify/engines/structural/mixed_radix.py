"""Reshape chains, digit by digit: quotients and remainders of a linear index, taken apart with sub-goals.

Where `e = m * f + g` with `0 <= g < m`, the parts f and g are the digits of e in radix m:
`e floordiv (m * k) = f floordiv k` and `e mod (m * k) = m * (f mod k) + g`. So are quotients of quotients:
`(x floordiv a) floordiv k = x floordiv (a * k)`, and a sum of digits, `c * (x floordiv c) + x mod c`, is the index x
that they came from. Each such step is an equation over the obligation's variables, and an
engine proves all of them, side conditions included, before it is asked the obligation that is left. A digit of the
wrong size is an equation that the engine refutes.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.structural.intervals import Ask, Bounds, bounds_of_variables, ranges
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or, eq
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.expressions.interval import Interval

MOST_TERMS: Final = 64
"""A linear index with more terms is left as it is."""

MOST_STEPS: Final = 64
"""So many steps are taken on one node."""

_Terms = list[tuple[int, Expr]]
"""Coefficients and what they multiply."""


def find_counterexample(obligation: Obligation, ask: Ask) -> dict[str, int] | None:
    """A counterexample of the obligation, or None, by the engine `ask` on the sub-goals and on what is left.

    Raises NotExpressible when there are no digits to take apart, GaveUp when a sub-goal is not proved.
    """
    left, goal = take_apart(obligation)
    if ask(goal) is not None:
        raise GaveUp("a step of the digits does not hold")
    return ask(left)


def take_apart(obligation: Obligation) -> tuple[Obligation, Obligation]:
    """The obligation in digits, and the sub-goal: the conjunction of the steps' equations, for all values of the
    variables, bound ones included, in their intervals. Raises NotExpressible when there is no step to take."""
    work = _Digits(obligation)
    hypothesis = work.formula(obligation.hypothesis)
    conclusion = work.formula(obligation.conclusion)
    if not work.steps:
        raise NotExpressible("no digits to take apart")
    left = Obligation(obligation.variables, conclusion, hypothesis, f"{obligation.label}, in digits")
    steps = And(tuple(eq(before, after) for before, after in work.steps))
    return left, Obligation(tuple(work.variables.items()), steps, label=f"{obligation.label}, steps of the digits")


class _Digits:
    def __init__(self, obligation: Obligation) -> None:
        self.variables: dict[str, Interval | None] = dict(obligation.variables)
        self.box: dict[str, Bounds] = bounds_of_variables(obligation)
        self.done: dict[Expr, Expr] = {}
        self.steps: list[tuple[Expr, Expr]] = []

    def formula(self, f: Formula) -> Formula:
        match f:
            case Compare(op, lhs, rhs):
                return Compare(op, self.expr(lhs), self.expr(rhs))
            case And(parts):
                return And(tuple(self.formula(p) for p in parts))
            case Or(parts):
                return Or(tuple(self.formula(p) for p in parts))
            case Not(part):
                return Not(self.formula(part))
            case Exists(variables, part):
                for name, interval in variables:
                    if name in self.variables and self.variables[name] != interval:
                        raise NotExpressible("a name bound to two intervals")
                    if interval.is_empty:  # under it every step would hold
                        raise NotExpressible("a variable bound to nothing")
                    self.variables[name] = interval
                    self.box[name] = (interval.lower, interval.upper)
                return Exists(variables, self.formula(part))

    def expr(self, root: Expr) -> Expr:
        for e in postorder(root):
            if e in self.done:
                continue
            made = e
            if isinstance(e, Binary):
                made = Binary(e.op, self.done[e.lhs], self.done[e.rhs])
                for _ in range(MOST_STEPS):
                    after = self.step(made)
                    if after is None:
                        break
                    self.steps.append((made, after))
                    made = after
            self.done[e] = made
        return self.done[root]

    def step(self, e: Expr) -> Expr | None:
        """One step on a quotient or remainder, or None."""
        match e:
            case Binary("+", _, _):
                return self.join(e)
            case Binary("floordiv", Binary("floordiv", x, Const(a)), Const(k)) if a > 0 and k > 0:
                return Binary("floordiv", x, Const(a * k))
            case Binary("floordiv" | "mod" as op, x, Const(divisor)) if divisor > 0:
                parts = self.digits(x, divisor)
                if parts is None:
                    return None
                m, high, low = parts
                radix = divisor // m
                if op == "floordiv":
                    return high if radix == 1 else Binary("floordiv", high, Const(radix))
                return low if radix == 1 else Binary("mod", high, Const(radix)) * m + low
        return None

    def join(self, e: Expr) -> Expr | None:
        """A sum that holds c * (x floordiv c) + x mod c, times some factor: with x there instead."""
        terms, constant = _linear(e)
        factors = {t: c for c, t in terms}
        for t, factor in factors.items():
            match t:
                case Binary("mod", x, Const(c)) if c > 0:
                    whole = self.expr(Binary("floordiv", x, Const(c)))
                    if factors.get(whole) == factor * c:
                        left = [(f, u) for u, f in factors.items() if u is not t and u is not whole]
                        return _sum(*_linear(_sum([*left, (factor, x)], constant)))
        return None

    def digits(self, x: Expr, divisor: int) -> tuple[int, Expr, Expr] | None:
        """m, f, g with `x = m * f + g` and `0 <= g < m`, m > 1 the largest such divisor of `divisor`."""
        terms, constant = _linear(x)
        if len(terms) > MOST_TERMS:
            return None
        terms.sort(key=lambda term: -abs(term[0]))
        best: tuple[int, Expr, Expr] | None = None
        for split in range(len(terms) + 1):
            high, low = terms[:split], terms[split:]
            m = gcd(divisor, *(c for c, _ in high))
            if m <= (best[0] if best else 1):
                continue
            rest = _sum(low, constant % m)
            lower, upper = ranges(rest, self.box)[rest]
            if lower is not None and upper is not None and lower >= 0 and upper < m:
                best = m, _sum([(c // m, t) for c, t in high], constant // m), rest
        return best


def _linear(root: Expr) -> tuple[_Terms, int]:
    """`root` as a sum of coefficients times terms that are no sums, and a constant."""
    collected: dict[Expr, int] = {}
    constant = 0
    pending: list[tuple[int, Expr]] = [(1, root)]
    while pending:
        factor, e = pending.pop()
        match e:
            case Const(value):
                constant += factor * value
            case Binary("+", lhs, rhs):
                pending += [(factor, rhs), (factor, lhs)]
            case Binary("*", lhs, Const(value)) | Binary("*", Const(value), lhs):
                pending.append((factor * value, lhs))
            case _:
                collected[e] = collected.get(e, 0) + factor
    return [(c, e) for e, c in collected.items() if c], constant


def _sum(terms: _Terms, constant: int) -> Expr:
    total: Expr | None = None
    for c, e in terms:
        term = e if c == 1 else e * c
        total = term if total is None else total + term
    if total is None:
        return Const(constant)
    return total if constant == 0 else total + constant
