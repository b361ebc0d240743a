"""Two modules side by side, with the instructions marked at which they part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hloproof.report.html.page import Column, Line, Picture

_AROUND: Final = 40
"""Lines that are shown on both sides of the cut."""
_LONGEST: Final = 400
_MADE_UP: Final = re.compile(r", metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}")


def modules(before: tuple[str, str], after: tuple[str, str], places: Sequence[Mapping[str, Any] | None]) -> Picture:
    """Names and texts of both, and the places where they part: as `equiv --format json` has them, lines from 1.

    Each text is cut to the lines around its place; metadata, which says nothing about values, is left out.
    """
    columns = []
    for (name, text), place in zip((before, after), (*places, None, None)[:2], strict=True):
        at = int(place["line"]) if place else 0
        lines = text.splitlines()
        first = max(0, at - 1 - _AROUND) if at else _entry(lines)
        shown = lines[first : first + 2 * _AROUND + 1]
        columns.append(Column(name, tuple(Line(n, _short(s), n == at) for n, s in enumerate(shown, first + 1))))
    where = " and ".join(f"%{p['instruction']}" for p in places if p)
    return Picture(f"The two modules part at {where}" if where else "The two modules", columns=tuple(columns))


def _entry(lines: Sequence[str]) -> int:
    return next((n for n, line in enumerate(lines) if line.startswith("ENTRY")), 0)


def _short(line: str) -> str:
    line = _MADE_UP.sub("", line)
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."
