"""What a module states and nobody here checks, and of which statements each part of a value is made.

Trusted. A promise, or a number of turns that a text says a loop takes, is told with the proof unless the module before
rests on it as well: whether it is true of what neither the root nor an effect is made of, nobody sees.

It is told part by part: a tuple, a call, a branch, a turn of a loop and what flies hand on their parts; every other
operation reads all that it is given, also what comes to nothing in it.

A value is made of a set of statements: what is wrong in one of them makes it undefined. Where it is read in one branch,
in turns, in functions or on other devices, a statement that stands for all of this tells how it is read, by what, and
of what. Both modules have one table of them, so that two of the same key are undefined in the same cases. One that
differs licenses nothing, however little it differs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hloproof.equivalence.graph import Node

Statements = int
"""A set of them, each a bit: they are united at every instruction."""


class Branch(NamedTuple):
    """A branch of a conditional, which a value chooses; of how many it is tells what else would choose it."""

    selector: Node
    number: int
    of: int


@dataclass(frozen=True)
class _Statement:
    """What is known of one, apart from its key."""

    label: str | None
    """What is told of it, if it is no other that stands for some."""
    inside: Statements
    """Those that are said in what it stands for, with the parts of its state, and the arguments, that it reads."""
    around: Statements
    """Those that it is given: if none of them is wrong, and none inside, it is not."""
    always: Statements
    """Those of which any, if it is wrong, makes it wrong as well."""
    all: Statements
    """All in it that stand for no others; it alone, if it does not."""


@dataclass
class StatementTable:
    """All statements of both modules."""

    _bits: dict[Hashable, Statements] = field(default_factory=dict)
    _of: dict[Statements, _Statement] = field(default_factory=dict)
    _given: Statements = 0
    """What stands for arguments, and parts of a state, in what is read for all of them at once."""
    _labelled: Statements = 0
    """Those that are told."""

    def said(self, label: str, key: Hashable) -> Statements:
        """A promise, of which `key` tells all that decides whether it holds."""
        one = self._put(("said", label, key), label=label)
        self._labelled |= one
        return one

    def met(self, key: Hashable) -> Statements:
        """That devices meet there, which states nothing: which of them do is chosen where it stands."""
        return self._put(("met", key))

    def given(self, key: Hashable) -> Statements:
        """What stands in a turn for a part of a loop's state, or in a function for an argument."""
        bit = self._put(("given", key))
        self._given |= bit
        return bit

    def chosen(
        self,
        selector: Node,
        chosen_by: Statements,
        of_branches: Sequence[Statements],
        differ: bool,
        surely: bool = True,
    ) -> Statements:
        """What one of the branches gives. They `differ` in their values, `surely` or perhaps; or they are one value and
        only made of something else."""
        if len({*of_branches}) == 1 and not (differ and chosen_by):
            return of_branches[0]
        always = self.always(of_branches[0])
        for of in of_branches[1:]:
            always &= self.always(of)
        if differ and surely:
            always |= self.always(chosen_by)
        key = "chosen", selector, chosen_by, tuple(of_branches), differ, surely
        return self._put(key, around=chosen_by | union(of_branches), always=always)

    def whole(self, key: Hashable, of: Statements) -> Statements:
        """What is wrong, if it is, for one of these, and in the same cases wherever it has the same key and is made of
        the same."""
        return self._put(("whole", key, of), around=of) if of else 0

    def repeated(
        self, key: Hashable, inside: Sequence[Statements], around: Sequence[Statements], always: Statements = 0
    ) -> Statements:
        """What is read `inside` of what is run several times, or nobody knows how often, and given what is `around`:
        its states first, say. `key` tells all values in it. If all around is right, it is wrong in the same cases
        wherever the key, and all that is read inside, is the same."""
        within = union(map(self._said_in, inside))
        if not within and not any(around):
            return 0
        own = self._put(("inside", key, *inside), inside=within) if within else 0
        return self._put(("repeated", key, *inside, None, *around), around=own | union(around), always=own | always)

    def always(self, statements: Statements) -> Statements:
        """Those of which any, if it is wrong, makes what is made of these undefined."""
        return union(self._of[one].always for one in each(statements))

    def _said_in(self, statements: Statements) -> Statements:
        """All in these but what is given."""
        return union(self._of[one].all for one in each(statements)) & ~self._given

    def given_in(self, statements: Statements) -> Statements:
        """All in these that stands for something given."""
        return union(self._of[one].all for one in each(statements)) & self._given

    def label(self, one: Statements) -> str:
        """What is told of a promise."""
        label = self._of[one].label
        assert label is not None
        return label

    def not_licensed(self, needed: Statements, seen: Statements) -> Statements:
        """Of what the module after is made, the promises that may be wrong where the module before, which is made of
        `seen`, is defined."""
        out, done, todo = 0, 0, needed & ~seen
        while todo:
            done |= todo
            found = 0
            for one in each(todo):
                out |= one | self._of[one].inside & ~seen
                found |= self._of[one].around
            todo = found & ~seen & ~done
        return out & self._labelled

    def _put(
        self,
        key: Hashable,
        label: str | None = None,
        inside: Statements = 0,
        around: Statements = 0,
        always: Statements = 0,
    ) -> Statements:
        if key not in self._bits:
            bit = self._bits[key] = 1 << len(self._bits)
            # What stands for others is told by them.
            own = 0 if inside or around else bit
            everything = own | inside | union(self._of[one].all for one in each(around))
            self._of[bit] = _Statement(label, inside, around, always | bit, everything)
        return self._bits[key]


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
    def each_given(self) -> list[Statements]:
        """Those of each tensor that is given."""
        return [of for tensors in self.given for of in tensors]

    @property
    def all_given(self) -> Statements:
        """Those of all operands."""
        return union(self.each_given)

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


def each(statements: Statements) -> Iterator[Statements]:
    """They one by one, in the order of their making."""
    while statements:
        one = statements & -statements
        yield one
        statements ^= one
