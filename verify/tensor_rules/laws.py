"""The laws of digits as statements, and where a proof used them: for whoever wants two engines to say so.

A law is about any integers. It fits what it is used for by identities of sums of products, as `e == q * d + r` for the
quotient of e by d; these are noted with it. That divisors are above 0 is known where the law is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from hloproof.logic.formula import Formula, conj, disj, eq, le, lt, ne
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder

SizeIdentity = tuple[Expr, Expr]
"""Two ways to write one sum of products; what is neither sum nor product stands for any integer."""


@dataclass(frozen=True)
class DigitLaw:
    """`says` holds of all integers of which `given` does."""

    says: Formula
    given: tuple[Formula, ...]


_q, _d, _r, _x, _a, _f = map(Var, "qdrxaf")
_ABOVE: Final = le(1, _d)


def _same_sign(e: Expr, other: Expr) -> Formula:
    """Both are at least 0, or neither is."""
    return disj(conj(le(0, e), le(0, other)), conj(lt(e, 0), lt(other, 0)))


LAWS: Final = {
    "quotient": DigitLaw(eq((_q * _d + _r) // _d, _q + _r // _d), (_ABOVE,)),
    "remainder": DigitLaw(eq((_q * _d + _r) % _d, _r % _d), (_ABOVE,)),
    "nothing": DigitLaw(conj(eq(Const(0) // _d, 0), eq(Const(0) % _d, 0)), (_ABOVE,)),
    "whole": DigitLaw(conj(eq(_x // 1, _x), eq(_x % 1, 0)), ()),
    "taken apart": DigitLaw(eq(_x % _d, _x - _d * (_x // _d)), (_ABOVE,)),
    "upward": DigitLaw(eq(_x.ceildiv(_d), (_x + _d - 1) // _d), (_ABOVE,)),
    "nested": DigitLaw(eq((_x // _a) // _d, _x // (_a * _d)), (ne(_a, 0), _ABOVE)),
    "scaled": DigitLaw(eq((_f * _x) // (_f * _d), _x // _d), (le(1, _f), _ABOVE)),
    # By what the laws before it say of these numbers: products of three unknowns are much for the engines.
    "scaled remainder": DigitLaw(
        eq((_f * _x) % (_f * _d), _f * (_x % _d)),
        (
            *(le(1, _f), _ABOVE, eq(_x % _d, _x - _d * (_x // _d)), eq((_f * _x) // (_f * _d), _x // _d)),
            eq((_f * _x) % (_f * _d), _f * _x - _f * _d * ((_f * _x) // (_f * _d))),
        ),
    ),
    "multiples": DigitLaw(
        disj(conj(lt(_q * _d, _x), lt(_q, _x.ceildiv(_d))), conj(le(_x, _q * _d), le(_x.ceildiv(_d), _q))), (_ABOVE,)
    ),
    "sign": DigitLaw(
        conj(
            _same_sign(_f * _x, _x),
            _same_sign(_f * _x - 1, _x - 1),
            disj(conj(eq(_f * _x, 0), eq(_x, 0)), conj(ne(_f * _x, 0), ne(_x, 0))),
        ),
        (le(1, _f),),
    ),
}
"""By names, for divisors d and factors f above 0."""
_WITH: Final = {"scaled remainder": ("taken apart", "scaled")}
"""What else has to be said where a law is used."""


@dataclass
class LawUses:
    """The laws that were used, and the identities by which they fit."""

    laws: dict[str, None] = field(default_factory=dict)
    identities: dict[SizeIdentity, None] = field(default_factory=dict)


_USES: ContextVar[LawUses | None] = ContextVar("uses of laws of digits", default=None)


@contextmanager
def noted(wanted: bool = True) -> Iterator[LawUses]:
    """The uses of laws inside, where they are wanted."""
    uses = LawUses()
    token = _USES.set(uses if wanted else None)
    try:
        yield uses
    finally:
        _USES.reset(token)


def note(law: str, *identities: Callable[[], SizeIdentity]) -> None:
    """A law is used here; '' for the identities alone."""
    uses = _USES.get()
    if uses is not None:
        uses.laws.update(dict.fromkeys((*_WITH.get(law, ()), *((law,) if law else ()))))
        uses.identities.update(dict.fromkeys(identity() for identity in identities))


def of_unknowns(identity: SizeIdentity) -> SizeIdentity:
    """The identity with a variable for everything that is neither sum nor product."""
    names: dict[Expr, Expr] = {}

    def of(e: Expr) -> Expr:
        done: dict[Expr, Expr] = {}
        for node in postorder(e):
            match node:
                case Const():
                    done[node] = node
                case Binary("+" | "*" as op, lhs, rhs):
                    done[node] = Binary(op, done[lhs], done[rhs])
                case _:
                    done[node] = names.setdefault(node, Var(f"u.{len(names)}"))
        return done[e]

    return of(identity[0]), of(identity[1])
