"""Steps on scalars and small folds beyond movement: an identity at a head, one element, a library, a shown choice.

Trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hloproof.equivalence.computed_identities import SIGNIFICANT, has_no_reciprocal
from hloproof.equivalence.constant_parts import vanishes
from hloproof.equivalence.constants_alone import factors
from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.identities import KEEPS_NAN, POWERS_OF_E, apply
from hloproof.equivalence.indices import Lin, constant, variable
from hloproof.equivalence.kernel import Denied, Rules, owed_beside, with_side
from hloproof.equivalence.library import call
from hloproof.equivalence.patterns import View
from hloproof.equivalence.reductions import (
    as_sum,
    associates,
    combiner,
    fold_of,
    is_neutral,
    neutral_reduce,
    rounded_factors,
)
from hloproof.equivalence.rules_polynomials import linear, ring, seen
from hloproof.equivalence.terms import (
    SMALLEST_NORMAL,
    App,
    Elem,
    Fold,
    Term,
    TermSubstitution,
    from_value,
    type_of,
    value_of,
)
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS


def identity(rules: Rules, goal: Goal, side: int, name: str) -> list[Goal]:
    """One identity at the head of one side."""
    head = seen(rules, goal, (goal.left, goal.right)[side])
    if not isinstance(head, App):
        raise Denied("not an elementwise operation")
    found = apply(name, head, lambda t: seen(rules, goal, t))
    if found is None:
        raise Denied(f"{name} does not apply")
    # Only on the right: what the right side leaves out could have no value where the left side has one. On the left it
    # is the other way around, and asks for less.
    if side == 1 and name == "times a predicate" and not all(map(rules.definedness.everywhere, head.args)):
        raise Denied("what the predicate multiplies may have no value")
    if name == POWERS_OF_E:
        powers = (seen(rules, goal, a) for a in head.args)
        if any(isinstance(p, App) and vanishes(p.type, rules.parts.of(p.args[0])) for p in powers):
            raise Denied("a power of e that is zero")
    if name not in KEEPS_NAN:
        rules.leave_nan_open(head.type)
    # What the left side computes is a number, or nothing is owed.
    args = [seen(rules, goal, a) for a in head.args]
    asked: list[Term] = [head, *args] if side == 1 else [found[0]]
    exempt = name == "reciprocal" and divides_beyond(args[1], lambda t: seen(rules, goal, t))
    rules.use(name, found[1], () if exempt else asked)
    rules.keep(found[1], () if exempt else (head, found[0]))
    return [with_side(goal, side, found[0])]


def divides_beyond(divisor: Term, view: View) -> bool:
    """Whether 1 divided by this may be larger than the type holds only where other quotients are: where it is computed
    as a choice, as the sum of weights is that images are resized with, or 1 where it is 0; a subnormal one aside. A
    number that is chosen has a quotient of its own, and so has what constants alone compute in any other way."""
    if not isinstance(divisor, App) or divisor.op != "select" or divisor.type not in SMALLEST_NORMAL:
        return False
    return not _chooses_beyond(divisor, view)


def _chooses_beyond(chosen: Term, view: View) -> bool:
    """Whether a choice, or one among what it chooses from, may give a number without a reciprocal."""
    if isinstance(chosen, App) and chosen.op == "select":
        return any(_chooses_beyond(view(one), view) for one in chosen.args[1:])
    if value_of(chosen) is not None:
        return has_no_reciprocal(type_of(chosen), chosen)
    return not _is_sum(chosen)


def _is_sum(chosen: Term) -> bool:
    if not isinstance(chosen, Elem) or chosen.node.head != "reduce":
        return False
    # Of what is scaled before it is added the sum may be as small as any number.
    return all(n.head == "add" and {o.head for o in n.operands} == {"bound"} for n in chosen.node.bodies)


def single(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A fold over one element is that element: how often the initial value is used cannot be observed."""
    fold = fold_of(rules, goal, side)
    if prod(fold.sizes) != 1:
        raise Denied("more than one element")
    if fold.head[0] == "contract":
        rules.use("a product of one summand", "real", (fold, factors(fold)))
        if fold.type not in INTEGERS:
            rounded_factors(rules, fold)
        term: Term = factors(fold)
    else:
        op = neutral_reduce(rules, goal, fold)
        initial = rules.terms.settle(fold.sides[0], goal.facts)
        # The only neutral value of a float sum that leaves -0.0 as it is would be -0.0 itself, of a complex one in
        # both parts; and a complex product with 1 multiplies infinities by 0.
        nothing = complex(-0.0, -0.0) if fold.type in COMPLEX else -0.0
        if (op == "add" and initial != from_value(fold.type, nothing)) or (op == "multiply" and fold.type in COMPLEX):
            associates(rules, op, fold.type, fold)  # 0 + -0.0 is 0
        term = fold.bodies[0]
    return [with_side(goal, side, term)]


