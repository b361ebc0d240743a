"""A cursor over HLO text: white space, comments, names, balanced groups, and errors with a position.

Everything is found by a compiled expression anchored at the cursor, so a text is read once, from left to right.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from hloproof.models.errors import InputError, Position

MAX_NESTING: Final = 100
"""Brackets, tuples and instructions inside operands may nest this deep; a deeper text is refused."""

_SPACE = re.compile(r"(?:[ \t\r\n\f\v]++|//[^\n]*+|/\*.*?\*/|^#[^\n]*+)*+", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"%[A-Za-z0-9_.\-]+|[A-Za-z_][A-Za-z0-9_.\-]*", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_FLAT_BRACES = re.compile(r'\{[^{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^{}"]*+)*+\}', re.DOTALL)
_BRACKET_OR_TEXT = re.compile(r'[{}()\[\]]|"[^"\\]*+(?:\\.[^"\\]*+)*+"|/\*(?:.*?\*/)?|//[^\n]*|"', re.DOTALL)
_CLOSING: Final = {"{": "}", "(": ")", "[": "]"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Scanner:
    """A cursor at `pos` in `text`, which ends at `end`. All methods that read skip leading white space and comments."""

    __slots__ = ("_lines", "depth", "end", "file", "pos", "text")

    def __init__(self, text: str, file: str = "", start: int = 0, end: int | None = None) -> None:
        self.text, self.file, self.pos = text, file, start
        self.end = len(text) if end is None else end
        self.depth = 0
        self._lines: list[int] | None = None

    def line_starts(self) -> list[int]:
        if self._lines is None:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return self._lines

    def share_lines(self, other: Scanner) -> None:
        """Use the line table of another scanner over the same text."""
        self._lines = other.line_starts()

    def position(self, pos: int) -> Position:
        """Line and column of an offset, both from 1."""
        lines = self.line_starts()
        line = bisect_right(lines, pos)
        return Position(line, pos - lines[line - 1] + 1)

    def error(self, message: str, pos: int | None = None) -> InputError:
        """The error to raise for what stands at `pos` (default: at the cursor)."""
        at = min(self.pos if pos is None else pos, self.end)
        if self.text.startswith("/*", at) and self.text.find("*/", at, self.end) < 0:
            message = "this comment is never closed: expected */"
        where = self.position(at)
        start = self.line_starts()[where.line - 1]
        stop = self.text.find("\n", start)
        line = self.text[start : len(self.text) if stop < 0 else stop].rstrip("\r")
        return InputError(message, where.line, where.column, line, self.file)

    def skip(self) -> None:
        """Move to the next token."""
        found = _SPACE.match(self.text, self.pos, self.end)
        if found is not None:
            self.pos = found.end()

    def at_end(self) -> bool:
        self.skip()
        return self.pos >= self.end

    def peek(self) -> str:
        """The next character that is neither white space nor comment; "" at the end."""
        self.skip()
        return self.text[self.pos] if self.pos < self.end else ""

    def found(self) -> str:
        """What stands at the cursor, for error messages."""
        self.skip()
        if self.pos >= self.end:
            return "the end of the text"
        word = _WORD.match(self.text, self.pos, self.end) or _INTEGER.match(self.text, self.pos, self.end)
        shown = word.group()[:40] if word else self.text[self.pos]
        return f"'{shown}'" if shown.isprintable() else f"the character U+{ord(shown[0]):04X}"

    def accept(self, token: str) -> bool:
        """Read `token` if it comes next."""
        self.skip()
        if self.text.startswith(token, self.pos) and self.pos + len(token) <= self.end:
            self.pos += len(token)
            return True
        return False

    def expect(self, token: str, where: str) -> None:
        """Read `token` or raise InputError."""
        if not self.accept(token):
            raise self.error(f"expected '{token}' {where}, found {self.found()}")

    def separated(self, close: str, among: str) -> Iterator[None]:
        """Once for each item before `close`, which is read too; a comma stands between two. Raises InputError."""
        first = True
        while not self.accept(close):
            if not first:
                self.expect(",", f"or '{close}' {among}")
            first = False
            yield

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read `pattern` if it comes next."""
        self.skip()
        found = pattern.match(self.text, self.pos, self.end)
        if found is not None:
            self.pos = found.end()
        return found

    def name(self, what: str) -> str:
        """A name, returned without `%`."""
        found = self.match(_NAME)
        if found is None:
            raise self.error(f"expected {what}, found {self.found()}")
        return found.group().lstrip("%")

    def word(self, what: str) -> str:
        found = self.match(_WORD)
        if found is None:
            raise self.error(f"expected {what}, found {self.found()}")
        return found.group()

    def peek_word(self) -> str:
        self.skip()
        found = _WORD.match(self.text, self.pos, self.end)
        return found.group() if found else ""

    def integer(self, what: str) -> int:
        """An integer that fits into 64 bits, signed."""
        found = self.match(_INTEGER)
        if found is None:
            raise self.error(f"expected {what}, an integer, found {self.found()}")
        if len(found.group()) > 20 or not -(2**63) <= (value := int(found.group())) < 2**63:
            raise self.error(f"{what} does not fit into 64 bits", found.start())
        return value

    def string(self, what: str) -> str:
        """What stands between double quotes, escapes as written."""
        found = self.match(_STRING)
        if found is None:
            raise self.error(f"expected {what} in double quotes, found {self.found()}")
        return found.group()[1:-1]

    def enter(self) -> None:
        """One level of nesting deeper; refuses beyond `MAX_NESTING`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"nested deeper than {MAX_NESTING} levels")

    def leave(self) -> None:
        self.depth -= 1

    def group(self, letters: bool = False) -> str:
        """A balanced `{...}`, `(...)` or `[...]` that starts at the cursor, as written, brackets included.

        Between braces that a compiler takes letter by letter what looks like a comment is none, and none may begin
        there: to read it either way would be to read another text.
        """
        self.skip()
        start = self.pos
        if self.text.startswith("{", start):
            flat = _FLAT_BRACES.match(self.text, start, self.end)
            if flat is not None and "//" not in (found := flat.group()) and "/*" not in found:
                self.pos = flat.end()
                return found
        open_brackets: list[str] = []
        for token in _BRACKET_OR_TEXT.finditer(self.text, start, self.end):
            kind = token.group()
            if kind in _CLOSING:
                open_brackets.append(_CLOSING[kind])
            elif kind in ("}", ")", "]"):
                if not open_brackets or open_brackets[-1] != kind:
                    raise self.error(f"unbalanced '{kind}'", token.start())
                open_brackets.pop()
                if not open_brackets:
                    self.pos = token.end()
                    return self.text[start : self.pos]
            elif kind == '"':
                raise self.error("this string is never closed", token.start())
            elif kind == "/*" or (letters and kind.startswith("/")):
                raise self.error("a comment may not begin between these braces", token.start())
        raise self.error(f"'{self.text[start : start + 1]}' is never closed", start)
