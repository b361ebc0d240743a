"""The report as JSON, `hloproof/1`; the schema stands beside this file in schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from verify.claim import Verdict
from verify.report.records import encoded
from verify.results import Report

SCHEMA_NAME: Final = "hloproof/1"
SCHEMA_FILE: Final = Path(__file__).with_name("schema.json")


def obligations(report: Report) -> list[dict[str, Any]]:
    """The records as JSON data."""
    return [json.loads(line) for line in encoded(report)]


def summary(report: Report) -> dict[str, Any]:
    """Counts by verdict, and completeness by opcode."""
    counts = report.counts()
    return {
        **{str(v): counts[v] for v in Verdict},
        "per_opcode": {
            opcode: {"instructions": c.instructions, "complete": c.complete}
            for opcode, c in report.per_opcode().items()
        },
    }


def chunks(report: Report) -> Iterator[str]:
    """The report as pieces of text, one obligation per line; joined they are one JSON object."""
    problems = [
        {"file": p.file, "line": p.line, "column": p.column, "message": p.message} for p in report.problems
    ]
    yield f'{{"schema": "{SCHEMA_NAME}",\n "summary": {json.dumps(summary(report))},\n'
    yield f' "problems": {json.dumps(problems)},\n "interrupted": {json.dumps(report.interrupted)},\n'
    yield ' "obligations": ['
    separator = "\n  "
    for line in encoded(report):
        yield separator
        yield line
        separator = ",\n  "
    yield "\n ]}\n"
