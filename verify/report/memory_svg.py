"""A memory plan drawn: an allocation, time across, bytes upward, values as boxes while needed, conflicts red."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

from hloproof.memory.interference import conflicts
from hloproof.memory.plan import Plan
from hloproof.models.memory.assignment import Allocation, Key, place_text

_WIDTH: Final = 1200
_HEIGHT: Final = 640
_LEFT, _TOP, _BOTTOM = 90, 40, 50
_COLOURS: Final = ("#8fb8de", "#a8d5a2", "#f2d58a", "#d7b5e0", "#9ed6d3", "#e8b99a")
_RED: Final = "#c0392b"
_LABEL_LEAST: Final = (60, 11)
"""A box with fewer pixels, across and upward, has no label; its title has the name."""


def chunks(plan: Plan, number: int | None = None) -> Iterator[str]:
    """The drawing as pieces of text. Raises LookupError for an allocation that is not there."""
    clashes = {(c.write.value, c.victim) for c in conflicts(plan)}
    allocation = _chosen(plan, number, clashes)
    red = {key for pair in clashes for key in pair}
    live, last = plan.liveness, max(1, plan.liveness.order.after)
    across, upward = (_WIDTH - _LEFT - 10) / last, (_HEIGHT - _TOP - _BOTTOM) / max(1, allocation.size)
    floor = _HEIGHT - _BOTTOM
    yield (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' "
        f"height='{_HEIGHT}' font-family='monospace' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n"
    )
    title = f"{plan.module.name}: allocation {allocation.number}, {allocation.size} bytes"
    yield f"<text x='{_LEFT}' y='24' font-size='14'>{escape(title)}</text>\n"
    boxes: list[tuple[bool, str]] = []
    for n, s in enumerate(sorted(allocation.slices, key=lambda s: (s.offset, s.line))):
        found = plan.in_memory.get(s.key)
        if found is None or found[1] is not s:
            continue
        low, high = plan.extent(s)
        fill = _RED if s.key in red else _COLOURS[n % len(_COLOURS)]
        for begin, end in live.intervals(found[0]):
            x = _LEFT + max(begin, 0) * across
            width = max(2.0, (min(end, last) - max(begin, 0)) * across)
            height = max(2.0, (high - low) * upward)
            y = floor - low * upward - height
            name = escape(place_text(s.key))
            box = (
                f"<g><title>{name}: bytes {low} to {high}, plan line {s.line}</title>"
                f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{fill}' "
                f"fill-opacity='{0.55 if s.key in red else 0.85}' stroke='#333' stroke-width='0.5'/>"
            )
            if width >= _LABEL_LEAST[0] and height >= _LABEL_LEAST[1]:
                room = int(width / 7)
                shown = escape(place_text(s.key)[:room])
                box += f"<text x='{x + 3:.1f}' y='{y + height / 2 + 4:.1f}'>{shown}</text>"
            boxes.append((s.key in red, box + "</g>\n"))
    for _, box in sorted(boxes, key=lambda b: b[0]):  # conflicts on top
        yield box
    yield from _axes(allocation, floor, last // 2)
    yield "</svg>\n"


def _axes(allocation: Allocation, floor: int, instructions: int) -> Iterator[str]:
    yield f"<path d='M{_LEFT} {_TOP} V{floor} H{_WIDTH - 10}' fill='none' stroke='#333'/>\n"
    for k in range(5):
        y = floor - k * (floor - _TOP) / 4
        yield f"<text x='{_LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{allocation.size * k // 4}</text>\n"
        x = _LEFT + k * (_WIDTH - _LEFT - 10) / 4
        yield f"<text x='{x:.1f}' y='{floor + 18}' text-anchor='middle'>{instructions * k // 4}</text>\n"
    yield f"<text x='{_LEFT}' y='{floor + 38}'>instructions in the flattened order; bytes upward</text>\n"


def _chosen(plan: Plan, number: int | None, clashes: set[tuple[Key, Key]]) -> Allocation:
    """The allocation to draw: the one named, else that of a conflict, else the one with the most values."""
    by_number = plan.assignment.by_number
    if number is not None:
        if number not in by_number:
            raise LookupError(f"the plan has no allocation {number}")
        return by_number[number]
    for key, _ in sorted(clashes):
        return by_number[plan.in_memory[key][1].allocation]
    if not by_number:
        raise LookupError("the plan has no allocation")
    return max(by_number.values(), key=lambda a: (not a.thread_local, len(a.slices), a.size))
