"""Constants and counted integers through elementwise operations, bit for bit.

Trusted. What is evaluated, of which types and on which numbers, is what `foldable` has rows for.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from hloproof.equivalence.foldable import ComputedNumber, row_of
from hloproof.equivalence.indices import Lin, clamp, constant
from hloproof.equivalence.literals import bits_of
from hloproof.equivalence.terms import Cond, Lit, Num, Term, from_pattern, from_value, number, value_of
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.interpreter.semantics.element_type import INTEGERS, UNSIGNED, width
from hloproof.models.interpreter.semantics.real import Real

_REAL: Final = Real()
TRUE: Final = Lit("pred", 1)
FALSE: Final = Lit("pred", 0)


def attributes_of(key: Hashable) -> Attributes:
    """The attributes that a node's key stands for, words as Word."""
    pairs = key if isinstance(key, tuple) else ()
    return Attributes(tuple((name, Word(value) if isinstance(value, str) else value) for name, value in pairs))


def evaluate(op: str, type_: str, args: tuple[Num | Lit, ...], key: Hashable) -> Term | None:
    """The operation on these, None where it is not evaluated."""
    types = tuple(a.type for a in args)
    row = row_of(op, types, type_)
    if row is None:
        return None
    values = tuple(value_of(a) for a in args)
    if any(v is None for v in values):
        integers = tuple(a for a in args if isinstance(a, Num))
        return counted(op, type_, integers, key) if len(integers) == len(args) else None
    try:
        result = _REAL.function(op, types, type_, attributes_of(key))(*values)
    except (NotModelled, OverflowError, ValueError, ZeroDivisionError):
        return None
    total = isinstance(key, tuple) and ("type", "TOTALORDER") in key
    if not row.numbers(ComputedNumber(types, values, type_, result, total)):
        return None
    # The bits of a NaN are more than the number that was computed.
    return from_pattern(type_, _bits(args[0])) if op == "bitcast-convert" else from_value(type_, result)


def _bits(term: Num | Lit) -> int:
    """The bits of a constant."""
    return term.bits if isinstance(term, Lit) else bits_of(term.type, term.form.constant)


def at_least(form: Lin) -> Term:
    """The predicate that a form is at least 0."""
    return Cond(form, TRUE, FALSE)


def counted(op: str, type_: str, args: tuple[Num, ...], key: Hashable) -> Term | None:
    """Operations on integers that depend on the index; None where the result may leave the type or is no such form."""
    forms = [a.form for a in args]
    if op == "compare":
        return compared(attributes_of(key), *forms)
    if op == "convert":
        return number(type_, forms[0]) if type_ != "pred" else None
    if type_ not in INTEGERS:
        if op in ("add", "subtract"):
            return number(type_, forms[0] + forms[1] if op == "add" else forms[0] - forms[1])
        if op == "multiply" and all(f.lo >= 0 for f in forms):  # a negative factor could make a zero negative
            product = times(*forms)
            return None if product is None else number(type_, product)
        return None
    found = integer(op, type_, forms)
    return None if found is None else number(type_, found)


def times(a: Lin, b: Lin) -> Lin | None:
    """The product of two forms where one is a number; else None."""
    if a.is_constant:
        return b * a.constant
    return a * b.constant if b.is_constant else None


def integer(op: str, type_: str, forms: list[Lin]) -> Lin | None:
    """The operation on integers, before it wraps around, as an index expression; None where it has no such form."""
    x = forms[0]
    y = forms[1] if len(forms) > 1 else constant(0)
    match op:
        case "add":
            return x + y
        case "subtract":
            return x - y
        case "negate":
            return -x
        case "multiply":
            return times(x, y)
        case "maximum" | "minimum":
            low, high = (x, y) if (x - y).hi <= 0 else (y, x) if (y - x).hi <= 0 else (None, None)
            if low is not None:
                return high if op == "maximum" else low
            if x.is_constant:
                x, y = y, x
            if not y.is_constant:
                return None
            return clamp(x, y.constant, x.hi) if op == "maximum" else clamp(x, x.lo, y.constant)
        case "abs" | "sign":
            if op == "abs" and x.lo >= 0:
                return x
            return constant(1) if op == "sign" and x.lo > 0 else None
        case "divide" | "remainder":
            if y.is_constant and y.constant > 0 and x.lo >= 0:
                return x // y.constant if op == "divide" else x % y.constant
        case "shift-left":
            if y.is_constant and 0 <= y.constant < width(type_):
                return x * (1 << y.constant)
        case "shift-right-logical" | "shift-right-arithmetic":
            if y.is_constant and 0 <= y.constant < width(type_) and x.lo >= 0:
                top = 1 << (width(type_) - 1)
                if op.endswith("logical") or type_ not in UNSIGNED or x.hi < top:
                    return x // (1 << y.constant)
        case "and":
            for a, b in ((x, y), (y, x)):
                if b.is_constant and b.constant >= 0 and (b.constant + 1) & b.constant == 0 and a.lo >= 0:
                    return a % (b.constant + 1)
        case "clamp":
            low, of, high = forms
            if low.is_constant and high.is_constant and low.constant <= high.constant:
                return clamp(of, low.constant, high.constant)
    return None


def compared(attributes: Attributes, x: Lin, y: Lin) -> Term | None:
    """The comparison of two integers, by the direction that the attributes give, as a predicate; None where they give
    none."""
    direction = attributes.get("direction")
    match direction.text if isinstance(direction, Word) else "":
        case "LT":
            return at_least(y - x - 1)
        case "LE":
            return at_least(y - x)
        case "GT":
            return at_least(x - y - 1)
        case "GE":
            return at_least(x - y)
        case "EQ":
            return Cond(x - y, at_least(y - x), FALSE)
        case "NE":
            return Cond(x - y, at_least(x - y - 1), TRUE)
    return None
