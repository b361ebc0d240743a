"""The report as SARIF 2.1.0, for code scanning: one rule per claim, one result per finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from hloproof.claims.catalogue import CATALOGUE
from hloproof.results.findings import Finding, Judged, fingerprint
from hloproof.results.verdict import ClaimResult, Verdict
from hloproof.version import VERSION

SCHEMA_URI: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def chunks(judged: Judged) -> Iterator[str]:
    """The log as pieces of text, a result per line."""
    rules = [_rule(name) for name in CATALOGUE]
    places = {name: n for n, name in enumerate(CATALOGUE)}
    run = {
        "tool": {"driver": {"name": "hloproof", "semanticVersion": VERSION, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(judged)],
    }
    head = json.dumps({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]})
    yield head.removesuffix("}]}") + ', "results": ['
    separator = "\n"
    for finding in judged.findings:
        yield separator + json.dumps(_result(finding, places))
        separator = ",\n"
    yield "\n]}]}\n"


def _rule(name: str) -> dict[str, Any]:
    e = CATALOGUE[name]
    text = f"{e.meaning}\n\nHolds: {e.holds}\n\nFails: {e.fails}"
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("-")),
        "shortDescription": {"text": e.sentence},
        "fullDescription": {"text": e.meaning},
        "help": {"text": text, "markdown": f"**{name}**: {text}"},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(judged: Judged) -> dict[str, Any]:
    notifications = [
        {"level": "error", "message": {"text": p.message}, "locations": [_location(p.file, p.line, p.column)]}
        for p in judged.report.problems
    ]
    status = judged.exit_status()
    return {
        "executionSuccessful": not judged.report.problems and not judged.report.interrupted,
        "exitCode": int(status),
        "toolExecutionNotifications": notifications,
    }


def _location(file: str, line: int, column: int, message: str = "") -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(file, errors="surrogateescape")}}
    if line:
        physical["region"] = {"startLine": line, "startColumn": max(column, 1)}
    out: dict[str, Any] = {"physicalLocation": physical}
    if message:
        out["message"] = {"text": message}
    return out


def _result(finding: Finding, places: dict[str, int]) -> dict[str, Any]:
    r = finding.record
    location = _location(r.file, r.line, r.column)
    inside = r.id.partition("#")[2].removesuffix(f"/{r.claim}")
    if inside:
        location["logicalLocations"] = [{"fullyQualifiedName": inside, "name": r.instruction or inside, "kind": r.kind}]
    out: dict[str, Any] = {
        "ruleId": r.claim,
        "level": "warning" if r.verdict is Verdict.UNKNOWN else finding.level,
        "message": {"text": _message(r)},
        "locations": [location],
        "partialFingerprints": {"hloproof/v1": fingerprint(r)},
        "properties": {"verdict": str(r.verdict), "engines": list(r.engines), "assumptions": list(r.found.assumptions)},
    }
    if r.claim in places:
        out["ruleIndex"] = places[r.claim]
    if r.related:
        out["relatedLocations"] = [
            {"id": n, **_location(r.file, place.line, place.column, place.message)} for n, place in enumerate(r.related)
        ]
    if finding.known is not None:
        kind = "inSource" if finding.in_source else "external"
        out["suppressions"] = [{"kind": kind, "justification": finding.known}]
    return out


def _message(r: ClaimResult) -> str:
    what = f"{r.claim} of {r.instruction}" if r.instruction else r.claim
    said = r.counterexample or r.reason
    return f"{what} is {r.verdict}: {said}" if said else f"{what} is {r.verdict}"
