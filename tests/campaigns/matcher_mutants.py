"""Errors planted in the matcher of `hloproof equiv`, which is not trusted: none may make it prove what differs.

    python tests/campaigns/matcher_mutants.py --sample 500 --jobs 2

Every change that the mutation engine knows is made in turn to a function of verify/equivalence/matcher, in a process of
its own, and the prover is asked about pairs of modules that differ and pairs that do not: those of `specs/equivalence`
and `tests/corpus`, and pairs of the corpus with an error planted in the text of the second module, which the refuter
has confirmed. A pair that differs and is proved is a finding, and the status is 1 then. Otherwise a change has shown as
a proof that was lost (unknown), as a claim that the checker denied (internal), as a crash, or not at all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hloproof.equivalence.decide import decide
from hloproof.equivalence.refuting.refute import Refutation, refute
from hloproof.fuzz.mutation.mutants import plant
from hloproof.fuzz.mutation.reach import forget
from hloproof.fuzz.mutation.sites import Site, sites
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.pipeline.pair_specs import parse_pairs
from hloproof.results.verdict import Verdict

ROOT: Final = Path(__file__).parents[2]
SECONDS: Final = 2.0
"""The prover's budget for a pair."""
QUICK: Final = 0.15
"""Pairs that take longer without an error planted are left out."""
MOST_SECONDS: Final = 240.0
"""A mutant that takes longer is ended: it has shown."""

_INSTRUCTION: Final = re.compile(r"^(\s*(?:ROOT )?%?[\w.-]+ = \S+ )([\w-]+)\(([^()]*)\)(.*)$")
_OTHER: Final[dict[str, str]] = {
    "add": "subtract",
    "subtract": "add",
    "multiply": "add",
    "divide": "multiply",
    "maximum": "minimum",
    "minimum": "maximum",
    "and": "or",
    "or": "and",
    "exponential": "tanh",
    "tanh": "cosine",
    "negate": "abs",
}


@dataclass(frozen=True)
class Pair:
    name: str
    before: Module
    after: Module


def planted(text: str, source: random.Random) -> str | None:
    """The text with one wrong instruction."""
    lines = text.split("\n")
    order = list(range(len(lines)))
    source.shuffle(order)
    for n in order:
        found = _INSTRUCTION.match(lines[n])
        if found is None:
            continue
        head, opcode, operands, rest = found.groups()
        names = operands.split(", ")
        wrong = ""
        if opcode in _OTHER:
            wrong = f"{head}{_OTHER[opcode]}({operands}){rest}"
        elif opcode in ("dot", "compare", "select", "concatenate", "dynamic-slice", "tuple") and len(set(names)) > 1:
            a, b = source.sample(range(len(names)), 2)
            names[a], names[b] = names[b], names[a]
            wrong = f"{head}{opcode}({', '.join(names)}){rest}"
        elif opcode == "slice":
            wrong = re.sub(r"\[(\d+):(\d+)\]", lambda m: f"[{int(m[1]) + 1}:{int(m[2]) + 1}]", lines[n], count=1)
        elif opcode in ("transpose", "broadcast", "reduce"):
            wrong = re.sub(r"dimensions=\{(\d+),(\d+)", r"dimensions={\2,\1", lines[n])
        elif opcode == "pad":
            wrong = re.sub(r"padding=(\d+)_(\d+)", r"padding=\2_\1", lines[n])
        elif opcode == "constant" and names[0].isdigit():
            wrong = f"{head}constant({int(names[0]) + 1}){rest}"
        if wrong and wrong != lines[n]:
            return "\n".join([*lines[:n], wrong, *lines[n + 1 :]])
    return None


