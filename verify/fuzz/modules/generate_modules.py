"""Modules of several data movement operations, as text: chains with branches that join again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.builder import Array, Builder, Write, computation, shape
from hloproof.fuzz.operations.generators.movement import STEPS, reshape, transpose
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension

LARGEST: Final = 48
"""Elements of a tensor."""


class Unfit(Exception):
    """A step has nothing to work on, or makes too much."""


class Chain(Builder):
    """One computation of a module: steps on any of the arrays so far. `i` is an index, `z` zero."""

    least = 1
    folds = ("add",)

    def __init__(self, draw: Draw, bodies: dict[str, str], prefix: str = "", prefixed: str = "") -> None:
        """Names that begin with one of the letters `prefixed` are the computation's own; others come elsewhere, too."""
        super().__init__(draw)
        self.bodies = bodies
        self.tensors: list[Array] = []
        self._prefix, self._prefixed = prefix, prefixed
        self._counts: dict[str, int] = {}
        self.i = self.own("i")
        self.numbers = [self.i]
        """Names of start indices."""

    def own(self, name: str) -> str:
        return f"{self._prefix if name[0] in self._prefixed else ''}{name}"

    def name(self, letter: str = "v") -> str:
        self._counts[letter] = self._counts.get(letter, -1) + 1
        return self.own(f"{letter}{self._counts[letter]}")

    def line(self, made: str, opcode: str, *operands: str, letter: str = "v", **attributes: Any) -> str:
        """An instruction of this shape: its name."""
        name = self.name(letter)
        self.lines.append(f"{name} = {made} {opcode}({', '.join(operands)}){self.attributes(attributes)}")
        return name

    def op(self, opcode: str, *operands: Array | str, sizes: Sequence[int] | None = None, **attributes: Any) -> Array:
        """As with any builder; the sizes of the result must be given, and not be too large."""
        if sizes is None or prod(sizes) > LARGEST:
            raise Unfit
        attributes.pop("result", None)
        names = [o.name if isinstance(o, Array) else o for o in operands]
        self.tensors.append(Array(self.line(shape(sizes), opcode, *names, **attributes), tuple(sizes)))
        return self.tensors[-1]

    def tensor(self, least: int = 0, most: int = 4, elements: int = LARGEST) -> Array:
        """Mostly one of the latest. Raises Unfit where none has so many dimensions."""
        fitting = [t for t in self.tensors if least <= len(t.sizes)]
        if not fitting:
            raise Unfit
        found: Array = self.one_of([*fitting[-3:] * 3, *fitting])
        return found

    def beside(self, x: Array, axis: int) -> list[Array]:
        def rest(sizes: Sequence[int]) -> tuple[int, Sequence[int], Sequence[int]]:
            return len(sizes), sizes[:axis], sizes[axis + 1 :]

        return [self.one_of([t for t in self.tensors if rest(t.sizes) == rest(x.sizes)])]

    def array(self, sizes: Sequence[int]) -> Array:
        return self.fitted(self.tensor(), sizes)

    def zero(self) -> Array:
        return Array(self.line("f32[]", "constant", "0", letter="z"), ())

    def starts(self, rank: int) -> list[Array]:
        return [Array(self.number_of_start(), ()) for _ in range(rank)]

    def number_of_start(self) -> str:
        """What was given, or made of it."""
        match self.number(0, 7):
            case 0:
                return self.line("s32[]", "constant", str(self.number(0, 2)), letter="k")
            case 1 | 2:
                return self.line("s32[]", "negate", self.one_of(self.numbers), letter="j")
            case 3 | 4:
                pair = self.one_of(self.numbers), self.one_of(self.numbers)
                return self.line("s32[]", self.one_of(("add", "multiply")), *pair, letter="j")
        return str(self.one_of(self.numbers))

    def fitted(self, x: Array, sizes: Sequence[int]) -> Array:
        """The elements of an array in one of other sizes, cut or padded."""
        if tuple(sizes) == x.sizes:
            return x
        have, want = prod(x.sizes), prod(sizes)
        if have != want:
            x = self.op("reshape", x, sizes=[have]) if len(x.sizes) != 1 else x
            if have > want:
                start = self.number(0, have - want)
                x = self.op("slice", x, sizes=[want], slice=(SliceDimension(start, start + want),))
            else:
                low = self.number(0, want - have)
                padding = (PaddingDimension(low, want - have - low),)
                x = self.op("pad", x, self.zero(), sizes=[want], padding=padding)
        return x if tuple(sizes) == x.sizes else self.op("reshape", x, sizes=sizes)

    def step(self, steps: Sequence[Write] = ()) -> None:
        """One more operation, of these or any, or none where what was drawn does not fit."""
        with suppress(Unfit):
            self.one_of(steps or _STEPS)(self)

    def written(self, head: str) -> str:
        """The computation; the last instruction is its root."""
        return computation(head, *self.lines)


def _joined(b: Builder) -> None:
    """Two arrays of one shape, element by element."""
    assert isinstance(b, Chain)
    x = b.tensor()
    other = b.one_of([t for t in b.tensors if t.sizes == x.sizes])
    b.op(b.one_of(("add", "add", "multiply")), x, other, sizes=x.sizes)


_STEPS: Final[tuple[Write, ...]] = (*STEPS, reshape, transpose, _joined)


@st.composite
def movement_modules(draw: Draw, most: int = 8) -> str:
    """Up to `most` operations over two parameters, with two more for start indices; half of them are a fusion."""
    bodies: dict[str, str] = {}
    c = Chain(draw, bodies)
    dims = [c.sizes(most=3, of=(1, 2, 2, 3, 4)) for _ in range(2)]
    given = [f"p{n} = {shape(d)} parameter({n})" for n, d in enumerate(dims)]
    given += ["i = s32[] parameter(2)", "j = s32[] parameter(3)"]
    c.lines, c.numbers = [*given], ["i", "j"]
    c.tensors = [Array(f"p{n}", tuple(d)) for n, d in enumerate(dims)]
    for _ in range(c.number(1, most)):
        c.step()
    made = shape(c.tensors[-1].sizes)
    c.line(made, "negate", c.tensors[-1].name)  # of any size: a parameter may be larger than what steps make
    is_fusion = c.chance(2)
    text = c.written("fused" if is_fusion else "ENTRY e")
    if is_fusion:
        text += computation("ENTRY e", *given, f"f = {made} fusion(p0, p1, i, j), kind=kLoop, calls=fused")
    return f"HloModule case\n\n{''.join(bodies.values())}{text}"
