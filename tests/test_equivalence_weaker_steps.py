"""Whoever records something weaker than exact hands the terms it is used on, and is asked what constants alone compute
in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hloproof.equivalence
from hloproof.equivalence import rules as rules_module
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.identities import IDENTITIES, Identity
from hloproof.equivalence.indices import constant, variable
from hloproof.equivalence.kernel import Denied, Rules, with_side
from hloproof.equivalence.patterns import built
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.rules_folds import cut
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Term, from_value
from hloproof.models.interpreter.semantics.element_type import to_bits

ROOM = Path(hloproof.equivalence.__file__).parent
GRAPH = Graph()
X, Y = (GRAPH.node("parameter", "f32", (4,), (), (k,)) for k in (0, 1))
V = variable(0, 4)
ZERO, ONE = from_value("f32", 0), from_value("f32", 1)


def held(*numbers: float) -> Node:
    return GRAPH.node("constant", "f32", (len(numbers),), (), ("bits", tuple(to_bits("f32", n) for n in numbers)))


BEYOND = App("exponential", "f32", (from_value("f32", 1000),))


def add() -> Node:
    at = [GRAPH.node("bound", "f32", (), (), ("argument", k, ())) for k in (0, 1)]
    return GRAPH.node("add", "f32", (), at)


def multiplied(body: Term, start: Term, *sizes: int) -> Fold:
    at = [GRAPH.node("bound", "f32", (), (), ("argument", k, ())) for k in (0, 1)]
    return Fold(("reduce", (GRAPH.node("multiply", "f32", (), at),), 0), "f32", 0, sizes, (body,), (start,))


def summed(body: Term, *sizes: int, place: int = 0) -> Fold:
    return Fold(("reduce", (add(),), 0), "f32", place, sizes, (body,), (ZERO,))


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(ROOM.rglob("*.py")):
        for found in ast.walk(ast.parse(path.read_text())):
            if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr == "use":
                yield f"{path.name}:{found.lineno}", found


def test_every_weaker_step_hands_its_terms() -> None:
    """And what is recorded is written down by the kernel alone."""
    found = dict(_calls())
    assert len(found) > 15
    for where, call in found.items():
        given = ast.unparse(call.args[2]) if len(call.args) == 3 else "()"
        assert given != "()" and not call.keywords, f"{where} hands no terms"
    for path in ROOM.rglob("*.py"):
        written = "used[" in path.read_text() or "used.update" in path.read_text()
        assert not written or path.name == "kernel.py", path


def test_a_step_that_hands_none_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgets(rules: Rules, goal: Goal) -> list[Goal]:
        rules.use("forgotten", "real")  # type: ignore[call-arg]
        return []

    def hands(rules: Rules, goal: Goal) -> list[Goal]:
        rules.use("handed", "real", (goal.right,))
        return [with_side(goal, 1, goal.left)]

    monkeypatch.setattr(rules_module, "_RULES", {"forgets": forgets, "hands": hands})
    for side, denied in ((Elem(X, (V,)), False), (BEYOND, True)):
        goal = Goal(1, (), Elem(X, (V,)), side)
        with pytest.raises(Denied):
            subgoals(Rules(GRAPH, "real"), goal, ["forgets"])
        if denied:
            with pytest.raises(Denied, match="may be no number"):
                subgoals(Rules(GRAPH, "real"), goal, ["hands"])
        else:
            subgoals(Rules(GRAPH, "real"), goal, ["hands"])


PARTS: dict[str, tuple[Term, Term]] = {
    "an operation": (BEYOND, ONE),
    "an element of it": (Elem(GRAPH.node("exponential", "f32", (4,), (held(1000, 1, 1, 1),)), (V,)), Elem(X, (V,))),
    "a part of an operation": (App("add", "f32", (Elem(X, (V,)), BEYOND)), App("add", "f32", (Elem(X, (V,)), ONE))),
    "a case": (Cond(V - 2, Elem(X, (V,)), BEYOND), Cond(V - 2, Elem(X, (V,)), ONE)),
    "the other case": (Cond(V - 2, BEYOND, Elem(X, (V,))), Cond(V - 2, ONE, Elem(X, (V,)))),
    "a sum": (summed(Elem(held(3e38, 3e38), (variable(0, 2),)), 2), summed(Elem(held(3, 3), (variable(0, 2),)), 2)),
    "a sum of one": (summed(BEYOND, 1), summed(Elem(held(3e38), (variable(0, 1),)), 1)),
    "some elements of a sum": (
        summed(Cond(V - 2, Elem(X, (V,)), from_value("f32", 3e38)), 4), summed(Cond(V - 2, Elem(X, (V,)), ONE), 4),
    ),
    "a product that begins below one": (  # which may come last
        multiplied(Elem(held(1e30, 1e30), (variable(0, 2),)), from_value("f32", 1e-30), 2),
        multiplied(Elem(held(1e3, 1e3), (variable(0, 2),)), from_value("f32", 1e-30), 2),
    ),
    "factors": (
        Fold(("contract", ()), "f32", 0, (4,), (Cond(V - 2, Elem(X, (V,)), from_value("f32", 1.5e19)),) * 2),
        Fold(("contract", ()), "f32", 0, (4,), (Cond(V - 2, Elem(X, (V,)), from_value("f32", 1e18)),) * 2),
    ),
    "converted factors": (
        Fold(("contract", ()), "f16", 0, (4,), (Elem(X, (V,)), from_value("f32", 1e6))),
        Fold(("contract", ()), "f16", 0, (4,), (Elem(X, (V,)), ONE)),
    ),
    "what a sum is made of": (
        summed(App("multiply", "f32", (Elem(X, (V,)), BEYOND)), 4),
        summed(App("multiply", "f32", (Elem(X, (V,)), ONE)), 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_what_constants_alone_compute_is_asked_of_each_part(name: str) -> None:
    beyond, sound = PARTS[name]
    with pytest.raises(Denied, match="may be no number"):
        Rules(GRAPH, "real").use("something", "real", (ONE, beyond))
    Rules(GRAPH, "real").use("something", "real", (ONE, sound))
    Rules(GRAPH, "real").use("something", "exact", (beyond,))


WEAKER = [i for i in IDENTITIES.values() if i.tier != "exact"]


@pytest.mark.parametrize("identity", WEAKER, ids=lambda i: i.name)
def test_no_weaker_identity_holds_on_the_right_of_what_constants_overflow_to(identity: Identity) -> None:
    """On the right of a goal; there it holds of parameters."""
    for term, denied in ((BEYOND, True), (Elem(X, (V,)), False)):
        head = built(identity.sides[0], dict.fromkeys("xyzlh", term), "f32")
        goal = Goal(1, (), Elem(Y, (V,)), head)
        if denied:
            with pytest.raises(Denied, match="may be no number"):
                subgoals(Rules(GRAPH, "rounding"), goal, ["identity", 1, identity.name])
        else:
            assert subgoals(Rules(GRAPH, "rounding"), goal, ["identity", 1, identity.name])


def test_a_part_that_is_cut_off_is_asked_for() -> None:
    """Of the sum of four parameters and numbers, two of which are cut off."""
    for number, denied in ((3e38, True), (3.0, False)):
        body = Cond(V - 2, from_value("f32", number), Elem(X, (V,)))
        goal = Goal(1, (), summed(body, 4), Elem(Y, (constant(0),)))
        if denied:
            with pytest.raises(Denied, match="may be no number"):
                cut(Rules(GRAPH, "real"), goal, 0, 0, 2)
        else:
            assert cut(Rules(GRAPH, "real"), goal, 0, 0, 2)


def test_what_was_summed_is_asked_for_where_a_factor_comes_out() -> None:
    """1e36 * 1000 is beyond f32, and (1e36 - 1e36 + x + y) * 1000 is not, which is what becomes of the sum of them."""
    for number, denied in ((1000.0, True), (3.0, False)):
        part = Cond(V - 2, Elem(X, (V,)), Cond(V - 1, from_value("f32", 1e36), from_value("f32", -1e36)))
        body = App("multiply", "f32", (part, from_value("f32", number)))
        goal = Goal(1, (), Elem(Y, (constant(0),)), summed(body, 4))
        if denied:
            with pytest.raises(Denied, match="may be no number"):
                subgoals(Rules(GRAPH, "real"), goal, ["linear", 1, 1000])
        else:
            assert subgoals(Rules(GRAPH, "real"), goal, ["linear", 1, 1000])
