"""Real compilations of the project's own programs: most pairs of dumps are proved, and none is refuted but one bug.

`tests/corpus/make_programs.py` says how the pairs were made.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from hloproof.queries.equivalence import compare, one_module

CORPUS: Final = Path(__file__).parent / "corpus"

PROVED_AT_LEAST: Final = 250
"""Of 260. Raised as the prover grows."""

BROKEN: Final = {("dynamic_slices", "whole compilation"), ("dynamic_slices", "algsimp")}
"""XLA folds a dynamic-slice of a dynamic-slice and leaves the outer start unclamped (openxla/xla issue 49121): the
compiled program gives other elements than the uncompiled one. This is what hloproof is for."""


@cache
def rows() -> list[dict[str, str]]:
    with gzip.open(CORPUS / "pairs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_the_corpus_is_what_it_is_said_to_be() -> None:
    assert len({r["program"] for r in rows()}) >= 40 and len(rows()) == 260
    assert (CORPUS / "pairs.jsonl.gz").stat().st_size < 2_000_000
    assert not any(
        path in r[side] for r in rows() for side in ("before", "after") for path in ("/home", "/tmp", "/opt")
    )


def test_pairs_are_proved_and_only_the_bug_is_refuted() -> None:
    verdicts: Counter[str] = Counter()
    refuted: dict[tuple[str, str], str] = {}
    for r in rows():
        answer = compare(one_module(r["before"]), one_module(r["after"]), budget_seconds=2)
        verdicts[str(answer.verdict)] += 1
        if str(answer.verdict) == "refuted":
            refuted[r["program"], r["pass"]] = answer.reason
    assert refuted.keys() <= BROKEN, refuted
    assert ("dynamic_slices", "whole compilation") in refuted
    assert verdicts["proved"] >= PROVED_AT_LEAST and not verdicts["internal"], verdicts


@pytest.mark.parametrize("other", ["transposes_and_reshapes", "attention", "counted_loop"])
def test_programs_are_not_taken_for_each_other(other: str) -> None:
    """The negative control: a module against itself with its first subtraction, addition or slice changed."""
    [row] = [r for r in rows() if r["program"] == other and r["pass"] == "whole compilation"]
    changed = _changed(row["after"])
    answer = compare(one_module(row["before"]), one_module(changed), budget_seconds=20)
    assert str(answer.verdict) == "refuted", answer.reason


def _changed(text: str) -> str:
    for old, new in ((" reverse(", " copy("), (" exponential(", " tanh("), (" add(", " subtract(")):
        if old in text:
            lines = text.split("\n")
            at = next(n for n, line in enumerate(lines) if old in line and (old != " add(" or "f32[3]" in line))
            lines[at] = lines[at].replace(old, new)
            if old == " reverse(":
                lines[at] = lines[at].split(", dimensions=")[0]
            return "\n".join(lines)
    raise AssertionError("nothing to change")
