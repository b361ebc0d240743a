"""The simplifier: what it makes of upstream's own cases, and the laws that it keeps on random maps."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import parse_expr
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, rt
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.maps.variables import remove_unused_symbols, rescale_symbols
from hloproof.models.simplifier.linear import linear_of
from hloproof.models.simplifier.measure import smaller
from hloproof.models.simplifier.simplify import is_empty, simplify, simplify_expr

ROOT = Path(__file__).parents[1]
CASES = ROOT.parent / "shared" / "cases"


def simplified(text: str) -> str:
    return print_map(simplify(parse_map(text)).map)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(d0) -> ((d0 / 16) * 16 + (d0 mod 16)), domain: d0 in [0, 99]", "(d0) -> (d0), domain: d0 in [0, 99]"),
        (  # Constraints narrow one another: d0 is 2 and s0 is 1, so that s1 is at most 2.
            "(d0)[s0, s1] -> (s1 mod 3), domain: d0 in [1, 6], s0 in [0, 5], s1 in [0, 4], d0 * 3 - s1 in [4, 6], "
            "d0 - s0 * 2 in [0, 0]",
            "(d0)[s0, s1] -> (s1), domain: d0 in [1, 6], s0 in [0, 5], s1 in [0, 4], d0 * 3 - s1 in [4, 6], "
            "d0 - s0 * 2 in [0, 0]",
        ),
        (
            "(d0, d1) -> ((d0 * 100 + d1) / 100, (d0 * 100 + d1) mod 100), domain: d0 in [0, 8], d1 in [0, 99]",
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 8], d1 in [0, 99]",
        ),
        (
            "(d0, d1) -> (d0 + d1 / 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 14]",
        ),
        (
            "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) / 100, ((d0 * 100 + d1 * 10 + d2) mod 100) / 10, d2 mod 10), "
            "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        ),
        (
            "(d0, d1, d2) -> ((d0 * 16 + d1 * 4 + d2) / 8, (d0 * 16 + d1 * 4 + d2) mod 8), "
            "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) / 8, (d1 * 4 + d2) mod 8), "
            "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        ),
        (
            "(d0, d1) -> (-((d0 * -11 - d1 + 109) / 11) + 9), domain: d0 in [0, 9], d1 in [0, 10]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 10]",
        ),
        ("(d0) -> (d0 mod 42), domain: d0 in [53, 71]", "(d0) -> (d0 - 42), domain: d0 in [53, 71]"),
        (
            "()[s0] -> ((s0 / 2) / -7), domain: s0 in [0, 1233]",
            "()[s0] -> (-((s0 + 12) / 14)), domain: s0 in [0, 1233]",
        ),
        (
            "(d0) -> (((d0 / 4) mod 3) * 4 + d0 mod 4), domain: d0 in [0, 99]",
            "(d0) -> (d0 mod 12), domain: d0 in [0, 99]",
        ),
        ("(d0) -> (d0 ceildiv 4), domain: d0 in [-9, 9]", "(d0) -> ((d0 + 3) / 4), domain: d0 in [-9, 9]"),
        (
            "(d0, d1) -> (min(d0, d1 + 10), max(d0, 3) + min(d0, 3)), domain: d0 in [0, 9], d1 in [0, 3]",
            "(d0, d1) -> (d0, d0 + 3), domain: d0 in [0, 9], d1 in [0, 3]",
        ),
        ("(d0) -> (d0), domain: d0 in [0, 99], d0 / 8 in [5, 11]", "(d0) -> (d0), domain: d0 in [40, 95]"),
        (
            "(d0) -> (d0 / 4 * 4), domain: d0 in [0, 99], d0 mod 4 in [0, 0]",
            "(d0) -> (d0), domain: d0 in [0, 96], d0 mod 4 in [0, 0]",
        ),
        (
            "(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [3, 3], d0 mod 6 in [1, 1]",
            "(d0) -> (d0), domain: d0 in [7, 91], d0 mod 12 in [7, 7]",
        ),
        ("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [3, 3], d0 mod 6 in [2, 2]", "KNOWN EMPTY"),
        (
            "(d0) -> (d0), domain: d0 in [0, 50], d0 mod 7 in [0, 0], (d0 + 1) mod 11 in [0, 0], d0 mod 5 in [3, 3]",
            "KNOWN EMPTY",
        ),
        (
            "(d0)[s0] -> (d0), domain: d0 in [0, 99], s0 in [-99, 99], s0 / -3 in [-11, -5]",
            "(d0)[s0] -> (d0), domain: d0 in [0, 99], s0 in [13, 33]",
        ),
        (
            "(d0) -> (((d0 / 3) mod 2) * 2 + ((d0 / 6) mod 3) * 4), domain: d0 in [0, 40]",
            "(d0) -> (((d0 / 3) mod 6) * 2), domain: d0 in [0, 40]",
        ),
        (
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 / 2 + d1 in [1, 3]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 * 2 in [2, 7]",
        ),
        (
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d1 - d0 / 2 in [1, 3]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 * 2 in [-6, -1]",
        ),
        (
            "(d0){rt0} -> ((d0 + rt0 * 8) mod 8, d0 / rt0), domain: d0 in [0, 7], rt0 in [1, 4]",
            "(d0){rt0} -> (d0, d0 / rt0), domain: d0 in [0, 7], rt0 in [1, 4]",
        ),
    ],
)
def test_becomes(before: str, after: str) -> None:
    assert simplified(before) == after
    assert simplified(after) == after


def test_rescaled_symbols() -> None:
    m = parse_map("(d0)[s0] -> (d0, s0 / 6), domain: d0 in [0, 3], s0 in [1, 20], s0 mod 6 in [3, 3]")
    assert print_map(simplify(rescale_symbols(m)).map) == "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 2]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "(d0)[s0, s1] -> (d0 + s1), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 2], s0 mod 2 in [0, 0]",
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 2]",
        ),
        (
            "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 5], d0 + s0 in [0, 4]",
            "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 5], d0 + s0 in [0, 4]",
        ),
        (
            "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [1, 5], s0 mod 7 in [0, 0]",
            "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [1, 5], s0 mod 7 in [0, 0]",
        ),
        # What is read at run time is not chosen: a constraint on it stays, and the range variables in it.
        (
            "(d0){rt0, rt1} -> (d0), domain: d0 in [0, 3], rt0 in [0, 2], rt1 in [0, 1], rt0 mod 2 in [0, 0]",
            "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 2], rt0 mod 2 in [0, 0]",
        ),
        (
            "(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 5], rt0 in [0, 2], s0 + rt0 in [1, 1]",
            "(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 5], rt0 in [0, 2], s0 + rt0 in [1, 1]",
        ),
    ],
)
def test_unused_symbols_go_where_the_relation_stays(before: str, after: str) -> None:
    assert print_map(remove_unused_symbols(parse_map(before))) == after


def test_derivation_names_the_rules_in_order() -> None:
    steps = simplify(parse_map("(d0, d1) -> (((d0 / 3) * 3 + d1 / 2) / 6), domain: d0 in [0, 11], d1 in [0, 5]"))
    assert [s.rule for s in steps.derivation] == ["nested-floordiv", "floordiv-common-factor"]
    assert str(steps.derivation[0]) == "nested-floordiv: (d0 / 3) / 2 => d0 / 6"


@pytest.mark.parametrize("shape", ["({}) / 2", "({}) mod 7 + 1", "min({}, s0) + d0", "(({}) * 3 + d0) / 2", "-({})"])
def test_deep_expressions_end(shape: str) -> None:
    left, right = shape.split("{}")
    e = parse_expr(left * 2_000 + "d0" + right * 2_000)
    after = simplify_expr(e, {"d0": Interval(0, 10**6), "s0": Interval(-5, 5)})
    assert not smaller(linear_of(e), linear_of(after))


def test_numbers_of_a_thousand_digits() -> None:
    n = "7" * 1000
    assert simplified(f"(d0) -> ((d0 * {n} + 1) / {n}), domain: d0 in [0, {n}]").startswith("(d0) -> (d0)")


# --- laws --------------------------------------------------------------------------------------------------------

NAMES = ("d0", "d1", "s0")
DIVISORS = st.sampled_from([1, 2, 2, 3, 4, 4, 5, 6, 8, 12, -1, -2, -3])


def _extended(sub: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(lambda x, y: Binary("+", x, y), sub, sub),
        st.builds(lambda x, y: Binary("+", x, y), sub, sub),
        st.builds(lambda x, c: Binary("*", x, Const(c)), sub, st.sampled_from([-3, -2, -1, 2, 3, 4, 6, 12])),
        st.builds(
            lambda op, x, d: Binary(op, x, Const(d)), st.sampled_from(["floordiv", "mod", "ceildiv"]), sub, DIVISORS
        ),
        st.builds(lambda op, x, d: Binary(op, x, Const(d)), st.sampled_from(["floordiv", "mod"]), sub, DIVISORS),
        st.builds(lambda op, x, y: Binary(op, x, y), st.sampled_from(["min", "max", "*"]), sub, sub),
    )


LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.sampled_from([Var(n) for n in NAMES]),
    st.sampled_from([Var(n) for n in NAMES]),
    st.builds(Const, st.integers(-9, 9)),
)
EXPRESSIONS = st.recursive(LEAVES, _extended, max_leaves=10)
INTERVALS = st.builds(lambda low, n: Interval(low, low + n), st.integers(-4, 3), st.sampled_from([0, 1, 3, 4, 7]))
CONSTRAINTS = st.lists(
    st.builds(
        lambda e, low, n: Constraint(e, Interval(low, low + n)),
        EXPRESSIONS,
        st.integers(-5, 5),
        st.sampled_from([0, 0, 1, 3, 9]),
    ),
    max_size=3,
)
MAPS = st.builds(
    lambda i, j, k, results, constraints: IndexingMap(
        (Variable(i), Variable(j)), tuple(results), (Variable(k),), (), tuple(constraints)
    ),
    INTERVALS,
    INTERVALS,
    INTERVALS,
    st.lists(EXPRESSIONS, min_size=1, max_size=2),
    CONSTRAINTS,
)


def meaning(m: IndexingMap) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every point of the domain with the results there."""
    out = []
    names = [n for n, _ in m.intervals()]
    for point in itertools.product(*(range(i.lower, i.upper + 1) for _, i in m.intervals())):
        values = dict(zip(names, point, strict=True))
        if all(evaluate(c.expr, values) in c.interval for c in m.constraints):
            out.append((point, tuple(evaluate(e, values) for e in m.results)))
    return out


