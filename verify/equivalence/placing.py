"""Guarded substitutions as terms.

Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.elements.movement import Cases, Test
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, Lin
from hloproof.equivalence.terms import Cond, Elem, Term


def guarded(tests: Sequence[Test[Lin]], then: Term, other: Term) -> Term:
    """`then` where all tests hold."""
    for test in reversed(tests):
        then = Cond(test.of if test.kind == "within" else -test.of, then, other)
    return then


def placed(cases: Cases[Lin], operands: Sequence[Node]) -> Term:
    """The element that the cases lead to."""
    *first, last = cases
    out: Term = _element(operands[last.operand], last.at)
    for case in reversed(first):
        out = guarded(case.tests, _element(operands[case.operand], case.at), out)
    return out


def _element(node: Node, at: Sequence[Lin]) -> Elem:
    """Where the tests hold, the index lies within the sizes, so it is 0 along a dimension of one: a start that depends
    on a value ends here, and does not turn up in positions."""
    return Elem(node, tuple(ZERO if n == 1 else x for x, n in zip(at, node.sizes, strict=True)))
