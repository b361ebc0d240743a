"""The stages of a run: how long each took, and when the time of all of them is over.

A run is told its seconds once, by `run_of`; every loop that may be long calls `checkpoint`, which raises `OutOfTime`
with the name of the stage when they have passed. What raises is given up as a whole: nothing is concluded from a part
of it. The run is ambient (a context variable), because what takes long lies deep: the simplifier under the composition
under the statement of a claim, none of which knows who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Final

Clock = Callable[[], float]
"""Seconds since any moment."""


class OutOfTime(Exception):
    """The seconds of a run are over; the text names the stage in which they ended. Another run may do better."""


class Run:
    """The stages of one run. `seconds` is its limit from now on, None for no limit; `limit` is what users call it."""

    def __init__(self, seconds: float | None = None, clock: Clock = monotonic, limit: str = "--total-seconds") -> None:
        self._clock, self.limit = clock, limit
        self._end = None if seconds is None else clock() + seconds
        self._open: list[str] = ["start"]
        self._inner: list[float] = [0.0]
        self.seconds: dict[str, float] = {}
        """By stage, without the stages inside of it."""
        self.ended = False
        """Something was given up because the time was over."""

    @contextmanager
    def stage(self, name: str, share: float = 1.0) -> Iterator[None]:
        """What is done inside belongs to the stage `name`, which may use `share` of the time that is left."""
        before, started = self._end, self._clock()
        if share < 1.0 and before is not None:
            self._end = started + share * max(0.0, before - started)
        self._open.append(name)
        self._inner.append(0.0)
        try:
            yield
        finally:
            taken = self._clock() - started
            self._open.pop()
            inner = self._inner.pop()
            self._inner[-1] += taken
            self._end = before
            self.seconds[name] = self.seconds.get(name, 0.0) + taken - inner

    def checkpoint(self) -> None:
        """Raise OutOfTime where the time of this stage is over."""
        if self._end is not None and self._clock() >= self._end:
            self.ended = True
            raise OutOfTime(f"the total time ran out ({self.limit}) in the stage {self._open[-1]!r}")

    def left(self) -> float | None:
        """Seconds until the limit, not below 0; None where there is none."""
        return None if self._end is None else max(0.0, self._end - self._clock())


_current: Final[ContextVar[Run]] = ContextVar("run")


_UNLIMITED: Final = Run()


@contextmanager
def running(run: Run) -> Iterator[Run]:
    """Make it the run that `stage` and `checkpoint` speak of."""
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)


def inside(seconds: float | None = None, clock: Clock = monotonic) -> Run:
    """A run that is part of the current one and does not outlast it; `seconds` is a limit of its own."""
    outer = _current.get(_UNLIMITED)
    left = outer.left()
    if left is None or (seconds is not None and seconds <= left):
        return Run(seconds, clock)
    return Run(left, clock, outer.limit)


def stage(name: str, share: float = 1.0) -> AbstractContextManager[None]:
    """A stage of the current run, for `with`."""
    return _current.get(_UNLIMITED).stage(name, share)


def checkpoint() -> None:
    """Raise OutOfTime where the time of the current run is over."""
    _current.get(_UNLIMITED).checkpoint()


def seconds_left() -> float | None:
    """Seconds that the current stage may still take; None for no limit."""
    return _current.get(_UNLIMITED).left()
