"""The thin normal form: when two obligations are the same, and when two terms are written the same.

It renames variables by position and sorts the arguments of `+`, `*`, `min` and `max` (associative and commutative, so
nested ones are flattened first). Nothing else: it is trusted, and a rule applied here would prove itself. It imports
only the data types.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import FLOOR, Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

SORTED: Final = frozenset(("+", "*", "min", "max"))

LONGEST_CHAIN: Final = 1024
"""A longer chain is not flattened into the one around it: shared terms could double it at every level."""


def key(obligation: Obligation) -> str:
    """A digest that two obligations share exactly when their normal forms are equal (up to collisions of BLAKE2b)."""
    place = _Place({name: f"v{i}" for i, (name, _) in enumerate(obligation.variables)})
    # Of none and of one without bounds the list is empty text; the model of one is not the model of the other.
    variables = ";".join(_interval_text(i) for _, i in obligation.variables) if obligation.variables else "none"
    hypothesis = _formula(obligation.hypothesis, place, 0)
    conclusion = _formula(obligation.conclusion, place, 0)
    # Floor, as nearly always, is not written, so that the digests of certificates stay what they were.
    rounding = "" if obligation.rounding == FLOOR else f" {obligation.rounding.division} {obligation.rounding.mod}"
    return _hash(f"obligation {variables}{rounding}".encode(), hypothesis, conclusion).hex()


def written_the_same(left: Expr, right: Expr) -> bool:
    """The two terms have the same normal form, their variables' names kept."""
    if left is right:
        return True
    if left.free != right.free or type(left) is not type(right):
        return False
    if isinstance(left, Binary) and isinstance(right, Binary) and left.op != right.op:
        return False
    place = _Place({name: name for name in left.free})
    return place.term(left) == place.term(right)


def identical(obligation: Obligation) -> bool:
    """The conclusion is a conjunction of equations and inequalities `a == a`, `a <= a`, written the same on both sides
    and without a divisor that could be zero, or of conjuncts that stand in the hypothesis too."""
    # A conjunct of the hypothesis holds as it stands, divisors or not: where it has no value the obligation says
    # nothing.
    given = frozenset(_conjuncts(obligation.hypothesis))
    return all(part in given or _holds_as_written(part) for part in _conjuncts(obligation.conclusion))


def _conjuncts(f: Formula) -> list[Formula]:
    return [p for part in f.parts for p in _conjuncts(part)] if isinstance(f, And) else [f]


def _holds_as_written(f: Formula) -> bool:
    return (
        isinstance(f, Compare)
        # `a != a` and `a < a` are false, and `a == a` is true only where a has a value; hence the divisors below, which
        # both sides have.
        and f.op in ("==", "<=")
        and written_the_same(f.lhs, f.rhs)
        and _never_divides_by_zero(f.lhs)
    )


def _never_divides_by_zero(root: Expr) -> bool:
    return all(
        isinstance(e.rhs, Const) and e.rhs.value != 0
        for e in postorder(root)
        if isinstance(e, Binary) and e.op in ("floordiv", "ceildiv", "mod")
    )


def _hash(*parts: bytes) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    for p in parts:
        # With its length, so that two sequences of parts never run together into the same bytes.
        state.update(len(p).to_bytes(4, "little"))
        state.update(p)
    return state.digest()


def _interval_text(i: Interval | None) -> str:
    return "" if i is None else f"{i.lower},{i.upper}"


class _Place:
    """Names in force at a place of a formula, and the digests of terms made there."""

    __slots__ = ("chains", "done", "names")

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.done: dict[Expr, bytes] = {}
        self.chains: dict[Expr, list[bytes]] = {}
        """The arguments of a sum, product, minimum or maximum; its digest is made on demand."""

    def term(self, root: Expr) -> bytes:
        """A digest of the term's normal form."""
        done, chains = self.done, self.chains
        stack = [root]
        while stack:
            e = stack[-1]
            if e in done or e in chains:
                stack.pop()
            elif isinstance(e, Const):
                done[e] = b"c%d" % e.value
            elif isinstance(e, Var):
                done[e] = b"v" + self.names[e.name].encode()
            elif isinstance(e, Binary):
                missing = [part for part in (e.lhs, e.rhs) if part not in done and part not in chains]
                if missing:
                    stack += missing
                # `floordiv` and `mod` are not: their arguments have an order.
                elif e.op in SORTED:
                    flat: list[bytes] = []
                    for part in (e.lhs, e.rhs):
                        nested = isinstance(part, Binary) and part.op == e.op and len(chains[part]) < LONGEST_CHAIN
                        flat += chains[part] if nested else [self.digest(part)]
                    chains[e] = flat
                else:
                    done[e] = _hash(e.op.encode(), self.digest(e.lhs), self.digest(e.rhs))
        return self.digest(root)

    def digest(self, e: Expr) -> bytes:
        if e not in self.done:
            assert isinstance(e, Binary)
            self.done[e] = _hash(e.op.encode(), *sorted(self.chains[e]))
        return self.done[e]


def _formula(f: Formula, place: _Place, depth: int) -> bytes:
    match f:
        case Compare(op, lhs, rhs):
            return _hash(b"compare", op.encode(), place.term(lhs), place.term(rhs))
        case And(parts):
            return _hash(b"and", *(_formula(p, place, depth) for p in parts))
        case Or(parts):
            return _hash(b"or", *(_formula(p, place, depth) for p in parts))
        case Not(part):
            return _hash(b"not", _formula(part, place, depth))
        case Exists(variables, part):
            # By depth, not by name: bound variables of the same place in two formulas are the same one.
            inner = _Place({**place.names, **{name: f"b{depth + i}" for i, (name, _) in enumerate(variables)}})
            intervals = ";".join(_interval_text(i) for _, i in variables)
            return _hash(b"exists", intervals.encode(), _formula(part, inner, depth + len(variables)))
