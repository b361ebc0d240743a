"""Processes of this package's own that can be killed: what they are told, what they answer, and how they end.

A process is told once what its work is (`Work`), then works on one thing after another. Both directions are frames: a
length in 8 bytes, little endian, and a pickle. Into it go the work and then pairs `(number, asked)`; out of it come
`Began`, any number of `Told` while it works, and a `Done` for each thing asked.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Protocol

_LENGTH: Final = 8


class Work(Protocol):
    """What a process does. It is pickled, and says the same in the process and in the one that started it."""

    @property
    def seconds(self) -> float:
        """Wall time for one thing asked, after which the process is killed."""
        ...

    @property
    def megabytes(self) -> int:
        """Address space of the process, beyond which its allocations fail."""
        ...

    @property
    def late(self) -> str:
        """The reason why there is no answer where the seconds were over."""
        ...

    def begin(self) -> Callable[[Any], Any]:
        """The function that answers; called in the process, before its memory is limited."""
        ...

    def lost(self, asked: Any, reason: str) -> Any:
        """What stands for an answer where there is none: the process was late, starved or died."""
        ...

    def failed(self, asked: Any, error: Exception) -> Any:
        """What stands for an answer where the function raised."""
        ...


@dataclass(frozen=True, slots=True)
class Began:
    """The process is ready."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is said while the work goes on."""

    number: int
    what: Any


@dataclass(frozen=True, slots=True)
class Done:
    """The answer, and how many megabytes the process holds now."""

    number: int
    answer: Any
    megabytes: float


_Message = Began | Told | Done


class Process:
    """One process. Nothing here waits but `end`."""

    def __init__(self, work: Work) -> None:
        self.process = start()
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        for stream in (self.stdin, self.stdout):
            os.set_blocking(stream.fileno(), False)
        self.outgoing = bytearray(_frame(work))
        self._incoming = bytearray()
        self.began = False

    def ask(self, number: int, asked: Any) -> None:
        """Put it behind what is to be written."""
        self.outgoing += _frame((number, asked))

    def write(self) -> bool:
        """Write what the pipe takes; whether all is written. What a dead process does not take counts as written: its
        output will end."""
        try:
            sent = os.write(self.stdin.fileno(), memoryview(self.outgoing)[: 1 << 20])
        except BlockingIOError:
            return False
        except OSError:
            sent = len(self.outgoing)
        del self.outgoing[:sent]
        return not self.outgoing

    def read(self) -> list[_Message] | None:
        """What has come; None at the end of its output."""
        try:
            data = os.read(self.stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return []
        if not data:
            return None
        self._incoming += data
        found: list[_Message] = list(_frames(self._incoming))
        self.began = self.began or any(isinstance(m, Began) for m in found)
        return found

    def kill(self) -> None:
        """Let it end, with what it has started."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def end(self, patience: float = 0.0) -> int:
        """End it, after so many seconds in which it may end by itself. Returns its status."""
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        if patience and self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        if self.process.poll() is None:
            self.kill()
        return self.process.wait()


def start() -> subprocess.Popen[bytes]:
    """A process that runs `main` in a session of its own, and waits for its work."""
    return subprocess.Popen(
        isolated_python("from hloproof.processes.process import main; main()"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=environment(),
    )


def isolated_python(program: str) -> list[str]:
    """The command that runs a program of this package's in a Python of its own.

    The working directory does not decide what it imports: a folder that is checked may hold an `enum.py`. Where this
    package was found without being installed, its folder comes last.
    """
    folder = Path(__file__).absolute().parents[2]
    path = f"import sys; sys.path.append({str(folder)!r}); " if (folder / "hloproof" / "__init__.py").exists() else ""
    return [sys.executable, "-P", "-c", path + program]


def end_with_parent() -> None:
    """From now on the system kills this process, a worker, when the one that started it ends, however it ends.

    Linux can; elsewhere nothing is done.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


_SET_DEATH_SIGNAL: Final = 1


def isolate_children() -> None:
    """Interpreters that are started from now on by others than `start`, such as the pools of the standard library, do
    not import from the working directory either."""
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["PYTHONPATH"] = environment()["PYTHONPATH"]


def environment() -> dict[str, str]:
    """That of this process. Hashes are the same in every run; a PYTHONPATH does not name the working directory."""
    folders = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(p)]
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(folders)}


