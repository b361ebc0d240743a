"""Where a module reads what it states: in which branches, and where in which loops.

Trusted. Two modules read something in the same place only if the same value chooses the branch, and if the loop is the
same: all parts of its state have the same values in all turns, and its turns read the same parts in the same places.
Which turns these are is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.marks import (
    Among,
    Applied,
    Branch,
    Exchanged,
    Handed,
    InLoop,
    LoopPosition,
    LoopReads,
    Marks,
    ReadIn,
    name_of,
)
from hloproof.equivalence.statements import Statements, each, union


class Within(NamedTuple):
    """A place in a loop or function where it reads something; or before an exchange, or that of what chooses."""

    of: Node
    """The loop with what is asked of it; or what applies the function; or what chooses, and of what that is made among
    which it does; or the exchange."""
    position: LoopPosition | Literal["chosen", "applied", "exchanged"]
    part: int = 0
    taken: frozenset[Branch | Within] = frozenset()
    """All of these are taken in that turn, or where it is applied, or on the device that gives it."""


Taken = frozenset[Branch | Within]
"""All of these are taken, and read there."""
ALWAYS: Taken = frozenset()


def is_taken_too(there: Taken, taken: Taken) -> bool:
    """Whether all is taken there, wherever the others are: on the same device."""
    if there and _exchanges(there) != _exchanges(taken):
        return False
    return all(one in taken or any(_is_around(one, other) for other in taken) for one in there)


def _is_around(one: Branch | Within, other: Branch | Within) -> bool:
    if isinstance(one, Branch) or isinstance(other, Branch):
        return False
    return one[:3] == other[:3] and is_taken_too(one.taken, other.taken)


def _exchanges(way: Taken) -> frozenset[Node]:
    """Between devices, between what reads it and what says it."""
    around = [one for one in way if isinstance(one, Within)]
    own = frozenset(one.of for one in around if one.position == "exchanged")
    return own.union(*(_exchanges(one.taken) for one in around))


@dataclass(frozen=True)
class ReadWhere:
    """Of one module, when all of it has been read."""

    graph: Graph
    """That of both modules."""
    marks: Marks
    says: Mapping[Statements, object]
    """What each statement says."""
    _ways: dict[Statements, dict[Statements, set[Taken]]] = field(default_factory=dict)

    def ways(self, seen: Statements, by: Statements) -> frozenset[Taken]:
        """In which places all of `by` are read where what is made of `seen` is; nowhere if there are none."""
        out = {ALWAYS}
        for one in each(by & ~self.marks.at_once(seen)):
            if one not in self._ways:
                self._ways[one] = self._of_marks(one)
            out = {a | b for a in out for b in _ways_in(seen, one, self._ways[one])}
        return frozenset(_fewest(out))

    def run(self, loop: Node, by: object, decided: Statements, run: Iterable[tuple[object, Statements]]) -> Node:
        """What decides whether a loop is run: the same where it does so with all that decides on the loop."""
        return self._signatures.run(loop, by, decided, run)

    def _of_marks(self, one: Statements) -> dict[Statements, set[Taken]]:
        """Where it is read in what each mark stands for, of those that stand for it."""
        out: dict[Statements, set[Taken]] = {}
        for mark, handed in self._in_order:
            found = {self._through(way, where) for of, where in handed for way in _ways_in(of, one, out)}
            if found:
                out[mark] = _fewest(found)
        return out

    def _through(self, way: Taken, where: ReadIn) -> Taken:
        """Where that is read, seen from the mark, which is read in such a way where the mark hands it on."""
        if where is None:
            return way
        if isinstance(where, Branch):
            return way | {where}
        if isinstance(where, Among):
            return way | {Within(self._signatures.among(where), "chosen")}
        if isinstance(where, Applied):
            return frozenset({Within(where.by, "applied", taken=way)})
        if isinstance(where, Exchanged):
            return frozenset({Within(where.by, "exchanged", taken=way)})
        place = Within(self._signatures.loop(where), where.position, where.part)
        if where.position != "begins":
            return frozenset({place._replace(taken=way)})
        exchanged = frozenset({Within(place.of, "exchanged", where.part, way)})
        return exchanged if where.loop.exchanges else way | {place}

    @cached_property
    def _in_order(self) -> list[tuple[Statements, tuple[Handed, ...]]]:
        return self.marks.in_order

    @cached_property
    def _signatures(self) -> _Signatures:
        return _Signatures(self.graph, self.marks, self.says)


class _Signatures:
    """What tells apart of what a value is made. Nodes that nobody computes."""

    def __init__(self, graph: Graph, marks: Marks, says: Mapping[Statements, object]) -> None:
        self._graph = graph
        self._parts, self._says = marks.parts, says
        self._flows: dict[Statements, Node] = {}
        """Of marks that stand for parts of states in turns: where these are read."""
        self._reads: dict[Statements, Node] = {}
        """Of all marks: where all is read that they stand for."""
        self._flowing = union(marks.parts)
        self._choosing: Statements = 0
        """Marks for what is chosen among the same: if the choice is wrong, that is worse the more else is."""
        self._loops: dict[tuple[LoopReads, bool], Node] = {}
        for mark, handed in marks.in_order:
            flows = [(where, of & self._flowing) for of, where in handed if of & self._flowing]
            if flows:
                self._flows[mark] = self._node(frozenset((self._where(where), self._flow(of)) for where, of in flows))
                self._flowing |= mark
            if any(isinstance(where, Among) or of & self._choosing for of, where in handed):
                self._choosing |= mark
            self._reads[mark] = self._node(frozenset((self._where(where), self._read(of)) for of, where in handed))

    def among(self, where: Among) -> Node:
        """The same for two that choose by the same value among what is made of the same."""
        return self._node(("among", where.selector, tuple(map(self._read, where.made))))

    def run(self, loop: Node, by: object, decided: Statements, run: Iterable[tuple[object, Statements]]) -> Node:
        """The same where it decides whether the loop is run with all that decides on the loop."""
        return self._node(("run", loop, by, self._read(decided), tuple((other, self._read(of)) for other, of in run)))

    def loop(self, where: InLoop) -> Node:
        """The same for two loops of which the same is asked, and that read the same parts in the same places."""
        loop = where.loop
        whole = bool(union((where.inside, loop.asked, *loop.turned)) & self._choosing)
        tell = self._read if whole else self._flow
        if (loop, whole) not in self._loops:
            begins = tuple(map(tell, loop.begins)) if whole else ()
            turned = tuple(map(tell, loop.turned))
            self._loops[loop, whole] = self._node(("loop", loop.turns, begins, turned, tell(loop.asked)))
        return self._node(("asked", self._loops[loop, whole], where.asked_for, tell(where.inside)))

    def _where(self, where: ReadIn) -> object:
        if isinstance(where, InLoop):
            return self.loop(where), where.position, where.part
        return self.among(where) if isinstance(where, Among) else where

    def _flow(self, statements: Statements) -> Node:
        """Which parts of states are read."""
        found = each(statements & self._flowing)
        return self._node(frozenset(self._flows.get(one) or self._parts[one] for one in found))

    def _read(self, statements: Statements) -> Node:
        """What is read. What nobody reads here is the same as nothing else."""
        return self._node(frozenset(self._reads.get(one) or self._said(one) for one in each(statements)))

    def _said(self, one: Statements) -> object:
        return self._parts.get(one) or self._says.get(one) or (self, one)

    def _node(self, key: object) -> Node:
        return name_of(self._graph, key)


def _ways_in(statements: Statements, one: Statements, of_marks: Mapping[Statements, set[Taken]]) -> set[Taken]:
    """Where it is read in what is made of these."""
    if one & statements:
        return {ALWAYS}
    return _fewest({way for mark, ways in of_marks.items() if mark & statements for way in ways})


def _fewest(ways: Iterable[Taken]) -> set[Taken]:
    """The same ways without those that others cover: a part of what is taken is enough, and so are all branches of a
    conditional, one after the other."""
    ways = set(ways)
    while True:
        whole = set[Taken]()
        for rest, selector, of in {(w - {b}, b.selector, b.of) for w in ways for b in w if isinstance(b, Branch)}:
            branches = (rest | {Branch(selector, k, of)} for k in range(of))
            if all(any(_is_enough(way, one) for way in ways) for one in branches):
                whole.add(rest)
        if whole <= ways:
            return {way for way in ways if not any(other != way and _is_enough(other, way) for other in ways)}
        ways |= whole


def _is_enough(way: Taken, one: Taken) -> bool:
    return way <= one and (not way or _exchanges(way) == _exchanges(one))
