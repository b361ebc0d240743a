"""Errors planted in the matcher of `hloproof equiv`, which is not trusted: none may make it prove what differs.

    python tests/campaigns/matcher_mutants.py --sample 500 --jobs 2

Every change that the mutation engine knows is made in turn to a function of verify/equivalence/matcher, in a process of
its own, and the prover is asked about pairs of modules that run the changed line: pairs that do not differ, and pairs
one instruction away from those, which the refuter has confirmed to differ, so that a matcher that goes astray has
something near to claim. Pairs come from `specs/equivalence`, `tests/corpus` and the tables of the tests. A pair that
differs and is proved is a finding, and the status is 1 then. What else a change may show, gravest first:

    internal     the checker denied a claim           crash, time   no answer at all
    unknown      a proof was lost                     another       the same verdicts by other certificates
    equivalent   the same verdicts and certificates   not reached   no pair runs the line
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from tested_mutants import MOST_CALLS, reaching, tried_on

from hloproof.equivalence.decide import decide
from hloproof.equivalence.refuting.refute import Refutation, refute
from hloproof.fuzz.mutation.reach import Lines, Watch
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
VARIANTS: Final = 3
"""So many errors are planted in the second module of each pair that is equal."""
GRAVITY: Final = ("another", "unknown", "time", "crash", "internal")

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


def equal_texts() -> list[tuple[str, str, str]]:
    """Names and texts of pairs that are the same; those of the tests are tables of modules, written out again."""
    found: list[tuple[str, str, str]] = []
    with gzip.open(ROOT / "tests" / "corpus" / "pairs.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            found.append((f"{row['program']} {row['pass']}", row["before"], row["after"]))
    return found


def collected(seed: int, equal: int, different: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs that are proved quickly, and pairs that surely differ, most of them one instruction from the former."""
    same: list[Pair] = []
    wrong: list[Pair] = []
    for file in sorted((ROOT / "specs" / "equivalence").glob("*.pairs")):
        for p in parse_pairs(file.read_text(encoding="utf-8"), file.name):
            (wrong if p.expect == "refuted" else same).append(Pair(p.name, p.before, p.after))
    sys.path.insert(0, str(ROOT / "tests"))
    for file in sorted((ROOT / "tests").glob("test_equivalence*.py")):
        for group, table in vars(import_module(file.stem)).items():
            if isinstance(table, dict):
                pairs = [(k, v[:2]) for k, v in table.items() if isinstance(v, tuple) and len(v) >= 2]
                modules = [(k, a, b) for k, (a, b) in pairs if isinstance(a, Module) and isinstance(b, Module)]
                for name, a, b in modules:
                    which = wrong if group == "DIFFERENT" else same
                    which.append(Pair(f"{file.stem} {group}: {name}", a, b))
    source = random.Random(seed)
    texts = equal_texts()
    source.shuffle(texts)
    for name, before_text, after_text in texts[:equal]:
        before = parse_module(before_text)
        pair = Pair(name, before, parse_module(after_text))
        same.append(pair)
        if not _quick(pair):
            continue
        for n in range(VARIANTS if len(wrong) < different else 0):
            text = planted(after_text, source)
            try:
                after = parse_module(text) if text is not None else None
                if after is not None and isinstance(refute(before, after, 1.0), Refutation):
                    wrong.append(Pair(f"{name}, error {n} planted", before, after))
            except (InputError, NotModelled):
                continue
    return [p for p in same if _quick(p)], [p for p in wrong if _quick(p)]


def _quick(pair: Pair) -> bool:
    start = time.process_time()
    try:
        decide(pair.before, pair.after, budget_seconds=SECONDS)
    except InputError:
        return False
    return time.process_time() - start < QUICK


