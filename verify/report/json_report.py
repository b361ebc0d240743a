"""The report as JSON, `hloproof/1`; the schema stands beside this file in schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hloproof.report.records import encoded
from hloproof.results.findings import Judged
from hloproof.results.results import Report
from hloproof.results.subject import reading_counts
from hloproof.results.verdict import Verdict

SCHEMA_NAME: Final = "hloproof/1"
SCHEMA_FILE: Final = Path(__file__).with_name("schema.json")


def obligations(report: Report) -> list[dict[str, Any]]:
    """The records as JSON data."""
    return [json.loads(line) for line in encoded(report)]


def summary(report: Report) -> dict[str, Any]:
    """Counts by verdict, those of them about our maps of modules, and completeness by opcode."""
    counts, ours = report.counts(), reading_counts(report)
    return {
        **{str(v): counts[v] for v in Verdict},
        "about_our_maps": {str(v): ours[v] for v in Verdict if ours[v]},
        "per_opcode": {
            opcode: {"instructions": c.instructions, "complete": c.complete}
            for opcode, c in report.per_opcode().items()
        },
    }


def chunks(judged: Judged) -> Iterator[str]:
    """The report as pieces of text, one obligation per line; joined they are one JSON object."""
    report = judged.report
    problems = [{"file": p.file, "line": p.line, "column": p.column, "message": p.message} for p in report.problems]
    yield f'{{"schema": "{SCHEMA_NAME}",\n "summary": {json.dumps(summary(report))},\n'
    yield f' "problems": {json.dumps(problems)},\n "interrupted": {json.dumps(report.interrupted)},\n'
    yield ' "obligations": ['
    separator = "\n  "
    known = {f.record.id: f.known for f in judged.findings if f.known is not None}
    for line in encoded(report, known):
        yield separator
        yield line
        separator = ",\n  "
    yield "\n ]"
    if judged.gone:
        yield ',\n "gone": ' + json.dumps([{"fingerprint": k.fingerprint, "what": k.what} for k in judged.gone])
    if judged.stale:
        stale = [{"file": c.file, "line": c.line, "claims": list(c.claims)} for c in judged.stale]
        yield ',\n "stale": ' + json.dumps(stale)
    yield "}\n"
