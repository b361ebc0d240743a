"""The benchmark of the engines: `python tests/benchmarks/run.py [--json FILE] [--sample N] [--seconds S] [--only X]`.

Every obligation of every suite by every column, in a process that is killed when it is silent for S seconds and begun
again behind the obligation that it could not do. Time is that of the processor, in a process that has done one
obligation before. No answer counts as unknown and as S seconds (for brute force, which is there to compare verdicts,
it does not count).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.baselines import COLUMNS
from benchmarks.suites import suites
from hloproof.logic.formula import eq
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval

Result = tuple[str, float]
WARM_UP = Obligation((("d", Interval(0, 99)),), eq(Var("d") // 10 * 10 + Var("d") % 10, Var("d")))


@dataclass(frozen=True)
class Cell:
    """One suite by one column: milliseconds per obligation and counts. `wrong`: verdicts other than this tool's."""

    suite: str
    column: str
    obligations: int
    median: float
    percentile_99: float
    worst: float
    geometric_mean: float
    total: float
    unknown: int
    wrong: int


def decide_all(decide: Callable[[Obligation], str], obligations: Sequence[Obligation], seconds: float) -> list[Result]:
    """The verdict and milliseconds of each, by children that are killed when they are late."""
    results: list[Result] = []
    while len(results) < len(obligations):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _child(decide, obligations, len(results), writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            late = False
            while len(results) < len(obligations) and not late:
                ready, _, _ = select.select([answers], [], [], seconds + 1)
                line = answers.readline() if ready else b""
                late = not line
                results.append(("unknown", seconds * 1e3) if late else tuple(json.loads(line)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return results


def _child(decide: Callable[[Obligation], str], obligations: Sequence[Obligation], first: int, writer: int) -> NoReturn:
    try:
        decide(WARM_UP)
        for obligation in obligations[first:]:
            start = time.process_time()
            verdict = decide(obligation)
            ms = (time.process_time() - start) * 1e3
            os.write(writer, json.dumps([verdict, ms]).encode() + b"\n")
    finally:
        os._exit(0)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def measure(sample: int, seconds: float, columns: Sequence[str]) -> list[Cell]:
    cells: list[Cell] = []
    for suite, obligations in suites(sample).items():
        truth: list[str] = []
        for column in columns:
            results = decide_all(COLUMNS[column], obligations, seconds)
            verdicts = [v for v, _ in results]
            truth = truth or verdicts
            times = [seconds * 1e3 if v == "unknown" else ms for v, ms in results]
            if column == "brute force":
                times = [ms for v, ms in results if v != "unknown"]
            logs = [math.log(max(ms, 0.001)) for ms in times]
            cells.append(
                Cell(
                    suite,
                    column,
                    len(obligations),
                    percentile(times, 0.5),
                    percentile(times, 0.99),
                    max(times),
                    math.exp(sum(logs) / len(logs)),
                    sum(times),
                    verdicts.count("unknown"),
                    sum(v not in ("unknown", t) for v, t in zip(verdicts, truth, strict=True) if t != "unknown"),
                )
            )
            print(row(cells[-1]), flush=True)
    return cells


_TIMES = " ".join(f"{name:>9}" for name in ("median", "p99", "worst", "geomean"))
HEADER = f"{'suite':20} {'column':13} {'n':>5} {_TIMES} {'unknown':>8} {'wrong':>6}"


def row(c: Cell) -> str:
    times = f"{c.median:9.3f} {c.percentile_99:9.2f} {c.worst:9.1f} {c.geometric_mean:9.3f}"
    return f"{c.suite:20} {c.column:13} {c.obligations:5} {times} {c.unknown:8} {c.wrong:6}"


def main() -> None:
    arguments = argparse.ArgumentParser(description="Benchmark of the proof engines (times in milliseconds).")
    arguments.add_argument("--json", type=Path, help="write the table here as JSON")
    arguments.add_argument("--sample", type=int, default=300, help="operations taken from the corpus")
    arguments.add_argument("--seconds", type=float, default=10.0, help="when a column is killed")
    arguments.add_argument("--only", action="append", choices=list(COLUMNS), help="this column (may be repeated)")
    chosen = arguments.parse_args()
    print(HEADER)
    cells = measure(chosen.sample, chosen.seconds, chosen.only or list(COLUMNS))
    print("\nGeometric mean of the time, as a multiple of hloproof's:")
    own = {c.suite: c.geometric_mean for c in cells if c.column == "hloproof"}
    for c in cells:
        if c.column != "hloproof" and c.suite in own:
            print(f"  {c.suite:20} {c.column:13} {c.geometric_mean / own[c.suite]:8.1f} x")
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(c) for c in cells], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
