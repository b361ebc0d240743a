"""Files of users and strangers read: as much as is bearable, and no longer than the run may take."""

from __future__ import annotations

import os
import select
import stat
from typing import Final

from hloproof.models.stages import checkpoint, seconds_left
from hloproof.results.errors import BadInput

LARGEST: Final = 1 << 30
"""Bytes of a file, or of what it unpacks to."""
LARGEST_STREAM: Final = 1 << 28
"""Bytes of what has no size, such as a pipe; a device like /dev/zero never ends."""
_PIECE: Final = 1 << 20


def read_file(path: str | os.PathLike[str] | int) -> bytes:
    """The bytes of a file, or of an open one by its number. Raises BadInput where it cannot be read or is too large,
    and OutOfTime where nobody writes into a pipe until the time of the run is over."""
    name = f"file {path}" if isinstance(path, int) else os.fspath(path)
    try:
        # Without waiting: to open a pipe that nobody writes into would wait without end.
        number = os.dup(path) if isinstance(path, int) else os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _read(number, name)
        finally:
            os.close(number)
    except OSError as error:
        raise BadInput(f"{name}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a name that holds a zero byte
        raise BadInput(f"{name!r}: {error}") from error


def _read(number: int, name: str) -> bytes:
    about = os.fstat(number)
    regular = stat.S_ISREG(about.st_mode)
    largest = LARGEST if regular else LARGEST_STREAM
    if regular and about.st_size > largest:
        raise BadInput(f"{name} is larger than {largest >> 20} MiB")
    found = bytearray()
    while len(found) <= largest:
        if not regular:
            _wait(number)
        try:
            piece = os.read(number, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return bytes(found)
        found += piece
    raise BadInput(f"{name} holds more than {largest >> 20} MiB")


def _wait(number: int) -> None:
    """Until there is something to read, or the end."""
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    while True:
        checkpoint()
        left = seconds_left()
        if waiting.poll(None if left is None else 1000 * left + 10):
            return
