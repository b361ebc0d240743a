"""Which examples reach which lines: a mutant is tried on examples that run the changed line, not on all.

Examples are drawn once, without an error planted, and examined under a trace. What a changed line can spoil shows on
examples that run it or on none.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, Final

from hloproof.fuzz.chunk import chunk_seed, each_drawn
from hloproof.fuzz.target import Failure, Target
from hloproof.fuzz.targets import target as find_target
from hloproof.processes.alarm import at_most

ROOT: Final = Path(__file__).resolve().parents[3]
SETTLING: Final = 3
"""So many examples are run twice, caches empty and caches full: lines of the first run alone belong to every example,
since what they compute is kept."""

SLOW: Final = 1.5
"""Examples that take more seconds than this under a trace are used only where no other runs the line."""

Lines = dict[str, frozenset[int]]
"""Line numbers by file, relative to the root of the project."""


@dataclass(frozen=True, slots=True)
class Traced:
    """The examples of a target with the lines that each of them runs, and the lines that all of them rely on."""

    target: str
    cases: tuple[tuple[str, Lines, bool], ...]
    """The text, the lines, and whether it took more than SLOW seconds."""
    kept: Lines
    failing: tuple[str, ...] = ()
    """What examples said that fail without any error planted; they are left out."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Examples with the lines that they run."""

    traced: tuple[Traced, ...] = ()

    @property
    def examples(self) -> list[tuple[str, str]]:
        """(target, case)."""
        return [(t.target, case) for t in self.traced for case, _, _ in t.cases]

    @property
    def failing(self) -> list[str]:
        """What fails without an error planted."""
        return [f"{t.target}: {cause}" for t in self.traced for cause in t.failing]

    def chosen(self, file: str, lines: Collection[int], most: int, seed: int) -> list[tuple[str, str]]:
        """Examples that run one of these lines, the targets in turn, at most `most` of each target."""

        def reached(ran: Lines) -> bool:
            return not ran.get(file, frozenset()).isdisjoint(lines)

        found = [
            (t.target, case, slow)
            for t in self.traced
            for case, ran, slow in t.cases
            if reached(ran) or reached(t.kept)
        ]
        by_target: dict[str, list[tuple[str, str]]] = {}
        for target, case, _ in [one for one in found if not one[2]] or found:
            by_target.setdefault(target, []).append((target, case))
        for some in by_target.values():
            Random(seed).shuffle(some)
        turns = zip_longest(*(some[:most] for some in by_target.values()))
        return [one for turn in turns for one in turn if one is not None]


def draw(chosen: Target, seed: int, count: int) -> list[str]:
    """So many examples of a target, fewer where some come twice. Same seed, same examples."""
    cases: list[str] = []
    each_drawn(chosen, chunk_seed(seed, chosen.name, 0), count, cases.append)
    return list(dict.fromkeys(cases))


def module_name(file: str) -> str:
    """The module that a file of the checkout holds, such as `verify/logic/evaluate.py`."""
    package, _, rest = file.removesuffix(".py").partition("/")
    return ("hloproof." if package == "verify" else "hloproof.models.") + rest.replace("/", ".")


def _path(file: str) -> str:
    """Where Python found a file of the checkout, as its code objects name it."""
    found = find_spec(module_name(file)) if file.endswith(".py") else None
    return found.origin if found is not None and found.origin else str(ROOT / file)


def forget() -> None:
    """Empties every cache of models/ and verify/, the generators' own apart."""
    for name, module in list(sys.modules.items()):
        if name.startswith("hloproof.") and not name.startswith("hloproof.fuzz"):
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if clear is not None:
                    clear()


class _Over(KeyboardInterrupt):
    """The time for examples is up; Hypothesis lets such an exception pass."""


def trace(name: str, seed: int, count: int, files: Collection[str], until: float = math.inf) -> Traced:
    """Draws examples of a target and notes which lines of these files each of them runs; those of them that were traced
    at `until`, in seconds of `time.time`."""
    cases: list[str] = []
    with suppress(_Over), _ending(until):
        cases = draw(find_target(name), seed, count)
    return trace_cases(name, cases, files, until)


def _ending(until: float) -> AbstractContextManager[None]:
    return nullcontext() if until == math.inf else at_most(max(0.001, until - time.time()), _Over)


def trace_cases(name: str, cases: Sequence[str], files: Collection[str], until: float = math.inf) -> Traced:
    """Notes which lines of these files each of the examples runs; no more are begun at `until`."""
    chosen = find_target(name)
    watch = Watch(files)
    kept: dict[str, set[int]] = {}
    found: list[tuple[str, Lines, bool]] = []
    failing: list[str] = []
    for n, case in enumerate(cases):
        begun = time.perf_counter()
        if time.time() >= until:
            break
        try:
            with _ending(until):
                if n < SETTLING:
                    forget()
                    first = watch.lines_of(partial(chosen.examine, case))
                lines = watch.lines_of(partial(chosen.examine, case))
        except _Over:
            break
        except Failure as failure:
            failing.append(failure.cause)
            continue
        if n < SETTLING:
            for file, numbers in first.items():
                kept.setdefault(file, set()).update(numbers - lines.get(file, frozenset()))
        found.append((case, lines, time.perf_counter() - begun > SLOW))
    return Traced(name, tuple(found), {f: frozenset(n) for f, n in kept.items()}, tuple(failing))


class Watch:
    """Notes which lines of some files run; of each function only so many calls are looked at, where that is given:
    lines that only later ones run are missed, and time is saved."""

    def __init__(self, files: Collection[str], most_calls: float = math.inf) -> None:
        self.files = {_path(file): file for file in files}
        self.most_calls = most_calls

    def lines_of(self, run: Callable[[], object]) -> Lines:
        """The lines that run while this does."""
        seen: dict[str, set[int]] = {file: set() for file in self.files.values()}
        calls = Counter[CodeType]()

        def local(numbers: set[int], frame: FrameType, event: str, argument: object) -> Any:
            numbers.add(frame.f_lineno)
            return locals_of[frame.f_code.co_filename]

        locals_of = {path: partial(local, seen[file]) for path, file in self.files.items()}

        def called(frame: FrameType, event: str, argument: object) -> Any:
            watcher = locals_of.get(frame.f_code.co_filename)
            if watcher is None:
                return None
            calls[frame.f_code] += 1
            return watcher(frame, event, argument) if calls[frame.f_code] <= self.most_calls else None

        before = sys.gettrace()
        sys.settrace(called)
        try:
            run()
        finally:
            sys.settrace(before)
        return {file: frozenset(numbers) for file, numbers in seen.items() if numbers}


def explore(
    counts: dict[str, int], seed: int, files: Collection[str], executor: Executor, until: float = math.inf
) -> Iterator[Traced]:
    """Traces so many examples of every target named, and no more after `until`."""
    futures = [executor.submit(trace, name, seed, count, tuple(files), until) for name, count in counts.items()]
    for future in futures:
        yield future.result()
