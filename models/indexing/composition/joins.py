"""Routes joined end to end: each pair once, simplified, counted against the limits of walks, loops and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.indexing.composition.route import Route, join, route_of
from hloproof.models.indexing.composition.tidy import used_variables_only
from hloproof.models.maps.indexing_map import Direction, IndexingMap
from hloproof.models.stages import checkpoint

MOST_WORK: Final = 100_000
"""Compositions of one module, each with its constraints twice, beyond which maps are given up as unknown."""
MOST_REMEMBERED: Final = 20_000
"""Compositions that are remembered, so that equal ones are not made again."""

Simplify = Callable[[IndexingMap], IndexingMap]


class FollowedTooFar(Exception):
    """A loop is not followed to its end: the limits are reached."""


class Joins:
    """The compositions of one module."""

    def __init__(self, simplify: Simplify | None) -> None:
        self._simplify = simplify
        self.simplified: list[tuple[IndexingMap, IndexingMap]] = []
        """What was simplified on the way, in order, each map once: before and after."""
        self._seen: set[IndexingMap] = set()
        self.count = 0
        """Compositions so far."""
        self.work = 0
        """Compositions so far, with the constraints that they had to simplify."""
        self.followed = 0
        """Steps and compositions in the turns of loops so far."""
        self._follow_limit: int | None = None
        self._joined: dict[tuple[Route, Route, Direction], tuple[Route, int]] = {}
        """With what each has cost."""

    def joined(self, first: Route, second: Route, direction: Direction) -> Route:
        """`first`, then `second`, simplified. Raises NotModelled.

        What was joined before takes no work again, but counts towards the limits of walks and loops, so that these do
        not depend on what was asked first.
        """
        checkpoint()
        key = (first, second, direction)
        known = self._joined.get(key)
        if known is not None:
            self._count(known[1])
            return known[0]
        joined = join(first, second, direction)
        cost = 0 if joined is first else 1 + 2 * len(joined.map.constraints)
        self.work += cost
        if self.work > MOST_WORK:
            raise NotModelled(f"the module takes more than {MOST_WORK} steps of composition")
        self._count(cost)
        found = self._simply(joined) if cost else joined
        if len(self._joined) >= MOST_REMEMBERED:
            self._joined.clear()
        self._joined[key] = (found, cost)
        return found

    def _count(self, cost: int) -> None:
        self.count += cost > 0
        if self._follow_limit is not None:
            self.followed += max(0, cost - 1)
            if self.followed > self._follow_limit:
                raise FollowedTooFar

    def _simply(self, joined: Route) -> Route:
        if self._simplify is None or joined.map.is_trivially_empty:
            return joined
        after = self._simplify(joined.map)
        if after == joined.map:
            return joined
        if joined.map not in self._seen:
            self._seen.add(joined.map)
            self.simplified.append((joined.map, after))
        return route_of(used_variables_only(after), joined.tables)

    @contextmanager
    def following(self, most: int) -> Iterator[int]:
        """While a loop is followed: its compositions do not count towards those of the walk outside, but a loop inside
        of a loop does towards its own limit, the value of `followed` that is given."""
        count, outer = self.count, self._follow_limit
        limit = self._follow_limit = self.followed + most if outer is None else outer
        try:
            yield limit
        finally:
            self.count, self._follow_limit = count, outer
