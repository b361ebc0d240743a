"""What the steps of the checker refuse for reasons of their own: each goal here would be shown, or be another goal, if
the step did not ask."""

from __future__ import annotations

import pytest

from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.indices import variable
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, from_value
from hloproof.models.interpreter.semantics.element_type import lowest

GRAPH = Graph()
X, Y, Z = (GRAPH.node("parameter", "f32", (6,), (), (k,)) for k in range(3))
N, M = (GRAPH.node("parameter", "s32", (6,), (), (k,)) for k in (3, 4))
H = GRAPH.node("parameter", "f16", (6,), (), (5,))
ONE, ZERO = from_value("f32", 1), from_value("f32", 0)
V = variable(0, 6)
STRAIGHT = [[[0, False]]]


def function(op: str, type_: str = "f32") -> Node:
    return GRAPH.node(op, type_, (), [GRAPH.node("bound", type_, (), (), ("argument", k, ())) for k in (0, 1)])


def folded(body: Term, size: int, place: int, start: Term = ZERO, op: str = "add", type_: str = "f32") -> Fold:
    return Fold(("reduce", (function(op, type_),), 0), type_, place, (size,), (body,), (start,))


def of_two(one: Node, other: Node, *functions: Node) -> Fold:
    """A reduction of two arrays at once, of which the first result is meant."""
    starts = tuple(from_value(n.type, 0) for n in (one, other))
    return Fold(("reduce", functions, 0), one.type, 0, (6,), (Elem(one, (V,)), Elem(other, (V,))), starts)


def read(node: Node, place: int, size: int = 6) -> Elem:
    return Elem(node, (variable(place, size),))


