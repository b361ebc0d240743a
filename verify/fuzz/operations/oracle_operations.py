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
from functools import partial
from random import Random
from typing import Final

from hloproof.definitions import define
from hloproof.fuzz.operations.generators.control import REFUSED
from hloproof.fuzz.operations.generators.operations import unshaped_operations
from hloproof.fuzz.operations.malformed import examine_malformed, refused, run_with
from hloproof.fuzz.operations.oracle_definitions import examine_definitions
from hloproof.fuzz.operations.oracle_indices import examine_indices
from hloproof.fuzz.operations.plain_maps import not_plain
from hloproof.fuzz.operations.predicate import count_reads
from hloproof.fuzz.operations.tagged_run import Observed, Reads, Source, Tagged, is_counted, observe, random_indices
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import Index
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import Reader, reader, relation_with_positions
from hloproof.models.interpreter.value import flat_index, strides
from hloproof.models.maps.indexing_map import READER, IndexingMap

TOO_LARGE: Final = 4000
"""Pairs of an output and an operand element that are looked at; larger operations are passed over, other than
bitcasts, which are cheap."""

FORWARDS: Final = "output-to-input"
BACKWARDS: Final = "input-to-output"


def examine(text: str, seed: int | None = None) -> tuple[str, ...]:
    """Raises Failure where the definition or a map set and the interpreter disagree; answers the opcode."""
    module = parse_module(text)
    opcode = module.entry.root.opcode
    random = Random(len(text) if seed is None else seed)
    tagged = Tagged(module, random.randint(0, 99))
    if module.name == REFUSED:
        refused(f"{opcode}: runs what has no meaning", partial(run_with, tagged), tagged.op)
        return (f"{opcode}: refused by the interpreter",)
    pairs = sum(s.elements for s in tagged.outputs) * sum(s.elements for s in tagged.arrays.values())
    if pairs > TOO_LARGE and opcode != "bitcast":
        return (f"{opcode} (too large)",)
    found = observe(tagged, random_indices(tagged.op, random))
    covered = {opcode: None}
    for device in range(tagged.across.count):
        for output in range(len(tagged.outputs)):
            for source in tagged.arrays:
                covered[_against_definition(found, device, output, source)] = None
    for device in range(tagged.across.count):
        for output in range(len(tagged.outputs)):
            covered |= _against_maps(found, device, FORWARDS, output)
        for operand in range(len(tagged.op.operands)):
            covered |= _against_maps(found, device, BACKWARDS, operand)
    examine_definitions(found)
    examine_indices(found)
    examine_malformed(tagged)
    return tuple(covered)


def _against_definition(found: Observed, device: int, output: int, source: Source) -> str:
    """Where nothing can be seen what is defined is what maps are held to."""
    op, group, place = found.tagged.op, found.groups[device], (device, output, source)
    try:
        definition = define(op, output, *source)
    except NotModelled as reason:
        raise Failure(f"{op.opcode}: no definition", str(reason)) from reason

    def read(k: int, index: Index) -> int:
        x = found.indices[k]
        return int(x.data[flat_index(index, strides(x.sizes))])

    stated: Reads = Counter()
    for (d, x, q), count in count_reads(definition, read, group.index(device)).items():
        stated[d, x, group[q] if definition.group_size else device] += count
    found.defined[place] = stated
    if place not in found.seen:
        found.seen[place] = stated
        return f"{op.opcode}: definition of what does not show"
    kind = "bound" if _settled_at_run_time(op, output, source[0]) else definition.kind
    what = f"{op.opcode}: the definition of output {output} from operand {source}"
    _compare(what, kind, stated, found.seen[place], is_counted(op) and definition.multiplicity)
    return f"{op.opcode}: definition {definition.kind}"


def _settled_at_run_time(op: Operation, output: int, operand: int) -> bool:
    """Of a scatter of several arrays, whether an output depends on another array at an element follows from whether an
    update lands there; of a fold of several, whether it depends on another initial value, from whether the body is
    run."""
    arrays = len(op.operands) // 2
    if op.opcode in ("reduce", "reduce-window") and operand >= arrays:
        return operand != arrays + output
    return op.opcode == "scatter" and len(op.operands) > 3 and operand != output


def _against_maps(found: Observed, device: int, direction: str, start: int) -> dict[str, None]:
    """The maps from this output, or to this operand."""
    op, forwards = found.tagged.op, direction == FORWARDS
    try:
        sets = output_to_input(op, start) if forwards else input_to_output(op, start)
    except NotModelled as reason:
        raise Failure(f"{op.opcode}: no {direction} maps", str(reason)) from reason
    named = [(start, (s.operand, s.position)) if forwards else (s.operand, (start, s.position)) for s in sets]
    for (own, output, source), seen in found.seen.items():
        is_asked = own == device and (output if forwards else source[0]) == start
        if is_asked and seen and (output, source) not in named:
            said = f"output {output} from operand {source}: {op}"
            raise Failure(f"{op.opcode}: {direction} maps leave out an array", said)
    return dict.fromkeys(
        _against_set(found, device, direction, s, output, source)
        for s, (output, source) in zip(sets, named, strict=True)
    )


def _against_set(found: Observed, device: int, direction: str, s: OperandMaps, output: int, source: Source) -> str:
    op, place = found.tagged.op, (device, output, source)
    what = f"{op.opcode}: {direction} maps between output {output} and operand {source}"
    is_regions = op.opcode == "pad" and source[0] == 1
    for m in s.maps:
        why = not_plain(m, op)
        if is_regions and not relation_with_positions(m):
            why = "a region without places"
        if why:
            raise Failure(f"{what} are not plain", f"{why}: {m}")
    stated, defined = _of_maps(found, s.maps, device, direction == FORWARDS), define(op, output, *source)
    kind = "bound" if _settled_at_run_time(op, output, source[0]) else s.kind
    if s.kind != defined.kind and found.defined[place]:
        raise Failure(f"{what} are of another kind than the definition", f"{s.kind}, not {defined.kind}")
    _compare(what, kind, stated, found.seen[place], is_counted(op) and defined.multiplicity)
    if kind == "bound" and (extra := [k for k in stated if k not in found.defined[place]]):
        raise Failure(f"{what} promise less than is defined", str(extra[0]))
    return f"{op.opcode}: maps {s.kind}"


def _of_maps(found: Observed, maps: Sequence[IndexingMap], device: int, forwards: bool) -> Reads:
    group, providers = found.groups[device], {f"operand({k})": x for k, x in found.indices.items()}
    place = group.index(device)
    stated: Reads = Counter()
    for m in maps:
        if any(r.provider == READER and place not in r.interval for r in m.runtime):
            continue  # the reader's own place is not clamped: the map is not about this reader
        plain = reader(m, providers)

        def read(k: int, dims: Index, ranges: Index, m: IndexingMap = m, plain: Reader = plain) -> int:
            return place if m.runtime[k].provider == READER else plain(k, dims, ranges)

        for (dims, results, positions), count in relation_with_positions(m, read).items():
            other = group[positions[0]] if positions else device
            stated[(dims, results, other) if forwards else (results, dims, other)] += count
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
