"""What a module states and nobody here checks, and of which statements each part of a value is made.

Trusted. A promise, or a number of turns that a text says a loop takes, licenses the same in the module after only where
it is needed: whether it is true of what neither the root nor an effect is made of, nobody sees. It is told part by
part: a tuple, a call, a branch, a turn of a loop and what flies hand on their parts; every other operation reads all
that it is given, also what comes to nothing in it. What a branch is given is read where it is taken, and what a loop
reads is read in the same turns only by the same loop: which turns these are is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hloproof.equivalence.graph import Node

Statements = int
"""A set of them, each a bit: they are united at every instruction."""


class Branch(NamedTuple):
    """A branch of a conditional, which a value chooses; of how many it is tells what else would choose it."""

    selector: Node
    number: int
    of: int


class Within(NamedTuple):
    """Where a loop reads something: in the part of its state that `begins` with it, in that in which a `turn` leaves
    it, where it is `asked` whether there is one more, or `inside` of a turn. Also where something has `chosen` among
    values that are the same."""

    of: Node
    """A result of the loop, or its end, or what has chosen: where it is the same, the same turns read the same."""
    where: Literal["begins", "turn", "asked", "inside", "chosen"]
    part: int = 0


Taken = frozenset[Branch | Within]
"""All of these are taken, and loops read there; branches in a turn stand beside the loop that takes it."""
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


Handed = tuple[Statements, Branch | Within | None]
"""Statements that are read, and where they are."""


@dataclass
class Entered:
    """Marks, which stand for other statements: for those of a tensor that a branch is given, which are read where it is
    taken, and for all that a loop reads of which a result or its end is made."""

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

    def all_in(self, statements: Statements) -> Statements:
        """These, and all that the marks among them stand for."""
        out, todo = 0, statements
        while todo:
            out |= todo
            todo = union(of for one in _each(todo) for of, _ in self._of(one)) & ~out
        return out

    def leaves_in(self, statements: Statements) -> Statements:
        """All that they stand for in the end."""
        return union(one for one in _each(self.all_in(statements)) if not self._of(one))

    def read_at_once(self, statements: Statements) -> Statements:
        """Those that are read whatever is taken, of what is read in a turn."""
        ways = ((one, self._of(one)) for one in _each(statements))
        return union(one if not of else union(s for s, where in of if where is None) for one, of in ways)

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
        return self.behind.get(mark) or self.in_functions.get(mark, ())


class PartInTurn(NamedTuple):
    """A part of a loop's state that turns may change."""

    tag: Statements
    """What stands for it in a turn."""
    begins: Statements
    left: Statements
    """Of what it is made behind a turn."""


@dataclass(frozen=True)
class LoopReads:
    """Where a loop reads what."""

    entered: Entered
    states: Mapping[int, PartInTurn]
    asked: Statements
    """Of what it is made whether there is one more turn."""

    def of(self, loop: Node, inside: Statements = 0, part: int | None = None) -> tuple[Handed, ...]:
        """All that something is made of in the loop, which that is known by: its end, the `part` of its result, or what
        is run `inside` of each turn and made of this."""
        tags = union(s.tag for s in self.states.values())
        first = self.asked | inside | (0 if part is None else self.states[part].tag)
        reached, found = 0, self.entered.all_in(first) & tags
        while found & ~reached:
            reached |= found
            found = self.entered.all_in(union(s.left for s in self.states.values() if s.tag & reached)) & tags
        # It is asked before the first turn, whether there is one or not.
        out: list[Handed] = [(self.entered.read_at_once(self.asked), None)]
        out += [(self.asked, Within(loop, "asked")), (inside, Within(loop, "inside"))]
        for k, s in self.states.items():
            if s.tag & self.asked or (k == part and s.tag & s.left):  # each turn makes it of what it was
                out.append((s.begins, None))
            if s.tag & reached:
                out += [(s.begins, Within(loop, "begins", k)), (s.left, Within(loop, "turn", k))]
        return tuple((of & ~tags, where) for of, where in out if of & ~tags)


def _through(ways: Iterable[Taken], where: Branch | Within | None) -> set[Taken]:
    return {way if where is None else way | {where} for way in ways}


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
        for rest, selector, of in {(w - {b}, b.selector, b.of) for w in ways for b in w if isinstance(b, Branch)}:
            each = (rest | {Branch(selector, k, of)} for k in range(of))
            if all(any(way <= one for way in ways) for one in each):
                whole.add(rest)
        if whole <= ways:
            return {way for way in ways if not any(other < way for other in ways)}
        ways = ways | whole
