"""Layout specs judged: every clause, and what every layout owes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter

from hloproof.claims.layouts.claims import ClaimedLayout, claims
from hloproof.claims.layouts.clauses import judge_clauses
from hloproof.claims.layouts.formats import format_claims, is_format
from hloproof.claims.layouts.judge import judge, named
from hloproof.engines.door import HOW, How, Prove, prove_one
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.specs.layouts import LayoutSpec
from hloproof.results.expectation import met, met_problem
from hloproof.results.results import worst
from hloproof.results.verdict import ClaimResult, Found, Verdict


def check_layout(spec: LayoutSpec, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one layout. An expectation that is met counts as proved; one that is not, as refuted."""
    started = perf_counter()
    found = met_problem(spec.problem) if spec.expect == "error" else met(spec.expect, _judged(spec, how))
    return ClaimResult(
        f"{file}#{spec.name}",
        "layout",
        file,
        "",
        spec.line,
        spec.column,
        spec.name,
        replace(found, claim="layout", ms=(perf_counter() - started) * 1e3),
    )


def _judged(spec: LayoutSpec, how: How) -> Found:
    assert spec.shape is not None
    prove = partial(prove_one, how=how)
    found = [*judge_clauses(spec, spec.shape, prove), *_owed(spec.shape, prove)]
    verdict = worst(f.verdict for f in found)
    engines = tuple(sorted({e for f in found for e in f.engines}))
    told = next((f for f in found if f.verdict is verdict), None)
    if verdict is Verdict.PROVED or told is None:
        return Found(verdict, engines)
    return Found(verdict, engines, told.counterexample, told.reason)


def _owed(shape: ArrayShape, prove: Prove) -> list[Found]:
    """What every layout owes, whatever the entry says of it."""
    try:
        owed = format_claims(shape) if is_format(shape) else claims(ClaimedLayout.by_formula(shape))
        judged = judge(owed, prove)
    except NotModelled as error:
        return [Found(Verdict.UNKNOWN, reason=f"not modelled: {error}")]
    return list(named(judged))
