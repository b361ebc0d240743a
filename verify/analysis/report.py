"""The analyses of the fusions of a module, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from models.errors import NotModelled
from models.hlo.module import Computation, Instruction, Module
from models.hlo.shape import ArrayShape, leaves
from models.indexing.map_set import OperandMaps
from models.indexing.module_maps import composer_of, instruction_maps
from models.indexing_map import IndexingMap
from models.map_text import print_map
from verify.analysis.coalescing import Stride, strides
from verify.analysis.propagation import TileDimension, is_exact, operand_tile
from verify.analysis.utilization import Utilization, utilization
from verify.dedup import deduplicate
from verify.devices import device_counts


@dataclass(frozen=True)
class MapAnalysis:
    """One of an operand's maps: the distances of its reads, and the operand tile, where one was asked for."""

    map: IndexingMap
    strides: tuple[Stride, ...]
    tile: tuple[TileDimension, ...] | None
    reason: str = ""


@dataclass(frozen=True)
class OperandAnalysis:
    """One operand array of one output."""

    output: int
    operand: int
    position: tuple[int, ...]
    name: str
    kind: str
    utilization: Utilization
    maps: tuple[MapAnalysis, ...]


@dataclass(frozen=True)
class InstructionAnalysis:
    """All operands of all outputs of an instruction."""

    computation: str
    instruction: str
    opcode: str
    operands: tuple[OperandAnalysis, ...]
    reason: str = ""


def analyze(module: Module, instruction: str = "", tile: Sequence[int] | None = None) -> Iterator[InstructionAnalysis]:
    """The fusions of a module, or the one instruction named, whatever its opcode.

    Raises LookupError for a name that is not there, and ValueError for a tile of the wrong rank for a named
    instruction; among all fusions a tile is used where its rank fits.
    """
    composer = composer_of(module, *device_counts(module))
    chosen = list(_chosen(module, instruction))
    if not chosen and instruction:
        raise LookupError(f"no instruction {instruction!r} in module {module.name!r}")
    for computation, found in chosen:
        operands: list[OperandAnalysis] = []
        reason = ""
        for output, (_, shape) in enumerate(leaves(found.shape)):
            if not isinstance(shape, ArrayShape):
                continue
            if tile is not None and instruction and len(tile) != shape.rank:
                raise ValueError(f"a tile of {shape.rank} sizes is needed for {found.name}, not {len(tile)}")
            fitting = tile if tile is not None and len(tile) == shape.rank else None
            try:
                sets = instruction_maps(composer, computation, found, "output-to-input", output)
            except NotModelled as error:
                reason = str(error)
                continue
            for s in sets:
                operands += _operand(computation, found, output, shape, s, fitting)
        yield InstructionAnalysis(computation.name, found.name, found.opcode, tuple(operands), reason)


def _chosen(module: Module, name: str) -> Iterator[tuple[Computation, Instruction]]:
    plain = name.removeprefix("%")
    for computation in module.computations:
        for i in computation.instructions:
            if i.name == plain if name else i.opcode == "fusion":
                yield computation, i


def _operand(
    computation: Computation, instruction: Instruction, output: int, shape: ArrayShape, s: OperandMaps,
    tile: Sequence[int] | None,
) -> list[OperandAnalysis]:
    name = instruction.operands[s.operand]
    operand = dict(leaves(computation.by_name[name].shape)).get(s.position)
    if not isinstance(operand, ArrayShape):
        return []
    kept = deduplicate(s.maps).kept_maps() if len(s.maps) > 1 else s.maps
    maps = tuple(_map(m, shape, operand, tile) for m in kept if not m.is_trivially_empty)
    used = utilization(OperandMaps(s.operand, s.kind, kept, s.position, s.unknown), operand)
    return [OperandAnalysis(output, s.operand, s.position, name, s.kind, used, maps)]


def _map(m: IndexingMap, output: ArrayShape, operand: ArrayShape, tile: Sequence[int] | None) -> MapAnalysis:
    reason, found = "", tuple[Stride, ...]()
    try:
        found = strides(m, output, operand)
    except NotModelled as error:
        reason = str(error)
    return MapAnalysis(m, found, None if tile is None else operand_tile(m, tile), reason)


def as_json(found: InstructionAnalysis) -> dict[str, Any]:
    """One instruction as JSON data."""
    return {
        "computation": found.computation, "instruction": found.instruction, "opcode": found.opcode,
        "reason": found.reason or None, "operands": [_operand_json(o) for o in found.operands],
    }  # fmt: skip


def _operand_json(o: OperandAnalysis) -> dict[str, Any]:
    u = o.utilization
    return {
        "output": o.output, "operand": o.operand, "position": list(o.position), "name": o.name, "kind": o.kind,
        "elements": u.total, "elements_read": u.elements, "pairs": u.pairs, "exact": u.exact, "method": u.method,
        "reason": u.reason or None, "maps": [_map_json(m) for m in o.maps],
    }  # fmt: skip


def _map_json(m: MapAnalysis) -> dict[str, Any]:
    return {
        "map": print_map(m.map), "reason": m.reason or None,
        "strides": [
            {
                "dimension": s.dimension, "size": s.size, "distance": s.distance, "block": s.block,
                "verdict": s.verdict, "engines": list(s.engines),
            }
            for s in m.strides
        ],
        "tile": None if m.tile is None else {
            "exact": is_exact(m.tile),
            "dimensions": [
                {
                    "offset": _text(d), "size": d.size, "stride": d.stride, "exact": d.exact, "enclosing": d.enclosing,
                    "engines": list(d.engines),
                }
                for d in m.tile
            ],
        },
    }  # fmt: skip


def _text(d: TileDimension) -> str:
    from models.expr import to_text

    return to_text(d.offset)


def as_lines(found: InstructionAnalysis) -> Iterator[str]:
    """One instruction as lines of text."""
    yield f"{found.instruction} ({found.opcode} in {found.computation})"
    if found.reason:
        yield f"  unknown: {found.reason}"
    for o in found.operands:
        inside = f"{{{','.join(map(str, o.position))}}}" if o.position else ""
        yield f"  output {o.output} <- operand {o.operand}{inside} {o.name}: {_used(o.utilization)}"
        for m in o.maps:
            yield f"    {print_map(m.map).splitlines()[0]}"
            for s in m.strides:
                yield f"      along dimension {s.dimension}: {s.words} ({s.verdict})"
            if m.reason:
                yield f"      distances unknown: {m.reason}"
            if m.tile is not None:
                dims = " x ".join(f"[{d}]" for d in m.tile)
                proved = "proved" if all(d.enclosing == "proved" for d in m.tile) else "not proved"
                what = "exact" if is_exact(m.tile) else "enclosing"
                yield f"      tile ({what}, {proved}): {dims or 'the scalar'}"


def _used(u: Utilization) -> str:
    if u.elements is None:
        return f"unknown: {u.reason}"
    share = u.share
    percent = "" if share is None else f" ({float(share):.1%})"
    bound = "" if u.exact else "at most "
    times = u.reads_per_element
    often = f", each by {float(times):.4g} output elements on average" if times is not None else ""
    return f"reads {bound}{u.elements} of {u.total} elements{percent}{often}; {u.method}"
