"""A pool of processes that can be killed, for work whose parts are known: each part has a limit of time and memory.

A process that is killed, runs out of memory or dies costs only the part that it had in hand; what was queued behind it
goes to another.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from hloproof.processes.process import Done, Process, Told, Work, ended_text


def work_on(
    parts: Sequence[Any],
    jobs: int,
    work: Work,
    on_result: Callable[[int, Any], None],
    total_seconds: float | None = None,
    keep: bool = False,
    ahead: int = 1,
) -> None:
    """Have all parts answered by `jobs` processes (0: one per core); each is told, by its position, as it is known.

    When `total_seconds` have passed, what has no answer is told as lost. KeyboardInterrupt and whatever `on_result`
    raises end the run and the processes. `keep` leaves them for the next run with the same work, until this process
    ends. `ahead` parts are sent to a process before it has answered the first of them.
    """
    jobs = max(1, min(jobs or os.cpu_count() or 1, (len(parts) + ahead - 1) // ahead))
    if parts:
        _Pool(parts, jobs, work, on_result, total_seconds, keep, ahead).run()


TOTAL_OVER: Final = "the total time ran out (--total-seconds)"

SECONDS_TO_BEGIN: Final = 60.0
"""One that is not ready after so long is taken for dead."""


@dataclass(eq=False)
class _Worker:
    process: Process
    in_hand: deque[int] = field(default_factory=deque)
    since: float = 0.0
    """When it began the first part that it has in hand."""
    killed: str = ""


class _Pool:
    def __init__(
        self,
        parts: Sequence[Any],
        jobs: int,
        work: Work,
        on_result: Callable[[int, Any], None],
        total: float | None,
        keep: bool,
        ahead: int,
    ) -> None:
        self.keep, self.ahead = keep, ahead
        self.parts, self.jobs, self.work, self.on_result = parts, jobs, work, on_result
        self.deadline = None if total is None else monotonic() + total
        self.waiting: deque[int] = deque(range(len(parts)))
        self.missing = len(parts)
        self.selector = selectors.DefaultSelector()
        self.workers: list[_Worker] = []
        self.stillborn = 0

    def run(self) -> None:
        try:
            while self.missing:
                while self.waiting and len(self.workers) < self.jobs:
                    self._start()
                for worker in self.workers:
                    self._feed(worker)
                for key, events in self.selector.select(self._patience()):
                    if key.data in self.workers:
                        if events & selectors.EVENT_WRITE and key.data.process.write():
                            self.selector.unregister(key.data.process.stdin)
                        if events & selectors.EVENT_READ:
                            self._read(key.data)
                if self._is_over():
                    return
        finally:
            for worker in list(self.workers):
                process = worker.process
                if self.keep and not worker.in_hand and not process.outgoing and process.began and not worker.killed:
                    _KEPT.append((os.getpid(), self.work, process))
                else:
                    self._end(worker)
            self.selector.close()

    def _start(self) -> None:
        worker = _Worker((_kept(self.work) if self.keep else None) or Process(self.work))
        self.selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        if worker.process.outgoing:
            self.selector.register(worker.process.stdin, selectors.EVENT_WRITE, worker)
        self.workers.append(worker)

    def _feed(self, worker: _Worker) -> None:
        idle = not worker.in_hand
        fair = max(1, min(self.ahead, len(self.waiting) // max(1, len(self.workers))))
        while self.waiting and len(worker.in_hand) < fair:
            number = self.waiting.popleft()
            if not worker.process.outgoing:
                with contextlib.suppress(KeyError, ValueError):
                    self.selector.register(worker.process.stdin, selectors.EVENT_WRITE, worker)
            worker.process.ask(number, self.parts[number])
            worker.in_hand.append(number)
        if idle:
            worker.since = monotonic()

    def _read(self, worker: _Worker) -> None:
        messages = worker.process.read()
        if messages is None:
            self._died(worker)
            return
        for message in messages:
            if not isinstance(message, Told):
                worker.since = monotonic()
            if isinstance(message, Done):
                assert message.number == worker.in_hand[0]
                worker.in_hand.popleft()
                self._report(message.number, message.answer)

    def _report(self, number: int, answer: Any) -> None:
        self.missing -= 1
        start = monotonic()
        self.on_result(number, answer)
        spent = monotonic() - start
        for worker in self.workers:  # an answer may lie unread meanwhile: what the caller takes is not their time
            worker.since += spent

    def _died(self, worker: _Worker) -> None:
        status = self._end(worker)
        self.stillborn = 0 if worker.process.began else self.stillborn + 1
        if not worker.process.began and not worker.killed and self.stillborn < 3:
            self.waiting.extendleft(reversed(worker.in_hand))  # it never began: nobody's fault
            return
        if worker.in_hand:
            first = worker.in_hand.popleft()
            self.waiting.extendleft(reversed(worker.in_hand))
            reason = worker.killed or ended_text(self.work, status)
            self._report(first, self.work.lost(self.parts[first], reason))

    def _end(self, worker: _Worker) -> int:
        """Kill the worker if it lives, and forget it. Returns its status."""
        self.workers.remove(worker)
        for stream in (worker.process.stdin, worker.process.stdout):
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(stream)
        # Where its output has ended, or the run has, a status may still come.
        return worker.process.end(0.2 if worker.in_hand and not worker.killed else 0.0)

    def _patience(self) -> float:
        """Seconds until some limit is reached."""
        now = monotonic()
        ends = [self._end_of(w) for w in self.workers if w.in_hand]
        if self.deadline is not None:
            ends.append(self.deadline)
        return min([1.0, *(max(0.0, e - now) for e in ends)])

    def _end_of(self, worker: _Worker) -> float:
        """When it is late."""
        return worker.since + (self.work.seconds if worker.process.began else SECONDS_TO_BEGIN)

    def _is_over(self) -> bool:
        """Kill who is late; report the rest as lost when the whole run is."""
        now = monotonic()
        for worker in list(self.workers):
            if worker.in_hand and not worker.killed and now >= self._end_of(worker):
                worker.killed = self.work.late if worker.process.began else "the worker did not begin"
                worker.process.kill()
        if self.deadline is None or now < self.deadline:
            return False
        for number in [n for w in self.workers for n in w.in_hand] + list(self.waiting):
            self._report(number, self.work.lost(self.parts[number], TOTAL_OVER))
        for worker in self.workers:
            worker.in_hand.clear()
        return True


_KEPT: Final[list[tuple[int, Work, Process]]] = []
"""Processes that wait for another run, with the process that they belong to and what they were told."""


def _kept(work: Work) -> Process | None:
    """One that was kept by this process for this work, and lives."""
    for entry in list(_KEPT):
        owner, told, process = entry
        if owner == os.getpid() and told == work:
            _KEPT.remove(entry)
            if process.process.poll() is None:
                return process
    return None


@atexit.register
def _end_kept() -> None:
    for owner, _, process in _KEPT:
        if owner == os.getpid():
            process.end()
    _KEPT.clear()
