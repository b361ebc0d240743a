"""usage: two_modules.py [--sample N] [--seconds S]

`equiv` against what a user has otherwise: comparing the texts after renaming, and running both modules on random
inputs, in the interpreter over rounded numbers and, where a Python with jax is at hand (HLOPROOF_XLA_PYTHON), compiled
by the released XLA on CPU. Material: pairs of dumps of the project's own JAX programs, and the historic wrong rewrites
of `specs/equivalence` with their sound twins. Times are processor milliseconds, of the compiler's process too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from math import isclose
from pathlib import Path
from time import process_time
from typing import Any

from hloproof.fuzz.modules.reference import Xla, arrays, encoded, python_with_jax
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine, run_module
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.specs.folder import specs_folder
from hloproof.queries.equivalence import compare, one_module

CORPUS = Path(__file__).parents[1] / "corpus" / "pairs.jsonl.gz"
RUNS = 4
"""Random inputs that are tried."""


def by_proof(before: str, after: str, seconds: float) -> str:
    return str(compare(one_module(before, "a"), one_module(after, "b"), budget_seconds=seconds).verdict)


def by_text(before: str, after: str, seconds: float) -> str:
    """Proved where the texts are the same up to names, metadata and layouts."""
    return "proved" if renamed(before) == renamed(after) else "unknown"


def renamed(text: str) -> list[str]:
    names: dict[str, str] = {}
    dropped = re.compile(r", (metadata|backend_config|frontend_attributes)=\{.*?\}(?=,|$)|(?<=\])\{[\d,]*\}")
    lines = [dropped.sub("", x) for x in text.splitlines() if x.strip()]
    definition = re.compile(r"\s*(?:ROOT |ENTRY )?%?([\w.\-]+) (?:=|\{|\()")
    defined = [found[1] for x in lines if (found := definition.match(x))]
    for name in defined:
        names.setdefault(name, f"n{len(names)}")
    return [re.sub(r"%?([\w.\-]+)", lambda m: names.get(m[1], m[1]), x).strip() for x in lines[1:]]


def by_running(before: str, after: str, seconds: float) -> str:
    """Refuted where a run differs by more than rounding, `agrees` where none does."""
    one, other = one_module(before, "a"), one_module(after, "b")
    try:
        for seed in range(RUNS):
            if not near(run_module(one, seed=seed), run_module(other, seed=seed)):
                return "refuted"
    except (NotModelled, InputError):
        return "unknown"
    return "agrees"


class ByCompiling:
    """Both modules compiled by the released XLA and run on the same random inputs. Unknown where the compiler takes one
    of them for no valid module, as it does with what its later passes write for themselves."""

    def __init__(self) -> None:
        self._xla = Xla(seconds=60.0)

    def __call__(self, before: str, after: str, seconds: float) -> str:
        one = one_module(before, "a")
        inputs = [Machine(one, Real(), Devices(), seed).random_inputs()[0] for seed in range(RUNS)]
        runs = [[encoded(a) for v in i for a in arrays(v)] for i in inputs]
        answers = [self._xla.ask({"hlo": text, "runs": runs}) for text in (before, after)]
        if any("error" in a for a in answers):
            return "unknown"
        theirs, others = ([[part["data"] for part in r] for r in a["runs"]] for a in answers)
        return "agrees" if near(theirs, others) else "refuted"

    def seconds(self) -> float:
        """Processor time that the compiler's process has taken, with all its threads."""
        fields = Path(f"/proc/{self._xla.process_id}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def near(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(near(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return isclose(a, b, rel_tol=1e-3, abs_tol=1e-4) or (a != a and b != b)
    return bool(a == b)


COLUMNS: dict[str, Callable[[str, str, float], str]] = {"equiv": by_proof, "text": by_text, "running": by_running}


def material(sample: int) -> dict[str, list[tuple[str, str]]]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chosen = random.Random(0).sample(rows, min(sample, len(rows)))
    folder = specs_folder() / "equivalence"
    text = (folder / "known_bugs.pairs").read_text(encoding="utf-8")
    bugs = [pair_texts(block) for block in re.split(r"^pair ", text, flags=re.MULTILINE)[1:]]
    return {
        "compiled programs": [(r["before"], r["after"]) for r in chosen],
        "wrong rewrites": [(a, b) for a, b, expect in bugs if expect == "refuted"],
        "their sound twins": [(a, b) for a, b, expect in bugs if expect != "refuted"],
    }


def pair_texts(block: str) -> tuple[str, str, str]:
    """Both modules of a pair, and what its entry expects."""
    before, after = re.split(r"^=>$", block[block.index("HloModule") :], flags=re.MULTILINE)
    expected = re.search(r"^  expect (\S+)", block, flags=re.MULTILINE)
    return before, after, expected[1] if expected else "proved"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=60, help="pairs of dumps")
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of equiv")
    options = parser.parse_args()
    columns, elsewhere = dict(COLUMNS), None
    if python_with_jax() is not None:
        columns["compiled"] = elsewhere = ByCompiling()
        elsewhere(*next(iter(material(1).values()))[0], options.seconds)  # The start of the process is not counted.

    def clock() -> float:
        return process_time() + (elsewhere.seconds() if elsewhere else 0.0)

    for name, pairs in material(options.sample).items():
        for column, decide in columns.items():
            verdicts: Counter[str] = Counter()
            times: list[float] = []
            for before, after in pairs:
                begun = clock()
                verdicts[decide(before, after, options.seconds)] += 1
                times.append(1000 * (clock() - begun))
            times.sort()
            said = ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items()))
            print(
                f"{name:20} {column:8} {len(pairs):4} {times[len(times) // 2]:9.1f} {times[-1]:9.0f}  {said}",
                flush=True,
            )


if __name__ == "__main__":
    main()
