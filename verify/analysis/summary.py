"""One line a fusion: what it moves, and its worst read, so that a reader knows where to look first.

A read is worse the more bytes a warp fetches beside those it needs: sectors that a warp touches at most, over the
sectors that the same elements side by side would take, times the bytes that are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hloproof.analysis.report import InstructionAnalysis, OperandAnalysis
from hloproof.analysis.warps import Sectors
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.hlo.source_lines import SourceLines
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.memory_size import data_bytes, element_bits


@dataclass(frozen=True)
class WorstRead:
    """The read of a fusion that fetches the most beside what it needs."""

    operand: str
    shape: str
    sectors: Sectors
    bytes_read: int
    """Bytes of the elements that are read, each counted once."""

    @property
    def times(self) -> Fraction:
        """How many times the sectors that side by side would do; 1 is as good as it gets."""
        return Fraction(max(self.sectors.most, 1), max(self.sectors.best, 1))

    @property
    def wasted(self) -> Fraction:
        """Bytes fetched beside those that are needed, if every warp were as bad as the worst."""
        return (self.times - 1) * self.bytes_read


@dataclass(frozen=True)
class FusionSummary:
    """`bytes_read` and `bytes_written` count every element once; None where what is read is not known."""

    instruction: str
    shape: str
    bytes_read: int | None
    bytes_written: int
    worst: WorstRead | None
    op_name: str
    source: str
    unknown: str = ""


def summaries(module: Module, found: Iterable[InstructionAnalysis]) -> list[FusionSummary]:
    """The fusions, worst read first; those of which no read is known to be bad behind them, by bytes."""
    lines = SourceLines(module)
    made = [_summary(module, lines, f) for f in found]
    return sorted(made, key=lambda s: (-(s.worst.wasted if s.worst else 0), -(s.bytes_read or 0) - s.bytes_written))


def as_line(s: FusionSummary) -> str:
    """One line."""
    moved = f"reads {_bytes(s.bytes_read)}, writes {_bytes(s.bytes_written)}"
    worst = s.worst
    if worst is None:
        read = f"reads unknown: {s.unknown}" if s.unknown else "no array is read by threads"
    elif worst.times <= 1:
        read = "reads side by side"
    else:
        bound = "" if worst.sectors.exact else "at most "
        read = (
            f"worst {worst.operand} {worst.shape}: {bound}{worst.sectors.most} sectors a warp "
            f"where {worst.sectors.best} would do ({float(worst.times):.3g} times)"
        )
    said = [f"{s.instruction} {s.shape}: {read}; {moved}", s.op_name, s.source]
    return "; ".join(filter(None, said))


def summary_json(s: FusionSummary) -> dict[str, Any]:
    """The same as JSON data."""
    worst = s.worst
    return {
        "instruction": s.instruction,
        "shape": s.shape,
        "bytes_read": s.bytes_read,
        "bytes_written": s.bytes_written,
        "op_name": s.op_name or None,
        "source": s.source or None,
        "reason": s.unknown or None,
        "worst_read": worst
        and {
            "operand": worst.operand.removeprefix("%"),
            "shape": worst.shape,
            "bytes": worst.bytes_read,
            "sectors": worst.sectors.most,
            "exact": worst.sectors.exact,
            "best": worst.sectors.best,
        },
    }


def _summary(module: Module, lines: SourceLines, found: InstructionAnalysis) -> FusionSummary:
    computation = module.by_name[found.computation]
    instruction = computation.by_name[found.instruction]
    reads: dict[tuple[int, tuple[int, ...]], int] = {}
    bad: list[WorstRead] = []
    known = not found.reason
    unknown = found.reason
    for o in found.operands:
        shape = dict(leaves(computation.by_name[o.name].shape)).get(o.position)
        count = o.utilization.elements
        if not isinstance(shape, ArrayShape) or count is None:
            known, unknown = False, unknown or o.utilization.reason
            continue
        size = -(-count * element_bits(shape) // 8)
        place = (o.operand, o.position)
        reads[place] = max(reads.get(place, 0), size)
        bad.extend(_bad_reads(o, shape, size))
        unknown = unknown or next((m.reason for m in o.maps if m.reason), "")
    for t in found.together:  # what several outputs read is counted once
        shape = dict(leaves(computation.by_name[t.name].shape)).get(t.position)
        if isinstance(shape, ArrayShape) and t.utilization.elements is not None:
            reads[t.operand, t.position] = -(-t.utilization.elements * element_bits(shape) // 8)
    return FusionSummary(
        found.instruction,
        print_shape(instruction.shape),
        sum(reads.values()) if known else None,
        _written(instruction.shape),
        max(bad, key=lambda w: (w.wasted, w.times), default=None),
        lines.op_name(instruction),
        str(lines.of(instruction) or ""),
        unknown,
    )


def _bad_reads(o: OperandAnalysis, shape: ArrayShape, size: int) -> Iterator[WorstRead]:
    for m in o.maps:
        if m.warps is not None and m.warps.sectors is not None and m.warps.sectors.most:
            yield WorstRead(f"%{o.name}", print_shape(shape), m.warps.sectors, size)


def _written(shape: Shape) -> int:
    total = 0
    for _, leaf in leaves(shape):
        if isinstance(leaf, ArrayShape):
            try:
                total += data_bytes(leaf)
            except NotModelled:
                continue
    return total


def _bytes(n: int | None) -> str:
    if n is None:
        return "unknown"
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:.4g} {unit}"
    return f"{n} bytes"
