"""Changes that are listed because they change no answer, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("equivalent_mutants.txt")
"""`because REASON` opens a group; below it one change a line, as `Site.key` writes it. `#` opens a comment."""

_BECAUSE: Final = "because "


def known_equivalent() -> dict[str, str]:
    """The reason by the key of the change."""
    found: dict[str, str] = {}
    reason = ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith(_BECAUSE):
            reason = line.removeprefix(_BECAUSE)
        elif line.strip() and not line.startswith("#"):
            found[line.strip()] = reason
    return found
