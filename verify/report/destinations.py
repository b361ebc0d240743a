"""Reports written: which format goes where, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hloproof.results.errors import BadInput
from hloproof.results.findings import Judged


@dataclass(frozen=True)
class Style:
    """How the text report looks. `verbosity` is -1, 0 or 1."""

    verbosity: int = 0
    colour: bool = False


def _text(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.text import lines

    return (f"{line}\n" for line in lines(judged, style.verbosity, style.colour))


def _json(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.json_report import chunks

    return chunks(judged)


def _sarif(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.sarif import chunks

    return chunks(judged)


def _junit(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.junit import chunks

    return chunks(judged)


def _github(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.github import chunks

    return chunks(judged)


def _svg(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.timeline_svg import chunks

    return chunks(judged)


def _html(judged: Judged, style: Style) -> Iterator[str]:
    from hloproof.report.html.findings import pieces

    return pieces(judged)


FORMATS: Final[dict[str, Callable[[Judged, Style], Iterator[str]]]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
    "svg": _svg,
    "html": _html,
}


def write_standard_output(form: str, judged: Judged, style: Style) -> None:
    """Write a report to standard output, or as much of it as its reader takes. Raises BadInput when that is full."""
    try:
        sys.stdout.writelines(FORMATS[form](judged, style))
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer cannot be written either; closing would only fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return  # who reads has seen enough
        raise BadInput(f"standard output: {(error.strerror or str(error)).lower()}") from error
