"""Folds that are cut, repeated, distributed or over nothing, as modules; wrong neighbours are not proved."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules.instances import instance

BOTH = "A: [n]  B: [m]\n  "
RIGHT = {
    "a sum is cut": (BOTH + "reduce(concatenate(A, B, dim=0), dims=[0], op=add) => "
    "add(reduce(A, dims=[0], op=add), reduce(B, dims=[0], op=add))", {"n": 21, "m": 34}),
    "a maximum is cut": (BOTH + "reduce(concatenate(A, B, dim=0), dims=[0], op=maximum) => "
    "maximum(reduce(A, dims=[0], op=maximum), reduce(B, dims=[0], op=maximum))", {"n": 21, "m": 34}),
    "zeros are left out": ("A: [n]\n  reduce(pad(A, 0, low=[3], high=[40]), dims=[0], op=add) => "
    "reduce(A, dims=[0], op=add)", {"n": 30}),
    "a maximum of one": ("A: [k]\n  reduce(broadcast(A, shape=[n, k], dims=[1]), dims=[0], op=maximum) => A",
    {"n": 30, "k": 5}),
    "a sum of products of sums": ("A: [n, k]  B: [k, m]  C: [m, p]\n  "
    "dot(A, dot(B, C, lhs_contract=[1], rhs_contract=[0]), lhs_contract=[1], rhs_contract=[0]) => "
    "dot(dot(A, B, lhs_contract=[1], rhs_contract=[0]), C, lhs_contract=[1], rhs_contract=[0])",
    {"n": 3, "k": 5, "m": 7, "p": 4}),
    "a product over nothing": ("A: [n, k]  B: [k, m]\n  dot(A, B, lhs_contract=[1], rhs_contract=[0]) => "
    "broadcast(0, shape=[n, m], dims=[])", {"n": 3, "k": 0, "m": 2}),
    "a fold over nothing is its beginning": ("A: [n]  v: []\n  reduce(A, v, dims=[0], op=maximum) => v", {"n": 0}),
    "what an update leaves": ("A: [n]  B: [w]\n  add(A, dynamic-update-slice(broadcast(0, shape=[n], dims=[]), B, "
    "start=[2])) => dynamic-update-slice(A, add(dynamic-slice(A, start=[2], size=[w]), B), start=[2])",
    {"n": 9, "w": 3}),
}  # fmt: skip
WRONG = {
    "what a sum begins with counts twice": (BOTH + "reduce(concatenate(A, B, dim=0), 1, dims=[0], op=add) => "
    "add(reduce(A, 1, dims=[0], op=add), reduce(B, 1, dims=[0], op=add))", {"n": 21, "m": 34}),
    "a part is left out": (BOTH + "reduce(concatenate(A, B, dim=0), dims=[0], op=add) => reduce(A, dims=[0], op=add)",
    {"n": 21, "m": 34}),
    "zeros are seen by a maximum": ("A: [n]\n  reduce(pad(A, 0, low=[3], high=[40]), dims=[0], op=maximum) => "
    "reduce(A, dims=[0], op=maximum)", {"n": 30}),
    "a sum of one": ("A: [k]\n  reduce(broadcast(A, shape=[n, k], dims=[1]), dims=[0], op=add) => A",
    {"n": 30, "k": 5}),
    "a bound is seen": ("A: [k]\n  reduce(broadcast(A, shape=[n, k], dims=[1]), 5, dims=[0], op=maximum) => A",
    {"n": 30, "k": 5}),
    "a maximum of products": ("A: [n]  c: []\n  multiply(c, reduce(A, dims=[0], op=maximum)) => "
    "reduce(multiply(broadcast(c, shape=[n], dims=[]), A), dims=[0], op=maximum)", {"n": 30}),
    "factors in another order": ("A: [n, n]  B: [n, n]  C: [n, n]\n  "
    "dot(A, dot(B, C, lhs_contract=[1], rhs_contract=[0]), lhs_contract=[1], rhs_contract=[0]) => "
    "dot(dot(B, A, lhs_contract=[1], rhs_contract=[0]), C, lhs_contract=[1], rhs_contract=[0])", {"n": 3}),
    "a product over nothing is no 1": ("A: [n, k]  B: [k, m]\n  dot(A, B, lhs_contract=[1], rhs_contract=[0]) => "
    "broadcast(1, shape=[n, m], dims=[])", {"n": 3, "k": 0, "m": 2}),
    "a fold over nothing is not neutral": ("A: [n]  v: []\n  reduce(A, v, dims=[0], op=add) => 0", {"n": 0}),
}  # fmt: skip


def verdict(body: str, values: dict[str, int], kind: str, tier: str) -> str:
    (rule,) = parse_tensor_rules(f"rule r\n  {body}\n")
    found = instance(rule, 0, values, kind)
    answer = decide(parse_module(found.left), parse_module(found.right), tier, 10.0)  # type: ignore[arg-type]
    return str(answer.verdict)


@pytest.mark.parametrize("name", RIGHT)
def test_integers_are_folded_exactly_in_any_order(name: str) -> None:
    assert verdict(*RIGHT[name], "s32", "exact") == "proved"


@pytest.mark.parametrize("name", ["a sum is cut", "zeros are left out", "a sum of products of sums"])
def test_sums_of_floats_are_taken_apart_over_real_numbers_only(name: str) -> None:
    assert verdict(*RIGHT[name], "f32", "real") == "proved"
    assert verdict(*RIGHT[name], "f32", "exact") in ("unknown", "refuted")


@pytest.mark.parametrize("kind", ["s32", "f32"])
@pytest.mark.parametrize("name", WRONG)
def test_what_differs_is_not_proved(name: str, kind: str) -> None:
    assert verdict(*WRONG[name], kind, "rounding") in ("unknown", "refuted")


OF_ONE = """f {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT r = {0}[] {1}(a, b)
}}

ENTRY e {{
  p = {0}[1] parameter(0)
  n = {0}[] constant({2})
  ROOT r = {0}[] {3}
}}
"""
FROM = [
    ("f32", "add", "-0.0", "exact"),
    ("f32", "add", "0", "real"),
    ("f32", "multiply", "1", "exact"),
    ("c64", "add", "(-0.0, -0.0)", "exact"),
    ("c64", "add", "(-0.0, 0)", "real"),
    ("c64", "multiply", "(1, 0)", "real"),
    ("f8e4m3fnuz", "add", "0", "exact"),
]


@pytest.mark.parametrize(("kind", "op", "start", "tier"), FROM)
def test_what_a_fold_of_one_element_begins_with_is_seen_in_zeros_and_infinities(
    kind: str, op: str, start: str, tier: str
) -> None:
    """0 + -0.0 is 0, in each part of a complex number; and 1 times an infinite complex number multiplies that by 0."""
    before, after = (
        parse_module("HloModule m\n\n" + OF_ONE.format(kind, op, start, of))
        for of in ("reduce(p, n), dimensions={0}, to_apply=f", "reshape(p)")
    )
    assert decide(before, after, "real").verdict == "proved"
    assert (decide(before, after, "exact").verdict == "proved") == (tier == "exact")
