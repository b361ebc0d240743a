"""What each step of the checker asks: certificates that would prove what is false if it asked less."""

from __future__ import annotations

from typing import Any

import pytest

from hloproof.equivalence import Certificate, decide, engine_steps, recheck
from hloproof.equivalence.checker import check
from hloproof.equivalence.decide import read_both
from hloproof.equivalence.definedness import Definedness
from hloproof.equivalence.evaluation import FALSE, TRUE
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.indices import constant, variable
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.rules import _RULES as rules_by_name
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import Elem, Fold, Num, from_value
from hloproof.logic.obligation import Outcome
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

GIVEN = (
    "x = f32[4] parameter(0)",
    "y = f32[4] parameter(1)",
    "z = f32[4] parameter(2)",
    "a = s32[] parameter(3)",
    "b = s32[] parameter(4)",
    "p = u8[] parameter(5)",
)
CALLED = """f {
  s = f32[] parameter(0)
  t = f32[] parameter(1)
  u = f32[] parameter(2)
  v = f32[] parameter(3)
  su = f32[] add(s, u)
  tv = f32[] add(t, v)
  ROOT r = (f32[], f32[]) tuple(su, tv)
}
add {
  s = s32[] parameter(0)
  t = s32[] parameter(1)
  ROOT r = s32[] add(s, t)
}
body {
  s = (s32[], f32[4], f32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(k, one)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] get-tuple-element(s), index=2
  u = f32[4] add(x, y)
  v = f32[4] subtract(x, y)
  ROOT r = (s32[], f32[4], f32[4]) tuple(next, u, v)
}
cond {
  s = (s32[], f32[4], f32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  most = s32[] constant(5)
  ROOT r = pred[] compare(k, most), direction=LT
}
"""


def module(text: str) -> Module:
    """The parameters of GIVEN, then these lines; the last is the root."""
    *lines, root = (line.strip() for line in text.split(";"))
    body = "".join(f"  {line}\n" for line in (*GIVEN, *lines, f"ROOT {root}"))
    return parse_module(f"HloModule m\n{CALLED}ENTRY e {{\n{body}}}\n")


CALL = 'c = f32[4] custom-call({}), custom_call_target="g"; r = f32[2] slice(c), slice={{[{}]}}'
PAIR = 'c = (f32[4], f32[4]) custom-call({}), custom_call_target="g"; r = f32[4] get-tuple-element(c), index={}'
PART = "r = f32[2] slice(w), slice={{[{}]}}"
XY, YX = "w = f32[4] add(x, y); ", "w = f32[4] add(y, x); "
TWO = (
    "o = f32[] constant(0); k = (f32[], f32[]) reduce({}, z, o, o), dimensions={{0}}, to_apply=f; "
    "r = f32[] get-tuple-element(k), index={}"
)
TAKEN = "i = s32[] multiply({}); r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={{1}}"
JOINED = (
    "g = f32[3] slice(x), slice={{[0:3]}}; h = f32[1] slice({}), slice={{[3:4]}}; "
    "r = f32[4] concatenate(g, h), dimensions={{0}}"
)
OF_ONE = "w = s32[{0}] broadcast(a), dimensions={{}}; o = s32[] constant(0); " + (
    "r = s32[] reduce(w, o), dimensions={{0}}, to_apply=add"
)
ZEROS = (
    "w = s32[2] broadcast(a), dimensions={}; o = s32[] constant(0); n = s32[2] broadcast(o), dimensions={}; "
    "k = s32[4] concatenate(n, w), dimensions={0}; r = s32[] reduce(k, o), dimensions={0}, to_apply=add"
)
STATE = "(s32[], f32[4], f32[4])"
LOOP = (
    f"o = s32[] constant(0); t = {STATE} tuple(o, x, y); k = {STATE} while(t), condition=cond, body=body; "
    "r = f32[4] get-tuple-element(k), index={}"
)
LOOPED = (
    LOOP.replace("tuple(o, x, y)", "tuple(o, w, y)").replace("r = ", "h = ") + "; r = f32[2] slice(h), slice={{[{}]}}"
)
ROWS = "w = f32[4] add(x, y); r = f32[4,4] broadcast(w), dimensions={1}"
ROWED = (
    "u = f32[4,4] broadcast(x), dimensions={{{}}}; v = f32[4,4] broadcast(y), dimensions={{1}}; r = f32[4,4] add(u, v)"
)
PAIRED: list[Any] = ["loop", [[0, 0], [1, 1], [2, 2]]]
OVER_TWO = ["fold", [2], [[[0, False]]], [[[0, False]]], False]
SWAP: list[list[Any]] = [["arguments", True], ["same"], ["same"]]
STRAIGHT = ["fold", [4], [[[0, False]]], [[[0, False]]], False]

