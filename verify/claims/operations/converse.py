"""The claim `converse`: the maps of the two directions are converse relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hloproof.claims.operations.definition import Subject, shape_errors
from hloproof.claims.statements.relation import Piece
from hloproof.claims.statements.runtime import Matched, match
from hloproof.claims.statements.statement import Part, Statement
from hloproof.claims.statements.wording import at, runtime_words
from hloproof.definitions.definition import Definition
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import Formula, disj
from hloproof.models.errors import NotModelled
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction


def converse_parts(
    about: Subject, forth: OperandMaps | None, back: OperandMaps | None, definition: Definition
) -> list[Part]:
    """Every pair of the output-to-input maps is one of the input-to-output maps, and the other way round.

    `about` is the output-to-input subject. The definition only says which runtime values are the same. Raises
    NotModelled where one direction is a bound and the other is not.
    """
    forth = forth or OperandMaps(about.operand, definition.kind, ())
    back = back or OperandMaps(about.output, definition.kind, ())
    if (forth.kind == "bound") != (back.kind == "bound"):
        raise NotModelled("one direction is only a bound")
    turned = Subject(
        about.op,
        about.output,
        about.operand,
        about.output_shape,
        about.operand_shape,
        "input-to-output",
        about.position,
    )
    wrong = shape_errors(about, forth) + shape_errors(turned, back)
    if wrong:
        return wrong
    matched = _matched(forth, "output-to-input", definition) + _matched(back, "input-to-output", definition)
    first = [m.piece for m in matched if m.piece.direction == "output-to-input"]
    second = [m.piece for m in matched if m.piece.direction == "input-to-output"]
    # What is read at run time is another claim's: here it is enough, and need not be so.
    parts = [replace(p, necessary=False) for m in matched for p in m.parts]
    for piece in first:
        parts += _contained(about, piece, second, "the input-to-output maps")
    for piece in second:
        parts += _contained(about, piece, first, "the output-to-input maps")
    return parts


def _matched(maps: OperandMaps, direction: Direction, definition: Definition) -> list[Matched]:
    suffix = "" if direction == "output-to-input" else "_"
    found = [match(m, n, direction, definition, suffix) for n, m in enumerate(maps.maps)]
    return [m for m in found if not m.piece.is_empty]


def _contained(about: Subject, piece: Piece, others: Sequence[Piece], whose: str) -> list[Part]:
    names = {n for n, _ in piece.variables}
    # What the other direction reads at run time beside is any value: the inclusion must hold for all of them.
    loose = {n: i for o in others for n, i in o.runtime if n not in names}
    statement = Statement((*piece.variables, *loose.items()), piece.constraint_formulas)

    def words(point: dict[str, int]) -> str:
        when = runtime_words(point, [n for n, _ in piece.runtime])
        mine = "output-to-input" if piece.direction == "output-to-input" else "input-to-output"
        return (
            f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
            f"{at(piece.operand, point)} by the {mine} maps{when}, and not by {whose}"
        )

    def lies_in(other: Piece, solving: bool) -> Formula:
        forward = other.direction == "output-to-input"
        source, target = (piece.output, piece.operand) if forward else (piece.operand, piece.output)
        return other.membership(source, target, piece.position, solving)

    goal, whole = (disj(*(lies_in(other, solving) for other in others)) for solving in (True, False))
    return statement.conclusions([goal], "converse", words, lambda point: not holds(whole, point))