def total(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A contraction becomes a sum."""
    fold = as_sum(rules, fold_of(rules, goal, side))
    return [with_side(goal, side, fold)]


def flatten(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A fold of folds by the same operation, both from a neutral value, is one fold over both boxes."""
    outer = fold_of(rules, goal, side)
    op = neutral_reduce(rules, goal, outer)
    moved = {outer.place + k: variable(goal.next + k, n) for k, n in enumerate(outer.sizes)}
    body = rules.terms.settle(TermSubstitution(moved)(outer.bodies[0]), goal.facts)
    inner = rules.terms.opened(body, goal.next + len(outer.sizes))
    if not isinstance(inner, Fold) or inner.type != outer.type:
        raise Denied("not a fold of folds")
    if inner.head[0] == "contract":
        inner = as_sum(rules, inner)
    # Both from a neutral value: an initial value of the inner fold that is not neutral would be folded once for each
    # element of the outer one.
    if combiner(inner) != op or not is_neutral(op, inner.type, rules.terms.settle(inner.sides[0], goal.facts)):
        raise Denied("two operations")
    associates(rules, op, outer.type, outer, inner)
    sizes = outer.sizes + inner.sizes
    # Places of the joined box have to follow each other, since a fold names its variables by its first place.
    if goal.next + len(outer.sizes) != inner.place:
        raise Denied("the boxes do not join")
    new = Fold(outer.head, outer.type, goal.next, sizes, inner.bodies, outer.sides)
    return [with_side(goal, side, new, goal.next + len(sizes))]


def widened(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A contraction of narrow floats in f32, rounded once; or not at all, where the result is converted to f32."""
    head, kept = seen(rules, goal, (goal.left, goal.right)[side]), ""
    if isinstance(head, App) and head.op == "convert" and head.type == "f32":
        kept, head = head.type, rules.terms.settle(head.args[0], goal.facts)
    fold = rules.terms.opened(head, goal.next) if isinstance(head, Elem) else head
    if not isinstance(fold, Fold):
        raise Denied("not a fold")
    if fold.head[0] != "contract" or fold.type not in SIGNIFICANT or SIGNIFICANT[fold.type] >= SIGNIFICANT["f32"]:
        raise Denied("not a contraction of narrow floats")
    bodies = tuple(b if type_of(b) == "f32" else App("convert", "f32", (b,)) for b in fold.bodies)
    term: Term = Fold(fold.head, "f32", fold.place, fold.sizes, bodies, fold.sides)
    rules.use("contraction in f32", "rounding", (fold, term))
    if kept:
        rules.use("convert there and back", "rounding", (fold, term))
    else:
        term = App("convert", fold.type, (term,))
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [with_side(goal, side, term, next_)]


def library(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A call of a library in terms of what it computes."""
    head = rules.heads(goal)[side]
    found = call(head, goal.next) if isinstance(head, Elem) else None
    if found is None:
        raise Denied("not a call that is known")
    name, term, next_ = found
    rules.use(f"meaning of {name}", "real", (term,))
    return [with_side(goal, side, term, next_)]


def written_out(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A fold over a small box, one operation after another."""
    fold = fold_of(rules, goal, side)
    op = neutral_reduce(rules, goal, fold)
    if prod(fold.sizes) > 64:
        raise Denied("too many elements")
    points: list[dict[int, Lin]] = [{}]
    for k, size in enumerate(fold.sizes):
        points = [{**p, fold.place + k: constant(v)} for p in points for v in range(size)]
    terms = [TermSubstitution(p)(fold.bodies[0]) for p in points]
    out = terms[0]
    for term in terms[1:]:
        out = App(op, fold.type, (out, term))
    associates(rules, op, fold.type, fold, out)
    return [with_side(goal, side, out)]


def chosen(rules: Rules, goal: Goal, side: int, truth: bool) -> list[Goal]:
    """A choice whose predicate is shown to be true, or false, is one of its branches."""
    head = seen(rules, goal, (goal.left, goal.right)[side])
    if not isinstance(head, App) or head.op != "select":
        raise Denied("not a choice")
    # Owed first, for every point of the goal: where the predicate differs from point to point neither branch may be
    # taken.
    predicate = owed_beside(goal, side, head.args[0], TRUE if truth else FALSE)
    return [predicate, with_side(goal, side, head.args[1 if truth else 2])]


SCALAR_RULES: Final[dict[str, Callable[..., list[Goal]]]] = {
    "chosen": chosen,
    "identity": identity,
    "ring": ring,
    "single": single,
    "total": total,
    "flatten": flatten,
    "linear": linear,
    "widened": widened,
    "library": library,
    "written out": written_out,
}
