"""Identities whose types or constants are computed: conversions, divisors, narrow types in f32, bounds, masks.

Trusted. Each is a function from a term to the term that equals it, or to None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Final

from hloproof.equivalence.answer import Tier
from hloproof.equivalence.foldable import only_bits_tell
from hloproof.equivalence.patterns import View
from hloproof.equivalence.terms import App, Term, from_value, is_static, may_be_flushed, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import (
    COMPLEX,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    highest,
    lowest,
    rounded,
    width,
)
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS

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
        # XLA takes the largest number of four bits for one that is too large for any integer.
        if source == "f4e2m1fn" and term.type in INTEGERS:
            return None
        if source != "pred" and term.type != "pred" and holds_all(inner.type, source):
            return inner.args[0] if source == term.type else App("convert", term.type, inner.args)
    return None


def converted_back(term: App, view: View) -> Term | None:
    """convert(convert(x)) from a float type through a narrower float type and back leaves a rounding out."""
    inner = view(term.args[0]) if term.op == "convert" else None
    if isinstance(inner, App) and inner.op == "convert":
        source = type_of(inner.args[0])
        if {source, term.type} <= FLOATS and inner.type in NUMBERS and not holds_all(inner.type, source):
            return inner.args[0] if source == term.type else App("convert", term.type, inner.args)
    return None


def is_near(type_: str, number: Fraction) -> bool:
    """Whether the type holds a number next to this one: not zero, nor infinite, nor one of the few that it has where
    numbers are too small for it. Of types that stand in no table only the number itself is next to it."""
    held = held_number(type_, number)
    if held is None or type_ not in SIGNIFICANT:
        return held == number
    return abs(Fraction(held) - number) <= abs(number) * Fraction(2) ** (1 - SIGNIFICANT[type_])


def held_number(type_: str, number: Fraction) -> float | None:
    """The number of the type that is next to it; None where that is infinite."""
    try:
        near = float(number)
    except OverflowError:
        return None
    found = rounded(type_, near)
    return found if isinstance(found, float) and isfinite(found) else None


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
    if has_no_reciprocal(term.type, view(term.args[1])):
        return None
    return App("multiply", term.type, (term.args[0], from_value(term.type, 1 / float(divisor))))


def wide_arithmetic(term: App, view: View) -> Term | None:
    """Arithmetic on a narrow type in f32, rounded once: the same bits, as f32 has twice the digits and two more."""
    if term.type not in SIGNIFICANT or SIGNIFICANT[term.type] * 2 + 2 > 24 or term.op not in _WIDENED:
        return None
    if not holds_all("f32", term.type) or any(type_of(a) != term.type for a in term.args):
        return None
    # XLA goes through f16 where it runs, which has not so many digits: three roots are rounded twice.
    if term.type == "f8e3m4" and term.op == "sqrt":
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
    values = [value_of(view(a)) for a in term.args]
    if bits is None or (all(map(is_static, term.args)) and (None in values or only_bits_tell(values))):
        return None  # of constants XLA may compute it, and otherwise
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


ACCURACY: Final = "result_accuracy"
"""The attribute that says how near a function comes to the true result."""


def accuracy_left_out(term: App, view: View) -> Term | None:
    """A function that is asked to be nearer to the true result than it has to be, or less near."""
    kept = tuple(pair for pair in term.key if pair[0] != ACCURACY) if isinstance(term.key, tuple) else term.key
    return None if kept == term.key else App(term.op, term.type, term.args, kept)


def bits_through(term: App, view: View) -> Term | None:
    """Bits that are read as one type and then as another are those of the last. A predicate keeps one bit of eight."""
    inner = view(term.args[0]) if term.op == "bitcast-convert" else None
    if not isinstance(inner, App) or inner.op != "bitcast-convert" or inner.type == "pred":
        return None
    (first,) = inner.args
    return first if type_of(first) == term.type else App("bitcast-convert", term.type, inner.args)


SPECIAL: Final[dict[str, tuple[Tier, Callable[[App, View], Term | None]]]] = {
    "convert through a wider type": ("exact", converted_through),
    "convert there and back": ("rounding", converted_back),
    "bits through another type": ("exact", bits_through),
    "the accuracy of a function left out": ("rounding", accuracy_left_out),
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


def has_no_reciprocal(type_: str, divisor: Term) -> bool:
    """Whether a constant has no reciprocal that the type holds a number next to: what it holds says nothing of the
    constant."""
    number = value_of(divisor)
    if not isinstance(number, int | float):
        return False
    if not number or not isfinite(number):
        return True
    reciprocal = 1 / Fraction(number)
    return not is_near(type_, reciprocal) or may_be_flushed(type_, held_number(type_, reciprocal))


def is_rounded_reciprocal(type_: str, divisor: Term) -> bool:
    """Whether a divisor is a constant whose reciprocal the type holds a rounded number for."""
    number = value_of(divisor)
    if not isinstance(number, int | float) or not number or not isfinite(number):
        return False
    held = value_of(from_value(type_, 1 / float(number)))
    return not isinstance(held, int | float) or not isfinite(held) or Fraction(held) * Fraction(number) != 1
