"""Index arithmetic: linear forms over variables of boxes, with digits; equal positions are mostly written alike.

Trusted. Each constructor applies only identities that hold for all integers, or for all values within the bounds that
an atom carries; tests compare them with enumeration. `x // a` rounds down, `x % m` lies in [0, m); `a`, `m` > 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Var:
    """A variable over [0, size - 1], named by its place in the context."""

    place: int
    size: int

    @property
    def lo(self) -> int:
        return 0

    @property
    def hi(self) -> int:
        return self.size - 1


@dataclass(frozen=True, slots=True)
class Digit:
    """(of // divisor) % modulus; a modulus of 0 stands for none."""

    of: Lin
    divisor: int
    modulus: int

    @property
    def lo(self) -> int:
        return 0 if self.modulus else self.of.lo // self.divisor

    @property
    def hi(self) -> int:
        return self.modulus - 1 if self.modulus else self.of.hi // self.divisor


@dataclass(frozen=True, slots=True)
class Clamp:
    """min(max(of, lo), hi), with lo <= hi."""

    of: Lin
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class TermValue:
    """The integer that a term of an integer type stands for, with the bounds of that type."""

    term: Any
    lo: int
    hi: int


Atom = Var | Digit | Clamp | TermValue


class Lin:
    """constant + sum of coefficient * atom, with the interval that follows from the atoms' bounds."""

    __slots__ = ("_hash", "constant", "hi", "lo", "terms")

    def __init__(self, constant: int, terms: dict[Atom, int]) -> None:
        self.constant, self.terms = constant, terms
        lo = hi = constant
        for atom, c in terms.items():
            if c > 0:
                lo, hi = lo + c * atom.lo, hi + c * atom.hi
            else:
                lo, hi = lo + c * atom.hi, hi + c * atom.lo
        self.lo, self.hi = lo, hi
        self._hash = hash((constant, frozenset(terms.items())))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Lin)
            and self._hash == other._hash
            and self.constant == other.constant
            and self.terms == other.terms
        )

    def __repr__(self) -> str:
        return " + ".join([f"{c}*{a}" for a, c in self.terms.items()] + [str(self.constant)])

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Lin | int) -> Lin:
        if isinstance(other, int):
            return self if other == 0 else Lin(self.constant + other, self.terms)
        if not other.terms:
            return self + other.constant
        if not self.terms:
            return other + self.constant
        terms = dict(self.terms)
        for atom, c in other.terms.items():
            total = terms.get(atom, 0) + c
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        # Only addition brings two digits together; every other way to a form goes through it or keeps them apart.
        return _joined(self.constant + other.constant, terms)

    __radd__ = __add__

    def __neg__(self) -> Lin:
        return self * -1

    def __sub__(self, other: Lin | int) -> Lin:
        return self + (-other)

    def __rsub__(self, other: int) -> Lin:
        return -self + other

    def __mul__(self, factor: int) -> Lin:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Lin(self.constant * factor, {a: c * factor for a, c in self.terms.items()})

    __rmul__ = __mul__

    def __floordiv__(self, a: int) -> Lin:
        """a*q + r divides to q + r // a for all integers, so whole multiples come out first."""
        if a <= 0:
            raise ValueError("a divisor must be positive")
        if a == 1:
            return self
        whole = {atom: c // a for atom, c in self.terms.items() if c % a == 0}
        rest = {atom: c for atom, c in self.terms.items() if c % a}
        return Lin(self.constant // a, whole) + _divided_rest(Lin(self.constant % a, rest), a)

    def __mod__(self, m: int) -> Lin:
        """Multiples of m drop out for all integers."""
        if m <= 0:
            raise ValueError("a modulus must be positive")
        if m == 1:
            return ZERO
        rest = Lin(self.constant % m, {atom: c for atom, c in self.terms.items() if c % m})
        if self.lo >= 0 and self.hi < m:
            return self
        # All values lie between the same two multiples of m, so that the remainder is a difference.
        if rest.lo // m == rest.hi // m:
            return rest - m * (rest.lo // m)
        found = _low_part(rest, m)
        if found is not None:
            high, low, g = found
            return (high % (m // g)) * g + low
        atom = _only_atom(rest)
        # (of // a % (k * m)) % m is of // a % m.
        if isinstance(atom, Digit) and (atom.modulus == 0 or atom.modulus % m == 0):
            return _digit(atom.of, atom.divisor, m)
        return _digit(rest, 1, m)


At = tuple[Lin, ...]
"""The index of an element: a form for each dimension."""


def constant(value: int) -> Lin:
    """The form without atoms."""
    return Lin(value, {})


ZERO: Final = constant(0)


def variable(place: int, size: int) -> Lin:
    """The variable as a form; a variable of size 1 is the number 0."""
    return ZERO if size == 1 else Lin(0, {Var(place, size): 1})


def of_atom(atom: Atom) -> Lin:
    """The atom itself, once."""
    return Lin(0, {atom: 1})


def clamp(x: Lin, lo: int, hi: int) -> Lin:
    """min(max(x, lo), hi), for lo <= hi."""
    if lo <= x.lo and x.hi <= hi:
        return x
    if x.hi <= lo:
        return constant(lo)
    if x.lo >= hi:
        return constant(hi)
    inner = _only_atom(x)
    if isinstance(inner, Clamp):  # clamped twice is clamped once, to the first bounds clamped
        return clamp(inner.of, min(max(inner.lo, lo), hi), min(max(inner.hi, lo), hi))
    return of_atom(Clamp(x, lo, hi))


def _digit(x: Lin, divisor: int, modulus: int) -> Lin:
    """The digit as a form; without a modulus that its bounds make idle."""
    if modulus and x.lo // divisor >= 0 and x.hi // divisor < modulus:
        modulus = 0
    if divisor == 1 and modulus == 0:
        return x
    return of_atom(Digit(x, divisor, modulus))


def _only_atom(x: Lin) -> Atom | None:
    """The atom that `x` is, if it is one."""
    if x.constant == 0 and len(x.terms) == 1:
        ((atom, c),) = x.terms.items()
        if c == 1:
            return atom
    return None


def _low_part(x: Lin, a: int) -> tuple[Lin, Lin, int] | None:
    """x as g*high + low with 0 <= low < g, g > 1 a divisor of a; None if no such g is seen."""
    # The small coefficients are the low part: in a row-major position they belong to the minor dimensions.
    by_size = sorted(x.terms.items(), key=lambda item: abs(item[1]))
    for cut in range(len(by_size)):
        g = gcd(a, *(c for _, c in by_size[cut:]))
        if g == 1:
            continue
        low = Lin(x.constant % g, dict(by_size[:cut]))
        if low.lo >= 0 and low.hi < g:
            high = Lin(x.constant // g, {atom: c // g for atom, c in by_size[cut:]})
            return high, low, g
    return None


def _divided_rest(x: Lin, a: int) -> Lin:
    """x // a where no coefficient is a multiple of a."""
    if x.lo // a == x.hi // a:
        return constant(x.lo // a)
    found = _low_part(x, a)
    if found is not None:
        high, _, g = found
        # (g * high + low) // a, where low < g and g divides a, is high // (a / g): what is low never reaches a.
        return high // (a // g)
    atom = _only_atom(x)
    if isinstance(atom, Digit):
        if atom.modulus == 0:
            return atom.of // (atom.divisor * a)
        if atom.modulus % a == 0:
            return _digit(atom.of, atom.divisor * a, atom.modulus // a)
    return _digit(x, a, 0)


def _joined(total: int, terms: dict[Atom, int]) -> Lin:
    """Joins neighbouring digits: k*(x//a % m) + k*m*(x//(a*m) % n) = k*(x//a % (m*n)), without a modulus likewise."""
    for atom, c in terms.items():
        if not isinstance(atom, Digit) or not atom.modulus:
            continue
        for other, k in terms.items():
            if (
                k == c * atom.modulus
                and isinstance(other, Digit)
                and other.divisor == atom.divisor * atom.modulus
                and other.of == atom.of
            ):
                del terms[atom], terms[other]
                # One pair at a time: what is joined may be the neighbour of a third digit, and the addition below looks
                # again.
                joined = _digit(atom.of, atom.divisor, atom.modulus * other.modulus)
                return Lin(total, terms) + joined * c
    return Lin(total, terms)


Substitution = Mapping[int, Lin]
"""The place of a variable to what stands for it."""


@dataclass
class Substituted:
    """Substitutes forms for variables; `term` does so inside the terms of values. Remembers what it did."""

    by_place: Substitution
    term: Callable[[Any], Lin]
    """The form that the value of a term has after substitution."""
    done: dict[Lin, Lin] = field(default_factory=dict)

    def __call__(self, x: Lin) -> Lin:
        if not x.terms:
            return x
        found = self.done.get(x)
        if found is None:
            found = constant(x.constant)
            for atom, c in x.terms.items():
                found = found + self.atom(atom) * c
            self.done[x] = found
        return found

    def atom(self, atom: Atom) -> Lin:
        match atom:
            case Var(place, _):
                return self.by_place[place] if place in self.by_place else of_atom(atom)
            case Digit(of, divisor, modulus):
                inner = self(of) // divisor
                return inner % modulus if modulus else inner
            case Clamp(of, lo, hi):
                return clamp(self(of), lo, hi)
            case TermValue(term):
                return self.term(term)


def variables(x: Lin, inside: Callable[[Any], frozenset[Var]]) -> frozenset[Var]:
    """The variables in a form; `inside` gives those of a term."""
    out: set[Var] = set()
    for atom in x.terms:
        match atom:
            case Var():
                out.add(atom)
            case Digit(of) | Clamp(of):
                out |= variables(of, inside)
            case TermValue(term):
                out |= inside(term)
    return frozenset(out)
