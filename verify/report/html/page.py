"""A page as data, and the one file that it becomes.

The template escapes whatever it is given; only `svg` of a picture, which this project draws itself, goes in as it is.
The page forbids itself every connection and every script but its own (its content security policy), so that the texts
of a hostile file can do nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from hloproof.version import VERSION

MOST_CARDS: Final = 1000
"""More than these are counted, not shown."""


@dataclass(frozen=True)
class Line:
    """A line of a module's text; `cut` marks where two modules part."""

    number: int
    text: str
    cut: bool = False


@dataclass(frozen=True)
class Column:
    """A part of one module's text, beside that of another."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Picture:
    """One of: a drawing (`svg`), two texts (`columns`), steps of a derivation, or a layout to be drawn by tiles."""

    title: str
    svg: str = ""
    columns: tuple[Column, ...] = ()
    steps: tuple[tuple[str, str, str], ...] = ()
    """Rule, before, after."""
    layout: Mapping[str, Any] | None = None

    @property
    def markup(self) -> Markup:
        return Markup(self.svg)


@dataclass(frozen=True)
class Card:
    """One finding. `group` is the pass it belongs to, or empty."""

    verdict: str
    claim: str
    title: str
    place: str = ""
    source: str = ""
    """The line of the user's program."""
    why: str = ""
    note: str = ""
    group: str = ""
    excerpt: str = ""
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Page:
    """`table` has, per claim or pass, how often each verdict was given."""

    title: str
    table: Mapping[str, Counter[str]]
    cards: Sequence[Card]
    lead: str = ""
    problems: Sequence[str] = ()
    rows_are: str = "claim"
    verdicts: Sequence[str] = field(default=("proved", "refuted", "unknown", "vacuous", "trivial", "internal"))

    @property
    def totals(self) -> Counter[str]:
        return sum(self.table.values(), Counter())


def chunks(page: Page) -> Iterator[str]:
    """The text of the file, in pieces."""
    shown = page.cards[:MOST_CARDS]
    script, style = _resource("page.js"), _resource("page.css")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    yield from _template().generate(
        page=page,
        cards=shown,
        left_out=len(page.cards) - len(shown),
        used=[v for v in page.verdicts if page.totals[v]],
        columns=[v for v in page.verdicts if page.totals[v]],
        claims=sorted({c.claim for c in shown}),
        groups=list(dict.fromkeys(c.group for c in shown if c.group)),
        script=Markup(script),
        style=Markup(style),
        digest=digest,
        version=VERSION,
    )


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_resource("page.html.j2"))


def _resource(name: str) -> str:
    return files("hloproof.report.html").joinpath(name).read_text(encoding="utf-8")