_STARVED: Final = 77
"""The status of a process that ends for want of memory."""


def starved_text(work: Work) -> str:
    """The reason why there is no answer where the megabytes were used up."""
    return f"out of memory ({work.megabytes} MB per worker)"


def ended_text(work: Work, status: int) -> str:
    """The reason why there is no answer where the process ended."""
    return starved_text(work) if status == _STARVED else f"the worker died ({_status_text(status)})"


def _status_text(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-status).name}"
    return f"status {status}"


def _frame(message: object) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH, "little") + data


def _frames(buffer: bytearray) -> Iterator[Any]:
    """The whole frames at the beginning of the buffer, taken out of it."""
    while len(buffer) >= _LENGTH:
        end = _LENGTH + int.from_bytes(buffer[:_LENGTH], "little")
        if len(buffer) < end:
            return
        data = bytes(buffer[_LENGTH:end])
        del buffer[:end]
        yield pickle.loads(data)


def tree_megabytes(pid: int) -> float:
    """What a process and all that it has started hold of the machine's memory; what they share is counted for each."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        children = []
    return _megabytes(str(pid)) + sum(tree_megabytes(int(child)) for child in children)


# The other side: in the process.


def tell(what: Any) -> None:
    """Say something while the work goes on; outside of such a process nothing happens."""
    if _telling is not None:
        sink, number = _telling
        _send(sink, Told(number, what))


_telling: tuple[IO[bytes], int] | None = None
"""Where to, and about what, this process speaks."""


def main() -> None:
    """Be such a process, until its input ends."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints may get into the frames
    try:
        _work(source, sink)
    except MemoryError:  # while something was read or written
        os._exit(_STARVED)
    except (BrokenPipeError, _CutShort):  # nobody hears the answer any more, or asks
        os._exit(0)
    except Exception:
        # What is asked may import what it is made of, which fails in other ways for want of memory.
        if _is_starved():
            os._exit(_STARVED)
        raise


def _work(source: IO[bytes], sink: IO[bytes]) -> None:
    global _telling
    work: Work | None = _receive(source)
    if work is None:
        return
    answer = work.begin()
    limit = work.megabytes << 20
    with contextlib.suppress(ValueError, OSError):  # a lower hard limit is set already
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    starved = starved_text(work)
    _send(sink, Began())
    while True:
        message = _receive(source)
        if message is None:
            return
        number, asked = message
        _telling = (sink, number)
        try:
            answered = answer(asked)
        except MemoryError:
            answered = work.lost(asked, starved)
        except Exception as error:
            # Libraries report a want of memory in many ways, a failed import among them.
            answered = work.lost(asked, starved) if _is_starved() else work.failed(asked, error)
        _telling = None
        _send(sink, Done(number, answered, _megabytes()))


def _send(sink: IO[bytes], message: _Message) -> None:
    sink.write(_frame(message))
    sink.flush()


def _receive(source: IO[bytes]) -> Any:
    """What comes next; None at the end. Raises _CutShort where the other side ended while it wrote."""
    head = source.read(_LENGTH)
    if not head:
        return None
    length = int.from_bytes(head, "little")
    data = source.read(length)
    if len(head) < _LENGTH or len(data) < length:
        raise _CutShort
    return pickle.loads(data)


class _CutShort(Exception):
    """A message without its end."""


def _is_starved() -> bool:
    """Whether this process cannot get a large piece of memory any more."""
    try:
        mmap.mmap(-1, 64 << 20).close()
    except (OSError, ValueError):
        return True
    return False


def _megabytes(pid: str = "self") -> float:
    """What a process holds of the machine's memory; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE / (1 << 20)
    except (OSError, ValueError, IndexError):
        return 0.0
