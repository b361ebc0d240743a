"""The verdict on a tensor rule: proved for every size, or refuted by two small modules that the executable path tells
apart."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from hloproof.engines.door import HOW, How
from hloproof.models.errors import InputError
from hloproof.models.tensor_rules.rule import TensorRule
from hloproof.results.expectation import met
from hloproof.results.verdict import ClaimResult, Found, Verdict, not_needed
from hloproof.tensor_rules.certificate import write
from hloproof.tensor_rules.instances import Difference, IllFormed, instances, refuted_by
from hloproof.tensor_rules.prove import RuleProof, prove_rule

_BESIDE = 12
"""Instances that are run beside every proof: one that differs shows that the proof is wrong."""


def check_tensor_rule(rule: TensorRule, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one rule. Where the file expects a refutation, a refutation counts as proved.

    Raises InputError, with line and column, for a rule that is not well formed whatever the sizes.
    """
    return judged(rule, file, how)[0]


def judged(rule: TensorRule, file: str = "", how: How = HOW) -> tuple[ClaimResult, RuleProof]:
    """The verdict with what the prover found. Raises InputError as `check_tensor_rule` does."""
    start = perf_counter()
    proof = prove_rule(rule, how=how)
    if proof.proved and not proof.applies and next(instances(rule, 0, 1), None) is None:
        proof = replace(
            proof, proved=False, open="no sizes were found that meet the conditions, nor shown not to exist"
        )
    differs = None if proof.vacuous else refuted_by(rule, count=_BESIDE if proof.proved else 60)
    if proof.proved and differs is None and how.certify is not None:
        write(rule, proof, how.certify)
    found = met(rule.expect, _found(proof, differs, rule.left == rule.right))
    result = ClaimResult(
        id=f"{file}#{rule.name}",
        kind="rule",
        file=file,
        module="",
        line=rule.line,
        column=rule.column,
        instruction=rule.name,
        found=replace(
            found,
            engines=proof.engines,
            assumptions=assumptions(proof),
            claim="tensor-rule",
            ms=(perf_counter() - start) * 1000,
        ),
    )
    return result, proof


def _found(proof: RuleProof, differs: Difference | IllFormed | None, trivial: bool) -> Found:
    if proof.vacuous:
        return Found(Verdict.VACUOUS, reason=proof.open)
    if trivial:
        return Found(Verdict.TRIVIAL, reason="both sides are written the same")
    if proof.proved and differs is not None:
        return Found(Verdict.INTERNAL, reason=f"proved, and yet: {differs.words()}")
    if differs is not None:
        return Found(Verdict.REFUTED, counterexample=differs.words())
    if not proof.proved:
        return Found(Verdict.UNKNOWN, reason=proof.open)
    if proof.not_needed:
        return Found(Verdict.PROVED, reason=not_needed(proof.not_needed))
    return Found(Verdict.PROVED)


def assumptions(proof: RuleProof) -> tuple[str, ...]:
    """What a proof takes for granted, for the reader."""
    if not proof.proved:
        return ()
    out = ["index arithmetic does not overflow"]
    if proof.tier == "real":
        out.append("tier real: arithmetic of integers without bounds or of real numbers")
    if len(proof.ranks) > 1:
        out.append(
            f"groups k... of {proof.ranks[0]} to {proof.ranks[-1]} dimensions were tried; more are treated alike"
        )
    return tuple(out)


def instance_texts(rule: TensorRule) -> tuple[str, str] | None:
    """The two modules of a refutation; None where none was found. For whoever wants to see them or run them."""
    differs = refuted_by(rule)
    return None if not isinstance(differs, Difference) else (differs.instance.left, differs.instance.right)


__all__ = ["InputError", "check_tensor_rule", "instance_texts"]
