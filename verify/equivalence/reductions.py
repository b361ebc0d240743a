"""What steps ask of a fold: the operation that combines, whether its start is neutral, and a contraction as a sum.

Trusted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import Final

from hloproof.equivalence.computed_identities import SIGNIFICANT, holds_all
from hloproof.equivalence.constants_alone import factors
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.terms import App, Elem, Fold, Term, from_value, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, highest, lowest

COMMUTATIVE: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
"""Bit for bit, in either order (a NaN's payload aside)."""

START: Final = "what a reduction begins with is used once, and for each place on padding"
"""What is told where it could be seen."""


def combiner(fold: Fold) -> str | None:
    """The operation of a reduce whose function is one operation on its two arguments."""
    return operation_of(fold.head[1]) if fold.head[0] in ("reduce", "scatter") else None


def functions_of(fold: Fold) -> tuple[Node, ...]:
    """The functions that a fold applies to what it has and its next element."""
    return fold.head[1] if fold.head[0] in ("reduce", "scatter") else ()


def operation_of(functions: tuple[Node, ...]) -> str | None:
    """The one operation that a single function does on its two arguments."""
    if len(functions) != 1:
        return None
    (function,) = functions
    keys = sorted(o.key for o in function.operands if o.head == "bound")
    return function.head if keys == [("argument", 0, ()), ("argument", 1, ())] and len(function.operands) == 2 else None


def is_neutral(op: str, type_: str, term: Term) -> bool:
    """Whether combining with this constant changes nothing; of zeros both count for a sum."""
    value = value_of(term)
    if value is None:
        return False
    match op:
        case "add":
            return bool(value == 0)
        case "multiply":
            return bool(value == 1)
        # The least value of the type, which for floats is minus infinity where the type has one.
        case "maximum":
            return bool(value == lowest(type_))
        case "minimum":
            return bool(value == highest(type_))
        case "and":
            # All bits set: True for pred, -1 for signed integers.
            return value is True or value == -1
        case "or":
            return bool(value == 0)
    return False


def fold_of(rules: Rules, goal: Goal, side: int) -> Fold:
    """The fold at the head of the left (0) or right (1) side. Raises Denied where there is none."""
    head = rules.opened(goal)[side]
    if not isinstance(head, Fold):
        raise Denied("not a fold")
    return head


def start_shows(rules: Rules, goal: Goal, left: Fold) -> bool:
    """Whether implementations differ in what two reductions that are folded alike give, by how often they use what they
    begin with: one whose windows lie on padding, or one that folds nothing with anything, may not use it there."""
    heads = [head.node for head in rules.heads(goal) if isinstance(head, Elem)]
    found = [node.operands[0] if node.head == "output" else node for node in heads]
    if len(found) == 2 and (
        {n.head for n in found} == {"reduce"}
        or (
            {n.head for n in found} == {"reduce-window"}
            and found[0].attributes.get("window") == found[1].attributes.get("window")
            and found[0].operands[0].sizes == found[1].operands[0].sizes
        )
    ):
        return False
    op, start = combiner(left), rules.terms.settle(left.sides[0], goal.facts)
    if op is None or not is_neutral(op, left.type, start):
        return True
    # Of zeros only the negative one leaves another as it is.
    shows = op == "add" and left.type not in INTEGERS and start != from_value(left.type, -0.0)
    return prod(left.sizes) == 1 and (shows or (op == "multiply" and left.type in COMPLEX))


def neutral_reduce(rules: Rules, goal: Goal, fold: Fold) -> str:
    """The operation of a reduce that starts from its neutral value. Raises Denied for anything else."""
    op = combiner(fold) if fold.head[0] == "reduce" else None
    if op is None or not is_neutral(op, fold.type, rules.terms.settle(fold.sides[0], goal.facts)):
        raise Denied("not a reduce from a neutral value")
    return op


def associates(rules: Rules, op: str, type_: str, term: Term, *more: Term) -> None:
    """Grouping does not matter bit for bit, but for float sums and products, and for the bits of a NaN; the terms are
    what is regrouped, and what becomes of it."""
    rules.leave_nan_open(type_)
    if op in ("add", "multiply") and type_ not in INTEGERS:
        rules.use("sums and products regrouped", "real", (term, *more))


def _types_in(precision: object) -> set[str]:
    """The types of floats that a precision names, as `dot_bf16_bf16_f32` does; be they known or not."""
    return set(re.findall(r"[a-z]+\d+\w*?(?=_|\W|$)", str(precision)))


def rounded_factors(rules: Rules, fold: Fold) -> None:
    """A dot or convolution may round otherwise than the product of its factors in the type of the sum."""
    # The precision that a contraction asks for says how it may round, so leaving it out is a matter of rounding, no
    # more.
    if fold.head[1]:
        for type_ in _types_in(fold.head[1]):
            given = tuple(App("convert", type_, (body,)) for body in fold.bodies)
            computed: tuple[Term, ...] = (*given, replace(fold, type=type_, bodies=given))
            if type_ in SIGNIFICANT:
                lost = any(map(rules.parts.loses, computed))
            else:
                lost = any(rules.parts.of(body) is not None for body in fold.bodies)
            if lost:
                raise Denied("a constant that the algorithm of a contraction loses")
        rules.use("the precision of a contraction left out", "rounding", (fold,))
    narrowed = [b for b in fold.bodies if type_of(b) != fold.type and not holds_all(fold.type, type_of(b))]
    if narrowed:
        rules.use("factors rounded to the type of the sum", "rounding", (fold,))


def as_sum(rules: Rules, fold: Fold) -> Fold:
    """A dot or convolution as the sum of products."""
    if fold.head[0] != "contract":
        raise Denied("not a contraction")
    if fold.type not in INTEGERS:
        rules.use("a contraction is a sum of products", "real", (fold,))
        rounded_factors(rules, fold)
    at = [rules.graph.node("bound", fold.type, (), (), ("argument", k, ())) for k in (0, 1)]
    add = rules.graph.node("add", fold.type, (), at)
    zero = from_value(fold.type, 0)
    return Fold(("reduce", (add,), 0), fold.type, fold.place, fold.sizes, (factors(fold),), (zero,))
