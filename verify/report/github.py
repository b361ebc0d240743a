"""The report as workflow commands, which GitHub shows as annotations on the lines."""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.results.findings import Judged
from hloproof.results.verdict import Verdict


def chunks(judged: Judged) -> Iterator[str]:
    """One command per new finding; unknown ones of one file with the same claim and reason are one."""
    for p in judged.report.problems:
        yield _command("error", p.file, p.line, p.column, "hloproof: bad input", p.message)
    told: dict[tuple[str, str, str | None], int] = {}
    for finding in judged.new:
        r = finding.record
        key = (r.file, r.claim, r.reason)
        if r.verdict is Verdict.UNKNOWN:
            told[key] = told.get(key, 0) + 1
            if told[key] > 1:
                continue
        level = "warning" if r.verdict is Verdict.UNKNOWN else finding.level
        what = f"{r.claim} of {r.instruction}" if r.instruction else r.claim
        title = f"hloproof: {r.verdict} {what}"
        yield _command(level, r.file, r.line, r.column, title, r.counterexample or r.reason or what)
    if judged.report.interrupted:
        yield f"::error title={_property('hloproof: interrupted')}::what was not decided by then is unknown\n"


def _command(level: str, file: str, line: int, column: int, title: str, message: str) -> str:
    place = f"file={_property(file)}" + (f",line={line},col={max(column, 1)}" if line else "")
    return f"::{level} {place},title={_property(title)}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
