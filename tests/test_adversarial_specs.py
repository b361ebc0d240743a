"""Specs written to be wrong, in whatever way a reader or a judge might let pass: none of them is proved.

Each entry is a text of its own, since some of them cannot be read at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from spec_texts import check_layouts_text, check_maps_text, check_rules_text

from hloproof.models.errors import InputError
from hloproof.results.verdict import ClaimResult, Verdict

FOLDER = Path(__file__).parent / "data" / "adversarial"
JUDGES: dict[str, Callable[[str, str], Sequence[ClaimResult]]] = {
    "layout": check_layouts_text,
    "map": check_maps_text,
    "rule": check_rules_text,
}
ENTRIES = [
    (kind, text)
    for path in sorted(FOLDER.iterdir())
    for kind, text in re.findall(r"^(layout|map|rule) (\S+\n(?:(?!(?:layout|map|rule) ).*\n)*)", path.read_text(), re.M)
]


def test_there_are_more_than_a_hundred() -> None:
    assert len(ENTRIES) > 100


@pytest.mark.parametrize(("kind", "text"), ENTRIES, ids=lambda x: x.split("\n")[0] if "\n" in x else "")
def test_a_wrong_entry_is_not_proved(kind: str, text: str) -> None:
    try:
        (found,) = JUDGES[kind](f"{kind} {text}", "wrong")
    except InputError:
        return
    assert found.verdict not in (Verdict.PROVED, Verdict.INTERNAL)
