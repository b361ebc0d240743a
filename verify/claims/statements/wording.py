"""Counterexamples in the reader's terms: `output[3, 17] reads operand 0 at [51, 0], and operand 0 is f32[50, 4]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.maps.indexing_map import Direction


def coordinates(values: Sequence[int]) -> str:
    """`[0, 3]`."""
    return f"[{', '.join(map(str, values))}]"


def at(terms: Sequence[Expr], point: Mapping[str, int]) -> str:
    """The coordinates that terms have at a point; `undefined` where a term divides by zero there."""
    return f"[{', '.join(_value(e, point) for e in terms)}]"


def _value(e: Expr, point: Mapping[str, int]) -> str:
    try:
        return str(evaluate(e, point))
    except ZeroDivisionError:
        return "undefined"


def shape_words(shape: ArrayShape) -> str:
    """`f32[2,3]`, without the layout."""
    return f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]"


def output_words(shape: Shape, output: int) -> str:
    """`output`, or `output 1` where there are several."""
    return f"output {output}" if isinstance(shape, TupleShape) else "output"


def operand_words(operand: int, position: tuple[int, ...] = ()) -> str:
    """`operand 0`, or `operand 0{1}` for an array inside a tuple."""
    inside = f"{{{','.join(map(str, position))}}}" if position else ""
    return f"operand {operand}{inside}"


def subject(op: Operation, output: int, operand: int, position: tuple[int, ...], direction: Direction) -> str:
    """`output 0 -> operand 1`, or the other way round."""
    out, into = f"output {output}", operand_words(operand, position)
    return f"{out} -> {into}" if direction == "output-to-input" else f"{into} -> {out}"


def runtime_words(point: Mapping[str, int], names: Sequence[str]) -> str:
    """What the runtime variables were: ` when r0 = 5, r1 = 0`."""
    told = [f"{n} = {point[n]}" for n in dict.fromkeys(names) if n in point]
    return f" when {', '.join(told)}" if told else ""
