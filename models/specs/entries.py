"""Spec files: entries of a head line and indented clauses, each clause a word and what follows it.

    layout figure-1
      shape f32[3,5]{1,0:T(2,2)}     # a comment
      positions
        0 1 4 5 8
        2 3 6 7 10

A clause goes on over lines that are indented deeper than it. A `#` begins a comment at the start of a line or after
white space, except in a string in double quotes, before `(`, which layouts use, and before an MLIR attribute such as
`#sdy.sharding<...>`. What the words mean is up to the reader of the kind of spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, TypeVar, get_args

from hloproof.models.errors import InputError

T = TypeVar("T")

_COMMENT: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")"""  # kept as it is
    r"""|(?:^|(?<=\s))\#(?!\(|[A-Za-z_]\w*\.[\w.]+<).*$"""
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_LONGEST: Final = 1000
"""Digits of a number."""


def number_of(text: str, what: str = "a number") -> int:
    """A number that is not negative. Raises ValueError."""
    if not text.strip().isdecimal():
        raise ValueError(f"expected {what}, found {text.strip()!r}")
    if len(text.strip()) > _LONGEST:
        raise ValueError(f"expected {what} of at most {_LONGEST} digits")
    return int(text)


Expectation = Literal["proved", "refuted", "error"]
"""The verdict that an entry counts as met; `error` is for one that cannot be read."""


@dataclass(frozen=True)
class Clause:
    """A word and its text, which starts at `text_column` of line `line`; further lines keep their indentation."""

    word: str
    text: str
    line: int
    column: int
    text_column: int
    lines: tuple[str, ...] = field(repr=False, default=())
    """All lines of the file, for messages."""
    file: str = ""

    def error(self, message: str) -> InputError:
        """An error at the clause's word."""
        return InputError(message, self.line, self.column, self.lines[self.line - 1], self.file)

    def read(self, parse: Callable[[str], T]) -> T:
        """What `parse` makes of the text; its InputError and ValueError become errors at the place in the file."""
        try:
            return parse(self.text)
        except InputError as error:
            line = self.line + error.line - 1
            column = error.column + (self.text_column - 1 if error.line == 1 else 0)
            # A text that ends too soon is wrong behind its last line.
            shown = self.lines[line - 1] if line <= len(self.lines) else ""
            raise InputError(error.message, line, column, shown, self.file) from error
        except ValueError as error:
            raise InputError(str(error), self.line, self.text_column, self.lines[self.line - 1], self.file) from error


@dataclass(frozen=True)
class Entry:
    """One entry: the kind is the first word of its head line."""

    kind: str
    name: str
    clauses: tuple[Clause, ...]
    line: int
    column: int
    lines: tuple[str, ...] = field(repr=False, default=())
    file: str = ""

    def error(self, message: str) -> InputError:
        return InputError(message, self.line, self.column, self.lines[self.line - 1], self.file)

    def all(self, word: str) -> tuple[Clause, ...]:
        return tuple(c for c in self.clauses if c.word == word)

    def one(self, word: str) -> Clause | None:
        """The clause of this word. Raises InputError when there are several."""
        found = self.all(word)
        if len(found) > 1:
            raise found[1].error(f"{word!r} is given twice")
        return found[0] if found else None


def read_expectation(clause: Clause | None) -> Expectation:
    """What an entry says that its verdict should be; proved where it does not say."""
    if clause is None:
        return "proved"
    for known in get_args(Expectation):
        if clause.text.strip() == known:
            return known  # type: ignore[no-any-return]
    raise clause.error(f"expect is proved, refuted or error, not {clause.text.strip()!r}")


def folded_text(clause: Clause | None) -> str:
    """The text of a remark, white space folded; empty where there is none."""
    return " ".join(clause.text.split()) if clause is not None else ""


def parse_entries(text: str, kind: str, words: Collection[str], file: str = "") -> tuple[Entry, ...]:
    """The entries of a file of one kind, in order. Raises InputError for anything out of place, for a word that is not
    among `words`, and for a name that is used twice."""
    lines = tuple(line.rstrip("\r") for line in text.split("\n"))
    out: list[Entry] = []
    names: set[str] = set()
    for start, block in _blocks(lines, file):
        word, _, rest = lines[start].partition(" ")
        name = _bare(rest)
        if word != kind:
            raise InputError(f"expected {kind!r} and a name, found {word!r}", start + 1, 1, lines[start], file)
        if _NAME.fullmatch(name) is None:
            raise InputError(
                f"expected a name of letters, digits, '-', '_' and '.' after {kind!r}, found {name!r}",
                start + 1,
                len(kind) + 2,
                lines[start],
                file,
            )
        if name in names:
            raise InputError(f"the name {name!r} is used twice", start + 1, len(kind) + 2, lines[start], file)
        names.add(name)
        clauses = tuple(_clauses(lines, block, words, file))
        out.append(Entry(kind, name, clauses, start + 1, 1, lines, file))
    return tuple(out)


def _bare(line: str) -> str:
    """The line without comment and without white space at its end."""
    return _uncommented(line).strip()


def _uncommented(line: str) -> str:
    return _COMMENT.sub(lambda found: found["string"] or "", line)


def _blocks(lines: tuple[str, ...], file: str) -> Iterator[tuple[int, range]]:
    """The number of each head line, and the numbers of the lines below it."""
    heads = [i for i, line in enumerate(lines) if _bare(line) and not line[0].isspace()]
    for i, line in enumerate(lines[: heads[0]] if heads else lines):
        if _bare(line):
            raise InputError("a clause before the first entry", i + 1, 1, line, file)
    for start, stop in pairwise([*heads, len(lines)]):
        yield start, range(start + 1, stop)


def _clauses(lines: tuple[str, ...], block: range, words: Collection[str], file: str) -> Iterator[Clause]:
    numbers = [i for i in block if _bare(lines[i])]
    depth = min((_indent(lines[i]) for i in numbers), default=0)
    heads = [i for i in numbers if _indent(lines[i]) == depth]
    for k, head in enumerate(heads):
        stop = heads[k + 1] if k + 1 < len(heads) else block.stop
        bare = _uncommented(lines[head]).rstrip()
        word = bare.split(maxsplit=1)[0]
        if word not in words:
            known = ", ".join(sorted(words))
            raise InputError(f"unknown clause {word!r}; known are {known}", head + 1, depth + 1, lines[head], file)
        text_start = len(bare) - len(bare[depth + len(word) :].lstrip())
        below = [_uncommented(lines[i]).rstrip() for i in range(head + 1, stop)]
        while below and not below[-1]:
            below.pop()
        yield Clause(word, "\n".join([bare[text_start:], *below]), head + 1, depth + 1, text_start + 1, lines, file)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
