"""The analyses of the fusions of a module, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hloproof.analysis.coalescing import Stride, strides
from hloproof.analysis.launch import Launch, thread_map
from hloproof.analysis.propagation import OperandTile, operand_tile
from hloproof.analysis.utilization import SIZES, Utilization, joint_utilization, utilization
from hloproof.analysis.warps import WarpReads, warp_reads
from hloproof.claims.maps.dedup import Contained, deduplicate
from hloproof.claims.statements.held_values import of_types, shapes_in
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module, device_counts
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing.composition.module_maps import composer_of, instruction_maps
from hloproof.models.indexing.composition.sizes import operand_number
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, compose
from hloproof.models.simplifier.simplify import simplify


@dataclass(frozen=True)
class MapAnalysis:
    """One of an operand's maps: the distances of its reads, and the operand tile and the reads of warps where they were
    asked for. `within` are the numbers of those maps of the operand whose reads include those of this one: proved."""

    map: IndexingMap
    strides: tuple[Stride, ...]
    tile: OperandTile | None
    by_thread: IndexingMap | None
    warps: WarpReads | None
    within: tuple[int, ...] = ()
    engines: tuple[str, ...] = ()
    """Who proved `within`."""
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
    equal: int = 0
    """Maps that were dropped because each equals one of `maps`: proved."""
    undecided: tuple[str, ...] = ()
    """Why maps could neither be shown equal nor told apart."""


@dataclass(frozen=True)
class Together:
    """What all outputs of an instruction read of one operand array."""

    operand: int
    position: tuple[int, ...]
    name: str
    utilization: Utilization


@dataclass(frozen=True)
class OutputLaunch:
    """How a launch distributes the elements of one output."""

    output: int
    elements: int
    blocks: int
    chunks: int
    map: IndexingMap


@dataclass(frozen=True)
class InstructionAnalysis:
    """All operands of all outputs of an instruction."""

    computation: str
    instruction: str
    opcode: str
    operands: tuple[OperandAnalysis, ...]
    reason: str = ""
    together: tuple[Together, ...] = ()
    """Where there are several outputs."""
    unfit: tuple[tuple[int, int], ...] = ()
    """Outputs, with their ranks, that the tile has not one size for each dimension of."""
    unfit_threads: tuple[tuple[int, int], ...] = ()
    """Outputs, with their ranks, that the map from threads does not lead to."""
    launch: Launch | None = None
    launches: tuple[OutputLaunch, ...] = ()


@dataclass(frozen=True)
class AnalysisRequest:
    """What is asked of every instruction beside utilization and distances."""

    tile: tuple[int, ...] | None = None
    launch: Launch | None = None


def analyze(
    module: Module, instruction: str = "", tile: Sequence[int] | None = None, launch: Launch | None = None
) -> Iterator[InstructionAnalysis]:
    """The fusions of a module, or the one instruction named, whatever its opcode.

    Raises LookupError for a name that is not there. A tile is used where it has a size for each dimension.
    """
    composer = composer_of(module, *device_counts(module))
    chosen = list(_chosen(module, instruction))
    if not chosen and instruction:
        raise LookupError(f"no instruction {instruction!r} in module {module.name!r}")
    for computation, found in chosen:
        operands: list[OperandAnalysis] = []
        launches: list[OutputLaunch] = []
        read: _Readings = {}
        outputs = 0
        unfit: list[tuple[int, int]] = []
        unfit_threads: list[tuple[int, int]] = []
        reason = ""
        for output, (_, shape) in enumerate(leaves(found.shape)):
            if not isinstance(shape, ArrayShape):
                continue
            if tile is not None and len(tile) != shape.rank:
                unfit.append((output, shape.rank))
            fitting = tuple(tile) if tile is not None and len(tile) == shape.rank else None
            threads = launch if launch is not None and launch.fits(shape) else None
            if threads is not launch:
                unfit_threads.append((output, shape.rank))
            try:
                if threads is not None:
                    launches.append(_launch(threads, output, shape))
                sets = instruction_maps(composer, computation, found, "output-to-input", output)
            except NotModelled as error:
                reason = str(error)
                continue
            for s in (_as_held(s, module, computation) for s in sets):
                for made in _operand(computation, found, output, shape, s, AnalysisRequest(fitting, threads)):
                    operands.append(made)
                    read.setdefault((s.operand, s.position), []).append((s, made.utilization))
            outputs += 1
        together = _together(computation, found, read) if outputs > 1 else ()
        yield InstructionAnalysis(
            computation.name,
            found.name,
            found.opcode,
            tuple(operands),
            reason,
            together,
            tuple(unfit),
            tuple(unfit_threads),
            launch,
            tuple(launches),
        )


_Readings = dict[tuple[int, tuple[int, ...]], list[tuple[OperandMaps, Utilization]]]
"""By operand and position, the maps of each output and what they read."""


def _together(computation: Computation, instruction: Instruction, read: _Readings) -> tuple[Together, ...]:
    found = []
    for (operand, position), each in read.items():
        name = instruction.operands[operand]
        shape = dict(leaves(computation.by_name[name].shape))[position]
        assert isinstance(shape, ArrayShape)
        used = joint_utilization([s for s, _ in each], [u for _, u in each], shape)
        found.append(Together(operand, position, name, used))
    return tuple(found)


def ranks_by_name(module: Module, instruction: str = "") -> dict[str, set[int]]:
    """The ranks of the outputs of everything that `analyze` would look at, by the instruction's name."""
    return {
        i.name: {shape.rank for _, shape in leaves(i.shape) if isinstance(shape, ArrayShape)}
        for _, i in _chosen(module, instruction)
    }


