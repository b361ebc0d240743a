"""A limit on the time of what is done in this very process, and on its memory."""

from __future__ import annotations

import mmap
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from math import inf
from time import monotonic
from types import FrameType
from typing import Any, Final

AGAIN: Final = 0.5
"""Seconds until it is raised once more: what is interrupted may take the first for an error of its own."""
_SOON: Final = 0.001
"""Seconds until the alarm around rings whose time came while the one inside was left."""


def at_most(seconds: float, late: Callable[[], BaseException]) -> AbstractContextManager[None]:
    """Raises what `late` makes in the body after so many seconds, where the platform has the signal and this is the
    main thread; else the body is not limited. A call into a library is interrupted when it returns. Where what is
    raised gets lost in the body, and the body ends before the next one, it is raised at its end. Where one is set
    inside of another, each rings at its own time. `seconds` is above 0."""
    return _Alarm(seconds, late)


class _Alarm(AbstractContextManager[None]):
    """Nothing is raised while the body is left: the alarm would go on for ever, and end whoever comes next."""

    def __init__(self, seconds: float, late: Callable[[], BaseException]) -> None:
        self._seconds, self._late = seconds, late
        self._before: Any = None
        self._end = self._ends_around = inf
        """When it rings, and when the next one around it does."""
        self._set = self._over = self._rang = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None:
            if at.f_code is _Alarm.__exit__.__code__ and at.f_locals.get("self") is self:
                return
            at = at.f_back
        now = monotonic()
        if now >= self._ends_around and callable(self._before):
            self._ends_around = now + AGAIN
            self._before(number, frame)
        if not self._over and (now >= self._end or self._ends_around == inf):
            self._rang = True
            raise self._late()

    def __enter__(self) -> None:
        now = monotonic()
        try:
            self._before = signal.signal(signal.SIGALRM, self._stop)
        except (AttributeError, ValueError):
            return
        self._set = True
        try:
            left, _ = signal.getitimer(signal.ITIMER_REAL)
            self._end, self._ends_around = now + self._seconds, now + left if left else inf
            signal.setitimer(signal.ITIMER_REAL, min(self._seconds, left or inf), AGAIN)
        except BaseException as early:  # the time is up already
            self.__exit__(type(early))
            raise

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        self._over = True
        if self._set:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            if self._ends_around < inf:
                signal.setitimer(signal.ITIMER_REAL, max(self._ends_around - monotonic(), _SOON), AGAIN)
        if self._rang and kind is None:
            raise self._late()


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
