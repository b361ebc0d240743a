"""Positions and their digits when sizes are symbols: what divides is taken out of a quotient.

Trusted. Two laws, for divisors above 0: `(q * d + r) floordiv d = q + r floordiv d`, and with it
`(q * d + r) mod d = r mod d`; `(x floordiv a) floordiv b = x floordiv (a * b)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, to_text

Monomial = tuple[tuple[str, Expr], ...]
"""Factors in the order of their texts, which come first."""
Polynomial = dict[Monomial, int]

MOST: Final = 400
"""Longer sums are left as they are."""


def polynomial(e: Expr, positive: frozenset[Expr] = frozenset()) -> Polynomial:
    """The expression as a sum of products; quotients, remainders, min and max are factors.

    Quotients by what is `positive` are taken apart, those that round up are written with those that round down.
    """
    done: dict[Expr, Polynomial] = {}
    for node in postorder(e):
        if isinstance(node, Const):
            done[node] = {(): node.value} if node.value else {}
        elif isinstance(node, Binary) and node.op == "+":
            done[node] = _sum(done[node.lhs], done[node.rhs])
        elif isinstance(node, Binary) and node.op == "*":
            done[node] = _product(done[node.lhs], done[node.rhs], node)
        elif isinstance(node, Binary) and node.op in ("floordiv", "ceildiv") and node.rhs in positive:
            above = node.rhs - 1 if node.op == "ceildiv" else Const(0)
            done[node] = polynomial(quotient(expression(_sum(done[node.lhs], polynomial(above))), node.rhs))
        else:
            done[node] = {((to_text(node), node),): 1}
    return done[e]


def _sum(p: Polynomial, q: Polynomial) -> Polynomial:
    out = dict(p)
    for m, c in q.items():
        total = out.get(m, 0) + c
        if total:
            out[m] = total
        else:
            out.pop(m, None)
    return out


def _product(p: Polynomial, q: Polynomial, whole: Expr) -> Polynomial:
    if len(p) * len(q) > MOST:
        return {((to_text(whole), whole),): 1}
    out: Polynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            out = _sum(out, {tuple(sorted((*m, *n), key=lambda f: f[0])): c * d})
    return out


def expression(p: Polynomial) -> Expr:
    """The polynomial as an expression, always the same for the same polynomial."""
    out: Expr = Const(0)
    for m, c in sorted(p.items(), key=lambda item: [name for name, _ in item[0]]):
        part: Expr = Const(c)
        for _, factor in m:
            part = factor if part is Const(1) else part * factor
        out = part if out is Const(0) else out + part
    return out


def _divided(p: Polynomial, by: Expr) -> tuple[Polynomial, Polynomial]:
    """q and r with p = q * by + r, where `by` is one product; q has every monomial that it divides."""
    divisor = polynomial(by)
    if len(divisor) != 1:
        return {}, p
    [(factors, scale)] = divisor.items()
    q: Polynomial = {}
    r: Polynomial = {}
    for m, c in p.items():
        left = Counter(m)
        left.subtract(Counter(factors))
        if scale and c % scale == 0 and all(n >= 0 for n in left.values()):
            q[tuple(sorted(left.elements(), key=lambda f: f[0]))] = c // scale
        else:
            r[m] = c
    return q, r


def quotient(e: Expr, by: Expr) -> Expr:
    """e floordiv by, for `by` above 0."""
    if by is Const(1):
        return e
    q, r = _divided(polynomial(e), by)
    rest: Expr = Const(0)
    if r:
        inner = expression(r)
        if isinstance(inner, Binary) and inner.op == "floordiv":
            rest = quotient(inner.lhs, expression(polynomial(inner.rhs * by)))
        else:
            rest = inner // by
    return expression(_sum(q, polynomial(rest)))


def remainder(e: Expr, by: Expr) -> Expr:
    """e mod by, for `by` above 0."""
    if by is Const(1):
        return Const(0)
    _, r = _divided(polynomial(e), by)
    return expression(r) % by if r else Const(0)


def product(sizes: Iterable[Expr]) -> Expr:
    """The product of the sizes as one polynomial."""
    out: Expr = Const(1)
    for s in sizes:
        out = s if out is Const(1) else out * s
    return expression(polynomial(out))


def canonical(e: Expr) -> Expr:
    """The expression as a sum of products in one order, so that equal ones are mostly written alike."""
    return expression(polynomial(e))


def same_polynomial(a: Expr, b: Expr, positive: frozenset[Expr] = frozenset()) -> bool:
    """Whether both are the same sum of products."""
    return a is b or polynomial(a, positive) == polynomial(b, positive)
