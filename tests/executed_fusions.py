"""Fusions executed: the composed maps of each against the elements that the interpreter is seen to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.parser import parse_modules
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.indexing.composition.module_maps import composer_of, followed_maps
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import reader, relation
from hloproof.models.interpreter.observed import Recorder, observed_reads
from hloproof.models.interpreter.value import Array, Value, flat_index, indices, strides
from hloproof.models.maps.indexing_map import Direction


@dataclass(frozen=True)
class Comparison:
    """How maps and execution compare. `skipped` says why nothing, or only part, was compared exactly: a bound is only
    held to what is read."""

    difference: str = ""
    skipped: str = ""
    values_read: int = 0
    """Maps among those compared that hold runtime variables."""


def fusions(paths: list[Path]) -> Iterator[tuple[Path, Module, Instruction]]:
    for path in paths:
        text = path.read_text()
        if " fusion(" not in text:
            continue
        try:
            modules = parse_modules(text, str(path))
        except InputError:
            continue
        for module in modules:
            for computation in module.computations:
                for i in computation.instructions:
                    if i.opcode == "fusion":
                        yield path, module, i


def body_of(module: Module, fusion: Instruction) -> Computation:
    return module.by_name[fusion.attributes.computations()[0]]


def pairs(body: Computation) -> int:
    """Output elements times operand elements."""
    return _elements([body.root.shape]) * _elements([p.shape for p in body.parameters])


def _elements(shapes: list[Shape]) -> int:
    return sum(leaf.elements for s in shapes for _, leaf in leaves(s) if isinstance(leaf, ArrayShape))


def compared(module: Module, body: Computation, seed: int = 0) -> Comparison:
    """The composed maps from each output of a computation to its parameters, against an execution from a seed."""
    inner = replace(module, entry_name=body.name)
    recorder = Recorder(inner)
    recorder.seed = seed
    try:
        recorder.run(recorder.random_inputs())
    except NotModelled as reason:
        if not recorder.values:
            return Comparison(skipped=f"not executed: {reason}")
    try:
        results = list(_arrays(observed_reads(recorder)))
    except KeyError as missing:
        return Comparison(skipped=f"not executed up to {missing}")
    except NotModelled as reason:
        return Comparison(skipped=f"not executed: {reason}")
    composer, skipped, values_read = composer_of(inner), "", 0
    seen = _Seen(body, results)
    directions: list[tuple[Direction, list[Instruction]]] = [
        ("output-to-input", [body.root]),
        ("input-to-output", list(body.parameters)),
    ]
    for direction, starts in directions:
        for start in starts:
            for number in range(len(list(leaves(start.shape)))):
                sets = followed_maps(composer, body, start, direction, number)
                spoiled = [s.unknown or "a bound" for s in sets if s.unknown or s.kind == "bound"]
                skipped = skipped or "".join(spoiled[:1])
                values_read += sum(1 for s in sets for m in s.maps if m.runtime)
                difference = (
                    ""
                    if any(s.unknown for s in sets)
                    else seen.difference(start, number, sets, direction, recorder.providers(), bool(spoiled))
                )
                if difference:
                    return Comparison(f"{direction}: {difference}", skipped, values_read)
    return Comparison("", skipped, values_read)


class _Seen:
    """What each output element is seen to read."""

    def __init__(self, body: Computation, results: list[Array]) -> None:
        self.body, self.results = body, results
        self.leaves: dict[tuple[int, tuple[int, ...]], tuple[int, tuple[int, ...]]] = {}
        """Number of the first element and sizes of each array of the parameters."""
        count = 0
        for p in body.parameters:
            for place, leaf in leaves(p.shape):
                if isinstance(leaf, ArrayShape):
                    self.leaves[p.parameter_number or 0, place] = count, leaf.dimensions
                    count += leaf.elements

    def difference(
        self,
        start: Instruction,
        number: int,
        sets: tuple[OperandMaps, ...],
        direction: Direction,
        providers: Mapping[str, Array],
        bound: bool,
    ) -> str:
        """A pair of an output element and a parameter element of which only one side says that the one reads the
        other; "" when there is none. What a bound says and nobody reads is none."""
        stated: dict[int, dict[tuple[int, ...], int]] = {}
        mask = 0
        for s in sets:
            forward = direction == "output-to-input"
            place = list(leaves(start.shape))[number][0]
            output = number if forward else s.operand
            first, sizes = self.leaves[(s.operand, s.position) if forward else (start.parameter_number or 0, place)]
            mask |= (1 << first + prod(sizes)) - (1 << first)
            found = stated.setdefault(output, dict.fromkeys(indices(self.results[output].sizes), 0))
            steps = strides(sizes)
            for m in s.maps:
                for one, other in relation(m, reader(m, providers)):
                    out, index = (one, other) if forward else (other, one)
                    if out not in found or not all(0 <= i < n for i, n in zip(index, sizes, strict=True)):
                        return f"output {out} and {index} of an array of {sizes}"
                    found[out] |= 1 << first + flat_index(index, steps)
        for output, elements in stated.items():
            for (out, element), seen in zip(elements.items(), self.results[output].data, strict=True):
                wrong = (seen & mask) & ~element if bound else (seen & mask) ^ element
                if wrong:
                    bit = wrong.bit_length() - 1
                    verb = "reads, unstated," if seen >> bit & 1 else "is said to read"
                    return f"output {output} at {out} {verb} parameter element {bit}"
        return ""


def _arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)
