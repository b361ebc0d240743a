"""Steps that take folds apart: a box cut in two, variables on which nothing depends, sums of products of sums.

Trusted. Over integers each is exact; over floats sums and products that are regrouped are of the tier real.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.indices import ZERO, Lin, variable
from hloproof.equivalence.kernel import Denied, Rules, with_side
from hloproof.equivalence.reductions import as_sum, associates, combiner, fold_of, is_neutral, neutral_reduce
from hloproof.equivalence.terms import App, Fold, Term, TermSubstitution, variables_of

IDEMPOTENT: Final = frozenset({"maximum", "minimum", "and", "or"})


def cut(rules: Rules, goal: Goal, side: int, dimension: int, at: int) -> list[Goal]:
    """A fold from a neutral value is the fold over the first part of a dimension with that over the rest; a part that
    folds neutral values only is left out."""
    fold = fold_of(rules, goal, side)
    fold = as_sum(rules, fold) if fold.head[0] == "contract" else fold
    op = neutral_reduce(rules, goal, fold)
    size = fold.sizes[dimension]
    # A part without elements would have to be the neutral value; both parts have some.
    if not 0 < at < size:
        raise Denied("nothing is cut off")
    place = fold.place + dimension
    parts = [
        _over(fold, dimension, width, {place: variable(place, width) + first})
        for first, width in ((0, at), (at, size - at))
    ]
    associates(rules, op, fold.type, fold, *parts)
    # A part whose body is neutral as a term, at all of its points: nothing is said of parts that only sum up to it.
    kept = [p for p in parts if not is_neutral(op, fold.type, rules.terms.settle(p.bodies[0], goal.facts))]
    out: Term = App(op, fold.type, tuple(parts)) if len(kept) != 1 else kept[0]
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [with_side(goal, side, out, next_)]


def _over(fold: Fold, dimension: int, width: int, by_place: dict[int, Lin]) -> Fold:
    """The fold with another size of one dimension; what stands for its variable is put into the bodies."""
    sizes = (*fold.sizes[:dimension], width, *fold.sizes[dimension + 1 :])
    substitute = TermSubstitution(by_place)
    return Fold(fold.head, fold.type, fold.place, sizes, tuple(map(substitute, fold.bodies)), fold.sides)


def repeated(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """What is folded with itself, by an operation for which that is nothing new, is there once."""
    fold = fold_of(rules, goal, side)
    op = neutral_reduce(rules, goal, fold)
    if op not in IDEMPOTENT:
        raise Denied("repetition is seen")
    body = rules.terms.settle(fold.bodies[0], goal.facts)
    used = {v.place for v in variables_of(body)}
    idle = [k for k, n in enumerate(fold.sizes) if n > 1 and fold.place + k not in used]
    if not idle:
        raise Denied("no variable is idle")
    sizes = tuple(1 if k in idle else n for k, n in enumerate(fold.sizes))
    new: Term = Fold(fold.head, fold.type, fold.place, sizes, (body,), fold.sides)
    if all(n == 1 for n in sizes):
        new = TermSubstitution({fold.place + k: ZERO for k in range(len(sizes))})(body)
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [with_side(goal, side, new, next_)]


def distributed(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A sum of products in which one factor is a sum is one sum over both boxes."""
    outer = fold_of(rules, goal, side)
    outer = as_sum(rules, outer) if outer.head[0] == "contract" else outer
    if neutral_reduce(rules, goal, outer) != "add":
        raise Denied("not a sum")
    moved = {outer.place + k: variable(goal.next + k, n) for k, n in enumerate(outer.sizes)}
    product = rules.terms.settle(TermSubstitution(moved)(outer.bodies[0]), goal.facts)
    place = goal.next + len(outer.sizes)
    product = rules.terms.opened(product, place)
    if not isinstance(product, App) or product.op != "multiply":
        raise Denied("not a product")
    for k, factor in enumerate(product.args):
        inner = rules.terms.opened(rules.terms.settle(factor, goal.facts), place)
        # The type has to be one: a product in f32 of a sum in bf16 rounds the sum before it multiplies.
        if not isinstance(inner, Fold) or inner.type != outer.type or inner.place != place:
            continue
        inner = as_sum(rules, inner) if inner.head[0] == "contract" else inner
        start = rules.terms.settle(inner.sides[0], goal.facts)
        if inner.head[0] != "reduce" or combiner(inner) != "add" or not is_neutral("add", inner.type, start):
            continue
        args = [*product.args]
        args[k] = inner.bodies[0]
        body = App("multiply", outer.type, tuple(args))
        sizes = outer.sizes + inner.sizes
        new = Fold(outer.head, outer.type, goal.next, sizes, (body,), outer.sides)
        associates(rules, "add", outer.type, outer, inner, new)
        return [with_side(goal, side, new, goal.next + len(sizes))]
    raise Denied("no factor is a sum")


FOLD_RULES: Final[dict[str, Callable[..., list[Goal]]]] = {"cut": cut, "repeated": repeated, "distributed": distributed}
