"""The modules of a folder as programs that the installed compiler may be given: for one device, before layouts and
fusion, without promises about their data, and small enough to run in the interpreter.

What is larger is made smaller: its sizes are exchanged for small ones, equal ones for equal ones, and products for
products.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Final

from hloproof.fuzz.compiler.corpus_shapes import LEFT_OPEN, called, settled, without_layouts
from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import NON_SEMANTIC, Attributes, ComputationRef, Window
from hloproof.models.hlo.inference.infer import ShapeError
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, having
from hloproof.models.hlo.parser import each_module
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape, leaves

NAME: Final = "corpus"
"""Of the modules: by it a case is known as one of these."""
LARGEST: Final = 6_000
"""Elements that are written or read by all instructions, each once."""
LONGEST: Final = 250
"""Instructions: the maps of all are composed for every case."""
_CAPS: Final = (8, 6, 5, 4, 3, 2)
_LONGEST_LOOP: Final = 5
_NOT_ALONE: Final = COLLECTIVES | having("opaque") | having("token") | having("link") | {
    "partition-id", "replica-id", "rng", "rng-bit-generator", "rng-get-and-update-state", "cholesky",
    "set-dimension-size", "custom-call", "infeed", "outfeed", "domain", "copy-start", "copy-done",
}  # fmt: skip
"""Several devices; effects; numbers that are not specified."""
_PROMISES: Final = NON_SEMANTIC | {
    "unique_indices",
    "indices_are_sorted",
    "algorithm",
    "sparsity_config",
    "is_composite",
}
"""What nobody reads, and what random arguments need not keep."""


@dataclass(frozen=True)
class Corpus:
    """The programs, those of fewest instructions first, and what the others are left out for."""

    programs: tuple[Module, ...]
    read: int
    left_out: Counter[str]

    def __str__(self) -> str:
        reasons = ", ".join(f"{n} {reason}" for reason, n in self.left_out.most_common())
        return f"{self.read} modules read, {len(self.programs)} programs; left out: {reasons or 'none'}"


@cache
def corpus(folder: Path) -> Corpus:
    """What the files *.hlo and *.txt of the folder and below hold."""
    programs: dict[tuple[Computation, ...], Module] = {}
    read, left_out = 0, Counter[str]()
    for module in _modules(folder):
        read += 1
        if isinstance(module, InputError):
            left_out["cannot be read"] += 1
            continue
        try:
            found = program(module)
        except LeftOut as reason:
            left_out[str(reason)] += 1
            continue
        if found.computations in programs:
            left_out["the same as another"] += 1
        programs.setdefault(found.computations, found)
    in_order = sorted(programs.values(), key=lambda m: sum(len(c.instructions) for c in m.computations))
    return Corpus(tuple(in_order), read, left_out)


def _modules(folder: Path) -> Iterator[Module | InputError]:
    for file in sorted(f for f in folder.rglob("*") if f.suffix in (".hlo", ".txt") and f.is_file()):
        yield from each_module(file.read_text(errors="replace"), file.name)


class LeftOut(Exception):
    """A module is no program for one device, or too large."""


def program(module: Module) -> Module:
    """The module as a program. Raises LeftOut."""
    reached = _reached(module)
    for name in reached:
        for i in module.by_name[name].instructions:
            if i.opcode in _NOT_ALONE:
                raise LeftOut(i.opcode)
    entry = _with_array_parameters(module.entry)
    module = replace(module, computations=tuple(entry if c.name == entry.name else c for c in module.computations))
    if any(
        isinstance(leaf, ArrayShape) and (leaf.is_dynamic or -1 in leaf.dimensions)
        for name in reached
        for i in module.by_name[name].instructions
        for _, leaf in leaves(i.shape)
    ):
        raise LeftOut("sizes that are not fixed")
    conditions = {name for c in module.computations for i in c.instructions for name in called(i, "condition")}
    if sum(len(module.by_name[name].instructions) for name in reached) > LONGEST:
        raise LeftOut("too many instructions")
    made = tuple(_plain(c, c.name in conditions) for c in module.computations if c.name in reached)
    plain = Module(NAME, made, module.entry_name)
    return _small(plain)


def _with_array_parameters(entry: Computation) -> Computation:
    """Parameters that are tuples are made of one parameter for each array. Raises LeftOut."""
    made: list[Instruction] = []
    numbers = {p.name: p.parameter_number or 0 for p in entry.parameters}
    first = dict.fromkeys(numbers, 0)
    for p in entry.parameters:
        arrays = [leaf for _, leaf in leaves(p.shape)]
        if not all(isinstance(leaf, ArrayShape) for leaf in arrays):
            raise LeftOut("parameters are no arrays")
        for other, number in numbers.items():
            first[other] += len(arrays) if number > numbers[p.name] else 0

    def parts(name: str, shape: Shape, number: int) -> int:
        """The instructions that make a value of this shape; the number of the next parameter."""
        if not isinstance(shape, TupleShape):
            made.append(Instruction(name, "parameter", shape, parameter_number=number))
            return number + 1
        names = [f"{name}.{k}" for k in range(len(shape.elements))]
        for own, element in zip(names, shape.elements, strict=True):
            number = parts(own, element, number)
        made.append(Instruction(name, "tuple", shape, tuple(names)))
        return number

    for i in entry.instructions:
        if i.opcode == "parameter":
            parts(i.name, i.shape, first[i.name])
        else:
            made.append(i)
    if len({i.name for i in made}) < len(made):
        raise LeftOut("names that are taken")
    return replace(entry, instructions=tuple(made))


def _reached(module: Module) -> set[str]:
    found, todo = set[str](), [module.entry_name]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [n for i in module.by_name[name].instructions for n in i.attributes.computations()]
    return found


def _plain(c: Computation, condition: bool) -> Computation:
    made = tuple(_short(_plain_instruction(i, c)) if condition else _plain_instruction(i, c) for i in c.instructions)
    return Computation(c.name, made, c.root_name)


def _plain_instruction(i: Instruction, c: Computation) -> Instruction:
    kept = Attributes(tuple(p for p in i.attributes.pairs if p[0] not in _PROMISES))
    shape = without_layouts(i.shape)
    if i.opcode == "fusion":
        (body,) = called(i, "calls")
        return replace(i, opcode="call", shape=shape, attributes=Attributes((("to_apply", ComputationRef(body)),)))
    if i.opcode == "bitcast":
        operand = c.operand_shapes(i)[0]
        same = isinstance(operand, ArrayShape) and isinstance(shape, ArrayShape)
        if not same or operand.element_type != shape.element_type or operand.elements != shape.elements:  # type: ignore[union-attr]
            raise LeftOut("a bitcast that is no reshape")
        return replace(i, opcode="reshape", shape=shape, attributes=Attributes())
    if i.opcode == "constant" and "{" not in (i.literal or "") and isinstance(shape, ArrayShape) and shape.dimensions:
        return replace(i, shape=shape, literal=LEFT_OPEN, attributes=kept)
    if i.opcode == "sort":
        kept = Attributes((*(p for p in kept.pairs if p[0] != "is_stable"), ("is_stable", True)))
    return replace(i, shape=shape, attributes=kept)


def _short(i: Instruction) -> Instruction:
    """A bound of a loop that is not longer."""
    literal = i.literal or ""
    return replace(i, literal=str(_LONGEST_LOOP)) if literal.isdigit() and int(literal) > _LONGEST_LOOP else i


def _small(module: Module) -> Module:
    """Raises LeftOut where no way to make it smaller fits."""
    for size in (None, *(_smaller(module, cap) for cap in _CAPS)):
        try:
            found = settled(module, size) if size is not None else settled(module)
        except (ShapeError, TypeError):
            continue
        if cost(found) <= LARGEST:
            return found
    raise LeftOut("no small sizes are found")


def _smaller(module: Module, cap: int) -> Callable[[int], int]:
    """Sizes above `cap` by smaller ones: a product of two others by their product, the others by one of a few."""
    sizes = sorted(
        {
            n
            for c in module.computations
            for i in c.instructions
            for _, leaf in leaves(i.shape)
            if isinstance(leaf, ArrayShape)
            for n in leaf.dimensions
        }
    )
    small: dict[int, int] = {}
    for n in sizes:
        if n <= cap:
            small[n] = n
            continue
        factors = next((a for a in small if 1 < a < n and n % a == 0 and n // a in small), None)
        if factors is not None and small[factors] * small[n // factors] <= 8 * cap:
            small[n] = small[factors] * small[n // factors]
        else:
            small[n] = max(1, cap - sum(m > cap for m in small) % 3)
    return lambda n: small.get(n, min(n, cap))


def cost(module: Module) -> int:
    """Elements that are written, and read by folds."""
    return sum(_cost(i, c) for c in module.computations for i in c.instructions)


def _cost(i: Instruction, c: Computation) -> int:
    own = sum(leaf.elements for _, leaf in leaves(i.shape) if isinstance(leaf, ArrayShape))
    operands = [s for s in c.operand_shapes(i) if isinstance(s, ArrayShape)]
    window = i.attributes.get("window")
    if i.opcode == "dot":
        return own * prod(operands[0].dimensions[d] for d in i.attributes.integers("lhs_contracting_dims"))
    if i.opcode == "convolution":
        return own * max(1, operands[1].elements)
    if isinstance(window, Window):
        return own * prod(d.size for d in window.dimensions)
    return own + (operands[0].elements if i.opcode == "reduce" else 0)


def is_corpus(text: str) -> bool:
    return re.match(rf"HloModule {NAME}\b", text) is not None