def weight(m: IndexingMap) -> int:
    return len(re.findall(r"/|mod|ceildiv|min|max", print_map(m)))


@settings(max_examples=250, deadline=None)
@given(MAPS)
def test_means_the_same_is_stable_and_no_larger(m: IndexingMap) -> None:
    try:
        before = meaning(m)
    except UndefinedValue:
        return
    after = simplify(m).map
    assert meaning(after) == before
    assert simplify(after).map == after
    assert len(after.constraints) <= len(m.constraints)
    assert len(after.ranges) == len(m.ranges)
    assert weight(after) <= weight(m)
    assert (print_map(after) == "KNOWN EMPTY") == (not before)
    assert is_empty(m) in (None, not before)


def _turned(e: Expr) -> Expr:
    """The same expression with the operands of sums, min and max exchanged."""
    if not isinstance(e, Binary):
        return e
    lhs, rhs = _turned(e.lhs), _turned(e.rhs)
    return Binary(e.op, rhs, lhs) if e.op in ("+", "*", "min", "max") else Binary(e.op, lhs, rhs)


@settings(max_examples=150, deadline=None)
@given(MAPS)
def test_the_order_of_terms_and_constraints_does_not_matter(m: IndexingMap) -> None:
    turned = IndexingMap(
        m.dims,
        tuple(_turned(e) for e in m.results),
        m.ranges,
        (),
        tuple(Constraint(_turned(c.expr), c.interval) for c in reversed(m.constraints)),
    )
    assert simplify(turned).map == simplify(m).map


