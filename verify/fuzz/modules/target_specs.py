"""Target `specs`: every entry of the project's own specs, proved or refuted as it says; tensor rules apart, which take
longer than examples may."""

from __future__ import annotations

from functools import cache
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.target import Failure, Target
from hloproof.models.specs.folder import specs_folder
from hloproof.pipeline.sources import SUFFIXES
from hloproof.results.verdict import Verdict

_WORDS: Final = {".rules": "rule ", ".map": "map ", ".layout": "layout "}


@cache
def entries() -> tuple[str, ...]:
    """One entry each: a line that names its kind, and its text."""
    found: list[str] = []
    for file in sorted(specs_folder().rglob("*")):
        if file.suffix in {".hlo", *_WORDS}:
            found += [f"{SUFFIXES[file.suffix]}\n{part}" for part in _parts(file.suffix, file.read_text("utf-8"))]
    return tuple(found)


def _parts(suffix: str, text: str) -> list[str]:
    if suffix == ".hlo":
        return [part for part in text.split("\n// -----\n") if "ENTRY" in part]
    word = _WORDS[suffix]
    return [word + part for part in ("\n" + text).split("\n" + word)[1:]]


def examine(text: str) -> tuple[str, ...]:
    from hloproof.pipeline.driver import check_text
    from hloproof.pipeline.options import Options

    kind, _, body = text.partition("\n")
    results = check_text("entry", kind, body, Options(jobs=1), here=True)
    for problem in results.problems:
        raise Failure(f"specs: {kind} cannot be read", str(problem))
    for result in results.records():
        if result.verdict is not Verdict.PROVED:
            said = result.counterexample or result.reason
            raise Failure(f"specs: {result.claim} is {result.verdict}", f"{result.id}: {said}")
    return (kind,)


TARGET = Target(
    "specs",
    "every entry of the project's specs is proved or refuted as it says",
    lambda: st.sampled_from(entries()),
    examine,
    ".txt",
    "#",
)
