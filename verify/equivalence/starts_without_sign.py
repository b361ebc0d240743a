"""Starts and indices without a sign that may come to be constants whose highest bit is set.

Where XLA finds that such a start is a constant it takes it for a negative number, and when it runs it does not: 200 of
eight bits is before the array, or far inside of it. Which of them become constants depends on what is simplified; so of
each start it is asked how large a constant it could become at most. Trusted.
"""

from __future__ import annotations

from math import prod
from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.literals import literal_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS, UNSIGNED, from_bits, highest, width

_GIVEN: Final = -1
"""Of what is given from outside, and so is never a constant."""
_LOOKED_AT: Final = 200
"""What is made of more is not followed."""
_HANDED_ON: Final = frozenset(
    "broadcast bitcast clamp concatenate convert copy dynamic-slice dynamic-update-slice gather maximum "
    "optimization-barrier output pad reshape reverse select slice sort transpose".split()
)
"""Operations whose elements are elements of their operands."""
_VALUES: Final = {"dynamic-slice": 1, "dynamic-update-slice": 2, "gather": 1}
"""How many of their operands come before those that say where."""
_FROM_OUTSIDE: Final = frozenset(
    {"custom-call", "free", "infeed", "parameter", "recv-done", "rng", "rng-bit-generator"}
)


def may_be_negative(start: Node) -> bool:
    """Whether the start, or an index of the tensor, is of a type without a sign and may become a constant so large that
    its highest bit is set."""
    if start.type not in UNSIGNED:
        return False
    largest = _largest(start)
    return largest is None or largest >> (width(start.type) - 1) > 0


def _largest(root: Node) -> int | None:
    """The largest number that an element could be if it became a constant, none of them being negative; None where that
    is not known, and -1 where it cannot become one."""
    known: dict[Node, int | None] = {}
    stack = [root]
    while stack:
        if len(known) > _LOOKED_AT:
            return None
        node = stack[-1]
        waiting = [o for o in node.operands if o not in known]
        if waiting and node.head not in _FROM_OUTSIDE:
            stack += waiting
            continue
        stack.pop()
        found = _largest_of(node, [known.get(o) for o in node.operands])
        known[node] = None if found is None or (found >= 0 and not _holds(node.type, found)) else found
    return known[root]


def _holds(type_: str, number: int) -> bool:
    return type_ == "pred" or (type_ in INTEGERS and number <= highest(type_))


def _largest_of(node: Node, held: list[int | None]) -> int | None:
    if node.head == "constant":
        return _largest_written(node)
    if node.type == "pred":
        return 1
    if node.head in _FROM_OUTSIDE:
        return None if node.operands and node.of_constants else _GIVEN
    if node.head in _HANDED_ON:
        if node.head == "bitcast" and node.operands[0].type != node.type:
            return None
        values = held[: _VALUES.get(node.head)]
        of = [h for h in values if h is not None]
        return max(of) if of and len(of) == len(values) else None
    bounded = [h for h in held if h is not None and h >= 0]
    match node.head:
        case "iota":
            return max((*node.sizes, 1)) - 1
        case "add" | "multiply" if len(bounded) == len(held):
            return sum(bounded) if node.head == "add" else prod(bounded)
        case "and" | "minimum" if node.type in UNSIGNED:
            return min(bounded, default=None)
        case "divide" | "remainder" if node.type in UNSIGNED:
            divisor = _one_number(node.operands[1])
            if divisor:
                return divisor - 1 if node.head == "remainder" else highest(node.type) // divisor
    return None


def _largest_written(node: Node) -> int | None:
    assert isinstance(node.key, tuple)
    bits = literal_of(node.key, 1)
    if bits is None or node.type not in INTEGERS | {"pred"}:
        return None
    values = [int(from_bits(node.type, b)) for b in set(bits)]
    return max(values, default=0) if min(values, default=0) >= 0 else None


def _one_number(node: Node) -> int | None:
    """The number that all elements of the tensor are, if they are one constant."""
    while node.head in ("broadcast", "reshape") and node.operands:
        (node,) = node.operands
    return _largest_written(node) if node.head == "constant" and node.key[0] == "all" else None
