"""Target `ops`: the definition and the maps of an operation against what the interpreter is seen to read.

The operation is run on tagged elements, so that every output element tells which operand elements went into it and how
often. Indices and sizes that are read at run time are given random numbers, out of bounds among them.

What reads do not show is looked at by the other parts: what indices change (`oracle_indices`), what definitions say
besides their predicates (`oracle_definitions`), and what has no meaning (`malformed`);
numbers by target `recorded`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.generators.control import OPCODES as CONTROL
from hloproof.fuzz.operations.generators.operations import unshaped_operations
from hloproof.fuzz.operations.generators.runs import REFUSED, RUN_ONLY
from hloproof.fuzz.operations.malformed import examine_malformed
from hloproof.fuzz.operations.oracle_bitcast import examine_bitcast
from hloproof.fuzz.operations.oracle_control import examine_control
from hloproof.fuzz.operations.oracle_definitions import examine_definitions
from hloproof.fuzz.operations.oracle_indices import examine_indices
from hloproof.fuzz.operations.plain_maps import not_plain
from hloproof.fuzz.operations.predicate import count_reads
from hloproof.fuzz.operations.run_only import examine_run
from hloproof.fuzz.operations.tagged_run import Observed, Reads, Tagged, is_counted, observe, random_indices
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, Index, leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.collective import READER
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import Reader, reader, relation_with_positions
from hloproof.models.interpreter.value import flat_index, strides
from hloproof.models.maps.indexing_map import IndexingMap

TOO_LARGE: Final = 4000
"""Pairs of an output and an operand element that are looked at; larger operations are passed over."""

FORWARDS: Final = "output-to-input"
BACKWARDS: Final = "input-to-output"


def examine(text: str, seed: int | None = None) -> tuple[str, ...]:
    """Raises Failure where the definition or a map set and the interpreter disagree; answers the opcode."""
    module = parse_module(text)
    root = module.entry.root
    if module.name in (RUN_ONLY, REFUSED):
        return examine_run(module)
    if root.opcode == "bitcast":
        return examine_bitcast(Operation.of(root, module.entry))
    if root.opcode in CONTROL:
        return examine_control(module)
    sizes = [s.elements for _, s in leaves(root.shape) if isinstance(s, ArrayShape)]
    into = [
        s.elements for o in root.operands for _, s in leaves(module.entry.by_name[o].shape) if isinstance(s, ArrayShape)
    ]
    if sum(sizes) * sum(into) > TOO_LARGE:
        return (f"{root.opcode} (too large)",)
    random = Random(len(text) if seed is None else seed)
    tagged = Tagged(module, random.randint(0, 99))
    found = observe(tagged, random_indices(tagged.op, random))
    covered = [root.opcode]
    for (device, output, operand), seen in found.seen.items():
        covered.append(_against_definition(found, device, output, operand, seen, found.groups[device]))
    for device in range(found.across.count):
        covered += _against_maps(found, device)
    examine_definitions(tagged, found)
    examine_indices(tagged, found)
    examine_malformed(tagged)
    return tuple(dict.fromkeys(covered))


def _against_definition(found: Observed, device: int, output: int, operand: int, seen: Reads, group: list[int]) -> str:
    """Where nothing can be seen, of operands that say where to read, what is defined is what maps are held to."""
    op = found.op
    try:
        definition = define(op, output, operand)
    except NotModelled as reason:
        raise Failure(f"{op.opcode}: no definition", str(reason)) from reason

    def read(k: int, index: Index) -> int:
        x = found.indices[k]
        return int(x.data[flat_index(index, strides(x.sizes))])

    own = group.index(device)
    stated = count_reads(definition, read, own)
    by_device: Reads = Counter()
    for (d, x, q), count in stated.items():
        by_device[d, x, group[q] if definition.group_size else device] += count
    found.defined[device, output, operand] = by_device
    if operand in found.indices:
        found.seen[device, output, operand] = by_device
        return f"{op.opcode}: definition of indices"
    what = f"{op.opcode}: the definition of output {output} from operand {operand}"
    kind = "bound" if _settled_at_run_time(op, output, operand) else definition.kind
    _compare(what, kind, by_device, seen, _counted(op, output, operand))
    return f"{op.opcode}: definition {definition.kind}"


def _counted(op: Operation, output: int, operand: int) -> bool:
    """Whether how often an element is read can be observed (not so for initial values), and is told by the tags."""
    try:
        return is_counted(op) and define(op, output, operand).multiplicity
    except NotModelled:
        return False


def _settled_at_run_time(op: Operation, output: int, operand: int) -> bool:
    """Of a scatter of several arrays, whether an output depends on another array at an element follows from whether an
    update lands there; of a fold of several, whether it depends on another initial value, from whether the body is
    run."""
    arrays = len(op.operands) // 2
    if op.opcode in ("reduce", "reduce-window") and operand >= arrays:
        return operand != arrays + output
    return op.opcode == "scatter" and len(op.operands) > 3 and operand != output


def _against_maps(found: Observed, device: int) -> list[str]:
    op, covered = found.op, []
    outputs = sorted({o for _, o, _ in found.seen})
    pairs = [(output, operand) for output in outputs for operand in range(len(op.operands))]
    for direction, starts in ((FORWARDS, outputs), (BACKWARDS, range(len(op.operands)))):
        for start in starts:
            try:
                sets = output_to_input(op, start) if direction == FORWARDS else input_to_output(op, start)
            except NotModelled as reason:
                raise Failure(f"{op.opcode}: no {direction} maps", str(reason)) from reason
            for s in sets:
                pair = (start, s.operand) if direction == FORWARDS else (s.operand, start)
                covered.append(_against_set(found, device, direction, s, *pair))
            named = {(start, s.operand) if direction == FORWARDS else (s.operand, start) for s in sets}
            for output, operand in pairs:
                left_out = (output if direction == FORWARDS else operand) == start and (output, operand) not in named
                if left_out and found.seen[device, output, operand]:
                    said = f"output {output} from operand {operand}: {op}"
                    raise Failure(f"{op.opcode}: {direction} maps leave out an array", said)
    return covered


def _against_set(found: Observed, device: int, direction: str, s: OperandMaps, output: int, operand: int) -> str:
    op = found.op
    group = found.groups[device]
    place = group.index(device)
    what = f"{op.opcode}: {direction} maps between output {output} and operand {operand}"
    is_regions = op.opcode == "pad" and operand == 1
    for m in s.maps:
        why = not_plain(m, op.opcode)
        if is_regions and not relation_with_positions(m):
            why = "a region without places"
        if why:
            raise Failure(f"{what} are not plain", why)
    stated = _of_maps(found, s.maps, group, device, place, direction == FORWARDS)
    kind = "bound" if _settled_at_run_time(op, output, operand) else s.kind
    seen, defined = found.seen[device, output, operand], define(op, output, operand).kind
    if s.kind != defined and found.defined[device, output, operand]:
        raise Failure(f"{what} are of another kind than the definition", f"{s.kind}, not {defined}")
    _compare(what, kind, stated, seen, _counted(op, output, operand))
    if kind == "bound":
        extra = [k for k in stated if k not in found.defined[device, output, operand]]
        if extra:
            raise Failure(f"{what} promise less than is defined", str(extra[0]))
    return f"{op.opcode}: maps {s.kind}"


def _of_maps(
    found: Observed, maps: Sequence[IndexingMap], group: list[int], device: int, place: int, forwards: bool
) -> Reads:
    providers = {f"operand({k})": x for k, x in found.indices.items()}
    stated: Reads = Counter()
    for m in maps:
        if any(r.provider == READER and place not in r.interval for r in m.runtime):
            continue  # the reader's own place is not clamped: the map is not about this reader
        plain = reader(m, providers)

        def read(k: int, dims: Index, ranges: Index, m: IndexingMap = m, plain: Reader = plain) -> int:
            return place if m.runtime[k].provider == READER else plain(k, dims, ranges)

        for (dims, results, positions), count in relation_with_positions(m, read).items():
            source = group[positions[0]] if positions else device
            key = (dims, results, source) if forwards else (results, dims, source)
            stated[key] += count
    return stated


def _compare(what: str, kind: str, stated: Reads, seen: Reads, exact: bool) -> None:
    """Raises Failure unless what is stated is what was seen, or covers it where only a bound is stated."""
    missing = [k for k in seen if k not in stated]
    if missing:
        d, x, q = missing[0]
        where = f"output {list(d)} reads {list(x)} of device {q}"
        raise Failure(f"{what} misses a read", f"{where}; {len(missing)} missing")
    if kind == "bound":
        return
    extra = [k for k in stated if k not in seen]
    if extra:
        d, x, q = extra[0]
        raise Failure(f"{what} states a read that is none", f"output {list(d)}, element {list(x)} of device {q}")
    if exact:
        for key, count in stated.items():
            if seen[key] != count:
                raise Failure(f"{what} counts differently", f"{key}: stated {count} times, read {seen[key]} times")


TARGET = Target(
    "ops",
    "definitions and maps of one operation against what the interpreter is seen to read",
    unshaped_operations,
    examine,
    ".hlo",
)
