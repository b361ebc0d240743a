"""Where lines end: one answer for all readers, so that a comment for one is no entry for another."""

from __future__ import annotations

import re
from typing import Final

_END: Final = re.compile(r"\r\n?")


def with_line_ends(text: str) -> str:
    """The text with a line feed at the end of each line, whether it was one, a carriage return (old Macs) or both.
    Lines and columns are those of before."""
    return _END.sub("\n", text) if "\r" in text else text
