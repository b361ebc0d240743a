"""The indexing maps of an instruction of a module, as the command line and the server give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

from hloproof.models.dataflow.async_sugar import desugar, has_sugar
from hloproof.models.hlo.module import Computation, Instruction, Module, device_counts
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing import OperandMaps
from hloproof.models.indexing.composition.module_maps import composer_of, followed_maps, instruction_maps
from hloproof.models.indexing.composition.route import DIRECTIONS, OUTPUT_TO_INPUT
from hloproof.models.maps.text import print_map
from hloproof.queries.physical import in_memory_order

_Layout = Literal["logical", "physical"]


def layout_named(name: str) -> _Layout:
    """Raises LookupError with a sentence."""
    for known in get_args(_Layout):
        if known == name:
            return known  # type: ignore[no-any-return]
    raise LookupError(f"layout is logical or physical, not {name!r}")


def direction_named(name: str) -> str:
    """Raises LookupError with a sentence."""
    if name in DIRECTIONS:
        return name
    raise LookupError(f"direction is {' or '.join(DIRECTIONS)}, not {name!r}")


def find_instruction(module: Module, name: str) -> tuple[Computation, Instruction]:
    """The instruction of this name (with or without `%`), the entry's first; '' is the entry's root.

    Raises LookupError with suggestions.
    """
    if not name:
        return module.entry, module.entry.root
    plain = name.removeprefix("%")
    for computation in (module.entry, *module.computations):
        found = computation.by_name.get(plain)
        if found is not None:
            return computation, found
    names = [i.name for c in module.computations for i in c.instructions]
    near = get_close_matches(plain, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise LookupError(f"no instruction {plain!r} in module {module.name!r}{hint}")


def answer(
    module: Module,
    instruction: str = "",
    direction: str = OUTPUT_TO_INPUT,
    output: int = 0,
    input: int = 0,
    fused: bool = False,
    layout: _Layout = "logical",
) -> tuple[OperandMaps, ...]:
    """The maps of one output, or of one operand, of an instruction; with `layout` physical between indices whose
    dimensions are in the order of memory.

    A fusion's maps are composed through its computation; of maps that are one relation one is given. `fused` goes on:
    from the output through the producers to the parameters of the computation, or through the users to its root. Number
    0 has no maps where there are no outputs, or no operands, at all. Raises LookupError for another name, output or
    operand that is not there, and NotModelled.
    """
    module = desugar(module) if has_sugar(module) else module
    computation, found = find_instruction(module, instruction)
    replicas, partitions = device_counts(module)
    composer, devices = composer_of(module, replicas, partitions), replicas * partitions
    by_output = fused or direction == OUTPUT_TO_INPUT
    what, number, count = (
        ("output", output, len(list(leaves(found.shape)))) if by_output else ("operand", input, len(found.operands))
    )
    if not 0 <= number < max(count, 1):
        raise LookupError(f"no {what} {number}: there {'is' if count == 1 else 'are'} {count}")
    if not count:
        return ()
    if direction == OUTPUT_TO_INPUT:
        follow = followed_maps if fused else instruction_maps
        sets = follow(composer, computation, found, "output-to-input", output)
    elif fused:
        sets = followed_maps(composer, computation, found, "input-to-output", output)
    else:
        sets = instruction_maps(composer, computation, found, "input-to-output", input)
    if layout == "physical":
        sets = in_memory_order(sets, computation, found, direction, number, fused)
    return _different(sets, devices)


def _different(sets: Sequence[OperandMaps], devices: int) -> tuple[OperandMaps, ...]:
    """The sets without maps that are the same relation as another of their set."""
    if all(len(s.maps) < 2 for s in sets):
        return tuple(sets)
    from hloproof.claims.maps.dedup import deduplicate

    out = []
    for s in sets:
        found = deduplicate(s.maps, tables=s.tables, devices=devices) if len(s.maps) > 1 else None
        kept = s.maps if found is None else found.kept_maps()
        tables = s.tables if found is None or not s.tables else tuple(s.tables[n] for n in found.kept)
        out.append(replace(s, maps=kept, tables=tables))
    return tuple(out)


def as_json(sets: Sequence[OperandMaps]) -> list[dict[str, Any]]:
    """One entry per array; `position` says where it lies in a tuple, `unknown` why there are no maps."""
    out: list[dict[str, Any]] = []
    for s in sets:
        entry: dict[str, Any] = {"operand": s.operand, "kind": s.kind, "maps": [print_map(m) for m in s.maps]}
        if s.position:
            entry["position"] = list(s.position)
        if s.unknown:
            entry["unknown"] = s.unknown
        out.append(entry)
    return out
