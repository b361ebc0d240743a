"""Steps on polynomials: two sides over the same atoms, and factors that come out of sums.

Trusted. Over integers each is exact; over floats they are of the tier real, and of rounding where constants differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from math import isfinite, prod
from typing import Any, Final

from hloproof.equivalence.answer import Tier
from hloproof.equivalence.computed_identities import SIGNIFICANT, held_number, is_near
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Denied, Rules, with_side
from hloproof.equivalence.polynomials import Polynomial, Polynomials, TooManyMonomials, equal_integers, plus, product
from hloproof.equivalence.reductions import as_sum, combiner, fold_of, is_neutral, neutral_reduce
from hloproof.equivalence.terms import (
    App,
    Elem,
    Fold,
    Term,
    from_value,
    may_be_flushed,
    type_of,
    value_of,
    variables_of,
)
from hloproof.models.interpreter.semantics.element_type import INTEGERS, to_bits, width
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS


def seen(rules: Rules, goal: Goal, term: Term) -> Term:
    """The head of a term, opened where it is elementwise; folds stay closed, so that their variables do not escape."""
    head = rules.terms.settle(term, goal.facts)
    if isinstance(head, Elem):
        found = rules.terms.opened(head, goal.next)
        if isinstance(found, App):
            return rules.terms.settle(found, goal.facts)
    return head


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
        left = found.read(goal.left, depth)
        ours = len(found.atoms)
        right = found.read(goal.right, depth)
        goals: list[Goal] = []
        for mine, other in pairs:
            a, b = found.atoms[mine], found.atoms[other]
            if type_of(a) != type_of(b):
                raise Denied("atoms of two types")
            # The second is owed a value where the first has one, which so has to be what the left side is made of.
            if mine >= ours:
                raise Denied("an atom of the right side alone")
            goals.append(goal.about(a, b, max(after(goal, a), after(goal, b))))
            # First read for the atoms, then once more with the names: a pair of atoms becomes one only from here on.
            found.renamed[other] = mine
        found.owed.clear()
        left = found.read(goal.left, depth)
        given = found.owed | found.shown(left)
        found.owed.clear()
        right = found.read(goal.right, depth)
    except TooManyMonomials as error:
        raise Denied("the polynomials are too large") from error
    # What cancels in the polynomial of the right side is no longer looked at, and still has to have a value wherever
    # the left side has one.
    if type_ in FLOATS and not found.owed <= given | found.shown(right):
        raise Denied("the right side may have no value where the left one has one")
    agreed = equal_polynomials(type_, left, right, found.passed)
    if agreed is None:
        raise Denied("two polynomials")
    for name, tier in agreed:
        rules.use(name, tier, found.looked_into)
    if "rounding" in found.seen:
        rules.use("conversions between float types left out", "rounding", found.looked_into)
    if "sums" in found.seen and type_ not in INTEGERS:
        rules.use("factors out of sums", "real", found.looked_into)
    return goals


def after(goal: Goal, atom: Term) -> int:
    """The first place that a goal about this atom may use. Denied for what lies inside a sum, whose variables are not
    those of the goal."""
    own: range | tuple[int, ...] = range(atom.place, atom.place + len(atom.sizes)) if isinstance(atom, Fold) else ()
    # A variable of a sum means all of its values, that of a goal any one of them.
    if any(v.place >= goal.next and v.place not in own for v in variables_of(atom)):
        raise Denied("an atom inside of a sum")
    return max(goal.next, own[-1] + 1) if own else goal.next


_STEPS: Final = (2, 1, 0)
"""In f32 and f64 the rounded coefficients may be so many neighbours apart where none, one or both of them stand in the
modules: the others were folded in steps. In narrow types they are one."""


def equal_polynomials(
    type_: str, left: Polynomial, right: Polynomial, passed: Collection[str] = ()
) -> list[tuple[str, Tier]] | None:
    """What makes the two equal; None where they are not. `passed` are types that numbers were converted from: constants
    are rounded in the most precise one."""
    if type_ in INTEGERS:
        return [("integer arithmetic", "exact")] if equal_integers(left, right, width(type_)) else None
    used: list[tuple[str, Tier]] = [("real arithmetic", "real")]
    if left != right:
        wide = max((type_, *passed), key=lambda t: SIGNIFICANT.get(t, 0))
        rounds = SIGNIFICANT.get(wide, 0) >= 8 and left.keys() == right.keys()
        if not rounds or not all(_rounded_otherwise(wide, left[m], right[m]) for m in left):
            return None
        used.append(("constants rounded otherwise", "rounding"))
    return used


def _rounded_otherwise(type_: str, one: Fraction, other: Fraction) -> bool:
    """Two coefficients are one number before it is rounded. Integers and numbers that the type holds are as they were
    written, and of one of these and its reciprocal the other may have been rounded; else a difference is one."""
    if one == other:
        return True
    held = [held_number(type_, c) for c in (one, other)]
    if None in held or one.denominator == other.denominator == 1 or one * other < 0:
        return False
    if any(may_be_flushed(type_, h) for h in held):
        return False
    exact = [Fraction(h or 0) == c for h, c in zip(held, (one, other), strict=True)]
    divides = [c != 0 and 1 / c == Fraction(held_number(type_, 1 / c) or 0) for c in (one, other)]
    if all(exact) or all(divides):
        return False
    written = sum(e or d for e, d in zip(exact, divides, strict=True))
    steps = _STEPS[written] if type_ in ("f32", "f64") else 0
    # Of numbers that are too small for the type many have one neighbour.
    close = abs(one - other) <= (steps + 1) * Fraction(2) ** (1 - SIGNIFICANT[type_]) * max(abs(one), abs(other))
    return close and abs(to_bits(type_, held[0]) - to_bits(type_, held[1])) <= steps


def polynomials(
    rules: Rules, goal: Goal, through: bool, opening: Callable[[int, Term], bool] | None = None
) -> Polynomials:
    """Reads polynomials for the step `ring`."""

    def view(term: Term) -> Term:
        return summand(rules, goal, seen(rules, goal, term))

    def sums(term: Term, found: Polynomials) -> Polynomial | None:
        return sum_of_monomials(rules, goal, term, found)

    return Polynomials(view, through, sums, opening, everywhere=rules.definedness.everywhere, loses=rules.parts.loses)


def summand(rules: Rules, goal: Goal, head: Term) -> Term:
    """The one summand of a sum over a box of one point, over real numbers and integers; other terms as they are."""
    while isinstance(head, Elem | Fold):
        fold = rules.terms.opened(head, goal.next)
        if not isinstance(fold, Fold) or prod(fold.sizes) != 1 or fold.head[0] != "reduce" or combiner(fold) != "add":
            return head
        if not is_neutral("add", fold.type, rules.terms.settle(fold.sides[0], goal.facts)):
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
    found.looked_into.append(fold)
    found.inside, outside_owed = True, found.owed
    found.owed = set()
    try:
        body = found.read(fold.bodies[0])
    finally:
        found.inside = False
    own = range(fold.place, fold.place + len(fold.sizes))
    within = {
        tuple((n, e) for n, e in m if n < 0 or any(v.place in own for v in variables_of(found.atoms[n]))): c
        for m, c in body.items()
    }
    # The sums that are left show what they read. What stands before a sum may cancel with it, and stays owed.
    found.owed = outside_owed | (found.owed - found.shown(within))
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
                inside.append(_raised(rules, found.atoms[number], exponent, fold.type))
            else:
                outside.append((number, exponent))
        if inside:
            product_ = _multiplied(inside, fold.type)
            sum_ = Fold(fold.head, fold.type, fold.place, fold.sizes, (product_,), fold.sides)
            found.looked_into.append(sum_)
            rest = found.single(sum_)
        else:
            rest = {(): Fraction(prod(fold.sizes))}
        out = plus(out, product({tuple(outside): c}, rest))
    found.seen.add("sums")
    return out


def linear(rules: Rules, goal: Goal, side: int, depth: int) -> list[Goal]:
    """A sum of multiples is the multiple of a sum: factors that do not depend on the fold's variables come out of it,
    and a sum of several terms becomes several sums."""
    fold = fold_of(rules, goal, side)
    fold = as_sum(rules, fold) if fold.head[0] == "contract" else fold
    if fold.head[0] != "reduce" or combiner(fold) != "add" or fold.type not in FLOATS | INTEGERS:
        raise Denied("not a sum")
    neutral_reduce(rules, goal, fold)
    found = Polynomials(
        lambda t: seen(rules, goal, t), everywhere=rules.definedness.everywhere, loses=rules.parts.loses
    )
    try:
        polynomial = found.read(fold.bodies[0], depth)
    except TooManyMonomials as error:
        raise Denied("the polynomial is too large") from error
    # As in `ring`: 0 * x on the right may be left out only where x has a value.
    if side == 1 and fold.type in FLOATS and not found.owed <= found.shown(polynomial):
        raise Denied("a part that may have no value would be left out")
    own = set(range(fold.place, fold.place + len(fold.sizes)))
    if not polynomial or len(polynomial) > 8 or found.sums:
        raise Denied("nothing to take out")
    summands: list[Term] = []
    for monomial, c in polynomial.items():
        inside: list[Term] = []
        outside: list[Term] = [] if c == 1 else [_coefficient(rules, fold.type, c)]
        for atom, exponent in monomial:
            term = _raised(rules, found.atoms[atom], exponent, fold.type)
            depends = any(v.place in own for v in variables_of(term))
            (inside if depends else outside).append(term)
        body = _multiplied(inside or [from_value(fold.type, 1)], fold.type)
        new = Fold(fold.head, fold.type, fold.place, fold.sizes, (body,), fold.sides)
        summands.append(_multiplied([new, *outside], fold.type))
    out = summands[0]
    for term in summands[1:]:
        out = App("add", fold.type, (out, term))
    if fold.type not in INTEGERS:
        rules.use("factors out of sums", "real", (fold, out))
    next_ = max(goal.next, fold.place + len(fold.sizes))
    return [with_side(goal, side, out, next_)]


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
        if SIGNIFICANT.get(type_, 0) < 8 or not is_near(type_, number):
            raise Denied("a constant that the type does not hold")
        rules.use("constants rounded otherwise", "rounding", (out,))
    return out


MOST_FACTORS: Final = 16
"""A power of integers is written out up to this one."""


def _raised(rules: Rules, base: Term, exponent: Fraction, type_: str) -> Term:
    """A power of a term. Denied for an exponent that the type holds nothing near."""
    if exponent == 1:
        return base
    if exponent.denominator == 1 and 0 < exponent <= (MOST_FACTORS if type_ in INTEGERS else 4):
        return _multiplied([base] * int(exponent), type_)
    return App("power", type_, (base, _coefficient(rules, type_, exponent)))


def _multiplied(factors: list[Term], type_: str) -> Term:
    out = factors[0]
    for factor in factors[1:]:
        out = App("multiply", type_, (out, factor))
    return out
