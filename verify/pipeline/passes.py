"""Validates the passes of a compilation: every pair of dumps that differ, and the first against the last."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, Final

from hloproof.engines.store import DAMAGED, Store
from hloproof.equivalence.answer import Tier
from hloproof.models.errors import InputError
from hloproof.pipeline.dump_names import LAST
from hloproof.pipeline.pass_dumps import UNNAMED, Change, Dumps
from hloproof.pipeline.prover import Progress
from hloproof.pipeline.record_cache import source_digest
from hloproof.processes.pool import work_on
from hloproof.queries.equivalence import compare, one_module
from hloproof.results.errors import BadInput

WHOLE: Final = "whole compilation"

MEGABYTES: Final = 4096
"""Address space of a worker."""

_IN_TIME: Final = 0.2
"""The part of the budget within which no clock decides."""


@dataclass(frozen=True)
class PassOptions:
    """`jobs` 0 is one process per core; `cache` None keeps nothing."""

    tier: Tier = "rounding"
    budget_seconds: float = 10.0
    jobs: int = 0
    since: str = ""
    cache: Path | None = None


@dataclass(frozen=True)
class JudgedChange:
    """What is said about one change: `answer` is that of `equiv` as JSON data."""

    module: str
    change: Change
    answer: dict[str, Any]
    cached: bool = False

    @property
    def verdict(self) -> str:
        return str(self.answer["verdict"])

    @property
    def seconds(self) -> float:
        return float(self.answer.get("seconds", 0.0))

    @property
    def whole(self) -> bool:
        """The first dump against the last."""
        return self.change.name == WHOLE


@dataclass
class Compilation:
    """Everything that was found about a folder of dumps."""

    modules: Sequence[Dumps]
    judged: list[JudgedChange] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    """It was ended from outside; what has no answer by then is unknown."""

    def first_broken(self, module: str) -> JudgedChange | None:
        """The first pass that was refuted for a module."""
        return next((j for j in self.judged if j.module == module and not j.whole and j.verdict == "refuted"), None)

    @property
    def verdicts(self) -> set[str]:
        return {j.verdict for j in self.judged}


def validate(modules: Sequence[Dumps], options: PassOptions, progress: Progress | None = None) -> Compilation:
    """Judges every change of every module, in processes of their own; what was judged before is taken from the cache.
    KeyboardInterrupt ends the processes, and what is known by then is told.

    Raises BadInput for a file that cannot be read.
    """
    start = monotonic()
    todo = [(d.module, c) for d in modules for c in _changes(d, options.since)]
    untold = [(d.module, told) for d in modules if (told := _not_judged(d, options.since)) is not None]
    cache, answers = _Cache(options), {}
    keys = [cache.key(change) for _, change in todo]
    try:
        kept = {n: found for n, key in enumerate(keys) if (found := cache.get(key)) is not None}
        answers.update(kept)
        rest = [n for n in range(len(todo)) if n not in kept]

        def answered(position: int, answer: dict[str, Any]) -> None:
            n = rest[position]
            final = answer.pop("final", True) and not _may_be_late(answer, options)
            if final:
                cache.put(keys[n], answer)
            answers[n] = answer
            if progress is not None:
                progress(len(answers), len(todo), f"{todo[n][0]} {todo[n][1].name}")

        interrupted = False
        try:
            work_on([todo[n][1] for n in rest], options.jobs, _Judging(options), answered)
        except KeyboardInterrupt:
            interrupted = True
    finally:
        cache.close()
    missing = _unknown("not tried: interrupted")
    judged = [JudgedChange(m, change, answers.get(n, missing), n in kept) for n, (m, change) in enumerate(todo)]
    judged += [JudgedChange(m, change, _unknown(reason)) for m, (change, reason) in untold]
    return Compilation(modules, judged, monotonic() - start, interrupted)


def _may_be_late(answer: dict[str, Any], options: PassOptions) -> bool:
    """An unknown that another run may decide, on a machine that has more time: the search has limits that are parts of
    the budget, the smallest a fifth of it."""
    return answer["verdict"] == "unknown" and float(answer.get("seconds", 0.0)) >= _IN_TIME * options.budget_seconds


def _changes(dumps: Dumps, since: str) -> list[Change]:
    if dumps.at_one_place is not None:
        return []
    found = dumps.changes(since)
    if len(dumps.dumps) > 2 and not since:
        found.append(Change(WHOLE, dumps.dumps[0], dumps.dumps[-1]))
    return found


def _not_judged(dumps: Dumps, since: str) -> tuple[Change, str] | None:
    """Why nothing of a module is compared, though its dumps do not say that nothing changed, or not all of it."""
    only = dumps.dumps[0]
    if only.after == UNNAMED:
        return Change(only.after, only, only), "a module whose name is that of no dump: nothing says what it follows"
    if dumps.is_apart:
        told = "the names of these files have no name of a module: nothing says what of another module they follow"
        return Change(only.after, only, only), told
    if len(dumps.dumps) + dumps.repeated == 1:
        return Change(only.after, only, only), "the only dump of this module: there is nothing to compare it with"
    if dumps.at_one_place is not None:
        one, two = dumps.at_one_place
        told = f"{one.path.name} and {two.path.name} are of two compilations: nothing says which dump follows which"
        return Change(two.after, one, two), told
    if since and not dumps.has(since):
        return Change(since, only, only), f"no pass or pipeline {since!r} among the dumps of this module"
    last = dumps.dumps[-1]
    if dumps.is_cut_short:
        told = f"the dumps end after {last.after}: what the compiler made at the end is not there"
        return Change(LAST, last, last), told
    if not dumps.changes(since):
        try:
            one_module(last.read(), last.path.name)
        except (InputError, BadInput) as error:  # two empty files are the same, and no module
            return Change(last.after, last, last), str(error)
    return None


@dataclass(frozen=True)
class _Judging:
    """What a worker is told that compares pairs. `compare` minds its budget by itself; a worker that does not end is
    killed, which costs its pair alone."""

    options: PassOptions

    @property
    def seconds(self) -> float:
        return 2 * self.options.budget_seconds + 10

    @property
    def megabytes(self) -> int:
        return MEGABYTES

    @property
    def late(self) -> str:
        return f"no answer within {self.seconds:g} seconds, twice the budget (--budget) and ten"

    def begin(self) -> Callable[[Change], dict[str, Any]]:
        return lambda change: _judge(change, self.options)

    def lost(self, asked: Change, reason: str) -> dict[str, Any]:
        return {**_unknown(reason), "final": False}

    def failed(self, asked: Change, error: Exception) -> dict[str, Any]:
        if isinstance(error, BadInput):
            return {**_unknown(str(error)), "final": False}
        said = f"internal error: {type(error).__name__}: {error}"
        return {**_unknown(said), "verdict": "internal", "final": False}


def _unknown(reason: str) -> dict[str, Any]:
    return {"verdict": "unknown", "reason": reason, "axioms": [], "counterexample": None, "seconds": 0.0}


def _judge(change: Change, options: PassOptions) -> dict[str, Any]:
    """The answer about one pair of files. A file that is no module, and modules that do not fit each other, are unknown
    with that reason: a compiler may change what a program takes."""
    names = change.before.path.name, change.after.path.name
    try:
        before, after = (one_module(d.read(), d.path.name) for d in (change.before, change.after))
        return compare(before, after, options.tier, options.budget_seconds, names[1]).as_json()
    except InputError as error:
        return _unknown(str(error))


class _Cache:
    """Answers by the two texts and what was asked, in the file of the proof cache."""

    def __init__(self, options: PassOptions) -> None:
        self._store = Store(options.cache)
        self._asked = f"{options.tier} {options.budget_seconds}".encode()

    def key(self, change: Change) -> bytes:
        if not self._store.is_open:
            return b""
        parts = (source_digest(), self._asked, change.before.digest, change.after.digest)
        return b"pair " + sha256(b"".join(sha256(p).digest() for p in parts)).digest()

    def get(self, key: bytes) -> dict[str, Any] | None:
        with suppress(*DAMAGED, zlib.error):
            found = self._store.get(key)
            answer = None if found is None else json.loads(zlib.decompress(found))
            if isinstance(answer, dict) and answer.get("verdict") in ("proved", "refuted", "unknown"):
                return answer
        return None

    def put(self, key: bytes, answer: dict[str, Any]) -> None:
        self._store.put(key, zlib.compress(json.dumps(answer).encode(), 1))

    def close(self) -> None:
        self._store.close()


__all__ = ["WHOLE", "Compilation", "JudgedChange", "PassOptions", "validate"]
