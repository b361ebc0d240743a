"""Target `ops`: the definition and the maps of an operation against what the interpreter is seen to read.

The operation is run on tagged elements, so that every output element tells which operand elements went into it and how
often. Indices and sizes that are read at run time are given random numbers, out of bounds among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from models.errors import NotModelled
from models.hlo.attributes import ReplicaGroups
from models.hlo.module import Module, Operation
from models.hlo.parser import parse_module
from models.hlo.shape import ArrayShape, leaves
from models.indexing import input_to_output, output_to_input
from models.indexing.collective import READER
from models.indexing.map_set import OperandMaps
from models.indexing_map import IndexingMap
from models.interpreter.collective import Devices
from models.interpreter.counted import Counted, reads, tags
from models.interpreter.element_type import highest, lowest
from models.interpreter.maps import Reader, reader, relation_with_positions
from models.interpreter.run import Machine
from models.interpreter.value import Array, Value, flat_index, indices, strides
from verify.definitions import define
from verify.fuzz.oracle_shapes import examine_shapes
from verify.fuzz.plain_maps import not_plain
from verify.fuzz.predicate import count_reads
from verify.fuzz.target import Failure

Index = tuple[int, ...]
Reads = Counter[tuple[Index, Index, int]]
"""(output index, operand index, device) and how often."""

BITS: Final = 12
TOO_LARGE: Final = 4000
"""Pairs of an output and an operand element that are looked at; larger operations are passed over."""

FORWARDS: Final = "output-to-input"
BACKWARDS: Final = "input-to-output"

UNCOUNTED: Final = frozenset({"select-and-scatter", "sort", "topk", "fft", "cholesky", "triangular-solve",
                              "batch-norm-training", "batch-norm-inference", "batch-norm-grad", "scatter"})  # fmt: skip
"""Opcodes for which only whether an element is read is compared, not how often."""


def is_counted(op: Operation) -> bool:
    """Whether the tags can tell how often an element is read."""
    return op.opcode not in UNCOUNTED and not (op.opcode == "reduce" and len(op.operands) > 2)


def index_operands(op: Operation) -> frozenset[int]:
    """The operands that say where to read or write."""
    match op.opcode:
        case "dynamic-slice":
            return frozenset(range(1, len(op.operands)))
        case "dynamic-update-slice":
            return frozenset(range(2, len(op.operands)))
        case "gather":
            return frozenset({1})
        case "scatter":
            return frozenset({len(op.operands) // 2})
        case "ragged-dot":
            return frozenset({2})
    return frozenset()


@dataclass
class Observed:
    """One operation, its run-time indices, and what was read: by device of the reader, output and operand."""

    op: Operation
    devices: int
    groups: list[list[int]]
    indices: dict[int, Array]
    seen: dict[tuple[int, int, int], Reads]
    defined: dict[tuple[int, int, int], Reads] = field(default_factory=dict)
    """The same as the definitions state it."""


def arrays_of(value: Value) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    return [a for v in value for a in arrays_of(v)] if isinstance(value, tuple) else []


def observe(module: Module, seed: int) -> Observed:
    """Runs the entry's root on tagged parameters. Raises NotModelled where the interpreter does."""
    devices = max(1, module.attributes.integer("replica_count", 1))
    op = Operation.of(module.entry.root, module.entry, devices)
    chosen = index_operands(op)
    random = Random(seed)
    order = [module.entry.by_name[o].parameter_number or 0 for o in module.entry.root.operands]
    counts = [s.elements if isinstance(s, ArrayShape) else 0 for s in op.operands]
    data = [0 if k in chosen else n for k, n in enumerate(counts)]
    total = sum(data)
    all_tags = tags(total * devices, BITS)
    given: list[tuple[Value, ...]] = []
    fixed = {k: _random_indices(op, k, random) for k in sorted(chosen)}
    for device in range(devices):
        base, values = device * total, []
        for k, s in enumerate(op.operands):
            if not isinstance(s, ArrayShape):
                raise NotModelled("operands that are not arrays")
            if k in fixed:
                values.append(fixed[k])
                continue
            values.append(Array(s.element_type, s.dimensions, all_tags[base : base + counts[k]]))
            base += counts[k]
        by_number: dict[int, Value] = dict(zip(order, values, strict=True))
        given.append(tuple(by_number[n] for n in range(len(by_number))))
    results = Machine(module, Counted(union=not is_counted(op)), Devices(devices), seed).run(given)
    seen: dict[tuple[int, int, int], Reads] = {}
    for reader_id, result in enumerate(results):
        for output, array in enumerate(arrays_of(result)):
            for k in range(len(op.operands)):
                seen[reader_id, output, k] = Counter()
            _collect(op, array, output, reader_id, (devices, total, data), seen)
    return Observed(op, devices, _groups(op, devices), fixed, seen)


