"""Verdicts on whole items (a rule, a layout) from earlier runs, in the file of the proof cache.

An entry is found by the item as it was read, its file and place, the source of this project as it stands, and the
versions of the solvers. Only proved and refuted are kept.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import hloproof.models
from hloproof.engines.store import DAMAGED, Store, fingerprint
from hloproof.results.verdict import ClaimResult, Found, Related, Verdict


@cache
def source_digest() -> bytes:
    """A digest of this project's code, the rules that it simplifies by, and the solvers' versions."""
    from hloproof.models.rules.text import rules_folder

    folders = (Path(hloproof.models.__path__[0]).resolve(), Path(__file__).resolve().parents[1])
    return fingerprint(folders, sorted(rules_folder().glob("*.rules")))


def record_from(data: dict[str, Any]) -> ClaimResult:
    """A record from its fields as JSON data, with no time spent on it. Raises TypeError, KeyError and ValueError."""
    related = tuple(Related(**r) for r in data["related"])
    return ClaimResult(**{**data, "found": found_from(data["found"]), "related": related})


def found_from(data: dict[str, Any]) -> Found:
    """What was found, likewise."""
    verdict, engines, assumptions = Verdict(data["verdict"]), tuple(data["engines"]), tuple(data["assumptions"])
    return Found(**{**data, "verdict": verdict, "engines": engines, "assumptions": assumptions, "ms": 0.0})


class RecordCache:
    """The records in a store; none without a path."""

    def __init__(self, path: Path | None) -> None:
        self._store = Store(path)

    def get(self, key: bytes) -> ClaimResult | None:
        """What is kept under a key, with no time spent on it."""
        with suppress(*DAMAGED):
            found = self._store.get(_digest(key))
            if found is not None:
                return record_from(json.loads(found))
        return None

    def put(self, key: bytes, record: ClaimResult) -> None:
        """Keep a record, unless another run might decide otherwise."""
        if record.verdict not in (Verdict.UNKNOWN, Verdict.INTERNAL):
            self._store.put(_digest(key), json.dumps(asdict(record)).encode())

    def close(self) -> None:
        self._store.close()


def _digest(key: bytes) -> bytes:
    return b"record " + hashlib.sha256(source_digest() + key).digest()
