"""The indexing maps of instructions where they stand: providers by name, calls composed, chains followed."""

from __future__ import annotations

from collections.abc import Iterable

from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing.box import holds_data
from hloproof.models.indexing.composition.calls import BODIES
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.joins import Simplify
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT, Reached, RouteStep
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction


def instruction_maps(
    composer: Composer, computation: Computation, instruction: Instruction, direction: Direction, number: int = 0
) -> tuple[OperandMaps, ...]:
    """The maps of one instruction: from output `number`, or from operand `number`.

    Calls and fusions are composed through what they call; their maps promise which elements are read, each map once,
    not how often. Raises NotModelled for an instruction that has no maps by itself, and ValueError for an output or
    operand that is not there.
    """
    if instruction.opcode not in composer.bodies.opcodes:
        return composer.plain(computation, instruction, direction, number)
    if direction == OUTPUT_TO_INPUT:
        position = output_position(instruction, number)
        steps = composer.reads(computation, instruction, position)
        places = [
            (n, place)
            for n, name in enumerate(instruction.operands)
            for place, leaf in leaves(computation.by_name[name].shape)
            if holds_data(leaf)
        ]
        arrived: dict[tuple[int, tuple[int, ...]], list[RouteStep]] = {}
        for s in steps:
            arrived.setdefault((s.number, s.position), []).append(s)
        return tuple(_from_steps(n, place, arrived.get((n, place), ())) for n, place in places)
    found = []
    for place, _ in leaves(computation.by_name[instruction.operands[number]].shape):
        written: dict[tuple[int, ...], list[RouteStep]] = {}
        for s in composer.writes(computation, instruction, number, place):
            written.setdefault(s.position, []).append(s)
        for n, (output, leaf) in enumerate(leaves(instruction.shape)):
            if holds_data(leaf):
                found.append(_from_steps(n, place, written.get(output, ())))
    return tuple(found)


def followed_maps(
    composer: Composer, computation: Computation, instruction: Instruction, direction: Direction, number: int = 0
) -> tuple[OperandMaps, ...]:
    """From output `number` of an instruction to the parameters of its computation, through all producers between; or
    from its output `number` on to the computation's root, through all users between.

    `operand` of the answer is the parameter's number, or the number of the root's output.
    """
    position = output_position(instruction, number)
    if direction == OUTPUT_TO_INPUT:
        reached = composer.backwards(computation, instruction, position)
        return tuple(
            _from_reached(p.parameter_number or 0, place, reached.get((p.name, place)))
            for p in computation.parameters
            for place, leaf in leaves(p.shape)
            if holds_data(leaf)
        )
    reached = composer.forwards(computation, instruction, position)
    root = computation.root
    return tuple(
        _from_reached(n, place, reached.get((root.name, place)))
        for n, (place, leaf) in enumerate(leaves(root.shape))
        if holds_data(leaf)
    )


def output_position(instruction: Instruction, number: int) -> tuple[int, ...]:
    """The tuple position of output `number`. Raises ValueError when there is none."""
    positions = [place for place, _ in leaves(instruction.shape)]
    if not 0 <= number < len(positions):
        raise ValueError(f"{instruction.name} has {len(positions)} outputs, there is no output {number}")
    return positions[number]


def composer_of(module: Module, replicas: int = 1, partitions: int = 1) -> Composer:
    """A composer for a module that runs on so many devices, which simplifies what it composes."""
    from hloproof.models.simplifier.simplify import simplify

    return plain_composer(module, replicas, partitions, lambda m: simplify(m).map)


def plain_composer(
    module: Module, replicas: int = 1, partitions: int = 1, simplify: Simplify | None = None
) -> Composer:
    """A composer that leaves maps as they are composed, or simplifies them by `simplify`."""
    return Composer(module, BODIES, replicas, partitions, simplify)


def _from_steps(number: int, place: tuple[int, ...], steps: Iterable[RouteStep]) -> OperandMaps:
    routes = {}
    for s in steps:
        if s.unknown:
            return OperandMaps(number, "bound", (), place, s.unknown)
        routes.update(dict.fromkeys(s.routes, s.kind))
    return _from_reached(number, place, Reached(routes))


def _from_reached(number: int, place: tuple[int, ...], reached: Reached | None) -> OperandMaps:
    if reached is None:
        return OperandMaps(number, "reads", (), place)
    if reached.unknown:
        return OperandMaps(number, "bound", (), place, reached.unknown)
    routes = reached.different()
    tables = tuple(r.tables for r in routes) if any(r.tables for r in routes) else ()
    return OperandMaps(number, reached.kind, tuple(r.map for r in routes), place, tables=tables)
