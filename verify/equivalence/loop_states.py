"""States of loops: what they are called in the middle of one, and on which depends what a loop gives, and its end.

Trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class NeededStates:
    """On which states of a loop something depends that stands in its turns, each by its number."""

    varying: Mapping[Node, int]
    """The number of each free state."""
    direct: Mapping[int, frozenset[int]]
    """Of each, on which it depends after one turn."""
    deciding: tuple[int, ...]
    """Those on which depends how often the loop turns; going up."""

    @classmethod
    def of(cls, after: Sequence[Node], holds: Node, varying: Mapping[Node, int]) -> NeededStates:
        """Of a loop with these states `after` a turn, and the condition `holds`."""
        direct = {k: _below(after[k], varying) for k in varying.values()}
        return cls(varying, direct, tuple(sorted(_closed(_below(holds, varying), direct))))

    def last_value(self, state: int) -> tuple[int, ...]:
        """On which the last value of a state depends, those included that decide; going up."""
        return self._with(frozenset({state}))

    def below(self, nodes: Iterable[Node]) -> tuple[int, ...]:
        """On which depends what these nodes are in all turns, those included that decide; going up."""
        return self._with(frozenset().union(*(_below(node, self.varying) for node in nodes)))

    def _with(self, first: frozenset[int]) -> tuple[int, ...]:
        return tuple(sorted({*self.deciding, *_closed(first, self.direct)}))


def _closed(first: frozenset[int], direct: Mapping[int, frozenset[int]]) -> set[int]:
    out, todo = set(first), list(first)
    while todo:
        for k in direct[todo.pop()] - out:
            out.add(k)
            todo.append(k)
    return out


def _below(root: Node, wanted: Mapping[Node, int]) -> frozenset[int]:
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
    return frozenset(out)
