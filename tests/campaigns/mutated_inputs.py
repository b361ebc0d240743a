"""A campaign of mutated inputs of every kind against the command line.

    python tests/campaigns/mutated_inputs.py --count 40000 --jobs 8

Each input is a file of the project, or a part of one, with a few mutations, given to the command line in a process of
its own. That process is forked from one that has imported everything, and so are the workers that it starts: imports
are most of the time otherwise, and nothing else about a run is another. A finding is a run that ends with status 4 or
by a signal, prints a traceback or an internal error, leaves a process behind, uses more than 12 seconds of processor
time, or more than 1 GB of memory. The status is 1 when there is one; the input is then kept in --keep, and the same
--seed gives the same inputs.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from hloproof.processes import process

ROOT: Final = Path(__file__).parents[2]
SECONDS: Final = 12
"""Of processor time, of the run and all it started."""
MEGABYTES: Final = 1024
WALL_SECONDS: Final = 120
"""After which a run is killed: a finding too, also where the machine is busy."""
IMPORTED: Final = (
    "z3 islpy hloproof.server.serve hloproof.server.answering hloproof.pipeline.driver hloproof.pipeline.layout_specs "
    "hloproof.pipeline.map_specs hloproof.pipeline.instruction_claims hloproof.claims.rules.claims "
    "hloproof.tensor_rules.judge hloproof.engines.portfolio hloproof.engines.isl.encode hloproof.engines.z3.encode "
    "hloproof.engines.structural.mixed_radix hloproof.engines.enumeration hloproof.report.text "
    "hloproof.report.destinations hloproof.results.findings hloproof.claims.layouts.clauses hloproof.commands.check "
    "hloproof.commands.run hloproof.commands.recheck hloproof.commands.serve hloproof.commands.indexing "
    "hloproof.queries.indexing hloproof.queries.running hloproof.engines.certificate hloproof.cli hloproof.streams "
    "hloproof.pipeline.progress hloproof.models.interpreter.run hloproof.models.hlo.parser rich.progress"
).split()
"""Before the first fork."""
BUDGET: Final = ("--total-seconds", "5", "--jobs", "1")

HLO: Final = """HloModule m, replica_count=2, input_output_alias={ {}: (0, {}, may-alias) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  p = f32[4,6]{1,0} parameter(0)
  z = f32[] constant(-inf), metadata={op_name="x"}
  d = f32[4,3] slice(p), slice={[0:4], [0:6:2]}
  s = f32[4] reduce(d, z), dimensions={1}, to_apply=add
  b = f32[4,6] broadcast(s), dimensions={0}
  i = s32[] constant(1)
  u = f32[4,6] dynamic-update-slice(b, d, i, i)
  g = f32[4,6] all-reduce(u), replica_groups={{0,1}}, to_apply=add
  ROOT t = f32[4,6]{1,0} transpose(g), dimensions={0,1}
}
"""
SMALL: Final = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { p = f32[4,6]{1,0} parameter(0)
  ROOT t = f32[6,4]{1,0} transpose(p), dimensions={1,0} }
"""
FRAGMENTS: Final = (
    *(
        b"{ } ( ) [ ] , = /* */ // % # 0 -1 <= ? floordiv mod => -> in when for ROOT ENTRY true null nan inf 1e400 ... "
        b"d0 s0 rt0 9223372036854775808 f32[2] f32[0] f32[1073741824] s4[7]{0:E(4)} {1,0:T(8,128)}"
    ).split(),
    *(b'"', b"\\", b"\n", b"\r", b"\t", b"\x00", b"\xff", b"\xf0\x9f\x98\x80"),
    *(b"9" * 5000, b"[" * 3000, b"(" * 3000, b"{" * 300),
    *(b"rule a\n", b"map a\n", b"layout a\n", b"shape f32[4]\n", b"// -----\n", b"// expect: error\n"),
)
NUMBERS: Final = (0, 1, 2, 3, 7, -1, 10**6, 2**31, 2**62, 2**63, 10**30)


def gently_mutated(data: bytes, dice: random.Random) -> bytes:
    """One number is another small one, or one word another of the same input: most of these are read to the end."""
    tokens = list(re.finditer(rb"\d+" if dice.random() < 0.6 else rb"[A-Za-z_][\w.-]*", data))
    if not tokens:
        return data
    at = dice.choice(tokens)
    new = b"%d" % dice.randrange(9) if at.group().isdigit() else dice.choice(tokens).group()
    return data[: at.start()] + new + data[at.end() :]


