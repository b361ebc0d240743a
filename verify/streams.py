"""The standard streams, made safe to use: closed ones, readers that go away, disks that are full, names that are no
text."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Final, TextIO

_CLOSED: Final = "standard output is closed"


class _Output(io.FileIO):
    """A standard stream whose reader may go away: what it no longer reads is dropped, and the status stays that of what
    was found. So is what cannot be written to the standard error, of which there is nowhere to tell it."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError) and self.fileno() != 2:
                raise
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return memoryview(data).nbytes


def settle() -> None:
    """Make all three streams usable.

    A closed one reads and writes nothing, and its number is taken, so that no file that is opened later (a cache, a
    report) gets what is meant for it. Characters that cannot be written, such as the bytes of a file's name that are no
    UTF-8, are written as escapes.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a stream of the whole process
    sys.stdout = _writing(1, sys.stdout)
    sys.stderr = _writing(2, sys.stderr)


def _writing(number: int, before: TextIO | None) -> TextIO:
    if before is not None:
        before.flush()
    raw = _Output(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8" if before is None else before.encoding,
        errors="backslashreplace",
        line_buffering=number == 2 or raw.isatty(),
    )


def flushed() -> str | None:
    """Write out what standard output still holds: None, or why that cannot be done."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer cannot be written either; closing would only fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return (error.strerror or str(error)).lower()
    except ValueError:
        return _CLOSED
    return None
