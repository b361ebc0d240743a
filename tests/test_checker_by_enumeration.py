"""Pieces of the checker of certificates that no pair reaches from all sides, held against enumeration of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.indices import Lin, Substituted, constant, variable
from hloproof.equivalence.indices import _low_part as low_part
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.pinning import forms, pinned
from hloproof.equivalence.polynomials import Polynomials
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, from_value, value_of, variables_of

GRAPH = Graph()
ZERO = from_value("f32", 0)
Point = dict[int, int]


def number(form: Lin, point: Point) -> int:
    found = Substituted({p: constant(v) for p, v in point.items()}, lambda term: constant(0))(form)
    assert found.is_constant
    return found.constant


def points(*terms: Term) -> Iterator[Point]:
    """All values of the variables that stand free in the terms."""
    inner = {t.place + k for t in terms if isinstance(t, Fold) for k in range(len(t.sizes))}
    free = sorted({v.place: v.size for t in terms for v in variables_of(t) if v.place not in inner}.items())
    for values in product(*(range(n) for _, n in free)):
        yield dict(zip((p for p, _ in free), values, strict=True))


def value(term: Term, point: Point) -> Fraction:
    """A term over parameters that hold, at any element, a number made of the element."""
    while isinstance(term, Cond):
        term = term.then if number(term.test, point) >= 0 else term.other
    match term:
        case Elem(node, at):
            held = Random(repr((node.key, *(number(f, point) for f in at))))
            return Fraction(held.randint(1, 1000))
        case Fold(_, _, place, sizes, bodies):
            total = Fraction(0)
            for box in product(*map(range, sizes)):
                inside = point | {place + k: v for k, v in enumerate(box)}
                part = Fraction(1)
                for body in bodies:
                    part *= value(body, inside)
                total += part
            return total
        case Num(_, form):
            return Fraction(number(form, point))
        case Lit():
            return Fraction(value_of(term) or 0)
    raise AssertionError(term)


# -- a digit that is known ----------------------------------------------------------------------------------------

X, Y = (GRAPH.node("parameter", "f32", (60, 60), (), (k,)) for k in (0, 1))


def one_digit(groups: int, size: int, low: int, *, which: int, place: int, off: int = 0) -> tuple[Goal, Lin]:
    """A contraction over two variables, of which number `which` has a first digit; the first factor is zero but where
    that digit is variable 0 (and, with `off`, in one more place)."""
    g = variable(0, groups)
    v, w = variable(place + which, size), variable(place + 1 - which, 3)
    held = Elem(X, (v, w + g))
    digit = v // low
    body: Term = Cond(digit - g, Cond(g - digit, held, ZERO), ZERO)
    if off:
        body = Cond(digit - g - off, Cond(g + off - digit, held, body), body)
    sizes = (size, 3) if which == 0 else (3, size)
    return Goal(1, (), Fold(("contract", ()), "f32", place, sizes, (body, Elem(Y, (v, w)))), ZERO), g


def at_all_points(goal: Goal, says: Callable[[Fraction, Fraction], bool]) -> bool:
    return all(
        says(value(goal.left, p), value(goal.right, p))
        for p in points(goal.left, goal.right, *(Num("s32", f) for f in goal.facts))
        if all(number(f, p) >= 0 for f in goal.facts)
    )


@pytest.mark.parametrize(("groups", "size", "low"), [(2, 4, 2), (2, 6, 2), (3, 6, 2), (2, 6, 3), (1, 4, 2), (4, 4, 1)])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("place", [1, 4])
@pytest.mark.parametrize("next_", [1, 9])
def test_a_digit_that_is_known_takes_what_it_says(
    groups: int, size: int, low: int, which: int, place: int, next_: int
) -> None:
    made, g = one_digit(groups, size, low, which=which, place=place)
    goal = Goal(next_, (), made.left, ZERO)
    assert isinstance(goal.left, Fold)
    rules = Rules(GRAPH, "real")
    opened = rules.opened(goal)[0]
    assert isinstance(opened, Fold)
    candidates = forms(rules, goal, opened, which)
    if g not in candidates:  # a variable of one value is a number
        assert groups == 1
        g = constant(0)
    *owed, new = pinned(rules, goal, 0, which, low, candidates.index(g), 0)
    # What is left out is zero, and what is left is what there was.
    assert all(at_all_points(o, lambda a, b: a == b) for o in owed)
    assert isinstance(new.left, Fold) and new.left.sizes[which] == low
    assert new.next >= new.left.place + len(new.left.sizes) and new.left.place >= next_
    for p in [{0: k} for k in range(groups)]:
        assert value(new.left, p) == value(goal.left, p)


@pytest.mark.parametrize("off", [-1, 1])
@pytest.mark.parametrize("low", [1, 2])
def test_what_is_not_zero_elsewhere_is_owed(off: int, low: int) -> None:
    """The factor has another digit at which it is something."""
    goal, g = one_digit(2, 3 * low, low, which=0, place=1, off=off)
    assert isinstance(goal.left, Fold)
    rules = Rules(GRAPH, "real")
    opened = rules.opened(goal)[0]
    assert isinstance(opened, Fold)
    *owed, _ = pinned(rules, goal, 0, 0, low, forms(rules, goal, opened, 0).index(g), 0)
    assert not all(at_all_points(o, lambda a, b: a == b) for o in owed)


def test_what_is_no_digit_is_not_taken_for_one() -> None:
    goal, _ = one_digit(2, 4, 2, which=0, place=1)
    for low in (0, -1, 3, 4):
        with pytest.raises(Denied, match="not a digit"):
            pinned(Rules(GRAPH, "real"), goal, 0, 0, low, 0, 0)
    with pytest.raises(Denied, match="not a contraction"):
        pinned(Rules(GRAPH, "real"), Goal(1, (), Elem(X, (variable(0, 2), constant(0))), ZERO), 0, 0, 2, 0, 0)
    assert isinstance(goal.left, Fold)
    summed = Fold(("reduce", (), 0), "f32", goal.left.place, goal.left.sizes, goal.left.bodies, (ZERO,))
    with pytest.raises(Denied, match="not a contraction"):
        pinned(Rules(GRAPH, "real"), Goal(1, (), summed, ZERO), 0, 0, 2, 0, 0)


@pytest.mark.parametrize(("side", "factor", "fine"), [(0, 0, True), (1, 0, False), (0, 1, True), (1, 1, True)])
def test_a_factor_without_value_stays_on_the_side_after(side: int, factor: int, fine: bool) -> None:
    """The second factor is a logarithm, which may have no value where the first is zero."""
    made, _ = one_digit(2, 4, 2, which=0, place=1)
    assert isinstance(made.left, Fold)
    logarithm = GRAPH.node("log", "f32", (60, 60), [Y])
    plain = made.left.bodies[1]
    assert isinstance(plain, Elem)
    fold = Fold(made.left.head, "f32", 1, made.left.sizes, (made.left.bodies[0], Elem(logarithm, plain.at)))
    goal = Goal(1, (), fold, ZERO) if side == 0 else Goal(1, (), ZERO, fold)
    rules = Rules(GRAPH, "real")
    opened = rules.opened(goal)[side]
    assert isinstance(opened, Fold)
    which = forms(rules, goal, opened, 0).index(variable(0, 2))
    if fine:
        assert pinned(rules, goal, side, 0, 2, which, factor)
    else:
        with pytest.raises(Denied, match="no value"):
            pinned(rules, goal, side, 0, 2, which, factor)
    three = Fold(fold.head, "f32", 1, fold.sizes, (fold.bodies[0], plain, fold.bodies[1]))
    if side == 1 and factor == 0:
        with pytest.raises(Denied, match="no value"):
            pinned(rules, Goal(1, (), ZERO, three), 1, 0, 2, which, 0)


# -- a fold of folds ----------------------------------------------------------------------------------------------


def summed(body: Term, size: int, place: int, kind: str = "f32") -> Fold:
    arguments = [GRAPH.node("bound", kind, (), (), ("argument", k, ())) for k in (0, 1)]
    add = GRAPH.node("add", kind, (), arguments)
    return Fold(("reduce", (add,), 0), kind, place, (size,), (body,), (from_value(kind, 0),))


def test_only_a_fold_of_the_same_type_is_part_of_another() -> None:
    """Narrow numbers that are summed first are rounded before they are summed again."""
    inner = summed(Elem(X, (variable(4, 2), variable(5, 3))), 3, 5)
    rules = Rules(GRAPH, "real")
    assert subgoals(rules, Goal(4, (), summed(inner, 2, 4), ZERO), ["flatten", 0])
    narrow = GRAPH.node("parameter", "bf16", (60, 60), (), (2,))
    for other in (
        summed(Elem(narrow, (variable(4, 2), variable(5, 3))), 3, 5, "bf16"),
        Elem(X, (variable(4, 2), variable(4, 2))),
        App("negate", "f32", (inner,)),
    ):
        with pytest.raises(Denied, match="not a fold of folds"):
            subgoals(rules, Goal(4, (), summed(other, 2, 4), ZERO), ["flatten", 0])


def test_a_contraction_within_a_sum_is_a_sum_of_products() -> None:
    product_ = Fold(
        ("contract", ()),
        "f32",
        5,
        (3,),
        (Elem(X, (variable(4, 2), variable(5, 3))), Elem(Y, (variable(5, 3), variable(4, 2)))),
    )
    goal = Goal(4, (), summed(product_, 2, 4), ZERO)
    (new,) = subgoals(Rules(GRAPH, "real"), goal, ["flatten", 0])
    assert isinstance(new.left, Fold) and new.left.sizes == (2, 3) and isinstance(new.left.bodies[0], App)


# -- division of forms --------------------------------------------------------------------------------------------


def test_the_low_part_of_a_form_is_below_its_divisor() -> None:
    random = Random(0)
    sizes = (3, 4, 5)
    found = set[bool]()
    for _ in range(3000):
        x = constant(random.randint(-6, 12))
        for k, n in enumerate(sizes):
            x = x + variable(k, n) * random.choice((-12, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12))
        a = random.choice((2, 3, 4, 6, 8, 9, 12, 24))
        parts = low_part(x, a)
        found.add(parts is not None)
        if parts is None:
            continue
        high, low, g = parts
        assert g > 1 and a % g == 0
        for values in product(*map(range, sizes)):
            p = dict(enumerate(values))
            assert number(x, p) == g * number(high, p) + number(low, p) and 0 <= number(low, p) < g
    assert found == {True, False}


# -- what a polynomial shows --------------------------------------------------------------------------------------


def read(term: Term) -> Polynomials:
    return Polynomials(lambda t: t, everywhere=lambda _: True)


def test_a_polynomial_shows_what_its_value_asks() -> None:
    x, y = (Elem(n, (constant(0), constant(0))) for n in (X, Y))
    one = from_value("f32", 1)

    def app(op: str, *args: Term) -> App:
        return App(op, "f32", args)

    def shown(term: Term) -> set[tuple[str, int]]:
        found = Polynomials(lambda t: t, everywhere=lambda _: True)
        return {(what, atom) for what, atom in found.shown(found.read(term))}

    assert shown(one) == set()
    assert shown(x) == {("value", 0)}
    assert shown(app("add", x, one)) == {("value", 0)}
    assert shown(app("multiply", x, y)) == {("value", 0), ("value", 1)}
    assert shown(app("divide", one, x)) == {("value", 0), ("other than zero", 0)}
    assert shown(app("divide", y, x)) >= {("value", 0), ("value", 1)}
    assert sum(what == "other than zero" for what, _ in shown(app("divide", y, x))) == 1
    assert shown(app("sqrt", x)) == {("value", 0), ("not negative", 0)}
    assert shown(app("rsqrt", x)) == {("value", 0), ("not negative", 0), ("other than zero", 0)}
    # A sum is an atom of its own, numbered from -1; its root says that it is not negative, its power does not.
    both = app("add", x, y)
    assert {s for s in shown(app("sqrt", both)) if s[1] < 0} == {("value", -1), ("not negative", -1)}
    assert {s for s in shown(app("divide", one, both)) if s[1] < 0} == {("value", -1), ("other than zero", -1)}
    assert {s for s in shown(app("rsqrt", both)) if s[1] < 0} == {
        ("value", -1),
        ("not negative", -1),
        ("other than zero", -1),
    }
    # What was multiplied away is not shown.
    assert shown(app("multiply", app("divide", one, x), x)) == set()