def asked(pair: Pair) -> tuple[str, object]:
    """The verdict, and what it rests on: the certificate, or where the search ended."""
    try:
        found = decide(pair.before, pair.after, budget_seconds=SECONDS)
    except Exception as error:
        return f"crash ({type(error).__name__})", None
    held = repr(found.certificate.proof) if found.certificate is not None else repr(found.mismatch)
    return str(found.verdict), held


@dataclass(frozen=True)
class Case:
    """A pair, whether it is equal, and what is said of it without an error planted."""

    pair: Pair
    equal: bool
    said: tuple[str, object]


def shown_by(cases: list[Case]) -> str:
    """The gravest thing that these pairs show of the matcher as it is now."""
    found = "equivalent"
    for case in cases:
        verdict, held = asked(case.pair)
        if not case.equal and verdict == Verdict.PROVED:
            return f"FALSE PROOF of {case.pair.name}"
        if verdict.startswith("crash"):
            said = "crash"
        elif verdict == Verdict.INTERNAL:
            said = "internal"
        elif case.equal and verdict != Verdict.PROVED:
            said = "unknown"
        else:
            said = "another" if held != case.said[1] else "equivalent"
        if said != "equivalent" and (found == "equivalent" or GRAVITY.index(said) > GRAVITY.index(found)):
            found = said
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sample", type=int, default=0, help="so many mutants, drawn at random; default all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--equal", type=int, default=260, help="pairs of the corpus that are equal, at most")
    options.add_argument("--different", type=int, default=400, help="pairs that differ, at most")
    options.add_argument("--each", type=int, default=10, help="a mutant is given to so many pairs of either sort")
    options.add_argument("--seconds", type=float, default=1e9, help="no mutant is begun after these")
    given = options.parse_args()
    same, wrong = collected(given.seed, given.equal, given.different)
    files = sorted((ROOT / "verify" / "equivalence" / "matcher").glob("*.py"))
    names = [f.relative_to(ROOT).as_posix() for f in files]
    watch = Watch(names, MOST_CALLS)
    cases: list[Case] = []
    reach: list[tuple[float, Lines]] = []
    false: list[str] = []
    for pair, equal in [(p, True) for p in same] + [(p, False) for p in wrong]:
        begun = time.process_time()
        said = asked(pair)
        spent = time.process_time() - begun
        if equal and said[0] != Verdict.PROVED:
            continue
        if not equal and said[0] == Verdict.PROVED:
            false.append(pair.name)
            print(f"proved without an error planted: {pair.name}")
            continue
        reach.append((spent, watch.lines_of(partial(asked, pair))))
        cases.append(Case(pair, equal, said))
    chosen = [s for name, f in zip(names, files, strict=True) for s in sites(name, f.read_text(encoding="utf-8"))]
    if 0 < given.sample < len(chosen):
        chosen = random.Random(given.seed).sample(chosen, given.sample)
    count = sum(c.equal for c in cases)
    print(f"{len(chosen)} mutants, {count} equal pairs, {len(cases) - count} that differ", flush=True)

    def shown(site: Site) -> str:
        picked = [cases[k] for k in reaching(reach, site, len(cases))]
        both = [[c for c in picked if c.equal is equal][: given.each] for equal in (False, True)]
        return shown_by(both[0] + both[1]) if picked else "not reached"

    def told(site: Site, answer: str) -> None:
        if answer.startswith("FALSE") or answer == "not reached":
            print(f"{answer}: {site}", flush=True)

    found = tried_on(chosen, shown, given.jobs, given.seconds, told)
    differ = sum(any(not cases[k].equal for k in reaching(reach, s, len(cases))) for s, _ in found)
    print(f"{differ} of {len(found)} sites are run by pairs that differ")
    tally = Counter(answer.split(" of ")[0].split(" (")[0] for _, answer in found)
    print(f"{len(found)} tried: " + ", ".join(f"{what} {n}" for what, n in tally.most_common()))
    return 1 if false or any(answer.startswith("FALSE") for _, answer in found) else 0


if __name__ == "__main__":
    sys.exit(main())