def _chosen(module: Module, name: str) -> Iterator[tuple[Computation, Instruction]]:
    plain = name.removeprefix("%")
    for computation in module.computations:
        for i in computation.instructions:
            if i.name == plain if name else i.opcode == "fusion":
                yield computation, i


def _launch(launch: Launch, output: int, shape: ArrayShape) -> OutputLaunch:
    elements = shape.elements
    made = simplify(thread_map(launch, shape)).map
    return OutputLaunch(output, elements, launch.blocks_for(elements), launch.chunks_for(elements), made)


def _as_held(s: OperandMaps, module: Module, computation: Computation) -> OperandMaps:
    """With the values that the types of what is read can hold. What a computation that is called is given is computed
    by who calls it: only the entry's parameters may hold anything, and keep their names."""
    inside = "" if computation is module.entry else f"{computation.name}/"

    def named(v: RuntimeVariable) -> RuntimeVariable:
        given = operand_number(v.provider or "", "parameter") is not None
        return replace(v, provider=f"{inside}{v.provider}") if given and inside else v

    typed = (of_types(m, shapes_in(module, computation)) for m in s.maps)
    return replace(s, maps=tuple(replace(m, runtime=tuple(map(named, m.runtime))) for m in typed))


def _operand(
    computation: Computation,
    instruction: Instruction,
    output: int,
    shape: ArrayShape,
    s: OperandMaps,
    asked: AnalysisRequest,
) -> list[OperandAnalysis]:
    name = instruction.operands[s.operand]
    operand = dict(leaves(computation.by_name[name].shape)).get(s.position)
    if not isinstance(operand, ArrayShape):
        return []
    different = deduplicate(s.maps, containment=True, tables=s.tables)
    empty = {n for n, _ in different.empty}
    kept = [n for n in different.kept if n not in empty]
    number = {n: k for k, n in enumerate(kept)}
    contained = {c.map: c for c in different.contained}
    maps = tuple(_map(s.maps[n], shape, operand, asked, contained.get(n), number) for n in kept)
    filled = tuple(s.maps[n] for n in kept)
    used = utilization(OperandMaps(s.operand, s.kind, filled, s.position, s.unknown), operand)
    if shape.is_dynamic or operand.is_dynamic:
        used = replace(used, bound=used.bound or SIZES)
    undecided = tuple(dict.fromkeys(why for _, _, why in different.undecided))
    return [OperandAnalysis(output, s.operand, s.position, name, s.kind, used, maps, len(different.same), undecided)]


def _map(
    m: IndexingMap,
    output: ArrayShape,
    operand: ArrayShape,
    asked: AnalysisRequest,
    contained: Contained | None,
    number: dict[int, int],
) -> MapAnalysis:
    reason, found = "", tuple[Stride, ...]()
    warps: WarpReads | None = None
    by_thread: IndexingMap | None = None
    try:
        found = strides(m, output, operand)
        if asked.launch is not None:
            by_thread = simplify(compose(thread_map(asked.launch, output), m)).map
            warps = warp_reads(m, asked.launch, output, operand)
    except NotModelled as error:
        reason = str(error)
    within = () if contained is None else tuple(number[n] for n in contained.within)
    engines = () if contained is None else contained.engines
    tile = None if asked.tile is None else operand_tile(m, asked.tile)
    return MapAnalysis(m, found, tile, by_thread, warps, within, engines, reason)
