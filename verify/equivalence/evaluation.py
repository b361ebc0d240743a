"""Constants and counted integers through elementwise operations, bit for bit.

Trusted. Only operations that every implementation rounds alike are evaluated: the four of arithmetic, sqrt, and those
that give a representable number. A function such as exp of a constant is not; nor is what has to do with a subnormal
number, which one processor takes for 0 and another does not, or with the bits of a NaN that is computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import copysign, nan
from typing import Final

from hloproof.equivalence.indices import Lin, clamp, constant
from hloproof.equivalence.literals import bits_of
from hloproof.equivalence.terms import (
    Cond,
    Lit,
    Num,
    Term,
    from_pattern,
    from_value,
    may_be_flushed,
    number,
    rounds_alike,
    value_of,
)
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, UNSIGNED, to_bits, width
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.small_float import SMALL

_REAL: Final = Real()
EVALUATED: Final = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "divide",
        "sqrt",
        "negate",
        "abs",
        "maximum",
        "minimum",
        "compare",
        "convert",
        "clamp",
        "floor",
        "ceil",
        "sign",
        "is-finite",
        "and",
        "or",
        "not",
        "xor",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "remainder",
        "bitcast-convert",
        "round-nearest-even",
        "round-nearest-afz",
        "select",
        "popcnt",
        "count-leading-zeros",
    }
)
_AS_BITS: Final = frozenset({"select", "negate", "abs"})
"""What is done without arithmetic, to subnormal numbers as to others."""
_ONE_NAN: Final = frozenset({"f64", "f32", "f16", "bf16"})
"""Among these every implementation converts the plain NaN to the plain one."""
TRUE: Final = Lit("pred", 1)
FALSE: Final = Lit("pred", 0)


def attributes_of(key: Hashable) -> Attributes:
    """The attributes that a node's key stands for, words as Word."""
    pairs = key if isinstance(key, tuple) else ()
    return Attributes(tuple((name, Word(value) if isinstance(value, str) else value) for name, value in pairs))


def evaluate(op: str, type_: str, args: tuple[Num | Lit, ...], key: Hashable) -> Term | None:
    """The operation on these, None where it is not evaluated."""
    if op not in EVALUATED:
        return None
    values = [value_of(a) for a in args]
    if all(v is not None for v in values):
        if type_ in COMPLEX or any(a.type in COMPLEX for a in args):
            return None
        if op == "bitcast-convert":
            bits = _bits(args[0])  # as a predicate only 0 and 1 mean something
            return None if type_ == "pred" and bits > 1 else from_pattern(type_, bits)
        given = any(v != v for v in values)
        if isinstance(key, tuple) and ("type", "TOTALORDER") in key and only_bits_tell(values):
            return None
        try:
            function = _REAL.function(op, [a.type for a in args], type_, attributes_of(key))
            result = function(*values)
            # The bits of a NaN that is computed are left open, and may be looked at; but a plain one stays one in
            # another type, where types have the one plain NaN.
            plain = op == "convert" and given and type_ in _ONE_NAN and args[0].type in _ONE_NAN
            if result != result and not (plain and _bits(args[0]) == to_bits(args[0].type, nan)):
                return None
            if not alike(op, [a.type for a in args], values, type_, result):
                return None
            return from_value(type_, result)
        except (NotModelled, OverflowError, ValueError, ZeroDivisionError):
            return None
    if not all(isinstance(a, Num) for a in args):
        return None
    return counted(op, type_, tuple(a for a in args if isinstance(a, Num)), key)


def only_bits_tell(values: Sequence[object]) -> bool:
    """Whether numbers are in a total order by their bits alone, as a NaN and zeros of both signs are: XLA has them in
    another when it folds."""
    zeros = {copysign(1.0, v) for v in values if isinstance(v, float) and v == 0}
    return any(v != v for v in values) or len(zeros) > 1


def alike(op: str, types: Sequence[str], values: Sequence[object], type_: str, result: object) -> bool:
    """Whether every implementation gives this result of the operation on numbers, a NaN aside."""
    if op == "convert" and not rounds_alike(type_, values[0]):
        return False
    if _rounded_twice(op, type_) or _folded_otherwise(op, type_, values):
        return False
    numbers = [*zip(types, values, strict=True), (type_, result)]
    return op in _AS_BITS or not any(may_be_flushed(*n) for n in numbers)


def _rounded_twice(op: str, type_: str) -> bool:
    """Whether implementations go by way of a wider type from which the result is rounded otherwise. f8e8m0fnu holds
    neither 0 nor what is near it in f32; the number of bits of less than a byte is counted in the byte."""
    return (
        (type_ == "f8e8m0fnu" and op != "select")
        or (op == "sqrt" and type_ in SMALL)
        or (op == "popcnt" and type_ in INTEGERS and width(type_) < 8)
    )


def _folded_otherwise(op: str, type_: str, values: Sequence[object]) -> bool:
    """Whether XLA computes another result when it folds: 0 for the sign of -0, a count of zeros less than none for
    negative numbers, NaN for narrow floats that are rounded to whole ones, and bounds of predicates the other way
    around."""
    match op, values[0]:
        case "sign", float(x):
            return x == 0 and copysign(1.0, x) < 0
        case "count-leading-zeros", int(x):
            return x < 0
        case (("round-nearest-even" | "round-nearest-afz"), _):
            return type_ in SMALL
        case "clamp", _:
            return type_ == "pred"
    return False


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
