"""The claim `bijective`: the map is one to one and onto, shown by the other direction undoing it."""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.claims.operations.definition import Subject, shape_errors
from hloproof.claims.statements.statement import Part, Statement
from hloproof.claims.statements.wording import at
from hloproof.logic.formula import conj, eq, within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap


def bijective_parts(about: Subject, forth: OperandMaps | None, back: OperandMaps | None) -> list[Part]:
    """Going there and back is the identity on output elements and on operand elements, so the map is one to one and
    onto. Raises NotModelled where the maps are not one function in each direction."""
    # Between empty arrays the empty map is one to one and onto, and there may be no map to show it by.
    if about.output_shape.elements == 0 and about.operand_shape.elements == 0:
        return []
    if forth is None or back is None or len(forth.maps) != 1 or len(back.maps) != 1:
        raise NotModelled("not one map in each direction")
    there, again = forth.maps[0], back.maps[0]
    if there.ranges or again.ranges or there.runtime or again.runtime:
        raise NotModelled("maps with range or runtime variables are no functions of the index alone")
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
    return [
        *_round_trip(about.output_words, about.output_shape.dimensions, there, again.results),
        *_round_trip(about.operand_words, about.operand_shape.dimensions, again, there.results),
    ]


def _round_trip(words: str, sizes: Sequence[int], there: IndexingMap, back: Sequence[Expr]) -> list[Part]:
    box = tuple((f"d{i}", Interval.of_size(n)) for i, n in enumerate(sizes))
    into = {f"d{j}": e for j, e in enumerate(there.results)}
    home = [substitute(e, into) for e in back]
    start = [Var(name) for name, _ in box]

    def lost(point: dict[str, int]) -> str:
        return f"{words}{at(start, point)} is outside the domain of the map"

    def told(point: dict[str, int]) -> str:
        return f"{words}{at(start, point)} goes to {at(there.results, point)} and comes back as {at(home, point)}"

    statement = Statement(box)
    # Defined on the whole array first: a map that leaves elements out undoes itself where it is defined.
    domain = [within(v, d.interval) for v, d in zip(start, there.dims, strict=True)]
    domain += [within(c.expr, c.interval) for c in there.constraints]
    parts = statement.conclusions([conj(*domain)], "defined everywhere", lost)
    return parts + statement.conclusions([conj(*map(eq, home, start))], "there and back", told)
