"""A limit on the time of what is done in this very process, and on its memory."""

from __future__ import annotations

import mmap
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

AGAIN: Final = 0.5
"""Seconds until it is raised once more: what is interrupted may take the first for an error of its own."""


@contextmanager
def at_most(seconds: float, late: Callable[[], BaseException]) -> Iterator[None]:
    """Raises what `late` makes in the body after so many seconds, where the platform has the signal and this is the
    main thread; else the body is not limited. A call into a library is interrupted when it returns."""

    over = False

    def stop(number: int, frame: object) -> None:
        if not over:
            raise late()

    try:
        before = signal.signal(signal.SIGALRM, stop)
    except (AttributeError, ValueError):
        yield
        return
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def at_most_more(megabytes: int) -> Iterator[None]:
    """In the body this process gets no more than so much address space beside what it has: MemoryError."""
    before = None
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * mmap.PAGESIZE
        before = resource.getrlimit(resource.RLIMIT_AS)
        limit = held + (megabytes << 20)
        if before[0] == resource.RLIM_INFINITY or limit < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_AS, before)
