"""Identities between scalar terms, as data: name, tier, element types, and both sides as patterns.

Trusted. *exact*: bit for bit for the types (a NaN's payload aside); *real*: over real numbers; *rounding*: a rounding
is left out or put in. `x + 0` on floats, `x - x` and `0 * x` are not here: they are wrong for -0.0, infinity and NaN.
In a pattern single letters are terms, numbers are constants of the type, and lt, le, gt, ge, eq, ne are comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Final

from hloproof.equivalence.answer import Tier
from hloproof.equivalence.terms import App, Term, from_value, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import (
    COMPLEX,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    highest,
    lowest,
    width,
)
from hloproof.models.interpreter.semantics.small_float import FLOATS

Pattern = str | float | bool | tuple[object, ...]
View = Callable[[Term], Term]
"""A term with its head in sight."""

DIRECTIONS: Final = {"lt": "LT", "le": "LE", "gt": "GT", "ge": "GE", "eq": "EQ", "ne": "NE"}
SYMMETRIC: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor", "eq", "ne"})
NUMBERS: Final = FLOATS - {"f8e8m0fnu"}
"""The floats among which there are zero and negative numbers."""
KINDS: Final[dict[str, frozenset[str]]] = {
    "integers": INTEGERS,
    "unsigned": UNSIGNED,
    "floats": NUMBERS,
    "predicates": frozenset({"pred"}),
    "numbers": INTEGERS | FLOATS | COMPLEX,
    "ordered": INTEGERS | NUMBERS,
    "bits": INTEGERS | {"pred"},
    "all": INTEGERS | FLOATS | COMPLEX | {"pred"},
}


@dataclass(frozen=True)
class Identity:
    """`left` = `right` where what `x` stands for (`p` where there is no `x`) is of the types `on`."""

    name: str
    tier: Tier
    on: str
    left: str
    right: str

    @cached_property
    def sides(self) -> tuple[Pattern, Pattern]:
        return read_pattern(self.left), read_pattern(self.right)


def _table(text: str) -> Iterator[Identity]:
    for line in text.strip().splitlines():
        name, tier, on, equation = (part.strip() for part in line.split("|"))
        left, right = equation.split(" = ")
        yield Identity(name, tier, on, left, right)  # type: ignore[arg-type]


TABLE: Final = tuple(
    _table("""
