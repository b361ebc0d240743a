"""Progressions: offset, offset + stride, ..., the values of an expression while the offset's variables are fixed.

Guesses: whoever uses one states and proves that it holds what it is said to.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from hloproof.models.expressions.expr import Binary, Const, Expr, postorder


@dataclass(frozen=True)
class Progression:
    """offset, offset + stride, ..., of `size` values, at least 1; `exact` where each is thought to occur, whatever the
    offset's variables are. `moving` are the variables that make them."""

    offset: Expr
    size: int
    stride: int
    exact: bool
    moving: frozenset[str] = frozenset()


def summed(x: Progression, y: Progression) -> Progression:
    """All sums of a place of x and one of y; where they leave gaps, or move together, the progression is not exact."""
    offset = folded(x.offset + y.offset)
    if x.size == 1 or y.size == 1:
        longer = y if x.size == 1 else x
        return Progression(offset, longer.size, longer.stride, x.exact and y.exact, x.moving | y.moving)
    stride = gcd(x.stride, y.stride)
    span = (x.size - 1) * x.stride + (y.size - 1) * y.stride
    fine, coarse = (x, y) if x.stride <= y.stride else (y, x)
    # The fine one must reach the next place of the coarse one.
    filled = fine.stride == stride and coarse.stride <= (fine.size - 1) * fine.stride + stride
    apart = not x.moving & y.moving
    exact = x.exact and y.exact and filled and apart
    return Progression(offset, span // stride + 1, stride, exact, x.moving | y.moving)


def times(x: Progression, factor: int) -> Progression:
    """Every place times the factor, which may be negative; from the lowest place on."""
    if factor == 0:
        return Progression(Const(0), 1, 1, True)
    if factor > 0:
        return Progression(folded(x.offset * factor), x.size, x.stride * factor, x.exact, x.moving)
    low = x.offset * factor + (x.size - 1) * x.stride * factor
    return Progression(folded(low), x.size, -factor * x.stride, x.exact, x.moving)


def divided(x: Progression, c: int) -> Progression | None:
    """The quotients by c > 0."""
    offset = folded(x.offset // c)
    if x.stride % c == 0:
        return Progression(offset, x.size, x.stride // c, x.exact, x.moving)
    if x.stride > c:
        return None
    # No quotient is left out; how many there are depends on how far into its block the first value is.
    reach = x.stride * (x.size - 1)
    latest = c - gcd(_known_factor(x.offset), c)
    most, least = (latest + reach) // c + 1, reach // c + 1
    return Progression(offset, most, 1, x.exact and most == least, x.moving if most > 1 else frozenset())


def remainders(x: Progression, c: int) -> Progression | None:
    """The remainders by c > 0; None where some blocks of c are left and entered in the middle."""
    block, reach = gcd(_known_factor(x.offset), c), x.stride * (x.size - 1)
    if reach < block:  # All in one block, whatever the offset is.
        return Progression(folded(x.offset % c), x.size, x.stride, x.exact, x.moving)
    step = gcd(x.stride, c)
    if x.size * x.stride >= c and x.stride == step:
        return Progression(folded(x.offset % step), c // step, step, x.exact, x.moving)
    return None


def _known_factor(e: Expr) -> int:
    """A number that divides every value of e; 0 for the constant 0."""
    done: dict[Expr, int] = {}
    for node in postorder(e):
        if isinstance(node, Const):
            done[node] = abs(node.value)
        elif isinstance(node, Binary) and node.op == "+":
            done[node] = gcd(done[node.lhs], done[node.rhs])
        elif isinstance(node, Binary) and node.op == "*":
            done[node] = done[node.lhs] * done[node.rhs]
        else:
            done[node] = 1
    return done[e]


def folded(e: Expr) -> Expr:
    """e with constants folded and neutral terms left out; enough for offsets to read well."""
    match e:
        case Binary("+", x, Const(0)) | Binary("+", Const(0), x) | Binary("*", x, Const(1)):
            return x
        case Binary("+", Const(a), Const(b)):
            return Const(a + b)
        case Binary("*", Const(a), Const(b)):
            return Const(a * b)
        case Binary("*", _, Const(0)) | Binary("floordiv" | "mod", Const(0), _):
            return Const(0)
        case Binary("+", Binary("+", x, Const(a)), Const(b)):
            return folded(Binary("+", x, Const(a + b)))
        case Binary("*", Binary("*", x, Const(a)), Const(b)):
            return folded(Binary("*", x, Const(a * b)))
        case Binary("floordiv", Binary("*", x, Const(a)), Const(b)) if b > 0 and a % b == 0:
            return folded(Binary("*", x, Const(a // b)))
        case Binary("floordiv", Binary("*", x, Const(a)), Const(b)) if a > 0 and b > 0 and b % a == 0:
            return folded(Binary("floordiv", x, Const(b // a)))
        case Binary("floordiv", x, Const(1)):
            return x
        case Binary("mod", Binary("*", _, Const(a)), Const(b)) if b and a % b == 0:
            return Const(0)
    return e
