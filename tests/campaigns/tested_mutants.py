"""Errors planted in code that is trusted, each given to the tests that run the changed line: do the tests notice?

    python tests/campaigns/tested_mutants.py --part checker --sample 60 --jobs 2

The tests are collected and traced once; every change is made in a process of its own, which runs the quickest tests
that reach it until one fails. Survivors are listed by place; the status is 1 where one was not expected to survive,
by `verify/fuzz/mutation/equivalent_mutants.txt`, and the score is below `--least`.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

from hloproof.fuzz.mutation.children import tried
from hloproof.fuzz.mutation.mutants import known_equivalent, plant
from hloproof.fuzz.mutation.reach import Lines, Watch, forget
from hloproof.fuzz.mutation.sites import Site, sites

ROOT: Final = Path(__file__).parents[2]
MOST_SECONDS: Final = 120.0
"""A mutant that takes longer is ended: it has shown."""
MOST_CALLS: Final = 300
"""So many calls of a function are traced in each test."""
SLOW: Final = 2.0
"""Tests that take more processor seconds are left out."""


@dataclass(frozen=True)
class Part:
    """What is mutated, and the tests that should notice; both are globs below the root."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()


PARTS: Final[dict[str, Part]] = {
    "checker": Part(
        ("verify/equivalence/*.py",),
        ("tests/test_equivalence*.py",),
        ("verify/equivalence/decide.py", "verify/equivalence/answer.py"),
    ),
    "matcher": Part(("verify/equivalence/matcher/*.py",), ("tests/test_equivalence*.py", "tests/test_matcher*.py")),
    "plans": Part(("verify/memory/*.py",), ("tests/test_memory*.py",)),
    "products": Part(
        ("verify/engines/nonlinear/encode_z3.py", "verify/engines/nonlinear/products.py"),
        ("tests/test_rule*.py", "tests/test_engines.py", "tests/test_false_proofs_rules.py"),
    ),
}


def reaching(reach: list[tuple[float, Lines]], site: Site, most: int) -> list[int]:
    """The numbers of the cheapest cases that run the changed line, or else its statement."""
    for first, last in site.ranges[:2]:
        wanted = range(first, last + 1)
        found = [k for k, (_, lines) in enumerate(reach) if not lines.get(site.file, frozenset()).isdisjoint(wanted)]
        if found:
            return sorted(found, key=lambda k: reach[k][0])[:most]
    return []


def tried_on(
    chosen: list[Site], shown: Callable[[Site], str], jobs: int, seconds: float, told: Callable[[Site, str], None]
) -> list[tuple[Site, str]]:
    """What `shown` says of each change, in a process that has it. Those that were not begun in time are left out."""

    def answer(site: Site) -> str:
        plant(site)
        forget()
        return shown(site)

    found: list[tuple[Site, str]] = []
    for site, said, _ in tried(chosen, answer, jobs, MOST_SECONDS, seconds):
        found.append((site, said))
        told(site, said)
    return found


def drawn(part: Part, sample: int, seed: int) -> list[Site]:
    """The changes to try: so many at random, or all for 0; those that are listed as equivalent are left out."""
    files = sorted({f for glob in part.files for f in ROOT.glob(glob)} - {ROOT / f for f in part.without})
    found = [s for f in files for s in sites(f.relative_to(ROOT).as_posix(), f.read_text(encoding="utf-8"))]
    excused = known_equivalent()
    found = [s for s in found if s.key not in excused]
    return random.Random(seed).sample(found, sample) if 0 < sample < len(found) else found


class Campaign:
    """The plugin of pytest that does it all, in place of the loop over tests."""

    def __init__(self, part: Part, given: argparse.Namespace) -> None:
        self.given = given
        self.chosen = drawn(part, given.sample, given.seed)
        self.found: list[tuple[Site, str]] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        watch = Watch({s.file for s in self.chosen}, MOST_CALLS)
        items: list[pytest.Item] = []
        reach: list[tuple[float, Lines]] = []
        for item in session.items:
            begun = time.process_time()
            passed = _passes(item)
            spent = time.process_time() - begun
            if not passed or spent > SLOW:
                continue
            forget()
            reach.append((spent, watch.lines_of(partial(_passes, item))))
            items.append(item)
        print(f"\n{len(self.chosen)} mutants, {len(items)} of {len(session.items)} tests", flush=True)

        def shown(site: Site) -> str:
            cases = reaching(reach, site, self.given.tests)
            if not cases:
                return "not reached"
            return next((f"caught by {items[k].location[0]}" for k in cases if not _passes(items[k])), "survived")

        def told(site: Site, answer: str) -> None:
            if answer in ("survived", "not reached"):
                print(f"{answer}: {site}", flush=True)

        self.found = tried_on(self.chosen, shown, self.given.jobs, self.given.seconds, told)
        return True


def _passes(item: pytest.Item) -> bool:
    reports = runtestprotocol(item, nextitem=None, log=False)
    return not any(r.failed for r in reports)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=PARTS, default="checker")
    options.add_argument("--sample", type=int, default=0, help="so many mutants, drawn at random; default all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--tests", type=int, default=40, help="a mutant is given to so many tests that reach it")
    options.add_argument("--seconds", type=float, default=1e9, help="no mutant is begun after these")
    options.add_argument("--least", type=float, default=0.0, help="the status is 1 below this score in percent")
    given = options.parse_args()
    part = PARTS[given.part]
    campaign = Campaign(part, given)
    files = [str(f) for glob in part.tests for f in sorted(ROOT.glob(glob))]
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", *files], plugins=[campaign])
    tally = Counter(a if a in ("survived", "not reached", "time") else a.split(" ")[0] for _, a in campaign.found)
    missed = tally["survived"] + tally["not reached"]
    score = 100.0 * (1 - missed / len(campaign.found)) if campaign.found else 0.0
    by_file = Counter(site.file for site, a in campaign.found if a in ("survived", "not reached"))
    of_file = Counter(site.file for site, _ in campaign.found)
    for file, count in sorted(of_file.items()):
        print(f"{file}: {count - by_file[file]} of {count}")
    print(
        f"{given.part}: {score:.1f}% of {len(campaign.found)}: " + ", ".join(f"{w} {n}" for w, n in tally.most_common())
    )
    return 1 if score < given.least else 0


if __name__ == "__main__":
    sys.exit(main())
