"""Pairs that differ in what one step of a proof asks for alone: without that question they would be proved."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.equivalence.elements_folds import IN_ORDER
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.indices import variable
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.pinning import forms, pinned
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import Cond, Elem, Fold, from_value
from hloproof.models.hlo.parser import parse_module


def entry(*lines: str, before: str = "") -> str:
    return "HloModule m\n\n" + before + "ENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def turning(initial: str, given: int = 1) -> str:
    """A loop of three turns over two states that change places, one of them with its cosine."""
    state = "(s32[], f32[], f32[])"
    before = (
        f"c {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(300)\n"
        "  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
        f"b {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  v = f32[] get-tuple-element(s), index=1\n  u = f32[] get-tuple-element(s), index=2\n"
        "  o = s32[] constant(1)\n  j = s32[] add(i, o)\n  w = f32[] cosine(v)\n"
        f"  ROOT r = {state} tuple(j, u, w)\n}}\n\n"
    )
    return entry(
        "x = f32[] parameter(0)",
        "y = f32[] parameter(1)",
        "a = f32[] add(x, y)",
        "b = f32[] add(y, x)",
        "z = s32[] constant(0)",
        f"t = {state} tuple(z, {initial})",
        f"l = {state} while(t), condition=c, body=b",
        f"ROOT o = f32[] get-tuple-element(l), index={given}",
        before=before,
    )


def bounded(constant_first: bool, direction: str, number: int, turned: bool = False) -> str:
    """A comparison of an integer with a number, beside another predicate."""
    operands = "n, x" if constant_first else "x, n"
    return entry(
        "x = s32[] parameter(0)",
        "p = pred[] parameter(1)",
        f"n = s32[] constant({number})",
        f"c = pred[] compare({operands}), direction={direction}",
        f"d = pred[] {'not(c)' if turned else 'copy(c)'}",
        "ROOT r = pred[] and(d, p)",
    )


def selected(turned: bool) -> str:
    """Of two equal elements the first is selected, or the last: all is done backwards."""
    function = (
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
        "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE\n}\n"
    )
    last = "q" if turned else "p"
    source = "t" if turned else "s"
    more = "window={size=2 stride=2}, select=ge, scatter=add"
    return entry(
        "p = f32[4] parameter(0)",
        "s = f32[2] parameter(1)",
        "z = f32[] constant(0)",
        "q = f32[4] reverse(p), dimensions={0}",
        "t = f32[2] reverse(s), dimensions={0}",
        f"r = f32[4] select-and-scatter({last}, {source}, z), {more}",
        "ROOT o = f32[4] reverse(r), dimensions={0}" if turned else "ROOT o = f32[4] copy(r)",
        before=function,
    )


def sorted_by(stable: bool, beside: bool) -> str:
    """Floats sorted by less-than, for which zeros of both signs are one, with another operand beside them or alone."""
    both = (
        "b = f32[] parameter(1)\n c = f32[] parameter(2)\n d = f32[] parameter(3)"
        if beside
        else "b = f32[] parameter(1)"
    )
    function = f"lt {{ a = f32[] parameter(0)\n {both}\n ROOT r = pred[] compare(a, b), direction=LT\n}}\n"
    more = f"dimensions={{0}}, is_stable={str(stable).lower()}, to_apply=lt"
    lines = ("x = f32[5] parameter(0)", "y = f32[5] parameter(1)")
    if beside:
        last = ("s = (f32[5], f32[5]) sort(x, y), " + more, "ROOT r = f32[5] get-tuple-element(s), index=0")
        return entry(*lines, *last, before=function)
    return entry(*lines, "ROOT r = f32[5] sort(x), " + more, before=function)


def raised(number: int) -> str:
    return entry(
        "x = f32[] parameter(0)", f"c = f32[] constant({number})", "a = f32[] add(x, c)", "ROOT r = f32[] add(a, x)"
    )


DIFFER = {
    "the order of equal ones, which is anybody's": (sorted_by(False, True), sorted_by(False, False)),
    "whole numbers that are neighbours": (raised(8388608), raised(8388607)),
    "states that begin otherwise": (turning("a, y"), turning("b, x")),
    "another state is given back": (turning("a, y"), turning("b, y", 2)),
    "at least 5, above 5": (bounded(True, "LE", 5), bounded(False, "LE", 5, turned=True)),
    "at least 5, at least 6": (bounded(True, "LE", 5), bounded(True, "LE", 6)),
    "the first of equals, the last": (selected(False), selected(True)),
}


@pytest.mark.parametrize(("before", "after"), DIFFER.values(), ids=DIFFER)
def test_what_differs_is_not_proved(before: str, after: str) -> None:
    assert decide(parse_module(before), parse_module(after), "rounding", 5.0).verdict in ("unknown", "refuted")


SAME = {
    "the order of equal ones, which is kept": (sorted_by(True, True), sorted_by(True, False)),
    "states that begin alike": (turning("a, y"), turning("b, y")),
    "at least 5, not below it": (bounded(True, "LE", 5), bounded(False, "LT", 5, turned=True)),
    "at least 5, above 4": (bounded(True, "LE", 5), bounded(False, "LE", 4, turned=True)),
}


@pytest.mark.parametrize(("before", "after"), SAME.values(), ids=SAME)
def test_what_is_the_same_is_proved(before: str, after: str) -> None:
    assert decide(parse_module(before), parse_module(after), "exact", 5.0).verdict == "proved"


@pytest.mark.parametrize(("groups", "denied"), [(2, False), (3, True)])
def test_a_digit_is_pinned_to_what_it_can_be(groups: int, denied: bool) -> None:
    """A sum over 2 digits of 2 values, of which all but the digit `g` contribute nothing, where g has 2 or 3 values:
    at the third there is no such digit, and the sum is 0."""
    graph = Graph()
    x, y = (graph.node("parameter", "f32", (4,), (), (k,)) for k in (0, 1))
    g, v = variable(0, groups), variable(1, 4)
    zero = from_value("f32", 0)
    digit = v // 2
    body = Cond(digit - g, Cond(g - digit, Elem(x, (v,)), zero), zero)
    fold = Fold(("contract", ()), "f32", 1, (4,), (body, Elem(y, (v,))))
    rules, goal = Rules(graph, "real"), Goal(1, (), fold, zero)
    which = forms(rules, goal, fold, 0).index(g)
    if denied:
        with pytest.raises(Denied, match="beyond the digit"):
            pinned(rules, goal, 0, 0, 2, which, 0)
    else:
        assert pinned(rules, goal, 0, 0, 2, which, 0)


@pytest.mark.parametrize(("op", "side", "denied"), [("log", 1, True), ("log", 0, False), ("cosine", 1, False)])
def test_what_is_left_out_of_the_right_side_has_a_value(op: str, side: int, denied: bool) -> None:
    """Zero times a logarithm that is none is no zero; on the left, less is asked for."""
    graph = Graph()
    x, y = (graph.node("parameter", "f32", (4,), (), (k,)) for k in (0, 1))
    function = graph.node(op, "f32", (4,), (y,))
    g, v = variable(0, 2), variable(1, 4)
    zero = from_value("f32", 0)
    body = Cond(v // 2 - g, Cond(g - v // 2, Elem(x, (v,)), zero), zero)
    fold = Fold(("contract", ()), "f32", 1, (4,), (body, Elem(function, (v,))))
    rules, goal = Rules(graph, "real"), Goal(1, (), *((zero, fold) if side else (fold, zero)))
    which = forms(rules, goal, fold, 0).index(g)
    if denied:
        with pytest.raises(Denied, match="may have no value"):
            pinned(rules, goal, side, 0, 2, which, 0)
    else:
        assert pinned(rules, goal, side, 0, 2, which, 0)


@pytest.mark.parametrize("mark", [(), (IN_ORDER,)])
def test_a_fold_whose_order_is_told_keeps_it(mark: tuple[str, ...]) -> None:
    """The function keeps its first argument, so the order decides."""
    graph = Graph()
    x = graph.node("parameter", "f32", (4,), (), (0,))
    first = graph.node("bound", "f32", (), (), ("argument", 0, ()))
    fold = Fold(("reduce", (first,), 0, *mark), "f32", 0, (4,), (Elem(x, (variable(0, 4),)),), (from_value("f32", 0),))
    rules, goal = Rules(graph, "exact"), Goal(0, (), fold, fold)
    backwards = ["fold", [4], [[[0, False]]], [[[0, True]]]]
    if mark:
        with pytest.raises(Denied, match="order"):
            subgoals(rules, goal, backwards)
    else:
        subgoals(rules, goal, backwards)
        assert "a reduce takes its elements in any order" in rules.used
