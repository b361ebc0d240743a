"""The indexing maps of an instruction of a module, as the command line and the server give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from models.hlo.module import Computation, Instruction, Module, Operation
from models.indexing import OperandMaps, input_to_output, output_to_input
from models.indexing_map import IndexingMap
from models.map_text import print_map
from verify.devices import device_counts
from verify.indexing_directions import OUTPUT_TO_INPUT


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
    module: Module, instruction: str = "", direction: str = OUTPUT_TO_INPUT, output: int = 0, input: int = 0,
    fused: bool = False,
) -> tuple[OperandMaps, ...]:
    """The maps of one output, or of one operand, of an instruction.

    A fusion's maps are composed through its computation. `fused` goes on through the producers, to the parameters of
    the computation. Raises LookupError for a name, output or operand that is not there, and NotModelled.
    """
    computation, found = find_instruction(module, instruction)
    if fused or found.opcode == "fusion":
        return _composed(module, computation, found, direction, output, input, fused)
    operation = Operation.of(found, computation, *device_counts(module))
    if direction == OUTPUT_TO_INPUT:
        _check_number("output", output, _outputs(operation))
        sets = output_to_input(operation, output)
    else:
        _check_number("operand", input, len(operation.operands))
        sets = input_to_output(operation, input)
    name = _provider_names(computation, found)
    return tuple(replace(s, maps=tuple(_named(m, name) for m in s.maps)) for s in sets)


def _composed(
    module: Module, computation: Computation, instruction: Instruction, direction: str, output: int, input: int,
    fused: bool,
) -> tuple[OperandMaps, ...]:
    raise NotImplementedError("composition")


def as_json(sets: Sequence[OperandMaps]) -> list[dict[str, Any]]:
    return [{"operand": s.operand, "kind": s.kind, "maps": [print_map(m) for m in s.maps]} for s in sets]


def _outputs(operation: Operation) -> int:
    from models.hlo.shape import TupleShape

    return len(operation.shape.elements) if isinstance(operation.shape, TupleShape) else 1


def _check_number(what: str, number: int, count: int) -> None:
    if not 0 <= number < max(count, 1):
        raise LookupError(f"no {what} {number}: there {'is' if count == 1 else 'are'} {count}")


def _provider_names(computation: Computation, instruction: Instruction) -> Callable[[str], str]:
    """From `operand(n)` to `parameter(k)`, `constant(literal)` or the name of the instruction that provides."""

    def name(provider: str) -> str:
        if not provider.startswith("operand("):
            return provider
        source = computation.by_name[instruction.operands[int(provider[8:-1])]]
        if source.opcode == "parameter":
            return f"parameter({source.parameter_number})"
        if source.opcode == "constant":
            return f"constant({source.literal})"
        return source.name

    return name


def _named(m: IndexingMap, name: Callable[[str], str]) -> IndexingMap:
    if not m.runtime:
        return m
    runtime = tuple(v if v.provider is None else replace(v, provider=name(v.provider)) for v in m.runtime)
    return replace(m, runtime=runtime)
