"""Proves statements with symbolic divisors for all integers: quotients named, cases split, products of inequalities.

A statement is a list of hypotheses and a goal, comparisons between expressions whose variables are integers without
bounds. Divisions are replaced innermost first by variables for their quotients, whose definition depends on the sign of
the divisor; min, max and `!=` are split into cases. Each case is a set of polynomial inequalities that has to be
contradictory together with the goal's negation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from hloproof.engines.nonlinear.polynomial import ONE, Monomial, Poly, add, multiply, negate, number, replace, variable
from hloproof.logic.obligation import FLOOR, Rounding, RoundingSemantics
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.rules.rule import Condition

_CASES: Final = 2_048


@dataclass
class Problem:
    """Facts `p >= 0` that hold in every case, and for each split the facts of its alternatives."""

    facts: list[Poly] = field(default_factory=list)
    splits: list[tuple[tuple[Poly, ...], ...]] = field(default_factory=list)
    names: dict[Expr, Poly] = field(default_factory=dict)
    quotients: dict[tuple[tuple[object, ...], tuple[object, ...]], Poly] = field(default_factory=dict)
    fresh: int = 0
    reading: RoundingSemantics = field(default_factory=lambda: RoundingSemantics())

    def polynomial(self, root: Expr) -> Poly:
        """The value of an expression; adds what defines its quotients."""
        for e in postorder(root):
            if e not in self.names:
                self.names[e] = self._node(e)
        return self.names[root]

    def _node(self, e: Expr) -> Poly:
        match e:
            case Const(v):
                return number(v)
            case Var(name):
                return variable(name)
            case Binary(op, lhs, rhs):
                x, y = self.names[lhs], self.names[rhs]
                match op:
                    case "+":
                        return add(x, y)
                    case "*":
                        return multiply(x, y)
                    case "floordiv":
                        return self._quotient(x, y, self.reading.division)
                    case "ceildiv":
                        return negate(self._quotient(negate(x), y, "floor"))
                    case "mod":
                        return add(x, multiply(y, self._quotient(x, y, self.reading.mod)), -1)
                    case "min" | "max":
                        return self._extreme(x, y, 1 if op == "min" else -1)
        raise AssertionError(e)

    def _variable(self, hint: str) -> Poly:
        self.fresh += 1
        return variable(f"{hint}!{self.fresh}")

    def _quotient(self, x: Poly, d: Poly, rounding: Rounding) -> Poly:
        k = ((*sorted(x.items()), rounding), tuple(sorted(d.items())))
        if k in self.quotients:
            return self.quotients[k]
        q = self.quotients[k] = self._variable("q")
        rest = add(x, multiply(d, q), -1)
        cases: list[tuple[Poly, ...]] = []
        for sign in (1, -1):
            below = add(d if sign > 0 else negate(d), number(-1))  # |d| - 1
            up, down = (rest, add(below, rest, -1)), (negate(rest), add(below, rest))
            match rounding:
                case "floor":
                    cases.append((below, *(up if sign > 0 else down)))
                case "euclidean":
                    cases.append((below, *up))
                case "trunc":
                    cases.append((below, x, *up))
                    cases.append((below, add(negate(x), number(-1)), *down))
        if set(d) <= {ONE}:
            cases = [c for c in cases if c[0].get(ONE, 0) >= 0]
        if len(cases) == 1:
            self.facts += cases[0]
        else:
            self.splits.append(tuple(cases))
        return q

    def _extreme(self, x: Poly, y: Poly, sign: int) -> Poly:
        v = self._variable("m")
        less = add(y, x, -1) if sign > 0 else add(x, y, -1)  # at least zero where the answer is x
        self.splits.append(
            ((less, add(v, x, -1), add(x, v, -1)), (add(negate(less), number(-1)), add(v, y, -1), add(y, v, -1)))
        )
        return v

    def alternatives(self, c: Condition) -> tuple[tuple[Poly, ...], ...]:
        """The comparison as alternatives of inequalities."""
        x, y = self.polynomial(c.lhs), self.polynomial(c.rhs)
        difference = add(y, x, -1)
        match c.op:
            case "<=":
                return ((difference,),)
            case "<":
                return ((add(difference, number(-1)),),)
            case "==":
                return ((difference, negate(difference)),)
            case "!=":
                one = number(1)
                return ((add(difference, one, -1),), (add(negate(difference), one, -1),))

    def assume(self, c: Condition) -> None:
        found = self.alternatives(c)
        if len(found) == 1:
            self.facts += found[0]
        else:
            self.splits.append(found)


def negation(c: Condition) -> Condition:
    """The condition that holds of integers exactly where this one does not."""
    match c.op:
        case "<=":
            return Condition("<", c.rhs, c.lhs)
        case "<":
            return Condition("<=", c.rhs, c.lhs)
        case "==":
            return Condition("!=", c.lhs, c.rhs)
        case "!=":
            return Condition("==", c.lhs, c.rhs)


def implies(hypotheses: Sequence[Condition], goal: Condition, rlimit: int, reading: RoundingSemantics = FLOOR) -> bool:
    """The goal holds wherever the hypotheses do and all divisors differ from zero. False means: not shown."""
    from hloproof.engines.nonlinear.encode_z3 import context, contradictory

    problem = Problem(reading=reading)
    ctx = context()
    for c in hypotheses:
        problem.assume(c)
    problem.assume(negation(goal))
    return all(contradictory(case, rlimit, ctx) for case in _cases(problem, rlimit))


def _cases(problem: Problem, rlimit: int) -> Iterator[list[Poly]]:
    """Every case, with equalities solved; those that contradict themselves at first sight are left out."""
    # Signs of divisors follow from conditions on constants: decide them once, without the quotients.
    constants = [f for f in problem.facts if not any("!" in name for m in f for name in m)]
    splits: list[list[tuple[Poly, ...]]] = []
    for s in problem.splits:
        signs = [[f for f in alternative if not any("!" in name for m in f for name in m)] for alternative in s]
        splits.append(
            [
                alternative
                for alternative, sign in zip(s, signs, strict=True)
                if not (sign and _impossible([*constants, *sign], rlimit))
            ]
        )
    splits.sort(key=len)
    stack: list[tuple[int, list[Poly]]] = [(0, list(problem.facts))]
    for _ in range(_CASES):
        if not stack:
            return
        at, facts = stack.pop()
        if at == len(splits):
            yield _solved(facts)
            continue
        for alternative in splits[at]:
            if not any(_clash(f, g) for f in alternative for g in facts):
                stack.append((at + 1, [*facts, *alternative]))
    if stack:
        yield []  # Too many cases: an empty one is not contradictory, so nothing is shown.


_signs: dict[frozenset[tuple[tuple[Monomial, int], ...]], bool] = {}


def _impossible(facts: list[Poly], rlimit: int) -> bool:
    """The facts about constants contradict each other; remembered, since every statement about a rule asks again."""
    from hloproof.engines.nonlinear.encode_z3 import context, contradictory

    k = frozenset(tuple(sorted(f.items())) for f in facts)
    if k not in _signs:
        if len(_signs) > 10_000:
            _signs.clear()
        _signs[k] = contradictory(facts, rlimit, context())
    return _signs[k]


def _clash(p: Poly, q: Poly) -> bool:
    """The sum of the two is a negative constant."""
    if len(p) > 4 or p.keys() - {ONE} != q.keys() - {ONE}:
        return False
    total = add(p, q)
    return set(total) == {ONE} and total[ONE] < 0


def _solved(facts: list[Poly]) -> list[Poly]:
    """Equalities (p >= 0 and -p >= 0) that give a variable by itself are used to replace it everywhere."""
    while True:
        present = {tuple(sorted(f.items())) for f in facts}
        for f in facts:
            if tuple(sorted(negate(f).items())) not in present:
                continue
            name = next((m[0] for m, c in f.items() if len(m) == 1 and abs(c) == 1 and _alone(m[0], f)), None)
            if name is None:
                continue
            c = f[(name,)]
            value = {m: -c * k for m, k in f.items() if m != (name,)}
            facts = [g for g in (replace(h, name, value) for h in facts) if g]
            break
        else:
            return facts


def _alone(name: str, p: Poly) -> bool:
    return sum(name in m for m in p) == 1
