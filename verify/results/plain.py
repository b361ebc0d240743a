"""Words from inputs as they may be printed: no control characters, nothing that readers of logs take for commands."""

from __future__ import annotations

import re
import sys
from typing import Final

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COMMAND: Final = re.compile(r"^\s*(?=::|##\[)")


def escaped(text: str) -> str:
    """The text on one line, its control characters and marks of direction spelled out."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def harmless(text: str) -> str:
    """The lines of the text, escaped; none begins with `::` or `##[`, by which runners of workflows are told what to
    do."""
    return "\n".join(_COMMAND.sub("| ", escaped(line)) for line in text.split("\n"))


def say(text: str = "", err: bool = False) -> None:
    """Print lines, to standard error where `err`, as `harmless` has them: they may hold words of an input."""
    print(harmless(text), file=sys.stderr if err else sys.stdout)
