"""Starts and indices without a sign that may come to be constants whose highest bit is set.

Where XLA finds that such a start is a constant it takes it for a negative number, and when it runs it does not: 200 of
eight bits is before the array, or far inside of it. What is a constant is the same whatever a module is given. So the
start is looked at for a few values of all that is given: where its highest bit is not set for one of them, it is no
such constant, by whatever steps a compiler goes. Trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.literals import literal_of
from hloproof.equivalence.loop_states import FreeState
from hloproof.models.interpreter.semantics.element_type import (
    INTEGERS,
    UNSIGNED,
    from_bits,
    highest,
    lowest,
    width,
    wrapping,
)

Between = tuple[float, float]
"""The least and the largest that an element is, inclusive; whole numbers for integers and predicates."""

_LOOKED_AT: Final = 1000
_WAITING: Final = 10_000
"""What is made of more is not followed."""
_GIVEN: Final[tuple[Callable[[int], int], ...]] = (
    lambda bits: 0,
    lambda bits: 1,
    lambda bits: 1 << bits - 1,
    lambda bits: 1 << bits >> 2,
)
"""What all integers that are given may be, by the bits of their type."""
_OPAQUE: Final = "custom-call"
"""Is not looked into: what it gives is anything, unless it is made of constants. What a loop gives is not, as it may be
what a state begins with, or what the last of a known number of turns makes of it."""
_OWN_PLACE: Final = frozenset({"partition-id", "replica-id"})
"""Of the first device 0, which is what they are where there is one alone."""
_MOVED: Final = {
    "all-gather": (0, None), "all-to-all": (0, None), "broadcast": (0, 1), "clamp": (0, 3), "concatenate": (0, None),
    "conditional": (1, None), "copy": (0, 1), "dynamic-slice": (0, 1), "dynamic-update-slice": (0, 2), "gather": (0, 1),
    "optimization-barrier": (0, None), "pad": (0, 2), "reshape": (0, 1), "reverse": (0, 1), "select": (1, 3),
    "slice": (0, 1), "sort": (0, None), "transpose": (0, 1),
}  # fmt: skip
"""Operations whose elements are elements of some of their operands: from which on, and up to which."""


def may_be_negative(start: Node) -> bool:
    """Whether the start, or an index of the tensor, is of a type without a sign and may become a constant so large that
    its highest bit is set."""
    if start.type not in UNSIGNED:
        return False
    return all(_largest(start, given) >= 1 << width(start.type) - 1 for given in _GIVEN)


def _largest(root: Node, given: Callable[[int], int]) -> float:
    """The most that an element is where all that is given is this."""
    known: dict[Node, Between | None] = {}
    stack = [root]
    while stack:
        if len(known) > _LOOKED_AT or len(stack) > _WAITING:
            return inf
        node = stack[-1]
        begins = _begins_with(node)
        waiting = [o for o in (*node.operands, *begins) if o not in known]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        found = _held(node, known, given)
        # A free state of a loop is also what the loop begins with, which it may be in every turn.
        known[node] = _any_of([found, *(known[b] for b in begins)]) if begins else found
    found = known[root]
    return inf if found is None else found[1]


def _begins_with(node: Node) -> tuple[Node, ...]:
    """Of a free state of loops, what they begin with."""
    return node.key.begins if isinstance(node.key, FreeState) else ()


def _held(node: Node, known: dict[Node, Between | None], given: Callable[[int], int]) -> Between | None:
    """What the elements are between; None for numbers of which nothing is known."""
    if 0 in node.sizes or node.head in _OWN_PLACE:
        return 0, 0
    if node.head == "constant":
        return _written(node)
    if node.type == "pred":
        return 0, 1
    made = node.operands[0] if node.head == "output" else node
    if not made.of_constants and (not made.operands or made.head == _OPAQUE):
        return _fitting(node.type, given(width(node.type) if node.type in INTEGERS else 2))
    found: Between | None
    if made.head in _MOVED or (made.head == "bitcast" and made.operands[0].type == made.type):
        values = made.operands[slice(*_MOVED.get(made.head, (0, 1)))]
        found = _any_of([known[o] for o in values if o.type == node.type])
    else:
        found = _computed(node, [known[o] for o in node.operands])
    return _all(node.type) if found is None else _fitting(node.type, *found)


def _all(type_: str) -> Between | None:
    return (lowest(type_), highest(type_)) if type_ in INTEGERS else None


def _any_of(parts: Sequence[Between | None]) -> Between | None:
    of = [p for p in parts if p is not None]
    return (min(p[0] for p in of), max(p[1] for p in of)) if of and len(of) == len(parts) else None


def _fitting(type_: str, low: float, high: float | None = None) -> Between | None:
    """What is left of whole numbers in the type: one of them wraps round, and of several anything may become."""
    if high is None or low == high:
        return (n := wrapping(type_)(int(low)), n) if type_ in INTEGERS else (low, low)
    every = _all(type_)
    return (low, high) if every is None or every[0] <= low <= high <= every[1] else every


def _written(node: Node) -> Between | None:
    assert isinstance(node.key, tuple)
    bits = literal_of(node.key, 1)
    values = [from_bits(node.type, b) for b in set(bits or ())]
    if not values or not all(isinstance(v, int | float) and isfinite(v) for v in values):
        return _all(node.type)
    return min(values), max(values)


def _computed(node: Node, held: list[Between | None]) -> Between | None:
    """What an operation gives, before it is brought into its type; None where that is not known."""
    if node.head == "iota":
        return 0, max(node.sizes) - 1
    if node.head == "get-dimension-size":
        return 0, max(node.operands[0].sizes)
    if node.head in ("convert", "bitcast-convert") and node.type in INTEGERS:
        (operand,), (found,) = node.operands, held
        whole = operand.type in INTEGERS and width(operand.type) == width(node.type)
        if found is None or (node.head != "convert" and not whole):
            return None
        low, high = int(found[0]), int(found[1])  # of a float what is behind the point is cut off
        # A float beyond the type is brought to its end, and does not wrap round.
        return None if operand.type not in INTEGERS and _fitting(node.type, low, high) != (low, high) else (low, high)
    if node.type not in INTEGERS or None in held or node.bodies:
        return None
    parts = [(int(h[0]), int(h[1])) for h in held if h is not None]
    bits = width(node.type)
    match parts:
        case [(a, b)]:
            return _of_one(node.head, a, b, bits)
        case [(a, b), (c, d)]:
            return _of_two(node.head, (a, b), (c, d), bits)
    return None


def _of_one(head: str, low: int, high: int, bits: int) -> Between | None:
    match head:
        case "negate":
            return -high, -low
        case "not":
            return -1 - high, -1 - low
        case "abs" | "sign" if low >= 0:
            return (low, high) if head == "abs" else (0, 1)
        case "count-leading-zeros" | "popcnt":
            return 0, bits
    return None


def _of_two(head: str, one: tuple[int, int], other: tuple[int, int], bits: int) -> Between | None:
    (a, b), (c, d) = one, other
    natural = a >= 0 and c >= 0
    match head:
        case "add":
            return a + c, b + d
        case "subtract":
            return a - d, b - c
        case "multiply":
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        case "maximum":
            return max(a, c), max(b, d)
        case "minimum":
            return min(a, c), min(b, d)
        case "divide" if natural and c > 0:
            return a // d, b // c
        case "remainder" if natural and a == b and c == d > 0:
            return a % c, a % c
        case "remainder" if natural:
            return 0, min(b, d - 1) if c > 0 else b  # by 0 it is what it was
        case "and" if a == b and c == d:
            return a & c, a & c
        case "and" if a >= 0 or c >= 0:
            return 0, min(n for low, n in (one, other) if low >= 0)
        case "or" | "xor" if a == b and c == d:
            n = a | c if head == "or" else a ^ c
            return n, n
        case "or" | "xor" if natural:
            return 0, (1 << max(b, d).bit_length()) - 1
        case "shift-left" if c == d >= 0:
            return (a << c, b << c) if c < bits else (0, 0)
        case "shift-right-logical" if natural:
            return a >> min(d, bits), b >> min(c, bits)
        case "shift-right-arithmetic" if natural and b >> bits - 1 == 0:  # else the highest bit stays set
            return a >> min(d, bits), b >> min(c, bits)
    return None
