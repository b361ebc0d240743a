"""Refuted hazards drawn: the schedule from top to bottom, what is in flight as a bar, the culprit in red."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, Row, rows_of
from hloproof.results.findings import Judged
from hloproof.results.verdict import ClaimResult, Verdict

_ROW_HEIGHT: Final = 22
_LEFT: Final = 90
_WIDTH: Final = 900
_INK, _FAINT, _FLIGHT, _CULPRIT = "#222", "#888", "#4a7fc1", "#c0392b"


def chunks(judged: Judged) -> Iterator[str]:
    """The drawing as pieces of text, one panel per refuted claim whose counterexample holds a schedule; without any,
    nothing."""
    return draw([f.record for f in judged.findings])


def draw(records: Sequence[ClaimResult]) -> Iterator[str]:
    """Nothing where no record holds a schedule."""
    panels = [
        (r, rows)
        for r in records
        if r.verdict is Verdict.REFUTED and r.counterexample and (rows := rows_of(r.counterexample))
    ]
    if not panels:
        return
    height = 20 + sum(_panel_height(rows) for _, rows in panels)
    yield (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' width='{_WIDTH}' height='{height}' "
        f"font-family='monospace' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n"
    )
    top = 20
    for record, rows in panels:
        yield from _panel(record, rows, top)
        top += _panel_height(rows)
    yield "</svg>\n"


def _panel_height(rows: Sequence[Row]) -> int:
    return _ROW_HEIGHT * (len(rows) + 3)


def _text(x: int, y: int, text: str, colour: str = _INK, weight: str = "normal") -> str:
    return f"<text x='{x}' y='{y}' fill='{colour}' font-weight='{weight}'>{escape(text)}</text>\n"


def _panel(record: ClaimResult, rows: Sequence[Row], top: int) -> Iterator[str]:
    head = (record.counterexample or "").partition("\n")[0]
    yield _text(10, top, f"{record.file}:{record.line} {record.claim}", _INK, "bold")
    yield _text(10, top + _ROW_HEIGHT - 4, head)
    y = [top + _ROW_HEIGHT * (k + 2) for k in range(len(rows))]
    begins = next((k for k, r in enumerate(rows) if r.mark.startswith(BEGINS)), None)
    ends = next((k for k, r in reversed(list(enumerate(rows))) if r.mark.startswith(ENDS)), len(rows) - 1)
    if begins is not None:
        yield (
            f"<rect x='{_LEFT - 30}' y='{y[begins] - 10}' width='8' height='{y[ends] - y[begins] + 8}' rx='4' "
            f"fill='{_FLIGHT}'/>\n"
        )
    for k, row in enumerate(rows):
        in_flight = row.mark.startswith((BEGINS, ENDS))
        colour = _FLIGHT if in_flight else _CULPRIT
        yield f"<circle cx='{_LEFT - 26}' cy='{y[k] - 5}' r='5' fill='{colour}'/>\n"
        yield _text(10, y[k], str(row.time), _FAINT)
        yield _text(_LEFT, y[k], f"{row.what}  (line {row.line})")
        yield _text(_LEFT + 440, y[k], row.mark, colour)
