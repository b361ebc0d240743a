"""What was found, held against what an entry expects of itself."""

from __future__ import annotations

import pytest
from report_sample import instruction

from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.results.expectation import met, settle
from hloproof.results.results import (
    FileResults,
    InstructionResult,
    ModuleExpectation,
    ModuleResults,
    OperationVerdicts,
    worst,
)
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


R, P, U = Verdict.REFUTED, Verdict.PROVED, Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("expected", "shared", "own", "after"),
    [
        ("refuted hazard", {"hazard-overwrite": R, "async-done": R}, {}, {"hazard-overwrite": P, "async-done": R}),
        ("refuted hazard", {"hazard-overwrite": R, "hazard-reuse": P}, {}, {"hazard-overwrite": P, "hazard-reuse": P}),
        ("refuted hazard", {"hazard-overwrite": R, "hazard-reuse": U}, {}, {"hazard-overwrite": P, "hazard-reuse": U}),
        ("refuted", {"hazard-overwrite": R, "async-done": R}, {}, {"hazard-overwrite": P, "async-done": P}),
        ("refuted", {"definition": P}, {"plan-alias": R}, {"definition": P, "plan-alias": P}),
        ("refuted hazard", {"hazard-overwrite": R}, {"plan-alias": R}, {"hazard-overwrite": P, "plan-alias": R}),
        ("unknown definition", {"definition": U, "async-done": U}, {}, {"definition": P, "async-done": U}),
    ],
)
def test_an_expectation_excuses_what_it_names_and_nothing_else(
    expected: str, shared: dict[str, Verdict], own: dict[str, Verdict], after: dict[str, Verdict]
) -> None:
    """Of one instruction, and not of an equal one of another module, with which it shares what was found."""
    of_both = OperationVerdicts(tuple(Found(v, claim=name) for name, v in shared.items()))
    results = FileResults("m.hlo", "hlo")
    for name in ("m", "other"):
        each = [Found(v, claim=claim) for claim, v in own.items()]
        one = InstructionResult("e", instruction("x", "copy", 4), of_both, each)
        results.modules.append(ModuleResults(name, [one]))
    verdict, *claims = expected.split()
    results.expected["m"] = ModuleExpectation(verdict, tuple(claims), 1)
    settle(results)
    found, other = ({c.claim: c.verdict for c in m.instructions[0].claims()} for m in results.modules)
    assert found == after and other == shared | own
    assert len(results.modules[0].instructions[0].claims()) == len(after)
    assert worst(r.verdict for r in results.others) is Verdict.PROVED


@pytest.mark.parametrize(
    ("expected", "asked_for", "told"),
    [
        ("proved definition", True, [P]),
        ("proved definition", False, [P]),
        ("proved plan-alias", True, [R]),  # nothing owes such a claim
        ("proved plan-alias", False, []),
        ("refuted definition", True, [R]),
        ("refuted definition", False, []),
        ("refuted async", False, [P]),
    ],
)
def test_what_is_told_of_an_expectation(expected: str, asked_for: bool, told: list[Verdict]) -> None:
    """Where not all that it names was asked for, no more than that it is met."""
    results = FileResults("m.hlo", "hlo")
    claims = OperationVerdicts((Found(P, claim="definition"), Found(R, claim="async-done")))
    one = InstructionResult("e", instruction("x", "copy", 4), claims, [])
    results.modules.append(ModuleResults("m", [one]))
    verdict, *named = expected.split()
    results.expected["m"] = ModuleExpectation(verdict, tuple(named), 1, asked_for)
    settle(results)
    assert [r.verdict for r in results.others] == told