DOT = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
PRODUCT = "m = s32[4] convert(x); n = s32[4] convert(y); r = s32[] {}"
SUM = (
    "m = s32[4] convert(x); n = s32[4] convert(y); q = s32[4] multiply(m, n); o = s32[] constant(0); "
    "r = s32[] reduce(q, o), dimensions={0}, to_apply=add"
)
EACH: list[list[Any]] = [["arguments"], ["same"]]
AS_SUM: list[list[Any]] = [["total", 0], STRAIGHT, ["arguments"], *EACH, *EACH, ["same"]]
WINDOW = (
    "m = s32[4] convert(x); o = s32[] constant(0); "
    "r = s32[2] reduce-window(m, o), window={{size=2 pad={}}}, to_apply=add"
)
OF_THREE = (
    "m = s32[4] convert(x); o = s32[] constant(0); g = s32[3] slice(m), slice={{[{}]}}; "
    "t = s32[3] reverse(g), dimensions={{0}}; r = s32[] reduce({}, o), dimensions={{0}}, to_apply=add"
)

OF_TRUTHS = "v = pred[4] compare(x, z), direction=LT; w = pred[4] compare(y, z), direction=LT; "


def turned(size: int) -> list[list[Any]]:
    """The left fold counts down from its last value."""
    return [["fold", [size], [[[0, True]]], [[[0, False]]], False], ["same"], ["same"]]


