"""Expectations written into HLO files: `// expect: refuted async-chain` before a module of a file.

A module that is expected to be refuted passes when the named claim (any, when none is named) is refuted for some
instruction of it; the refutation then counts as proved, with its counterexample as the reason. Every other claim counts
as it is. `// expect: error` is met by text that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hloproof.models.errors import InputError
from hloproof.results.errors import BadInput
from hloproof.results.results import (
    ClaimVerdict,
    Expectation,
    FileResults,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    worst,
)
from hloproof.results.verdict import ClaimResult, Found, Verdict

_EXPECT: Final = re.compile(r"^[ \t]*//[ \t]*expect:[ \t]*(\S*)[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^// -----.*$", re.MULTILINE)
_CLAIM: Final = "expectation"


def met(expected: str | None, found: Found) -> Found:
    """What was found, held against what an entry expects of itself: a refutation that is expected counts as proved, a
    proof where a refutation is expected as refuted. Everything else counts as it is."""
    if expected != "refuted":
        return found
    if found.verdict is Verdict.REFUTED:
        told = _as_expected(found.verdict, found.counterexample, found.reason)
        return replace(found, verdict=Verdict.PROVED, counterexample=None, reason=told)
    if found.verdict is Verdict.PROVED:
        return replace(found, verdict=Verdict.REFUTED, counterexample="expected to be refuted, and all of it holds")
    return found


def _as_expected(what: str, *why: str | None) -> str:
    """The words for whatever counts as proved because it was expected."""
    return f"{what}, as expected: {'; '.join(filter(None, why))}"


def met_problem(problem: InputError | None) -> Found:
    """What an entry is found to be that expects an error in itself."""
    if problem is None:
        return Found(Verdict.REFUTED, counterexample="expected to be an error, and it can be read")
    return Found(Verdict.PROVED, reason=_as_expected("an error", problem.message))


def expects(text: str) -> bool:
    """The text says what is expected of it."""
    return _EXPECT.search(text) is not None


def sections(text: str, file: str) -> Iterator[tuple[str, Expectation | None]]:
    """The parts of a file between separators, each with empty lines before it, so that lines keep their numbers, and
    what it is expected to be. Raises BadInput for an expectation that is none."""
    start = 0
    for end in (*(m.start() for m in _SEPARATOR.finditer(text)), len(text)):
        part = text[start:end]
        before = text.count("\n", 0, start)
        found = _EXPECT.search(part)
        expectation = None
        if found is not None:
            line = before + part.count("\n", 0, found.start()) + 1
            if found[1] not in ("proved", "refuted", "unknown", "error"):
                raise BadInput(f"{file}:{line}: expect: proved, refuted, unknown or error, not {found[1]!r}")
            expectation = Expectation(found[1], tuple(found[2].split()), line)
        yield "\n" * before + part, expectation
        start = end


def met_error(file: str, expectation: Expectation, reason: str) -> ClaimResult:
    """The record of text that could not be read, as expected."""
    return ClaimResult(
        f"{file}#/{expectation.line}/{_CLAIM}",
        "spec",
        file,
        "",
        expectation.line,
        1,
        "",
        _CLAIM,
        Verdict.PROVED,
        reason=_as_expected("an error", reason),
    )


def settle(results: FileResults) -> None:
    """Hold what was found against what was expected, when everything is decided."""
    for module in results.modules:
        expectation = results.expected.get(module.module)
        if expectation is not None:
            results.others.append(_settled(results.file, module, expectation))


def _settled(file: str, module: ModuleResults, expectation: Expectation) -> ClaimResult:
    verdict, reason = Verdict.PROVED, f"{expectation.verdict}, as expected"
    if expectation.verdict == "proved":
        claims = (c for r in module.instructions for c in r.claims())
        verdict = worst(c.verdict for c in claims if not expectation.claims or c.claim in expectation.claims)
        if verdict is not Verdict.PROVED:
            reason = f"expected proved, and found {verdict}"
    else:
        met = [_excuse(r, expectation) for r in module.instructions]
        if not any(met):
            what = " ".join((expectation.verdict, *expectation.claims))
            verdict, reason = Verdict.REFUTED, f"expected {what}, and found no such verdict"
    found = ClaimResult(
        f"{file}#{module.module}//{_CLAIM}", "spec", file, module.module, expectation.line, 1, "", _CLAIM, verdict
    )
    return replace(found, counterexample=reason) if verdict is Verdict.REFUTED else replace(found, reason=reason)


def _excuse(r: InstructionResult, expectation: Expectation) -> bool:
    """Turn the expected verdicts of an instruction into proved ones; True when there was one."""

    def expected(c: ClaimVerdict) -> bool:
        return str(c.verdict) == expectation.verdict and (not expectation.claims or c.claim in expectation.claims)

    def excused(c: ClaimVerdict) -> ClaimVerdict:
        told = _as_expected(expectation.verdict, c.counterexample, c.reason)
        return replace(c, verdict=Verdict.PROVED, counterexample=None, reason=told)

    claims = r.claims()
    if not any(expected(c) for c in claims):
        return False
    # The verdicts of an operation are shared by equal ones elsewhere, so this instruction gets its own.
    r.shared = OperationVerdicts(tuple(excused(c) if expected(c) else c for c in claims))
    r.own = []
    return True
