"""Polynomials with integer coefficients in named variables, as tables from monomials to coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

Monomial = tuple[str, ...]
"""Names in order, each as often as its power; () is one."""
Poly = dict[Monomial, int]

ONE: Final[Monomial] = ()


def number(value: int) -> Poly:
    """The polynomial without variables; 0 has no monomials."""
    return {ONE: value} if value else {}


def variable(name: str) -> Poly:
    """The polynomial of one variable."""
    return {(name,): 1}


def add(p: Mapping[Monomial, int], q: Mapping[Monomial, int], times: int = 1) -> Poly:
    """p + times * q."""
    out = dict(p)
    for m, c in q.items():
        total = out.get(m, 0) + times * c
        if total:
            out[m] = total
        else:
            out.pop(m, None)
    return out


def negate(p: Mapping[Monomial, int]) -> Poly:
    """-p."""
    return {m: -c for m, c in p.items()}


def multiply(p: Mapping[Monomial, int], q: Mapping[Monomial, int]) -> Poly:
    """p * q, without monomials whose coefficient is 0."""
    out: Poly = {}
    for m, c in p.items():
        for n, d in q.items():
            key = tuple(sorted(m + n))
            total = out.get(key, 0) + c * d
            if total:
                out[key] = total
            else:
                out.pop(key, None)
    return out


def replace(p: Mapping[Monomial, int], name: str, by: Mapping[Monomial, int]) -> Poly:
    """p with a polynomial in place of a variable."""
    if not any(name in m for m in p):
        return dict(p)
    out: Poly = {}
    for m, c in p.items():
        power = m.count(name)
        term: Poly = {tuple(v for v in m if v != name): c}
        for _ in range(power):
            term = multiply(term, by)
        out = add(out, term)
    return out


def degree(p: Mapping[Monomial, int]) -> int:
    """The most variables in a monomial, each as often as it is a factor; 0 for numbers."""
    return max((len(m) for m in p), default=0)


def variables(ps: Iterable[Mapping[Monomial, int]]) -> set[str]:
    """The names in any of the polynomials."""
    return {name for p in ps for m in p for name in m}
