"""The pages of `passes`, `equiv` and `simplify`: modules side by side, and derivations step by step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hloproof.claims.maps.simplified import SimplifiedMap
from hloproof.models.errors import InputError
from hloproof.models.line_ends import with_line_ends
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import print_map
from hloproof.pipeline.passes import Compilation, JudgedChange
from hloproof.report.html import flow
from hloproof.report.html.page import Card, Column, Line, Page, Picture, chunks
from hloproof.report.passes import weakest
from hloproof.results.errors import BadInput


def of_passes(found: Compilation) -> Iterator[str]:
    """The page of `hloproof passes`: a card per change, those that are not proved first."""
    table: dict[str, Counter[str]] = {}
    for j in found.judged:
        table.setdefault(j.change.name, Counter())[j.verdict] += 1
    order = {"internal": -1, "refuted": 0, "unknown": 1}
    judged = sorted(found.judged, key=lambda j: order.get(j.verdict, 2))
    broken = [f"{m.module}: {b.change.name}" for m in found.modules if (b := found.first_broken(m.module))]
    lead = f"{len(found.modules)} modules, {len(found.judged)} comparisons"
    if broken:
        lead += "; the first pass that changes what is computed: " + ", ".join(broken)
    return chunks(Page("Passes of a compilation", table, [_of_pass(j) for j in judged], lead, rows_are="pass"))


def _of_pass(j: JudgedChange) -> Card:
    pictures: tuple[Picture, ...] = ()
    if j.verdict != "proved":
        try:
            sides = [(d.path.name, d.read()) for d in (j.change.before, j.change.after)]
            pictures = _compared(j.answer, sides[0], sides[1])
        except (BadInput, InputError):
            pictures = ()
    return Card(
        verdict=j.verdict,
        claim=weakest(j),
        title=f"{j.change.name} of {j.change.after.pipeline}" if j.change.after.pipeline else j.change.name,
        place=j.module,
        why=j.answer.get("reason") or _axioms(j.answer),
        group=j.change.name,
        pictures=pictures,
    )


def of_pair(answer: Mapping[str, Any], before: tuple[str, str], after: tuple[str, str]) -> Iterator[str]:
    """The page of `hloproof equiv`; `answer` as JSON, each side its name and its text."""
    verdict = str(answer["verdict"])
    card = Card(
        verdict=verdict,
        claim="equivalence",
        title=f"{before[0]} and {after[0]}",
        why=answer.get("reason") or _axioms(answer),
        pictures=_compared(answer, before, after),
    )
    return chunks(Page(f"{before[0]} and {after[0]}", {"equivalence": Counter([verdict])}, [card]))


def _compared(answer: Mapping[str, Any], before: tuple[str, str], after: tuple[str, str]) -> tuple[Picture, ...]:
    said = answer.get("counterexample") or answer.get("mismatch") or {}
    places = said.get("instructions") or (None, None)
    drawn = flow.flow_of(str(answer.get("reason") or ""))
    pictures = (modules(before, after, places),)
    return pictures if drawn is None else (Picture("The element that differs", flow.draw(drawn)), *pictures)


def _axioms(answer: Mapping[str, Any]) -> str:
    names = [f"{a['name']} ({a['tier']})" for a in answer.get("axioms", ())]
    return "by " + ", ".join(names) if names else "by movement of data alone"


def of_simplification(before: IndexingMap, found: SimplifiedMap) -> Iterator[str]:
    """The page of `hloproof simplify`: the derivation, step by step."""
    steps = tuple((s.rule, s.before, s.after) for s in found.derivation)
    pictures = (Picture(f"The derivation, {len(steps)} steps", steps=steps),) if steps else ()
    card = Card(
        verdict=str(found.found.verdict),
        claim="simplify",
        title=print_map(found.map),
        why=found.found.counterexample or found.found.reason or "",
        excerpt=print_map(before),
        pictures=pictures,
    )
    lead = f"from {print_map(before)}"
    return chunks(Page("A map simplified", {"simplify": Counter([str(found.found.verdict)])}, [card], lead))


_AROUND: Final = 40
"""Lines that are shown on both sides of the cut."""
_LONGEST: Final = 400
_MADE_UP: Final = re.compile(r", metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}")


def modules(before: tuple[str, str], after: tuple[str, str], places: Sequence[Mapping[str, Any] | None]) -> Picture:
    """Names and texts of both, and the places where they part: as `equiv --format json` has them, lines from 1.

    Each text is cut to the lines around its place; metadata, which says nothing about values, is left out.
    """
    columns = []
    for (name, text), place in zip((before, after), (*places, None, None)[:2], strict=True):
        at = int(place["line"]) if place else 0
        lines = with_line_ends(text).split("\n")
        first = max(0, at - 1 - _AROUND) if at else _entry(lines)
        shown = lines[first : first + 2 * _AROUND + 1]
        columns.append(Column(name, tuple(Line(n, _short(s), n == at) for n, s in enumerate(shown, first + 1))))
    where = " and ".join(f"%{p['instruction']}" for p in places if p)
    return Picture(f"The two modules part at {where}" if where else "The two modules", columns=tuple(columns))


def _entry(lines: Sequence[str]) -> int:
    return next((n for n, line in enumerate(lines) if line.startswith("ENTRY")), 0)


def _short(line: str) -> str:
    line = _MADE_UP.sub("", line)
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."
