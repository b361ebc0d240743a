"""The folder of a campaign: what was asked, what was done, and the failures.

`campaign.json` holds the seed and the size of a chunk; `chunks.jsonl` one line per finished chunk, written at once, so
that a campaign that is killed loses only the chunks in hand; `failures/` holds for each cause one file with the
minimised case, behind a comment that says what fails, one test that replays it, and what the target writes beside them.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hloproof.fuzz.chunk import Chunk, Found
from hloproof.fuzz.target import Target
from hloproof.results.errors import BadInput
from hloproof.results.files import read_file, read_json


@dataclass
class State:
    """All that is known of a campaign. `done` holds the numbers of the finished chunks by target."""

    folder: Path
    seed: int
    chunk_size: int
    corpus: Path | None = None
    """The folder of modules that some targets draw from."""
    done: dict[str, set[int]] = field(default_factory=dict)
    examples: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    coverage: dict[str, Counter[str]] = field(default_factory=dict)
    causes: dict[str, dict[str, int]] = field(default_factory=dict)
    """By target: cause and how often it was met."""

    @classmethod
    def open(cls, folder: Path, seed: int | None, chunk_size: int, corpus: Path | None = None) -> State:
        """The state in the folder, or a new one. Raises ValueError when the folder's campaign has another seed, or
        draws from other modules, BadInput when its files are none of a campaign."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "campaign.json"
        if file.exists():
            kept = _header(file)
            if seed is not None and seed != kept["seed"]:
                raise ValueError(f"the campaign in {folder} has seed {kept['seed']}, not {seed}")
            own = Path(kept["corpus"]) if "corpus" in kept else None
            if corpus is not None and corpus.resolve() != own:
                raise ValueError(f"the campaign in {folder} has modules of {own or 'no folder'}, not of {corpus}")
            state = cls(folder, kept["seed"], kept["chunk_size"], own)
        else:
            state = cls(folder, seed or 0, chunk_size, corpus and corpus.resolve())
            drawn = {} if corpus is None else {"corpus": str(state.corpus)}
            replace(file, json.dumps({"seed": state.seed, "chunk_size": chunk_size, **drawn}) + "\n")
        for line in _lines(folder / "chunks.jsonl"):
            state._count(line)
        return state

    def next_chunk(self, target: str, running: set[int]) -> int:
        """The lowest number that is neither finished nor running."""
        done, number = self.done.setdefault(target, set()), 0
        while number in done or number in running:
            number += 1
        return number

    def known(self, target: str) -> list[str]:
        return sorted(self.causes.get(target, ()))

    def record(self, chunk: Chunk, target: Target) -> list[Found]:
        """Writes a finished chunk down; the failures whose cause is new. One that is not whole is drawn again when the
        campaign goes on, and counts."""
        new = [f for f in chunk.failures if f.cause not in self.causes.get(chunk.target, {})]
        for failure in new:
            self._write(failure, target)
        causes = Counter(chunk.repeated)
        causes.update(f.cause for f in chunk.failures)
        line = {
            "target": chunk.target,
            "chunk": chunk.number,
            "examples": chunk.examples,
            "seconds": round(chunk.seconds, 3),
            "coverage": dict(sorted(chunk.coverage.items())),
            "causes": dict(sorted(causes.items())),
            **({} if chunk.whole else {"whole": False}),
        }
        with (self.folder / "chunks.jsonl").open("a") as out:
            out.write(json.dumps(line) + "\n")
            out.flush()
            os.fsync(out.fileno())
        self._count(line)
        return new

    def failures(self) -> list[tuple[str, Path]]:
        """Target and file of every failure found so far."""
        folder = self.folder / "failures"
        cases = (f for f in sorted(folder.glob("*")) if f.suffix != ".py" and f.is_file())
        return [(f.name.rpartition("-")[0], f) for f in cases]

    def _count(self, line: dict[str, Any]) -> None:
        name = line["target"]
        done = self.done.setdefault(name, set())
        if line["chunk"] in done:
            return
        if line.get("whole", True):
            done.add(line["chunk"])
        self.examples[name] += line["examples"]
        self.seconds[name] += line["seconds"]
        self.coverage.setdefault(name, Counter()).update(line["coverage"])
        for cause, count in line["causes"].items():
            met = self.causes.setdefault(name, {})
            met[cause] = met.get(cause, 0) + count

    def _write(self, failure: Found, target: Target) -> None:
        folder = self.folder / "failures"
        folder.mkdir(exist_ok=True)
        head = [f"target {failure.target}, seed {self.seed}", failure.cause, *failure.message.splitlines()]
        comment = "".join(f"{target.comment} {line}\n" for line in head) if target.comment else ""
        replace(folder / f"{failure.key}{target.suffix}", comment + failure.case)
        name = failure.key.replace("-", "_")
        test = (
            f'"""{failure.cause}"""\n\nfrom hloproof.fuzz.targets import target\n\nCASE = {failure.case!r}\n\n\n'
            f"def test_{name}() -> None:\n    target({failure.target!r}).examine(CASE)\n"
        )
        replace(folder / f"test_{name}.py", test)
        if target.dossier is not None and failure.case:
            beside = folder / f"{failure.key}.found"
            beside.mkdir(exist_ok=True)
            for file, text in target.dossier(failure.case, failure.cause, failure.message).items():
                replace(beside / file, text)


def _lines(file: Path) -> list[dict[str, Any]]:
    """The whole lines of the file; one that was cut off when a process was killed is left out. Raises BadInput for one
    that is whole and tells of no chunk."""
    found = []
    for number, line in enumerate(read_file(file).splitlines() if file.exists() else (), 1):
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not _tells_of_a_chunk(told):
            raise BadInput(f"{file}:{number}: no line that a campaign has written")
        found.append(told)
    return found


def _tells_of_a_chunk(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("target"), str):
        return False
    counts = [line.get("coverage"), line.get("causes")]
    numbers = [line.get(k) for k in ("chunk", "examples", "seconds")]
    for table in counts:
        if not isinstance(table, dict):
            return False
        numbers += table.values()
    return all(isinstance(n, int | float) and 0 <= n < math.inf for n in numbers)


def _header(file: Path) -> dict[str, Any]:
    """What `campaign.json` holds. Raises BadInput when that is none."""
    kept = read_json(file)
    if not isinstance(kept, dict) or not all(isinstance(kept.get(k), int) for k in ("seed", "chunk_size")):
        raise BadInput(f"{file}: no campaign: it has a seed and a chunk_size")
    if kept["chunk_size"] < 1 or not isinstance(kept.get("corpus", ""), str):
        raise BadInput(f"{file}: no campaign: its chunks hold an example at least, its corpus is a folder")
    return kept


def replace(file: Path, text: str) -> None:
    """Writes a file so that a reader sees the old or the new text and never a part."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(text)
    os.replace(beside, file)
