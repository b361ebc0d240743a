"""The report for a reader at a terminal: a line per file, then each finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hloproof.results.findings import Finding, Judged
from hloproof.results.plain import escaped, harmless
from hloproof.results.results import FileResults, Report
from hloproof.results.subject import reading_counts
from hloproof.results.verdict import Verdict

_COLOURS = {
    Verdict.PROVED: "32",
    Verdict.REFUTED: "31",
    Verdict.VACUOUS: "31",
    Verdict.TRIVIAL: "31",
    Verdict.UNKNOWN: "33",
    Verdict.INTERNAL: "35",
}


def lines(judged: Judged, verbosity: int = 0, colour: bool = False) -> Iterator[str]:
    """The report, line by line, without the problems of files that could not be read.

    Unknown findings of one file that have claim and reason in common are told once with their number;
    `verbosity` 1 tells each, notes on what is proved, and the opcodes that are not complete. With -1 only findings are
    told.
    """
    report = judged.report
    by_file: dict[str, list[Finding]] = {}
    for finding in judged.new:
        by_file.setdefault(finding.record.file, []).append(finding)
    for f in report.files:
        if verbosity >= 0:
            yield f"{harmless(escaped(f.file))}: not checked" if f.problems and not f.modules else _file_line(f, colour)
        yield from _findings(by_file.get(f.file, []), verbosity, colour)
        if verbosity >= 1:
            yield from _notes(f)
    for comment in judged.stale:
        place = f"{escaped(comment.file)}:{comment.line}"
        yield f"  {place}: this suppression of {', '.join(comment.claims)} matches nothing"
    for known in judged.gone:
        yield f"  no longer found: {escaped(known.what)} ({escaped(known.verdict)})"
    if verbosity >= 1:
        yield from _incomplete(report)
    if report.interrupted:
        yield "interrupted: what was not decided by then is unknown"
    if verbosity >= 0 and len(report.files) > 1:
        yield _total_line(report, colour)
    if verbosity >= 0 and judged.against_baseline:
        old = sum(f.known is not None for f in judged.findings)
        yield f"against the baseline: {len(judged.new)} new, {old} known, {len(judged.gone)} gone"


def _painted(text: str, verdict: Verdict, colour: bool) -> str:
    return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m" if colour else text


def _counted(counts: Counter[Verdict], colour: bool) -> str:
    parts = [_painted(f"{counts[v]} {v}", v, colour) for v in Verdict if counts[v]]
    return ", ".join(parts) or "nothing owed"


def _file_line(f: FileResults, colour: bool) -> str:
    what = f"{f.instructions} instructions, " if f.kind == "hlo" else f"{f.entries} entries, " if f.entries else ""
    if len(f.modules) > 1:
        what = f"{len(f.modules)} modules, {what}"
    unread = f"; {len(f.problems)} of its modules cannot be read" if f.problems else ""
    return f"{harmless(escaped(f.file))}: {what}{_counted(f.counts(), colour)}{unread}"


def _total_line(report: Report, colour: bool) -> str:
    instructions = sum(f.instructions for f in report.files)
    what = f", {instructions} instructions" if instructions else ""
    return f"{len(report.files)} files{what}: {_counted(report.counts(), colour)}{_about_maps(report)}"


def _about_maps(report: Report) -> str:
    ours = reading_counts(report).total()
    return f" ({ours} of these claims are about our maps of the modules)" if ours else ""


def _findings(findings: list[Finding], verbosity: int, colour: bool) -> Iterator[str]:
    grouped: dict[tuple[str, str | None], list[Finding]] = {}
    for f in findings:
        if f.record.verdict is Verdict.UNKNOWN and verbosity < 1:
            grouped.setdefault((f.record.claim, f.record.reason), []).append(f)
        else:
            yield _finding(f, colour)
    for same in grouped.values():
        more = f" (and {len(same) - 1} more like it; -v lists them)" if len(same) > 1 else ""
        yield _finding(same[0], colour) + more


def _finding(finding: Finding, colour: bool) -> str:
    r = finding.record
    place = escaped(f"{r.file}:{r.line}:{r.column}" if r.line else r.file)
    what = f" of {escaped(r.instruction)}" if r.instruction else ""
    # A timeline has lines of its own; each is escaped, and none begins where a line of the report does.
    said = "\n    ".join(escaped(line) for line in (r.counterexample or r.reason or "").split("\n"))
    lenient = " (a warning)" if finding.level == "warning" else ""
    text = f"  {place}: {_painted(str(r.verdict), r.verdict, colour)}{lenient} {r.claim}{what}"
    return f"{text}: {said}" if said else text


def _notes(f: FileResults) -> Iterator[str]:
    """What is worth knowing of rules, maps and layouts that are proved: conditions not needed, expectations met."""
    for r in f.others:
        if r.verdict is Verdict.PROVED and r.reason:
            yield f"  {escaped(r.file)}:{r.line}:{r.column}: note on {escaped(r.instruction)}: {escaped(r.reason)}"


def _incomplete(report: Report) -> Iterator[str]:
    for opcode, c in report.per_opcode().items():
        if c.complete < c.instructions:
            yield f"  {opcode}: {c.complete} of {c.instructions} instructions complete"


def stage_lines(report: Report, around: Mapping[str, float], age: float, processor: Sequence[float]) -> Iterator[str]:
    """Which engine stage decided how many obligations in how much time, and what else took time (`--stats`).

    The engines run in workers, and their time is waited for; the stages of this process, each without those inside of
    it, add up to the time of the whole run. `around` is the time of what is done around the check, `age` the seconds
    since the process began, so that what no stage has shows, and `processor` the processor seconds of this process and
    of its workers.
    """
    total = sum(n for n, _ in report.stages.values()) or 1
    yield f"{'stage':28s} {'obligations':>12s} {'share':>7s} {'ms':>10s}"
    for name, (count, ms) in sorted(report.stages.items(), key=lambda item: -item[1][0]):
        yield f"{name:28s} {count:12d} {100 * count / total:6.1f}% {ms:10.1f}"
    times = {**report.times, **around}
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        yield _time_line(name, seconds)
    yield _time_line("all of this process", sum(times.values()))
    yield _time_line("since it began", age)
    yield _time_line("processor time", processor[0])
    yield _time_line("processor time of workers", processor[1])


def _time_line(name: str, seconds: float) -> str:
    return f"{name:28s} {'':12s} {'':7s} {1e3 * seconds:10.1f}"
