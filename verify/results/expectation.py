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
    FileResults,
    InputProblem,
    InstructionResult,
    ModuleExpectation,
    ModuleResults,
    OperationVerdicts,
    worst,
)
from hloproof.results.suppressions import without_strings
from hloproof.results.verdict import ClaimResult, Found, Verdict, family

_EXPECT: Final = re.compile(r"^[ \t]*//[ \t]*expect:[ \t]*(\S*)[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_CLAIM: Final = "expectation"


def met(expected: str | None, found: Found) -> Found:
    """What was found, held against the verdict that a text expects of itself: the one place where that is decided, for
    entries and for modules.

    A refutation or an unknown that is expected counts as proved, with its words as the reason. Where something else was
    decided the text is wrong about itself, which refutes it. What is not decided, or an error of this tool, stays that:
    it is not said that the expectation is broken. What was given up for want of time is not the unknown that is
    expected. Everything else counts as it is.
    """
    if expected not in ("refuted", "unknown") or (found.verdict is Verdict.UNKNOWN and not found.final):
        return found
    if found.verdict == expected:
        told = _as_expected(expected, found.counterexample, found.reason)
        return replace(found, verdict=Verdict.PROVED, counterexample=None, reason=told)
    if found.verdict in (Verdict.UNKNOWN, Verdict.INTERNAL, Verdict.VACUOUS, Verdict.TRIVIAL):
        return found
    what = "all of it holds" if found.verdict is Verdict.PROVED else f"it is {found.verdict}"
    return replace(found, verdict=Verdict.REFUTED, counterexample=f"expected to be {expected}, and {what}")


def _as_expected(what: str, *why: str | None) -> str:
    """The words for whatever counts as proved because it was expected."""
    told = "; ".join(filter(None, why))
    return f"{what}, as expected" + (f": {told}" if told else "")


def met_problem(problem: InputError | InputProblem | None) -> Found:
    """What is found where an error is expected: text that cannot be read, or None where it can."""
    if problem is None:
        return Found(Verdict.REFUTED, counterexample="expected to be an error, and it can be read")
    return Found(Verdict.PROVED, reason=_as_expected("an error", problem.message))


def expects(text: str) -> bool:
    """The text says what is expected of it."""
    return _EXPECT.search(text) is not None and _EXPECT.search(_read(text)) is not None


def _read(text: str) -> str:
    """The text without strings, where names stand, and without what somebody has put between `/*` and `*/`."""
    return without_strings(text, ('"', "/*"))


def sections(text: str, file: str) -> Iterator[tuple[str, ModuleExpectation | None]]:
    """The parts of a file between separators, each with empty lines before it, so that lines keep their numbers, and
    what it is expected to be. Raises BadInput for an expectation that is none, and for a second one of one part."""
    from hloproof.models.hlo.parser import SEPARATOR

    start = 0
    for end in (*(m.start() for m in SEPARATOR.finditer(text)), len(text)):
        part = text[start:end]
        before = text.count("\n", 0, start)
        expectation = None
        # A name that goes over several lines says nothing: it came from whoever named things.
        for found in _EXPECT.finditer(_read(part)):
            line = before + part.count("\n", 0, found.start()) + 1
            if found[1] not in ("proved", "refuted", "unknown", "error"):
                raise BadInput(f"{file}:{line}: expect: proved, refuted, unknown or error, not {found[1]!r}")
            if expectation is not None:
                raise BadInput(f"{file}:{line}: a second expectation; the first is in line {expectation.line}")
            expectation = ModuleExpectation(found[1], tuple(found[2].split()), line)
        yield "\n" * before + part, expectation
        start = end


def met_error(file: str, expectation: ModuleExpectation, problem: InputProblem) -> ClaimResult:
    """The record of text that could not be read, as expected."""
    return _record(f"{file}#/{expectation.line}/{_CLAIM}", file, "", expectation, met_problem(problem))


def settle(results: FileResults) -> None:
    """Hold what was found against what was expected, when everything is decided."""
    for module in results.modules:
        expectation = results.expected.get(module.module)
        if expectation is not None:
            found = _settled(module, expectation)
            if not expectation.asked_for and found.verdict is not Verdict.PROVED:
                continue  # what meets it may be among what was not asked for
            identifier = f"{results.file}#{module.module}//{_CLAIM}"
            results.others.append(_record(identifier, results.file, module.module, expectation, found))


def _record(identifier: str, file: str, module: str, expectation: ModuleExpectation, found: Found) -> ClaimResult:
    return ClaimResult(identifier, "spec", file, module, expectation.line, 1, "", replace(found, claim=_CLAIM))


def _settled(module: ModuleResults, expectation: ModuleExpectation) -> Found:
    """What the expectation of a module comes to; the claims that were to be refuted or unknown count as proved."""
    if expectation.verdict == "error":
        return met_problem(None)  # it was read
    named = [c for r in module.instructions for c in r.claims() if _names(expectation, c)]
    if expectation.verdict == "proved":
        verdict = worst(c.verdict for c in named)
        if verdict is Verdict.PROVED and expectation.claims and not named:
            told = f"expected {' '.join(('proved', *expectation.claims))}, and nothing owes such a claim"
            return Found(Verdict.REFUTED, counterexample=told)
        if verdict is Verdict.PROVED:
            return Found(verdict, reason="proved, as expected")
        told = f"expected proved, and found {verdict}"
        refuted = verdict is Verdict.REFUTED
        return Found(verdict, counterexample=told if refuted else None, reason=None if refuted else told)
    if any(_meets(expectation, c) for c in named):
        for r in module.instructions:
            _excuse(r, expectation)
        return met(expectation.verdict, Found(Verdict(expectation.verdict)))
    # An unknown of those named is one for want of time: else it would have met the expectation above.
    final = all(c.final for c in named)
    whole = met(expectation.verdict, Found(worst(c.verdict for c in named), final=final))
    told = f"expected {' '.join((expectation.verdict, *expectation.claims))}, and found {_said(whole)}"
    if whole.verdict is Verdict.REFUTED:
        return replace(whole, counterexample=told)
    return replace(whole, reason=told)


def _said(whole: Found) -> str:
    return "no such verdict" if whole.verdict is Verdict.REFUTED else str(whole.verdict)


def _names(expectation: ModuleExpectation, c: Found) -> bool:
    return not expectation.claims or c.claim in expectation.claims or family(c.claim) in expectation.claims


def _meets(expectation: ModuleExpectation, c: Found) -> bool:
    return c.verdict == expectation.verdict and (c.final or c.verdict is not Verdict.UNKNOWN)


def _excuse(r: InstructionResult, expectation: ModuleExpectation) -> None:
    """Let the claims of an instruction that an expectation meets count as proved."""
    claims = r.claims()
    expected = [_meets(expectation, c) and _names(expectation, c) for c in claims]
    if any(expected):
        # The verdicts of an operation are shared by equal ones elsewhere, so this instruction gets its own.
        told = (met(expectation.verdict, c) if e else c for c, e in zip(claims, expected, strict=True))
        r.shared, r.own = OperationVerdicts(tuple(told)), []
