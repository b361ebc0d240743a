"""Suppressions beside the text: `hloproof: allow CLAIM[, CLAIM] because REASON` in a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hloproof.models.line_ends import with_line_ends
from hloproof.results.results import Comment

_MARK: Final = "hloproof: allow"
_STRING_OR_COMMENT: Final = re.compile(r'//[^\n]*|#[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
_COMMENT: Final = re.compile(
    r"(?://|#|/\*)\s*hloproof:\s*allow\s+(?P<claims>[a-z][a-z-]*(?:\s*,\s*[a-z][a-z-]*)*)"
    r"(?:\s+because\s+(?P<why>.*?))?\s*(?:\*/\s*)?$"
)

_CUT: Final = re.compile(r"^[ \t]*//[ \t]*-----[ \t]*\r?$")
_SEPARATOR: Final = re.compile(r"^([ \t]*//[ \t]*-----[ \t]*\r?)$", re.MULTILINE)


class BadSuppression(Exception):
    """A suppression that cannot be read, or one without a reason: `line` and what is wrong with it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def suppressions(text: str, file: str, record_lines: Iterable[int]) -> Iterator[Comment]:
    """The suppressions of a file.

    One at the end of a line is about what stands on this line; one on a line of its own is about the first thing below
    it that a record can be about (`record_lines`: all of them, whichever were asked for), no further than the next line
    `// -----`. Lines end where those of the readers do. What stands in a string is none: it came from whoever named
    things, not from who reads the findings. Raises BadSuppression for one without a justification.
    """
    if _MARK not in text:
        return
    text = without_strings(with_line_ends(text))
    # Not `splitlines`: a form feed or a Unicode separator in a comment would let all below it be about other lines.
    lines = text.split("\n")
    stops = {n for n, line in enumerate(lines, 1) if _CUT.match(line)}
    below = sorted(stops.union(record_lines))
    for number, line in enumerate(lines, 1):
        if _MARK not in line:
            continue
        found = _COMMENT.search(line)
        if found is None:
            raise BadSuppression(number, "a suppression reads `hloproof: allow CLAIM because REASON`, in a comment")
        if not found["why"]:
            raise BadSuppression(number, "a suppression says why: `hloproof: allow CLAIM because REASON`")
        alone = not line[: found.start()].strip()
        place = next((n for n in below if n > number), number) if alone else number
        yield Comment(file, place, tuple(c.strip() for c in found["claims"].split(",")), found["why"])


def without_strings(text: str, blank: tuple[str, ...] = ('"',)) -> str:
    """The text with blanks in place of strings, on as many lines: what stands in one came from whoever named things.
    `blank` is how what is blanked begins; with `/*` these comments are, too.

    None goes on behind a line `// -----`, as for the reader: behind one that is not closed, names would be comments.
    """
    parts = _SEPARATOR.split(text)

    def blanked(found: re.Match[str]) -> str:
        told = found.group()
        return re.sub(r"[^\n]", " ", told) if told.startswith(blank) else told

    return "".join(_STRING_OR_COMMENT.sub(blanked, part) for part in parts)
