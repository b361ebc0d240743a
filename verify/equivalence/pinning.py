"""The step `pinned`: a contraction in which all but one value of a digit contribute a product with zero.

Trusted. Convolutions of groups are written as sparse ones: the digit says the group, and a hole or a mask gives zero
for all groups but one. That zero times anything is zero holds over the real numbers.
"""

from __future__ import annotations

from hloproof.equivalence.goals import Goal, assume
from hloproof.equivalence.indices import ZERO, Clamp, Digit, Lin, TermValue, Var, of_atom, variable
from hloproof.equivalence.kernel import Denied, Rules, owed_beside, with_side
from hloproof.equivalence.terms import (
    Cond,
    Elem,
    Fold,
    Num,
    Term,
    TermSubstitution,
    from_value,
    has_zero,
    type_of,
    variables_of,
)


def pinned(rules: Rules, goal: Goal, side: int, number: int, low: int, which: int, factor: int) -> list[Goal]:
    """Variable `number` of the fold as a digit and one of `low` values below it; the digit is the form `which` of
    `forms`, as elsewhere the body `factor` is zero."""
    fold = rules.opened(goal)[side]
    if not isinstance(fold, Fold) or fold.head[0] != "contract":
        raise Denied("not a contraction")
    size = fold.sizes[number]
    if low < 1 or size % low or size == low:
        raise Denied("not a digit")
    form = forms(rules, goal, fold, number)[which]
    # The digit has to reach the form's value, or all products would be left out.
    if form.lo < 0 or form.hi >= size // low:
        raise Denied("a form beyond the digit")
    # Zero times what has no value has none; on the right that would be left out without the left side having none.
    rest = [b for k, b in enumerate(fold.bodies) if k != factor]
    if side == 1 and not all(map(rules.definedness.everywhere, rest)):
        raise Denied("a factor of what is left out may have no value")
    body = fold.bodies[factor]
    if not has_zero(type_of(body)):  # it holds NaN in its place, and a product with that is none to be left out
        raise Denied("a type without zero")
    digit = variable(fold.place + number, size) // low
    inside = max(goal.next, fold.place + len(fold.sizes))
    zero = from_value(type_of(body), 0)
    goals: list[Goal] = []
    for elsewhere in (digit - form - 1, form - digit - 1):
        # Both sides of the form: "not equal" is two conditions over integers. A side that cannot be owes nothing.
        owed = assume(owed_beside(goal, side, body, zero, inside), elsewhere)
        if owed is not None:
            goals.append(owed)
    sizes = [low if k == number else n for k, n in enumerate(fold.sizes)]
    by = {fold.place + k: variable(inside + k, n) for k, n in enumerate(sizes)}
    moved = TermSubstitution(by).forms(form)
    by[fold.place + number] = moved * low + by[fold.place + number]
    bodies = tuple(TermSubstitution(by)(b) for b in fold.bodies)
    new = Fold(fold.head, fold.type, inside, tuple(sizes), bodies, fold.sides)
    rules.use("products with zero left out", "real", (fold, new))
    return [*goals, with_side(goal, side, new, inside + len(sizes))]


def forms(rules: Rules, goal: Goal, fold: Fold, number: int) -> list[Lin]:
    """What a digit may be compared with: variables and digits in the bodies in which the fold's variable is not."""
    out: dict[Lin, None] = {}
    seen: set[Lin] = set()
    stack: list[Lin] = []
    terms: list[Term] = list(reversed(fold.bodies))
    while terms:
        match rules.terms.settle(terms.pop(), goal.facts):
            case Elem(_, at):
                stack = list(at)
            case Cond(test, then, other):
                stack = [test]
                terms += [other, then]
            case _:
                continue
        while stack:
            x = stack.pop()
            if x in seen:
                continue
            seen.add(x)
            for atom in x.terms:
                match atom:
                    case Var():
                        out[of_atom(atom)] = None
                    case Digit(of):
                        out[of_atom(atom)] = None
                        stack.append(of)
                    case Clamp(of):
                        stack.append(of)
                    case TermValue():
                        pass
    own = fold.place + number
    found = [x for x in out if all(v.place != own for v in variables_of(Num("s32", x)))]
    return [*found, *(x.hi - x for x in found), ZERO]
