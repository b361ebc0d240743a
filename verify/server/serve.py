"""JSON-RPC 2.0 over lines: one request, or one batch, per line in; one answer per line out.

The server itself reads and writes; requests are carried out side by side by workers, each of which can be killed:
because its request is cancelled, because its time is over, or because it holds too much memory. A worker that has done
much, or has grown, is renewed. A bad line is answered and never ends the server.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from io import UnsupportedOperation
from time import monotonic
from typing import Any, BinaryIO, Final

from hloproof.processes.process import Done, Process, Told, ended_text
from hloproof.results.verdict import Exit
from hloproof.server.answering import Answering, Asked
from hloproof.server.protocol import (
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    OUT_OF_TIME,
    TOO_LARGE,
    ProtocolRequest,
    RequestError,
    checked_parameters,
    dump,
    error_answer,
    is_id,
    known_id,
    method_of,
    progress_note,
    read_line,
    request_of,
    result_answer,
)


@dataclass(frozen=True)
class Limits:
    """What one server may use."""

    jobs: int = 0
    """Requests at once; 0 is one per core."""
    seconds: float = 300.0
    """For a request that names no budget."""
    megabytes: int = 2048
    """Address space of a worker."""
    request_megabytes: float = 32.0
    """A longer line is refused without being kept."""
    waiting_megabytes: float = 64.0
    """Nothing is read while more waits to be carried out, or to be written."""
    worker_requests: int = 20_000
    """After so many a worker is renewed."""
    worker_megabytes: float = 160.0
    """One that holds more after a request is renewed."""


_GRACE: Final = 1.5
_MORE: Final = 2.0
"""A worker is killed after its request's budget times `_GRACE` and `_MORE` seconds: most end by themselves."""

_PIECE: Final = 4096
"""A pipe that can be written to takes so many bytes at once without waiting."""


@dataclass(eq=False)
class _Batch:
    """The answers that go onto one line, by position; None for those of notifications."""

    answers: list[dict[str, Any] | None]
    missing: int
    alone: bool


@dataclass(eq=False)
class _Job:
    """A request that was accepted, and where its answer goes."""

    request: ProtocolRequest
    batch: _Batch
    position: int
    size: int
    ends: float = 0.0
    budget: float = 0.0


@dataclass(eq=False)
class _Worker:
    process: Process
    job: _Job | None = None
    done: int = 0


