"""Marks stand for statements that are read only where a branch is taken, or a loop takes turns.

Trusted. What a branch is given is read where it is taken. What a loop reads hangs on its turns, so that one mark stands
for all that a result of it is made of, or its end. Marks are made while a module is read, and stand among statements;
what they come to, and whether two modules read something in the same place, is told at the end (`read_where`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.statements import Statements, each, union


class Branch(NamedTuple):
    """A branch of a conditional, which a value chooses; of how many it is tells what else would choose it."""

    selector: Node
    number: int
    of: int


class Among(NamedTuple):
    """What nobody reads, and what may yet be worse where something else is wrong: what chooses among values that are
    the same, but not made of the same; how many turns there are of which a part is handed on as it was; what is waited
    for; what stands beside words that nobody knows. It licenses the same only where it is so among the same."""

    selector: Node
    """What chooses, or the end of the loop, or the token, or the instruction with its words."""
    made: tuple[Statements, ...]
    """Of what that is made among which it is; nothing for a token."""


LoopPosition = Literal["begins", "turn", "asked", "inside"]
"""What a part of the state begins with, what a turn leaves there, whether there is one more turn, and what else is run
in a turn. The first stands around the loop, the others in a turn."""


class InLoop(NamedTuple):
    """Where a loop reads something, of all that is read for one thing that is asked of it."""

    loop: LoopReads
    asked_for: int | Node
    """The number of a result, or a node that is its end or that of a loop inside."""
    inside: Statements
    """Of what that is made which is run in a turn, where it is asked for."""
    position: LoopPosition
    part: int = 0


class Applied(NamedTuple):
    """In a function that an operation applies."""

    by: Node
    """The operation, with what it is given and what the function gives."""


class Exchanged(NamedTuple):
    """On the devices that give it to an exchange: there other branches may be taken than where it is read."""

    by: Node


ReadIn = Branch | InLoop | Among | Applied | Exchanged | None
Handed = tuple[Statements, ReadIn]
"""Statements that are read, and where they are: always, if that is not said."""


def name_of(graph: Graph, key: object, of: Iterable[Node] = (), bodies: Iterable[Node] = ()) -> Node:
    """A node that nobody computes, and that is the same where all of these are."""
    return graph.node("read", "pred", (), of, key, bodies)


@dataclass
class Marks:
    """All that were made while one module was read."""

    behind: dict[Statements, tuple[Handed, ...]] = field(default_factory=dict)
    """For what each stands, in the order of their making: for what was made before."""
    in_functions: dict[Statements, tuple[Handed, ...]] = field(default_factory=dict)
    """The same in functions that operations apply, which are read once."""
    parts: dict[Statements, tuple[Node, int]] = field(default_factory=dict)
    """What stands in turns for a part of a loop's state: of which loop, and which part."""

    def leave(self, first: int) -> None:
        """Forgets all but the first, so many of them."""
        for mark in list(self.behind)[first:]:
            del self.behind[mark]

    def keep(self, first: int) -> None:
        """All but the first stand in a function."""
        self.in_functions.update(list(self.behind.items())[first:])
        self.leave(first)

    def of(self, mark: Statements) -> tuple[Handed, ...]:
        """For what it stands, if it is one."""
        return self.behind.get(mark) or self.in_functions.get(mark, ())

    @property
    def in_order(self) -> list[tuple[Statements, tuple[Handed, ...]]]:
        """All of them, each behind those that it stands for."""
        return sorted((self.in_functions | self.behind).items())

    def in_branch(self, branch: Branch, statements: Statements) -> Statements:
        """These where the branch is taken, which nothing then says of what it is given."""
        handed = ((one, self.of(one)) for one in each(statements))
        return union(of[0][0] if len(of) == 1 and of[0][1] == branch else one for one, of in handed)

    def waits(self, statements: Statements) -> bool:
        """All of them are read by nobody, as marks that stand for what a token is made of."""
        places = (where for one in each(statements) for _, where in self.of(one) or ((0, None),))
        return all(isinstance(where, Among) and not where.made for where in places)

    def all_in(self, statements: Statements) -> Statements:
        """These, and all that the marks among them stand for."""
        return self._closed(statements, at_once=False)

    def at_once(self, statements: Statements) -> Statements:
        """Those that are read whatever is taken; no marks."""
        return union(one for one in each(self._closed(statements, at_once=True)) if not self.of(one))

    def _closed(self, statements: Statements, at_once: bool) -> Statements:
        out, todo = 0, statements
        while todo:
            out |= todo
            found = (of for one in each(todo) for of, where in self.of(one) if where is None or not at_once)
            todo = union(found) & ~out
        return out


@dataclass(frozen=True, eq=False)
class LoopReads:
    """Of what the parts of a loop's state are made, and whether there is one more turn."""

    turns: Node
    """The values of all parts in all turns."""
    tags: Sequence[Statements]
    """What stands in a turn for each part."""
    begins: Sequence[Statements]
    turned: Sequence[Statements]
    """Behind a turn."""
    stay: Set[int]
    """The parts of which turns change no value."""
    asked: Statements
    exchanges: bool
    """Devices exchange something in it, so that a part may begin on another one."""

    def of(self, marks: Marks, asked_for: int | Node, inside: Statements = 0, asks: bool = True) -> tuple[Handed, ...]:
        """All of which that is made which is asked for: a result, by its number, or an end, or what is run `inside` of
        each turn and made of this. What `asks` for a turn is left out where the turn is taken for granted."""
        tags, asked = union(self.tags), self.asked if asks else 0
        result = asked_for if isinstance(asked_for, int) else None
        reached, found = 0, marks.all_in(asked | inside | (0 if result is None else self.tags[result])) & tags
        while found & ~reached:
            reached |= found
            found = marks.all_in(union(of for k, of in enumerate(self.turned) if self.tags[k] & reached)) & tags
        # It is asked before the first turn, whether there is one or not.
        at_once = marks.at_once(asked)
        out: list[Handed] = [(at_once & ~tags, None)]
        for k, begins in enumerate(self.begins):
            # If each turn makes a result of what it was, it is made of what it began with.
            kept = k == result and (k in self.stay or self.tags[k] & marks.at_once(self.turned[k]))
            if self.tags[k] & at_once or kept:
                out.append((begins, None))
            elif self.tags[k] & reached:
                out.append((begins, InLoop(self, asked_for, inside, "begins", k)))
        out += [(asked, InLoop(self, asked_for, inside, "asked"))]
        out += [(inside, InLoop(self, asked_for, inside, "inside"))]
        for k, left in enumerate(self.turned):
            if self.tags[k] & reached:
                out.append((left, InLoop(self, asked_for, inside, "turn", k)))
        return tuple((of & ~tags, where) for of, where in out if of & ~tags)
