"""What instructions owe whose meaning is that of the computations they call: their maps are composed, so the claims are
about the composition. The instructions inside owe their own claims, one by one.

The composed maps lie inside the arrays that they index, and fit machine integers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from hloproof.claims.operations.definition import Subject
from hloproof.claims.operations.index_range import index_range_parts
from hloproof.claims.operations.loop import owed_by_while
from hloproof.claims.operations.owed import OwedClaim
from hloproof.claims.operations.simplified import same_points
from hloproof.claims.statements.relation import piece_of
from hloproof.claims.statements.statement import Part, Statement
from hloproof.claims.statements.wording import at, runtime_words, shape_words, subject
from hloproof.definitions.variables import arrays_of
from hloproof.logic.formula import within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Instruction, Operation
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.loops import followed_turn_by_turn
from hloproof.models.indexing.composition.module_maps import instruction_maps
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Constraint, Direction, IndexingMap, Variable, rng
from hloproof.models.stages import stage

_DIRECTIONS: Sequence[Direction] = ("output-to-input", "input-to-output")


def owed(composer: Composer, computation: Computation, instruction: Instruction, index_width: int) -> list[OwedClaim]:
    """Every claim that a fusion, call, while, conditional or async instruction owes."""
    op = composer.operation(computation, instruction)
    out: list[OwedClaim] = []
    if op.opcode == "while":
        out += owed_by_while(composer.module, computation, instruction)
        if not followed_turn_by_turn(composer, computation, instruction):
            return out

    @cache
    def maps(direction: Direction, number: int) -> tuple[OperandMaps, ...]:
        with stage("composition"):
            return instruction_maps(composer, computation, instruction, direction, number)

    @cache
    def by_place(direction: Direction, number: int) -> _ByPlace:
        return {(s.operand, s.position): s for s in maps(direction, number)}

    before = len(composer.joins.simplified)
    outputs = arrays_of(op.shape)
    inputs = [(k, at, leaf) for k, shape in enumerate(op.operands) for at, leaf in arrays_of(shape)]
    found = {(n, s.operand, s.position) for n in range(len(outputs)) for s in maps("output-to-input", n) if _says(s)}
    for k in range(len(op.operands)):
        found |= {(s.operand, k, s.position) for s in maps("input-to-output", k) if _says(s)}
    for output, (_, output_shape) in enumerate(outputs):
        for operand, position, operand_shape in inputs:
            if (output, operand, position) in found:
                both = [Subject(op, output, operand, output_shape, operand_shape, d, position) for d in _DIRECTIONS]
                out += _pair(op, both, by_place, index_width)
    steps = tuple(composer.joins.simplified[before:])
    if steps:
        words = f"{len(steps)} {'map' if len(steps) == 1 else 'maps'} on the way"
        out.append(OwedClaim("simplify", words, lambda: [p for a, b in steps for p in same_points(a, b)]))
    return out


def _says(s: OperandMaps) -> bool:
    return bool(s.maps or s.unknown)


_ByPlace = Mapping[tuple[int, ShapeIndex], OperandMaps]
"""The maps from one output or operand, by the number and the position that they lead to."""


def _pair(
    op: Operation, both: Sequence[Subject], by_place: Callable[[Direction, int], _ByPlace], width: int
) -> list[OwedClaim]:
    def set_of(about: Subject) -> OperandMaps | None:
        forward = about.direction == "output-to-input"
        wanted = (about.operand if forward else about.output, about.position)
        chosen = by_place(about.direction, about.output if forward else about.operand).get(wanted)
        if chosen is not None and chosen.unknown:
            raise NotModelled(chosen.unknown)
        return chosen

    out: list[OwedClaim] = []
    devices = op.replicas * op.partitions

    def add(claim: str, about: Subject, build: Callable[[OperandMaps | None], list[Part]], also: Hashable) -> None:
        def key() -> Hashable:
            maps, shapes = set_of(about), (about.output_shape.dimensions, about.operand_shape.dimensions)
            return "composed", claim, also, about.direction, shapes, None if maps is None else (maps.maps, maps.tables)

        words = subject(op, about.output, about.operand, about.position, about.direction)
        out.append(OwedClaim(claim, words, lambda: build(set_of(about)), key=key))

    for about in both:
        add("in-bounds", about, partial(_in_bounds, about), None)
        add("dedup", about, lambda maps: _different(maps, devices), devices)
        add("index-range", about, lambda maps, a=about: index_range_parts(a, _plain(maps), width), width)  # type: ignore[misc]
    return out


def _different(maps: OperandMaps | None, devices: int) -> list[Part]:
    """Which of the maps are one, as inclusions both ways, and which are not, each pair with its witness."""
    if maps is None or len(maps.maps) < 2:
        return []
    from hloproof.claims.maps.dedup import deduplicate

    found = deduplicate(maps.maps, tables=maps.tables, devices=devices)
    if found.undecided:
        raise NotModelled(f"maps neither shown equal nor told apart: {found.undecided[0][2]}")
    return list(found.parts())


def _plain(maps: OperandMaps | None) -> OperandMaps | None:
    """The maps with their runtime variables as range variables, any number of the interval: which elements they are, of
    another instruction's array, is that instruction's claim."""
    return None if maps is None else replace(maps, maps=tuple(_without_runtime(m) for m in maps.maps))


def _without_runtime(m: IndexingMap) -> IndexingMap:
    if not m.runtime:
        return m
    into: dict[str, Expr] = {f"rt{k}": rng(len(m.ranges) + k) for k in range(len(m.runtime))}
    return IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        (*m.ranges, *(Variable(v.interval) for v in m.runtime)),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )


def _in_bounds(about: Subject, maps: OperandMaps | None) -> list[Part]:
    if maps is None:
        return []
    forward = about.direction == "output-to-input"
    target = about.operand_shape if forward else about.output_shape
    parts: list[Part] = []
    for number, m in enumerate(maps.maps):
        if len(m.results) != target.rank:
            raise NotModelled(f"a composed map with {len(m.results)} results into rank {target.rank}")
        piece = piece_of(m, number, about.direction, [(f"rt{k}", v.interval) for k, v in enumerate(m.runtime)])
        if piece.is_empty:
            continue
        statement = Statement(piece.variables, piece.constraint_formulas)

        def words(point: dict[str, int], piece=piece) -> str:  # type: ignore[no-untyped-def]
            when = runtime_words(point, [n for n, _ in piece.runtime])
            source, sink = about.output_words + at(piece.output, point), about.operand_words + at(piece.operand, point)
            verb = f"{source} reads {sink}" if forward else f"{sink} goes to {source}"
            whose = about.operand_words if forward else about.output_words
            return f"{verb}{when}, and {whose} is {shape_words(target)}"

        goals = [within(e, Interval.of_size(n)) for e, n in zip(piece.results, target.dimensions, strict=True)]
        parts += [statement.therefore(g, "result in bounds", words) for g in goals]
    return parts