FORGED: list[tuple[str, str, str, list[list[Any]], bool]] = [
    ("a goal inside of its own proof", "r = f32[4] add(x, y)", "r = f32[4] add(x, z)", [["keep"], ["again"]], False),
    ("... of that for all indices", "r = f32[4] add(x, y)", "r = f32[4] add(x, z)", [["generalise"], ["lemma"]], False),
    ("what was never shown", "r = f32[4] add(x, y)", "r = f32[4] add(x, z)", [["lemma"]], False),
    ("... by itself", "r = f32[4] add(x, y)", "r = f32[4] add(x, z)", [["again"]], False),
    ("no step at all", "r = f32[4] add(x, y)", "r = f32[4] add(x, z)", [], False),
    ("nothing to show", "r = f32[4] add(x, y)", "r = f32[4] add(x, y)", [], True),
    ("... and a step", "r = f32[4] add(x, y)", "r = f32[4] add(x, y)", [["same"]], False),
    ("a sum turned", "r = f32[4] add(x, y)", "r = f32[4] add(y, x)", SWAP, True),
    ("a difference turned", "r = f32[4] subtract(x, y)", "r = f32[4] subtract(y, x)", SWAP, False),
    ("equality turned",
        "r = pred[4] compare(x, y), direction=EQ", "r = pred[4] compare(y, x), direction=EQ", SWAP, True),
    ("an order turned",
        "r = pred[4] compare(x, y), direction=LT", "r = pred[4] compare(y, x), direction=LT", SWAP, False),
    ("a call at one index", XY + CALL.format("w", "0:2"), YX + CALL.format("w", "0:2"), [["whole"], *SWAP], True),
    ("a call at two", XY + CALL.format("w", "0:2"), YX + CALL.format("w", "1:3"), [["whole"], *SWAP], False),
    ("one result of a call", XY + PAIR.format("w", 0), YX + PAIR.format("w", 0), [["whole"], *SWAP], True),
    ("two results", XY + PAIR.format("w", 0), YX + PAIR.format("w", 1), [["whole"], *SWAP], False),
    ("one part", XY + PART.format("0:2"), YX + PART.format("0:2"), [["generalise"], *SWAP], True),
    ("two parts", XY + PART.format("0:2"), YX + PART.format("1:3"), [["generalise"], *SWAP], False),
    ("a row for all rows", ROWS, ROWED.format(1), [["generalise"], ["arguments"], ["same"], ["same"]], True),
    ("... and what is one on the diagonal alone",
        ROWS, ROWED.format(0), [["generalise"], ["arguments"], ["same"], ["same"]], False),
    ("one result of a reduce", XY + TWO.format("w", 0), YX + TWO.format("w", 0),
        [STRAIGHT, *SWAP, ["same"], ["same"], ["same"]], True),
    ("two results of a reduce", XY + TWO.format("w", 0), YX + TWO.format("w", 1),
        [STRAIGHT, *SWAP, ["same"], ["same"], ["same"]], False),
    ("a value by the name of its equal",
        TAKEN.format("a, b"), TAKEN.format("b, a"), [["values", [[0, 0]]], *SWAP, ["same"]], True),
    ("... which is not owed", TAKEN.format("a, b"), TAKEN.format("b, b"), [["values", [[0, 0]]], ["same"]], False),
    ("each index by itself", "r = f32[4] copy(x)", JOINED.format("x"), [["enumerate", 0], *([["same"]] * 4)], True),
    ("one element", OF_ONE.format(1), "r = s32[] copy(a)", [["single", 0], ["same"]], True),
    ("... of two", OF_ONE.format(2), "r = s32[] copy(a)", [["single", 0], ["same"]], False),
    ("a choice", "q = pred[4] compare(x, y), direction=LT; r = f32[4] select(q, x, z)", "r = f32[4] copy(x)",
        [["chosen", 0, True], ["same"]], False),
    ("two arrays at one index", "r = f32[4] copy(x)", "r = f32[4] copy(y)", [["indices"]], False),
    ("zeros are left out", ZEROS, OF_ONE.format(2), [["cut", 0, 0, 2], OVER_TWO, ["same"], ["same"]], True),
    ("... and nothing else", ZEROS, "r = s32[] constant(0)", [["cut", 0, 0, 2], ["written out", 0], ["same"]], False),
    ("the same result of a loop", LOOP.format(1), LOOP.format(1), [], True),
    ("... another one", LOOP.format(1), LOOP.format(2), [["loop", [[0, 0]]]], False),
    ("a loop at one index", XY + LOOPED.format(1, "0:2"), YX + LOOPED.format(1, "0:2"), [PAIRED, *SWAP], True),
    ("... at two", XY + LOOPED.format(1, "0:2"), YX + LOOPED.format(1, "1:3"), [PAIRED, *SWAP], False),
    ("... a sum that it does not begin with",
        XY + LOOPED.format(1, "0:2"), "w = f32[4] add(y, z); " + LOOPED.format(1, "0:2"), [PAIRED, *SWAP], False),
    ("a window turned round", WINDOW.format("0_-1 rhs_reversal=1"), WINDOW.format("0_-1"), turned(2), True),
    ("... one further", WINDOW.format("0_-1 rhs_reversal=1"), WINDOW.format("-1_0"), turned(2), False),
    ("a sum counted down", OF_THREE.format("1:4", "g"), OF_THREE.format("1:4", "t"), turned(3), True),
    ("... from one further", OF_THREE.format("0:3", "g"), OF_THREE.format("1:4", "t"), turned(3), False),
    ("one truth is greater than another", OF_TRUTHS + "r = pred[4] compare(v, w), direction=GT",
        OF_TRUTHS + "n = pred[4] not(w); r = pred[4] and(v, n)", [["boolean", []]], True),
    ("... that is true where it is false", OF_TRUTHS + "r = pred[4] compare(v, w), direction=GT",
        OF_TRUTHS + "n = pred[4] not(v); r = pred[4] and(w, n)", [["boolean", []]], False),
    ("a contraction of integers as a sum", PRODUCT.format("dot(m, n), " + DOT), SUM, AS_SUM, True),
    ("a contraction of floats as a sum of integers", PRODUCT.format("dot(x, y), " + DOT), SUM, AS_SUM, False),
    ("a convolution of floats as a sum of integers",
        "v = f32[1,4,1] reshape(x); w = f32[4,1,1] reshape(y); "
        "c = s32[1,1,1] convolution(v, w), window={size=4}, dim_labels=b0f_0io->b0f; r = s32[] reshape(c)", SUM,
        [["total", 0], ["fold", [4], [[], [[0, False]]], [[[0, False]]], False], *AS_SUM[2:]], False),
    ("... but for the last",
        "r = f32[4] copy(x)", JOINED.format("y"), [["enumerate", 0], *([["same"]] * 3)], False),
]  # fmt: skip


