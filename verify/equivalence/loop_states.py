"""States of loops: what they are called in the middle of one, and on which depends what a loop gives, and its end.

Trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hloproof.equivalence.graph import Node

LoopState = tuple[int, int]
"""The side of a loop and the number of one of its states."""


class FreeState(NamedTuple):
    """The key of a free node: any value that a class of equal states has in the middle of two loops."""

    depth: int
    """In how many turns of other loops these stand."""
    members: tuple[LoopState, ...]
    """Ascending."""
    valued: bool
    """The loop of the first of them is never without a value."""
    begins: tuple[Node, ...]
    """What each of them begins with, which it may be in every turn."""


def needed_states(
    after: Sequence[Node], holds: Node, varying: Mapping[Node, int]
) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
    """The numbers of the states on which depends how often the loop turns, and for each state that varies those on
    which its last value depends, the former included. Both go up.

    `varying` gives the number of each free state in `after`, the states after a turn, and in the condition `holds`.
    """
    direct = {k: _below(after[k], varying) for k in varying.values()}
    deciding = _closed(_below(holds, varying), direct)
    return tuple(sorted(deciding)), {k: tuple(sorted(deciding | _closed({k}, direct))) for k in direct}


def states_below(
    nodes: Sequence[Node], after: Sequence[Node], deciding: Sequence[int], varying: Mapping[Node, int]
) -> tuple[int, ...]:
    """The numbers of the states on which these nodes of the turns depend, those included on which depends how often
    the loop turns; going up. `after`, `deciding` and `varying` as for `needed_states`, or as it gives them."""
    direct = {k: _below(after[k], varying) for k in varying.values()}
    return tuple(sorted(_closed({*deciding}.union(*(_below(node, varying) for node in nodes)), direct)))


def _closed(first: set[int], direct: Mapping[int, set[int]]) -> set[int]:
    out, todo = set(first), list(first)
    while todo:
        for k in direct[todo.pop()] - out:
            out.add(k)
            todo.append(k)
    return out


def _below(root: Node, wanted: Mapping[Node, int]) -> set[int]:
    """The numbers of the wanted nodes that lie below."""
    out: set[int] = set()
    lowest = min((n.serial for n in wanted), default=0)
    seen, stack = {root}, [root]
    while stack:
        node = stack.pop()
        if node in wanted:
            out.add(wanted[node])
        for o in (*node.operands, *node.bodies):
            if o not in seen and o.serial >= lowest:
                seen.add(o)
                stack.append(o)
    return out