def collected(seed: int, equal: int, different: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs that are proved quickly, and pairs that surely differ."""
    same: list[Pair] = []
    wrong: list[Pair] = []
    for file in sorted((ROOT / "specs" / "equivalence").glob("*.pairs")):
        for p in parse_pairs(file.read_text(encoding="utf-8"), file.name):
            (wrong if p.expect == "refuted" else same).append(Pair(p.name, p.before, p.after))
    with gzip.open(ROOT / "tests" / "corpus" / "pairs.jsonl.gz", "rt", encoding="utf-8") as rows:
        corpus = [json.loads(row) for row in rows]
    source = random.Random(seed)
    source.shuffle(corpus)
    for row in corpus:
        name = f"{row['program']} {row['pass']}"
        before = parse_module(row["before"])
        if len(same) < equal:
            same.append(Pair(name, before, parse_module(row["after"])))
        text = planted(row["after"], source) if len(wrong) < different else None
        if text is not None:
            try:
                after = parse_module(text)
                if isinstance(refute(before, after, 1.0), Refutation):
                    wrong.append(Pair(f"{name}, an error planted", before, after))
            except (InputError, NotModelled):
                continue
        if len(same) >= equal and len(wrong) >= different:
            break
    return [p for p in same if _quick(p)], [p for p in wrong if _quick(p)]


def _quick(pair: Pair) -> bool:
    start = time.process_time()
    decide(pair.before, pair.after, budget_seconds=SECONDS)
    return time.process_time() - start < QUICK


def asked(pair: Pair) -> str:
    try:
        return str(decide(pair.before, pair.after, budget_seconds=SECONDS).verdict)
    except Exception as error:
        return f"crash ({type(error).__name__})"


def child(site: Site, same: list[Pair], wrong: list[Pair], out: int) -> None:
    """Never returns."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        plant(site)
        forget()
        answer = "nothing"
        for pair in wrong:
            said = asked(pair)
            if said == Verdict.PROVED:
                answer = f"FALSE PROOF of {pair.name}"
                break
            answer = said if said not in ("unknown", "refuted") and answer == "nothing" else answer
        else:
            for pair in same:
                if answer == "nothing" and (said := asked(pair)) != Verdict.PROVED:
                    answer = said
    except BaseException as error:
        answer = f"crash ({type(error).__name__})"
    os.write(out, answer.encode())
    os._exit(0)


def tried(chosen: list[Site], same: list[Pair], wrong: list[Pair], jobs: int, seconds: float) -> list[tuple[Site, str]]:
    """What each mutant has shown. Those that were not begun in time are left out."""
    found: list[tuple[Site, str]] = []
    waiting, running = list(reversed(chosen)), dict[int, tuple[int, Site, float]]()
    end = time.monotonic() + seconds
    while (waiting and time.monotonic() < end) or running:
        while waiting and len(running) < jobs and time.monotonic() < end:
            site = waiting.pop()
            reading, writing = os.pipe()
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                os.close(reading)
                child(site, same, wrong, writing)
            os.close(writing)
            running[reading] = (pid, site, time.monotonic())
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for reading, (pid, site, started) in list(running.items()):
            if reading in ready:
                answer = os.read(reading, 400).decode() or "crash"
            elif time.monotonic() - started > MOST_SECONDS:
                os.kill(pid, signal.SIGKILL)
                answer = "time"
            else:
                continue
            os.waitpid(pid, 0)
            os.close(reading)
            del running[reading]
            found.append((site, answer))
            if answer.startswith("FALSE"):
                print(f"{site}: {answer}", flush=True)
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sample", type=int, default=0, help="so many mutants, drawn at random; default all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--equal", type=int, default=60, help="pairs that are equal, at most")
    options.add_argument("--different", type=int, default=60, help="pairs that differ, at most")
    options.add_argument("--seconds", type=float, default=1e9, help="no mutant is begun after these")
    given = options.parse_args()
    same, wrong = collected(given.seed, given.equal, given.different)
    same = [p for p in same if asked(p) == Verdict.PROVED]
    false = [p.name for p in wrong if asked(p) == Verdict.PROVED]
    for name in false:
        print(f"proved without an error planted: {name}")
    files = sorted((ROOT / "verify" / "equivalence" / "matcher").glob("*.py"))
    chosen = [s for f in files for s in sites(f.relative_to(ROOT).as_posix(), f.read_text(encoding="utf-8"))]
    if 0 < given.sample < len(chosen):
        chosen = random.Random(given.seed).sample(chosen, given.sample)
    print(f"{len(chosen)} mutants, {len(same)} equal pairs, {len(wrong)} that differ", flush=True)
    found = tried(chosen, same, wrong, given.jobs, given.seconds)
    tally = Counter(answer.split(" of ")[0] for _, answer in found)
    print(f"{len(found)} tried: " + ", ".join(f"{what} {n}" for what, n in tally.most_common()))
    return 1 if false or any(answer.startswith("FALSE") for _, answer in found) else 0


if __name__ == "__main__":
    sys.exit(main())
