"""Where maps have a value: the law of partial functions, held wherever a map is compared, simplified or claimed.

An expression has no value where a divisor in it is zero. Constraints whose divisors are numbers other than zero always
have one; they and the intervals of the variables say where the others are asked. There every other constraint must have
a value: none that has no value is taken for false. Where all constraints hold, the results must have values. So
`7 floordiv d0` with d0 in [0, 9] is fine beside the constraint `d0 in [1, 5]` under another name, and wrong without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.logic.formula import Formula, ne, within
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
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
    total, others = by_definedness(m)
    out = [within(c.expr, c.interval) for c in total]
    for c in others:
        out += [*defined_formula((c.expr,)), within(c.expr, c.interval)]
    return tuple(out)


def by_definedness(m: IndexingMap) -> tuple[list[Constraint], list[Constraint]]:
    """The constraints that have a value everywhere, and the others."""
    constraints = all_constraints(m)
    total = [c for c in constraints if not open_divisors((c.expr,))]
    return total, [c for c in constraints if open_divisors((c.expr,))]
