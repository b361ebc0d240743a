"""Sums as the simplifier sees them: a constant, and integer multiples of atoms.

An atom is a variable, or an operator other than `+` whose operands are sums in this form: a division, `mod`, `min`,
`max`, or a product of two operands neither of which is a constant. Sums of integers with like terms collected,
constants folded and constant factors multiplied in have one form only, up to the order of terms; the order is a
total order of atoms that does not depend on hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import blake2b
from math import gcd
from typing import Final

from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var

Atom = Var | Binary
_Key = tuple[int, int, int, str, int, bytes]

_LIMIT: Final = 300_000
"""Entries after which a table is emptied; the tables only save work."""


class Linear:
    """`const + sum of coefficient * atom`; terms in the order of atoms, no coefficient zero. Immutable."""

    __slots__ = ("_expr", "const", "terms")

    def __init__(self, const: int, terms: tuple[tuple[Atom, int], ...]) -> None:
        self.const, self.terms = const, terms
        self._expr: Expr | None = None

    @property
    def expr(self) -> Expr:
        """The expression: `a * 2 + b - 1`; a single object for equal sums."""
        e = self._expr
        if e is None:
            parts: list[Expr] = [a if c == 1 else Binary("*", a, Const(c)) for a, c in self.terms]
            if self.const or not parts:
                parts.append(Const(self.const))
            e = parts[0]
            for p in parts[1:]:
                e = Binary("+", e, p)
            self._expr = e
            if len(_linear) > _LIMIT:
                _linear.clear()
            # Read back, the expression is this very sum: `linear_of` is asked much more often than it has to compute.
            _linear[e] = self
        return e

    @property
    def is_const(self) -> bool:
        return not self.terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.const == other.const and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.const, self.terms))

    def __repr__(self) -> str:
        return f"Linear({self.expr!r})"

    def scale(self, factor: int) -> Linear:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Linear(self.const * factor, tuple((a, c * factor) for a, c in self.terms))

    def shift(self, by: int) -> Linear:
        return Linear(self.const + by, self.terms) if by else self

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """self + times * other."""
        if not other.terms or not times:
            return self.shift(other.const * times)
        if not self.terms:
            return other.scale(times).shift(self.const)
        table = dict(self.terms)
        for a, c in other.terms:
            table[a] = table.get(a, 0) + c * times
        return collected(self.const + times * other.const, table)

    def content(self) -> int:
        """The greatest common divisor of the coefficients; 0 without terms."""
        return gcd(*(c for _, c in self.terms))


def collected(const: int, table: Mapping[Atom, int]) -> Linear:
    """The sum of a table of coefficients; zeros are left out."""
    terms = [(a, c) for a, c in table.items() if c]
    if len(terms) > 1:
        terms.sort(key=lambda t: key(t[0]))
    return Linear(const, tuple(terms))


def constant(value: int) -> Linear:
    """The linear form without terms."""
    return Linear(value, ())


def of_atom(atom: Atom, coefficient: int = 1) -> Linear:
    """coefficient * atom; ZERO for a coefficient of 0."""
    return Linear(0, ((atom, coefficient),)) if coefficient else ZERO


ZERO: Final = Linear(0, ())

_linear: dict[Expr, Linear] = {}
_keys: dict[Expr, _Key] = {}

_RANK: Final[dict[Operator, int]] = {"*": 1, "floordiv": 2, "ceildiv": 3, "mod": 4, "min": 5, "max": 6, "+": 7}
_LAST: Final = (9, 0, 0, "")
"""The place of constants: after all that has variables."""
_digest: Final = partial(blake2b, digest_size=16)
_NAME: Final = re.compile(r"(d|s|rt)([0-9]{1,17})")
_LETTERS: Final = {"d": 0, "s": 1, "rt": 2}


def linear_of(e: Expr) -> Linear:
    """An expression read as a sum of atoms, nothing simplified within atoms. For expressions built by `Linear.expr` it
    is the sum that built them."""
    found = _linear.get(e)
    if found is not None:
        return found
    const, table = 0, dict[Atom, int]()
    todo: list[tuple[Expr, int]] = [(e, 1)]
    while todo:
        node, factor = todo.pop()
        match node:
            case Const(value):
                const += factor * value
            case Binary("+", lhs, rhs):
                todo.append((rhs, factor))
                todo.append((lhs, factor))
            case Binary("*", Const(value), inner) | Binary("*", inner, Const(value)):
                todo.append((inner, factor * value))
            case Var() | Binary():
                table[node] = table.get(node, 0) + factor
    result = collected(const, table)
    if len(_linear) > _LIMIT:
        _linear.clear()
    _linear[e] = result
    return result


def product(parts: Iterable[Linear]) -> Linear:
    """The product of sums: constants and common factors outside, the rest as one atom with its factors in order."""
    outside, inside = 1, list[Expr]()
    for f in parts:
        if f.is_const:
            outside *= f.const
            continue
        g = gcd(f.content(), f.const)
        # By the sign of the first coefficient, so that (a - b) * c and (b - a) * c are one atom, with two signs.
        if f.terms[0][1] < 0:
            g = -g
        outside *= g
        f = Linear(f.const // g, tuple((a, c // g) for a, c in f.terms)) if g != 1 else f
        inside += factors(f.expr)
    if not outside or not inside:
        return constant(outside)
    inside.sort(key=key)
    e = inside[0]
    for p in inside[1:]:
        e = Binary("*", e, p)
    return linear_of(e).scale(outside) if len(inside) == 1 else of_atom(e, outside)  # type: ignore[arg-type]


def factors(e: Expr) -> list[Expr]:
    """The factors of a product that are not products themselves, from left to right."""
    out, todo = list[Expr](), [e]
    while todo:
        node = todo.pop()
        if isinstance(node, Binary) and node.op == "*":
            todo += (node.rhs, node.lhs)
        else:
            out.append(node)
    return out


def key(e: Expr) -> _Key:
    """The place of an expression in the total order: by its first variable (dims, range, runtime variables, others),
    then variables before products before divisions, then by divisor, then by a digest of its structure."""
    found = _keys.get(e)
    if found is None:
        if len(_keys) > _LIMIT:
            _keys.clear()
        stack = [e]
        while stack:
            node = stack[-1]
            if isinstance(node, Binary):
                due = [c for c in (node.lhs, node.rhs) if c not in _keys]
                if due:
                    stack += due
                    continue
            _keys[node] = _key(node)
            stack.pop()
        found = _keys[e]
    return found


def _key(e: Expr) -> _Key:
    match e:
        case Const(value):
            # In hexadecimal, since Python refuses the decimal text of an integer of more than 4,300 digits.
            return (*_LAST, value, _digest(f"{value:x}".encode()).digest())
        case Var(name):
            digest = _digest(name.encode()).digest()
            m = _NAME.fullmatch(name)
            return (_LETTERS[m[1]], int(m[2]), 0, "", 0, digest) if m else (3, 0, 0, name, 0, digest)
        case Binary(op, lhs, rhs):
            left, right = _keys[lhs], _keys[rhs]
            first = min(left, right)
            divisor = rhs.value if isinstance(rhs, Const) else 0
            # Made of the operands' digests, never of `hash`, which another run gives otherwise; it decides only between
            # expressions that the rest of the key does not tell apart.
            digest = _digest(op.encode() + left[5] + right[5]).digest()
            return (first[0], first[1], _RANK[op], first[3], divisor, digest)
    raise AssertionError(e)
