"""The report as JUnit XML: a suite per file, a case per claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from hloproof.results.findings import Finding, Judged
from hloproof.results.results import FileResults
from hloproof.results.verdict import ClaimResult, Verdict

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BAD: Final = frozenset({Verdict.REFUTED, Verdict.VACUOUS, Verdict.TRIVIAL})


def chunks(judged: Judged) -> Iterator[str]:
    """The report as pieces of text.

    A claim that is refuted somewhere in the file is a failure with the counterexamples, an internal error is an error,
    and one that is unknown somewhere is skipped, with the reasons. What a baseline or a suppression knows, and what
    counts as a warning only, does not fail.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in judged.findings:
        by_file.setdefault(finding.record.file, []).append(finding)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hloproof">\n'
    for f in judged.report.files:
        yield from _suite(f, by_file.get(f.file, []))
    yield "</testsuites>\n"


def _suite(f: FileResults, findings: list[Finding]) -> Iterator[str]:
    times = _milliseconds(f)
    cases = {claim: _case(claim, ms, findings) for claim, ms in times.items()}
    name = _attribute(f.file)
    texts = [
        f'    <testcase classname={name} name={_attribute(claim)} time="{times[claim] / 1e3:.3f}">{body}</testcase>\n'
        for claim, (_, body) in cases.items()
    ]
    outcomes = [outcome for outcome, _ in cases.values()]
    for p in f.problems:
        outcomes.append("error")
        error = f'<error message={_attribute(p.message)} type="input">{_text(p.rendered or p.message)}</error>'
        texts.append(f'    <testcase classname={name} name="input" time="0.000">{error}</testcase>\n')
    yield (
        f'  <testsuite name={name} tests="{len(outcomes)}" failures="{outcomes.count("failure")}" '
        f'errors="{outcomes.count("error")}" skipped="{outcomes.count("skipped")}" '
        f'time="{sum(times.values()) / 1e3:.3f}">\n'
    )
    yield from texts
    yield "  </testsuite>\n"


def _milliseconds(f: FileResults) -> dict[str, float]:
    """The claims of a file in alphabetical order, each with the time that its proofs took, shared ones once."""
    out: dict[str, float] = {}
    seen: set[int] = set()
    for m in f.modules:
        for r in m.instructions:
            for c in r.claims():
                if id(c) not in seen:
                    seen.add(id(c))
                    out[c.claim] = out.get(c.claim, 0.0) + c.ms
    for o in f.others:
        out[o.claim] = out.get(o.claim, 0.0) + o.ms
    return dict(sorted(out.items()))


def _case(claim: str, ms: float, findings: list[Finding]) -> tuple[str, str]:
    """Outcome of a case, and the element that says so."""
    mine = [f for f in findings if f.record.claim == claim and f.known is None]
    for outcome, wanted in (
        ("error", [f for f in mine if f.record.verdict is Verdict.INTERNAL]),
        ("failure", [f for f in mine if f.record.verdict in _BAD and f.level == "error"]),
        ("skipped", [f for f in mine if f.record.verdict is Verdict.UNKNOWN]),
    ):
        if wanted:
            lines = "\n".join(_line(f.record) for f in wanted)
            first = wanted[0].record.counterexample or wanted[0].record.reason or str(wanted[0].record.verdict)
            kind = f" type={_attribute(str(wanted[0].record.verdict))}" if outcome != "skipped" else ""
            return outcome, f"<{outcome} message={_attribute(first)}{kind}>{_text(lines)}</{outcome}>"
    return "passed", ""


def _line(r: ClaimResult) -> str:
    said = r.counterexample or r.reason or ""
    return f"{r.file}:{r.line}:{r.column}: {r.verdict} {r.claim} of {r.instruction}: {said}"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("?", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text))
