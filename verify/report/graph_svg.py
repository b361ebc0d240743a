"""A computation drawn: instructions as boxes, values flowing down, and on each arrow the indexing map by which its
target reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module, device_counts
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import composer_of, instruction_maps
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.text import print_map
from hloproof.report.layered import Placed, place

MOST: Final = 150
"""More instructions than this are no picture."""
_CHAR: Final = 7.3
_SMALL: Final = 6.7
_LONGEST: Final = 44
_NODE: Final = 44
_LAYER: Final = 128
_MARGIN: Final = 24
_COLOURS: Final = {"parameter": "#e3eefb", "constant": "#f4f0e2", "fusion": "#e9e3f7"}


class GraphTooLarge(ValueError):
    """The computation has too many instructions for a picture."""


@dataclass(frozen=True)
class _Reading:
    """How an instruction reads one operand: a short label, all of it, and whether it is known."""

    label: str
    whole: str
    known: bool = True

    @property
    def width(self) -> float:
        return _SMALL * len(self.label) + 14


def chunks(module: Module, computation: Computation) -> Iterator[str]:
    """The drawing as pieces of text. Raises GraphTooLarge."""
    if len(computation.instructions) > MOST:
        raise GraphTooLarge(
            f"{computation.name} has {len(computation.instructions)} instructions, and a picture holds {MOST}"
        )
    composer = composer_of(module, *device_counts(module))
    readings = {i.name: _readings(composer, computation, i) for i in computation.instructions}
    widths = {i.name: _width(i, readings[i.name]) for i in computation.operands_first}
    edges = [(o, i.name) for i in computation.instructions for o in i.operands]
    placed = place(widths, edges)
    height = _MARGIN * 2 + 26 + _NODE + _LAYER * max(0, placed.layers - 1)
    width = placed.width + 2 * _MARGIN
    yield (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' "
        f"height='{height:.0f}' font-family='ui-monospace, monospace' font-size='12'>\n"
        "<rect width='100%' height='100%' fill='white'/>\n"
        f"<text x='{_MARGIN}' y='24' font-weight='bold'>{escape(f'{module.name}: {computation.name}')}</text>\n"
    )
    for i in computation.instructions:
        yield from _arrows(i, readings[i.name], widths, placed)
    for i in computation.instructions:
        yield _box(i, widths[i.name], placed, i.name == computation.root_name)
    for i in computation.instructions:
        yield from _labels(i, readings[i.name], widths, placed)
    yield "</svg>\n"


def _readings(composer: Composer, computation: Computation, i: Instruction) -> list[_Reading]:
    """One reading per operand; of several outputs, the first that reads it gives the label."""
    if not i.operands:
        return []
    outputs = [n for n, (_, leaf) in enumerate(leaves(i.shape)) if isinstance(leaf, ArrayShape)]
    try:
        sets = [s for n in outputs for s in instruction_maps(composer, computation, i, "output-to-input", n)]
    except (NotModelled, LookupError) as error:
        return [_Reading("unknown", f"unknown: {error}", False)] * len(i.operands)
    return [_reading([s for s in sets if s.operand == n]) for n in range(len(i.operands))]


def _reading(sets: list[OperandMaps]) -> _Reading:
    unknown = next((s.unknown for s in sets if s.unknown), None)
    if unknown:
        return _Reading("unknown", f"unknown: {unknown}", False)
    texts = [f"{print_map(m)}  ({s.kind})" for s in sets for m in s.maps]
    if not texts:
        return _Reading("reads nothing", "reads nothing")
    short = texts[0].partition(", domain:")[0].partition("  (")[0].splitlines()[0]
    short = short if len(short) <= _LONGEST else short[: _LONGEST - 1] + "…"
    return _Reading(f"{short} +{len(texts) - 1}" if len(texts) > 1 else short, "\n".join(texts))


def _words(i: Instruction) -> tuple[str, str]:
    shape = print_shape(i.shape)
    first = i.name if len(i.name) <= _LONGEST else i.name[: _LONGEST - 1] + "…"
    second = f"{i.opcode} {shape}"
    return first, second if len(second) <= _LONGEST + 8 else second[: _LONGEST + 7] + "…"


def _width(i: Instruction, readings: list[_Reading]) -> float:
    return max(_CHAR * max(map(len, _words(i))) + 20, sum(r.width for r in readings) + 6 * len(readings))


def _top(placed: Placed, name: str) -> float:
    return _MARGIN + 26 + _LAYER * placed.layer[name]


def _ports(i: Instruction, readings: list[_Reading], widths: dict[str, float], placed: Placed) -> list[float]:
    """Where the arrow of each operand ends, side by side over the box."""
    total = sum(r.width + 6 for r in readings)
    left = placed.x[i.name] - total / 2 + _MARGIN
    found = []
    for r in readings:
        found.append(left + (r.width + 6) / 2)
        left += r.width + 6
    return found


def _arrows(i: Instruction, readings: list[_Reading], widths: dict[str, float], placed: Placed) -> Iterator[str]:
    for operand, port in zip(i.operands, _ports(i, readings, widths, placed), strict=True):
        x, y = placed.x[operand] + _MARGIN, _top(placed, operand) + _NODE
        path = f"M{x:.1f} {y:.1f}"
        level = placed.layer[operand]
        for bend in placed.bends.get((operand, i.name), ()):
            level += 1
            to_x, to_y = bend + _MARGIN, _MARGIN + 26 + _LAYER * level
            path += f" C{x:.1f} {y + 40:.1f} {to_x:.1f} {to_y - 40:.1f} {to_x:.1f} {to_y:.1f} V{to_y + _NODE:.1f}"
            x, y = to_x, to_y + _NODE
        end = _top(placed, i.name)
        path += f" C{x:.1f} {y + 36:.1f} {port:.1f} {end - 64:.1f} {port:.1f} {end - 30:.1f} V{end - 7:.1f}"
        yield f"<path d='{path}' fill='none' stroke='#7a8694' stroke-width='1.3'/>\n"
        head = f"M{port - 4:.1f} {end - 8:.1f} L{port:.1f} {end:.1f} L{port + 4:.1f} {end - 8:.1f} z"
        yield f"<path d='{head}' fill='#7a8694'/>\n"


def _labels(i: Instruction, readings: list[_Reading], widths: dict[str, float], placed: Placed) -> Iterator[str]:
    for n, (r, port) in enumerate(zip(readings, _ports(i, readings, widths, placed), strict=True)):
        y = _top(placed, i.name) - 28
        colour = "#1f4f8f" if r.known else "#b3261e"
        yield (
            f"<g><title>{escape(f'operand {n}, {i.operands[n]}')}: {escape(r.whole)}</title>"
            f"<rect x='{port - r.width / 2:.1f}' y='{y}' width='{r.width:.1f}' height='17' rx='4' fill='white' "
            f"stroke='#cfd6de'/><text x='{port:.1f}' y='{y + 12.5}' text-anchor='middle' font-size='11' "
            f"fill='{colour}'>{escape(r.label)}</text></g>\n"
        )


def _box(i: Instruction, width: float, placed: Placed, root: bool) -> str:
    first, second = _words(i)
    x, y = placed.x[i.name] + _MARGIN, _top(placed, i.name)
    stroke = "stroke='#1a7f4b' stroke-width='2.2'" if root else "stroke='#59636e'"
    fill = _COLOURS.get(i.opcode, "#f6f8fa")
    return (
        f"<g><title>{escape(f'{i.name} = {i.opcode} {print_shape(i.shape)}, line {i.position.line}')}</title>"
        f"<rect x='{x - width / 2:.1f}' y='{y}' width='{width:.1f}' height='{_NODE}' rx='6' fill='{fill}' {stroke}/>"
        f"<text x='{x:.1f}' y='{y + 18}' text-anchor='middle' font-weight='bold'>{escape(first)}</text>"
        f"<text x='{x:.1f}' y='{y + 35}' text-anchor='middle' fill='#444'>{escape(second)}</text></g>\n"
    )
