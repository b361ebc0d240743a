"""What a module states and nobody here checks, and of which statements each part of a value is made.

Trusted. A promise, or a number of turns that a text says a loop takes, licenses the same in the module after only where
it is needed: whether it is true of what neither the root nor an effect is made of, nobody sees. It is told part by
part: a tuple, a call, a branch, a turn of a loop and what flies hand on their parts; every other operation reads all
that it is given, also what comes to nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Statements = int
"""A set of them, each a bit: they are united at every instruction."""


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
