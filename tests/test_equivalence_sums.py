"""Sums over boxes inside of arithmetic: factors come out, one summand is itself, what only looks so is not proved."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from hloproof.equivalence import Certificate, decide, reading, recheck
from hloproof.equivalence.answer import Tier
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import Elem
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

ADD = "sum {\n x = TYPE[] parameter(0)\n y = TYPE[] parameter(1)\n ROOT r = TYPE[] add(x, y)\n}\n"
MAX = "most {\n x = TYPE[] parameter(0)\n y = TYPE[] parameter(1)\n ROOT r = TYPE[] maximum(x, y)\n}\n"
HEAD = """ x = TYPE[3,32] parameter(0)
 v = TYPE[3] parameter(1)
 w = TYPE[32] parameter(2)
 zero = TYPE[] constant(0)
 one = TYPE[] constant(1)
 c = TYPE[] constant(2)
 cs = TYPE[3,32] broadcast(c), dimensions={}
 ct = TYPE[3] broadcast(c), dimensions={}
 vs = TYPE[3,32] broadcast(v), dimensions={0}
 ws = TYPE[3,32] broadcast(w), dimensions={1}
"""


def module(body: str, kind: str = "f32") -> Module:
    return parse_module(f"HloModule m\n{ADD}{MAX}ENTRY e {{\n{HEAD}{body}}}\n".replace("TYPE", kind))


def reduced(name: str, operand: str, initial: str = "zero", function: str = "sum") -> str:
    return f" {name} = TYPE[3] reduce({operand}, {initial}), dimensions={{1}}, to_apply={function}\n"


def many(kind: str, *equations: str) -> str:
    return "".join(f" {name} = {kind} {rest}\n" for name, rest in (e.split(" = ") for e in equations))


PLAIN = reduced("s", "x")
SCALED = many("TYPE[3,32]", "a = multiply(x, cs)") + reduced("s", "a")
BY_ROW = many("TYPE[3,32]", "a = multiply(x, vs)") + reduced("s", "a")
BY_COLUMN = many("TYPE[3,32]", "a = multiply(x, ws)") + reduced("s", "a")
SPREAD = many("TYPE[3,32]", "a = add(x, vs)") + reduced("s", "a")

PROVED: dict[str, tuple[str, str]] = {
    "a factor beside another summand": (
        SCALED + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + " t = TYPE[3] multiply(s, ct)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "a factor of the row": (
        BY_ROW + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + " t = TYPE[3] multiply(v, s)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "as many as there are": (
        SPREAD + " ROOT r = TYPE[3] subtract(s, v)\n",
        PLAIN + " n = TYPE[] constant(31)\n ns = TYPE[3] broadcast(n), dimensions={}\n t = TYPE[3] multiply(v, ns)\n"
        " ROOT r = TYPE[3] add(s, t)\n",
    ),
    "one summand": (
        " b = TYPE[3,1] reshape(v)\n" + reduced("s", "b") + " ROOT r = TYPE[3] multiply(s, ct)\n",
        " ROOT r = TYPE[3] add(v, v)\n",
    ),
    "a sum of two sums": (
        many("TYPE[3,32]", "q = multiply(x, ws)", "a = add(x, q)") + reduced("s", "a")
        + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + many("TYPE[3,32]", "q = multiply(x, ws)") + reduced("t", "q")
        + " u = TYPE[3] add(v, s)\n ROOT r = TYPE[3] add(u, t)\n",
    ),
    "a norm": (
        PLAIN + " m = TYPE[3] divide(s, ct)\n ms = TYPE[3,32] broadcast(m), dimensions={0}\n"
        + many("TYPE[3,32]", "d = subtract(x, ms)", "e = multiply(d, cs)", "f = multiply(e, d)") + reduced("t", "f")
        + " ROOT r = TYPE[3] add(t, m)\n",
        PLAIN + " h = TYPE[] constant(0.5)\n hs = TYPE[3] broadcast(h), dimensions={}\n m = TYPE[3] multiply(s, hs)\n"
        " ms = TYPE[3,32] broadcast(m), dimensions={0}\n"
        + many("TYPE[3,32]", "d = subtract(x, ms)", "f = multiply(d, d)") + reduced("t", "f")
        + " u = TYPE[3] add(t, t)\n ROOT r = TYPE[3] add(m, u)\n",
    ),
}  # fmt: skip

DIFFERENT: dict[str, tuple[str, str]] = {
    "a factor of the column": (
        BY_COLUMN + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + " k = TYPE[3] slice(w), slice={[0:3]}\n t = TYPE[3] multiply(k, s)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "another row's factor": (
        BY_ROW + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + " k = TYPE[3] reverse(v), dimensions={0}\n t = TYPE[3] multiply(k, s)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "as many as there are not": (
        SPREAD + " ROOT r = TYPE[3] subtract(s, v)\n",
        PLAIN + " n = TYPE[] constant(32)\n ns = TYPE[3] broadcast(n), dimensions={}\n t = TYPE[3] multiply(v, ns)\n"
        " ROOT r = TYPE[3] add(s, t)\n",
    ),
    "an initial value that is not nothing": (
        many("TYPE[3,32]", "a = multiply(x, cs)") + reduced("s", "a", "one") + " ROOT r = TYPE[3] add(s, v)\n",
        reduced("s", "x", "one") + " t = TYPE[3] multiply(s, ct)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "one summand and an initial value": (
        " b = TYPE[3,1] reshape(v)\n" + reduced("s", "b", "one") + " ROOT r = TYPE[3] multiply(s, ct)\n",
        " ROOT r = TYPE[3] add(v, v)\n",
    ),
    "a maximum of one": (
        " b = TYPE[3,1] reshape(v)\n" + reduced("s", "b", "zero", "most") + " ROOT r = TYPE[3] multiply(s, ct)\n",
        " ROOT r = TYPE[3] add(v, v)\n",
    ),
    "a maximum of multiples": (
        many("TYPE[3,32]", "a = multiply(x, vs)") + reduced("s", "a", "zero", "most") + " ROOT r = TYPE[3] add(s, v)\n",
        reduced("s", "x", "zero", "most") + " t = TYPE[3] multiply(v, s)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "the square of a sum": (
        many("TYPE[3,32]", "a = multiply(x, x)") + reduced("s", "a") + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + " t = TYPE[3] multiply(s, s)\n ROOT r = TYPE[3] add(v, t)\n",
    ),
    "the product of two sums": (
        BY_COLUMN + " ROOT r = TYPE[3] add(s, v)\n",
        PLAIN + reduced("t", "ws") + " u = TYPE[3] multiply(s, t)\n ROOT r = TYPE[3] add(v, u)\n",
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_sums_are_taken_apart_over_real_numbers(name: str) -> None:
    before, after = (module(b) for b in PROVED[name])
    result = decide(before, after, "real")
    assert result.verdict is Verdict.PROVED, result.reason
    assert result.certificate is not None
    assert recheck(before, after, result.certificate).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", PROVED)
def test_taking_a_sum_apart_is_no_step_of_the_exact_tier(name: str) -> None:
    before, after = (module(b) for b in PROVED[name])
    assert decide(before, after, "exact").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("tier", ["exact", "real", "rounding"])
@pytest.mark.parametrize("kind", ["f32", "bf16", "s32"])
@pytest.mark.parametrize("name", DIFFERENT)
def test_sums_that_differ_are_not_proved(name: str, kind: str, tier: Tier) -> None:
    before, after = (module(b, kind) for b in DIFFERENT[name])
    assert decide(before, after, tier).verdict is Verdict.UNKNOWN


def test_one_summand_of_integers_is_exact() -> None:
    before, after = (module(b, "s32") for b in PROVED["one summand"])
    assert decide(before, after, "exact").verdict is Verdict.PROVED


@pytest.mark.parametrize("name", DIFFERENT)
def test_no_pairs_and_no_choice_of_what_is_opened_prove_what_differs(name: str) -> None:
    """Steps as a broken matcher might write them: pairs of any atoms, those inside a sum too, anything opened."""
    before, after = (module(b) for b in DIFFERENT[name])
    for opened in (None, [], list(range(40)), [0], [0, 1, 2], [0, 3, 5, 7]):
        for pairs in ([], *([[i, j]] for i in range(6) for j in range(6) if i != j)):
            ring = ["ring", pairs, True, 1000, opened]
            tails: list[list[Any]] = [[], [["same"]], [["generalise"], ["same"]], [ring]]
            for tail in tails:
                steps = [ring, *tail]
                assert recheck(before, after, Certificate("rounding", steps)).verdict is Verdict.UNKNOWN


ONE_ROW = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"


def looked_up(numbers: str) -> Module:
    """Elements of a parameter by a table of constants, each two lower where it is above one."""
    body = (
        f" p = f32[4] parameter(0)\n i = s32[3] constant({numbers})\n"
        " one = s32[] constant(1)\n two = s32[] constant(2)\n"
        " ones = s32[3] broadcast(one), dimensions={}\n twos = s32[3] broadcast(two), dimensions={}\n"
        " above = pred[3] compare(i, ones), direction=GT\n less = s32[3] subtract(i, twos)\n"
        " j = s32[3] select(above, less, i)\n k = s32[3,1] reshape(j)\n"
        f" ROOT r = f32[3] gather(p, k), {ONE_ROW}\n"
    )
    return parse_module(f"HloModule m\nENTRY e {{\n{body}}}\n")


def read_at(numbers: str) -> Module:
    body = f" p = f32[4] parameter(0)\n k = s32[3,1] constant({numbers})\n ROOT r = f32[3] gather(p, k), {ONE_ROW}\n"
    return parse_module(f"HloModule m\nENTRY e {{\n{body}}}\n")


def test_tables_of_constants_are_looked_up_row_by_row() -> None:
    before = looked_up("{0, 5, 3}")
    assert decide(before, read_at("{{0}, {3}, {1}}"), "exact").verdict is Verdict.PROVED
    assert decide(before, read_at("{{-7}, {9}, {1}}"), "exact").verdict is Verdict.PROVED  # starts are clamped
    for other in ("{{0}, {3}, {2}}", "{{3}, {0}, {1}}", "{{0}, {2}, {1}}"):
        assert decide(before, read_at(other)).verdict is Verdict.UNKNOWN


def summed(inner: str, outer: str, operand: str = "bf16", dimension: int = 1) -> Module:
    """Sums of sums over bf16[2,4] or f32[2,4], with the types that each of the two functions adds in."""
    functions = "".join(ADD.replace("TYPE", kind).replace("sum {", f"add.{kind} {{") for kind in ("f32", "bf16"))
    left = 2 if dimension == 1 else 4
    return parse_module(
        f"HloModule m\n{functions}ENTRY e {{\n p = {operand}[2,4] parameter(0)\n zf32 = f32[] constant(0)\n"
        f" zbf16 = bf16[] constant(0)\n a = {inner}[{left}] reduce(p, z{inner}), dimensions={{{dimension}}}, "
        f"to_apply=add.{inner}\n ROOT r = {outer}[] reduce(a, z{outer}), dimensions={{0}}, to_apply=add.{outer}\n}}\n"
    )


@pytest.mark.parametrize(
    ("inner", "outer", "operand", "joins"),
    [("bf16", "bf16", "bf16", True), ("bf16", "bf16", "f32", False), ("f32", "f32", "bf16", False)],
)
def test_a_fold_of_folds_of_another_type_is_no_fold_over_both(
    inner: str, outer: str, operand: str, joins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No module is read in which types mix so, but identities that leave out conversions may make such a fold."""
    monkeypatch.setattr(reading, "mixed", lambda module: ())
    reader = GraphReader()
    (node,) = reader.read(summed(inner, outer, operand), 0).results
    goal = Goal(0, (), Elem(node, ()), Elem(node, ()))
    with nullcontext() if joins else pytest.raises(Denied, match="not a fold of folds"):
        subgoals(Rules(reader.graph, "rounding"), goal, ["flatten", 0])


def at_once(kind: str, operand: str = "bf16") -> Module:
    """The sum over both dimensions of bf16[2,4] or f32[2,4], added in one type."""
    return parse_module(
        f"HloModule m\n{ADD.replace('TYPE', kind)}ENTRY e {{\n p = {operand}[2,4] parameter(0)\n"
        f" z = {kind}[] constant(0)\n ROOT r = {kind}[] reduce(p, z), dimensions={{0,1}}, to_apply=sum\n}}\n"
    )


def test_sums_that_are_rounded_on_the_way_are_not_those_that_are_not() -> None:
    """A function that gives another type than it is given rounds at each step, or at none: it is not modelled."""
    assert decide(summed("bf16", "bf16"), at_once("bf16"), "real").verdict is Verdict.PROVED
    assert decide(summed("f32", "f32", "f32"), at_once("f32", "f32"), "real").verdict is Verdict.PROVED
    for other in (at_once("f32"), summed("bf16", "f32")):
        assert decide(summed("bf16", "f32"), other, "real").reason.endswith("where numbers change their precision")
