"""The claim `in-bounds`: every result lies inside the shape that it indexes, at every point of the domain."""

from __future__ import annotations

from dataclasses import replace

from hloproof.claims.operations.definition import Subject, refuted, shape_errors
from hloproof.claims.statements.contents import of_positions
from hloproof.claims.statements.one_value import values_that_meet
from hloproof.claims.statements.possible_contents import some_contents_give
from hloproof.claims.statements.relation import Piece, piece_of
from hloproof.claims.statements.runtime import readings
from hloproof.claims.statements.statement import Part, Statement
from hloproof.claims.statements.wording import at, runtime_words, shape_words
from hloproof.logic.formula import within
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap


def in_bounds_parts(about: Subject, maps: OperandMaps | None, group_size: int = 0) -> list[Part]:
    """Results within the target's shape, elements read at run time within their operand, positions within the group.

    Raises NotModelled where a runtime variable does not name an operand.
    """
    if maps is None:
        return []
    wrong = shape_errors(about, maps)
    if wrong:
        return wrong
    forward = about.direction == "output-to-input"
    target = about.operand_shape if forward else about.output_shape
    parts: list[Part] = []
    for number, m in enumerate(of_positions(m, group_size) for m in maps.maps):
        piece = piece_of(m, number, about.direction, [(f"rt{k}", v.interval) for k, v in enumerate(m.runtime)])
        if piece.is_empty:
            continue
        into: dict[str, Expr] = {f"d{i}": Var(name) for i, (name, _) in enumerate(piece.source)}
        into |= {f"s{j}": Var(name) for j, (name, _) in enumerate(piece.ranges)}
        statement = Statement(piece.variables, (*piece.constraint_formulas, *values_that_meet(m, into)))
        own: list[Part] = []
        names = [n for n, _ in piece.runtime]

        def words(point: dict[str, int], piece=piece, names=names) -> str:  # type: ignore[no-untyped-def]
            when = runtime_words(point, names)
            if forward:
                return (
                    f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
                    f"{at(piece.operand, point)}{when}, and {about.operand_words} is {shape_words(target)}"
                )
            return (
                f"{about.operand_words}{at(piece.operand, point)} goes to {about.output_words} at "
                f"{at(piece.output, point)}{when}, and {about.output_words} is {shape_words(target)}"
            )

        goals = [within(e, Interval.of_size(n)) for e, n in zip(piece.results, target.dimensions, strict=True)]
        start = about.output_shape if forward else about.operand_shape
        domain = [
            within(Var(name), Interval.of_size(n))
            for (name, i), n in zip(piece.source, start.dimensions, strict=True)
            if i != Interval.of_size(n)
        ]

        def beyond(point: dict[str, int], piece=piece, start=start) -> str:  # type: ignore[no-untyped-def]
            whose = about.output_words if forward else about.operand_words
            element = at(piece.output if forward else piece.operand, point)
            return f"{whose}{element} is in the domain of the map, and {whose} is {shape_words(start)}"

        own += [statement.therefore(g, "domain in bounds", beyond) for g in domain]
        own += [statement.therefore(g, "result in bounds", words) for g in goals]
        for reading in readings(m, piece):
            if reading is None:
                continue
            taken = f"a runtime variable is taken from operand {reading.operand}"
            if reading.operand >= len(about.op.operands):
                own.append(refuted(f"{taken}, which does not exist"))
                continue
            provider = about.op.operands[reading.operand]
            # The sizes of an array are a vector of 32-bit integers, one for each dimension.
            if reading.of_sizes and isinstance(provider, ArrayShape):
                provider = ArrayShape("s32", (provider.rank,))
            if not isinstance(provider, ArrayShape) or provider.rank != len(reading.index):
                own.append(refuted(f"{taken} at {len(reading.index)} coordinates"))
                continue

            def read(point: dict[str, int], piece=piece, reading=reading, provider=provider) -> str:  # type: ignore[no-untyped-def]
                return (
                    f"{about.output_words}{at(piece.output, point)} needs {reading.words} at "
                    f"{at(reading.index, point)}, and {reading.words} is {shape_words(provider)}"
                )

            inside = [within(e, Interval.of_size(n)) for e, n in zip(reading.index, provider.dimensions, strict=True)]
            own += [statement.therefore(g, "runtime element in bounds", read) for g in inside]
        if piece.position is not None and group_size:
            position = piece.position

            def placed(point: dict[str, int], piece=piece, position=position) -> str:  # type: ignore[no-untyped-def]
                return (
                    f"{about.output_words}{at(piece.output, point)} reads the device at position "
                    f"{at([position], point)[1:-1]} of a group of {group_size}"
                )

            own.append(statement.therefore(within(position, Interval.of_size(group_size)), "device in group", placed))

        def possible(point: dict[str, int], m: IndexingMap = m, piece: Piece = piece) -> bool:
            named = {f"d{i}": name for i, (name, _) in enumerate(piece.source)}
            return some_contents_give(m, {**point, **{d: point[name] for d, name in named.items() if name in point}})

        parts += [replace(p, possible=possible) for p in own] if m.runtime else own
    return parts
