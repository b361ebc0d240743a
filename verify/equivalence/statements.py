"""What a module states and nobody here checks, and of which statements each part of a value is made.

Trusted. A promise, or a number of turns that a text says a loop takes, licenses the same in the module after only where
it is needed: whether it is true of what neither the root nor an effect is made of, nobody sees. It is told part by
part: a tuple, a call, a branch, a turn of a loop and what flies hand on their parts; every other operation reads all
XX"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hloproof.equivalence.graph import Node

Statements = int
"""A set of them, each a bit: they are united at every instruction."""


class Branch(NamedTuple):
    """A branch of a conditional, which a value chooses; of how many it is tells what else would choose it. That a loop
    takes a turn is the first of two."""

    selector: Node
    number: int
    of: int


Taken = frozenset[Branch]
"""Branches that are all taken."""
ALWAYS: Taken = frozenset()


@dataclass
class Sources:
    """Of which statements the instruction is made that is read."""

    given: Sequence[list[Statements]]
    """Of each operand, tensor by tensor, from left to right."""
    own: Statements = 0
    """Those that it makes itself, and those of functions that it applies."""
    parts: list[Statements] | None = None
    """Of each tensor that it gives, where it hands on parts."""
    acts: bool = False
    """It is an effect, so that it is needed."""

    @property
    def all_given(self) -> Statements:
        """Those of all operands."""
        return union(map(union, self.given))

    def of_result(self, tensors: int) -> list[Statements]:
        """Of each of so many tensors that it gives."""
        parts = [self.all_given] * tensors if self.parts is None else self.parts
        assert len(parts) == tensors
        return [s | self.own for s in parts]


def union(sets: Iterable[Statements]) -> Statements:
    """What stands in any of them."""
    out = 0
    for one in sets:
        out |= one
    return out


Handed = tuple[Statements, Branch | None]
"""Statements that are read, and the branch in which they are."""


@dataclass
class Entered:
    """Statements that stand for others: for those of a tensor that a branch is given, which are read where it is taken,
    and for those of a part of a loop's state, which are read before the turns or behind one."""

    behind: dict[Statements, tuple[Handed, ...]] = field(default_factory=dict)
    """For what each stands; in the order of their making."""
    in_functions: dict[Statements, tuple[Handed, ...]] = field(default_factory=dict)
    """The same in functions that operations apply, which are read once."""
    _found: dict[Statements, dict[Statements, set[Taken]]] = field(default_factory=dict)

    def leave(self, first: int) -> None:
        """Forgets all but the first, so many of them."""
        for mark in list(self.behind)[first:]:
            del self.behind[mark]

    def keep(self, first: int) -> None:
        """All but the first stand in a function."""
        self.in_functions.update(list(self.behind.items())[first:])
        self.leave(first)

    def read_where(self, seen: Statements, by: Statements) -> frozenset[Taken]:
        """In which branches all of `by` are read where what is made of `seen` is; nowhere if there are none. To be
        asked when all has been read."""
        if not by & ~seen:
            return frozenset({ALWAYS})
        if seen not in self._found:
            self._found[seen] = self._ways(seen)
        ways = self._found[seen]
        out = {ALWAYS}
        for one in _each(by):
            there = {ALWAYS} if one & seen else set[Taken]()
            for mark, taken in ways.items():
                there.update(*(_through(taken, branch) for of, branch in self._of(mark) if of & one))
            out = {a | b for a in out for b in there}
        return frozenset(_fewest(out))

    def _ways(self, seen: Statements) -> dict[Statements, set[Taken]]:
        """Where each is read that stands for others."""
        marks = union((*self.behind, *self.in_functions))
        ways = {mark: {ALWAYS} for mark in _each(seen & marks)}
        todo = list(ways)
        while todo:
            mark = todo.pop()
            for of, branch in self._of(mark):
                new = _through(ways[mark], branch)
                for other in _each(of & marks):
                    before = ways.get(other, set())
                    found = _fewest(before | new)
                    if found != before:
                        ways[other] = found
                        todo.append(other)
        return ways

    def _of(self, mark: Statements) -> tuple[Handed, ...]:
        return self.behind.get(mark) or self.in_functions[mark]


def _through(ways: Iterable[Taken], branch: Branch | None) -> set[Taken]:
    return {way if branch is None else way | {branch} for way in ways}


def _each(statements: Statements) -> Iterator[Statements]:
    while statements:
        one = statements & -statements
        yield one
        statements ^= one


def _fewest(ways: set[Taken]) -> set[Taken]:
    """The same ways without those that others cover: a part of the branches is enough, and so are all of a
    conditional, one after the other."""
    while True:
        whole = set[Taken]()
        for rest, selector, of in {(way - {b}, b.selector, b.of) for way in ways for b in way}:
            each = (rest | {Branch(selector, k, of)} for k in range(of))
            if all(any(way <= one for way in ways) for one in each):
                whole.add(rest)
        if whole <= ways:
            return {way for way in ways if not any(other < way for other in ways)}
        ways = ways | whole
