"""What `hloproof check` says of the same inputs before and after a change, verdict by verdict.

    python tests/campaigns/compared_verdicts.py 06147e2 specs ../shared/corpus/xla --json changes.json
    python tests/campaigns/compared_verdicts.py HEAD~1 ../shared/corpus/jax-cpu --sample 100

The commit is checked out beside this tree for as long as it takes. Prints how many verdicts went from which to which,
then each class of changes (claim and reasons, names and numbers left out) with one example. What only one side says is
a change from or to `absent`. Ends with 1 when a verdict changed: each class wants an explanation.

Small files are checked in batches; one that ends without a report is repeated file by file. Where one side ran out of
time the verdict is `late`, on both sides alike, and is no change: it says nothing about the tool.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

HOUSE: Final = Path(__file__).parents[2]
SUFFIXES: Final = (".hlo", ".txt", ".rules", ".trules", ".map", ".pairs", ".layout")
SMALL_BYTES: Final = 60_000
BATCH: Final = 16
LATE: Final = re.compile(r"time|seconds|budget|deadline|limit of the check", re.IGNORECASE)

Key = tuple[str, str, int]
"""File, what the verdict is about (module, computation, instruction and claim), and which of several alike."""


@dataclass(frozen=True)
class Said:
    verdict: str
    reason: str
    claim: str
    line: int


@dataclass(frozen=True)
class Change:
    file: str
    about: str
    claim: str
    line: int
    before: str
    after: str
    reason_before: str
    reason_after: str

    @property
    def group(self) -> tuple[str, str, str, str, str]:
        return self.before, self.after, self.claim, _shortened(self.reason_before), _shortened(self.reason_after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the commit to compare this tree with")
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders")
    parser.add_argument("--seconds", type=float, default=60, help="limit for one file, of either side")
    parser.add_argument("--sample", type=int, help="only so many files of each path, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--options", default="", help="further options of check, for both sides")
    parser.add_argument("--json", type=Path, help="write every change here")
    given = parser.parse_args()
    files = [file for path in given.paths for file in _files(path.resolve(), given.sample, given.seed)]
    options = [*given.options.split(), "-j", "1", "--no-cache", "--format", "json"]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "before"
        _git("worktree", "add", "--detach", str(other), given.commit)
        try:
            sides = [_linked(tree) for tree in (other, HOUSE)]
            changes, counts = _compare(files, sides, options, given.seconds)
        finally:
            _git("worktree", "remove", "--force", str(other))
    if given.json:
        given.json.write_text(json.dumps([asdict(change) for change in changes], indent=1) + "\n")
    _print(len(files), changes, counts)
    return 1 if changes else 0


def _git(*words: str) -> None:
    subprocess.run(["git", "-C", str(HOUSE), *words], check=True, capture_output=True)


def _linked(tree: Path) -> str:
    """The folder with which a checkout is imported; made anew only where there is none, since another may use it."""
    if not (tree / ".links").exists():
        subprocess.run([str(tree / ".ci" / "link")], check=True, capture_output=True)
    return str(tree / ".links")


def _files(path: Path, sample: int | None, seed: int) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and "released/" not in str(file))
    if sample is not None and sample < len(found):
        found = sorted(random.Random(seed).sample(found, sample))
    return found


def _batches(files: list[Path]) -> Iterator[list[Path]]:
    small = [file for file in files if file.stat().st_size <= SMALL_BYTES]
    for start in range(0, len(small), BATCH):
        yield small[start : start + BATCH]
    for file in files:
        if file.stat().st_size > SMALL_BYTES:
            yield [file]


def _compare(
    files: list[Path], sides: list[str], options: list[str], seconds: float
) -> tuple[list[Change], collections.Counter[tuple[str, str]]]:
    changes: list[Change] = []
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    done = 0
    for batch in _batches(files):
        before, after = (_check(batch, side, options, seconds) for side in sides)
        for key in before | after:
            then, now = (_said(key, side) for side in (before, after))
            counts[then.verdict, now.verdict] += 1
            if then.verdict != now.verdict and "late" not in (then.verdict, now.verdict):
                claim, line = (now.claim or then.claim), (now.line or then.line)
                changes.append(Change(key[0], key[1], claim, line, then.verdict, now.verdict, then.reason, now.reason))
        done += len(batch)
        print(f"{done} of {len(files)} files, {sum(counts.values())} verdicts, {len(changes)} changes", file=sys.stderr)
    return changes, counts


def _said(key: Key, side: dict[Key, Said]) -> Said:
    """What one side says; late where it gave up the whole file."""
    return side.get(key) or side.get((key[0], "late", 0)) or Said("absent", "", "", 0)


def _check(files: list[Path], links: str, options: list[str], seconds: float) -> dict[Key, Said]:
    """What one side says of some files. A batch that ends without a report is repeated file by file."""
    environment = {**os.environ, "PYTHONPATH": links}
    total = seconds * len(files)
    command = [sys.executable, "-m", "hloproof", "check", *options, "--total-seconds", str(total), *map(str, files)]
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, timeout=2 * total + 60, text=True, check=False
        )
        report = json.loads(ended.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        if len(files) > 1:
            return {key: said for file in files for key, said in _check([file], links, options, seconds).items()}
        if isinstance(error, subprocess.TimeoutExpired):
            return {(str(files[0]), "late", 0): Said("late", "", "", 0)}
        return {(str(files[0]), "report", 0): Said("no report", ended.stderr.strip()[-300:], "", 0)}
    return _verdicts(report)


def _verdicts(report: dict[str, list[dict[str, object]]]) -> dict[Key, Said]:
    said: dict[Key, Said] = {}
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    for row in report["obligations"]:
        file = str(row["file"])
        about = str(row["id"]).removeprefix(file)
        seen[file, about] += 1
        verdict, reason = str(row["verdict"]), str(row["reason"] or "")
        if verdict == "refuted":
            reason = str(row["counterexample"] or reason)
        if verdict == "unknown" and LATE.search(reason):
            verdict = "late"
        line = row["line"]
        said[file, about, seen[file, about]] = Said(
            verdict, reason, str(row["claim"]), line if isinstance(line, int) else 0
        )
    for problem in report["problems"]:
        file = str(problem.get("file"))
        seen[file, "problem"] += 1
        said[file, "problem", seen[file, "problem"]] = Said(
            "input error", str(problem.get("message") or problem), "", 0
        )
    return said


def _shortened(reason: str) -> str:
    return re.sub(r"%?[\w.-]*\d[\w.-]*", "_", reason)[:160]


def _print(files: int, changes: list[Change], counts: collections.Counter[tuple[str, str]]) -> None:
    print(f"{files} files, {sum(counts.values())} verdicts, {len(changes)} changed")
    for (then, now), count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"  {then:>12} -> {now:<12} {count}")
    groups: dict[tuple[str, str, str, str, str], list[Change]] = collections.defaultdict(list)
    for change in changes:
        groups[change.group].append(change)
    for (then, now, claim, _, _), alike in sorted(groups.items(), key=lambda item: -len(item[1])):
        first = alike[0]
        print(f"\n{len(alike)} x {claim}: {then} -> {now}; {len({change.file for change in alike})} files")
        print(f"  {first.file}:{first.line} {first.about}")
        print(f"  before: {first.reason_before[:300]}\n  after:  {first.reason_after[:300]}")


if __name__ == "__main__":
    sys.exit(main())
