"""The lines of a tensor rule as tokens, and the cursor that the reader moves over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from hloproof.models.errors import InputError

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<dots>\.\.\.)|(?P<arrow>=>)|(?P<compare><=|>=|==|!=|<|>)"
    r"|(?P<name>[A-Za-z_]\w*(?:-[A-Za-z]\w*)*)|(?P<number>[0-9]+)|(?P<sign>[-+*,=:()\[\]{}])"
)
COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*$")


@dataclass(frozen=True, slots=True)
class RuleToken:
    """A piece of a line; `line` and `column` count from 1."""

    kind: str
    text: str
    line: int
    column: int


class Tokens:
    """Those of one line of a rule, which stands in `lines` from `first`, included, to `last`, excluded, from 0 on."""

    def __init__(self, lines: tuple[str, ...], first: int, last: int, file: str) -> None:
        self.lines, self.first, self.last, self.file = lines, first, last, file
        self.tokens: list[RuleToken] = []
        self.at = 0
        self.depth = 0

    def _fail(self, n: int, message: str) -> NoReturn:
        line = self.lines[n]
        raise InputError(message, n + 1, len(line) - len(line.lstrip()) + 1, line, self.file)

    def _take(self, n: int, skip: int = 0) -> None:
        self.tokens = [t for t in self._line(n) if t.column > skip]
        self.at = 0

    def _line(self, n: int) -> list[RuleToken]:
        text = COMMENT.sub("", self.lines[n])
        out: list[RuleToken] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise InputError(f"{text[at]!r} is no part of a rule", n + 1, at + 1, self.lines[n], self.file)
            if found.lastgroup != "space":
                out.append(RuleToken(found.lastgroup or "", found[0], n + 1, at + 1))
            at = found.end()
        return out

    def _error(self, message: str) -> InputError:
        if not self.tokens:
            return InputError(message, self.first + 1, 1, self.lines[self.first], self.file)
        token = self.tokens[min(self.at, len(self.tokens) - 1)]
        column = token.column + (len(token.text) if self.at >= len(self.tokens) else 0)
        return InputError(message, token.line, column, self.lines[token.line - 1], self.file)

    def _peek(self, ahead: int = 0) -> str:
        k = self.at + ahead
        return self.tokens[k].text if k < len(self.tokens) else ""

    def _kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def _accept(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self.at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._error(f"expected {text!r}" + (f", found {self._peek()!r}" if self._peek() else ""))

    def _end(self) -> None:
        if self.at < len(self.tokens):
            raise self._error(f"unexpected {self._peek()!r}")
