"""Pairs of modules with what is expected of them, as `specs/equivalence/*.pairs` hold them.

    pair slice-of-dot-wrong
      from https://...
      note ...
      expect refuted

    HloModule before
    ...
    =>

    HloModule after
    ...

A line that begins with `#` outside of the modules is a comment; what is indented before the first module are clauses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.queries.equivalence import compare, one_module
from hloproof.results.expectation import met
from hloproof.results.verdict import ClaimResult, Found, Related, Verdict

_LONGEST: Final = 400
"""Inputs whose text is longer are not shown in a report; `hloproof equiv --inputs` writes them."""

EXPECTED: Final = ("proved", "refuted", "not-refuted")
"""`not-refuted` is right, and not yet proved by every version."""


@dataclass(frozen=True)
class PairSpec:
    """One pair; `line` is that of its head."""

    name: str
    expect: str
    source: str
    note: str
    before: Module
    after: Module
    line: int


def check_pair(pair: PairSpec, file: str = "", budget_seconds: float = 30.0) -> ClaimResult:
    """The verdict on one pair, as a record. Where the file expects a refutation, a refutation counts as proved."""
    start = perf_counter()
    problem: InputError | None = None
    try:
        answer = compare(pair.before, pair.after, budget_seconds=budget_seconds, file=file)
        refutation = answer.refutation
        inputs = "" if refutation is None else json.dumps(refutation.inputs)
        shown = f"; inputs {inputs}" if refutation is not None and len(inputs) <= _LONGEST else ""
        found = Found(
            answer.verdict,
            counterexample=None if refutation is None else refutation.reason + shown,
            reason=answer.reason if answer.verdict not in (Verdict.PROVED, Verdict.REFUTED) else None,
        )
        assumed = tuple(f"{tier} identity: {name}" for name, tier in answer.axioms if tier != "exact")
    except InputError as error:
        # Both can be read; that they do not fit each other is an answer about the pair.
        problem, assumed = error, ()
        found = Found(Verdict.UNKNOWN, reason=f"the two do not fit each other: {error.message}")
        refutation = None
    met_one = met(pair.expect, found)
    places = () if refutation is None else (refutation.before_place, refutation.after_place)
    return ClaimResult(
        id=f"{file}#{pair.name}/pair",
        kind="spec",
        file=file,
        module=pair.after.name,
        line=pair.line if problem is None else problem.line,
        column=1,
        instruction=pair.name,
        found=replace(
            met_one,
            assumptions=assumed if met_one.verdict is Verdict.PROVED else (),
            claim="pair",
            ms=(perf_counter() - start) * 1000,
        ),
        related=tuple(Related(p.line, 1, f"they part at %{p.instruction}") for p in places if p is not None),
    )


def parse_pairs(text: str, file: str = "") -> list[PairSpec]:
    """The pairs of a file, in order; the lines of their modules are those of the file. Raises InputError."""
    found = [_pair(lines, start, file) for start, lines in _sections(text.split("\n"), file)]
    names = [p.name for p in found]
    for p in found:
        if names.count(p.name) > 1:
            raise InputError(f"two pairs are called {p.name}", p.line, 1, file=file)
    return found


def _sections(lines: list[str], file: str) -> Iterator[tuple[int, list[str]]]:
    """(number of lines before it, lines) of each pair."""
    heads = [n for n, line in enumerate(lines) if line.split()[:1] == ["pair"] and not line[0].isspace()]
    for n, line in enumerate(lines[: heads[0] if heads else len(lines)]):
        if line.strip() and not line.startswith("#"):
            raise InputError("expected a line `pair NAME`", n + 1, 1, line, file)
    for start, end in pairwise([*heads, len(lines)]):
        yield start, lines[start:end]


def _pair(lines: list[str], start: int, file: str) -> PairSpec:
    name = lines[0].split(maxsplit=1)[1:]
    if not name:
        raise InputError("a pair has a name", start + 1, 1, lines[0], file)
    clauses: dict[str, str] = {}
    body = 1
    while body < len(lines) and (lines[body].strip() == "" or lines[body][0].isspace()):
        word, _, rest = lines[body].strip().partition(" ")
        if word and (word not in ("from", "note", "expect") or word in clauses):
            raise InputError("expected one of from, note, expect, each once", start + body + 1, 3, lines[body], file)
        if word:
            clauses[word] = rest.strip()
        body += 1
    if clauses.get("expect") not in EXPECTED:
        raise InputError(f"expect: one of {', '.join(EXPECTED)}", start + 1, 1, lines[0], file)
    cuts = [n for n, line in enumerate(lines) if line.strip() == "=>"]
    if len(cuts) != 1:
        raise InputError("one line `=>` stands between the two modules", start + 1, 1, lines[0], file)
    # Empty lines in place of what stands before, so that lines keep their numbers.
    before, after = (
        one_module("\n" * (start + first) + "\n".join(lines[first:last]), file)
        for first, last in ((body, cuts[0]), (cuts[0] + 1, len(lines)))
    )
    source, note = clauses.get("from", ""), clauses.get("note", "")
    return PairSpec(name[0].strip(), clauses["expect"], source, note, before, after, start + 1)
