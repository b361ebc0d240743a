"""Engines in processes that can be killed: each obligation has a limit of time and memory.

A worker is this module run as a program. It reads pickled frames `(number, obligation)` from its standard input and
writes `(number, outcome)` to its standard output; a frame is its length in 8 bytes, little endian, and the pickle. The
first frame is the `Task`. One that is killed, runs out of memory or dies costs only the obligation that it had in
hand, which becomes `unknown`, with the reason and not final; what was queued behind it goes to another worker.
"""

from __future__ import annotations

import atexit
import contextlib
import mmap
import os
import pickle
import resource
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final

from hloproof.engines.budget import DEFAULT, Budget, end_with_parent
from hloproof.logic.obligation import Obligation, Outcome

OnResult = Callable[[int, Outcome], None]

AHEAD: Final = 8
"""How many obligations are sent to a worker before it has answered the first of them."""

_LENGTH: Final = 8


@dataclass(frozen=True)
class Task:
    """What every worker of a run is told first."""

    budget: Budget = DEFAULT
    cross: bool = False
    reproductions: Path | None = None


def prove_many(
    obligations: Sequence[Obligation],
    jobs: int,
    task: Task,
    on_result: OnResult,
    total_seconds: float | None = None,
    keep: bool = False,
) -> None:
    """Prove all obligations on `jobs` workers (0: one per core) and report each, by its position, as it is decided.

    When `total_seconds` have passed, what is not decided is reported as unknown. KeyboardInterrupt and whatever
    `on_result` raises end the run and the workers. `keep` leaves the workers for the next run with the same task, until
    this process ends.
    """
    jobs = max(1, min(jobs or os.cpu_count() or 1, (len(obligations) + AHEAD - 1) // AHEAD))
    if obligations:
        _Pool(obligations, jobs, task, on_result, total_seconds, keep).run()


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    incoming: bytearray = field(default_factory=bytearray)
    outgoing: bytearray = field(default_factory=bytearray)
    in_hand: deque[int] = field(default_factory=deque)
    since: float = 0.0
    """When it began the first obligation that it has in hand."""
    killed: str = ""
    started: bool = False

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout


class _Pool:
    def __init__(
        self,
        obligations: Sequence[Obligation],
        jobs: int,
        task: Task,
        on_result: OnResult,
        total: float | None,
        keep: bool,
    ) -> None:
        self.keep = keep
        self.obligations, self.jobs, self.task, self.on_result = obligations, jobs, task, on_result
        self.deadline = None if total is None else monotonic() + total
        self.waiting: deque[int] = deque(range(len(obligations)))
        self.missing = len(obligations)
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
                        if events & selectors.EVENT_WRITE:
                            self._write(key.data)
                        if events & selectors.EVENT_READ:
                            self._read(key.data)
                if self._is_over():
                    return
        finally:
            for worker in list(self.workers):
                if self.keep and not worker.in_hand and not worker.outgoing and worker.started and not worker.killed:
                    _KEPT.append((os.getpid(), self.task, worker))
                else:
                    self._end(worker)
            self.selector.close()

    def _start(self) -> None:
        worker = _kept_worker(self.task) if self.keep else None
        if worker is not None:
            self.selector.register(worker.stdout, selectors.EVENT_READ, worker)
            self.workers.append(worker)
            return
        process = subprocess.Popen(
            isolated_python("from hloproof.engines.worker import main; main()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=_environment(),
        )
        worker = _Worker(process)
        os.set_blocking(worker.stdin.fileno(), False)
        os.set_blocking(worker.stdout.fileno(), False)
        worker.outgoing += _frame(self.task)
        self.selector.register(worker.stdout, selectors.EVENT_READ, worker)
        self.selector.register(worker.stdin, selectors.EVENT_WRITE, worker)
        self.workers.append(worker)

    def _feed(self, worker: _Worker) -> None:
        idle = not worker.in_hand
        fair = max(1, min(AHEAD, len(self.waiting) // max(1, len(self.workers))))
        while self.waiting and len(worker.in_hand) < fair:
            number = self.waiting.popleft()
            if not worker.outgoing:
                with contextlib.suppress(KeyError, ValueError):
                    self.selector.register(worker.stdin, selectors.EVENT_WRITE, worker)
            worker.outgoing += _frame((number, self.obligations[number]))
            worker.in_hand.append(number)
        if idle:
            worker.since = monotonic()

    def _write(self, worker: _Worker) -> None:
        try:
            sent = os.write(worker.stdin.fileno(), worker.outgoing)
        except BlockingIOError:
            return
        except OSError:  # it died; its output will end
            sent = len(worker.outgoing)
        del worker.outgoing[:sent]
        if not worker.outgoing:
            self.selector.unregister(worker.stdin)

    def _read(self, worker: _Worker) -> None:
        try:
            data = os.read(worker.stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return
        if not data:
            self._died(worker)
            return
        worker.incoming += data
        for message in _frames(worker.incoming):
            if message is None:
                worker.started, worker.since = True, monotonic()
                continue
            number, outcome = message
            assert number == worker.in_hand[0]
            worker.in_hand.popleft()
            worker.since = monotonic()
            self._report(number, outcome)

    def _report(self, number: int, outcome: Outcome) -> None:
        self.missing -= 1
        start = monotonic()
        self.on_result(number, outcome)
        spent = monotonic() - start
        for worker in self.workers:  # an answer may lie unread meanwhile: what the caller takes is not their time
            worker.since += spent

    def _died(self, worker: _Worker) -> None:
        status = self._end(worker)
        self.stillborn = 0 if worker.started else self.stillborn + 1
        if not worker.started and not worker.killed and self.stillborn < 3:
            self.waiting.extendleft(reversed(worker.in_hand))  # it never began: nobody's fault
            return
        if worker.in_hand:
            first = worker.in_hand.popleft()
            self.waiting.extendleft(reversed(worker.in_hand))
            reason = worker.killed or f"the worker died ({_status_text(status)})"
            self._report(first, Outcome("unknown", reason=reason, final=False))

    def _end(self, worker: _Worker) -> int:
        """Kill the worker if it lives, and forget it. Returns its status."""
        self.workers.remove(worker)
        for stream in (worker.stdin, worker.stdout):
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(stream)
            with contextlib.suppress(OSError):
                stream.close()
        if worker.process.poll() is None and not worker.killed and worker.in_hand:
            # Its output has ended, or the run has: a status may still come, then it is killed.
            with contextlib.suppress(subprocess.TimeoutExpired):
                return worker.process.wait(0.2)
        if worker.process.poll() is None:
            worker.process.kill()
        return worker.process.wait()

    def _patience(self) -> float:
        """Seconds until some limit is reached."""
        now = monotonic()
        ends = [w.since + self.task.budget.seconds for w in self.workers if w.in_hand and w.started]
        if self.deadline is not None:
            ends.append(self.deadline)
        return min([1.0, *(max(0.0, e - now) for e in ends)])

    def _is_over(self) -> bool:
        """Kill who is late; report the rest as unknown when the whole run is."""
        now = monotonic()
        seconds = self.task.budget.seconds
        for worker in list(self.workers):
            late = worker.started and worker.in_hand and now - worker.since >= seconds
            if late and not worker.killed:
                worker.killed = f"no answer within {seconds:g} seconds (--obligation-seconds)"
                worker.process.kill()
        if self.deadline is None or now < self.deadline:
            return False
        for number in [n for w in self.workers for n in w.in_hand] + list(self.waiting):
            self._report(number, Outcome("unknown", reason="the total time ran out (--total-seconds)", final=False))
        for worker in self.workers:
            worker.in_hand.clear()
        return True


def isolated_python(program: str) -> list[str]:
    """The command that runs a program of this package's in a Python of its own.

    The working directory does not decide what it imports: a folder that is checked may hold an `enum.py`. Where this
    package was found without being installed, its folder comes last.
    """
    folder = Path(__file__).absolute().parents[2]
    path = f"import sys; sys.path.append({str(folder)!r}); " if (folder / "hloproof" / "__init__.py").exists() else ""
    return [sys.executable, "-P", "-c", path + program]


def _environment() -> dict[str, str]:
    """That of this process. Hashes are the same in every run; a PYTHONPATH does not name the working directory."""
    folders = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(p)]
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(folders)}


_KEPT: Final[list[tuple[int, Task, _Worker]]] = []
"""Workers that wait for another run, with the process that they belong to and what they were told."""


def _kept_worker(task: Task) -> _Worker | None:
    """One that was kept by this process for this task, and lives."""
    for entry in list(_KEPT):
        owner, told, worker = entry
        if owner == os.getpid() and told == task:
            _KEPT.remove(entry)
            if worker.process.poll() is None:
                return worker
    return None


@atexit.register
def _end_kept() -> None:
    for owner, _, worker in _KEPT:
        if owner == os.getpid():
            worker.process.kill()
            worker.process.wait()
            for stream in (worker.stdin, worker.stdout):
                stream.close()
    _KEPT.clear()


def _status_text(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-status).name}"
    return f"status {status}"


def _frame(message: object) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH, "little") + data


def _frames(buffer: bytearray) -> Iterable[Any]:
    """The whole frames at the beginning of the buffer, taken out of it."""
    while len(buffer) >= _LENGTH:
        end = _LENGTH + int.from_bytes(buffer[:_LENGTH], "little")
        if len(buffer) < end:
            return
        data = bytes(buffer[_LENGTH:end])
        del buffer[:end]
        yield pickle.loads(data)


# The other side: the worker.


def _serve(source: IO[bytes], sink: IO[bytes]) -> None:
    from hloproof.engines.portfolio import prove

    task = _receive(source)
    assert isinstance(task, Task)
    limit = task.budget.megabytes << 20
    with contextlib.suppress(ValueError, OSError):  # a lower hard limit is set already
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    starved = f"out of memory ({task.budget.megabytes} MB per worker)"
    sink.write(_frame(None))
    sink.flush()
    while True:
        message = _receive(source)
        if message is None:
            return
        number, obligation = message
        try:
            outcome = prove(obligation, task.budget, task.cross, task.reproductions)
        except MemoryError:
            outcome = Outcome("unknown", reason=starved, final=False)
        except RecursionError:
            outcome = Outcome("unknown", reason="a formula nested too deeply")
        except Exception as error:
            if _is_starved():  # libraries report it in many ways, a failed import among them
                outcome = Outcome("unknown", reason=starved, final=False)
            else:
                outcome = Outcome("internal", reason=f"the engine failed: {type(error).__name__}: {error}")
        sink.write(_frame((number, outcome)))
        sink.flush()


def _is_starved() -> bool:
    """Whether this process cannot get a large piece of memory any more."""
    try:
        mmap.mmap(-1, 64 << 20).close()
    except (OSError, ValueError):
        return True
    return False


def _receive(source: IO[bytes]) -> Any:
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    return pickle.loads(source.read(int.from_bytes(head, "little")))


def main() -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints may get into the frames
    _serve(source, sink)
