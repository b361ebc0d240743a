"""HLO text to modules.

Reading has two halves: `draft_reader` turns text into drafts (syntax), `resolve` turns drafts into modules (names,
roots, parameter numbers, shapes). All errors are InputError with file, line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.draft_reader import DraftReader
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.resolve import resolve
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.line_ends import with_line_ends

SEPARATOR: Final = re.compile(r"^[ \t]*//[ \t]*-----[ \t]*\r?$", re.MULTILINE)
"""The line between two modules of a file."""
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\udc80-\udcff]")


def parse_module(text: str, file: str = "") -> Module:
    """The only module in `text`. Raises InputError, also when there are several."""
    modules = parse_modules(text, file)
    if len(modules) > 1:
        second = modules[1].position
        raise InputError(f"{len(modules)} modules where one was expected", second.line, second.column, file=file)
    return modules[0]


def parse_modules(text: str, file: str = "") -> tuple[Module, ...]:
    """All modules of a file; lines `// -----` stand between them. Positions count lines of the whole file.

    A module without a header is one or more computations, or one instruction whose operands become its parameters.
    Raises InputError.
    """
    modules: list[Module] = []
    for found in each_module(text, file):
        if isinstance(found, InputError):
            raise found
        modules.append(found)
    return tuple(modules)


def each_module(text: str, file: str = "") -> Iterator[Module | InputError]:
    """The modules of a file in order, for one that cannot be read the error. A text without any is one error."""
    try:
        yield from _each_module(text, file)
    except InputError as error:
        yield error


def _each_module(text: str, file: str) -> Iterator[Module | InputError]:
    refuse_binary(text, file)
    text = with_line_ends(text)
    scanner = Scanner(text, file)
    cuts = [(m.start(), m.end()) for m in SEPARATOR.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    empty = True
    for start, end in zip(starts, ends, strict=True):
        scanner.pos, scanner.end, scanner.depth = start, end, 0
        if scanner.at_end():
            continue
        empty = False
        try:
            yield resolve(DraftReader(scanner).module(), scanner)
        except InputError as error:
            yield error
    if empty:
        raise InputError("there is no HLO module in this text", 1, 1, file=file)


def refuse_binary(text: str, file: str = "") -> None:
    """Raises InputError, which names the format, when `text` is the beginning of something that is not text."""
    head = text[:4096]
    if head.startswith(("\x1f\x8b", "\x1f�", "\x1f\udc8b")):
        raise InputError("this is a gzip file; unpack it first (gunzip) and give the HLO text", 1, 1, file=file)
    if head.startswith("PK\x03\x04"):
        raise InputError("this is a zip archive; HLO text was expected", 1, 1, file=file)
    if _NOT_TEXT.search(head):
        raise InputError(
            "this is binary, probably a protocol buffer (HloProto); convert it to HLO text first", 1, 1, file=file
        )