times one             | exact | ordered    | multiply(x, 1) = x
remainder by one      | exact | integers   | remainder(x, 1) = 0
divided by one        | exact | ordered    | divide(x, 1) = x
plus zero             | exact | integers   | add(x, 0) = x
plus negative zero    | exact | floats     | add(x, -0.0) = x
minus zero            | exact | ordered    | subtract(x, 0) = x
times zero            | exact | integers   | multiply(x, 0) = 0
minus itself          | exact | integers   | subtract(x, x) = 0
negated twice         | exact | ordered    | negate(negate(x)) = x
not twice             | exact | bits       | not(not(x)) = x
and true              | exact | predicates | and(x, true) = x
and false             | exact | predicates | and(x, false) = false
or false              | exact | predicates | or(x, false) = x
or true               | exact | predicates | or(x, true) = true
xor true              | exact | predicates | xor(x, true) = not(x)
xor false             | exact | predicates | xor(x, false) = x
xor zero              | exact | integers   | xor(x, 0) = x
or zero               | exact | integers   | or(x, 0) = x
and zero              | exact | integers   | and(x, 0) = 0
and itself            | exact | bits       | and(x, x) = x
or itself             | exact | bits       | or(x, x) = x
equal to false        | exact | predicates | eq(x, false) = not(x)
equal to true         | exact | predicates | eq(x, true) = x
not equal to false    | exact | predicates | ne(x, false) = x
not equal to true     | exact | predicates | ne(x, true) = not(x)
equal to itself       | exact | bits       | eq(x, x) = true
differs from itself   | exact | bits       | ne(x, x) = false
below zero            | exact | unsigned   | lt(x, 0) = false
not below zero        | exact | unsigned   | ge(x, 0) = true
below itself          | exact | bits       | lt(x, x) = false
not below itself      | exact | bits       | le(x, x) = true
above zero            | exact | integers   | le(1, x) = lt(0, x)
below both            | exact | ordered    | and(lt(x, y), lt(x, z)) = lt(x, minimum(y, z))
below and above       | exact | ordered    | and(lt(x, y), gt(z, x)) = lt(x, minimum(y, z))
larger above one      | exact | ordered    | gt(maximum(x, y), y) = gt(x, y)
below the larger      | exact | ordered    | lt(y, maximum(x, y)) = lt(y, x)
clamped twice         | exact | ordered    | clamp(l, clamp(l, x, h), h) = clamp(l, x, h)
product of sizes      | exact | ordered    | multiply(abs(x), abs(x)) = multiply(x, x)
remainder twice       | exact | ordered    | remainder(remainder(x, y), y) = remainder(x, y)
bounded from below    | exact | integers   | lt(maximum(x, 0), 0) = false
choice of one         | exact | all        | select(p, x, x) = x
choice turned         | exact | all        | select(not(p), x, y) = select(p, y, x)
choice of a choice    | exact | all        | select(p, select(p, x, y), z) = select(p, x, z)
choice after a choice | exact | all        | select(p, x, select(p, y, z)) = select(p, x, z)
choice of true        | exact | all        | select(p, true, false) = p
choice of false       | exact | all        | select(p, false, true) = not(p)
choice or             | exact | predicates | select(p, true, x) = or(p, x)
choice and            | exact | predicates | select(p, x, false) = and(p, x)
shift by nothing      | exact | integers   | shift-left(x, 0) = x
shift down by nothing | exact | integers   | shift-right-logical(x, 0) = x
shift by no sign      | exact | integers   | shift-right-arithmetic(x, 0) = x
maximum of one        | exact | ordered    | maximum(x, x) = x
minimum of one        | exact | ordered    | minimum(x, x) = x
power of one          | exact | floats     | power(x, 1) = x
size of a size        | exact | ordered    | abs(abs(x)) = abs(x)
subtraction           | exact | ordered    | subtract(x, y) = add(x, negate(y))
sign of a product     | exact | floats     | multiply(negate(x), y) = negate(multiply(x, y))
sign of a quotient    | exact | floats     | divide(negate(x), y) = negate(divide(x, y))
times minus one       | exact | ordered    | multiply(x, -1) = negate(x)
clamp                 | exact | ordered    | clamp(l, x, h) = minimum(maximum(l, x), h)
greater               | exact | all        | gt(x, y) = lt(y, x)
greater or equal      | exact | all        | ge(x, y) = le(y, x)
not less              | exact | integers   | not(lt(x, y)) = le(y, x)
not less or equal     | exact | integers   | not(le(x, y)) = lt(y, x)
not equal             | exact | all        | not(eq(x, y)) = ne(x, y)
not unequal           | exact | all        | not(ne(x, y)) = eq(x, y)
of either             | exact | predicates | not(and(x, y)) = or(not(x), not(y))
of neither            | exact | predicates | not(or(x, y)) = and(not(x), not(y))
reciprocal            | real  | floats     | divide(x, y) = multiply(x, divide(1, y))
product of powers of e| real  | floats     | multiply(exponential(x), exponential(y)) = exponential(add(x, y))
reciprocal of root    | real  | floats     | divide(1, sqrt(x)) = rsqrt(x)
square                | real  | floats     | power(x, 2) = multiply(x, x)
root as power         | real  | floats     | power(x, 0.5) = sqrt(x)
cube                  | real  | floats     | power(x, 3) = multiply(x, multiply(x, x))
sigmoid               | real  | floats     | logistic(x) = divide(1, add(1, exponential(negate(x))))
logarithm shifted     | real  | floats     | log-plus-one(x) = log(add(x, 1))
exponential shifted   | real  | floats     | exponential-minus-one(x) = subtract(exponential(x), 1)
""")
)


def read_pattern(text: str) -> Pattern:
    tokens = re.findall(r"[a-z][a-z-]*|-?\d+(?:\.\d+)?|[(),]", text)
    found, rest = _read(tokens)
    if rest:
        raise ValueError(text)
    return found


def _read(tokens: list[str]) -> tuple[Pattern, list[str]]:
    head, *rest = tokens
    if rest and rest[0] == "(":
        args: list[object] = [head]
        while rest[0] in "(,":
            found, rest = _read(rest[1:])
            args.append(found)
        return tuple(args), rest[1:]
    if head in ("true", "false"):
        return head == "true", rest
    return (head if head.isalpha() else float(head)), rest


def rewritten(identity: Identity, term: App, view: View) -> Term | None:
    """The right side for a term that the left side matches at its root; None where it does not."""
    left, right = identity.sides
    for bound in _matches(left, term, {}, view):
        if type_of(bound.get("x", bound.get("p", term))) in KINDS[identity.on]:
            return _built(right, bound, type_of(term))
    return None


def _matches(pattern: Pattern, term: Term, bound: dict[str, Term], view: View) -> Iterator[dict[str, Term]]:
    if isinstance(pattern, str):
        if pattern not in bound:
            yield {**bound, pattern: term}
        elif bound[pattern] == term or view(bound[pattern]) == view(term):
            yield bound
        return
    seen = view(term)
    if isinstance(pattern, bool | float):
        type_ = type_of(seen)
        # A type without the number (a negative zero, a zero) holds NaN in its place, which is not the number.
        is_held = value_of(seen) == pattern
        if (type_ == "pred") == isinstance(pattern, bool) and is_held and seen == from_value(type_, pattern):
            yield bound
        return
    if not isinstance(seen, App):
        return
    op, *parts = pattern
    assert isinstance(op, str)
    if op in DIRECTIONS:
        if seen.op != "compare" or seen.key != (("direction", DIRECTIONS[op]),):
            return
    elif seen.op != op:
        return
    if len(parts) != len(seen.args):
        return
    orders = [seen.args, seen.args[::-1]] if op in SYMMETRIC else [seen.args]
    for args in orders:
        yield from _all_match(parts, args, bound, view)


def _all_match(
    parts: list[object], args: tuple[Term, ...], bound: dict[str, Term], view: View
) -> Iterator[dict[str, Term]]:
    if not parts:
        yield bound
        return
    for more in _matches(parts[0], args[0], bound, view):  # type: ignore[arg-type]
        yield from _all_match(parts[1:], args[1:], more, view)


def _built(pattern: Pattern, bound: dict[str, Term], type_: str) -> Term:
    if isinstance(pattern, str):
        return bound[pattern]
    if isinstance(pattern, bool | float):
        return from_value(type_, pattern if isinstance(pattern, bool) or type_ in FLOATS else int(pattern))
    op, *parts = pattern
    assert isinstance(op, str)
    if op in DIRECTIONS:
        inner = next(type_of(bound[p]) for p in parts if isinstance(p, str))
        args = tuple(_built(p, bound, inner) for p in parts)  # type: ignore[arg-type]
        return App("compare", "pred", args, (("direction", DIRECTIONS[op]),))
    types = ["pred", type_, type_] if op == "select" else [type_] * len(parts)
    return App(op, type_, tuple(_built(p, bound, t) for p, t in zip(parts, types, strict=True)))  # type: ignore[arg-type]


SIGNIFICANT: Final = {
    "f64": 53, "f32": 24, "bf16": 8, "f16": 11, "f8e5m2": 3, "f8e4m3": 4, "f8e3m4": 5, "f8e4m3fn": 4,
    "f8e4m3b11fnuz": 4, "f8e4m3fnuz": 4, "f8e5m2fnuz": 3, "f4e2m1fn": 2,
}  # fmt: skip
EXPONENT: Final = {
    "f64": 11, "f32": 8, "bf16": 8, "f16": 5, "f8e5m2": 5, "f8e4m3": 4, "f8e3m4": 3, "f8e4m3fn": 4,
    "f8e4m3b11fnuz": 4, "f8e4m3fnuz": 4, "f8e5m2fnuz": 5, "f4e2m1fn": 2,
}  # fmt: skip


def holds_all(wide: str, narrow: str) -> bool:
    """Whether `wide` holds every value of `narrow`."""
    if narrow == "pred":
        return wide != "pred"
    if wide in INTEGERS and narrow in INTEGERS:
        grown = width(wide) - (wide not in UNSIGNED) >= width(narrow) - (narrow not in UNSIGNED)
        return grown and (wide not in UNSIGNED or narrow in UNSIGNED)
    if wide in SIGNIFICANT and narrow in INTEGERS:
        return SIGNIFICANT[wide] >= width(narrow) and EXPONENT[wide] >= 8
    if wide in SIGNIFICANT and narrow in SIGNIFICANT:
        special = narrow.endswith(("fn", "fnuz")) or wide.endswith(("fn", "fnuz"))
        if special and not (wide in ("f32", "f64", "bf16") or (wide == "f16" and EXPONENT[narrow] < 5)):
            return wide == narrow
        return SIGNIFICANT[wide] >= SIGNIFICANT[narrow] and EXPONENT[wide] >= EXPONENT[narrow]
    return False


def converted_through(term: App, view: View) -> Term | None:
    """convert(convert(x)) is one convert where the type between holds every value of x."""
    inner = view(term.args[0]) if term.op == "convert" else None
    if isinstance(inner, App) and inner.op == "convert":
        source = type_of(inner.args[0])
        # A float that is too large for an integer type becomes its largest value, an integer wraps around.
        through_float = inner.type in FLOATS and source in INTEGERS and term.type in INTEGERS
        if through_float and not holds_all(term.type, source):
            return None
        if source != "pred" and term.type != "pred" and holds_all(inner.type, source):
            return inner.args[0] if source == term.type else App("convert", term.type, inner.args)
    return None


def converted_back(term: App, view: View) -> Term | None:
    """convert(convert(x)) from a float type through a narrower float type and back leaves a rounding out."""
    inner = view(term.args[0]) if term.op == "convert" else None
    if isinstance(inner, App) and inner.op == "convert":
        source = type_of(inner.args[0])
        if {source, inner.type, term.type} <= FLOATS and not holds_all(inner.type, source):
            return inner.args[0] if source == term.type else App("convert", term.type, inner.args)
    return None


def power_of_two_divisor(term: App, view: View) -> Term | None:
    """Division by a power of two whose reciprocal is held is multiplication by it, bit for bit."""
    if term.op != "divide" or term.type not in FLOATS:
        return None
    divisor = value_of(view(term.args[1]))
    if not isinstance(divisor, int | float) or divisor in (0.0,) or divisor != divisor or abs(divisor) == float("inf"):
        return None
    exact = 1 / Fraction(divisor)
    top = exact.numerator if abs(exact.numerator) > 1 else exact.denominator
    if (
        (abs(exact.numerator) != 1 and exact.denominator != 1)
        or top & (top - 1)
        or abs(exact) > 2**14
        or abs(exact) < Fraction(1, 2**14)
    ):
        return None
    held = from_value(term.type, float(exact))
    return App("multiply", term.type, (term.args[0], held)) if value_of(held) == float(exact) else None


def constant_divisor(term: App, view: View) -> Term | None:
    """Division by a constant is multiplication by its reciprocal, rounded."""
    if term.op != "divide" or term.type not in FLOATS:
        return None
    divisor = value_of(view(term.args[1]))
    if not isinstance(divisor, int | float) or not divisor or divisor != divisor:
        return None
    if _has_no_reciprocal(term.type, view(term.args[1])):
        return None
    return App("multiply", term.type, (term.args[0], from_value(term.type, 1 / float(divisor))))


def wide_arithmetic(term: App, view: View) -> Term | None:
    """Arithmetic on a narrow type in f32, rounded once: the same bits, as f32 has twice the digits and two more."""
    if term.type not in SIGNIFICANT or SIGNIFICANT[term.type] * 2 + 2 > 24 or term.op not in _WIDENED:
        return None
    if not holds_all("f32", term.type) or any(type_of(a) != term.type for a in term.args):
        return None
    return App(
        "convert", term.type, (App(term.op, "f32", tuple(App("convert", "f32", (a,)) for a in term.args), term.key),)
    )


def wide_function(term: App, view: View) -> Term | None:
    """A function on a narrow type computed in f32 and rounded."""
    if term.type not in SIGNIFICANT or SIGNIFICANT[term.type] >= 24 or term.op in _WIDENED or term.op not in _FUNCTIONS:
        return None
    return App(
        "convert", term.type, (App(term.op, "f32", tuple(App("convert", "f32", (a,)) for a in term.args), term.key),)
    )


def wide_comparison(term: App, view: View) -> Term | None:
    """A comparison of two narrow numbers is that of the same numbers in a wider type."""
    if term.op != "compare" or term.key != (("direction", dict(term.key).get("direction")),):
        return None
    a, b = view(term.args[0]), view(term.args[1])
    if isinstance(a, App) and isinstance(b, App) and a.op == b.op == "convert":
        source = type_of(a.args[0])
        if source == type_of(b.args[0]) and source != "pred" and holds_all(a.type, source):
            return App("compare", "pred", (a.args[0], b.args[0]), term.key)
    return None


def neutral_bound(term: App, view: View) -> Term | None:
    """The maximum with the lowest value, or the minimum with the highest, is the other operand."""
    if term.op not in ("maximum", "minimum") or term.type in COMPLEX or term.type == "pred":
        return None
    number = lowest(term.type) if term.op == "maximum" else highest(term.type)
    bound = from_value(term.type, number)
    if value_of(bound) != number:
        return None  # a type without infinities holds NaN in its place
    for k in (0, 1):
        if view(term.args[k]) == bound:
            return term.args[1 - k]
    return None


TOTAL_BITS: Final = {"f64": "s64", "f32": "s32", "bf16": "s16", "f16": "s16"}
"""The integers whose order is the total order of floats, once those of negative ones are turned over."""


def total_order(term: App, view: View) -> Term | None:
    """Floats in total order are the integers of their bits in order, those of negative ones turned over."""
    key = dict(term.key) if term.op == "compare" else {}
    source = type_of(term.args[0]) if key.get("type") == "TOTALORDER" else ""
    bits = TOTAL_BITS.get(source)
    if bits is None:
        return None
    zero, turn = from_value(bits, 0), from_value(bits, highest(bits))

    def ordered(x: Term) -> Term:
        pattern = App("bitcast-convert", bits, (x,))
        negative = App("compare", "pred", (pattern, zero), (("direction", "LT"),))
        return App("select", bits, (negative, App("xor", bits, (turn, pattern)), pattern))

    args = tuple(ordered(a) for a in term.args)
    return App("compare", "pred", args, (("direction", key["direction"]),))


def masked(term: App, view: View, kinds: frozenset[str]) -> Term | None:
    """x times a predicate as a number is x or 0."""
    if term.op != "multiply" or term.type not in kinds:
        return None
    for k in (0, 1):
        factor = view(term.args[k])
        if isinstance(factor, App) and factor.op == "convert" and type_of(factor.args[0]) == "pred":
            zero = from_value(term.type, 0)
            if value_of(zero) != 0:
                return None  # a type without zero
            return App("select", term.type, (factor.args[0], term.args[1 - k], zero))
    return None


def masked_float(term: App, view: View) -> Term | None:
    """Over real numbers: infinity times 0 is none, and a negative number times 0 is -0."""
    return masked(term, view, FLOATS)


def masked_integer(term: App, view: View) -> Term | None:
    """Bit for bit."""
    return masked(term, view, INTEGERS)


def shifted_quotient(term: App, view: View) -> Term | None:
    """Unsigned division by a power of two is a shift."""
    divisor = _power_of_two(term, view, "divide")
    if divisor is None:
        return None
    return App("shift-right-logical", term.type, (term.args[0], from_value(term.type, divisor.bit_length() - 1)))


def masked_remainder(term: App, view: View) -> Term | None:
    """The unsigned remainder by a power of two is a mask."""
    divisor = _power_of_two(term, view, "remainder")
    if divisor is None:
        return None
    return App("and", term.type, (term.args[0], from_value(term.type, divisor - 1)))


def signed_remainder(term: App, view: View) -> Term | None:
    """The signed remainder by a power of two: a mask of the magnitude, with the sign of the dividend."""
    divisor = value_of(view(term.args[1])) if term.op == "remainder" else None
    if not isinstance(divisor, int) or divisor <= 0 or divisor & (divisor - 1):
        return None
    return _by_magnitude(term, "and", divisor - 1)


def signed_quotient(term: App, view: View) -> Term | None:
    """The signed quotient by a power of two: a shift of the magnitude, with the sign of the dividend."""
    divisor = value_of(view(term.args[1])) if term.op == "divide" else None
    if not isinstance(divisor, int) or divisor <= 0 or divisor & (divisor - 1):
        return None
    return _by_magnitude(term, "shift-right-logical", divisor.bit_length() - 1)


def _by_magnitude(term: App, op: str, by: int) -> Term | None:
    x, kind = term.args[0], term.type
    if kind not in SIGNED:
        return None
    negative = App("compare", "pred", (x, from_value(kind, 0)), (("direction", "LT"),))
    magnitude = App("select", kind, (negative, App("negate", kind, (x,)), x))
    result = App(op, kind, (magnitude, from_value(kind, by)))
    return App("select", kind, (negative, App("negate", kind, (result,)), result))


def _power_of_two(term: App, view: View, op: str) -> int | None:
    if term.op != op or term.type not in UNSIGNED:
        return None
    divisor = value_of(view(term.args[1]))
    return divisor if isinstance(divisor, int) and divisor > 0 and not divisor & (divisor - 1) else None


_WIDENED: Final = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "abs", "sqrt"})
_FUNCTIONS: Final = frozenset(
    {
        "exponential",
        "log",
        "tanh",
        "logistic",
        "rsqrt",
        "power",
        "sine",
        "cosine",
        "exponential-minus-one",
        "log-plus-one",
    }
)

SPECIAL: Final[dict[str, tuple[Tier, Callable[[App, View], Term | None]]]] = {
    "convert through a wider type": ("exact", converted_through),
    "convert there and back": ("rounding", converted_back),
    "bound that never binds": ("exact", neutral_bound),
    "total order of bits": ("exact", total_order),
    "divided by a power of two": ("exact", power_of_two_divisor),
    "unsigned quotient by a power of two": ("exact", shifted_quotient),
    "signed quotient by a power of two": ("exact", signed_quotient),
    "signed remainder by a power of two": ("exact", signed_remainder),
    "unsigned remainder by a power of two": ("exact", masked_remainder),
    "divided by a constant": ("real", constant_divisor),
    "integer times a predicate": ("exact", masked_integer),
    "times a predicate": ("real", masked_float),
    "narrow arithmetic in f32": ("exact", wide_arithmetic),
    "narrow function in f32": ("rounding", wide_function),
    "comparison of widened numbers": ("exact", wide_comparison),
}
"""Identities whose types or constants are computed."""

IDENTITIES: Final[dict[str, Identity]] = {i.name: i for i in TABLE}


def _has_no_reciprocal(type_: str, divisor: Term) -> bool:
    """Whether a constant's reciprocal, rounded to the type, is 0 or no number: then it says nothing of the constant."""
    number = value_of(divisor)
    if not isinstance(number, int | float):
        return False
    if not number or not isfinite(number):
        return True
    reciprocal = value_of(from_value(type_, 1 / float(number)))
    return not isinstance(reciprocal, int | float) or not reciprocal or not isfinite(reciprocal)


def apply(name: str, term: App, view: View) -> tuple[Term, Tier] | None:
    """The term that the identity makes of this one, and its tier; None where it does not apply. Raises KeyError."""
    if name in SPECIAL:
        tier, function = SPECIAL[name]
        found = function(term, view)
    else:
        identity = IDENTITIES[name]
        if name == "reciprocal" and len(term.args) == 2 and _has_no_reciprocal(term.type, view(term.args[1])):
            return None
        tier, found = identity.tier, rewritten(identity, term, view)
    return None if found is None else (found, tier)
