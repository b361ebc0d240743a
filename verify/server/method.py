"""What a method of `hloproof serve` is, what is wrong with its parameters, and who is told how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final


class BadParameters(Exception):
    """The parameters are of the right types but make no sense together."""


@dataclass(frozen=True)
class Method:
    """`parameters` maps a name to its type in words; a trailing `?` marks an optional one."""

    run: Callable[..., Any]
    parameters: Mapping[str, str] = field(default_factory=dict)
    at_once: bool = False
    """Answered by the server itself, whatever its workers do."""


_Report = Callable[[int, int, str], None]

listener: Final[ContextVar[_Report | None]] = ContextVar("report", default=None)


@contextmanager
def reporting(report: _Report | None) -> Iterator[None]:
    """Methods tell `report` how many things are done, of how many, and the last."""
    token = listener.set(report)
    try:
        yield
    finally:
        listener.reset(token)
