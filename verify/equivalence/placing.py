"""Guarded substitutions as terms.

Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.elements.movement import Cases, Test
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import Lin
from hloproof.equivalence.terms import Cond, Elem, Term


def guarded(tests: Sequence[Test[Lin]], then: Term, other: Term) -> Term:
    """`then` where all tests hold."""
    for test in reversed(tests):
        then = Cond(test.of if test.kind == "within" else -test.of, then, other)
    return then


def placed(cases: Cases[Lin], operands: Sequence[Node]) -> Term:
    """The element that the cases lead to."""
    *first, last = cases
    out: Term = Elem(operands[last.operand], last.at)
    for case in reversed(first):
        out = guarded(case.tests, Elem(operands[case.operand], case.at), out)
    return out
