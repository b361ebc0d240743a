"""Steps that use identities beyond movement: rewriting at a head, polynomials, folds as sums.

Trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite, prod
from typing import Any, Final

from hloproof.equivalence.answer import Tier
from hloproof.equivalence.computed_identities import SIGNIFICANT, holds_all
from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.identities import NUMBERS, apply
from hloproof.equivalence.indices import Lin, constant, variable
from hloproof.equivalence.kernel import Denied, Rules, sides_with
from hloproof.equivalence.library import call
from hloproof.equivalence.polynomials import Polynomial, Polynomials, TooLarge, equal_integers, near, plus, product
from hloproof.equivalence.terms import (
    App,
    Elem,
    Fold,
    Term,
    TermSubstitution,
    from_value,
    type_of,
    value_of,
    variables_of,
)
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest, width
from hloproof.models.interpreter.semantics.small_float import FLOATS


def seen(rules: Rules, goal: Goal, term: Term) -> Term:
    """The head of a term, opened where it is elementwise; folds stay closed, so that their variables do not escape."""
    head = rules.terms.settle(term, goal.facts)
    if isinstance(head, Elem):
        found = rules.terms.opened(head, goal.next)
        if isinstance(found, App):
            return rules.terms.settle(found, goal.facts)
    return head


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
    rules.use(name, found[1])
    return [Goal(goal.next, goal.facts, *sides_with(goal, side, found[0]))]


def ring(
    rules: Rules, goal: Goal, pairs: list[Any], through: bool = False, depth: int = 1000, opened: Any = None
) -> list[Goal]:
    """Both sides as polynomials over the same atoms; the second atom of each pair goes by the name of the first.

    Looked into is what lies above `depth`; or, where numbers are given as `opened`, the operations with these numbers,
    sums over boxes too.
    """
    type_ = type_of(goal.left)
    if type_ != type_of(goal.right) or type_ not in INTEGERS | NUMBERS:
        raise Denied("not two numbers of one type")
    numbers = None if opened is None else frozenset(opened)
    found = polynomials(rules, goal, through, None if numbers is None else lambda number, _: number in numbers)
    try:
        left, right = found.read(goal.left, depth), found.read(goal.right, depth)
        goals: list[Goal] = []
        for mine, other in pairs:
            a, b = found.atoms[mine], found.atoms[other]
            if type_of(a) != type_of(b):
                raise Denied("atoms of two types")
            goals.append(Goal(max(after(goal, a), after(goal, b)), goal.facts, a, b))
            # First read for the atoms, then once more with the names: a pair of atoms becomes one only from here on.
            found.renamed[other] = mine
        found.owed.clear()
        left = found.read(goal.left, depth)
        given = found.owed | found.shown(left)
        found.owed.clear()
        right = found.read(goal.right, depth)
    except TooLarge as error:
        raise Denied("the polynomials are too large") from error
    # What cancels in the polynomial of the right side is no longer looked at, and still has to have a value wherever
    # the left side has one.
    if type_ in FLOATS and not found.owed <= given | found.shown(right):
        raise Denied("the right side may have no value where the left one has one")
    agreed = equal_polynomials(type_, left, right)
    if agreed is None:
        raise Denied("two polynomials")
    for name, tier in agreed:
        rules.use(name, tier)
    if "rounding" in found.seen:
        rules.use("conversions between float types left out", "rounding")
    if "sums" in found.seen and type_ not in INTEGERS:
        rules.use("factors out of sums", "real")
    return goals


def after(goal: Goal, atom: Term) -> int:
    """The first place that a goal about this atom may use. Denied for what lies inside a sum, whose variables are not
    those of the goal."""
    own: range | tuple[int, ...] = range(atom.place, atom.place + len(atom.sizes)) if isinstance(atom, Fold) else ()
    # A variable of a sum means all of its values, that of a goal any one of them.
    if any(v.place >= goal.next and v.place not in own for v in variables_of(atom)):
        raise Denied("an atom inside of a sum")
    return max(goal.next, own[-1] + 1) if own else goal.next


def equal_polynomials(type_: str, left: Polynomial, right: Polynomial) -> list[tuple[str, Tier]] | None:
    """What makes the two equal; None where they are not."""
    if type_ in INTEGERS:
        return [("integer arithmetic", "exact")] if equal_integers(left, right, width(type_)) else None
    used: list[tuple[str, Tier]] = [("real arithmetic", "real")]
    if left != right:
        # Integers as coefficients were not rounded, so a difference between them is one.
        whole = all(c.denominator == 1 for p in (left, right) for c in p.values())
        if whole or SIGNIFICANT.get(type_, 0) < 8 or not near(left, right, 2.0 ** (2 - SIGNIFICANT[type_])):
            return None
        used.append(("constants rounded otherwise", "rounding"))
    return used


def polynomials(
    rules: Rules, goal: Goal, through: bool, opening: Callable[[int, Term], bool] | None = None
) -> Polynomials:
    """Reads polynomials for the step `ring`."""

    def view(term: Term) -> Term:
        return summand(rules, goal, seen(rules, goal, term))

    def sums(term: Term, found: Polynomials) -> Polynomial | None:
        return sum_of_monomials(rules, goal, term, found)

    return Polynomials(view, through, sums, opening, everywhere=rules.definedness.everywhere)


def summand(rules: Rules, goal: Goal, head: Term) -> Term:
    """The one summand of a sum over a box of one point, over real numbers and integers; other terms as they are."""
    while isinstance(head, Elem | Fold):
        fold = rules.terms.opened(head, goal.next)
        if not isinstance(fold, Fold) or prod(fold.sizes) != 1 or fold.head[0] != "reduce" or combiner(fold) != "add":
            return head
        # pred is no number: its `add` is `or`.
        if fold.type == "pred" or not is_neutral("add", fold.type, rules.terms.settle(fold.sides[0], goal.facts)):
            return head
        head = seen(rules, goal, fold.bodies[0])
    return head


def sum_of_monomials(rules: Rules, goal: Goal, head: Term, found: Polynomials) -> Polynomial | None:
    """A sum over a box as a polynomial whose atoms are sums of single products, from which all that does not depend on
    the box is taken out. Over real numbers, or integers."""
    fold = rules.terms.opened(head, goal.next)
    if not isinstance(fold, Fold) or fold.type not in FLOATS | INTEGERS:
        return None
    if fold.head[0] == "contract":
        fold = as_sum(rules, fold)
    if fold.head[0] != "reduce" or combiner(fold) != "add":
        return None
    if not is_neutral("add", fold.type, rules.terms.settle(fold.sides[0], goal.facts)):
        return None
    found.inside, outside_owed = True, found.owed
    found.owed = set()
    try:
        body = found.read(fold.bodies[0])
        found.owed = outside_owed | (found.owed - found.shown(body))  # the sums that are left show what they read
    finally:
        found.inside = False
    own = range(fold.place, fold.place + len(fold.sizes))
    out: Polynomial = {}
    for monomial, c in body.items():
        # A number below zero stands for a power of a sum, which is no atom and cannot be looked up.
        if any(number < 0 for number, _ in monomial):
            return None
        inside: list[Term] = []
        outside: list[tuple[int, Fraction]] = []
        for number, exponent in monomial:
            if type_of(found.atoms[number]) != fold.type or exponent > MOST_FACTORS:
                return None
            if any(v.place in own for v in variables_of(found.atoms[number])):
                inside.append(_raised(found.atoms[number], exponent, fold.type))
            else:
                outside.append((number, exponent))
        if inside:
            product_ = _multiplied(inside, fold.type)
            rest = found.single(Fold(fold.head, fold.type, fold.place, fold.sizes, (product_,), fold.sides))
        else:
            rest = {(): Fraction(prod(fold.sizes))}
        out = plus(out, product({tuple(outside): c}, rest))
    found.seen.add("sums")
    return out


def combiner(fold: Fold) -> str | None:
    """The operation of a reduce whose function is one operation on its two arguments."""
    if fold.head[0] not in ("reduce", "scatter") or len(fold.head[1]) != 1:
        return None
    (function,) = fold.head[1]
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
    head = rules.opened(goal)[side]
    if not isinstance(head, Fold):
        raise Denied("not a fold")
    return head


def neutral_reduce(rules: Rules, goal: Goal, fold: Fold) -> str:
    op = combiner(fold) if fold.head[0] == "reduce" else None
    if op is None or not is_neutral(op, fold.type, rules.terms.settle(fold.sides[0], goal.facts)):
        raise Denied("not a reduce from a neutral value")
    return op


def associates(rules: Rules, op: str, type_: str) -> None:
    """Grouping does not matter bit for bit, but for float sums and products."""
    if op in ("add", "multiply") and type_ not in INTEGERS:
        rules.use("sums and products regrouped", "real")


def single(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A fold over one element is that element: how often the initial value is used cannot be observed."""
    fold = fold_of(rules, goal, side)
    if prod(fold.sizes) != 1:
        raise Denied("more than one element")
    if fold.head[0] == "contract":
        rules.use("a product of one summand", "real")
        term: Term = _factors(fold)
    else:
        op = neutral_reduce(rules, goal, fold)
        initial = rules.terms.settle(fold.sides[0], goal.facts)
        # The only neutral value of a float sum that leaves -0.0 as it is would be -0.0 itself.
        if op == "add" and fold.type not in INTEGERS and initial != from_value(fold.type, -0.0):
            associates(rules, op, fold.type)  # 0 + -0.0 is 0
        term = fold.bodies[0]
    return [Goal(goal.next, goal.facts, *sides_with(goal, side, term))]


