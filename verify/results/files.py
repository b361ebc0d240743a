"""Files of users and strangers, read and written: as much as is bearable, and no longer than somebody may wait."""

from __future__ import annotations

import errno
import json
import os
import select
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from time import monotonic, sleep
from typing import Any, Final, TextIO

from hloproof.models.stages import checkpoint, seconds_left
from hloproof.results.errors import BadInput

LARGEST: Final = 1 << 30
"""Bytes of a file, or of what it unpacks to."""
LARGEST_STREAM: Final = 1 << 28
"""Bytes of what has no size, such as a pipe; a device like /dev/zero never ends."""
PATIENCE: Final = 120.0
"""Seconds in which a pipe brings nothing, or has no reader, before it is given up; a person at a terminal has more."""
STANDARD_INPUT: Final = "-"
_PIECE: Final = 1 << 20
_LOOKS: Final = 0.05
"""Seconds between two looks whether a pipe has a reader."""


def read_file(path: str | os.PathLike[str] | int) -> bytes:
    """The bytes of a file, or of an open one by its number. Raises BadInput where it cannot be read, is too large, or
    is a pipe that nobody writes into, and OutOfTime where the time of the run ends while one waits."""
    name = f"file {path}" if isinstance(path, int) else os.fspath(path)
    try:
        return read_bytes(path, name)
    except OSError as error:
        raise BadInput(f"{name}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a name that holds a zero byte
        raise BadInput(f"{name!r}: {error}") from error


def read_bytes(path: str | os.PathLike[str] | int, name: str) -> bytes:
    """As `read_file`, with the errors of the system as they are; `name` is for messages."""
    # Without waiting: to open a pipe that nobody writes into would wait without end.
    number = os.dup(path) if isinstance(path, int) else os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return _read(number, name)
    finally:
        os.close(number)


def read_named(name: str) -> bytes:
    """The bytes of a file, or of standard input where the name is `-`. Raises as `read_file` does."""
    if name != STANDARD_INPUT:
        return read_file(name)
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError):  # a stream in memory
        data = sys.stdin.buffer.read(LARGEST_STREAM + 1)
        if len(data) > LARGEST_STREAM:
            raise _too_large(STANDARD_INPUT, LARGEST_STREAM) from None
        return data
    try:
        return _read(number, STANDARD_INPUT)
    except OSError as error:
        raise BadInput(f"{STANDARD_INPUT}: {(error.strerror or str(error)).lower()}") from error


def _read(number: int, name: str) -> bytes:
    about = os.fstat(number)
    regular = stat.S_ISREG(about.st_mode)
    largest = LARGEST if regular else LARGEST_STREAM
    if regular and about.st_size > largest:
        raise BadInput(f"{name} is larger than {largest >> 20} MiB")
    found = bytearray()
    while len(found) <= largest:
        if not regular:
            _wait(number, name)
        try:
            piece = os.read(number, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return bytes(found)
        found += piece
    raise _too_large(name, largest)


def _too_large(name: str, largest: int) -> BadInput:
    return BadInput(f"{name} holds more than {largest >> 20} MiB")


def _wait(number: int, name: str) -> None:
    """Until there is something to read, or the end."""
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    end = None if os.isatty(number) else monotonic() + PATIENCE
    while True:
        checkpoint()
        left = seconds_left()
        ends = [] if left is None else [left + 0.01]
        ends += [] if end is None else [max(0.0, end - monotonic())]
        if waiting.poll(1000 * min(ends, default=60.0)):
            return
        if end is not None and monotonic() >= end:
            checkpoint()
            raise BadInput(f"{name}: a pipe that brings nothing for {PATIENCE:g} seconds")


def write_file(path: Path, pieces: Iterable[str]) -> None:
    """Write a file under a name of its own beside the final one, then rename it: no partial file under the final name.

    A device or a pipe is written to as it is, not replaced. Raises BadInput when the folder is missing, not writable or
    full, and when nobody comes to read from a pipe.
    """
    temporary: Path | None = None
    try:
        if path.exists() and not path.is_file():
            with _stream_to(path) as stream:
                stream.writelines(pieces)
            return
        handle, name = mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.writelines(pieces)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def _stream_to(path: Path) -> TextIO:
    """A device or pipe opened for writing, once somebody reads from it."""
    end = monotonic() + PATIENCE
    while True:
        try:
            number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if monotonic() >= end:
                raise BadInput(f"{path}: a pipe that nobody reads from for {PATIENCE:g} seconds") from error
            sleep(_LOOKS)
            continue
        os.set_blocking(number, True)
        return os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_json(path: Path) -> Any:
    """The value in a file. Raises BadInput when it cannot be read, is no UTF-8, is no JSON, nests too deeply or has an
    integer of more digits than Python reads."""
    return value_of(read_file(path), str(path))


def value_of(data: bytes | str, name: str) -> Any:
    """The value of a JSON text; `name` says in errors where it came from. Raises BadInput."""
    try:
        return json.loads(data.decode("utf-8-sig") if isinstance(data, bytes) else data)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8 text, at byte {error.start}") from error
    except RecursionError as error:
        raise BadInput(f"{name}: not JSON: nested too deeply") from error
    except ValueError as error:
        raise BadInput(f"{name}: not JSON: {str(error).partition(';')[0]}") from error
