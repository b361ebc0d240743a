"""Indexing maps as text: what is read, how it is printed, and where errors point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.models.errors import InputError
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, decimal, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import parse_expr
from hloproof.models.maps.text import parse_map, print_map

CASES = Path(__file__).parents[1].parent / "shared" / "cases"

PRINTED_AS_READ = [
    "() -> ()",
    "() -> (3)",
    "(d0, d1) -> (d0 mod 2 + d1), domain: d0 in [0, 3], d1 in [-4, 4]",
    "(){r0, r1} -> (r0), domain: r0 in [1, 1], r1 in [0, 1]",
    "(th_x)[s0, vec]{gpu} -> (s0, th_x * gpu, vec), domain: th_x in [0, 3], s0 in [0, 1], vec in [0, 1], "
    "gpu in [0, 1], (th_x * gpu) mod 4 in [0, 0], th_x + s0 in [0, 45]",
    "(d0) -> (-(d0 / 144) + (d0 * 32 + 4639) / 4608), domain: d0 in [0, 9]",
    "(d0) -> (d0 - (d0 / 3) * 3 - d0 mod 2 - (d0 * 2) - (d0 + 1)), domain: d0 in [0, 9]",
    "(d0) -> (max(min(d0, 2), -3) ceildiv 2), domain: d0 in [0, 9]",
    "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 1]\nruntime variables:\n"
    "rt0: parameter(1); (d0) -> (), domain: d0 in [0, 9]",
    "(d0){rt0, rt1} -> (d0 + rt0 + rt1), domain: d0 in [0, 9], rt0 in [0, 1], rt1 in [0, 1]\nruntime variables:\n"
    "rt0: constant({1, 2}); (d0) -> (d0), domain: d0 in [0, 9]\nrt1: add.3; (d0) -> (), domain: d0 in [0, 9]",
    "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 1]\nruntime variables:\n"
    "rt0: reader; (d0) -> (), domain: d0 in [0, 9]; replica id: (d0) -> (d0 / 5, 1), domain: d0 in [0, 9]\n"
    "replica id:\n(d0){rt0} -> (d0 / 5, 1, 0), domain: d0 in [0, 9], rt0 in [0, 1]",
    "(d0) -> (d0 mod 5), domain: d0 in [0, 9]\nreplica id:\n(d0) -> (d0 / 5), domain: d0 in [0, 9]",
    "KNOWN EMPTY",
]


@pytest.mark.parametrize("text", PRINTED_AS_READ)
def test_is_printed_as_it_was_read(text: str) -> None:
    assert print_map(parse_map(text)) == text
    one_line = " ".join(text.split())
    assert parse_map(one_line) == parse_map(text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (
            "(d0)->(d0 floordiv 2,d0 floorDiv 3,\n d0 ceilDiv 4), domain:d0 in [0,9]",
            "(d0) -> (d0 / 2, d0 / 3, d0 ceildiv 4), domain: d0 in [0, 9]",
        ),
        (
            "(d0) -> (2 * d0, d0 + -1, d0 + -2 * d0), domain: d0 in [0, 9]",
            "(d0) -> (d0 * 2, d0 - 1, d0 - d0 * 2), domain: d0 in [0, 9]",
        ),
        ("(d0) -> (d0), domain: d0 in [1, 0]", "KNOWN EMPTY"),
        ("(d0) -> (d0), domain: d0 in [0, 9], 0 in [10, 15]", "KNOWN EMPTY"),
        ("(d0) -> (min(d0, 1, 2)), domain: d0 in [0, 9],", "(d0) -> (min(min(d0, 1), 2)), domain: d0 in [0, 9]"),
        (
            "(d0)[s0] -> (s0)\ndomain:\nd0 in [0, 9]\ns0 in [0, 1]\ns0 mod 2 in [0, 0]",
            "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 1], s0 mod 2 in [0, 0]",
        ),
    ],
)
def test_spellings(text: str, printed: str) -> None:
    assert print_map(parse_map(text)) == printed


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("(d0) -> (d0 + s0), domain: d0 in [0, 9]", "1:15", "declared variable"),
        ("(d0, d0) -> (d0), domain: d0 in [0, 9]", "1:6", "declared twice"),
        ("(d0) -> (d0)", "1:13", "an interval for 'd0'"),
        ("(d0) -> (d0), domain: d0 in [0, x]", "1:33", "an integer"),
        ("(d0) -> (d0 +), domain: d0 in [0, 1]", "1:14", "an expression"),
        ("(d0) ->\n  ((d0 + 1), domain: d0 in [0, 1]", "2:14", "declared variable"),
        ("(d0) -> (min(d0)), domain: d0 in [0, 1]", "1:16", "another argument"),
        ("(d0 -> (d0)", "1:5", "',' or ')'"),
        ("(d0) -> (d0 ** 2), domain: d0 in [0, 1]", "1:14", "an expression"),
        ("", "1:1", "'('"),
        ("(d0) -> (d0), domain: d0 in [0, 1] # ", "1:36", "an expression"),
        ("(d0) -> (" + "9" * 6000 + "), domain: d0 in [0, 1]", "1:10", "digits"),
        ("(" * 10_000, "1:2", "a variable name"),
        (
            "(d0){a} -> (a), domain: d0 in [0, 1], a in [0, 1]\nruntime variables:\na: ; (d0) -> (d0)",
            "3:4",
            "what is read",
        ),
        ("(d0) -> (" + "(" * 10_000 + "d0), domain: d0 in [0, 1]", "1:10013", "an operator or ')'"),
    ],
)
def test_errors_say_where_and_what_was_expected(text: str, place: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_map(text)
    assert str(raised.value).startswith(place + ":")
    assert says in raised.value.message


@pytest.mark.parametrize("shape", ["({}) + 1", "({}) mod 7", "min({}, 3)", "-({})", "1 + ({})"])
def test_ten_thousand_levels_are_read_and_printed(shape: str) -> None:
    left, right = shape.split("{}")
    e = parse_expr(left * 10_000 + "d0" + right * 10_000)
    assert parse_expr(to_text(e)) is e


def test_numbers_of_a_thousand_digits() -> None:
    big = int("7" * 1000)
    assert parse_expr(f"d0 * {big} - {big}") is Binary("+", Var("d0") * big, Const(-big))
    assert decimal(-(10**9000)) == "-1" + "0" * 9000


def _operator(sub: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    ops = st.sampled_from(["+", "*", "floordiv", "ceildiv", "mod", "min", "max"])
    return st.builds(Binary, ops, sub, sub)


LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.builds(Const, st.integers(-5, 5)), st.sampled_from([Var("d0"), Var("s0"), Var("rt0")])
)
EXPRESSIONS = st.recursive(LEAVES, _operator, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_printing_and_reading_invert_each_other(e: Expr) -> None:
    text = to_text(e)
    again = parse_expr(text)
    if to_text(again) == text:
        return
    # Only a constant factor on the left of `*` may move: reading the new text changes nothing more.
    assert parse_expr(to_text(again)) is again


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.tuples(*[st.integers(-7, 7)] * 3))
def test_reading_what_was_printed_keeps_the_value(e: Expr, at: tuple[int, int, int]) -> None:
    values = dict(zip(("d0", "s0", "rt0"), at, strict=True))
    try:
        expected = evaluate(e, values)
    except ArithmeticError:
        return
    except Exception as error:
        assert type(error).__name__ == "UndefinedValue"
        return
    assert evaluate(parse_expr(to_text(e)), values) == expected


def test_a_second_interval_of_a_variable_is_a_constraint() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 in [3, 20]")
    assert m.dims[0].interval == Interval(0, 9)
    assert m.constraints[0].interval == Interval(3, 20)


@pytest.mark.skipif(not CASES.exists(), reason="the folder of upstream cases is not beside the project")
def test_upstream_texts_are_read_and_printed_alike() -> None:
    read = 0
    for name in ("parse", "indexing_map_attrs", "simplify", "rescale", "compose", "remove_unused"):
        for line in (CASES / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            for key in ("text", "input", "expected", "first", "second"):
                text = row.get(key)
                if not isinstance(text, str) or "domain" not in text or row.get("filecheck_pattern"):
                    continue
                if row["kind"] in ("parse_error", "print_map") or not row.get("complete", True):
                    continue
                m = parse_map(text)
                assert print_map(parse_map(print_map(m))) == print_map(m)
                if row["kind"] == "indexing_map_roundtrip" and key == "expected":
                    assert print_map(m) == " ".join(text.split())
                read += 1
    assert read > 250


@pytest.mark.parametrize(
    ("attribute", "plain"),
    [
        ('#xla.indexing_map<"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]">', None),
        ("#xla_gpu.indexing_map<(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1], is_simplified: true>", None),
        ("#xla_gpu.indexing_map<(d0)[s0] -> (d0 + s0),\n domain: d0 in [0, 3], s0 in [0, 1]>", None),
        ("affine_map<(d0)[s0] -> (d0 + s0)>, domain: d0 in [0, 3], s0 in [0, 1]", None),
        ("affine_map<() -> ()>", "() -> ()"),
    ],
)
def test_a_map_may_stand_in_an_attribute_of_mlir(attribute: str, plain: str | None) -> None:
    expected = plain or "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]"
    assert print_map(parse_map(attribute)) == expected


@pytest.mark.parametrize(
    ("attribute", "column", "said"),
    [
        ('#xla.indexing_map<"(d0) -> (d0 +), domain: d0 in [0, 3]">', 33, "expected an expression"),
        ("affine_map<(d0) -> (d0 floordiv 2)>", 36, "an interval for 'd0'"),
        ("affine_map<(d0) -> (d0), domain: d0 in [0, 1]", 1, "expected '('"),
    ],
)
def test_an_error_inside_an_attribute_is_told_at_its_place(attribute: str, column: int, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")) as caught:
        parse_map(attribute)
    assert caught.value.column == column and caught.value.source_line == attribute
