"""Positions and their digits when sizes are symbols: what divides is taken out of a quotient.

Trusted. Laws for divisors above 0: `(q * d + r) floordiv d = q + r floordiv d`, and with it
`(q * d + r) mod d = r mod d`; `(x floordiv a) floordiv b = x floordiv (a * b)`; for f above 0
`(f * x) floordiv (f * d) = x floordiv d` and `(f * x) mod (f * d) = f * (x mod d)`. Each use is noted for `laws`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, to_text
from hloproof.tensor_rules.laws import SizeIdentity, note

SizeMonomial = tuple[tuple[str, Expr], ...]
"""Factors in the order of their texts, which come first."""
SizePolynomial = dict[SizeMonomial, int]

MOST: Final = 400
"""Longer sums are left as they are."""


def polynomial(e: Expr, positive: frozenset[Expr] = frozenset()) -> SizePolynomial:
    """The expression as a sum of products; quotients, remainders, min and max are factors.

    Quotients by what is `positive` are taken apart, those that round up are written with those that round down.
    """
    done: dict[Expr, SizePolynomial] = {}
    for node in postorder(e):
        if isinstance(node, Const):
            done[node] = {(): node.value} if node.value else {}
        elif isinstance(node, Binary) and node.op == "+":
            done[node] = _sum(done[node.lhs], done[node.rhs])
        elif isinstance(node, Binary) and node.op == "*":
            done[node] = _product(done[node.lhs], done[node.rhs], node)
        elif isinstance(node, Binary) and node.op == "mod" and node.rhs in positive:
            note("taken apart")
            whole = polynomial(quotient(expression(done[node.lhs]), node.rhs))
            taken = _product(done[node.rhs], whole, expression(done[node.rhs]) * expression(whole))
            done[node] = _sum(done[node.lhs], {m: -c for m, c in taken.items()})
        elif isinstance(node, Binary) and node.op in ("floordiv", "ceildiv") and node.rhs in positive:
            above = node.rhs - 1 if node.op == "ceildiv" else Const(0)
            if node.op == "ceildiv":
                note("upward")
            done[node] = polynomial(quotient(expression(_sum(done[node.lhs], polynomial(above))), node.rhs))
        else:
            done[node] = {((to_text(node), node),): 1}
    return done[e]


def _sum(p: SizePolynomial, q: SizePolynomial) -> SizePolynomial:
    out = dict(p)
    for m, c in q.items():
        total = out.get(m, 0) + c
        if total:
            out[m] = total
        else:
            out.pop(m, None)
    return out


def _product(p: SizePolynomial, q: SizePolynomial, whole: Expr) -> SizePolynomial:
    if len(p) * len(q) > MOST:
        return {((to_text(whole), whole),): 1}
    out: SizePolynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            out = _sum(out, {tuple(sorted((*m, *n), key=lambda f: f[0])): c * d})
    return out


def expression(p: SizePolynomial) -> Expr:
    """The polynomial as an expression, always the same for the same polynomial."""
    out: Expr = Const(0)
    for m, c in sorted(p.items(), key=lambda item: [name for name, _ in item[0]]):
        part: Expr = Const(c)
        for _, factor in m:
            part = factor if part is Const(1) else part * factor
        out = part if out is Const(0) else out + part
    return out


def _divided(p: SizePolynomial, by: Expr) -> tuple[SizePolynomial, SizePolynomial]:
    """q and r with p = q * by + r: the monomials that the leading one of `by` divides are taken out, one by one."""
    divisor = polynomial(by)
    if not divisor:
        return {}, p
    lead = max(divisor, key=_degree)
    scale, factors = divisor[lead], Counter(lead)
    q: SizePolynomial = {}
    r = dict(p)
    for _ in range(MOST):
        found = next((m for m in sorted(r, key=_degree, reverse=True) if _divides(factors, scale, m, r[m])), None)
        if found is None:
            return q, r
        left = Counter(found)
        left.subtract(factors)
        rest = tuple(sorted(left.elements(), key=lambda f: f[0]))
        part = {rest: r[found] // scale}
        q = _sum(q, part)
        r = _sum(r, {m: -c for m, c in _product(part, divisor, expression(part) * by).items()})
    return {}, p


def _degree(m: SizeMonomial) -> tuple[int, list[str]]:
    return len(m), [name for name, _ in m]


def _divides(factors: Counter[tuple[str, Expr]], scale: int, m: SizeMonomial, c: int) -> bool:
    left = Counter(m)
    left.subtract(factors)
    return c % scale == 0 and all(n >= 0 for n in left.values())


def quotient(e: Expr, by: Expr) -> Expr:
    """e floordiv by, for `by` above 0."""
    if by is Const(1):
        note("whole")
        return e
    q, r = _divided(polynomial(e), by)
    note("quotient", lambda: (e, expression(q) * by + expression(r)))
    rest: Expr = Const(0)
    if r:
        inner = expression(r)
        if isinstance(inner, Binary) and inner.op == "floordiv":
            together = expression(polynomial(inner.rhs * by))
            note("nested", lambda: (inner.rhs * by, together))
            rest = quotient(inner.lhs, together)
        else:
            rest = inner // by
    else:
        note("nothing")
    out = expression(_sum(q, polynomial(rest)))
    note("", lambda: (expression(q) + rest, out))
    return out


def remainder(e: Expr, by: Expr) -> Expr:
    """e mod by, for `by` above 0."""
    if by is Const(1):
        note("whole")
        return Const(0)
    q, r = _divided(polynomial(e), by)
    note("remainder" if r else "nothing", lambda: (e, expression(q) * by + expression(r)))
    return expression(r) % by if r else Const(0)


def product(sizes: Iterable[Expr]) -> Expr:
    """The product of the sizes as one polynomial."""
    out: Expr = Const(1)
    for s in sizes:
        out = s if out is Const(1) else out * s
    return canonical(out)


def canonical(e: Expr) -> Expr:
    """The expression as a sum of products in one order, so that equal ones are mostly written alike."""
    out = expression(polynomial(e))
    note("", lambda: (e, out))
    return out


def same_polynomial(a: Expr, b: Expr, positive: frozenset[Expr] = frozenset()) -> bool:
    """Whether both are the same sum of products."""
    return a is b or polynomial(a, positive) == polynomial(b, positive)


def tidied(e: Expr, is_positive: Callable[[Expr], bool]) -> Expr:
    """The expression with quotients and remainders by what is positive taken apart, common factors left out."""
    done: dict[Expr, Expr] = {}
    for node in postorder(e):
        if not isinstance(node, Binary):
            done[node] = node
            continue
        x, y = done[node.lhs], done[node.rhs]
        done[node] = node if x is node.lhs and y is node.rhs else Binary(node.op, x, y)
        if node.op in ("floordiv", "mod") and is_positive(y):
            whole, (x, y, common) = (x, y), _reduced(x, y, is_positive)
            if common is not Const(1):
                fits = [multiple(e, common, part) for e, part in zip(whole, (x, y), strict=True)]
                note("scaled" if node.op == "floordiv" else "scaled remainder", *fits)
            part = quotient(x, y) if node.op == "floordiv" else times(common, remainder(x, y))
            done[node] = canonical(part)
    return done[e]


def multiple(e: Expr, factor: Expr, x: Expr) -> Callable[[], SizeIdentity]:
    """That e is so many times x, to be noted."""
    return lambda: (e, factor * x)


def divided_out(e: Expr, divisors: Iterable[Expr], is_positive: Callable[[Expr], bool]) -> Expr:
    """x such that e is at least 0 exactly where x is: a positive factor of all but the constant is left out.

    `f * x >= 0` where `x >= 0`, and `f * x - 1 >= 0` where `x - 1 >= 0`, for integers and f above 0.
    """
    p = polynomial(e)
    constant = p.pop((), 0)
    if constant not in (0, -1) or not p or max(map(len, p)) < 2:
        return e
    names = {f for m in p for f in m}
    shared = [f for _, f in sorted(names, key=lambda f: f[0]) if all(any(f is g for _, g in m) for m in p)]
    for f in (*divisors, *shared):
        if is_positive(f):
            q, r = _divided(p, f)
            if not r:
                note("sign", multiple(expression(p), f, expression(q)))
                p = q
    return expression(p) + constant if constant else expression(p)


def times(a: Expr, b: Expr) -> Expr:
    """a * b, without a factor 1 in front."""
    return b if a is Const(1) else a * b


def _reduced(x: Expr, y: Expr, is_positive: Callable[[Expr], bool]) -> tuple[Expr, Expr, Expr]:
    """x and y without a positive factor that all their monomials have, and the factor."""
    p, q = polynomial(x), polynomial(y)
    if not p or not q:
        return x, y, Const(1)
    shared: Counter[tuple[str, Expr]] | None = None
    for m in (*p, *q):
        shared = Counter(m) if shared is None else shared & Counter(m)
    assert shared is not None
    factors = [f for f in shared.elements() if is_positive(f[1])]
    if not factors:
        return x, y, Const(1)
    without = [{_without(m, factors): c for m, c in r.items()} for r in (p, q)]
    return expression(without[0]), expression(without[1]), expression({tuple(sorted(factors, key=lambda f: f[0])): 1})


def _without(m: SizeMonomial, factors: Iterable[tuple[str, Expr]]) -> SizeMonomial:
    left = Counter(m)
    left.subtract(Counter(factors))
    return tuple(sorted(left.elements(), key=lambda f: f[0]))