ROOTS = "g = f32[4] sqrt(x); r = f32[4] multiply(g, g)"
BELOW = "r = pred[4] compare({}, z), direction=LT; w = pred[4] not(r)"
MASKED = (
    "o = f32[2] constant({1, 2}); n = f32[] constant(0); q = f32[] MASK; w = f32[2] broadcast(q), dimensions={}; "
    f"k = f32[4] concatenate(o, w), dimensions={{0}}; r = f32[] dot(k, y), {DOT}"
)
HALF = f"o = f32[2] constant({{1, 2}}); t = f32[2] slice(y), slice={{[0:2]}}; r = f32[] dot(o, t), {DOT}"
NO_VALUE = "h = f32[1] slice(x), slice={[0:1]}; j = f32[] reshape(h); s = f32[] sqrt(j); "
PADDED = (
    "h = f32[2] slice(x), slice={{[0:2]}}; g = {0}[2] convert(h); n = {0}[] constant({1}); "
    "q = {0}[4] pad(g, n), padding=0_2; v = f32[2] slice(y), slice={{[0:2]}}; w = f32[4] copy(y); "
    f"r = f32[] dot({{2}}, {{3}}), {DOT.replace('{', '{{').replace('}', '}}')}"
)
RING: list[Any] = ["ring", [], False, 1000]
LEFT: list[list[Any]] = [["fold", [2], [[[0, False]]], [[[0, False]]], False], ["same"], ["same"]]

SUMMED = (
    "o = f32[] constant(1); e = f32[4] broadcast(o), dimensions={{}}; l = f32[4] sqrt(x); m = f32[4] subtract(l, l); "
    f"n = f32[4] add(m, y); r = f32[] dot({{}}, e), {DOT.replace('{', '{{').replace('}', '}}')}"
)
OF_PARTS: list[list[Any]] = [["linear", 0, 9], ["linear", 1, 9], STRAIGHT, ["same"], ["same"]]
PINNED: list[list[Any]] = [["pinned", 1, 0, 2, 0, 0], ["same"], *LEFT]

OVER_REALS: list[tuple[str, str, str, list[list[Any]], bool]] = [
    ("a product of roots is what is below them", ROOTS, "r = f32[4] copy(x)", [["ring", [[0, 1]], False, 0], RING],
        True),
    ("... and that is no product of roots",
        "r = f32[4] copy(x)", ROOTS, [["ring", [[0, 1]], False, 0], RING], False),
    ("... nor by the name of what the right side has alone",
        "r = f32[4] copy(x)", ROOTS, [["ring", [[1, 0]], False, 0], RING], False),
    ("... nor in a predicate", BELOW.format("x"), f"{ROOTS}; ".replace("r = ", "m = ") + BELOW.format("m"),
        [["boolean", [[1, 0]]], ["arguments"], RING, ["same"]], False),
    ("zeros of a mask", HALF, MASKED.replace("MASK", "copy(n)"), [["pinned", 1, 0, 2, 0, 0], ["same"], *LEFT], True),
    ("what cancels in a sum", SUMMED.format("y"), SUMMED.format("n"), OF_PARTS, False),
    ("... on the left", SUMMED.format("n"), SUMMED.format("y"), OF_PARTS, True),
    ("zeros of a pad",
        PADDED.format("f32", "0", "g", "v"), PADDED.format("f32", "0", "q", "w"), PINNED, True),
    ("... in a type without zero",
        PADDED.format("f8e8m0fnu", "nan", "g", "v"), PADDED.format("f8e8m0fnu", "nan", "q", "w"), PINNED, False),
    ("... that are no numbers", HALF, NO_VALUE + MASKED.replace("MASK", "subtract(s, s)"),
        [["pinned", 1, 0, 2, 0, 0], RING, *LEFT], False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "steps", "right"), [r[1:] for r in OVER_REALS], ids=[r[0] for r in OVER_REALS]
)
def test_what_the_right_side_has_alone_has_a_value(
    before: str, after: str, steps: list[list[Any]], right: bool
) -> None:
    found = recheck(module(before), module(after), Certificate("real", steps))
    assert found.verdict is (Verdict.PROVED if right else Verdict.UNKNOWN), found.reason


