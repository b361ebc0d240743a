"""What a campaign works on: a strategy for cases, which are texts, and an examination of one case."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CORPUS: Final = "HLOPROOF_FUZZ_CORPUS"
"""The environment variable that names a campaign's folder of modules to its worker processes."""


def corpus_folder() -> Path | None:
    """The folder of modules that target `compiler` draws from; None where the campaign names none."""
    named = os.environ.get(CORPUS)
    return Path(named) if named else None


class Failure(Exception):
    """Something that must hold does not. `cause` names the kind of failure: failures with one cause are one."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause, self.message = cause, message
        super().__init__(f"{cause}: {message}")


@dataclass(frozen=True, slots=True)
class Target:
    """`cases()` is a Hypothesis strategy of texts; `examine` raises Failure, or answers with what the case covered
    (opcodes, rules, verdicts). `suffix` is that of a file which holds a case; `comment` opens a comment line in it."""

    name: str
    what: str
    cases: Callable[[], Any]
    examine: Callable[[str], tuple[str, ...]]
    suffix: str
    comment: str = "//"
    dossier: Callable[[str, str, str], dict[str, str]] | None = None
    """What else is written down about a failure, as files by name, from its case, cause and message."""
