"""The verdict on a tensor rule: proved for every size, or refuted by two small modules that the executable path tells
apart."""

from __future__ import annotations

from time import perf_counter

from hloproof.engines.door import HOW, How
from hloproof.models.errors import InputError
from hloproof.models.tensor_rules.rule import TensorRule
from hloproof.results.verdict import ClaimResult, Verdict
from hloproof.tensor_rules.instances import Difference, refuted_by
from hloproof.tensor_rules.prove import Proof, prove_rule

_BESIDE = 12
"""Instances that are run beside every proof: one that differs shows that the proof is wrong."""


def check_tensor_rule(rule: TensorRule, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one rule. Where the file expects a refutation, a refutation counts as proved.

    Raises InputError, with line and column, for a rule that is not well formed whatever the sizes.
    """
    start = perf_counter()
    proof = prove_rule(rule, how=how)
    differs = refuted_by(rule, count=_BESIDE if proof.proved else 60)
    verdict, reason, counterexample = _verdict(proof, differs)
    if rule.expect == "refuted":
        if verdict is Verdict.REFUTED:
            verdict, reason, counterexample = Verdict.PROVED, f"refuted, as expected: {counterexample}", None
        elif verdict is Verdict.PROVED:
            verdict, reason = Verdict.REFUTED, "expected to be refuted, and proved"
    return ClaimResult(
        id=f"{file}#{rule.name}",
        kind="rule",
        file=file,
        module="",
        line=rule.line,
        column=rule.column,
        instruction=rule.name,
        claim="tensor-rule",
        verdict=verdict,
        engines=proof.engines,
        ms=(perf_counter() - start) * 1000,
        counterexample=counterexample,
        reason=reason,
        assumptions=assumptions(proof),
    )


def _verdict(proof: Proof, differs: Difference | None) -> tuple[Verdict, str | None, str | None]:
    if proof.vacuous:
        return Verdict.VACUOUS, proof.open, None
    if proof.proved and differs is not None:
        return Verdict.INTERNAL, f"proved, and yet: {differs.words()}", None
    if differs is not None:
        return Verdict.REFUTED, None, differs.words()
    if not proof.proved:
        return Verdict.UNKNOWN, proof.open, None
    if proof.not_needed:
        return Verdict.PROVED, f"not needed: {'; '.join(proof.not_needed)}", None
    return Verdict.PROVED, None, None


def assumptions(proof: Proof) -> tuple[str, ...]:
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
    return None if differs is None else (differs.instance.left, differs.instance.right)


__all__ = ["InputError", "check_tensor_rule", "instance_texts"]
