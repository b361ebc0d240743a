"""The second way to Z3, for rules with symbolic divisors: linear arithmetic over monomials.

Inequalities `p >= 0` between polynomials are multiplied with one another, each monomial becomes a variable of its own,
and what is left is linear. Forgetting what monomials have to do with each other only weakens the hypotheses: when the
linear problem has no solution, the polynomial one has none. Nothing follows when it has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import z3

from hloproof.engines.nonlinear.polynomial import Monomial, Poly, degree, multiply, negate, variables

_DEGREE: Final = 5
_PRODUCTS: Final = 3_000
_INTEGERS: Final = 40
"""Problems with more facts are asked over the rationals only."""


def context() -> Any:
    """A fresh context, for the questions of one proof: Z3's resource count depends on what a context has done."""
    return z3.Context()


def contradictory(facts: Sequence[Poly], rlimit: int, ctx: Any) -> bool:
    """The facts `p >= 0` cannot all hold over the integers. False means: not shown."""
    # A polynomial without monomials says 0 >= 0.
    closed = [f for f in facts if f]
    if any(degree(f) == 0 and f[()] < 0 for f in closed):
        return True
    if _unsatisfiable(closed, rlimit, ctx):
        return True
    products = _products(closed, closed) + _equal_products(closed)
    if _unsatisfiable([*closed, *products], rlimit, ctx):
        return True
    # The third round multiplies once more, but only by short facts, such as signs and orders of two variables: with all
    # of them the products would be too many.
    signs = [f for f in closed if len(f) <= 3 and degree(f) <= 1]
    return _unsatisfiable([*closed, *products, *_products(signs, products)], rlimit, ctx)


def _products(left: Sequence[Poly], right: Sequence[Poly]) -> list[Poly]:
    out: dict[tuple[tuple[Monomial, int], ...], Poly] = {}
    for i, p in enumerate(left):
        for q in right[i:] if left is right else right:
            if degree(p) + degree(q) <= _DEGREE and degree(p) and degree(q):
                made = multiply(p, q)
                out[tuple(sorted(made.items()))] = made
                if len(out) > _PRODUCTS:
                    return list(out.values())
    return list(out.values())


def _equal_products(facts: Sequence[Poly]) -> list[Poly]:
    """Equalities (p >= 0 and -p >= 0) times each variable."""
    present = {tuple(sorted(f.items())) for f in facts}
    equal = [f for f in facts if degree(f) > 1 and tuple(sorted(negate(f).items())) in present]
    return [multiply(f, {(name,): 1}) for f in equal for name in sorted(variables(facts))]


def _unsatisfiable(facts: Sequence[Mapping[Monomial, int]], rlimit: int, ctx: Any) -> bool:
    """Over the rationals first, which is quick, then over the integers."""
    names: dict[Monomial, str] = {}
    lines: list[str] = []
    for f in facts:
        terms = [str(c) if not m else f"(* {c} {names.setdefault(m, f'm{len(names)}')})" for m, c in f.items()]
        lines.append(f"(assert (>= (+ 0 {' '.join(terms)}) 0))".replace("(* 1 ", "(+ 0 "))
    # No rational point, no integer one: what is contradictory over the rationals need not be asked again.
    for sort, logic in (("Real", "QF_LRA"), ("Int", "QF_LIA")):
        solver = z3.SolverFor(logic, ctx=ctx)
        solver.set("rlimit", rlimit)
        solver.from_string("".join([*(f"(declare-const {n} {sort})" for n in names.values()), *lines]))
        if solver.check() == z3.unsat:
            return True
        if len(facts) > _INTEGERS:
            break
    return False
