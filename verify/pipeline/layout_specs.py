"""Layout specs judged: every clause, and what every layout owes."""

from __future__ import annotations

from functools import partial
from time import perf_counter

from hloproof.claims.layouts.claims import ClaimedLayout, claims
from hloproof.claims.layouts.clauses import Finding, judge_clauses
from hloproof.claims.layouts.formats import format_claims, is_format
from hloproof.claims.layouts.judge import Prove, judge
from hloproof.engines.door import HOW, How, prove_one
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.specs.layouts import LayoutSpec, parse_layouts
from hloproof.results.results import worst
from hloproof.results.verdict import ClaimResult, Verdict


def check_layouts_text(text: str, file: str, how: How = HOW) -> list[ClaimResult]:
    """The verdicts on all layouts of a text, one record each. Raises InputError."""
    return [check_layout(spec, file, how) for spec in parse_layouts(text, file)]


def check_layout(spec: LayoutSpec, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one layout. An expectation that is met counts as proved; one that is not, as refuted."""
    started = perf_counter()
    verdict, engines, counterexample, reason = _judged(spec, how)
    if spec.expect == "refuted" and verdict is Verdict.REFUTED:
        verdict, counterexample, reason = Verdict.PROVED, None, f"refuted, as expected: {counterexample}"
    elif spec.expect == "refuted" and verdict is Verdict.PROVED:
        verdict, counterexample = Verdict.REFUTED, "expected to be refuted, and all of it holds"
    return ClaimResult(
        f"{file}#{spec.name}",
        "layout",
        file,
        "",
        spec.line,
        spec.column,
        spec.name,
        "layout",
        verdict,
        engines,
        (perf_counter() - started) * 1e3,
        counterexample,
        reason,
    )


def _judged(spec: LayoutSpec, how: How) -> tuple[Verdict, tuple[str, ...], str | None, str | None]:
    if spec.expect == "error":
        if spec.problem is not None:
            return Verdict.PROVED, (), None, f"an error, as expected: {spec.problem.message}"
        return Verdict.REFUTED, (), "expected to be an error, and it can be read", None
    assert spec.shape is not None
    prove = partial(prove_one, how=how)
    found = [*judge_clauses(spec, spec.shape, prove), *_owed(spec.shape, prove)]
    verdict = worst(f.verdict for f in found)
    engines = tuple(sorted({e for f in found for e in f.engines}))
    told = next((f for f in found if f.verdict is verdict), None)
    if verdict is Verdict.PROVED or told is None:
        return verdict, engines, None, None
    return verdict, engines, told.counterexample, told.reason


def _owed(shape: ArrayShape, prove: Prove) -> list[Finding]:
    """What every layout owes, whatever the entry says of it."""
    try:
        owed = format_claims(shape) if is_format(shape) else claims(ClaimedLayout.by_formula(shape))
        judged = judge(owed, prove)
    except NotModelled as error:
        return [Finding("shape", Verdict.UNKNOWN, reason=f"not modelled: {error}")]
    return [
        Finding("shape", j.verdict, j.engines, j.counterexample and f"{j.claim}: {j.counterexample}", j.reason)
        for j in judged
    ]
