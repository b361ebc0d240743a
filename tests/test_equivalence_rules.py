"""Steps of the checker given by hand: what they leave, by enumeration, and what they deny."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from hloproof.equivalence.definedness import Definedness
from hloproof.equivalence.elements import unfold
from hloproof.equivalence.elements_folds import IN_ORDER
from hloproof.equivalence.evaluation import counted, evaluate
from hloproof.equivalence.goals import Goal, Terms, assume, holds
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.indices import Digit, Lin, Substituted, Var, constant, of_atom, variable
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.reductions import combiner, is_neutral
from hloproof.equivalence.rules import joined, subgoals
from hloproof.equivalence.rules_polynomials import after, summand
from hloproof.equivalence.scatter_loop import as_loop
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, from_value, value_form
from hloproof.models.hlo.attributes import Attributes, Window, WindowDimension
from hloproof.models.interpreter.semantics.element_type import highest, lowest, to_bits

GRAPH = Graph()
X, Y, Z = (GRAPH.node("parameter", "f32", (6,), (), (k,)) for k in range(3))
N = GRAPH.node("parameter", "s32", (6,), (), (3,))
ONE, ZERO = from_value("f32", 1), from_value("f32", 0)


def number(form: Lin, point: dict[int, int]) -> int:
    found = Substituted({p: constant(v) for p, v in point.items()}, lambda term: constant(0))(form)
    assert found.is_constant
    return found.constant


def function(op: str, type_: str = "f32") -> Node:
    return GRAPH.node(op, type_, (), [GRAPH.node("bound", type_, (), (), ("argument", k, ())) for k in (0, 1)])


def folded(
    body: Term, *sizes: int, place: int = 0, start: Term = ZERO, op: str = "add", type_: str = "f32", mark: str = ""
) -> Fold:
    more = (mark,) if mark else ()
    return Fold(("reduce", (function(op, type_),), 0, *more), type_, place, sizes, (body,), (start,))


def at(node: Node, *forms: Lin) -> Elem:
    return Elem(node, forms)


def step(goal: Goal, *given: object, tier: str = "real") -> list[Goal]:
    return subgoals(Rules(GRAPH, tier), goal, list(given))  # type: ignore[arg-type]


# -- facts ----------------------------------------------------------------------------------------------

SIZES = (4, 3)
FORMS = [
    constant(c) + variable(0, SIZES[0]) * a + variable(1, SIZES[1]) * b + of_atom(DIGIT) * d
    for DIGIT in [Digit(variable(0, SIZES[0]) + variable(1, SIZES[1]), 2, 0)]
    for c, a, b, d in product(range(-5, 6), (-2, 0, 1, 3), (-3, 0, 2), (-1, 0, 2))
    if a or b or d
]
POINTS = [dict(enumerate(p)) for p in product(*map(range, SIZES))]


def test_what_follows_from_facts_holds_wherever_they_do() -> None:
    random = Random(0)
    seen = set()
    for _ in range(4000):
        form, *facts = random.sample(FORMS, random.choice((1, 2, 3)))
        said = holds(form, tuple(facts))
        seen.add((said, len(facts)))
        if said is not None:
            where = [p for p in POINTS if all(number(f, p) >= 0 for f in facts)]
            assert all((number(form, p) >= 0) is said for p in where), (form, facts)
    assert {(True, 2), (False, 2), (True, 1), (False, 1)} <= seen
    both = variable(0, 4) + variable(1, 3)
    # Two facts together, of which neither alone is enough.
    assert holds(both - 3, (variable(0, 4) - 2, variable(1, 3) - 1)) is True
    assert holds(2 - both, (variable(0, 4) - 2, variable(1, 3) - 1)) is False
    assert holds(both - 4, (variable(0, 4) - 2, variable(1, 3) - 1)) is None


def test_a_condition_leaves_the_points_where_it_holds() -> None:
    """Their numbers, in the names that they had before."""
    told = variable(0, SIZES[0]) * 10 + variable(1, SIZES[1])
    for form in FORMS:
        new = assume(Goal(2, (), Num("s32", told), ZERO), form)
        expected = sorted(number(told, p) for p in POINTS if number(form, p) >= 0)
        if new is None:
            assert not expected, form
            continue
        assert isinstance(new.left, Num)
        sizes = {v.place: v.size for v in new.left.form.terms if isinstance(v, Var)}
        box = [dict(zip(sizes, p, strict=True)) for p in product(*map(range, sizes.values()))]
        # A variable that the goal no longer names has been pinned to a number, in the facts too.
        found = {number(new.left.form, p) for p in box if all(number(f, p) >= 0 for f in new.facts)}
        assert sorted(found) == expected, form


# -- boxes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", list(product((False, True), repeat=3)))
@pytest.mark.parametrize("digits", [[[0, 1], [2]], [[2, 0], [1]], [[1], [0, 2]], [[0, 1, 2], []]])
def test_digits_reach_each_point_of_a_box_once(digits: list[list[int]], turned: tuple[bool, ...]) -> None:
    radices = [2, 3, 4]
    sizes = tuple(radices[a[0]] * (radices[a[1]] if a[1:] else 1) * (radices[a[2]] if a[2:] else 1) if a else 1
                  for a in digits)  # fmt: skip
    term = folded(ONE, *sizes, place=7)
    new = [variable(20 + k, n) for k, n in enumerate(radices)]
    by_place = joined(term, [[[d, turned[d]] for d in own] for own in digits], radices, new)
    points = [{20 + k: v for k, v in enumerate(p)} for p in product(*map(range, radices))]
    reached = [tuple(number(by_place[7 + k], p) for k in range(len(sizes))) for p in points]
    assert sorted(reached) == list(product(*map(range, sizes)))
    # From the first digit to the last, so that nothing is turned where nothing is said.
    straight = not any(turned) and digits == [[0, 1], [2]]
    assert not straight or reached == sorted(reached)


@pytest.mark.parametrize(
    ("digits", "radices"),
    [
        ([[[0, False]], [[0, False]]], [6]),
        ([[[0, False]], []], [6]),
        ([[[0, False]]], [6]),
        ([[[0, False]], [[1, False]]], [6, 4]),
        ([[[0, False]], [[1, False]]], [-6, -3]),
        ([[[0, False], [2, False]], [[1, False]]], [-6, 3, -1]),
        ([[[0, False]], [[1, False]]], [6, 3, 2]),
    ],
)
def test_what_is_no_bijection_is_denied(digits: list[list[list[int]]], radices: list[int]) -> None:
    with pytest.raises(Denied, match="bijection"):
        joined(folded(ONE, 6, 3), digits, radices, [variable(9 + k, n) for k, n in enumerate(radices)])


def test_a_fold_in_order_is_matched_as_it_stands() -> None:
    left, right = (folded(at(X, variable(p, 6)), 6, place=p, op="subtract", mark="in order") for p in (0, 3))
    straight = [[[0, False]]]
    (body, start) = step(Goal(0, (), left, right), "fold", [6], straight, straight)
    assert body.left == body.right == at(X, variable(0, 6)) and start.left == start.right
    for given in ([[[0, True]]], straight), (straight, [[[0, True]]]):
        with pytest.raises(Denied, match="order"):
            step(Goal(0, (), left, right), "fold", [6], *given)


def test_a_variable_is_taken_apart_into_digits() -> None:
    goal = Goal(1, (variable(0, 6) - 1,), at(X, variable(0, 6)), at(Y, 5 - variable(0, 6)))
    (new,) = step(goal, "digits", 0, [2, 3])
    assert new.next == 3 and isinstance(new.left, Elem) and isinstance(new.right, Elem)
    points = [{1 + k: v for k, v in enumerate(p)} for p in product(range(2), range(3))]
    assert [number(new.left.at[0], p) for p in points] == list(range(6))
    assert [number(new.right.at[0], p) for p in points] == list(range(6))[::-1]
    assert [number(new.facts[0], p) for p in points] == list(range(-1, 5))
    for radices in ([2, 2], [6, 2], [-2, -3], [], [5]):
        with pytest.raises(Denied, match="bijection"):
            step(goal, "digits", 0, radices)


# -- sums -----------------------------------------------------------------------------------------------

V = variable(0, 2)


def nested(place: int, start: Term = ZERO, op: str = "add") -> Fold:
    """A sum over 2 x 3 whose body is an element of a reduce over 2, with its own start."""
    first = GRAPH.node("constant", "f32", (), (), ("all", value_bits(start)))
    table = GRAPH.node("parameter", "f32", (2, 3, 2), (), (9,))
    inner = GRAPH.node("reduce", "f32", (2, 3), (table, first), (), (function(op),), dimensions(2))
    return folded(at(inner, variable(place, 2), variable(place + 1, 3)), 2, 3, place=place)


def value_bits(term: Term) -> int:
    assert isinstance(term, Num | Lit)
    return to_bits("f32", float(term.form.constant)) if isinstance(term, Num) else term.bits


def dimensions(*of: int) -> Attributes:
    return Attributes((("dimensions", of),))


def test_a_fold_of_folds_runs_over_both_boxes() -> None:
    (new,) = step(Goal(9, (), nested(2), ZERO), "flatten", 0)
    assert isinstance(new.left, Fold) and new.left.sizes == (2, 3, 2) and (new.left.place, new.next) == (9, 12)
    (body,) = new.left.bodies
    assert isinstance(body, Elem) and body.at == (variable(9, 2), variable(10, 3), variable(11, 2))
    for wrong in (nested(0, start=ONE), nested(0, op="maximum")):
        with pytest.raises(Denied, match="two operations"):
            step(Goal(0, (), wrong, ZERO), "flatten", 0)


def test_a_sum_of_two_is_two_sums() -> None:
    both = App("add", "f32", (at(X, variable(0, 6)), at(Y, variable(0, 6))))
    (new,) = step(Goal(0, (), folded(both, 6), ZERO), "linear", 0, 9)
    parts = tuple(folded(at(n, variable(0, 6)), 6) for n in (X, Y))
    assert new.left == App("add", "f32", parts)
    (new,) = step(Goal(0, (), folded(at(X, V), 6, place=4), ZERO), "linear", 0, 9)
    assert new.left == App("multiply", "f32", (folded(ONE, 6, place=4), at(X, V)))
    for wrong in (folded(both, 6, start=ONE), folded(both, 6, op="maximum")):
        with pytest.raises(Denied):
            step(Goal(0, (), wrong, ZERO), "linear", 0, 9)


def test_a_factor_that_is_a_sum_of_another_type_is_rounded_before() -> None:
    for inner, type_ in ((X, "f32"), (GRAPH.node("parameter", "bf16", (6,), (), 9), "bf16")):
        factor = folded(at(inner, variable(1, 6)), 6, place=1, type_=type_, start=from_value(type_, 0))
        goal = Goal(0, (), folded(App("multiply", "f32", (factor, at(Y, variable(0, 6)))), 6), ZERO)
        if type_ == "f32":
            assert step(goal, "distributed", 0)
        else:
            with pytest.raises(Denied, match="no factor"):
                step(goal, "distributed", 0)


def test_what_may_have_no_value_stays_in_a_sum_of_the_side_after() -> None:
    logarithm = at(GRAPH.node("log", "f32", (6,), [Y]), variable(0, 6))
    gone = App("subtract", "f32", (App("add", "f32", (at(X, variable(0, 6)), logarithm)), logarithm))
    (new,) = step(Goal(0, (), folded(gone, 6), ZERO), "linear", 0, 9)
    assert new.left == folded(at(X, variable(0, 6)), 6)
    with pytest.raises(Denied, match="no value"):
        step(Goal(0, (), ZERO, folded(gone, 6)), "linear", 1, 9)
    # With a value everywhere it may go.
    total = App("subtract", "f32", (App("add", "f32", (at(X, variable(0, 6)), at(Y, V))), at(Y, V)))
    assert step(Goal(0, (), ZERO, folded(total, 6)), "linear", 1, 9)


def test_only_a_box_of_one_point_is_its_summand() -> None:
    rules = Rules(GRAPH, "real")
    for size, given in ((1, True), (2, False)):
        fold = folded(at(X, variable(0, size)), size)
        assert (summand(rules, Goal(0, (), fold, ZERO), fold) != fold) is given
    for other in (folded(at(X, constant(0)), 1, start=ONE), folded(at(X, constant(0)), 1, op="maximum")):
        assert summand(rules, Goal(0, (), other, ZERO), other) == other


def test_the_operation_of_a_fold_is_told_where_it_is_one() -> None:
    assert combiner(folded(ONE, 2)) == "add"
    bound = GRAPH.node("bound", "f32", (), (), ("argument", 0, ()))
    twice = GRAPH.node("add", "f32", (), [bound, bound])
    of_three = GRAPH.node("add", "f32", (), [function("add"), bound])
    for functions in ((twice,), (of_three,), (function("add"), function("add")), (bound,), ()):
        assert combiner(Fold(("reduce", functions, 0), "f32", 0, (2,), (ONE,), (ZERO,))) is None
    assert combiner(Fold(("contract", ()), "f32", 0, (2,), (ONE, ONE))) is None
    assert combiner(Fold(("contract", (("high", "high"),)), "f32", 0, (2,), (ONE, ONE))) is None


def test_places_behind_a_sum_are_free() -> None:
    fold = folded(at(X, variable(3, 2)), 2, 3, place=3)
    assert after(Goal(3, (), fold, ZERO), fold) == 5
    assert after(Goal(9, (), fold, ZERO), fold) == 9
    assert after(Goal(3, (), fold, ZERO), ONE) == 3
    with pytest.raises(Denied, match="inside of a sum"):
        after(Goal(3, (), fold, ZERO), at(X, variable(3, 2)))


def product_of(inner: Node, op: str = "multiply") -> Fold:
    return folded(App(op, "f32", (at(X, variable(0, 6)), at(inner, variable(0, 6)))), 6)


def test_only_a_sum_from_zero_is_distributed() -> None:
    table = GRAPH.node("parameter", "f32", (6, 2), (), (8,))

    def inner(op: str = "add", start: float = 0.0) -> Node:
        first = GRAPH.node("constant", "f32", (), (), ("all", value_bits(from_value("f32", start))))
        return GRAPH.node("reduce", "f32", (6,), (table, first), (), (function(op),), dimensions(1))

    (new,) = step(Goal(0, (), product_of(inner()), ZERO), "distributed", 0)
    assert isinstance(new.left, Fold) and new.left.sizes == (6, 2)
    assert new.left.bodies == (
        App("multiply", "f32", (at(X, variable(0, 6)), at(table, variable(0, 6), variable(1, 2)))),
    )
    lowest_ = float("-inf")
    for wrong in (
        product_of(inner(start=1.0)),
        product_of(inner("maximum")),
        product_of(inner("maximum", lowest_)),
        product_of(inner(), "add"),
        product_of(Y),
        folded(at(inner(), variable(0, 6)), 6),
    ):
        with pytest.raises(Denied):
            step(Goal(0, (), wrong, ZERO), "distributed", 0)


# -- numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "type_"),
    [
        *product(("add", "multiply", "maximum", "minimum", "and", "or"), ("s8", "u8")),
        *product(("and", "or"), ("pred",)),
    ],
)
def test_a_neutral_value_changes_no_other(op: str, type_: str) -> None:
    """Those that are said to be neutral are, by all pairs, and one that is gets found."""
    range_ = [False, True] if type_ == "pred" else list(range(int(lowest(type_)), int(highest(type_)) + 1))
    few = range_ if len(range_) < 20 else [*range_[:3], -1, 0, 1, *range_[-3:]]
    terms = [from_value(type_, v) for v in few if v in range_]
    neutral = [t for t in terms if is_neutral(op, type_, t)]
    for t in neutral:
        assert all(evaluate(op, type_, (t, other), ()) == other for other in terms), (op, type_, t)
    assert neutral or (op == "and" and type_[0] == "u")
    assert not is_neutral(op, type_, Elem(N, (constant(0),)))
    assert not is_neutral("xor", type_, terms[0])


def test_a_choice_that_is_made_is_its_branch() -> None:
    left, right = at(X, V), at(Y, V)
    for chosen, branch in ((True, left), (False, right)):
        choice = App("select", "f32", (from_value("pred", chosen), left, right))
        assert Terms().settle(choice, ()) == branch


def test_values_among_variables_are_known() -> None:
    """A form that has a value and one that has none: the value is put in all the same."""
    table = GRAPH.node("constant", "s32", (), (), ("all", 3))
    assert Terms().known((variable(0, 4), value_form(Elem(table, ())))) == (variable(0, 4), constant(3))


def test_a_power_of_nought_is_one() -> None:
    power = App("power", "f32", (at(X, V), ZERO))
    both = App("multiply", "f32", (power, at(Y, V)))
    assert step(Goal(1, (), both, at(Y, V)), "ring", []) == []
    with pytest.raises(Denied):
        step(Goal(1, (), power, at(X, V)), "ring", [])


BINARY = (
    *("add", "subtract", "multiply", "maximum", "minimum", "divide", "remainder", "and"),
    *("shift-left", "shift-right-logical", "shift-right-arithmetic"),
)
COMPARED = tuple(("compare", (("direction", d),)) for d in ("LT", "LE", "GT", "GE", "EQ", "NE"))
COUNTED = [
    *(constant(c) for c in (-3, 0, 1, 2, 3, 7)),
    *(variable(0, 4) * a + b for a in (-2, 1, 3) for b in (-4, 0, 1)),
    variable(0, 4) * 25 + 100,  # to 175, which is no number of s8 and has the highest bit of u8
    variable(0, 4) + variable(1, 3),
]


def made(term: Term | None, point: dict[int, int]) -> Term | None:
    """What a term of numbers and cases is at a point."""
    while isinstance(term, Cond):
        term = term.then if number(term.test, point) >= 0 else term.other
    return Num(term.type, constant(number(term.form, point))) if isinstance(term, Num) else term


@pytest.mark.parametrize("type_", ["s8", "u8", "s32", "f32"])
def test_what_is_counted_is_what_is_computed_at_each_point(type_: str) -> None:
    """Operations on numbers that run over indices, against the same operations on each of the numbers."""
    told = set()
    whole = type_ != "f32"
    held = [f for f in COUNTED if not whole or (f.lo >= int(lowest(type_)) and f.hi <= int(highest(type_)))]
    asked: list[tuple[str, tuple[tuple[str, str], ...], str, int]]
    asked = [(op, (), type_, 2) for op in (BINARY if whole else BINARY[:6])]
    asked += [(op, key, "pred", 2) for op, key in COMPARED]
    asked += [("convert", (), to, 1) for to in ("pred", "s8", "u8", "s32", "f32")]
    asked += [(op, (), type_, 1) for op in ("negate", "abs", "sign") if whole]
    asked += [("clamp", (), type_, 3)]
    for op, key, result, many in asked:
        for forms in product(held, repeat=many):
            found = counted(op, result, tuple(Num(type_, f) for f in forms), key)
            if found is None or (op == "convert" and forms[0].is_constant):  # a known number is the table's
                continue
            told.add(op)
            for point in POINTS:
                given = tuple(Num(type_, constant(number(f, point))) for f in forms)
                assert made(found, point) == evaluate(op, result, given, key), (op, key, forms, point)
    missing = {"divide", "remainder", "maximum", "minimum", "clamp"} if not whole else set()
    assert {op for op, *_ in asked} - missing <= told


def test_only_what_does_not_depend_on_a_variable_is_there_once() -> None:
    table = GRAPH.node("parameter", "f32", (2, 3), (), (7,))
    least = from_value("f32", float("-inf"))
    for used in ({0}, {1}, {0, 1}, set[int]()):
        body = at(table, *(variable(k, n) if k in used else constant(0) for k, n in enumerate((2, 3))))
        goal = Goal(0, (), folded(body, 2, 3, start=least, op="maximum"), ZERO)
        if len(used) == 2:
            with pytest.raises(Denied, match="idle"):
                step(goal, "repeated", 0)
            continue
        (new,) = step(goal, "repeated", 0)
        sizes = tuple(n if k in used else 1 for k, n in enumerate((2, 3)))
        assert new.left == (folded(body, *sizes, start=least, op="maximum") if used else body)
    with pytest.raises(Denied, match="seen"):
        step(Goal(0, (), folded(at(X, constant(0)), 2), ZERO), "repeated", 0)


def test_goals_about_atoms_begin_behind_the_variables_of_both() -> None:
    """Two maxima, over one variable and over two, that a polynomial has as atoms."""
    least = from_value("f32", float("-inf"))
    one = folded(at(X, variable(1, 6)), 6, place=1, start=least, op="maximum")
    two = folded(at(Y, variable(1, 2) * 3 + variable(2, 3)), 2, 3, place=1, start=least, op="maximum")
    for left, right in ((one, two), (two, one)):
        (owed,) = step(Goal(1, (), left, right), "ring", [[0, 1]])
        assert (owed.next, owed.left, owed.right) == (3, left, right)


def test_a_fold_over_nothing_has_what_it_begins_with() -> None:
    """Over real numbers an infinity is no value, but where there are elements the largest is one of them."""
    known, least = Definedness(), from_value("f32", float("-inf"))
    root = at(GRAPH.node("sqrt", "f32", (6,), [X]), variable(0, 6))
    for size, start, op, body, expected in (
        (6, least, "maximum", ONE, True),
        (0, least, "maximum", ONE, False),
        (6, least, "minimum", ONE, False),
        (6, least, "add", ONE, False),
        (6, ZERO, "add", at(X, variable(0, 6)), True),
        (6, ZERO, "add", ONE, False),  # of constants alone, which are not summed
        (6, ZERO, "add", root, False),
        (6, least, "maximum", root, False),
    ):
        assert known.everywhere(folded(body, size, start=start, op=op)) is expected
    for divisor, expected in ((2.0, True), (0.0, False), (float("inf"), False), (float("nan"), False)):
        over = from_value("f32", divisor)
        assert known.everywhere(App("divide", "f32", (ONE, over))) is expected
        assert not known.everywhere(App("divide", "f32", (root, over)))
    assert not known.everywhere(App("divide", "f32", (ONE, Num("f32", variable(0, 4)))))
    assert known.everywhere(App("divide", "s32", (at(N, V), at(N, V))))
    assert not known.everywhere(App("multiply", "f32", (ONE, root)))


def test_a_table_is_no_scatter() -> None:
    for term in (at(X, V), ONE):
        with pytest.raises(Denied, match="not a scatter"):
            step(Goal(1, (), term, ZERO), "looped", 0)


def test_an_order_that_is_told_is_marked_in_windows_too() -> None:
    dims = (WindowDimension(2),)
    for told in (False, True):
        given = (("window", Window(dims)), *((("in_order", True),) if told else ()))
        first = GRAPH.node("constant", "f32", (), (), ("all", 0))
        key = ("told", told)
        node = GRAPH.node("reduce-window", "f32", (5,), (X, first), key, (function("add"),), Attributes(given))
        found = unfold(node, (variable(0, 5),), 1)
        assert isinstance(found, Fold) and (IN_ORDER in found.head) is told


def test_loops_that_stand_for_scatters_have_names_that_no_loop_has() -> None:
    """Those of loops count from 0; without a name of its own a state would be taken for another's."""
    graph = Graph()
    operands = [graph.node("parameter", "s32", sizes, (), (k,)) for k, sizes in enumerate(((5,), (3, 1), (3,)))]
    given: tuple[tuple[str, int | tuple[int, ...]], ...] = (
        ("update_window_dims", ()),
        ("inserted_window_dims", (0,)),
        ("scatter_dims_to_operand_dims", (0,)),
        ("index_vector_dim", 1),
    )
    bound = [graph.node("bound", "s32", (), (), ("argument", k, ())) for k in (0, 1)]
    combined = graph.node("add", "s32", (), bound)
    scatter = graph.node("scatter", "s32", (5,), operands, (), (combined,), Attributes(given))
    loop = as_loop(graph, scatter)
    assert loop is not None and isinstance(loop.key, tuple) and loop.key[0] < 0


def test_operands_and_values_are_of_one_type() -> None:
    """The same bits are other numbers in another type: comparisons, and values in an index, are of one."""
    unsigned = GRAPH.node("parameter", "u32", (6,), (), (8,))
    row, v = GRAPH.node("parameter", "f32", (2**33,), (), (9,)), variable(0, 6)

    def compared(node: Node) -> Term:
        return App("compare", "pred", (at(node, v), at(node, v)), (("direction", "LT"),))

    def placed(node: Node) -> Term:
        return at(row, value_form(at(node, v)) + 2**32)

    for other, denied in ((unsigned, True), (GRAPH.node("parameter", "s32", (6,), (), (10,)), False)):
        pairs: tuple[tuple[str, Term, Term], ...] = (
            ("arguments", compared(N), compared(other)),
            ("values", placed(N), placed(other)),
        )
        for name, left, right in pairs:
            given = ([[0, 0]],) if name == "values" else ()
            if denied:
                with pytest.raises(Denied, match="of two types"):
                    step(Goal(1, (), left, right), name, *given)
            else:
                assert len(step(Goal(1, (), left, right), name, *given)) == 2
