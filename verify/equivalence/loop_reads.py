"""Of which statements what a loop gives is made, and what decides whether it ends.

Trusted. What is said in its turns is told with the values of all parts of its state, in all turns, and with what each
part is made of behind a turn of which it is made. It is read by nobody else.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hloproof.equivalence.graph import Node
from hloproof.equivalence.statements import Statements, StatementTable, union


@dataclass(frozen=True, eq=False)
class LoopReads:
    """A loop, whose bodies have been read."""

    statements: StatementTable
    values: Node
    """The same where all parts have the same values in all turns."""
    tags: Sequence[Statements]
    """What stands in a turn for each part of the state."""
    begins: Sequence[Statements]
    turned: Sequence[Statements]
    """Behind a turn."""
    asked: Statements
    """Whether there is one more turn."""
    by: Statements
    """What is said of the turns as a whole."""

    def result(self, k: int, varies: bool) -> Statements:
        """Of what a part is made when the loop has ended; turns may change its value, or they do not."""
        tag, turned = self.tags[k], self.turned[k]
        if not varies and turned == tag:  # it says nothing of the turns
            return self.begins[k]
        # If each turn makes a part of what it was, it is made of what it began with.
        first = tag & self.statements.always(turned)
        if varies:  # it is asked before the first turn, whether there is one or not
            first |= self.statements.always(self.asked)
        always = self.statements.always(
            union(b for b, other in zip(self.begins, self.tags, strict=True) if other & first)
        )
        if varies:  # by a wrong number of turns, whatever else is wrong
            return self.by | self._read(("result", k), tag, 0, always)
        return self._read(("result", k), tag, self.by, always)

    def what_ends(self, decides: Node) -> Statements:
        """What decides whether it ends: it does if the turns are taken that are stated."""
        return self._read(("ends", decides), 0, 0)

    def what_ends_inside(self, loop: Hashable, of: Statements) -> Statements:
        """What decides whether a loop ends that is run in a turn, or where it is asked for one; these do there."""
        return self._read(("ends inside", loop), of, self.by)

    def _read(self, what: Hashable, of: Statements, by: Statements, always: Statements = 0) -> Statements:
        tags = union(self.tags)
        reached, found = 0, self.statements.given_in(self.asked | of) & tags
        while found & ~reached:
            reached |= found
            found = self.statements.given_in(self._behind(reached)) & tags
        parts = [k for k, tag in enumerate(self.tags) if tag & reached]
        inside = (of, self.asked, *(self.turned[k] for k in parts))
        around = (by, *(self.begins[k] for k in parts))
        return self.statements.repeated((what, self.values, *parts), inside, around, always)

    def _behind(self, reached: Statements) -> Statements:
        return union(of for of, tag in zip(self.turned, self.tags, strict=True) if tag & reached)
