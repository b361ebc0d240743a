"""Analyses as JSON data and as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from hloproof.analysis.coalescing import Stride
from hloproof.analysis.launch import Launch
from hloproof.analysis.propagation import OperandTile
from hloproof.analysis.report import InstructionAnalysis, MapAnalysis, OperandAnalysis
from hloproof.analysis.utilization import Utilization
from hloproof.analysis.warps import Sectors, WarpReads
from hloproof.models.expressions.expr import to_text
from hloproof.models.maps.text import print_map


def as_json(found: InstructionAnalysis) -> dict[str, Any]:
    """One instruction as JSON data."""
    return {
        "computation": found.computation,
        "instruction": found.instruction,
        "opcode": found.opcode,
        "reason": found.reason or None,
        "tile_does_not_fit": [{"output": output, "rank": rank} for output, rank in found.unfit],
        "threads_do_not_fit": [{"output": output, "rank": rank} for output, rank in found.unfit_threads],
        "launch": _launch_json(found),
        "operands": [_operand_json(o) for o in found.operands],
        "all_outputs": [
            {"operand": t.operand, "position": list(t.position), "name": t.name, **_used_json(t.utilization)}
            for t in found.together
        ],
    }


def _launch_json(found: InstructionAnalysis) -> dict[str, Any] | None:
    launch = found.launch
    if launch is None:
        return None
    return {
        "threads": launch.threads,
        "vector": launch.vector,
        "warp": launch.warp,
        "sector_bytes": launch.sector,
        "outputs": [
            {
                "output": o.output,
                "elements": o.elements,
                "blocks": o.blocks,
                "chunks": o.chunks,
                "map": print_map(o.map),
            }
            for o in found.launches
        ],
    }


def _operand_json(o: OperandAnalysis) -> dict[str, Any]:
    return {
        "output": o.output,
        "operand": o.operand,
        "position": list(o.position),
        "name": o.name,
        "kind": o.kind,
        **_used_json(o.utilization),
        "equal_maps_dropped": o.equal,
        "undecided": list(o.undecided),
        "maps": [_map_json(m) for m in o.maps],
    }


def _used_json(u: Utilization) -> dict[str, Any]:
    return {
        "elements": u.total,
        "elements_read": u.elements,
        "pairs": u.pairs,
        "reads": u.reads,
        "exact": u.exact,
        "bound_because": u.bound or None,
        "method": u.method,
        "reason": u.reason or None,
    }


def _map_json(m: MapAnalysis) -> dict[str, Any]:
    return {
        "map": print_map(m.map),
        "reason": m.reason or None,
        "contained_in": list(m.within),
        "contained_engines": list(m.engines),
        "strides": [_stride_json(s) for s in m.strides],
        "threads": None if m.warps is None else _warps_json(m, m.warps),
        "tile": None if m.tile is None else _tile_json(m.tile),
    }


def _tile_json(t: OperandTile) -> dict[str, Any]:
    return {
        "exact": t.exact,
        "smallest": t.smallest,
        "enclosing": t.enclosing,
        "tiles_at_the_border_read_less": t.border,
        "dimensions": [
            {
                "offset": to_text(d.offset),
                "size": d.size,
                "stride": d.stride,
                "exact": d.exact,
                "smallest": d.smallest,
                "enclosing": d.enclosing,
                "engines": list(d.engines),
            }
            for d in t.dimensions
        ],
    }


def _stride_json(s: Stride) -> dict[str, Any]:
    return {
        "dimension": s.dimension,
        "size": s.size,
        "distance": s.distance,
        "block": s.block,
        "runtime": s.runtime,
        "verdict": s.verdict,
        "engines": list(s.engines),
    }


def _warps_json(m: MapAnalysis, w: WarpReads) -> dict[str, Any]:
    def distance(s: Stride) -> dict[str, Any]:
        return {key: value for key, value in _stride_json(s).items() if key != "dimension"}

    s = w.sectors
    return {
        "map": None if m.by_thread is None else print_map(m.by_thread),
        "neighbours": distance(w.threads),
        "vector": None if w.vector is None else distance(w.vector),
        "side_by_side": w.contiguous,
        "sectors": None
        if s is None
        else {
            "most": s.most,
            "seen": s.seen,
            "exact": s.exact,
            "best": s.best,
            "method": s.method,
            "engines": list(s.engines),
        },
        "reason": w.reason or None,
    }


def as_lines(found: InstructionAnalysis) -> Iterator[str]:
    """One instruction as lines of text."""
    yield f"{found.instruction} ({found.opcode} in {found.computation})"
    if found.reason:
        yield f"  unknown: {found.reason}"
    for output, rank in found.unfit:
        yield f"  output {output} has {_count(rank, 'dimension')}: the tile does not fit"
    for output, rank in found.unfit_threads:
        yield f"  output {output} has {_count(rank, 'dimension')}: the thread map does not fit"
    for launched in found.launches:
        assert found.launch is not None
        shape = f"{_count(launched.blocks, 'block')} of {_count(found.launch.threads, 'thread')}"
        each = f"{_count(found.launch.vector, 'element')} each" + (
            "" if launched.chunks == 1 else f", {launched.chunks} times"
        )
        yield f"  output {launched.output} by {shape}, {each}: {print_map(launched.map).splitlines()[0]}"
    for o in found.operands:
        yield f"  output {o.output} <- operand {o.operand}{_inside(o.position)} {o.name}: {_used(o.utilization)}"
        for why in o.undecided:
            yield f"    some of the maps may be equal: {why}"
        for k, m in enumerate(o.maps):
            yield from _map_lines(k, m, found.launch)
    for t in found.together:
        yield f"  all outputs <- operand {t.operand}{_inside(t.position)} {t.name}: {_used(t.utilization)}"


def _inside(position: tuple[int, ...]) -> str:
    return f"{{{','.join(map(str, position))}}}" if position else ""


def _map_lines(k: int, m: MapAnalysis, launch: Launch | None) -> Iterator[str]:
    yield f"    map {k}: {print_map(m.map).splitlines()[0]}"
    if m.within:
        others = f"map {m.within[0]}" if len(m.within) == 1 else f"maps {', '.join(map(str, m.within))} together"
        yield f"      all of it is read through {others} too (proved)"
    for s in m.strides:
        yield f"      along dimension {s.dimension}: {s.words} ({s.verdict})"
    if m.warps is not None and launch is not None:
        yield from _warp_lines(m, m.warps, launch)
    if m.reason:
        yield f"      distances unknown: {m.reason}"
    if m.tile is not None:
        yield f"      tile ({_tile_words(m.tile)}): {' x '.join(f'[{d}]' for d in m.tile.dimensions) or 'the scalar'}"


def _tile_words(t: OperandTile) -> str:
    if t.enclosing != "proved":
        return "not proved"
    what = "exact" if t.exact else "smallest enclosing" if t.smallest else "enclosing"
    return f"{what}, proved{', tiles at the border read less' if t.border else ''}"


def _warp_lines(m: MapAnalysis, w: WarpReads, launch: Launch) -> Iterator[str]:
    if m.by_thread is not None:
        yield f"      by thread: {print_map(m.by_thread).splitlines()[0]}"
    yield f"      neighbouring threads: {w.threads.words} ({w.threads.verdict})"
    if w.vector is not None:
        yield f"      within a thread's vector: {w.vector.words} ({w.vector.verdict})"
    if w.sectors is None:
        yield f"      sectors of a warp unknown: {w.reason}"
    elif not w.sectors.most:
        yield "      no warp reads through this map"
    else:
        yield f"      a warp of {launch.warp} touches {_sectors(w.sectors, launch)}"


def _sectors(s: Sectors, launch: Launch) -> str:
    how = f"{s.method}, {' and '.join(s.engines)}" if s.engines else s.method
    seen = "reached" if s.exact else f"a bound; {s.seen} seen" if s.seen else "a bound"
    side = "; elements side by side need 1" if s.best == 1 else f"; elements side by side need {s.best}"
    return f"at most {_count(s.most, 'sector')} of {_count(launch.sector, 'byte')} ({seen}; {how}){side}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _used(u: Utilization) -> str:
    if u.elements is None:
        return f"unknown: {u.reason}"
    share = u.share
    percent = "" if share is None else f" ({float(share):.1%})"
    bound, because = ("at most ", f" ({u.bound})") if u.bound else ("", "")
    return f"reads {bound}{u.elements} of {u.total} elements{percent}{_often(u)}; {u.method}{because}"


def _often(u: Utilization) -> str:
    """By how many output elements, and how often."""
    if not u.exact:
        return "" if u.reads is None else f", with at most {_count(u.reads, 'read')}"
    if u.readers_per_element is None:
        return f", how often is unknown: {u.reason}" if u.reason else ""
    often = f", each by {_mean(u.readers_per_element, 'output element')}"
    if u.reads_per_element is not None and u.reads_per_element != u.readers_per_element:
        often += f" and {_mean(u.reads_per_element, 'time')}"
    return often if u.reads == u.elements else f"{often} on average"


def _mean(times: Fraction, what: str) -> str:
    return _count(times.numerator, what) if times.denominator == 1 else f"{float(times):.4g} {what}s"