LOWEST = from_value("f32", lowest("f32"))
BOTH = function("add"), function("maximum")
TEST = variable(0, 6) - 2
REFUSED: dict[str, tuple[Goal, list[object], str]] = {
    # A sum and a maximum are no factors of one another, whatever they run over.
    "factors that are none": (
        Goal(0, (), of_two(X, Y, *BOTH), of_two(Y, X, *BOTH)),
        ["fold", [6], STRAIGHT, STRAIGHT, True],
        "only factors swap",
    ),
    "folds beside arrays of two types": (
        Goal(0, (), of_two(X, Y, *BOTH), of_two(X, H, BOTH[0], function("maximum", "f16"))),
        ["fold", [6], STRAIGHT, STRAIGHT],
        "folds of two types",
    ),
    # Of whole numbers `or` is another operation.
    "numbers as predicates": (
        Goal(1, (), App("or", "s32", (read(N, 0), from_value("s32", 1))), from_value("s32", 1)),
        ["boolean", []],
        "not two predicates",
    ),
    # max_i(x_i * sum_j y_j) is no sum.
    "a maximum of products": (
        Goal(
            0,
            (),
            folded(App("multiply", "f32", (read(X, 0), folded(read(Y, 6, 3), 3, 6))), 6, 0, LOWEST, "maximum"),
            ONE,
        ),
        ["distributed", 0],
        "not a sum",
    ),
    "nothing before the cut": (Goal(0, (), folded(read(X, 0), 6, 0), ONE), ["cut", 0, 0, 0], "nothing is cut off"),
    "nothing behind the cut": (Goal(0, (), folded(read(X, 0), 6, 0), ONE), ["cut", 0, 0, 6], "nothing is cut off"),
    "a cut behind the end": (Goal(0, (), folded(read(X, 0), 6, 0), ONE), ["cut", 0, 0, 7], "nothing is cut off"),
    "folds whose places do not follow": (
        Goal(0, (), folded(folded(read(X, 9, 3), 3, 9), 2, 0), ONE),
        ["flatten", 0],
        "the boxes do not join",
    ),
    "more than is written out": (Goal(0, (), folded(ONE, 65, 0), ONE), ["written out", 0], "too many elements"),
    "values that are not named": (Goal(1, (), read(X, 0), read(Y, 0)), ["values", []], "no values"),
    "more values than are tried": (
        Goal(1, (), read(GRAPH.node("parameter", "f32", (300,), (), (6,)), 0, 300), ONE),
        ["enumerate", 0],
        "too many values",
    ),
    "an element of what selects nothing": (
        Goal(1, (), read(X, 0), read(Y, 0)),
        ["selected", 0],
        "not a select-and-scatter",
    ),
    "a sum of nothing": (
        Goal(0, (), folded(App("multiply", "s32", (read(N, 0), from_value("s32", 0))), 6, 0, from_value("s32", 0),
                           type_="s32"), from_value("s32", 0)),
        ["linear", 0, 4],
        "nothing to take out",
    ),
    # The folds run over boxes of 2 and of 3: which of them is meant says the condition.
    "cases of two boxes": (
        Goal(0, (), folded(read(X, 0), 6, 0),
             folded(Cond(variable(0, 2) - 1, folded(read(X, 2, 2), 2, 2), folded(read(X, 2, 3), 3, 2)), 2, 0)),
        ["positions"],
        "cases of two boxes",
    ),
    # x at v + v // 2 is read at 0, 1, 3, 4, and not at each position once.
    "positions that are not linear": (
        Goal(0, (), folded(read(X, 0), 6, 0),
             folded(Elem(X, (variable(0, 4) + variable(0, 4) // 2,)), 4, 0)),
        ["positions"],
        "positions that are not linear",
    ),
    # sum over i < 6 and k < 2 of x_i is twice the sum of x.
    "elements that are read twice": (
        Goal(0, (), folded(read(X, 0), 6, 0),
             Fold(("reduce", (function("add"),), 0), "f32", 0, (6, 2), (read(X, 0),), (ZERO,))),
        ["positions"],
        "elements that are read several times",
    ),
    # What the inner fold begins with is folded in, too.
    "a fold from another value": (
        Goal(0, (), folded(read(X, 0), 6, 0), folded(folded(read(X, 1), 6, 1, ONE), 1, 0)),
        ["positions"],
        "a fold from another value",
    ),
    # max_i(x_i + y_i) is not max_i(x_i) + max_i(y_i).
    "a maximum of sums": (
        Goal(0, (), folded(App("add", "f32", (read(X, 0), read(Y, 0))), 6, 0, LOWEST, "maximum"), ONE),
        ["linear", 0, 4],
        "not a sum",
    ),
    # The place is that of a variable of the goal, and bound by the fold.
    "a variable that a fold has too": (
        Goal(1, (), folded(read(X, 0), 6, 0), Elem(X, (V,))),
        ["enumerate", 0],
        "variables inside a fold",
    ),
    "and its digits": (Goal(1, (), Elem(X, (V,)), folded(read(X, 0), 6, 0)), ["digits", 0, [2, 3]], "variables inside"),
    "indices that may differ": (
        Goal(1, (), Elem(X, (V,)), Elem(Y, (5 - V,))),
        ["aligned"],
        "the indices may differ",
    ),
    "indices into two shapes": (
        Goal(1, (V - 4, 3 - V), Elem(X, (V,)), Elem(GRAPH.node("parameter", "f32", (4,), (), (7,)), (V + 1,))),
        ["aligned"],
        "two shapes",
    ),
    "the same tensor elsewhere": (Goal(1, (), Elem(X, (V,)), Elem(X, (5 - V,))), ["indices"], "the indices may differ"),
    "facts that may hold": (Goal(1, (V - 5,), Elem(X, (V,)), Elem(Y, (V,))), ["absurd"], "the facts may hold"),
    "digits of less than nothing": (
        Goal(1, (), Elem(X, (V,)), Elem(Y, (V,))),
        ["digits", 0, [6, -1, -1]],
        "not a bijection",
    ),
    "and in a fold": (
        Goal(0, (), folded(read(X, 0), 6, 0), folded(read(Y, 0), 6, 0)),
        ["fold", [6, -1, -1], [[[0, False], [1, False], [2, False]]], [[[0, False], [1, False], [2, False]]]],
        "not a bijection",
    ),
    "an element and a number": (Goal(1, (), read(X, 0), ONE), ["whole"], "not two elements"),
    "a number and an element": (Goal(1, (), ONE, read(X, 0)), ["whole"], "not two elements"),
    "an f32 that is no narrow float": (
        Goal(0, (), Fold(("contract", ()), "f32", 0, (6,), (read(X, 0), read(Y, 0)), ()), ONE),
        ["widened", 0],
        "not a contraction of narrow floats",
    ),
    "a sum that is no contraction": (
        Goal(0, (), folded(read(H, 0), 6, 0, from_value("f16", 0), type_="f16"), from_value("f16", 1)),
        ["widened", 0],
        "not a contraction of narrow floats",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("goal", "given", "why"), REFUSED.values(), ids=REFUSED)
def test_what_a_step_refuses(goal: Goal, given: list[object], why: str) -> None:
    with pytest.raises(Denied, match=why):
        subgoals(Rules(GRAPH, "real"), goal, list(given))


def multiple(number: float) -> Term:
    return App("multiply", "f32", (read(X, 0), from_value("f32", number)))


@pytest.mark.parametrize(("one", "other"), [(2, 3), (2.1, 2.2), (0.5, -0.5), (1e-3, 1e-4), (3, 1 / 3)])
def test_coefficients_that_differ_were_not_rounded_otherwise(one: float, other: float) -> None:
    with pytest.raises(Denied, match="two polynomials"):
        subgoals(Rules(GRAPH, "rounding"), Goal(1, (), multiple(one), multiple(other)), ["ring", []])


def test_a_product_of_coefficients_may_have_been() -> None:
    rules = Rules(GRAPH, "rounding")
    twice = App("multiply", "f32", (multiple(0.1), from_value("f32", 0.1)))
    assert subgoals(rules, Goal(1, (), twice, multiple(0.01)), ["ring", []]) == []
    assert rules.used["constants rounded otherwise"] == "rounding"
    with pytest.raises(Denied, match="two polynomials"):
        subgoals(Rules(GRAPH, "rounding"), Goal(1, (), twice, multiple(0.011)), ["ring", []])


def test_every_coefficient_has_to_agree() -> None:
    def sum_of(one: float, other: float) -> Term:
        return App("add", "f32", (multiple(one), App("multiply", "f32", (read(Y, 0), from_value("f32", other)))))

    with pytest.raises(Denied, match="two polynomials"):
        subgoals(Rules(GRAPH, "rounding"), Goal(1, (), sum_of(2, 3), sum_of(2, 4)), ["ring", []])
    assert subgoals(Rules(GRAPH, "rounding"), Goal(1, (), sum_of(2, 3), sum_of(2, 3)), ["ring", []]) == []
