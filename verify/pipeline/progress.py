"""The progress bar: on a terminal only, and only when the work takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from hloproof.pipeline.prover import Progress as Report

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY_SECONDS = 1.0


class _Bar:
    """Starts itself when the delay has passed, so that quick work shows nothing and does not import rich."""

    def __init__(self) -> None:
        self._started = monotonic()
        self._shown = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int, what: str) -> None:
        now = monotonic()
        if now - self._started < DELAY_SECONDS or now - self._shown < 0.1:
            return
        self._shown = now
        if self._bar is None:
            self._start()
        assert self._bar is not None and self._task is not None
        self._bar.update(self._task, completed=done, total=total or None, description=what[:60])

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("", total=None)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress_bar(wanted: bool = True) -> Iterator[Report | None]:
    """A callback that shows progress on standard error, or None when that is not a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.stop()
