"""The report as JUnit XML: a suite per file, a case per instruction, rule, map and layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from hloproof.results.findings import Finding, Judged
from hloproof.results.results import FileResults
from hloproof.results.verdict import ClaimResult, Verdict

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BAD: Final = frozenset({Verdict.REFUTED, Verdict.VACUOUS, Verdict.TRIVIAL})


def chunks(judged: Judged) -> Iterator[str]:
    """The report as pieces of text.

    One of which a claim is refuted or unknown is a failure with the counterexample or the reason, and an internal error
    is an error: what decides the exit status fails here, too. What counts as a warning only does not fail, and is
    skipped where it is unknown; nor does what a baseline or a suppression knows. A check that was interrupted is an
    error.
    """
    by_thing: dict[tuple[str, str], list[Finding]] = {}
    for finding in judged.findings:
        r = finding.record
        thing = r.id.removesuffix(f"/{r.claim}") if r.kind == "instruction" else r.id
        by_thing.setdefault((r.file, thing), []).append(finding)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hloproof">\n'
    for f in judged.report.files:
        yield from _suite(f, by_thing)
    if judged.report.interrupted:  # what was not read by then has no suite
        yield _INTERRUPTED
    yield "</testsuites>\n"


_INTERRUPTED: Final = """\
  <testsuite name="hloproof" tests="1" failures="0" errors="1" skipped="0" time="0.000">
    <testcase classname="hloproof" name="interrupted" time="0.000"><error type="interrupted" message="interrupted: \
what was not decided by then is unknown"/></testcase>
  </testsuite>
"""


def _suite(f: FileResults, findings: Mapping[tuple[str, str], list[Finding]]) -> Iterator[str]:
    name = _attribute(f.file)
    texts, outcomes, total = [], [], 0.0
    for thing, where, what, ms in _things(f):
        outcome, body = _case(findings.get((f.file, thing), []))
        outcomes.append(outcome)
        total += ms
        head = f'classname={_attribute(where)} name={_attribute(what)} time="{ms / 1e3:.3f}"'
        texts.append(f"    <testcase {head}>{body}</testcase>\n")
    for p in f.problems:
        outcomes.append("error")
        error = f'<error message={_attribute(p.message)} type="input">{_text(p.rendered or p.message)}</error>'
        texts.append(f'    <testcase classname={name} name="input" time="0.000">{error}</testcase>\n')
    yield (
        f'  <testsuite name={name} tests="{len(outcomes)}" failures="{outcomes.count("failure")}" '
        f'errors="{outcomes.count("error")}" skipped="{outcomes.count("skipped")}" '
        f'time="{total / 1e3:.3f}">\n'
    )
    yield from texts
    yield "  </testsuite>\n"


def _things(f: FileResults) -> Iterator[tuple[str, str, str, float]]:
    """What has a case: how its findings name it, where it is, its name, and the milliseconds of its proofs, of which
    those that several share count for the first."""
    seen: set[int] = set()
    for m in f.modules:
        for r in m.instructions:
            fresh = [c for c in r.claims() if id(c) not in seen]
            seen.update(map(id, fresh))
            name = r.instruction.name
            thing = f"{f.file}#{m.module}/{r.computation}/{name}"
            yield thing, f"{f.file}.{m.module}.{r.computation}", name, sum(c.ms for c in fresh)
    others: dict[str, tuple[str, float]] = {}
    for o in f.others:
        name, ms = others.get(o.id, (o.instruction or o.claim, 0.0))
        others[o.id] = name, ms + o.found.ms
    for thing, (name, ms) in others.items():
        yield thing, f.file, name, ms


def _case(findings: list[Finding]) -> tuple[str, str]:
    """Outcome of a case, and the element that says so."""
    mine = [f for f in findings if f.known is None]
    for outcome, wanted in (
        ("error", [f for f in mine if f.record.verdict is Verdict.INTERNAL]),
        ("failure", [f for f in mine if f.record.verdict in _BAD and f.level == "error"]),
        ("failure", [f for f in mine if f.record.verdict is Verdict.UNKNOWN and f.level == "error"]),
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
