"""The report as JSON, `hloproof/1`; the schema stands beside this file in schema.json. A record is a line,
encoded cheaply: what equal operations share is encoded once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any, Final

from hloproof.results.findings import Judged
from hloproof.results.results import Report
from hloproof.results.subject import reading_counts
from hloproof.results.verdict import Found, Verdict

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
    if report.passed_over:
        yield f' "passed_over": {json.dumps(report.passed_over)},\n'
    yield ' "obligations": ['
    separator = "\n  "
    known: dict[tuple[str, str], deque[str | None]] = {}
    if any(f.known is not None for f in judged.findings):
        for f in judged.findings:  # what has id and verdict in common comes in the order of the report
            known.setdefault((f.record.id, str(f.record.verdict)), deque()).append(f.known)
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


def encoded(report: Report, suppressed: Mapping[tuple[str, str], deque[str | None]] | None = None) -> Iterator[str]:
    """One JSON object per record, in the order of the report. `suppressed` says, by id and verdict, why records do not
    count, one after the other."""
    if suppressed:
        for line in encoded(report):
            record = json.loads(line)
            mine = suppressed.get((record["id"], record["verdict"]))
            reason = mine.popleft() if mine else None
            yield line if reason is None else f'{line[:-1]}, "suppressed": {quoted(reason)}}}'
        return
    shared: dict[int, str] = {}
    for file in report.files:
        name = quoted(file.file)
        for module in file.modules:
            module_name = quoted(module.module)
            fixed = f'"kind": "instruction", "file": {name}, "module": {module_name}'
            prefix = f"{file.file}#{module.module}/"
            for r in module.instructions:
                i = r.instruction
                own = quoted(f"{prefix}{r.computation}/{i.name}/")[:-1]
                place = (
                    f'{fixed}, "line": {i.position.line}, "column": {i.position.column}, '
                    f'"instruction": {quoted(i.name)}'
                )
                for c in r.claims():
                    tail = shared.get(id(c))
                    if tail is None:
                        tail = shared[id(c)] = _tail(c)
                    yield f'{{"id": {own}{c.claim}", {place}, {tail}}}'
        for other in file.others:
            tail = _tail(other.found)
            yield (
                f'{{"id": {quoted(other.id)}, "kind": "{other.kind}", "file": {name}, '
                f'"module": {quoted(other.module)}, "line": {other.line}, "column": {other.column}, '
                f'"instruction": {quoted(other.instruction)}, {tail}}}'
            )


def _tail(c: Found) -> str:
    engines = ", ".join(f'"{e}"' for e in c.engines)
    assumptions = ", ".join(quoted(a) for a in c.assumptions)
    counterexample = "null" if c.counterexample is None else quoted(c.counterexample)
    reason = "null" if c.reason is None else quoted(c.reason)
    return (
        f'"claim": "{c.claim}", "verdict": "{c.verdict}", "engines": [{engines}], "ms": {round(c.ms, 3)}, '
        f'"counterexample": {counterexample}, "reason": {reason}, "assumptions": [{assumptions}]'
    )
