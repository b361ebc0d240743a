"""Matching patterns against sums, modulo associativity and commutativity and with like terms collected.

In a pattern sum, in this order: a term with a division, remainder, min or max is looked for among the terms; a term
whose metavariables are all known is built, simplified and subtracted; `c * x` takes as x all the terms that c divides,
where an open c is tried at every common factor of coefficients, larger ones first; a lone metavariable takes the rest,
and `-x` a rest whose first coefficient is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd
from operator import neg
from typing import Final, Protocol

from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.rules.rule import RuleBase, Sort
from hloproof.models.simplifier.linear import ZERO, Atom, Linear, constant, linear_of, of_atom

Bindings = dict[str, "Linear | int"]
_OPEN: Final = "?"
"""The key under which bindings keep equations between constants that are not solved yet."""


_ONE: Final = Const(1)
_MINUS_ONE: Final = Const(-1)


class _Builder(Protocol):
    """What matching needs of the simplifier: simplified instances, and ranges."""

    def build(self, e: Expr, bindings: Bindings) -> Linear: ...
    def range(self, s: Linear) -> Interval: ...


# --- constants ---------------------------------------------------------------------------------------------------


def value(e: Expr, b: Bindings) -> int | None:
    """The value of an expression of constants; None where a metavariable is open or a divisor is zero."""
    kind = type(e)
    if kind is Const:
        return e.value  # type: ignore[attr-defined, no-any-return]
    if kind is Var:
        found = b.get(e.name)  # type: ignore[attr-defined]
        return found if type(found) is int else None
    assert isinstance(e, Binary)
    x = value(e.lhs, b)
    if x is None:
        return None
    y = value(e.rhs, b)
    if y is None:
        return None
    try:
        return _OPERATORS[e.op](x, y)
    except ZeroDivisionError:
        return None


_OPERATORS: Final[dict[Operator, Callable[[int, int], int]]] = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "floordiv": lambda x, y: x // y,
    "ceildiv": lambda x, y: -(-x // y),
    "mod": lambda x, y: x - y * (x // y),
    "min": min,
    "max": max,
}


def solve(e: Expr, v: int, b: Bindings) -> Bindings | None:
    """Bindings with which the expression of constants `e` has the value v; None when there are none.

    An equation with several open metavariables is kept, and solved when others have been found.
    """
    if type(e) is Var:
        known_value = b.get(e.name)
        if known_value is None:
            found = {**b, e.name: v}
            return _settled(found) if _OPEN in b else found
        return b if known_value == v else None
    match e:
        case Const(w):
            return b if w == v else None
        case Binary(op, lhs, rhs):
            x, y = value(lhs, b), value(rhs, b)
            if x is not None and y is not None:
                return b if value(e, b) == v else None
            if op == "*" and (x is not None or y is not None):
                known, other = (x, rhs) if x is not None else (y, lhs)
                # A known factor of 0 leaves the other one open, which is no answer.
                if not known or v % known:
                    return None
                return solve(other, v // known, b)
            # Both sides are open: what the rest of the pattern binds will decide between the many solutions.
            return {**b, _OPEN: (*_equations(b), (e, v))}  # type: ignore[dict-item]
    return None


def _equations(b: Bindings) -> tuple[tuple[Expr, int], ...]:
    return b.get(_OPEN, ())  # type: ignore[return-value]


def _settled(b: Bindings) -> Bindings | None:
    """Solves the kept equations that have become solvable."""
    settled: Bindings = {**b, _OPEN: ()}  # type: ignore[dict-item]
    for e, v in _equations(b):
        found = solve(e, v, settled)
        if found is None:
            return None
        settled = found
    return settled


# --- compiled patterns -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hole:
    """A metavariable that stands for a sum, a variable or a constant, by its sort."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class ConstPattern:
    """Stands for one integer: that of `expr`, whose metavariables are constants."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class NodePattern:
    """An operation that is no sum, with patterns for its operands; `source` is what the rule has there."""

    op: Operator
    lhs: Pattern
    rhs: Pattern
    source: Expr


@dataclass(frozen=True, slots=True)
class PatternPart:
    """`coefficient * factor`; in a part that is known once the parts before it have matched, the whole is built."""

    kind: str
    """anchor, known, scaled, rest, const"""
    coefficient: Expr
    factor: Pattern | None
    source: Expr


@dataclass(frozen=True, slots=True)
class SumPattern:
    """A sum, matched part by part in this order."""

    parts: tuple[PatternPart, ...]
    low: bool
    """The rest is to start at zero as near as can be: a condition bounds it."""


@dataclass(frozen=True, slots=True)
class KnownPattern:
    """An expression whose metavariables have all been bound: it is built and compared as it is when simplified."""

    source: Expr


Pattern = Hole | ConstPattern | KnownPattern | NodePattern | SumPattern


def compile_pattern(e: Expr, rule: RuleBase, known: set[str]) -> Pattern:
    """The pattern, for matching with the metavariables `known` bound; adds to `known` those that it binds."""
    if isinstance(e, Var) and rule.sort(e.name) != "constant":
        known.add(e.name)
        return Hole(e.name, rule.sort(e.name))
    if all(rule.sort(n) == "constant" for n in e.free):
        known |= e.free
        return ConstPattern(e)
    if e.free <= known:
        return KnownPattern(e)
    if isinstance(e, Binary) and e.op not in ("+", "*"):
        rhs = compile_pattern(e.rhs, rule, known)
        return NodePattern(e.op, compile_pattern(e.lhs, rule, known), rhs, e)
    return _compile_sum(e, rule, known)


def _compile_sum(e: Expr, rule: RuleBase, known: set[str]) -> SumPattern:
    summands = [_coefficient(s, rule) for s in _summands(e)]
    parts: list[PatternPart] = []
    loose = list(summands)

    def take(kind: str, which: Callable[[Expr, Expr | None], bool]) -> None:
        for coefficient, factor in list(loose):
            if which(coefficient, factor):
                loose.remove((coefficient, factor))
                whole = coefficient if factor is None else Binary("*", factor, coefficient)
                pattern = None
                if factor is not None and kind != "known":
                    pattern = compile_pattern(factor, rule, known)
                known.update(coefficient.free)
                parts.append(PatternPart(kind, coefficient, pattern, whole))

    while True:
        # Known parts first, since they are only subtracted; then one anchor, which binds metavariables and may make
        # further parts known. Constants come before scaled parts: an equation for c spares guessing it.
        take("known", lambda c, f: f is not None and (c.free | f.free) <= known)
        anchors = [s for s in loose if isinstance(s[1], Binary)]
        if not anchors:
            break
        take("anchor", lambda c, f, first=anchors[0]: (c, f) == first)  # type: ignore[misc]
    take("const", lambda c, f: f is None)
    take("scaled", lambda c, f: c not in (_ONE, _MINUS_ONE))
    take("rest", lambda c, f: True)
    rest = {p.factor.name for p in parts if p.kind == "rest" and isinstance(p.factor, Hole)}
    return SumPattern(tuple(parts), any(rest & (c.lhs.free | c.rhs.free) for c in rule.conditions))


def _summands(e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op == "+":
        return _summands(e.lhs) + _summands(e.rhs)
    return [e]


def _coefficient(e: Expr, rule: RuleBase) -> tuple[Expr, Expr | None]:
    """A summand as a constant coefficient and a factor (None: the summand is a constant)."""
    if all(rule.sort(n) == "constant" for n in e.free):
        return e, None
    if isinstance(e, Binary) and e.op == "*":
        for one, other in ((e.lhs, e.rhs), (e.rhs, e.lhs)):
            if all(rule.sort(n) == "constant" for n in one.free):
                c, factor = _coefficient(other, rule)
                return (one if c == Const(1) else Binary("*", c, one)), factor
    return Const(1), e


# --- matching ----------------------------------------------------------------------------------------------------


def match(p: Pattern, s: Linear, b: Bindings, build: _Builder) -> Iterator[Bindings]:
    """Every way in which the sum is an instance of the pattern, as bindings that extend b; the preferred ones first."""
    match p:
        case ConstPattern(e):
            if s.is_const:
                found = solve(e, s.const, b)
                if found is not None:
                    yield found
        case Hole(name, sort):
            if name in b:
                if b[name] == s:
                    yield b
            elif sort == "expression" or (_single(s) and isinstance(s.terms[0][0], Var)):
                yield {**b, name: s}
        case KnownPattern(e):
            if build.build(e, b) == s:
                yield b
        case NodePattern():
            if _single(s):
                yield from match_atom(p, s.terms[0][0], b, build)
        case SumPattern():
            for found, left in match_parts(p, 0, s, b, build):
                if not left.terms and not left.const:
                    yield found


def _single(s: Linear) -> bool:
    return len(s.terms) == 1 and not s.const and s.terms[0][1] == 1


def match_atom(p: NodePattern, atom: Atom, b: Bindings, build: _Builder) -> Iterator[Bindings]:
    """Every way in which an operation that is no sum is an instance of the pattern; min and max in both orders."""
    if not isinstance(atom, Binary) or atom.op != p.op:
        return
    lhs, rhs = linear_of(atom.lhs), linear_of(atom.rhs)
    yield from match_operands(p, lhs, rhs, b, build)
    # Their operands stand in the order of `key`, which is not that of the pattern.
    if p.op in ("min", "max"):
        yield from match_operands(p, rhs, lhs, b, build)


def match_operands(p: NodePattern, lhs: Linear, rhs: Linear, b: Bindings, build: _Builder) -> Iterator[Bindings]:
    """The ways to match both operands, in this order; the right one is matched first."""
    # A divisor is mostly a constant: it decides at once, and binds what the pattern of the dividend needs.
    for found in match(p.rhs, rhs, b, build):
        yield from match(p.lhs, lhs, found, build)


def match_parts(p: SumPattern, at: int, s: Linear, b: Bindings, build: _Builder) -> Iterator[tuple[Bindings, Linear]]:
    """Matches the parts from number `at` on; yields bindings and what is left of the sum."""
    if at == len(p.parts):
        yield b, s
        return
    part = p.parts[at]
    match part.kind:
        case "anchor":
            assert isinstance(part.factor, NodePattern)
            for atom, c in s.terms:
                if not isinstance(atom, Binary) or atom.op != part.factor.op:
                    continue
                for found in match_atom(part.factor, atom, b, build):
                    solved = solve(part.coefficient, c, found)
                    if solved is not None:
                        yield from match_parts(p, at + 1, s.plus(of_atom(atom), -c), solved, build)
        case "known":
            instance = build.build(part.source, b)
            present = {a for a, _ in s.terms}
            # Subtracting terms that the sum does not have would only make it longer.
            if instance.is_const or any(a in present for a, _ in instance.terms):
                yield from match_parts(p, at + 1, s.plus(instance, -1), b, build)
        case "const":
            solved = solve(part.coefficient, s.const, b)
            if solved is not None:
                yield from match_parts(p, at + 1, Linear(0, s.terms), solved, build)
        case "scaled":
            assert isinstance(part.factor, Hole)
            for found, c in _factors(part.coefficient, s, b):
                x, left = split(s, c, p.low, build)
                if x.terms or x.const:
                    yield from match_parts(p, at + 1, left, {**found, part.factor.name: x}, build)
        case _:
            assert part.factor is not None
            negated = part.coefficient is _MINUS_ONE
            # Otherwise x and -x would both take every rest.
            if negated and s.terms and s.terms[0][1] > 0:
                return
            for found in match(part.factor, s.scale(-1) if negated else s, b, build):
                yield from match_parts(p, at + 1, ZERO, found, build)


def _factors(coefficient: Expr, s: Linear, b: Bindings) -> Iterator[tuple[Bindings, int]]:
    """The values to try for the coefficient of `c * x`, with the bindings that make it so."""
    known = value(coefficient, b)
    if known is not None:
        if known:
            yield b, known
        return
    if not isinstance(coefficient, Var):
        return
    # An equation that waits, as c * m == 12, leaves only divisors of its value for c.
    divisor = 0
    for e, v in _equations(b):
        if coefficient.name in e.free:
            divisor = abs(v)
    tried = {gcd(c, divisor) for _, c in s.terms}
    while True:  # Closed under common divisors.
        more = {gcd(x, y) for x in tried for y in tried} - tried
        if not more:
            break
        tried |= more
    if divisor:
        tried.add(divisor)
    for g in sorted(tried, key=neg):
        # Every sum is a multiple of 1: that factor takes nothing apart.
        if g > 1:
            found = solve(coefficient, g, b)
            if found is not None:
                yield found, g


def split(s: Linear, c: int, low: bool, build: _Builder) -> tuple[Linear, Linear]:
    """s = c * x + rest: x takes the terms that c divides. Of the constant the rest keeps what lies in [0, |c| - 1], or
    with `low` what makes the least value of the rest lie there."""
    divided = tuple((a, k // c) for a, k in s.terms if k % c == 0)
    rest = Linear(0, tuple(t for t in s.terms if t[1] % c))
    least = build.range(rest).lower if low and rest.terms else 0
    quotient = (s.const + least) // c
    return Linear(quotient, divided), rest.shift(s.const - c * quotient)


def as_sum(bound: Linear | int) -> Linear:
    """A bound as a linear form, an integer as a constant."""
    return constant(bound) if isinstance(bound, int) else bound
