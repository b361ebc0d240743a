"""Tables of the few objects that were looked at last: an operation of ten thousand operands is asked ten thousand times
for the same list."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

MOST: Final = 8
"""Objects whose tables are kept by one function."""

_Subject = TypeVar("_Subject")
Table = TypeVar("Table")


def remembered(build: Callable[[_Subject], Table]) -> Callable[[_Subject], Table]:
    """The function, with its last results kept. Objects are told apart by identity, and may not change."""
    kept: list[tuple[_Subject, Table]] = []

    @wraps(build)
    def found(subject: _Subject) -> Table:
        for known, table in kept:
            if known is subject:
                return table
        table = build(subject)
        kept.insert(0, (subject, table))
        del kept[MOST:]
        return table

    return found
