"""What was found, held against what an entry expects of itself."""

from __future__ import annotations

import pytest

from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.results.expectation import met
from hloproof.results.verdict import Found, Verdict
from hloproof.tensor_rules.judge import check_tensor_rule

EXPECTED_TO_BE_REFUTED = {
    Verdict.PROVED: Verdict.REFUTED,
    Verdict.REFUTED: Verdict.PROVED,
    Verdict.UNKNOWN: Verdict.UNKNOWN,
    Verdict.VACUOUS: Verdict.VACUOUS,
    Verdict.TRIVIAL: Verdict.TRIVIAL,
    Verdict.INTERNAL: Verdict.INTERNAL,
}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_a_refutation_meets_that_one_is_expected(verdict: Verdict) -> None:
    found = Found(verdict, counterexample="d0 = 1" if verdict is Verdict.REFUTED else None, reason="why")
    assert met("refuted", found).verdict is EXPECTED_TO_BE_REFUTED[verdict]
    for expected in ("proved", None):
        assert met(expected, found) == found


@pytest.mark.parametrize(("right", "verdict"), [("negate(A)", Verdict.TRIVIAL), ("subtract(0, A)", Verdict.PROVED)])
def test_a_tensor_rule_that_says_nothing_is_trivial(right: str, verdict: Verdict) -> None:
    (rule,) = parse_tensor_rules(f"rule a\n  A: [n]\n  negate(A) => {right}\n")
    assert check_tensor_rule(rule).verdict is verdict
