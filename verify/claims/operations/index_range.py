"""The claim `index-range`: no value on the way to a result leaves the machine integers that compilers compute with."""

from __future__ import annotations

from hloproof.claims.operations.definition import Subject
from hloproof.claims.statements.relation import piece_of
from hloproof.claims.statements.runtime import readings
from hloproof.claims.statements.statement import Part, Statement
from hloproof.claims.statements.wording import coordinates
from hloproof.logic.formula import conj, within
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Expr, Var, postorder, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap


def index_range_parts(about: Subject, maps: OperandMaps | None, width: int) -> list[Part]:
    """One obligation per map: every sum, product and quotient in it fits a signed integer of `width` bits."""
    parts: list[Part] = []
    machine = Interval(-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    for number, m in enumerate(maps.maps if maps is not None else ()):
        part = _fits(about, m, number, machine, width)
        if part is not None:
            parts.append(part)
    return parts


def _fits(about: Subject, m: IndexingMap, number: int, machine: Interval, width: int) -> Part | None:
    piece = piece_of(m, number, about.direction, [(f"rt{k}", v.interval) for k, v in enumerate(m.runtime)])
    if piece.is_empty:
        return None
    terms: dict[Expr, None] = {}
    roots = [*piece.results, *(c.expr for c in piece.constraints)]
    roots += [e for reading in readings(m, piece) if reading is not None for e in reading.index]
    if piece.position is not None:
        roots.append(piece.position)
    for root in roots:
        terms.update((e, None) for e in postorder(root) if isinstance(e, Binary))
    # Constraints do not guard what is computed in order to check them. Those on a variable itself need no computing.
    guards = [within(c.expr, c.interval) for c in piece.constraints if isinstance(c.expr, Var)]
    statement = Statement(piece.variables, tuple(guards))
    bounds = [within(e, machine) for e in terms]
    bounds += [within(Var(name), machine) for name, i in piece.variables if not machine.contains(i)]

    def words(point: dict[str, int]) -> str:
        source = coordinates([point[n] for n, _ in piece.source])
        whose = about.output_words if about.direction == "output-to-input" else about.operand_words
        for e in terms:
            try:
                value = evaluate(e, point)
            except ZeroDivisionError:
                return f"at {whose}{source} the map divides by zero in {to_text(e)}"
            if value not in machine:
                return f"at {whose}{source} the map computes {to_text(e)} = {value}, beyond {width} bits"
        return f"at {whose}{source} a bound of the map is beyond {width} bits"

    return statement.therefore(conj(*bounds), "fits machine integers", words)