def mutated(data: bytes, dice: random.Random, other: bytes = b"") -> bytes:
    """The input after a gentle mutation, or one to four rough ones; `other` is what may be mixed in."""
    if dice.random() < 0.4:
        return gently_mutated(data, dice)
    for _ in range(dice.randint(1, 4)):
        at, kind = dice.randrange(len(data) + 1), dice.random()
        if kind < 0.25:
            data = data[:at] + dice.choice(FRAGMENTS) + data[at:]
        elif kind < 0.4:
            data = data[:at] + data[at + dice.randint(1, 12) :]
        elif kind < 0.45:
            data = data[:at]
        elif kind < 0.55:
            source = other or data
            start = dice.randrange(len(source) + 1)
            data = data[:at] + source[start : start + dice.randint(1, 60)] + data[at:]
        elif kind < 0.65:
            lines = data.split(b"\n")
            a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            data = b"\n".join(lines)
        elif kind < 0.7:
            data = data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
        elif kind < 0.85 and (words := list(re.finditer(rb"[A-Za-z_][\w.-]*", data))):
            one, two = dice.choice(words), dice.choice(words)
            data = data[: one.start()] + two.group() + data[one.end() :]
        elif numbers := list(re.finditer(rb"\d+", data)):
            number = dice.choice(numbers)
            data = data[: number.start()] + str(dice.choice(NUMBERS)).encode() + data[number.end() :]
    return data


def _entries(folder: str, suffix: str, head: str) -> list[bytes]:
    """The entries of the spec files, each by itself."""
    out: list[bytes] = []
    for path in sorted((ROOT / "specs" / folder).rglob(f"*{suffix}")):
        parts = re.split(rf"(?m)^(?={head})", path.read_text(encoding="utf-8"))
        out += [part.encode() for part in parts if part.startswith(head)]
    return out


def _modules() -> list[bytes]:
    texts = [HLO]
    for path in [*sorted((ROOT / "tests" / "data").glob("*.hlo")), *sorted((ROOT / "specs").rglob("*.hlo"))]:
        texts += re.split(r"(?m)^// -----.*\n", path.read_text(encoding="utf-8"))
    return [text.encode() for text in texts if 20 < len(text) < 4000]


def _read_modules() -> list[bytes]:
    """Those of which there is one in a text, without an error."""
    from hloproof.models.errors import InputError
    from hloproof.models.hlo.parser import parse_module

    found = []
    for data in _modules():
        with suppress(InputError):
            parse_module(data.decode())
            found.append(data)
    return found


MAP = "(d0, d1)[s0] -> (d0 * 4 + s0, d1 mod 3), domain: d0 in [0, 3], d1 in [0, 8], s0 in [0, 3], d0 + s0 in [0, 5]"


def _requests() -> list[bytes]:
    asked = [
        ("check", {"hlo": HLO, "only": ["definition"]}),
        ("parse_map", {"map": MAP}),
        ("simplify", {"map": MAP}),
        ("compose", {"first": MAP, "second": "(d0, d1) -> (d0, d1, 0), domain: d0 in [0, 15], d1 in [0, 2]"}),
        ("rewrite", {"before": MAP, "after": MAP}),
        ("layout", {"shape": "f32[5,130]{1,0:T(8,128)}", "index": [1, 2]}),
        ("indexing", {"hlo": HLO, "instruction": "d"}),
        ("parse_module", {"hlo": HLO}),
        ("version", {}),
    ]
    return [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}).encode() for n, (m, p) in enumerate(asked)
    ]


def _settings() -> list[bytes]:
    return [b'only = ["definition"]\nskip = ["dedup"]\ntotal-seconds = 2.5\nstrict = true\n']


def _baselines() -> list[bytes]:
    entry = {"fingerprint": "0" * 64, "verdict": "refuted", "what": "x", "justification": "known"}
    return [json.dumps({"schema": "hloproof-baseline/2", "findings": [entry, entry]}).encode()]


def _inputs() -> list[bytes]:
    return [json.dumps([[[1.5, -2, 3, 0, 1, 2]] * 4]).encode(), b"[[[1,2,3,NaN,Infinity,6],[1,2,3,4,5,6]]]"]


