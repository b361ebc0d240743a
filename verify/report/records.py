"""Every record of a report as a line of JSON, cheaply: what equal operations share is encoded once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii as quoted

from hloproof.results.results import Report
from hloproof.results.verdict import Found


def encoded(report: Report, suppressed: Mapping[str, str] | None = None) -> Iterator[str]:
    """One JSON object per record, in the order of the report. `suppressed` says, by id, why a record does not count."""
    if suppressed:
        for line in encoded(report):
            reason = suppressed.get(json.loads(line)["id"]) if '"verdict": "proved"' not in line else None
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