def _collect(
    op: Operation, array: Array, output: int, reader_id: int, layout: tuple[int, int, list[int]],
    seen: dict[tuple[int, int, int], Reads],
) -> None:
    devices, total, data = layout
    where = [
        (device, k, index)
        for device in range(devices)
        for k, s in enumerate(op.operands)
        if data[k] and isinstance(s, ArrayShape)
        for index in indices(s.dimensions)
    ]
    for out, element in zip(indices(array.sizes), array.data, strict=True):
        if not element:
            continue
        for (device, k, index), count in zip(where, reads(element, total * devices, BITS), strict=True):
            if count:
                seen[reader_id, output, k][out, index, device] += count


def _random_indices(op: Operation, operand: int, random: Random) -> Array:
    shape = op.operands[operand]
    assert isinstance(shape, ArrayShape)
    low, high = max(-2, lowest(shape.element_type)), min(6, highest(shape.element_type))
    if op.opcode == "ragged-dot":
        low, high = 0, 2
    extremes = [lowest(shape.element_type), highest(shape.element_type)]
    data = [
        random.choice(extremes) if op.opcode != "ragged-dot" and random.random() < 0.1 else random.randint(low, high)
        for _ in range(shape.elements)
    ]
    return Array(shape.element_type, shape.dimensions, data)


def _groups(op: Operation, devices: int) -> list[list[int]]:
    written = op.attributes.get("replica_groups")
    named = [list(g) for g in written.groups if g] if isinstance(written, ReplicaGroups) else []
    return named or [list(range(devices))]


def examine(text: str, seed: int | None = None) -> tuple[str, ...]:
    """Raises Failure where the definition or a map set and the interpreter disagree; answers the opcode."""
    module = parse_module(text)
    root = module.entry.root
    sizes = [s.elements for _, s in leaves(root.shape) if isinstance(s, ArrayShape)]
    into = [s.elements for o in root.operands for _, s in leaves(module.entry.by_name[o].shape)
            if isinstance(s, ArrayShape)]  # fmt: skip
    if sum(sizes) * sum(into) > TOO_LARGE:
        return (f"{root.opcode} (too large)",)
    found = observe(module, len(text) if seed is None else seed)
    covered = [root.opcode]
    for (device, output, operand), seen in found.seen.items():
        group = next((g for g in found.groups if device in g), [device])
        covered.append(_against_definition(found, device, output, operand, seen, group))
    for device in range(found.devices):
        covered += _against_maps(found, device)
    covered += examine_shapes(found.op, len(text))
    return tuple(dict.fromkeys(covered))


def _against_definition(
    found: Observed, device: int, output: int, operand: int, seen: Reads, group: list[int]
) -> str:
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
    update lands there."""
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
    group = next((g for g in found.groups if device in g), [device])
    place = device if op.opcode == "collective-permute" else group.index(device)
    what = f"{op.opcode}: {direction} maps between output {output} and operand {operand}"
    is_regions = op.opcode == "pad" and operand == 1
    for m in s.maps:
        why = not_plain(m, is_regions)
        if is_regions and not relation_with_positions(m):
            why = "a region without places"
        if why:
            raise Failure(f"{what} are not plain", why)
    stated = _of_maps(found, s.maps, group, device, place, direction == FORWARDS)
    kind = "bound" if _settled_at_run_time(op, output, operand) else s.kind
    seen = found.seen[device, output, operand]
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