def _manifests() -> list[bytes]:
    line = {"file": "a.smt2", "sha256": {"a.smt2": "0" * 64, "a.proof": "1" * 64}, "label": "x", "engines": ["isl"]}
    return [json.dumps(line).encode() + b"\n"]


SEPARATOR: Final = b"\n=====\n"
"""Between the files of an input of several; what follows a separator that a mutation has broken is an empty file."""


def _pairs() -> list[bytes]:
    return _entries("equivalence", ".pairs", "pair ")


def _two_modules() -> list[bytes]:
    """The modules of the pairs, in files of their own."""
    found = []
    for entry in _pairs():
        modules = entry[entry.index(b"HloModule") :] if b"HloModule" in entry else entry
        found.append(SEPARATOR.join(modules.split(b"\n=>\n", 1)))
    return [SEPARATOR.join([SMALL.encode(), SMALL.encode()]), *found]


def _plans() -> list[bytes]:
    folders = sorted(p for p in (ROOT / "tests" / "data" / "plans").iterdir() if p.is_dir())
    return [SEPARATOR.join((p / name).read_bytes() for name in ("module.hlo", "assignment.txt")) for p in folders]


def _buffers() -> list[bytes]:
    """Modules as protocol buffers."""
    folder = ROOT / "tests" / "data" / "protobuf"
    return [gzip.decompress(path.read_bytes()) for path in sorted(folder.glob("*.hlo.pb.gz"))]


def _compressed() -> list[bytes]:
    return [gzip.compress(text, mtime=0) for text in (HLO.encode(), SMALL.encode(), b"\n" * 100_000)]


def _certificates() -> list[bytes]:
    """What `equiv --certificate` writes of the pairs that are proved, and `recheck` reads."""
    from hloproof.models.hlo.parser import parse_module
    from hloproof.queries.certificates import certificate_text
    from hloproof.queries.equivalence import compare

    found = []
    for data in _two_modules()[-12:]:
        before, after = (part.decode() for part in data.split(SEPARATOR))
        answer = compare(parse_module(before), parse_module(after), budget_seconds=5)
        if answer.certificate is not None:
            found.append(certificate_text(before, after, answer.certificate).encode())
    return found


def _caches() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
            connection.execute("INSERT INTO kept VALUES (?, ?)", (b"key", b'["proved", ["isl"], [], null, null, 0]'))
        connection.close()
        return [path.read_bytes(), b'["proved", ["isl"], [], null, [1, 2], 0]']


@dataclass(frozen=True)
class Kind:
    """A kind of input: what is mutated, the file or files (with a blank between) it is written to, and the command
    that reads them."""

    file: str
    seeds: Callable[[], list[bytes]]
    arguments: tuple[str, ...]
    from_stdin: bool = False


def _check(*more: str) -> tuple[str, ...]:
    return ("check", "--no-cache", *BUDGET, *more)