SHOWN: list[list[Any]] = [["boolean", [[0, 1]]], ["arguments"], RING, ["same"]]
"""That a predicate of what has no value is that of what has one; which says nothing where it stands on the right."""
ALWAYS = (
    "m = f32[] sqrt(a)\n  h = f32[] multiply(m, m)\n  q = pred[] compare(h, z), direction=LT\n"
    "  p = pred[] compare(a, z), direction=LT\n  n = pred[] not(p)\n  "
)
IS_TRUE, IS_FALSE = ALWAYS + "c = pred[] or(q, n)", ALWAYS + "k = pred[] not(q)\n  c = pred[] and(k, p)"
TURNS = """while_ {{
  s = (f32[], f32[]) parameter(0)
  a = f32[] get-tuple-element(s), index=0
  z = f32[] get-tuple-element(s), index=1
  {}
  ROOT r = pred[] copy(c)
}}
twice {{
  s = (f32[], f32[]) parameter(0)
  a = f32[] get-tuple-element(s), index=0
  z = f32[] get-tuple-element(s), index=1
  b = f32[] add(a, a)
  ROOT r = (f32[], f32[]) tuple(b, z)
}}
"""


def with_turns(condition: str, lines: str) -> Module:
    of = "w = (f32[], f32[]) while(t), condition=while_, body=twice\n  ROOT r = f32[] get-tuple-element(w), index=0"
    given = "a = f32[] parameter(0)\n  z = f32[] parameter(1)"
    text = lines.replace("WHILE", of)
    return parse_module(f"HloModule m\n{TURNS.format(condition)}ENTRY e {{\n  {given}\n  {text}\n}}\n")


LOOP_OF = "t = (f32[], f32[]) tuple(a, z)\n  WHILE"
PREDICATES = {
    "a choice": ("chosen", True, IS_TRUE, f"{IS_TRUE}\n  ROOT r = f32[] select(c, a, z)", "ROOT r = f32[] copy(a)"),
    "a turn": ("turn", None, IS_TRUE, LOOP_OF, "b = f32[] add(a, a)\n  t = (f32[], f32[]) tuple(b, z)\n  WHILE"),
    "the end of a loop": ("stop", None, IS_FALSE, LOOP_OF, "ROOT r = f32[] copy(a)"),
}


@pytest.mark.parametrize(("step", "truth", "condition", "whole", "part"), PREDICATES.values(), ids=PREDICATES)
def test_a_predicate_that_is_shown_has_a_value_on_the_right(
    step: str, truth: bool | None, condition: str, whole: str, part: str
) -> None:
    """Of a < 0 the roots are none, and the predicate is what it is not elsewhere."""
    one, other = with_turns(condition, whole), with_turns(condition, part)
    for side, (before, after) in enumerate(((one, other), (other, one))):
        first: list[Any] = [step, side] if truth is None else [step, side, truth]
        found = recheck(before, after, Certificate("real", [first, *SHOWN, ["same"]]))
        assert found.verdict is (Verdict.UNKNOWN if side else Verdict.PROVED), found.reason


@pytest.mark.parametrize(("before", "after", "steps", "right"), [r[1:] for r in FORGED], ids=[r[0] for r in FORGED])
def test_a_step_asks_for_all_that_it_needs(before: str, after: str, steps: list[list[Any]], right: bool) -> None:
    found = recheck(module(before), module(after), Certificate("exact", steps))
    assert found.verdict is (Verdict.PROVED if right else Verdict.UNKNOWN), found.reason


@pytest.mark.parametrize("step", ["turn", "stop"])
def test_a_condition_stands_on_the_side_of_its_loop(step: str) -> None:
    """What is taken for true or false on the right has to have a value wherever the left side has one."""
    loop, other = module(LOOP.format(1)), module("r = f32[4] copy(x)")
    for side, pair in ((0, (loop, other)), (1, (other, loop))):
        graph, (goal,), _ = read_both(*pair)
        truth, left = subgoals(Rules(graph), goal, [step, side])
        condition, constant_ = (truth.left, truth.right)[:: 1 - 2 * side]
        assert isinstance(condition, Elem) and condition.node.head == "compare"
        assert constant_ == (TRUE if step == "turn" else FALSE)
        assert (left.right, left.left)[side] == (goal.right, goal.left)[side]


@pytest.mark.parametrize("part", [-1, 1.5, {"at": 1}, [[-1]], (0,)], ids=repr)
def test_steps_hold_words_truth_values_lists_and_numbers_from_0_on(part: Any) -> None:
    """A dimension that is counted from the end would be read as one thing here and as another there."""
    x = variable(0, 4)
    goal = Goal(1, (), Num("s32", x), Num("s32", x + 1))
    for step in (["cut", 0, part, 1], [part], part):
        with pytest.raises(Denied, match=r"^not a step$"):
            check(Rules(Graph()), [goal], [step])
    with pytest.raises(Denied, match="not the same"):
        check(Rules(Graph()), [goal], [["same"]])