@settings(max_examples=60, deadline=None)
@given(MAPS)
def test_rescaling_and_leaving_out_keep_the_relation(m: IndexingMap) -> None:
    def relation(m: IndexingMap) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        return {(point[: len(m.dims)], results) for point, results in meaning(m)}

    try:
        before = relation(m)
    except UndefinedValue:
        return
    assert relation(rescale_symbols(m)) == before
    assert len(meaning(rescale_symbols(m))) == len(meaning(m))
    assert relation(remove_unused_symbols(m)) == before


@pytest.mark.parametrize("seed", ["1", "2"])
def test_hash_order_does_not_matter(seed: str) -> None:
    program = (
        "from hloproof.models.maps.text import parse_map, print_map;"
        "from hloproof.models.simplifier.simplify import simplify;"
        "print(print_map(simplify(parse_map('(d0, d1)[s0] -> ((d0 * 7 + d1 * 5 + s0) mod 12 + min(d0, s0) / 3 + "
        "(s0 / 2 + d1 / 3) / 5), domain: d0 in [0, 40], d1 in [-9, 30], s0 in [0, 9], d0 + d1 in [0, 20], "
        "(d0 + s0) mod 3 in [0, 1]')).map))"
    )
    text = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
    assert text.startswith("(d0, d1)[s0] -> (")
    assert text.strip() == simplified(text)


@pytest.mark.skipif(not CASES.exists(), reason="the folder of upstream cases is not beside the project")
def test_as_simple_as_upstream_on_its_own_cases() -> None:
    for line in (CASES / "simplify.jsonl").read_text().splitlines():
        row = json.loads(line)
        after = simplify(parse_map(row["input"])).map
        assert weight(after) <= weight(parse_map(row["expected"])), row["id"]


CLAMPED = """(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 5], rt0 + 1 in [3, 4]
runtime variables: rt0: parameter(1); (d0) -> (), domain: d0 in [0, 2]"""


def test_the_interval_of_a_runtime_variable_with_a_provider_stays_because_it_clamps() -> None:
    m = parse_map(CLAMPED)
    after = simplify(m).map
    assert after.runtime[0].interval == m.runtime[0].interval
    assert [(str(c.expr), c.interval) for c in after.constraints] == [(str(rt(0)), Interval(2, 3))]
    assert simplify(after).map == after
    without = simplify(parse_map(CLAMPED.partition("runtime")[0])).map
    assert without.runtime[0].interval == Interval(2, 3) and not without.constraints
