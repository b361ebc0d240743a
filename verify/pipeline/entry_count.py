"""How many entries a file has, counted without its reader: an entry that a reader passes over is not a proof.

Lines are looked at one by one. Rules begin with a line whose first word is `rule`, layouts and maps with a line that is
not indented and begins with their word, modules are the sections between lines `// -----` that hold more than comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.line_ends import with_line_ends

_COMMENTS: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CUT: Final = re.compile(r"^\s*//\s*-----\s*$")


def _rules(text: str) -> int:
    return sum(line.split("#")[0].split()[:1] == ["rule"] for line in text.split("\n"))


def _entries(word: str) -> Callable[[str], int]:
    def counted(text: str) -> int:
        lines = (line for line in text.split("\n") if line and not line[0].isspace())
        return sum(line.split()[:1] == [word] for line in lines)

    return counted


def _modules(text: str) -> int:
    sections: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _CUT.match(line):
            sections.append([])
        else:
            sections[-1].append(line)
    return sum(_holds_something(lines) for lines in sections)


def _holds_something(lines: list[str]) -> bool:
    for line in lines:
        bare = line.strip()
        if bare and not bare.startswith(("//", "/*")):
            return True
        if bare.startswith("/*"):
            break
    return bool(_COMMENTS.sub("", "\n".join(lines)).strip())


COUNTED: Final[dict[str, Callable[[str], int]]] = {
    "rules": _rules,
    "trules": _rules,
    "layout": _entries("layout"),
    "map": _entries("map"),
    "pairs": _entries("pair"),
    "hlo": _modules,
}
"""The count for each kind of file."""


def check_count(kind: str, text: str, read: int, file: str = "") -> None:
    """Raises InputError where the reader of the kind found another number of entries than the lines show."""
    there = COUNTED[kind](with_line_ends(text))
    if there != read:
        raise InputError(f"{read} entries were read, and by its lines the file has {there}", 1, 1, file=file)