def test_a_step_that_cannot_be_computed_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules_by_name, "same", lambda *_: 10.0**400)
    with pytest.raises(Denied, match=r"^same"):
        check(Rules(Graph()), [Goal(0, (), Num("s32", constant(0)), Num("s32", constant(0)))], [["same"]])


def test_a_fold_by_a_function_that_may_have_no_value_may_have_none() -> None:
    graph = Graph()
    two = [graph.node("bound", "f32", (), (), ("argument", k, ())) for k in (0, 1)]
    zero, body = from_value("f32", 0), Elem(graph.node("parameter", "f32", (4,), key=(0,)), (variable(0, 4),))
    for op, everywhere in (("add", True), ("divide", False)):
        head = ("reduce", (graph.node(op, "f32", (), two),), 0)
        assert Definedness().everywhere(Fold(head, "f32", 0, (4,), (body,), (zero,))) is everywhere


@pytest.mark.parametrize(("given", "size", "everywhere"), [((0, 1), 4, True), ((0, 0), 4, False), ((0, 1), 0, False)])
def test_a_maximum_that_gives_what_it_begins_with_has_no_value(
    given: tuple[int, int], size: int, everywhere: bool
) -> None:
    """Minus infinity, of no elements or by a function that looks at none of them."""
    graph = Graph()
    greater = graph.node("maximum", "f32", (), [graph.node("bound", "f32", (), (), ("argument", k, ())) for k in given])
    body = Elem(graph.node("parameter", "f32", (4,), key=(0,)), (constant(0),))
    fold = Fold(("reduce", (greater,), 0), "f32", 0, (size,), (body,), (from_value("f32", float("-inf")),))
    assert Definedness().everywhere(fold) is everywhere


def test_engines_are_asked_about_every_value_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four values the last is the third and no more than it; an engine that gives up has shown nothing."""
    d = variable(0, 4)
    assert not engine_steps.proved((d - 3,), None, {})
    assert not engine_steps.proved((-d,), None, {})
    assert engine_steps.proved((d - 4,), None, {})
    assert engine_steps.proved((d - 3,), [(d, constant(3))], {})
    assert not engine_steps.proved((d - 2,), [(d, constant(3))], {})
    monkeypatch.setattr(engine_steps, "prove_one", lambda obligation, how: Outcome("unknown", (), reason="late"))
    assert not engine_steps.proved((d - 4,), None, {})


WRAPS = [
    ("u8", "add", 250, False),
    ("u16", "add", 250, True),
    ("u8", "add", 0, True),
    ("u8", "subtract", 9, False),
    ("s16", "subtract", 9, True),
    ("s8", "add", 9, False),
]


@pytest.mark.parametrize(("type_", "op", "by", "fits"), WRAPS)
def test_an_index_that_may_wrap_round_is_no_sum(type_: str, op: str, by: int, fits: bool) -> None:
    def taken(in_type: str) -> Module:
        of = "q = u8[] copy(p)" if in_type == "u8" else f"q = {in_type}[] convert(p)"
        slice_ = "r = f32[1] dynamic-slice(m, i), dynamic_slice_sizes={1}"
        return module(
            f"{of}; k = {in_type}[] constant({by}); s = {in_type}[] {op}(q, k); i = s32[] convert(s); "
            'm = f32[900] custom-call(x), custom_call_target="g"; ' + slice_
        )

    found = decide(taken(type_), taken("s32"), "exact").verdict
    assert found is (Verdict.PROVED if fits else Verdict.UNKNOWN)


def test_a_certificate_is_of_its_tier() -> None:
    before = module("s = f32[4] add(x, y); r = f32[4] subtract(s, y)")
    after = module("r = f32[4] copy(x)")
    found = decide(before, after, "real").certificate
    assert found is not None and recheck(before, after, found).verdict is Verdict.PROVED
    assert recheck(before, after, Certificate("exact", found.proof)).verdict is Verdict.UNKNOWN


def test_what_a_module_says_is_unknown_on_either_side() -> None:
    plain = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}\n"
    said = plain.replace("m\n", 'm, frontend_attributes={foo="1"}\n', 1)
    one, two = map(parse_module, (plain, said))
    assert decide(one, one, "exact").verdict is Verdict.PROVED
    for before, after in ((one, two), (two, one)):
        found = decide(before, after, "exact")
        assert found.verdict is Verdict.UNKNOWN and "frontend_attributes" in found.reason