KINDS: Final[dict[str, Kind]] = {
    "hlo": Kind("m.hlo", _modules, _check("m.hlo")),
    "map": Kind("m.map", lambda: _entries("", ".map", "map "), _check("m.map")),
    "rules": Kind("m.rules", lambda: _entries("", ".rules", "rule "), _check("m.rules")),
    "trules": Kind("m.trules", lambda: _entries("tensor_rules", ".trules", "rule "), _check("m.trules")),
    "layout": Kind("m.layout", lambda: _entries("", ".layout", "layout "), _check("m.layout")),
    "request": Kind("request", _requests, ("serve",), from_stdin=True),
    "settings": Kind("hloproof.toml", _settings, _check("good.hlo")),
    "baseline": Kind("b.json", _baselines, _check("--baseline", "b.json", "good.hlo")),
    "cache": Kind("c.sqlite", _caches, ("check", *BUDGET, "--cache", "c.sqlite", "good.hlo")),
    "inputs": Kind("i.json", _inputs, ("run", "good.hlo", "--inputs", "i.json")),
    "manifest": Kind("manifest.jsonl", _manifests, ("recheck", ".", "--solver", "true")),
    "pairs": Kind("m.pairs", _pairs, _check("m.pairs")),
    "equiv": Kind("a.hlo b.hlo", _two_modules, ("equiv", "a.hlo", "b.hlo", "--budget", "3", "--format", "json")),
    "passes": Kind(
        "d/m.0000.p.after_pipeline-start.before_a.txt d/m.0001.p.after_a.before_b.txt",
        _two_modules,
        ("passes", "d", "--budget", "3", "--jobs", "1", "--no-cache"),
    ),
    "plan": Kind("module.hlo plan.txt", _plans, ("memory", "module.hlo", "plan.txt")),
    "buffer": Kind("m.hlo.pb", _buffers, _check("m.hlo.pb")),
    "compressed": Kind("m.hlo", _compressed, _check("m.hlo")),
    "certificate": Kind("proof.json", _certificates, ("recheck", "proof.json")),
    "run": Kind("m.hlo", _read_modules, ("run", "m.hlo", "--seed", "1")),
    "analyze": Kind("m.hlo", _read_modules, ("analyze", "m.hlo")),
    "aliases": Kind("m.hlo", _read_modules, ("aliases", "m.hlo")),
    "graph": Kind("m.hlo", _read_modules, ("graph", "m.hlo")),
    "indexing": Kind("m.hlo", lambda: [HLO.encode(), SMALL.encode()], ("indexing", "m.hlo", "--instruction", "t")),
}


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    seconds: float
    megabytes: float
    said: str
    left: bool
    killed: bool

    def finding(self) -> str | None:
        """What is wrong with it; None when nothing is."""
        if self.killed:
            return f"over {WALL_SECONDS} s of wall time, {self.seconds:.0f} s of processor time"
        if self.status not in (0, 1, 2, 3):
            return f"status {self.status}"
        if "Traceback (most recent call last)" in self.said or re.search(r"\binternal (error|input)\b", self.said):
            return "a traceback or an internal error"
        if self.left:
            return "a process is left behind"
        if self.seconds > SECONDS:
            return f"{self.seconds:.0f} s of processor time"
        return f"{self.megabytes:.0f} MB" if self.megabytes > MEGABYTES else None


def attempt(kind: Kind, data: bytes, folder: Path) -> Ended:
    """Run the command line on an input, in a group of its own."""
    (folder / "good.hlo").write_text(SMALL, encoding="utf-8")
    names = kind.file.split()
    parts = data.split(SEPARATOR, len(names) - 1)
    for name, part in zip(names, parts + [b""] * (len(names) - len(parts)), strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(part)
    out = folder / ".said"
    child = os.fork()
    if child == 0:
        _be_the_child(kind, folder, out)
    status, seconds, megabytes, killed = _awaited(child)
    left = _remains(child)
    said = out.read_bytes()[-20_000:].decode("utf-8", "replace") if out.exists() else ""
    for path in folder.rglob("*"):
        if path.is_file() and ".cache" not in path.parts:
            path.unlink()
    return Ended(status, seconds, megabytes, said, left, killed)


def _be_the_child(kind: Kind, folder: Path, out: Path) -> None:
    status = 4
    try:
        os.setsid()
        os.chdir(folder)
        os.environ["HLOPROOF_TRACEBACK"] = "1"
        os.environ["XDG_CACHE_HOME"] = str(folder / ".cache")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        source = os.open(kind.file if kind.from_stdin else os.devnull, os.O_RDONLY)
        target = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, stream in ((0, source), (1, target), (2, target)):
            os.dup2(stream, number)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - of the whole process
        sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))  # noqa: SIM115
        sys.argv = ["hloproof", *kind.arguments]
        from hloproof.__main__ import main

        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _awaited(child: int) -> tuple[int, float, float, bool]:
    """Status, seconds of processor time, megabytes at the most, and whether it had to be killed."""
    end, killed = time.monotonic() + WALL_SECONDS, False
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, killed
        if time.monotonic() > end and not killed:
            os.killpg(child, signal.SIGKILL)
            killed = True
        time.sleep(0.01)


def _remains(child: int) -> bool:
    """Whether something that the run has started still runs a second later; it is ended then. What loses its parent
    becomes a child of this process (`_adopt`)."""
    for _ in range(100):
        ended = [_reaped(pid) for pid in _children() if pid == child or _is_of_a_run(pid)]
        if all(ended):
            return False
        time.sleep(0.01)
    for pid in _children():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return True


