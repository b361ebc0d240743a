"""The baseline: the findings of a day, so that from then on only new ones are told."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hloproof.results.errors import BadInput
from hloproof.results.files import read_json
from hloproof.results.findings import KnownFinding, fingerprint
from hloproof.results.results import Report
from hloproof.results.subject import not_looked_at
from hloproof.results.verdict import Verdict

SCHEMA_NAME: Final = "hloproof-baseline/2"
_BEFORE: Final = "hloproof-baseline/1"
"""Its fingerprints hold the names of files without their folders: they are those of no finding any more."""


def chunks(report: Report, before: tuple[KnownFinding, ...] = ()) -> Iterator[str]:
    """A baseline of everything in the report that is not proved; justifications of `before` are kept.

    Internal errors are never part of one, nor are files that were not read to their end. A justification is of a
    verdict: why something is not known is no reason to keep silent when it is refuted.
    """
    justified: dict[tuple[str, str], deque[str]] = {}
    for k in before:
        justified.setdefault((k.fingerprint, k.verdict), deque()).append(k.justification)
    entries = [
        {
            "fingerprint": fingerprint(r),
            "verdict": str(r.verdict),
            "what": f"{r.file}: {r.claim} of {r.instruction}" if r.instruction else f"{r.file}: {r.claim}",
            "justification": words.popleft() if (words := justified.get((fingerprint(r), str(r.verdict)))) else "",
        }
        for r in report.records(undecided_only=True)
        if r.verdict is not Verdict.INTERNAL and not not_looked_at(r)
    ]
    yield f'{{"schema": "{SCHEMA_NAME}", "findings": ['
    separator = "\n "
    for entry in entries:
        yield separator + json.dumps(entry)
        separator = ",\n "
    yield "\n]}\n"


def read(path: Path) -> tuple[KnownFinding, ...]:
    """The entries of a baseline file. Raises BadInput with the file and what is wrong."""
    data = read_json(path)
    if isinstance(data, dict) and data.get("schema") == _BEFORE:
        raise BadInput(f"{path}: a baseline of an older form, whose findings are not found again; write it anew")
    if not isinstance(data, dict) or data.get("schema") != SCHEMA_NAME or not isinstance(data.get("findings"), list):
        raise BadInput(f'{path}: not a baseline; one begins {{"schema": "{SCHEMA_NAME}"; `hloproof baseline` writes it')
    return tuple(_entry(path, n, entry) for n, entry in enumerate(data["findings"], 1))


def _entry(path: Path, number: int, entry: Any) -> KnownFinding:
    fields = ("fingerprint", "verdict", "what", "justification")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(f, ""), str) for f in fields):
        raise BadInput(f"{path}: entry {number} is not an object of strings")
    missing = [f for f in fields[:2] if not entry.get(f)]
    if missing:
        raise BadInput(f"{path}: entry {number} has no {' and no '.join(missing)}")
    return KnownFinding(*(entry.get(f, "") for f in fields))
