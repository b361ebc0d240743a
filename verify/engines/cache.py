"""The proof cache: one SQLite file, shared by concurrent processes, that survives being killed.

An entry is found by the normal form of the obligation, whether two engines were asked, the source of the engines
and the versions of the solvers. `unknown` is kept only for its limits, and only where they are deterministic. Models
are kept by position and replayed by whoever reads them. A damaged file is set aside, with a warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import sys
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from hloproof.engines.budget import Budget
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome

SCHEMA: Final = 1
COMMIT_SECONDS: Final = 0.5
"""How long a result may wait to be written."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS outcome (
    key TEXT PRIMARY KEY, verdict TEXT NOT NULL, engines TEXT NOT NULL, model TEXT NOT NULL,
    reason TEXT NOT NULL, budget TEXT NOT NULL, certificate TEXT NOT NULL, ms REAL NOT NULL
) WITHOUT ROWID
"""


def default_path() -> Path:
    """`hloproof/proofs.sqlite` in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("hloproof", appauthor=False) / f"proofs-{SCHEMA}.sqlite"


def proof_sources() -> tuple[Path, ...]:
    """The folders that a proof depends on, as they stand: terms, formulas, engines."""
    import hloproof.models.expressions

    here = Path(__file__).resolve().parents[1]
    return (Path(hloproof.models.expressions.__path__[0]), here / "logic", here / "engines")


@cache
def engines_fingerprint() -> str:
    """A digest of this project's engines and data types as they stand, and the solvers' versions."""
    state = hashlib.sha256()
    for folder in proof_sources():
        for source in sorted(folder.rglob("*.py")):
            state.update(source.relative_to(folder).as_posix().encode())
            state.update(source.read_bytes())
    for package in ("islpy", "z3-solver", "cvc5"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            state.update(f"{package} {metadata.version(package)}".encode())
    return state.hexdigest()[:16]


_KEPT: Final[dict[str, Literal["proved", "refuted", "unknown"]]] = {
    "proved": "proved",
    "refuted": "refuted",
    "unknown": "unknown",
}


class Cache:
    """A cache file, opened. `warn` is told when the file had to be set aside."""

    def __init__(self, path: Path, warn: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._warn = warn or (lambda text: print(f"hloproof: {text}", file=sys.stderr))
        self._pending: list[tuple[str | float, ...]] = []
        self._last = monotonic()
        self._connection: sqlite3.Connection | None = None
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection | None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._connect()
        except sqlite3.OperationalError as error:  # locked or not writable: not damaged
            self._warn(f"the proof cache {self.path} cannot be used ({error}); going on without it")
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            with contextlib.suppress(sqlite3.Error):
                return self._connect()
        except OSError as error:
            self._warn(f"the proof cache {self.path} cannot be used ({error}); going on without it")
        return None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(_TABLE)
            connection.execute("SELECT verdict, engines, model, reason, budget, certificate, ms FROM outcome LIMIT 1")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _set_aside(self, error: sqlite3.Error) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        aside = self.path.with_name(self.path.name + ".damaged")
        with contextlib.suppress(OSError):
            self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()
        self._warn(f"the proof cache {self.path} is damaged ({error}); set aside as {aside.name}, a new one is begun")

    def get(self, obligation: Obligation, budget: Budget, cross: bool, digest: str = "") -> Outcome | None:
        """What is kept of this obligation, its model replayed; None where nothing is, or an unknown of other limits.
        `digest` is its normal form's key, where the caller has it."""
        row = self._row(_entry(digest or key(obligation), cross))
        if row is None:
            return None
        try:
            text, engines, model_text, reason, limits, _ = row
            if text not in _KEPT:
                return None
            verdict = _KEPT[text]
            values = json.loads(model_text)
            if verdict == "unknown" and limits != budget.deterministic():
                return None
            model = tuple((name, int(v)) for (name, _), v in zip(obligation.variables, values, strict=bool(values)))
            if verdict == "refuted" and not is_counterexample(obligation, dict(model)):
                return None
            return Outcome(verdict, tuple(json.loads(engines)), model, reason, stages=(("cache", 0.0),))
        except (ValueError, TypeError, TooManySteps):
            return None

    def _row(self, entry: str) -> tuple[str, str, str, str, str, float] | None:
        if self._connection is None:
            return None
        try:
            cursor = self._connection.execute(
                "SELECT verdict, engines, model, reason, budget, ms FROM outcome WHERE key = ?", (entry,)
            )
            found: tuple[str, str, str, str, str, float] | None = cursor.fetchone()
            return found
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            self._connection = self._open()
            return None

    def put(
        self,
        obligation: Obligation,
        outcome: Outcome,
        budget: Budget,
        cross: bool,
        digest: str = "",
        certificate: str = "",
    ) -> None:
        """Keep the outcome, unless time or memory decided it, or it is an error of this tool."""
        if not outcome.final or outcome.verdict == "internal" or self._connection is None:
            return
        values = json.dumps([v for _, v in outcome.model])
        self._pending.append(
            (
                _entry(digest or key(obligation), cross),
                outcome.verdict,
                json.dumps(list(outcome.engines)),
                values,
                outcome.reason,
                budget.deterministic() if outcome.verdict == "unknown" else "",
                certificate,
                outcome.ms,
            )
        )
        if monotonic() - self._last > COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending."""
        rows, self._pending, self._last = self._pending, [], monotonic()
        if self._connection is None or not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            self._warn(f"the proof cache {self.path} was not written ({error})")
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            self._connection = self._open()

    def close(self) -> None:
        """Write what is pending and close the file."""
        self.flush()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _entry(digest: str, cross: bool) -> str:
    return f"{digest}{'x' if cross else ''}-{engines_fingerprint()}"