def _children() -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def _is_of_a_run(pid: int) -> bool:
    """Runs and their workers are sessions of their own; this process has no other children that are."""
    try:
        return os.getsid(pid) != os.getsid(0)
    except ProcessLookupError:
        return False


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


_SUBREAPER: Final = 36


def _adopt() -> None:
    """Whatever loses its parent below this process becomes its child, where the system can do so."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)


class Forked:
    """What the tool's `start` gives, without a new interpreter: a worker forked from this process."""

    def __init__(self) -> None:
        (there, to), (source, back) = os.pipe(), os.pipe()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setsid()
                for number, stream in ((0, there), (1, back)):
                    os.dup2(stream, number)
                os.closerange(3, 256)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                process.main()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(there)
        os.close(back)
        self.stdin, self.stdout = os.fdopen(to, "wb", buffering=0), os.fdopen(source, "rb", buffering=0)

    def poll(self) -> int | None:
        return self._ended(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while self._ended(0 if end is None else os.WNOHANG) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("worker", timeout or 0)
            time.sleep(0.005)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _ended(self, how: int) -> int | None:
        if self.returncode is None:
            done, status = os.waitpid(self.pid, how)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def prepare() -> None:
    """Imports and the way in which workers start, of the process whose children the runs are."""
    for name in IMPORTED:
        import_module(name)
    process.start = Forked  # type: ignore[assignment]
    process.end_with_parent()
    _adopt()


@dataclass(frozen=True)
class Finding:
    kind: str
    number: int
    what: str
    said: str
    data: bytes


def _chunk(kinds: tuple[str, ...], seed: int, first: int, count: int) -> tuple[Counter[str], list[Finding]]:
    """The inputs `first` to `first + count - 1`."""
    tried: Counter[str] = Counter()
    found: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        for number in range(first, first + count):
            dice = random.Random(f"{seed} {number}")
            which = kinds[number % len(kinds)]
            seeds = _seeds(which)
            data = mutated(dice.choice(seeds), dice, dice.choice(seeds))
            ended = attempt(KINDS[which], data, Path(name))
            tried[f"{which}: status {ended.status}"] += 1
            what = ended.finding()
            if what is not None:
                found.append(Finding(which, number, what, ended.said[-1500:], data))
    return tried, found


_read: dict[str, list[bytes]] = {}


def _seeds(kind: str) -> list[bytes]:
    if kind not in _read:
        _read[kind] = KINDS[kind].seeds()
    return _read[kind]


def campaign(
    kinds: tuple[str, ...], numbers: range, seed: int, jobs: int, seconds: float
) -> Iterator[tuple[Counter[str], list[Finding]]]:
    """The chunks of a campaign in their order; none is begun after `seconds`."""
    end, size = time.monotonic() + seconds, 20
    with ProcessPoolExecutor(jobs, initializer=prepare) as pool:
        starts = iter(range(numbers.start, numbers.stop, size))
        running = [
            pool.submit(_chunk, kinds, seed, at, min(size, numbers.stop - at))
            for _, at in zip(range(jobs), starts, strict=False)
        ]
        while running:
            yield running.pop(0).result()
            at = next(starts, None)
            if at is not None and time.monotonic() < end:
                running.append(pool.submit(_chunk, kinds, seed, at, min(size, numbers.stop - at)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--first", type=int, default=0, help="begin with this input, to go on where a run was ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more inputs after this time")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that are findings")
    given = parser.parse_args()
    kinds = tuple(given.kinds.split(","))
    if unknown := set(kinds) - KINDS.keys():
        parser.error(f"no such kinds: {', '.join(sorted(unknown))}")
    tried: Counter[str] = Counter()
    findings = 0
    numbers = range(given.first, max(given.first, given.count))
    for some, found in campaign(kinds, numbers, given.seed, given.jobs, given.seconds):
        before = tried.total()
        tried += some
        if before // 1000 < tried.total() // 1000:
            print(f"{tried.total()} inputs, up to number {given.first + tried.total() - 1}", flush=True)
        for finding in found:
            findings += 1
            print(f"{finding.kind} {finding.number}: {finding.what}\n{finding.said}\n", flush=True)
            if given.keep is not None:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{finding.number}-{finding.kind}").write_bytes(finding.data)
    for line, number in sorted(tried.items()):
        print(f"{number:6} {line}")
    print(f"{tried.total()} inputs, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
