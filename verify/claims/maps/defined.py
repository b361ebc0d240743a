"""Where maps have a value: the law of partial functions, held wherever a map is compared, simplified or claimed.

An expression has no value where a divisor in it is zero. Constraints whose divisors are numbers other than zero always
have one; they and the intervals of the variables say where the others are asked. There every other constraint must have
a value: none that has no value is taken for false. Where all constraints hold, the results must have values. So
`7 floordiv d0` with d0 in [0, 9] is fine beside the constraint `d0 in [1, 5]` under another name, and wrong without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hloproof.claims.statements.one_value import values_that_meet
from hloproof.claims.statements.statement import Part, Point
from hloproof.logic.formula import Formula, conj, ne, within
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, to_text
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, all_constraints


class UndefinedMap(InputError):
    """A map that has no value at some point of its domain, and can be compared with nothing."""


def open_divisors(roots: Sequence[Expr]) -> tuple[Expr, ...]:
    """The divisors that are not numbers other than zero, each after those inside of it."""
    found: dict[Expr, None] = {}
    for root in roots:
        for node in postorder(root):
            divides = isinstance(node, Binary) and node.op in ("floordiv", "ceildiv", "mod")
            if divides and isinstance(node, Binary) and not (isinstance(node.rhs, Const) and node.rhs.value):
                found[node.rhs] = None
    return tuple(found)


def defined_formula(roots: Sequence[Expr]) -> tuple[Formula, ...]:
    """That no divisor in the expressions is zero."""
    return tuple(ne(d, 0) for d in open_divisors(roots))


def constraint_formulas(m: IndexingMap) -> tuple[Formula, ...]:
    """The constraints, those with a value everywhere first, and before each other one that it has a value."""
    total, others = _split(m)
    out = [within(c.expr, c.interval) for c in total]
    for c in others:
        out += [*defined_formula((c.expr,)), within(c.expr, c.interval)]
    return tuple(out)


def owed_divisors(m: IndexingMap) -> Iterator[Part]:
    """That no divisor of the map is zero where it is asked; nothing for a map whose divisors are all numbers. A
    counterexample is told as `d is 0 at ...`."""
    total, others = _split(m)
    known = [*values_that_meet(m), *(within(c.expr, c.interval) for c in total)]
    yield from _owed(m, [c.expr for c in others], known)
    known += [within(c.expr, c.interval) for c in others]
    replica = () if m.replica is None else m.replica.results
    yield from _owed(m, (*m.results, *replica), [*known, *defined_formula([c.expr for c in others])])
    for v in m.runtime:
        if v.index is not None:
            yield from owed_divisors(v.index)


def _owed(m: IndexingMap, roots: Sequence[Expr], known: Sequence[Formula]) -> Iterator[Part]:
    """Each divisor, where those before it are not zero."""
    given = list(known)
    names = m.display_names()
    for d in open_divisors(roots):
        obligation = Obligation(tuple(m.intervals()), ne(d, 0), conj(*given), "the divisor is not zero")
        yield Part(obligation, partial(_told, d, names))
        given.append(ne(d, 0))


def _told(d: Expr, names: dict[str, str], point: Point) -> str:
    at = ", ".join(f"{names.get(n, n)} = {v}" for n, v in point.items()) or "every point"
    return f"division by zero possible: {to_text(d, names)} is 0 at {at}"


def _split(m: IndexingMap) -> tuple[list[Constraint], list[Constraint]]:
    constraints = all_constraints(m)
    total = [c for c in constraints if not open_divisors((c.expr,))]
    return total, [c for c in constraints if open_divisors((c.expr,))]
