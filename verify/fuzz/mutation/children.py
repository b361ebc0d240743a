"""Each change is tried in a process of its own, forked from this one: code is imported and cases are drawn once.

A process that crashes, asks for too much memory or takes too long has shown the change as well.
"""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from hloproof.processes.process import end_with_parent

MOST_MEMORY: Final = 3 * 2**30
"""Bytes of address space of a child; one that asks for more has noticed the error."""
LONGEST_ANSWER: Final = 400
"""Bytes."""

T = TypeVar("T")


def tried(
    items: Iterable[T], answer: Callable[[T], str], jobs: int, seconds: float, total: float = math.inf
) -> Iterator[tuple[T, str, float]]:
    """What `answer` says of each item in a process that it may change as it likes, and the seconds until it said so:
    `crash` where it says nothing, `time` after `seconds`. After `total` seconds no more are begun."""
    waiting, running = iter(items), dict[int, tuple[int, T, float]]()
    end = time.monotonic() + total
    while True:
        while len(running) < jobs and time.monotonic() < end:
            item = next(waiting, None)
            if item is None:
                break
            reading, pid = _forked(item, answer)
            running[reading] = (pid, item, time.monotonic())
        if not running:
            return
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for reading, (pid, item, started) in list(running.items()):
            spent = time.monotonic() - started
            if reading in ready:
                said = os.read(reading, LONGEST_ANSWER).decode(errors="replace") or "crash"
            elif spent > seconds:
                os.kill(pid, signal.SIGKILL)
                said = "time"
            else:
                continue
            os.waitpid(pid, 0)
            os.close(reading)
            del running[reading]
            yield item, said, spent


def _forked(item: T, answer: Callable[[T], str]) -> tuple[int, int]:
    """Where the child's answer is read, and its process."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        end_with_parent()
        os.close(reading)
        _answers(item, answer, writing)
    os.close(writing)
    return reading, pid


def _answers(item: T, answer: Callable[[T], str], out: int) -> None:
    """Never returns."""
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        said = answer(item)
    except BaseException as error:
        said = f"crash ({type(error).__name__})"
    try:
        os.write(out, said.encode()[:LONGEST_ANSWER])
    finally:  # Also where nobody reads any more: a child that went on would report as if it were the campaign.
        os._exit(0)
