"""The page of a check: a card per finding, with what can be drawn of its counterexample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from hloproof.claims.asynchronous.timeline import rows_of
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_modules
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.source_lines import SourceLines
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.pipeline.sources import Source
from hloproof.report import memory_svg, timeline_svg
from hloproof.report.html import flow
from hloproof.report.html.layout_tiles import tiles_of
from hloproof.report.html.page import Card, Page, Picture, chunks
from hloproof.results.errors import BadInput
from hloproof.results.findings import Finding, Judged
from hloproof.results.results import FileResults
from hloproof.results.verdict import ClaimResult, Verdict

_SHAPE: Final = re.compile(r"\b[a-z][a-z0-9]*\[[\d,<=]*\]\{[^}]*\}")
_INDEX: Final = re.compile(r"\[(\d+(?:, \d+)*)\]")
_ALLOCATION: Final = re.compile(r"of allocation (\d+)")
_MOST_LINES: Final = 30
_MOST_LAYOUTS: Final = 3


def page_of(judged: Judged) -> Page:
    """The page of a report with what of it counts."""
    report = judged.report
    table: dict[str, Counter[str]] = {}
    for file in report.files:
        for name, counts in _by_claim(file).items():
            table[name] = table.get(name, Counter()) + counts
    totals = report.counts()
    files, instructions = len(report.files), sum(f.instructions for f in report.files)
    lead = f"{files} file{'s' * (files != 1)}, {instructions} instructions, {totals.total()} claims"
    if judged.gone:
        lead += f"; {len(judged.gone)} findings of the baseline are gone"
    if report.interrupted:
        lead += "; interrupted: what was not decided by then is unknown"
    title = report.files[0].file if files == 1 else "hloproof"
    problems = [p.rendered or p.message for p in report.problems]
    return Page(title or "hloproof", dict(sorted(table.items())), [_card(f) for f in judged.findings], lead, problems)


def pieces(judged: Judged) -> Iterator[str]:
    """The text of the page."""
    return chunks(page_of(judged))


def _by_claim(file: FileResults) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for r in file.others:
        found.setdefault(r.claim, Counter())[str(r.verdict)] += 1
    for module in file.modules:
        for i in module.instructions:
            for c in i.claims():
                found.setdefault(c.claim, Counter())[str(c.verdict)] += 1
    return found


def _card(finding: Finding) -> Card:
    r = finding.record
    excerpt = _excerpt(r)
    source = _source(r)
    note = finding.known or ("a warning" if finding.level == "warning" else "")
    return Card(
        verdict=str(r.verdict),
        claim=r.claim,
        title=r.instruction or r.id,
        place=f"{r.file}:{r.line}:{r.column}" if r.file else "",
        source=source,
        why=r.counterexample or r.reason or "",
        note=note,
        excerpt=excerpt,
        pictures=tuple(_pictures(r, excerpt)) if r.verdict is Verdict.REFUTED else (),
    )


def _pictures(r: ClaimResult, excerpt: str) -> Iterator[Picture]:
    told = r.counterexample or ""
    if rows_of(told) and not r.claim.startswith("plan-"):
        yield Picture("The schedule: what is in flight as a bar, the culprit in red", "".join(timeline_svg.draw([r])))
    if r.claim.startswith("plan-"):
        yield from _plan(r.file, told)
    elif r.claim.startswith(("layout", "bitcast")) or r.kind == "layout":
        marks = [tuple(map(int, m.split(", "))) for m in _INDEX.findall(told)]
        for shape in list(dict.fromkeys(_SHAPE.findall(excerpt)))[:_MOST_LAYOUTS]:
            try:
                array = parse_shape(shape)
            except InputError:
                continue
            picture = tiles_of(array, marks) if isinstance(array, ArrayShape) else None
            if picture is not None:
                yield Picture(f"{shape} in memory", layout=picture)
    elif (found := flow.flow_of(told)) is not None:
        yield Picture("Where the index leads", flow.draw(found))


def _plan(module: str, told: str) -> Iterator[Picture]:
    """The allocation that a finding names, over time."""
    from hloproof.memory.plan import Plan
    from hloproof.models.memory.assignment import parse_assignment
    from hloproof.pipeline.memory_plans import plan_beside

    found = _ALLOCATION.search(told)
    beside = plan_beside(module) if found else None
    parsed = _modules(module)
    if found is None or beside is None or len(parsed) != 1:
        return
    try:
        plan = Plan(parsed[0], parse_assignment(Source(beside, "hlo").read(), beside))
        drawing = "".join(memory_svg.chunks(plan, int(found[1])))
    except (InputError, BadInput, NotModelled, LookupError):
        return
    yield Picture("The memory plan: time across, bytes upward, conflicts in red", drawing)


def _excerpt(r: ClaimResult) -> str:
    """What stands at a finding's place: the line of an instruction, or the entry up to the next one."""
    lines = _lines(r.file) if r.line else ()
    if not 0 < r.line <= len(lines):
        return ""
    shown = [lines[r.line - 1]]
    if r.kind != "instruction":
        for line in lines[r.line : r.line + _MOST_LINES]:
            if line.strip() and not line[0].isspace():
                break
            shown.append(line)
    return "\n".join(shown).rstrip()[:4000]


def _source(r: ClaimResult) -> str:
    parts = r.id.partition("#")[2].split("/")
    if r.kind != "instruction" or not r.file or len(parts) < 4:
        return ""
    module = next((m for m in _modules(r.file) if r.module in (m.name, "")), None)
    found = None if module is None else SourceLines(module).nearest(parts[-3], r.instruction)
    return "" if found is None else str(found)


@lru_cache(maxsize=4)
def _lines(file: str) -> tuple[str, ...]:
    if not Path(file).is_file():
        return ()
    try:
        return tuple(Source(file, "").read().split("\n"))  # not `splitlines`, for which a form feed ends one
    except (BadInput, InputError):
        return ()


@lru_cache(maxsize=4)
def _modules(file: str) -> tuple[Module, ...]:
    try:
        return parse_modules("\n".join(_lines(file)), file)
    except InputError:
        return ()