@dataclass
class _Server:
    requests: BinaryIO
    answers: BinaryIO
    limits: Limits
    waiting: deque[_Job] = field(default_factory=deque)
    workers: list[_Worker] = field(default_factory=list)
    outgoing: bytearray = field(default_factory=bytearray)
    open: bool = True
    """Requests are read."""
    last: list[_Job] = field(default_factory=list)
    """Requests of `shutdown`, which are answered after all others; a batch may hold several."""

    def __post_init__(self) -> None:
        self.lines = _Lines(int(self.limits.request_megabytes * (1 << 20)))
        self.source, self.sink = _number(self.requests), _number(self.answers)
        self.jobs = self.limits.jobs or os.cpu_count() or 1
        self.waiting_bytes = 0

    # --- the loop

    def run(self) -> None:
        try:
            while self.open or self.waiting or self._busy() or self.last or self.outgoing:
                if not self.open and not self.waiting and not self._busy():
                    for job in self.last:
                        self._answer(job, result_answer(job.request.id, None))
                    self.last.clear()
                self._hand_out()
                self._wait()
                self._end_late()
        finally:
            for worker in self.workers:
                worker.process.end()

    def _busy(self) -> bool:
        return any(w.job is not None for w in self.workers)

    def _wait(self) -> None:
        """Until something can be read or written, or some time is over; then read and write it."""
        poll, owners = select.poll(), {}
        for worker in self.workers:
            owners[worker.process.stdout.fileno()] = worker
            poll.register(worker.process.stdout, select.POLLIN)
            if worker.process.outgoing:
                owners[worker.process.stdin.fileno()] = worker
                poll.register(worker.process.stdin, select.POLLOUT)
        full = max(self.waiting_bytes, len(self.outgoing)) > self.limits.waiting_megabytes * (1 << 20)
        reads = self.open and not full
        if reads and self.source is not None:
            poll.register(self.source, select.POLLIN)
        if self.outgoing and self.sink is not None:
            poll.register(self.sink, select.POLLOUT)
        at_once = (reads and self.source is None) or (self.outgoing and self.sink is None)
        idle = not (reads or self.outgoing or self._busy())
        for number, _ in poll.poll(0 if at_once or idle else self._patience()):
            if number == self.source:
                self._read()
            elif number == self.sink:
                del self.outgoing[: os.write(number, memoryview(self.outgoing)[:_PIECE])]
            elif (worker := owners[number]) in self.workers:
                self._hear(worker) if number == worker.process.stdout.fileno() else worker.process.write()
        if reads and self.source is None:
            self._read()
        if self.outgoing and self.sink is None:
            self.answers.write(self.outgoing)
            self.answers.flush()
            self.outgoing.clear()

    def _patience(self) -> float | None:
        """Milliseconds until some request is late."""
        ends = [w.job.ends for w in self.workers if w.job is not None]
        return max(0.0, min(ends) - monotonic()) * 1000 + 1 if ends else None

    # --- requests

    def _read(self) -> None:
        data = os.read(self.source, 1 << 18) if self.source is not None else self.requests.read(1 << 18)
        self.open = bool(data)
        for line in self.lines.of(data):
            if not self.open and data:
                return  # after a shutdown
            if line is None:
                said = f"a request of more than {self.limits.request_megabytes:g} megabytes"
                self._say(error_answer(None, TOO_LARGE, said))
            elif line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            read = read_line(line)
        except RequestError as error:
            self._say(error_answer(None, error.code, error.message))
            return
        if isinstance(read, list) and not read:
            self._say(error_answer(None, INVALID_REQUEST, "an empty batch"))
            return
        each = read if isinstance(read, list) else [read]
        batch = _Batch([None] * len(each), len(each), not isinstance(read, list))
        for position, one in enumerate(each):
            self._accept(one, batch, position, len(line) // len(each))

    def _accept(self, read: Any, batch: _Batch, position: int, size: int) -> None:
        try:
            request = request_of(read)
            job = _Job(request, batch, position, size)
            if request.method == "$/cancel":
                self._cancel(request.parameters.get("id"))
                self._answer(job, result_answer(request.id, None))
                return
            method = method_of(request.method)
            request = replace(request, parameters=checked_parameters(method, request.parameters))
            job = _Job(request, batch, position, size)
        except RequestError as error:
            silent = isinstance(read, dict) and "id" not in read and error.code not in (INVALID_REQUEST,)
            self._answered(
                batch,
                position,
                None if silent else error_answer(known_id(read), error.code, error.message, **error.data),
            )
            return
        if request.method == "shutdown":
            self.open = False
            self.last.append(job)
        elif request.silent:
            self._answered(batch, position, None)  # nobody would hear
        elif method.at_once:
            self._answer(job, Answering(self.limits.seconds, 0).answer(_asked(job)))
        else:
            self.waiting.append(job)
            self.waiting_bytes += size

    def _cancel(self, request_id: Any) -> None:
        """End the requests of this id; one that is answered already, or that nobody knows, is passed over."""
        if not is_id(request_id):
            raise RequestError(INVALID_PARAMS, "$/cancel takes the id of a request")
        for job in [j for j in self.waiting if j.request.id == request_id]:
            self.waiting.remove(job)
            self.waiting_bytes -= job.size
            self._answer(job, error_answer(request_id, CANCELLED, "cancelled"))
        for worker in [w for w in self.workers if w.job is not None and w.job.request.id == request_id]:
            self._dismiss(worker, CANCELLED, "cancelled")

    # --- workers

    def _hand_out(self) -> None:
        while self.waiting:
            worker = next((w for w in self.workers if w.job is None), None)
            if worker is None:
                if len(self.workers) >= self.jobs:
                    return
                worker = _Worker(Process(Answering(self.limits.seconds, self.limits.megabytes)))
                self.workers.append(worker)
            job = worker.job = self.waiting.popleft()
            self.waiting_bytes -= job.size
            worker.process.ask(worker.done, _asked(job))
            job.budget = job.request.parameters.get("budget", self.limits.seconds)
            job.ends = monotonic() + job.budget * _GRACE + _MORE

    def _hear(self, worker: _Worker) -> None:
        messages = worker.process.read()
        if messages is None:
            self.workers.remove(worker)
            status = worker.process.end(0.2)
            if worker.job is not None:
                work = Answering(self.limits.seconds, self.limits.megabytes)
                self._answer(worker.job, work.lost(_asked(worker.job), ended_text(work, status)))
            return
        for message in messages:
            job = worker.job
            if job is None:
                continue
            if isinstance(message, Told):
                self._say(progress_note(job.request.id, message.what))
            elif isinstance(message, Done):
                worker.job = None
                worker.done += 1
                self._answer(job, message.answer)
                grown = message.megabytes > self.limits.worker_megabytes
                if grown or worker.done >= self.limits.worker_requests:
                    self.workers.remove(worker)
                    worker.process.end()

    def _end_late(self) -> None:
        now = monotonic()
        for worker in [w for w in self.workers if w.job is not None and w.job.ends <= now]:
            assert worker.job is not None
            self._dismiss(worker, OUT_OF_TIME, f"no answer within {worker.job.budget:g} seconds")

    def _dismiss(self, worker: _Worker, code: int, said: str) -> None:
        """Kill a worker and answer its request with an error."""
        self.workers.remove(worker)
        worker.process.end()
        if worker.job is not None:
            self._answer(worker.job, error_answer(worker.job.request.id, code, said))

    # --- answers

    def _answer(self, job: _Job, answer: dict[str, Any]) -> None:
        self._answered(job.batch, job.position, None if job.request.silent else answer)

    def _answered(self, batch: _Batch, position: int, answer: dict[str, Any] | None) -> None:
        """One answer of a batch; when it is the last, the line goes out."""
        batch.answers[position] = answer
        batch.missing -= 1
        given = [a for a in batch.answers if a is not None]
        if batch.missing == 0 and given:
            self._say(given[0] if batch.alone else given)

    def _say(self, what: Any) -> None:
        self.outgoing += dump(what) + b"\n"


class _Lines:
    """Pieces of a stream put together to lines; one that is too long is None, and nothing of it is kept."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.pieces: list[bytes] = []
        self.length = 0

    def of(self, data: bytes) -> list[bytes | None]:
        """The lines that the next piece completes; at the end, which is an empty piece, the rest."""
        *ended, rest = data.split(b"\n") if data else [b"", b""]
        found: list[bytes | None] = []
        for part in ended:
            self._add(part)
            found.append(b"".join(self.pieces) if self.length <= self.most else None)
            self.pieces, self.length = [], 0
        self._add(rest)
        return found

    def _add(self, part: bytes) -> None:
        self.length += len(part)
        if self.length > self.most:
            self.pieces.clear()
        elif part:
            self.pieces.append(part)


def _asked(job: _Job) -> Asked:
    return Asked(job.request.id, job.request.method, job.request.parameters)


def _number(stream: BinaryIO) -> int | None:
    """The stream's number; None for one in memory."""
    with contextlib.suppress(UnsupportedOperation):
        return stream.fileno()
    return None


def serve(requests: BinaryIO, answers: BinaryIO, limits: Limits | None = None) -> None:
    """Answer each line of `requests` until its end, or until `shutdown` is answered; what was asked before is answered
    before."""
    _Server(requests, answers, limits or Limits()).run()


def serve_standard_streams(limits: Limits | None = None) -> int:
    """Serve until end of input or `shutdown`; the exit status.

    Standard output is kept for answers alone: whatever else writes to it goes to standard error.
    """
    sys.stdout.flush()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        serve(sys.stdin.buffer, answers, limits)
    except BrokenPipeError:
        # Nobody reads the answers any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())
    return int(Exit.OK)
