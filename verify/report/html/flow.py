"""The flow of an index, drawn: from the point of a counterexample, through each map, to the element that it leads to.

A counterexample is a sentence that a claim wrote; the forms below are those that name two places. Whatever else it may
be stays words: no picture is better than one that is made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final

_TUPLE: Final = r"[(\[]([^)\]]*)[)\]]"
_POINT: Final = r"(?P<point>(?:[^:]|:(?! ))+): "
_GIVEN: Final = (
    re.compile(rf"(?:[\w-]+: )?{_POINT}before gives {_TUPLE}, after gives {_TUPLE}"),
    re.compile(rf"(?:[\w-]+: )?{_POINT}the left side is (\S+?), the right side (\S+?)(?:;|$)"),
)
_MISSING: Final = re.compile(rf"{_POINT}(?P<one>[\w ]+?) gives {_TUPLE}, which (?P<two>[\w ]+?) does not give")
_READS: Final = re.compile(
    r"(?P<output>(?:output|operand)[ \d]*)\[(?P<at>[^\]]*)\] reads (?P<operand>[^[]+?) at \[(?P<read>[^\]]*)\]"
    r"(?P<rest>.*)",
    re.DOTALL,
)
_RESULT: Final = re.compile(r"element \[(?P<at>[^\]]*)\](?P<of>[^:]*?) is (?P<one>\S+) before and (?P<two>\S+) after")
_ROW: Final = 74
_WIDTH: Final = 860
_INK, _GOOD, _BAD, _FAINT, _BOX = "#222", "#1a7f4b", "#c0392b", "#777", "#eef2f7"


@dataclass(frozen=True)
class Arrow:
    """`over` is what leads there, `at` where; None where it leads nowhere."""

    over: str
    at: str | None
    right: bool | None
    """Whether this is the right place; None where the claim does not say which of two is."""


@dataclass(frozen=True)
class Flow:
    """From one point along several arrows."""

    of: str
    point: str
    arrows: tuple[Arrow, ...]


def flow_of(counterexample: str) -> Flow | None:
    """The flow that a counterexample tells; None for one that is not about places."""
    for form, (one, two) in zip(_GIVEN, (("before", "after"), ("left side", "right side")), strict=True):
        if found := form.match(counterexample):
            arrows = (Arrow(one, found[2], None), Arrow(two, found[3], None))
            return Flow("at", found["point"], arrows)
    if found := _MISSING.match(counterexample):
        arrows = (Arrow(found["one"], found[3], None), Arrow(found["two"], None, None))
        return Flow("at", found["point"], arrows)
    if found := _READS.match(counterexample):
        rest = found["rest"].strip(" ,")
        by = "by the map" if "by the map" in rest else "by the definition" if rest.startswith("by the def") else "reads"
        other = "by the map" if by == "by the definition" else "by the definition"
        into = f"{found['operand']} [{found['read']}]"
        arrows = (Arrow(by, into, by == "by the definition"), Arrow(other, None, by != "by the definition"))
        return Flow(found["output"].strip(), f"[{found['at']}]", arrows if by != "reads" else arrows[:1])
    if found := _RESULT.search(counterexample):
        arrows = (Arrow("before", found["one"], True), Arrow("after", found["two"], False))
        return Flow(f"result{found['of']}".strip(), f"[{found['at']}]", arrows)
    return None


def draw(flow: Flow) -> str:
    """The drawing as SVG text."""
    height = 30 + _ROW * len(flow.arrows)
    middle = height / 2
    wide = max(150, 8 * len(flow.point) + 30)
    end = max(wide + 250, _WIDTH - 40 - max(8 * len(a.at or "not this element") + 30 for a in flow.arrows))
    width = end + max(8 * len(a.at or "not this element") + 30 for a in flow.arrows) + 30
    out = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        "font-family='ui-monospace, monospace' font-size='13'>",
        "<rect width='100%' height='100%' fill='white'/>",
        _box(10, middle - 26, wide, flow.of, flow.point, _INK),
    ]
    for k, arrow in enumerate(flow.arrows):
        y = 15 + _ROW * (k + 0.5)
        colour = _INK if arrow.right is None else _GOOD if arrow.right else _BAD
        dash = "" if arrow.at is not None else " stroke-dasharray='5 4'"
        start = wide + 10
        bend = f"M{start} {middle} C{start + 90} {middle} {start + 60} {y} {start + 130} {y} L{end - 8} {y}"
        out.append(f"<path d='{bend}' fill='none' stroke='{colour}' stroke-width='1.8'{dash}/>")
        out.append(f"<path d='M{end - 9} {y - 5} L{end} {y} L{end - 9} {y + 5} z' fill='{colour}'/>")
        out.append(f"<text x='{start + 135}' y='{y - 7}' fill='{colour}'>{escape(arrow.over)}</text>")
        where = arrow.at if arrow.at is not None else "not this element"
        out.append(_box(end, y - 18, 8 * len(where) + 24, "", where, colour if arrow.at is not None else _FAINT))
    return "\n".join([*out, "</svg>"])


def _box(x: float, y: float, width: float, label: str, text: str, colour: str) -> str:
    height = 52 if label else 36
    head = f"<text x='{x + 12}' y='{y + 20}' fill='{_FAINT}'>{escape(label)}</text>" if label else ""
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='{_BOX}' stroke='{colour}'/>{head}"
        f"<text x='{x + 12}' y='{y + height - 13}' fill='{colour}' font-weight='bold'>{escape(text)}</text>"
    )
