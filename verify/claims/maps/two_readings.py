"""Remainders by negative numbers, which are read in two ways.

By the formula `x mod c = x - c * (x floordiv c)` the remainder has the sign of the divisor: `2 mod -3` is -1. XLA's own
evaluator makes it no less than zero: 2. A claim about maps that divide so is proved, or refuted, where it is under
both readings; where they differ it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Binary, Const, Expr, maximum, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable
from hloproof.results.verdict import Found, Verdict

_Claim = TypeVar("_Claim")


def with_remainders_from_zero(m: IndexingMap) -> IndexingMap:
    """The map whose remainders, by the formula, are those of `m` in XLA's reading; `m` itself where no divisor can be
    negative."""
    boxes = dict(m.intervals())

    def read(e: Expr) -> Expr:
        return _read(e, boxes)

    changed = replace(
        m,
        results=tuple(read(e) for e in m.results),
        constraints=tuple(replace(c, expr=read(c.expr)) for c in m.constraints),
        runtime=tuple(_followed(v) for v in m.runtime),
        replica=None if m.replica is None else with_remainders_from_zero(m.replica),
    )
    return m if changed == m else changed


def _followed(v: RuntimeVariable) -> RuntimeVariable:
    return v if v.index is None else replace(v, index=with_remainders_from_zero(v.index))


def _read(root: Expr, boxes: dict[str, Interval]) -> Expr:
    done: dict[Expr, Expr] = {}
    for e in postorder(root):
        if not isinstance(e, Binary):
            done[e] = e
            continue
        lhs, rhs = done[e.lhs], done[e.rhs]
        if e.op == "mod":
            rhs = _magnitude(rhs, range_of(e.rhs, boxes).hull(range_of(rhs, boxes)))
        done[e] = e if lhs is e.lhs and rhs is e.rhs else Binary(e.op, lhs, rhs)
    return done[root]


def _magnitude(divisor: Expr, held: Interval) -> Expr:
    """The divisor without its sign, whose values lie in the interval."""
    if isinstance(divisor, Const):
        return Const(abs(divisor.value))
    if held.is_empty or held.lower >= 0:
        return divisor
    negated = Const(0) - divisor
    return negated if held.upper <= 0 else maximum(divisor, negated)


def under_both(judge: Callable[[_Claim], Found], claim: _Claim, other: _Claim) -> Found:
    """What is found of a claim by the formula, and of the same in XLA's reading, which is `other`."""
    found = judge(claim)
    if other == claim or found.verdict not in (Verdict.PROVED, Verdict.REFUTED):
        return found
    second = judge(other)
    if second.verdict is found.verdict:
        return replace(found, engines=tuple(dict.fromkeys((*found.engines, *second.engines))))
    if second.verdict not in (Verdict.PROVED, Verdict.REFUTED):
        return second
    told = found.counterexample or second.counterexample
    by = "the formula" if found.verdict is Verdict.PROVED else "XLA's evaluator"
    return Found(
        Verdict.UNKNOWN, reason=f"a remainder by a negative number: right as {by} reads it, and not otherwise ({told})"
    )
