"""What the writers of modules share: how they draw, and how they name what they write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
ADD: Final = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"


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
        return bool(self.draw(st.integers(1, one_in)) == one_in)

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(tuple(choices)))
