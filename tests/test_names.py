"""Words that had several meanings have one: no two classes outside of fuzzing go by the same one of them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
WORDS: Final = (
    "Answer Budget Direction Engine Found Judged Judgement Known Linear Outcome Place Point Position Reading Rule "
    "Statement Step Verdict"
)


def defined() -> list[str]:
    """The names of all classes of the project, fuzzing aside, as often as they are defined."""
    files = (p for folder in ("verify", "models") for p in (ROOT / folder).rglob("*.py") if "fuzz" not in p.parts)
    trees = (ast.parse(p.read_text(encoding="utf-8")) for p in files)
    return [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


ALL: Final = defined()


@pytest.mark.parametrize("word", WORDS.split())
def test_a_word_is_the_name_of_one_class(word: str) -> None:
    assert ALL.count(word) <= 1


def test_a_name_of_two_is_noticed() -> None:
    assert ALL.count("Elem") == 2  # terms over elements, of modules and of rules
