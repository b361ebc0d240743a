"""What writes a random JAX program: its lines so far, and the values that later ones may read."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

LARGEST: Final = 120
"""Elements of a value."""

Value = tuple[str, str, tuple[int, ...]]
"""Name, type and sizes."""


class Program:
    """The lines so far, and the values that later ones may read."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.values: list[Value] = []

    def between(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def one_of(self, choices: tuple[str, ...]) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def pick(self, rank: int = 0) -> Value | None:
        """Mostly one of the latest values, of at least this rank."""
        fit = [v for v in self.values if len(v[2]) >= rank]
        return self.draw(st.sampled_from([*fit[-2:] * 3, *fit])) if fit else None

    def add(self, kind: str, sizes: tuple[int, ...], text: str) -> None:
        if prod(sizes) > LARGEST:
            return
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.values.append((name, kind, sizes))

    def of_type(self, kind: str, sizes: tuple[int, ...]) -> str | None:
        """Another value of the same type and sizes."""
        fit = [n for n, k, s in self.values if k == kind and s == sizes]
        return self.one_of(tuple(fit)) if fit else None


def step_of(rank: int = 1) -> Callable[[Callable[[Program, Value], None]], Callable[[Program], None]]:
    """A step that works on a value of at least this rank; nothing where there is none."""

    def made(step: Callable[[Program, Value], None]) -> Callable[[Program], None]:
        def run(p: Program) -> None:
            value = p.pick(rank)
            if value is not None:
                step(p, value)

        return run

    return made


def index(p: Program) -> str:
    """A number that is computed: of an element of some value, or of a constant, beyond the ends now and then."""
    name, kind, sizes = p.values[p.between(0, len(p.values) - 1)]
    shift = p.between(-3, 6)
    if 0 in sizes or kind.startswith("float8") or p.between(0, 1):
        return f"jnp.int32({shift})"
    return f"({name}.reshape(-1)[0].astype(jnp.int32) + {shift})"


def indices(p: Program, n: int, count: int) -> str:
    """Indices of a dimension of n elements: repeated, negative, beyond the end."""
    return str([p.between(-n - 1, n + 1) for _ in range(count)])
