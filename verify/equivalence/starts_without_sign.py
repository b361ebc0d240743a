"""Starts and indices without a sign that may come to be constants whose highest bit is set.

Where XLA finds that such a start is a constant it takes it for a negative number, and when it runs it does not: 200 of
eight bits is before the array, or far inside of it. So of each start it is asked how large a constant it could become.
What is computed of what is given is none, unless the operation gives the same whatever that is. Trusted.
"""

from __future__ import annotations

from math import prod
from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.literals import literal_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS, UNSIGNED, from_bits, highest, width

_GIVEN: Final = -1
"""Of what is given from outside, and so is never a constant."""
_LOOKED_AT: Final = 1000
"""What is made of more is not followed."""
_HANDED_ON: Final = frozenset(
    "broadcast clamp concatenate convert copy dynamic-slice dynamic-update-slice gather maximum "
    "optimization-barrier output pad reshape reverse select slice sort transpose".split()
)
"""Operations whose elements are elements of their operands."""
_VALUES: Final = {"dynamic-slice": 1, "dynamic-update-slice": 2, "gather": 1}
"""How many of their operands come before those that say where."""


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
        if waiting:
            stack += waiting
            continue
        stack.pop()
        found = _largest_of(node, [known.get(o) for o in node.operands])
        known[node] = None if found is None or (found >= 0 and not _holds(node.type, found)) else found
    return known[root]


def _holds(type_: str, number: int) -> bool:
    return type_ == "pred" or (type_ in INTEGERS and number <= highest(type_))


def _largest_of(node: Node, held: list[int | None]) -> int | None:
    if 0 in node.sizes:  # what is folded of it follows from the rest alone
        return 0
    if node.head == "constant":
        return _largest_written(node)
    if node.type == "pred":
        return 1
    same = _whatever_is_given(node)
    if same is not None:
        return same
    if node.head in _HANDED_ON or (node.head == "bitcast" and node.operands[0].type == node.type):
        values = held[: _VALUES.get(node.head)]
        of = [h for h in values if h is not None]
        return max(of) if of and len(of) == len(values) else None
    if node.bodies and node.head != "while":  # a function may look at nothing that it is given
        return None
    if _GIVEN in held or (not node.operands and not node.of_constants):
        return _GIVEN
    bounded = [h for h in held if h is not None]
    match node.head:
        case "iota":
            return max((*node.sizes, 1)) - 1
        case "add" | "multiply" if len(bounded) == len(held):
            return sum(bounded) if node.head == "add" else prod(bounded)
    return None


def _whatever_is_given(node: Node) -> int | None:
    """The number that an operation gives whatever one of its operands is."""
    if len(node.operands) != 2 or node.type not in INTEGERS:
        return None
    one, other = node.operands
    numbers = {_one_number(one), _one_number(other)}
    match node.head:
        case "and" | "minimum" | "multiply" if 0 in numbers and (node.head != "minimum" or node.type in UNSIGNED):
            return 0
        case "or" if highest(node.type) in numbers and node.type in UNSIGNED:
            return int(highest(node.type))
        case "divide" | "remainder" | "subtract" | "xor" if one is other:
            return int(node.head == "divide")
        case "remainder" if _one_number(other) == 1:
            return 0
        case "shift-left" | "shift-right-logical" if (_one_number(other) or 0) >= width(node.type):
            return 0
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
