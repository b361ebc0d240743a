"""The one door: two modules in, an answer out."""

from __future__ import annotations

from hloproof.equivalence.answer import Certificate, Result, Tier
from hloproof.equivalence.boundary import check_boundary
from hloproof.models.hlo.module import Module
from hloproof.results.verdict import Verdict


def decide(before: Module, after: Module, tier: Tier = "rounding", budget_seconds: float = 10.0) -> Result:
    """Whether the entries of both modules give equal results for all inputs, with identities of `tier` or stronger.

    `proved` means that the checker accepted the certificate. Never refutes. Raises InputError when the parameters or
    results of the two differ in number, types or nesting.
    """
    check_boundary(before, after)
    return Result(Verdict.UNKNOWN, "not matched")


def recheck(before: Module, after: Module, certificate: Certificate) -> Result:
    """The checker alone on a certificate that was written before. Raises InputError as `decide` does."""
    check_boundary(before, after)
    return Result(Verdict.UNKNOWN, "the certificate was not accepted")
