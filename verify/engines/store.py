"""What runs keep for each other: one SQLite file, shared by concurrent processes, that survives being killed.

It holds bytes under keys; what they mean, and what makes a key another one (the sources, the solvers' versions, the
options), is for those who keep them: outcomes of obligations, verdicts on entries of spec files, verdicts on HLO files.
A damaged file is set aside, with a warning, and a new one is begun; one that cannot be used is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import sqlite3
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import Final

SCHEMA: Final = 3
COMMIT_SECONDS: Final = 0.5
"""How long a result may wait to be written."""

DAMAGED: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading an entry may raise that somebody has written over: it counts as not kept."""

_MAC: Final = 32
"""Bytes of an entry's code, and of the key that it is made with."""

_TABLE: Final = "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def default_path() -> Path:
    """`hloproof/proofs-N.sqlite` in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("hloproof", appauthor=False) / f"proofs-{SCHEMA}.sqlite"


def fingerprint(folders: Iterable[Path], files: Iterable[Path] = ()) -> bytes:
    """A digest of every Python file in the folders as they stand, of the files, and of the solvers' versions."""
    state = hashlib.sha256()
    for folder in folders:
        # All of the folder, and not a list of files: one that was forgotten would let proofs of older code stand.
        for source in sorted(folder.rglob("*.py")):
            state.update(source.relative_to(folder).as_posix().encode())
            state.update(source.read_bytes())
    for file in files:
        state.update(file.name.encode())
        state.update(file.read_bytes())
    for package in ("islpy", "z3-solver", "cvc5"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            state.update(f"{package} {metadata.version(package)}".encode())
    return state.digest()


@cache
def _tell(text: str) -> None:
    """On the standard error, each text once."""
    print(f"hloproof: {text}", file=sys.stderr)


def _secret() -> bytes:
    """The key of this user, made when it is first needed. Where it cannot be kept, entries hold for this run alone."""
    return _secret_in(default_path().with_name("key"))


@cache
def _secret_in(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Whole under its name or not at all: another process may look for it just now, and the first one counts.
            new = path.with_name(f"key.{os.getpid()}.{secrets.token_hex(4)}")
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as out:
                out.write(secrets.token_bytes(_MAC))
            with contextlib.suppress(FileExistsError):
                os.link(new, path)
            new.unlink()
        found = path.read_bytes()
        if len(found) == _MAC:
            return found
    return secrets.token_bytes(_MAC)


def _signed(key: bytes, value: bytes) -> bytes:
    """The value, behind a code that only this user can make for this key."""
    # The key is signed too: an entry that is true of one obligation must not be found under another.
    return hmac.digest(_secret(), hashlib.sha256(key).digest() + value, "sha256") + value


def _authentic(key: bytes, kept: bytes) -> bytes | None:
    """The value of an entry that this user made; None for any other: a cache may come from a stranger."""
    value = kept[_MAC:]
    return value if hmac.compare_digest(_signed(key, value), kept) else None


class Store:
    """A file, opened; without a path nothing is kept. `warn` is told when the file cannot be used or is set aside."""

    def __init__(self, path: Path | None, warn: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._warn = warn or _tell
        self._pending: dict[bytes, bytes] = {}
        self._last = monotonic()
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            self._connection = self._open(path)

    @property
    def is_open(self) -> bool:
        """False where nothing is found and nothing kept."""
        return self._connection is not None

    def _open(self, path: Path) -> sqlite3.Connection | None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return self._connect(path)
        except sqlite3.OperationalError as error:  # locked or not writable: not damaged
            self._warn(f"the proof cache {path} cannot be used ({error}); going on without it")
        except sqlite3.DatabaseError as error:
            self._set_aside(path, error)
            with contextlib.suppress(sqlite3.Error):
                return self._connect(path)
        except OSError as error:
            self._warn(f"the proof cache {path} cannot be used ({error}); going on without it")
        return None

    def _connect(self, path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(_TABLE)
            connection.execute("SELECT key, value FROM kept LIMIT 1")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _set_aside(self, path: Path, error: sqlite3.Error) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        aside = path.with_name(path.name + ".damaged")
        with contextlib.suppress(OSError):
            path.replace(aside)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(OSError):
                path.with_name(path.name + suffix).unlink()
        self._warn(f"the proof cache {path} is damaged ({error}); set aside as {aside.name}, a new one is begun")

    def _damaged(self, error: sqlite3.Error) -> None:
        if self.path is not None:
            self._set_aside(self.path, error)
            self._connection = self._open(self.path)

    def get(self, key: bytes) -> bytes | None:
        """What is kept under a key."""
        if key in self._pending:
            return self._pending[key]
        if self._connection is None:
            return None
        try:
            row = self._connection.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError as error:
            self._damaged(error)
            return None
        return _authentic(key, row[0]) if row is not None and isinstance(row[0], bytes) else None

    def put(self, key: bytes, value: bytes) -> None:
        """Keep a value; it is written soon, and when the store is closed."""
        if self._connection is None:
            return
        self._pending[key] = value
        if monotonic() - self._last > COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending."""
        rows, self._pending, self._last = self._pending, {}, monotonic()
        if self._connection is None or not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)", [(k, _signed(k, v)) for k, v in rows.items()]
            )
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            self._warn(f"the proof cache {self.path} was not written ({error})")
        except sqlite3.DatabaseError as error:
            self._damaged(error)

    def close(self) -> None:
        """Write what is pending and close the file."""
        self.flush()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
