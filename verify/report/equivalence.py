"""What `hloproof equiv` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from hloproof.equivalence.answer import Place
from hloproof.queries.equivalence import Answer
from hloproof.results.verdict import Verdict

_LONGEST: Final = 500
"""Characters of inputs that are shown."""


def text_lines(answer: Answer, before: str, after: str) -> Iterator[str]:
    """The verdict first, then what it rests on. `before` and `after` are the files' names."""
    yield f"{answer.verdict}{f': {answer.reason}' if answer.reason else ''}"
    if answer.verdict is Verdict.PROVED:
        yield from (f"  by {name} ({tier})" for name, tier in answer.axioms)
    if answer.mismatch is not None and answer.refutation is None:
        yield from _places(answer.mismatch.before, answer.mismatch.after, before, after)
        yield f"  {answer.mismatch.said}"
    if answer.refutation is not None:
        yield from _places(answer.refutation.before_place, answer.refutation.after_place, before, after)
        text = json.dumps(answer.refutation.inputs)
        yield f"  inputs: {text if len(text) <= _LONGEST else text[:_LONGEST] + ' ... (--inputs FILE writes them)'}"


def _places(here: Place | None, there: Place | None, before: str, after: str) -> Iterator[str]:
    for name, place in ((before, here), (after, there)):
        if place is not None:
            yield f"  {name}:{place.line}: {place.opcode} %{place.instruction} of {place.computation}"
