"""Operations on elements: which are known, how some are written with others, which have a value everywhere.

Trusted.
"""

from __future__ import annotations

from typing import Final

from hloproof.models.expressions.expr import Const
from hloproof.tensor_rules.terms import App, Cond, Elem, Fold, Num, Term

KNOWN: Final = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "remainder", "negate", "abs", "maximum", "minimum", "clamp"),
        *("select", "compare", "and", "or", "xor", "not", "sqrt", "rsqrt", "power", "logistic"),
        *("exponential", "exponential-minus-one", "log", "log-plus-one"),
        *("bitwise-and", "bitwise-or", "bitwise-xor", "bitwise-not"),
        *("shift-left", "shift-right-logical", "shift-right-arithmetic"),
    }
)
"""Operations on elements of which something is known."""
PARTIAL: Final = frozenset({"divide", "remainder", "log", "log-plus-one", "sqrt", "rsqrt", "power"})
"""Over reals these have no value somewhere."""
TOTAL: Final = (KNOWN - PARTIAL) | {
    *("asinh", "atan", "cbrt", "ceil", "cosh", "cosine", "erf", "floor", "infinity", "is-finite"),
    *("round-nearest-afz", "round-nearest-even", "sign", "sine", "sinh", "tanh"),
}
"""These have a value everywhere. Of a function that nothing is known of nothing says that it has."""
LARGEST_EXPONENT: Final = 8
LARGEST_SHIFT: Final = 64
FUNCTIONS: Final = frozenset(
    {"exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt", "rsqrt", "power"}
)
"""Known over reals only."""


def definition(op: str, args: tuple[Term, ...]) -> Term | None:
    """What the operation is written with; None where it is by itself."""
    one, two = Num(Const(1)), Num(Const(2))
    match op, args:
        case "logistic", (x,):
            return App("divide", (one, App("add", (one, App("exponential", (App("negate", (x,)),))))))
        case "exponential-minus-one", (x,):
            return App("subtract", (App("exponential", (x,)), one))
        case "log-plus-one", (x,):
            return App("log", (App("add", (x, one)),))
        case "rsqrt", (x,):
            return App("divide", (one, App("sqrt", (x,))))
        case "power", (x, App("divide", (a, b))) if (a, b) == (one, two):
            return App("sqrt", (x,))
        case "power", (x, Num(Const(k))) if 1 <= k <= LARGEST_EXPONENT:
            return x if k == 1 else App("multiply", (App("power", (x, Num(Const(k - 1)))), x))
    return None


def of_bits(op: str, args: tuple[Term, ...]) -> Term | None:
    """Integers in two's complement, of any width: what is left of them beside 0 or themselves, and multiples."""
    zero = Num(Const(0))
    match op, args:
        case "bitwise-not", (x,):
            return App("subtract", (App("negate", (x,)), Num(Const(1))))
        case "bitwise-and", (x, y) if zero in (x, y):
            return zero
        case "bitwise-or" | "bitwise-xor", (x, y) if zero in (x, y):
            return x if y == zero else y
        case "bitwise-and" | "bitwise-or", (x, y) if x == y:
            return x
        case "bitwise-xor", (x, y) if x == y:
            return zero
        case "shift-left", (x, Num(Const(k))) if 0 < k <= LARGEST_SHIFT:
            return App("multiply", (x, Num(Const(2**k))))
        case "shift-left" | "shift-right-logical" | "shift-right-arithmetic", (x, y) if y == zero:
            return x
    return None


def unbounded(op: str, args: tuple[Term, ...]) -> Term | None:
    """A maximum with minus infinity, or a minimum with infinity, is the other operand."""
    neutral = {"maximum": "-", "minimum": "+"}.get(op)
    if neutral is None:
        return None
    for k, a in enumerate(args):
        if a == App("infinity", (), neutral):
            return args[1 - k]
    return None


def is_truth(term: Term) -> bool:
    """Whether the term is true or false and no number."""
    match term:
        case Elem():
            return term.pred
        case App(op, args):
            logical = op in ("compare", "and", "or", "xor", "not")
            return logical or (op == "select" and any(map(is_truth, args[1:])))
        case Fold(op):
            return op in ("and", "or")
        case Cond(_, then, other):
            return is_truth(then) or is_truth(other)
    return False


def is_total(term: Term) -> bool:
    """Whether the term has a value whatever its elements are, over reals."""
    match term:
        case App(op, args):
            return op in TOTAL and all(map(is_total, args))
        case Fold(op, _, body, init):
            # The largest of nothing is no number.
            return op not in ("maximum", "minimum") and is_total(body) and (init is None or is_total(init))
        case Elem() | Num():
            return True
    return is_total(term.then) and is_total(term.other)


def holds_infinity(term: Term) -> bool:
    """Whether an infinity is among what the term is made of."""
    match term:
        case App(op, args):
            return op == "infinity" or any(map(holds_infinity, args))
        case Fold(_, _, body, init):
            return holds_infinity(body) or (init is not None and holds_infinity(init))
        case Cond(_, then, other):
            return holds_infinity(then) or holds_infinity(other)
    return False
