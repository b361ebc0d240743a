"""What of a report counts: severities, what is allowed, what is known from a baseline, what is suppressed beside the
text, and the exit status that follows."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final, Literal

from hloproof.results.results import Comment, Report, exit_status
from hloproof.results.subject import about_reading, not_looked_at
from hloproof.results.verdict import ClaimResult, Exit, Verdict, family

Level = Literal["error", "warning"]
Severity = Literal["error", "warning", "off"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "off")


def fingerprint(r: ClaimResult) -> str:
    """What stays the same of a finding when lines and the rest of the file change, and the folder that is checked is
    another: the file's path is the one relative to the working folder."""
    name = PurePosixPath(os.path.relpath(r.file) if os.path.isabs(r.file) else os.path.normpath(r.file)).as_posix()
    inside = r.id.partition("#")[2] or r.id
    # The name of a file may be no UTF-8.
    return sha256(f"{r.kind}\n{name}\n{inside}".encode(errors="surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True)
class KnownFinding:
    """A finding that a baseline lists. With a justification it is suppressed for good."""

    fingerprint: str
    verdict: str
    what: str
    """For the reader: file, instruction and claim."""
    justification: str = ""


@dataclass(frozen=True)
class Policy:
    """What counts. By default everything that is not proved does."""

    allow_unknown: bool = False
    severity: Mapping[str, Severity] = field(default_factory=dict)
    """By claim or family; a claim's own entry goes before its family's."""
    baseline: tuple[KnownFinding, ...] = ()
    comments: tuple[Comment, ...] = ()
    against_baseline: bool = False
    strict: bool = False
    """Whether what is unknown about this tool's own reading of a module is an error too."""

    def severity_of(self, claim: str) -> Severity:
        return self.severity.get(claim) or self.severity.get(family(claim)) or "error"


@dataclass(frozen=True)
class Finding:
    """A record that is not proved. `level` is how it counts: errors decide the exit status, warnings do not.

    `known` is why it is not told as new: `in the baseline`, or the justification of a suppression.
    """

    record: ClaimResult
    level: Level
    known: str | None = None
    in_source: bool = False
    """It is a comment beside the text that suppresses it."""


@dataclass
class Judged:
    """A report with what of it counts."""

    report: Report
    findings: list[Finding] = field(default_factory=list)
    """Everything that is not proved, in the order of the report, without what is switched off."""
    gone: list[KnownFinding] = field(default_factory=list)
    """Entries of the baseline that match nothing any more."""
    stale: list[Comment] = field(default_factory=list)
    """Suppressions beside the text that match nothing."""
    against_baseline: bool = False
    """A baseline was given, be it an empty one."""

    @property
    def new(self) -> list[Finding]:
        """The findings to tell: those that neither a baseline nor a suppression knows."""
        return [f for f in self.findings if f.known is None]

    def exit_status(self) -> Exit:
        """As DESIGN says, over the findings that count. An internal error always does."""
        counted = {
            f.record.verdict
            for f in self.findings
            if f.record.verdict is Verdict.INTERNAL or (f.known is None and f.level == "error")
        }
        return exit_status(counted, bool(self.report.problems), self.report.interrupted)


def judge(report: Report, policy: Policy) -> Judged:
    """Sort the findings of a report by what counts."""
    judged = Judged(report, against_baseline=policy.against_baseline or bool(policy.baseline))
    # One claim may be refuted of several arrays of an instruction. Each entry is about one finding: a second one is new
    # where the baseline has one.
    baseline: dict[tuple[str, str], deque[KnownFinding]] = {}
    for k in policy.baseline:
        baseline.setdefault((k.fingerprint, k.verdict), deque()).append(k)
    comments = _by_place(policy.comments)
    used: set[Comment] = set()
    for r in report.records(undecided_only=True):
        severity = policy.severity_of(r.claim)
        always = r.verdict is Verdict.INTERNAL or not_looked_at(r)
        if severity == "off" and not always:
            continue
        ours = about_reading(r) and not policy.strict
        lenient = severity == "warning" or (r.verdict is Verdict.UNKNOWN and (policy.allow_unknown or ours))
        known, in_source = None, False
        entries = baseline.get((fingerprint(r), str(r.verdict))) if baseline else None
        if entries:
            known = entries.popleft().justification or "in the baseline"
        for comment in _beside(r, comments):
            if r.claim in comment.claims or family(r.claim) in comment.claims:
                used.add(comment)
                in_source = known is None
                known = known or comment.justification
        level: Level = "warning" if lenient and not always else "error"
        judged.findings.append(Finding(r, level, None if always else known, in_source))
    left = Counter(k for entries in baseline.values() for k in entries)
    for k in policy.baseline:
        if left[k]:
            judged.gone.append(k)
            left[k] -= 1
    judged.stale = [c for c in policy.comments if c not in used]
    return judged


def _beside(r: ClaimResult, comments: Mapping[tuple[str, int], list[Comment]]) -> list[Comment]:
    """The comments beside a record; those beside an entry are beside what is found at its clauses too."""
    lines = {r.line: None, **({x.line: None for x in r.related} if r.kind == "map" else {})}
    return [c for line in lines for c in comments.get((r.file, line), ())]


def _by_place(comments: Iterable[Comment]) -> dict[tuple[str, int], list[Comment]]:
    out: dict[tuple[str, int], list[Comment]] = {}
    for c in comments:
        out.setdefault((c.file, c.line), []).append(c)
    return out
