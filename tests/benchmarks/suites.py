"""The suites of obligations: from the corpus, from the conformance cases, generated."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hard_set import hard_set
from hloproof.claims import owed
from hloproof.logic.formula import conj, eq, within
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_modules
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
LARGEST_FILE = 300_000
"""Files of the corpus with more bytes are left out: their operations are those of the others."""


def suites(sample: int) -> dict[str, list[Obligation]]:
    """Suite name to its obligations, no two equal. Of the corpus `sample` operations are taken, the same each time;
    suites whose material is absent are left out."""
    found = {"generated hard set": list(hard_set())}
    if (SHARED / "corpus").is_dir():
        found["corpus"] = _distinct(_owed(_sampled(list(_corpus_operations()), sample)))
    if (SHARED / "cases").is_dir():
        found["conformance cases"] = _distinct([*_owed(list(_case_operations())), *_case_simplifications()])
    return found


def _sampled(operations: list[Operation], sample: int) -> list[Operation]:
    return random.Random(0).sample(operations, min(sample, len(operations)))


def _distinct(obligations: Iterator[Obligation] | list[Obligation]) -> list[Obligation]:
    return list({key(o): o for o in obligations}.values())


def _owed(operations: list[Operation]) -> Iterator[Obligation]:
    for operation in operations:
        try:
            claims = owed(operation)
        except NotModelled:
            continue
        for claim in claims:
            try:
                yield from claim.obligations()
            except NotModelled:
                continue


def _operations(text: str, seen: dict[Operation, None]) -> Iterator[Operation]:
    try:
        modules = parse_modules(text)
    except InputError:
        return
    for module in modules:
        for computation in module.computations:
            for instruction in computation.instructions:
                operation = Operation.of(instruction, computation)
                if operation not in seen:
                    seen[operation] = None
                    yield operation


def _corpus_operations() -> Iterator[Operation]:
    seen: dict[Operation, None] = {}
    corpus = SHARED / "corpus"
    for path in sorted([*corpus.rglob("*.hlo"), *corpus.rglob("*.txt")]):
        if path.stat().st_size < LARGEST_FILE:
            yield from _operations(path.read_text(encoding="utf-8", errors="replace"), seen)


def _case_operations() -> Iterator[Operation]:
    seen: dict[Operation, None] = {}
    for line in (SHARED / "cases" / "hlo_indexing.jsonl").read_text(encoding="utf-8").splitlines():
        yield from _operations(json.loads(line)["hlo"], seen)


def _case_simplifications() -> Iterator[Obligation]:
    """Before equals after at every point, for the simplifications that upstream's tests state."""
    for line in (SHARED / "cases" / "simplify.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        try:
            before, after = parse_map(case["input"]), parse_map(case["expected"])
        except (InputError, TypeError):
            continue
        if len(before.results) == len(after.results) and _names(after) <= _names(before):
            yield Obligation(
                tuple(before.intervals()),
                conj(*(eq(x, y) for x, y in zip(before.results, after.results, strict=True))),
                conj(*(within(c.expr, c.interval) for c in before.constraints)),
                case["id"],
            )


def _names(m: IndexingMap) -> set[str]:
    return {name for e in m.results for name in e.free}
