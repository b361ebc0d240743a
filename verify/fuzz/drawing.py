"""What the writers of cases share: how they draw, and how they name what they write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
ADD: Final = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
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

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(_numbers(1, one_in)) == one_in)

    def number(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return int(self.draw(_numbers(low, high)))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.draw(_numbers(0, len(choices) - 1))]

    def shuffled(self, items: Sequence[T], most: int | None = None) -> list[T]:
        """The items in another order, the first `most` of them only."""
        rest, out = list(items), list[T]()
        while rest and (most is None or len(out) < most):
            out.append(rest.pop(self.number(0, len(rest) - 1) if len(rest) > 1 else 0))
        return out
