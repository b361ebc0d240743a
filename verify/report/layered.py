"""Places for the nodes of an acyclic graph: layers from top to bottom, few crossings, nothing on top of anything.

The usual steps: the longest path gives the layer; an edge over several layers gets a place in each of them; the order
within a layer follows the mean of the neighbours; nodes then move towards their neighbours as far as there is room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_GAP: Final = 28.0
_ROUNDS: Final = 6
_BEND: Final = 8.0
"""The width of a place where an edge only passes."""


@dataclass
class Placed:
    """`x` is the middle of each node, `layer` counts from 0 at the top. `bends` are the middles of the places that an
    edge passes, from above to below, by (from, to)."""

    x: dict[str, float] = field(default_factory=dict)
    layer: dict[str, int] = field(default_factory=dict)
    bends: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    width: float = 0.0
    layers: int = 0


def place(widths: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> Placed:
    """Places for nodes in topological order, with their widths, and edges from earlier to later ones."""
    out = Placed()
    into: dict[str, list[str]] = {n: [] for n in widths}
    for a, b in edges:
        into[b].append(a)
    for n in widths:
        out.layer[n] = 1 + max((out.layer[a] for a in into[n]), default=-1)
    for n in reversed(list(widths)):  # what nobody computes stands right above its first user
        if not into[n]:
            out.layer[n] = max(0, min((out.layer[b] for a, b in edges if a == n), default=1) - 1)
    out.layers = 1 + max(out.layer.values(), default=-1)
    rows: list[list[str]] = [[] for _ in range(out.layers)]
    size = dict(widths)
    for n in widths:
        rows[out.layer[n]].append(n)
    near: dict[str, list[str]] = {n: [] for n in widths}
    chains: dict[tuple[str, str], list[str]] = {}
    for a, b in dict.fromkeys(edges):
        chain = [f"\0{a}\0{b}\0{k}" for k in range(out.layer[a] + 1, out.layer[b])]
        for k, bend in enumerate(chain, out.layer[a] + 1):
            rows[k].append(bend)
            size[bend], near[bend] = _BEND, []
        for one, two in zip((a, *chain), (*chain, b), strict=True):
            near[one].append(two)
            near[two].append(one)
        chains[a, b] = chain
    _order(rows, near)
    out.x = _settle(rows, near, size)
    least = min((out.x[n] - size[n] / 2 for n in size), default=0.0)
    out.x = {n: x - least for n, x in out.x.items()}
    out.width = max((out.x[n] + size[n] / 2 for n in size), default=0.0)
    out.bends = {edge: [out.x[bend] for bend in chain] for edge, chain in chains.items()}
    return out


def _order(rows: Sequence[list[str]], near: Mapping[str, Sequence[str]]) -> None:
    at = {n: float(k) for row in rows for k, n in enumerate(row)}
    for turn in range(_ROUNDS):
        for row in rows if turn % 2 == 0 else reversed(rows):
            row.sort(key=lambda n: sum(at[m] for m in near[n]) / len(near[n]) if near[n] else at[n])
            at.update((n, float(k)) for k, n in enumerate(row))


def _settle(
    rows: Sequence[Sequence[str]], near: Mapping[str, Sequence[str]], size: Mapping[str, float]
) -> dict[str, float]:
    x: dict[str, float] = {}
    for row in rows:
        edge = -sum(size[n] + _GAP for n in row) / 2
        for n in row:
            x[n] = edge + size[n] / 2
            edge += size[n] + _GAP
    for turn in range(2 * _ROUNDS):
        for row in rows if turn % 2 == 0 else list(reversed(rows)):
            wanted = {n: sum(x[m] for m in near[n]) / len(near[n]) if near[n] else x[n] for n in row}
            _pack(row, wanted, size, x)
    return x


def _pack(row: Sequence[str], wanted: Mapping[str, float], size: Mapping[str, float], x: dict[str, float]) -> None:
    """The order stays; who wants to be where others are shares the shift with them."""
    groups: list[tuple[list[str], float]] = []  # members, and where the left edge of the group wants to be

    def length(members: Sequence[str]) -> float:
        return sum(size[n] + _GAP for n in members)

    for n in row:
        members, left = [n], wanted[n] - size[n] / 2
        while groups and groups[-1][1] + length(groups[-1][0]) > left:
            before, start = groups.pop()
            total = len(before) + len(members)
            left = (start * len(before) + (left - length(before)) * len(members)) / total
            members = before + members
        groups.append((members, left))
    for members, left in groups:
        for n in members:
            x[n] = left + size[n] / 2
            left += size[n] + _GAP
