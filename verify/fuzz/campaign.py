"""Runs a campaign: chunks of examples over worker processes, until the time is up or the examples are done."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from hloproof.fuzz.chunk import Chunk, Found, examine, run_chunk
from hloproof.fuzz.state import State
from hloproof.fuzz.target import Failure
from hloproof.fuzz.targets import target as find_target
from hloproof.processes.process import end_with_parent, isolate_children

CHUNK: Final = 50
"""Examples per chunk."""

GRACE: Final = 10.0
"""Seconds after the end of the time until a worker that has not ended by itself is killed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` of wall time for all, `examples` per target; None is no limit."""

    seconds: float | None = None
    examples: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """What a display shows. `rate` is examples per second since the campaign was started or resumed."""

    examples: int
    rate: float
    failures: int
    covered: int


def local(jobs: int) -> Executor:
    """Worker processes of this machine, each a fresh interpreter that ends with this process."""
    isolate_children()
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), max_tasks_per_child=20, initializer=end_with_parent
    )


def replay(state: State) -> list[tuple[str, Path, str | None]]:
    """Every failure of the folder again: target, file, and what still fails; None where it no longer does."""
    out: list[tuple[str, Path, str | None]] = []
    for name, file in state.failures():
        chosen = find_target(name)
        case = "".join(
            line
            for line in file.read_text().splitlines(keepends=True)
            if not (chosen.comment and line.startswith(chosen.comment + " "))
        )
        try:
            examine(chosen, case)
        except Failure as failure:
            out.append((name, file, str(failure)))
        else:
            out.append((name, file, None))
    return out


def run(
    state: State,
    targets: Sequence[str],
    limits: Limits,
    jobs: int = 1,
    show: Callable[[Progress], None] | None = None,
    executor: Callable[[int], Executor] = local,
) -> list[Found]:
    """The failures of causes that were not known before. When the time is up the chunks in hand end where they are, and
    a worker that has not ended a little later is given up with its chunk.

    A worker process that dies is a failure of the chunk it was at; the others start anew.
    """
    started, before = time.monotonic(), sum(state.examples.values())
    until = math.inf if limits.seconds is None else time.time() + limits.seconds
    new: list[Found] = []
    pool = executor(jobs)
    running: dict[Future[Chunk], tuple[str, int]] = {}
    try:
        while True:
            late = limits.seconds is not None and time.monotonic() - started >= limits.seconds
            while not late and len(running) < jobs:
                task = _next(state, targets, limits, running.values())
                if task is None:
                    break
                name, number = task
                future = pool.submit(run_chunk, name, state.seed, number, state.chunk_size, state.known(name), until)
                running[future] = task
            if not running or time.time() > until + GRACE:
                return new
            finished, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            broken = False
            for future in finished:
                name, number = running.pop(future)
                try:
                    chunk = future.result()
                except BrokenExecutor:
                    broken = True
                    continue
                new += state.record(chunk, find_target(name))
            if broken:
                pool.shutdown(wait=False)
                new += _one_by_one(state, [*running.values(), (name, number)], executor, until)
                running.clear()
                pool = executor(jobs)
            if show is not None:
                show(_progress(state, before, time.monotonic() - started))
    finally:
        processes = list((getattr(pool, "_processes", None) or {}).values()) if running else []
        for future in running:  # not every pool knows `cancel_futures`
            future.cancel()
        pool.shutdown(wait=not running)
        for process in processes:
            process.kill()


def _next(
    state: State, targets: Sequence[str], limits: Limits, running: Iterable[tuple[str, int]]
) -> tuple[str, int] | None:
    """The target that has had the least time, and its next chunk; None when all have had their examples."""
    tasks = list(running)
    best: tuple[float, str, int] | None = None
    for name in targets:
        numbers = {number for other, number in tasks if other == name}
        number = state.next_chunk(name, numbers)
        if limits.examples is not None and (len(state.done[name]) + len(numbers)) * state.chunk_size >= limits.examples:
            continue
        weight = state.seconds[name] + 2.0 * len(numbers)
        if best is None or weight < best[0]:
            best = (weight, name, number)
    return None if best is None else best[1:]


def _one_by_one(
    state: State, tasks: Sequence[tuple[str, int]], executor: Callable[[int], Executor], until: float
) -> list[Found]:
    """Each chunk in a process of its own, to tell which of them ends the process."""
    new: list[Found] = []
    for name, number in tasks:
        with executor(1) as alone:
            try:
                chunk = alone.submit(
                    run_chunk, name, state.seed, number, state.chunk_size, state.known(name), until
                ).result()
            except BrokenExecutor:
                ended = Found(name, "the process ends", f"chunk {number} of seed {state.seed} ends its process", "")
                chunk = Chunk(name, number, 0, failures=[ended])
        new += state.record(chunk, find_target(name))
    return new


def _progress(state: State, before: int, seconds: float) -> Progress:
    examples = sum(state.examples.values())
    return Progress(
        examples,
        (examples - before) / max(seconds, 1e-9),
        sum(len(c) for c in state.causes.values()),
        sum(len(c) for c in state.coverage.values()),
    )


def report(state: State) -> list[str]:
    """The campaign in lines of text."""
    lines = [f"campaign of seed {state.seed} in {state.folder}"]
    for name in sorted(state.done):
        seconds = state.seconds[name]
        rate = state.examples[name] / seconds if seconds else 0.0
        lines.append(
            f"{name:8s} {state.examples[name]:8d} examples  {seconds:8.1f} s  {rate:7.1f}/s  "
            f"{len(state.coverage.get(name, ())):4d} covered  {len(state.causes.get(name, ())):3d} failures"
        )
        for label, count in sorted(state.coverage.get(name, {}).items()):
            lines.append(f"    {count:8d}  {label}")
        for cause, count in sorted(state.causes.get(name, {}).items()):
            lines.append(f"    FAILS {count:5d} times: {cause}")
    for name, file in state.failures():
        lines.append(f"failure of {name}: {file}")
    return lines


def report_of_all(states: Sequence[State]) -> list[str]:
    """One campaign in lines of text, or what several come to together: examples and failures by target, then each."""
    if len(states) == 1:
        return report(states[0])
    examples, seconds, failing = Counter[str](), Counter[str](), Counter[str]()
    covered: dict[str, Counter[str]] = {}
    for state in states:
        examples.update(state.examples)
        seconds.update(state.seconds)
        for name, labels in state.coverage.items():
            covered.setdefault(name, Counter()).update(labels)
        for name, causes in state.causes.items():
            failing.update({f"{name}: {cause}": count for cause, count in causes.items()})
    lines = [f"{len(states)} campaigns, {examples.total()} examples, {seconds.total():.0f} s"]
    for name in sorted(examples):
        own = sum(count for cause, count in failing.items() if cause.startswith(f"{name}: "))
        lines.append(
            f"{name:12s} {examples[name]:10d} examples  {seconds[name]:9.0f} s  "
            f"{len(covered.get(name, ())):4d} covered  {own:4d} examples fail"
        )
        told = {label: n for label, n in covered.get(name, {}).items() if label.startswith(("upstream: ", "elements "))}
        lines += [f"    {count:8d}  {label}" for label, count in sorted(told.items())]
    lines += [f"    FAILS {count:5d} times: {cause}" for cause, count in sorted(failing.items())]
    for s in states:
        known = sum(len(c) for c in s.causes.values())
        lines.append(f"seed {s.seed}: {sum(s.examples.values())} examples, {known} causes, {s.folder}")
    return lines
