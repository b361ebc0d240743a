"""Verdicts on whole items (a rule, a layout) from earlier runs, in the file of the proof cache.

An entry is found by the item as it was read, its file and place, the source of this project as it stands, and the
versions of the solvers. Only proved and refuted are kept.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from hloproof.results.verdict import ClaimResult, Related, Verdict

_TABLE: Final = "CREATE TABLE IF NOT EXISTS record (key BLOB PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID"


@cache
def source_digest() -> bytes:
    """A digest of this project's code, the rules that it simplifies by, and the solvers' versions."""
    import hloproof.models
    from hloproof.models.rules.text import rules_folder

    root = Path(__file__).resolve().parents[1]
    state = hashlib.sha256()
    for folder in (Path(hloproof.models.__path__[0]).resolve(), root):
        for source in sorted(folder.rglob("*.py")):
            state.update(source.relative_to(folder).as_posix().encode())
            state.update(source.read_bytes())
    for rules in sorted(rules_folder().glob("*.rules")):
        state.update(rules.name.encode())
        state.update(rules.read_bytes())
    for package in ("islpy", "z3-solver", "cvc5"):
        with suppress(metadata.PackageNotFoundError):
            state.update(f"{package} {metadata.version(package)}".encode())
    return state.digest()


def open_cache(path: Path | None, table: str) -> sqlite3.Connection | None:
    """The cache file, with a table of its own; None without a path or where the file cannot be used."""
    if path is None:
        return None
    connection = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(table)
    except (sqlite3.Error, OSError):
        if connection is not None:
            connection.close()
        return None
    return connection


def record_from(data: dict[str, Any]) -> ClaimResult:
    """A record from its fields as JSON data, with no time spent on it. Raises TypeError, KeyError and ValueError."""
    return ClaimResult(
        **{
            **data,
            "verdict": Verdict(data["verdict"]),
            "related": tuple(Related(**r) for r in data["related"]),
            "engines": tuple(data["engines"]),
            "assumptions": tuple(data["assumptions"]),
            "ms": 0.0,
        }
    )


class RecordCache:
    """A cache file, or none (`path` None). One that cannot be used is left alone, and nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._connection = open_cache(path, _TABLE)

    def get(self, key: bytes) -> ClaimResult | None:
        """What is kept under a key, with no time spent on it."""
        if self._connection is None:
            return None
        with suppress(sqlite3.Error, ValueError, TypeError, KeyError):
            row = self._connection.execute("SELECT record FROM record WHERE key = ?", (_digest(key),)).fetchone()
            if row is not None:
                return record_from(json.loads(row[0]))
        return None

    def put(self, key: bytes, record: ClaimResult) -> None:
        """Keep a record, unless another run might decide otherwise."""
        if self._connection is None or record.verdict in (Verdict.UNKNOWN, Verdict.INTERNAL):
            return
        with suppress(sqlite3.Error):
            text = json.dumps(asdict(record))
            self._connection.execute("INSERT OR REPLACE INTO record VALUES (?, ?)", (_digest(key), text))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(source_digest() + key).digest()
