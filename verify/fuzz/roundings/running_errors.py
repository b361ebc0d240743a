"""What a module of sums and products computes over real numbers, and how far rounding may take it from that.

Each number carries a bound on its error, which grows with every operation. What follows from constants alone is the
number that its types hold: where one of them takes it for zero, zero it is. Shares nothing with the prover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.literal import parse_literal
from hloproof.models.interpreter.semantics.element_type import rounded

DIGITS: Final = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8e4m3fn": 4, "f8e5m2": 3}
"""Significant bits, the first one included."""
SMALLEST: Final = {"f64": -1022, "f32": -126, "f16": -14, "bf16": -126, "f8e4m3fn": -6, "f8e5m2": -14}
"""The exponents of the smallest numbers that have all of them."""
_SPREAD: Final = 4
"""How often a sum, or a constant that is written otherwise, may be rounded more than is counted."""


class NoNumber(Exception):
    """Something has no value, or none that a type holds."""


@dataclass(frozen=True)
class Near:
    """A number, and how far from it what is computed may be."""

    value: Fraction
    error: Fraction
    constant: bool
    """It follows from constants alone."""

    def apart(self, other: Near) -> bool:
        """By more than rounding explains."""
        return abs(self.value - other.value) > _SPREAD * (self.error + other.error)


Row = list[Near]


def results(module: Module, inputs: Sequence[Sequence[float]]) -> Row:
    """The elements of the result. Raises NoNumber, and NotModelled for other operations than these programs have."""
    held: dict[str, Row] = {}
    for i in module.entry.operands_first:
        held[i.name] = _made(i, held, inputs)
    return held[module.entry.root_name]


def _made(i: Instruction, held: Mapping[str, Row], inputs: Sequence[Sequence[float]]) -> Row:
    if not isinstance(i.shape, ArrayShape):
        raise NotModelled(i.opcode)
    kind, given = i.shape.element_type, [held[o] for o in i.operands]
    match i.opcode:
        case "parameter":
            return [Near(Fraction(x), Fraction(0), False) for x in inputs[i.parameter_number or 0]]
        case "constant":
            found = parse_literal(i.literal or "", i.shape)
            numbers = found if isinstance(found, list) else [found]
            if kind == "pred":
                return [Near(Fraction(bool(x)), Fraction(0), True) for x in numbers]
            return [_constant(kind, Fraction(float(x)), Fraction(0)) for x in numbers]  # type: ignore[arg-type]
        case "broadcast":
            return given[0] * i.shape.elements
        case "copy":
            return given[0]
        case "select":
            return [x if p.value else y for p, x, y in zip(*given, strict=True)]
        case "reduce":
            return [_total(kind, given[0])]
        case "dot":
            return [_total(kind, [_product(kind, x, y) for x, y in zip(*given, strict=True)])]
    return [_element(i.opcode, kind, row) for row in zip(*given, strict=True)]


def _element(opcode: str, kind: str, row: tuple[Near, ...]) -> Near:
    constant = all(x.constant for x in row)
    x, y = row[0], row[-1]
    match opcode:
        case "negate":
            return Near(-x.value, x.error, constant)
        case "convert":
            return _rounded(kind, x.value, x.error, constant)
        case "add":
            return _rounded(kind, x.value + y.value, x.error + y.error, constant)
        case "subtract":
            return _rounded(kind, x.value - y.value, x.error + y.error, constant)
        case "multiply":
            return _product(kind, x, y)
        case "divide":
            least = abs(y.value) - y.error
            if least <= 0:
                raise NoNumber
            found = x.value / y.value
            return _rounded(kind, found, (x.error + abs(found) * y.error) / least, constant)
    raise NotModelled(opcode)


def _product(kind: str, x: Near, y: Near) -> Near:
    error = x.error * abs(y.value) + y.error * abs(x.value) + x.error * y.error
    return _rounded(kind, x.value * y.value, error, x.constant and y.constant)


def _total(kind: str, row: Row) -> Near:
    sizes = sum((abs(x.value) + x.error for x in row), Fraction(0))
    error = sum((x.error for x in row), Fraction(0)) + _SPREAD * len(row) * sizes * _step(kind)
    return _rounded(kind, sum((x.value for x in row), Fraction(0)), error, all(x.constant for x in row))


def _step(kind: str) -> Fraction:
    return Fraction(2) ** -DIGITS[kind]


def _rounded(kind: str, value: Fraction, error: Fraction, constant: bool) -> Near:
    if constant:
        return _constant(kind, value, error)
    # What is too small for its type may become zero for these inputs, and not for others.
    nothing = Fraction(2) ** (SMALLEST[kind] - DIGITS[kind])
    return Near(value, error + _step(kind) * (abs(value) + error) + nothing, False)


def _constant(kind: str, value: Fraction, error: Fraction) -> Near:
    try:
        found = rounded(kind, float(value))
    except OverflowError:
        raise NoNumber from None
    if not isinstance(found, float) or not isfinite(found):
        raise NoNumber
    return Near(Fraction(found), error + _step(kind) * abs(value), True)
