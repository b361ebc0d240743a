"""A limit on the time of what is done in this very process, and on its memory."""

from __future__ import annotations

import mmap
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from math import inf
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN: Final = 0.5
"""Seconds until it is raised once more: what is interrupted may take the first for an error of its own."""
_SOON: Final = 0.001
"""Seconds until an alarm rings whose time came while one inside of it was entered or left, or whose first was lost."""
_EARLY: Final = 0.001
"""Seconds by which two clocks may differ."""


def at_most(seconds: float, late: Callable[[], BaseException]) -> AbstractContextManager[None]:
    """Raises what `late` makes in the body after so many seconds, where the platform has the signal and this is the
    main thread; else the body is not limited. A call into a library is interrupted when it returns. What is raised
    where nothing can be (in what Python calls by itself when memory is collected) is raised soon after. Where it gets
    lost in the body, and the body ends as if nothing was, it is raised at its end. Where one is set inside of
    another, or of an alarm that somebody else has set, each rings at its own time. `seconds` is above 0."""
    return _Alarm(seconds, late)


class _Alarm(AbstractContextManager[None]):
    """Nothing is raised while the body is entered or left: the alarm would go on for ever, and end whoever comes next.
    What comes in the meantime is told soon after."""

    def __init__(self, seconds: float, late: Callable[[], BaseException]) -> None:
        self._seconds, self._late = seconds, late
        self._before: Any = None
        """Who was told before, and is told again behind the body; in it, when that one's time is over."""
        self._end = self._ends_around = inf
        """When it rings, and when the next one around it does."""
        self._every = 0.0
        """How often that one rings again, in seconds."""
        self._set = self._missed = False
        self._told: tuple[BaseException, float] | None = None
        """What was raised last, and when the alarm around this one was to ring before."""
        self._lost_before: Callable[[UnraisableHookArgs], object] = sys.unraisablehook
        """Who is told of what is raised where nothing can be, but for what is raised here."""

    def _stop(self, number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None:
            if at.f_code in _SILENT and at.f_locals.get("self") is self:
                self._missed = True
                return
            at = at.f_back
        now, due = monotonic() + _EARLY, self._ends_around
        try:
            if now >= due and callable(self._before):
                self._ends_around = now + self._every if self._every else inf
                self._before(number, frame)
            if now >= self._end:
                raise self._late()
        except BaseException as told:
            self._told = told, due
            raise

    def _lost(self, what: UnraisableHookArgs) -> None:
        if self._told is None or what.exc_value is not self._told[0]:
            self._lost_before(what)
            return
        self._ends_around = self._told[1]
        signal.setitimer(signal.ITIMER_REAL, _SOON, AGAIN)

    def __enter__(self) -> None:
        now = monotonic()
        try:
            self._before = signal.signal(signal.SIGALRM, self._stop)
        except (AttributeError, ValueError):
            return
        self._set = True
        self._lost_before, sys.unraisablehook = sys.unraisablehook, self._lost
        left, self._every = signal.getitimer(signal.ITIMER_REAL)
        around = now if self._missed else now + left if left else inf
        self._end, self._ends_around = now + self._seconds, around
        signal.setitimer(signal.ITIMER_REAL, max(min(self._end, around) - monotonic(), _SOON), AGAIN)
        if self._missed:
            signal.setitimer(signal.ITIMER_REAL, _SOON, AGAIN)

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if not self._set:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        sys.unraisablehook, self._told = self._lost_before, None
        if self._ends_around < inf:
            signal.setitimer(signal.ITIMER_REAL, max(self._ends_around - monotonic(), _SOON), self._every)
        if kind is None and monotonic() >= self._end:
            raise self._late()


_SILENT: Final = (_Alarm.__enter__.__code__, _Alarm.__exit__.__code__, _Alarm._lost.__code__)


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
