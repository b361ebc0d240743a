"""The exceptions of models/: bad input with a position, and what is not modelled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """A place in a text. Lines and columns start at 1."""

    line: int
    column: int


class InputError(Exception):
    """The input is wrong at a place: what was found, and what would have been accepted.

    `str(error)` is `file:line:column: message`; `error.render()` adds the line and a caret.
    """

    def __init__(self, message: str, line: int, column: int, source_line: str = "", file: str = "") -> None:
        self.message, self.line, self.column = message, line, column
        self.source_line, self.file = source_line, file
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int, int, str, str]]:
        return type(self), (self.message, self.line, self.column, self.source_line, self.file)

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}"
        return f"{self.file}:{place}: {self.message}" if self.file else f"{place}: {self.message}"

    def render(self, width: int = 100) -> str:
        """The message, the offending line cut to `width` characters around the column, and a caret."""
        if not self.source_line:
            return str(self)
        start = max(0, min(self.column - 1 - width // 2, len(self.source_line) - width))
        shown = self.source_line[start : start + width].replace("\t", " ")
        return f"{self}\n  {shown}\n  {' ' * (self.column - 1 - start)}^"


class NotModelled(Exception):
    """A construct whose meaning the project does not claim to know; the verdict is then `unknown`, with this reason."""