def _factors(fold: Fold) -> App:
    args = tuple(b if type_of(b) == fold.type else App("convert", fold.type, (b,)) for b in fold.bodies)
    return App("multiply", fold.type, args)


def as_sum(rules: Rules, fold: Fold) -> Fold:
    """A dot or convolution as the sum of products."""
    if fold.head[0] != "contract":
        raise Denied("not a contraction")
    if fold.type not in INTEGERS:
        rules.use("a contraction is a sum of products", "real")
        # The precision that a contraction asks for says how it may round, so leaving it out is a matter of rounding, no
        # more.
        if fold.head[1]:
            rules.use("the precision of a contraction left out", "rounding")
        if not all(type_of(b) == fold.type or holds_all(fold.type, type_of(b)) for b in fold.bodies):
            rules.use("factors rounded to the type of the sum", "rounding")
    at = [rules.graph.node("bound", fold.type, (), (), ("argument", k, ())) for k in (0, 1)]
    add = rules.graph.node("add", fold.type, (), at)
    zero = from_value(fold.type, 0)
    return Fold(("reduce", (add,), 0), fold.type, fold.place, fold.sizes, (_factors(fold),), (zero,))


def total(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A contraction becomes a sum."""
    fold = as_sum(rules, fold_of(rules, goal, side))
    return [Goal(goal.next, goal.facts, *sides_with(goal, side, fold))]


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
    associates(rules, op, outer.type)
    sizes = outer.sizes + inner.sizes
    # Places of the joined box have to follow each other, since a fold names its variables by its first place.
    if goal.next + len(outer.sizes) != inner.place:
        raise Denied("the boxes do not join")
    new = Fold(outer.head, outer.type, goal.next, sizes, inner.bodies, outer.sides)
    return [Goal(goal.next + len(sizes), goal.facts, *sides_with(goal, side, new))]


def linear(rules: Rules, goal: Goal, side: int, depth: int) -> list[Goal]:
    """A sum of multiples is the multiple of a sum: factors that do not depend on the fold's variables come out of it,
    and a sum of several terms becomes several sums."""
    fold = fold_of(rules, goal, side)
    fold = as_sum(rules, fold) if fold.head[0] == "contract" else fold
    if fold.head[0] != "reduce" or combiner(fold) != "add" or fold.type not in FLOATS | INTEGERS:
        raise Denied("not a sum")
    neutral_reduce(rules, goal, fold)
    found = Polynomials(lambda t: seen(rules, goal, t), everywhere=rules.definedness.everywhere)
    try:
        polynomial = found.read(fold.bodies[0], depth)
    except TooLarge as error:
        raise Denied("the polynomial is too large") from error
    # As in `ring`: 0 * x on the right may be left out only where x has a value.
    if side == 1 and fold.type in FLOATS and not found.owed <= found.shown(polynomial):
        raise Denied("a part that may have no value would be left out")
    own = set(range(fold.place, fold.place + len(fold.sizes)))
    if not polynomial or len(polynomial) > 8 or found.sums:
        raise Denied("nothing to take out")
    if fold.type not in INTEGERS:
        rules.use("factors out of sums", "real")
    summands: list[Term] = []
    for monomial, c in polynomial.items():
        inside: list[Term] = []
        outside: list[Term] = [] if c == 1 else [_coefficient(rules, fold.type, c)]
        for atom, exponent in monomial:
            term = _raised(found.atoms[atom], exponent, fold.type)
            depends = any(v.place in own for v in variables_of(term))
            (inside if depends else outside).append(term)
        body = _multiplied(inside or [from_value(fold.type, 1)], fold.type)
        new = Fold(fold.head, fold.type, fold.place, fold.sizes, (body,), fold.sides)
        summands.append(_multiplied([new, *outside], fold.type))
    out = summands[0]
    for term in summands[1:]:
        out = App("add", fold.type, (out, term))
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [Goal(next_, goal.facts, *sides_with(goal, side, out))]


def _coefficient(rules: Rules, type_: str, number: Fraction) -> Term:
    """A coefficient as a constant of the type. Denied where the type holds nothing near it, as for products of
    constants that are too large or too small."""
    if type_ in INTEGERS:
        return from_value(type_, int(number))
    try:
        out = from_value(type_, float(number))
    except OverflowError as error:
        raise Denied("a constant beyond the type") from error
    # Read back from the bits that the type holds: what it rounds to, or to zero or infinity, is what a module would
    # compute with.
    held = value_of(out)
    if not isinstance(held, int | float) or not isfinite(held):
        raise Denied("a constant beyond the type")
    if held != number:
        if SIGNIFICANT.get(type_, 0) < 8 or abs(Fraction(held) - number) > abs(number) * Fraction(2) ** (
            1 - SIGNIFICANT[type_]
        ):
            raise Denied("a constant that the type does not hold")
        rules.use("constants rounded otherwise", "rounding")
    return out


MOST_FACTORS: Final = 16
"""A power of integers is written out up to this one."""


def _raised(base: Term, exponent: Fraction, type_: str) -> Term:
    if exponent == 1:
        return base
    if exponent.denominator == 1 and 0 < exponent <= (MOST_FACTORS if type_ in INTEGERS else 4):
        return _multiplied([base] * int(exponent), type_)
    return App("power", type_, (base, from_value(type_, float(exponent))))


def _multiplied(factors: list[Term], type_: str) -> Term:
    out = factors[0]
    for factor in factors[1:]:
        out = App("multiply", type_, (out, factor))
    return out


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
    rules.use("contraction in f32", "rounding")
    bodies = tuple(b if type_of(b) == "f32" else App("convert", "f32", (b,)) for b in fold.bodies)
    term: Term = Fold(fold.head, "f32", fold.place, fold.sizes, bodies, fold.sides)
    if kept:
        rules.use("convert there and back", "rounding")
    else:
        term = App("convert", fold.type, (term,))
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [Goal(next_, goal.facts, *sides_with(goal, side, term))]


def library(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A call of a library in terms of what it computes."""
    head = rules.heads(goal)[side]
    found = call(head, goal.next) if isinstance(head, Elem) else None
    if found is None:
        raise Denied("not a call that is known")
    name, term, next_ = found
    rules.use(f"meaning of {name}", "real")
    return [Goal(next_, goal.facts, *sides_with(goal, side, term))]


def written_out(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A fold over a small box, one operation after another."""
    fold = fold_of(rules, goal, side)
    op = neutral_reduce(rules, goal, fold)
    if prod(fold.sizes) > 64:
        raise Denied("too many elements")
    associates(rules, op, fold.type)
    points: list[dict[int, Lin]] = [{}]
    for k, size in enumerate(fold.sizes):
        points = [{**p, fold.place + k: constant(v)} for p in points for v in range(size)]
    terms = [TermSubstitution(p)(fold.bodies[0]) for p in points]
    out = terms[0]
    for term in terms[1:]:
        out = App(op, fold.type, (out, term))
    return [Goal(goal.next, goal.facts, *sides_with(goal, side, out))]


def chosen(rules: Rules, goal: Goal, side: int, truth: bool) -> list[Goal]:
    """A choice whose predicate is shown to be true, or false, is one of its branches."""
    head = seen(rules, goal, (goal.left, goal.right)[side])
    if not isinstance(head, App) or head.op != "select":
        raise Denied("not a choice")
    # Owed first, for every point of the goal: where the predicate differs from point to point neither branch may be
    # taken.
    predicate = Goal(goal.next, goal.facts, head.args[0], TRUE if truth else FALSE)
    return [predicate, Goal(goal.next, goal.facts, *sides_with(goal, side, head.args[1 if truth else 2]))]


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
