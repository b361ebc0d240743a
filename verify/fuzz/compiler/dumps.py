"""What the installed compiler leaves behind, judged: every pass and the whole by `equiv`, the plan by `memory`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hloproof.memory.judge import judge
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.pipeline.memory_plans import plans_in
from hloproof.pipeline.pass_dumps import Dump, find_dumps
from hloproof.queries.equivalence import compare, one_module
from hloproof.results.errors import BadInput
from hloproof.results.verdict import Verdict

FLAGS: Final = "--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
SECONDS: Final = 4.0
"""For one pass."""


class Refuted(Exception):
    """A pass or a plan of the compiler is refuted. `name` is the pass, or the claim about the plan."""

    def __init__(self, name: str, said: str, before: str, after: str) -> None:
        self.name, self.said, self.before, self.after = name, said, before, after
        super().__init__(f"{name}: {said}")


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        with suppress(OSError):
            file.unlink()


def judge_dumps(folder: Path) -> Counter[str]:
    """What was proved or is unknown, by pass. Raises Refuted."""
    told: Counter[str] = Counter()
    for name, before, after in _pairs(folder):
        first, last = before.read(), after.read()
        try:
            answer = compare(
                one_module(first, before.path.name), one_module(last, after.path.name), "rounding", SECONDS
            )
        except InputError as error:
            told[f"pass {name}: cannot be read"] += 1
            if "expected" in error.message:
                raise Refuted(f"text after {name}", str(error), first, last) from error
            continue
        if answer.verdict is Verdict.REFUTED:
            raise Refuted(name, answer.reason, first, last)
        told[f"pass {name}: {answer.verdict.value}"] += 1
        told.update(f"identity {axiom}" for axiom, _ in answer.axioms)
    told.update(_plans(folder))
    return told


def _pairs(folder: Path) -> Iterator[tuple[str, Dump, Dump]]:
    try:
        modules = find_dumps(folder)
    except BadInput:
        return
    for dumps in modules:
        for change in dumps.changes():
            yield change.name, change.before, change.after
        if len(dumps.dumps) > 2:
            yield "whole compilation", dumps.dumps[0], dumps.dumps[-1]


def _plans(folder: Path) -> Iterator[str]:
    for module, plan in plans_in(str(folder)):
        texts: list[Any] = [Path(p).read_text() for p in (module, plan)]
        for j in judge(parse_module(texts[0]), parse_assignment(texts[1])):
            if j.problem is not None:
                raise Refuted(j.claim, f"{j.place.instruction}: {j.problem}", *texts)
            yield f"{j.claim}: {j.found.verdict}"
