"""What the writers of cases share: how they draw, and how they name what they write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
T = TypeVar("T")
_numbers = cache(st.integers)
"""Strategies are made once; making them costs more than drawing from them."""


class Writer:
    """Draws choices and names; a case shrinks towards the first choice and away from what happens by chance."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.count = 0

    def name(self, letter: str = "v") -> str:
        """A name that is new in the module."""
        self.count += 1
        return f"{letter}{self.count}"

    def number(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return int(self.draw(_numbers(low, high)))

    def chance(self, one_in: int) -> bool:
        return self.number(1, one_in) == one_in

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def shuffled(self, items: Sequence[T], most: int | None = None) -> list[T]:
        """The items in another order, the first `most` of them only."""
        rest, out = list(items), list[T]()
        while rest and (most is None or len(out) < most):
            out.append(rest.pop(self.number(0, len(rest) - 1) if len(rest) > 1 else 0))
        return out


class Replayed(Writer):
    """Choices that are written down; where these end, all others are the first ones."""

    def __init__(self, written: bytes) -> None:
        super().__init__(lambda strategy: None)
        self.left = iter(written)

    def number(self, low: int, high: int) -> int:
        found = 0
        for _ in range((max(1, high - low).bit_length() + 7) // 8):
            found = found * 256 + next(self.left, 0)
        return low + found % (high - low + 1)

    def some(self, count: int) -> bytes:
        """So many of the choices that are left, without the zeros at the end."""
        return bytes(islice(self.left, count)).rstrip(b"\0")


def from_choices(make: Callable[[Replayed], str], count: int) -> st.SearchStrategy[str]:
    """Cases that are made from so many choices. To Hypothesis these are one, which it makes small byte by byte: from
    what is drawn piece by piece it makes five of six examples by copying pieces about, and many of them are alike."""
    return st.binary(min_size=count, max_size=count).map(lambda drawn: make(Replayed(drawn)))
