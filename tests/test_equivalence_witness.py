"""A proof over the real numbers stands where a run on small numbers finds that none is lost."""

from __future__ import annotations

import pytest
from red_pairs import entry

from hloproof.equivalence import decide
from hloproof.equivalence.refuting.witness import where_a_number_is_lost
from hloproof.models.hlo.parser import parse_module
from hloproof.queries.equivalence import compare


def quotient(number: str, as_product: bool, kind: str = "f32") -> str:
    """x divided by a number or by 1, as an input chooses, in words or times a reciprocal."""
    last = (f"i = {kind}[4] divide(one, s)", f"ROOT r = {kind}[4] multiply(x, i)")
    return entry(
        f"x = {kind}[4] parameter(0)",
        "p = pred[4] parameter(1)",
        f"c = {kind}[] constant({number})",
        f"low = {kind}[4] broadcast(c), dimensions={{}}",
        f"o = {kind}[] constant(1)",
        f"one = {kind}[4] broadcast(o), dimensions={{}}",
        f"s = {kind}[4] select(p, low, one)",
        *(last if as_product else (f"ROOT r = {kind}[4] divide(x, s)",)),
    )


def inverse_root(of: str) -> str:
    lines = f"c = f32[] constant({of})", "y = f32[] rsqrt(c)", "ROOT r = f32[] add(x, y)"
    return entry("x = f32[] parameter(0)", *lines)


LOST = (quotient("1e-40", False), quotient("1e-40", True))
KEPT = (quotient("1e-30", False), quotient("1e-30", True))


@pytest.mark.parametrize("tier", ["real", "rounding"])
def test_a_number_that_is_lost_is_unknown(tier: str) -> None:
    """1 divided by 1e-40 is too large, and 0 times an infinity is no number. Over the reals the two are equal, so the
    prover says what it should."""
    before, after = map(parse_module, LOST)
    assert decide(before, after, tier, 5.0).verdict == "proved"  # type: ignore[arg-type]
    answer = compare(before, after, tier)  # type: ignore[arg-type]
    assert answer.verdict == "unknown" and answer.certificate is None
    assert "0 before and nan after for some small inputs" in answer.reason


@pytest.mark.parametrize("tier", ["real", "rounding"])
def test_a_number_that_has_a_reciprocal_is_proved(tier: str) -> None:
    before, after = map(parse_module, KEPT)
    answer = compare(before, after, tier)  # type: ignore[arg-type]
    assert answer.verdict == "proved" and ("reciprocal", "real") in answer.axioms


def test_what_has_no_value_before_may_be_anything_after() -> None:
    before, after = map(parse_module, LOST)
    assert where_a_number_is_lost(after, before, 5.0) == ""
    before, after = parse_module(inverse_root("-1")), parse_module(inverse_root("1"))
    assert where_a_number_is_lost(before, after, 5.0) == ""
    told = where_a_number_is_lost(after, before, 5.0)
    assert told.startswith("element [] is ") and told.endswith(" before and nan after for some small inputs")


def test_the_part_of_a_tuple_is_named() -> None:
    added = "\n  ROOT t = (f32[4], f32[4]) tuple(x, r)\n}\n"
    first, second = (parse_module(text.replace("ROOT r", "r").removesuffix("\n}\n") + added) for text in LOST)
    assert where_a_number_is_lost(first, second, 5.0).startswith("element [0] of result 1 is 0 before")


def test_what_cannot_be_run_in_the_time_says_nothing() -> None:
    before, after = map(parse_module, LOST)
    assert where_a_number_is_lost(before, after, -1.0) == ""
    outside = "p = pred[4] parameter(1)", 'p = pred[4] custom-call(x), custom_call_target="chosen"'
    before, after = (parse_module(text.replace(*outside)) for text in LOST)
    assert where_a_number_is_lost(before, after, 5.0) == ""
